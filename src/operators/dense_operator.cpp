#include "operators/dense_operator.hpp"

#include <algorithm>
#include <bit>

#include "base/error.hpp"
#include "opencl/transfer.hpp"

namespace lugpu {
namespace {

std::size_t order_of(const MatrixView& a) {
  if (a.rows() == a.cols()) return a.rows();
  throw InputError("A matrix of " + std::to_string(a.rows()) + " x " + std::to_string(a.cols()) +
                   " is not square.");
}

// Column k: diagonal k, which goes on in the lower triangle where it leaves the upper one.
Matrix diagonals(const MatrixView& a) {
  const std::size_t n = a.rows();
  Matrix turned(n, n);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) turned(i, j >= i ? j - i : j + n - i) = a(i, j);
  }
  return turned;
}

}  // namespace

DenseOperator::DenseOperator(DeviceContext& context, const MatrixView& a, Order order,
                             Precision precision, Storage storage, Texel texel)
    : n_(order_of(a)),
      layout_(VectorLayout::of_length(n_, precision, storage, texel)),
      a_(context, n_, n_, precision, storage, texel) {
  if (storage == Storage::buffer) fill(context, a_, 0);  // what is beyond the columns too
  const auto take = [&](const cl::Buffer& piece, std::size_t first, std::size_t count) {
    import_rows(context, piece, count, n_, a_, first);
  };
  if (order == Order::columns) {
    upload_columns(context, {&a, 1}, precision, take);
  } else {
    const Matrix turned = diagonals(a);
    const MatrixView view = turned;
    upload_columns(context, {&view, 1}, precision, take);
  }

  const VectorCut cut = VectorCut::make(context.device(), layout_);
  const std::size_t pack = cut.vector > 0 ? cut.vector : elements_per_texel(precision, texel);
  texels_ = ceiling(n_, pack);
  group_x_ = cut.on_cpu ? 1 : cut.group_x * cut.group_y >= 256 ? 64 : 16;
  group_y_ = cut.on_cpu ? 1 : std::max<std::size_t>(cut.group_x * cut.group_y / group_x_, 1);
  block_ = cut.on_cpu ? 32 : 1;
  const std::size_t blocks = std::max<std::size_t>(ceiling(texels_, block_ * group_x_), 1);
  const std::size_t wanted = context.device().compute_units * std::size_t{cut.on_cpu ? 4u : 8u};
  share_ = std::max(ceiling(n_ * blocks, wanted), 4 * group_y_);
  shares_ = ceiling(n_, share_);
  sums_ = context.allocate(shares_ * texels_ * pack * element_size(precision));
  options_ = std::string(cut.on_cpu ? " -DLUGPU_CPU" : "") +
             (cut.vector > 0 ? " -DLUGPU_WIDE" + definition("VECTOR", cut.vector) : "") +
             definition("GROUP_X", group_x_) + definition("GROUP_Y", group_y_) +
             definition("BLOCK", block_) + (order == Order::diagonals ? " -DDIAGONALS" : "");
}

void DenseOperator::multiply(Vectors& vectors, const Surface& x) const {
  const std::size_t blocks = ceiling(texels_, block_ * group_x_);
  vectors.context().run("product", x.kernel("dense/product.cl", "multiply", options_),
                        {blocks * group_x_, shares_ * group_y_}, x, a_, sums_,
                        static_cast<cl_int>(n_),
                        static_cast<cl_int>(std::countr_zero(layout_.columns)),
                        static_cast<cl_int>(texels_), static_cast<cl_int>(share_));
}

template <typename... More>
void DenseOperator::add_up(Vectors& vectors, const std::string& options, const Surface& x,
                           const Surface& y, Surface& result, const More&... more) const {
  // More arguments take the curvature, a partial sum of each work-group.
  const VectorCut cut = sizeof...(more) > 0 ? vectors.cut() : vectors.cut().spread();
  vectors.context().run(
      "product", x.kernel("dense/product.cl", "add_shares", cut.options() + " -DBLOCK=1" + options),
      cut.items(), x, y, result, sums_, static_cast<cl_int>(n_), static_cast<cl_int>(shares_),
      static_cast<cl_int>(texels_), static_cast<cl_int>(layout_.rows),
      static_cast<cl_int>(std::countr_zero(layout_.columns)), static_cast<cl_int>(cut.walk),
      more...);
}

void DenseOperator::product(Vectors& vectors, const std::string& operation, const Surface& x,
                            const Surface& y, Surface& result) const {
  multiply(vectors, x);
  add_up(vectors, operation, x, y, result);
}

void DenseOperator::product_with_curvature(Vectors& vectors, const Surface& x, Surface& result,
                                           const Curvature& curvature) const {
  multiply(vectors, x);
  add_up(vectors, " -DCURVATURE", x, x, result, curvature.partials, curvature.over);
}

void DenseOperator::solve_lower(Vectors& vectors, Surface& x) const {
  constexpr std::size_t kBlock =
      32;  // BLOCK of dense/substitute.clh, as in src/dense/substitution.cpp
  DeviceContext& context = vectors.context();
  const cl::Buffer elements = export_rows(context, x);
  const auto n = static_cast<cl_int>(n_);
  for (std::size_t first = 0; first < n_; first += kBlock) {
    const std::size_t last = std::min(first + kBlock, n_);
    const auto top = static_cast<cl_int>(first), bottom = static_cast<cl_int>(last);
    context.run("sweep", a_.kernel("dense/passes.cl", "forward_block"), {kBlock}, a_, elements, top,
                n, cl_int{1});
    context.run("sweep", a_.kernel("dense/passes.cl", "subtract_block"), {n_ - last}, a_, elements,
                bottom, n, top, bottom, n, cl_int{1});
  }
  import_rows(context, elements, layout_.rows, layout_.columns, x, 0);
}

}  // namespace lugpu

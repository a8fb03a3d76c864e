#include "dense/lu.hpp"

#include "dense/permutation.hpp"
#include "dense/pivot_rules.hpp"
#include "dense/substitution.hpp"

namespace lugpu {
namespace {

Surface make_surface(DeviceContext& context, const Size& size, const DenseOptions& options) {
  return Surface(context, size.n, size.n, options.precision, options.storage, options.texel);
}

// Two surfaces, A on its way, B, and Y and X padded to vectors.
std::uint64_t other_bytes(const Device& device, const Size& size, const DenseOptions& options) {
  return piece_bytes(size.n, size.n + size.nrhs, options.precision) +
         4 * size.n * size.nrhs * element_size(options.precision) +
         Pivoting::workspace(size, options) + FullPivoting::workspace(size, options) +
         ResidentFull::workspace(device, size, options);
}

}  // namespace

void Lu::require_room(const Device& device, const Size& size, const DenseOptions& options) {
  require_fits(device, size.n, size.n, options.precision, options.storage, 2,
               other_bytes(device, size, options), options.texel);
}

Lu::Lu(DeviceContext& context, const Size& size, const DenseOptions& options)
    : DenseFactorization((require_room(context.device(), size, options), context), size, options),
      a_{make_surface(context, size, options), make_surface(context, size, options)},
      pivoting_(context, size, options) {
  if (options.schedule == Schedule::paper) return;
  if (rule_of(options.pivot).search == Search::matrix) {
    full_.emplace(context, size, options);
  } else {
    fused_.emplace(context, size, options, size.n, Elimination::lu);
  }
  if (ResidentFull::suits(context, size, options)) resident_.emplace(context, size, options);
}

void Lu::take_matrix(const cl::Buffer& columns, std::size_t first, std::size_t count) {
  import_columns(context_, columns, count, a_.src, first);
}

void Lu::take_rows(const cl::Buffer& rows, std::size_t first, std::size_t count) {
  import_rows(context_, rows, count, size_.n, a_.src, first);
}

void Lu::factor() {
  outcome_.reset();
  if (resident_) {
    if (resident_->factor(a_, pivoting_)) return;
    resident_.reset();
  }
  if (full_) return full_->factor(a_, pivoting_);
  if (fused_) return fused_->factor(a_, pivoting_);
  for (std::size_t k = 0; k < size_.n; ++k) {
    pivoting_.step(a_, k, 0, size_.n);
    step(k);
    context_.checkpoint();
  }
  context_.queue().finish();
}

Outcome Lu::outcome() {
  if (!outcome_) outcome_ = pivoting_.outcome();
  return *outcome_;
}

// Algorithm 3, step k. The last step, k = n-1, has no trailing matrix: it brings the last pivot to
// both surfaces.
void Lu::step(std::size_t k) {
  const std::size_t n = size_.n;
  const cl_int column = static_cast<cl_int>(k);
  const cl_int end = static_cast<cl_int>(n);
  // (1) dst(k, k:n) = src(k, k:n)
  const std::size_t row_texels = a_.src.texels(k, n);
  context_.run("panel", a_.src.kernel("dense/passes.cl", "copy_row"), {row_texels}, a_.src, a_.dst,
               column, column, end);
  // (2) dst(k+1:n, k) = src(k+1:n, k) / src(k, k)
  context_.run("panel", a_.src.kernel("dense/passes.cl", "normalize_column"), {n - k}, a_.src,
               a_.dst, pivoting_.values(), column, end);
  // (3) src(k+1:n, k) = dst(k+1:n, k)
  context_.run("panel", a_.src.kernel("dense/passes.cl", "copy_column"), {n - k}, a_.dst, a_.src,
               column, column, end);
  // (4) dst(k+1:n, k+1:n) = src(k+1:n, k+1:n) - src(k+1:n, k) src(k, k+1:n)
  const std::size_t trailing_texels = a_.src.texels(k + 1, n);
  context_.run("update", a_.src.kernel("dense/passes.cl", "update_trailing"),
               {trailing_texels, n - k - 1}, a_.src, a_.dst, column, end);
  // Loads and stores: copies 2 texels, normalization 2 and the pivot, update 3 and the multiplier.
  const std::uint64_t m = n - k;
  const std::uint64_t pack = a_.src.pack();
  context_.timeline().add_bytes((2 * pack * row_texels + (2 * pack + 1) * m + 2 * pack * m +
                                 (3 * pack + 1) * (m - 1) * trailing_texels) *
                                element_size(options_.precision));
  a_.swap();
}

// P A Q = L U, so that inv(A) = Q inv(U) inv(L) P and inv(A') = P' inv(L') inv(U') Q'.
cl::Buffer Lu::apply_inverse(const cl::Buffer& b, std::size_t columns, Op op) {
  const Outcome pivots = outcome();
  const std::vector<int> p = permutation_of(pivots.ipiv, size_.n);
  const std::vector<int> q = permutation_of(pivots.jpiv, size_.n);
  const std::size_t bytes = size_.n * columns * element();
  const cl::Buffer y = context_.allocate(bytes);
  cl::Buffer x = context_.allocate(bytes);
  gather_rows(context_, b, y, op == Op::none ? p : q, columns, options_.precision);
  forward_substitution(context_, a_.src, y, columns, op);
  back_substitution(context_, a_.src, y, columns, op);
  gather_rows(context_, y, x, inverse_permutation(op == Op::none ? q : p), columns,
              options_.precision);
  return x;
}

cl::Buffer Lu::factors(std::size_t first, std::size_t count) {
  return export_columns(context_, a_.src, first, count);
}

std::optional<std::string> Lu::variant() const {
  if (resident_) return "resident";
  return std::nullopt;
}

}  // namespace lugpu

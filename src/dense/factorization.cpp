#include "dense/factorization.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.hpp"
#include "matrix/norms.hpp"

namespace lugpu {

void DenseFactorization::upload(const MatrixView& a, const MatrixView& b) {
  const bool by_rows = a.visit([](const auto& view) { return view.order == Order::rows; });
  if (by_rows && takes_rows()) {
    upload_rows(context_, a, options_.precision,
                [&](const cl::Buffer& piece, std::size_t first, std::size_t count) {
                  take_rows(piece, first, count);
                });
    upload_columns(context_, {&b, 1}, options_.precision,
                   [&](const cl::Buffer& piece, std::size_t first, std::size_t count) {
                     take_right_hand_sides(piece, 0, first, count);
                   });
  } else {
    const std::array<MatrixView, 2> parts = {a, b};
    upload_columns(context_, parts, options_.precision,
                   [&](const cl::Buffer& piece, std::size_t first, std::size_t count) {
                     take_columns(piece, first, count);
                   });
  }
  context_.queue().finish();
}

void DenseFactorization::take_columns(const cl::Buffer& columns, std::size_t first,
                                      std::size_t count) {
  const std::size_t of_a = first < size_.n ? std::min(count, size_.n - first) : 0;
  if (of_a > 0) take_matrix(columns, first, of_a);
  if (of_a < count) {
    take_right_hand_sides(columns, of_a, first + of_a - size_.n, count - of_a);
  }
}

void DenseFactorization::take_rows(const cl::Buffer&, std::size_t, std::size_t) {}

void DenseFactorization::take_right_hand_sides(const cl::Buffer& columns, std::size_t skip,
                                               std::size_t first, std::size_t count) {
  const std::size_t column = size_.rows * element();
  if (!b_()) b_ = context_.allocate(size_.nrhs * column);
  context_.queue().enqueueCopyBuffer(columns, b_, skip * column, first * column, count * column);
}

const cl::Buffer& DenseFactorization::solve() {
  if (size_.n * size_.nrhs == 0) {
    solved_ = context_.allocate(0);
  } else {
    solved_ = apply_inverse(b_, size_.nrhs, Op::none);
  }
  context_.queue().finish();
  return solved_;
}

void DenseFactorization::apply_inverse(Matrix& x, Op op) {
  if (x.values().empty()) return;
  const cl::Buffer y = apply_inverse(lugpu::upload(context_, x, options_.precision), x.cols(), op);
  lugpu::download(context_, y, options_.precision, x.view());
}

Matrix DenseFactorization::inverse(const MatrixView&) {
  throw Error(ErrorKind::failure, "The inverse is to be computed with the factors.");
}

int order_for_factors(double largest) {
  constexpr int kLeast = -100;  // above the numbers that have fewer digits, in single precision too
  return std::isfinite(largest) && largest > 0 ? std::max(std::ilogb(largest), kLeast) : 0;
}

ApplyInverse inverse_by(DenseFactorization& factorization, double largest) {
  const int target = order_for_factors(largest);
  return [&factorization, target](Matrix& x, Op op) {
    std::vector<int> shifts(x.cols(), 0);
    const auto scale = [&](std::size_t j, int shift) {
      for (std::size_t i = 0; i < x.rows(); ++i) x(i, j) = std::ldexp(x(i, j), shift);
    };
    for (std::size_t j = 0; j < x.cols(); ++j) {
      const double norm = column_norm_max(x, j);
      if (std::isfinite(norm) && norm > 0) shifts[j] = target - std::ilogb(norm);
      scale(j, shifts[j]);
    }
    factorization.apply_inverse(x, op);
    for (std::size_t j = 0; j < x.cols(); ++j) scale(j, -shifts[j]);
  };
}

}  // namespace lugpu

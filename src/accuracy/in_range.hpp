// Matrices near the ends of the range of double, made fit for norms and products by powers of two.
#pragma once

#include <cmath>
#include <cstddef>
#include <utility>

#include "dense/factorization.hpp"
#include "matrix/norms.hpp"

namespace lugpu {

/// The power of two that brings elements up to this size, and sums of products of two such
/// matrices, into the range of double: 1 for nearly all, for 0 and for what is not finite.
inline double safe_scale(double largest) {
  constexpr int kSafe = 400;  // of some 1022 binary orders of magnitude on either side of 1
  if (!(largest > 0) || !std::isfinite(largest)) return 1;
  const int order = std::ilogb(largest);
  return std::abs(order) <= kSafe ? 1 : std::ldexp(1.0, (order > 0 ? kSafe : -kSafe) - order);
}

/// `count` elements from `first` on times a power of two.
inline void scale(double* first, std::size_t count, double factor) {
  if (factor == 1) return;
  for (std::size_t k = 0; k < count; ++k) first[k] *= factor;
}

/// A, or A times its safe_scale: a copy only where that is not 1. What it views must outlive it.
class InRange {
 public:
  /// largest: max |a_ij|.
  InRange(const MatrixView& a, double largest) : given_(a), scale_(safe_scale(largest)) {
    if (scale_ == 1) return;
    scaled_ = widened(a);
    lugpu::scale(scaled_.values().data(), scaled_.values().size(), scale_);
  }
  InRange(const InRange&) = delete;
  InRange& operator=(const InRange&) = delete;

  MatrixView matrix() const { return scale_ == 1 ? given_ : MatrixView(scaled_); }
  double scale() const { return scale_; }
  /// The inverse of matrix(), by that of the given A: half of the scaling comes before it and half
  /// after, so that neither its input nor its output leaves the range.
  ApplyInverse inverse(ApplyInverse of_given) const {
    const double before = std::ldexp(1.0, -std::ilogb(scale_) / 2), after = 1 / scale_ / before;
    return [before, after, of_given = std::move(of_given)](Matrix& x, Op op) {
      lugpu::scale(x.values().data(), x.values().size(), before);
      of_given(x, op);
      lugpu::scale(x.values().data(), x.values().size(), after);
    };
  }

 private:
  const MatrixView given_;
  const double scale_;
  Matrix scaled_;
};

}  // namespace lugpu

#include "iterative/norm.hpp"

#include <algorithm>
#include <cmath>

namespace lugpu {
namespace {

double reduced(Vectors& vectors, Reduction reduction, const Surface& x) {
  vectors.reduce(reduction, x, x, 0);
  return vectors.scalar(0);
}

}  // namespace

double ScaledSquare::norm() const {
  return std::sqrt(square) / scale;
}

ScaledSquare scaled_square(Vectors& vectors, const Surface& x) {
  // Exponents of squares that leave room for the squares of residuals and for the matrix; and that
  // of the largest scale.
  const bool doubles = vectors.layout().precision == Precision::double_precision;
  const int smallest = doubles ? -400 : -40, largest = doubles ? 600 : 60;
  const int most = doubles ? 1000 : 120;
  const double square = reduced(vectors, Reduction::dot, x);
  if (square >= std::ldexp(1, smallest) && square <= std::ldexp(1, largest)) return {1, square};
  const double magnitude = reduced(vectors, Reduction::magnitude, x);
  if (magnitude == 0 || !std::isfinite(magnitude)) return {1, magnitude};
  ScaledSquare scaled;
  scaled.scale = std::ldexp(1, std::clamp(-std::ilogb(magnitude), -most, most));
  Surface copy = vectors.take();
  vectors.combine(Operation::add, {scaled.scale}, x, {0}, x, copy);
  scaled.square = reduced(vectors, Reduction::dot, copy);
  vectors.give_back(std::move(copy));
  return scaled;
}

void scale(Vectors& vectors, double factor, Surface& x) {
  Surface scaled = vectors.take();
  vectors.combine(Operation::add, {factor}, x, {0}, x, scaled);
  std::swap(x, scaled);
  vectors.give_back(std::move(scaled));
}

}  // namespace lugpu

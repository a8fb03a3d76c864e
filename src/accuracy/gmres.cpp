#include "accuracy/gmres.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "matrix/norms.hpp"

namespace lugpu {
namespace {

// A correction that leaves more of the residual has hardly shrunk it.
constexpr double kShrunk = 0.9;

double dot(const Matrix& x, const Matrix& y) {
  return std::transform_reduce(x.values().begin(), x.values().end(), y.values().begin(), 0.0);
}

// Without over- or underflow of squares.
double norm_2(const Matrix& x) {
  const double largest = norm_max(x);
  if (largest == 0 || !std::isfinite(largest)) return largest;
  const int order = std::clamp(std::ilogb(largest), -1000, 1000);
  const auto scaled_square = [scale = std::ldexp(1.0, -order)](double value) {
    return value * scale * (value * scale);
  };
  return std::ldexp(std::sqrt(std::transform_reduce(x.values().begin(), x.values().end(), 0.0,
                                                    std::plus<>(), scaled_square)),
                    order);
}

// y += alpha x
void add_to(Matrix& y, double alpha, const Matrix& x) {
  for (std::size_t i = 0; i < y.values().size(); ++i) y.values()[i] += alpha * x.values()[i];
}

void divide(Matrix& x, double by) {
  for (double& value : x.values()) value /= by;
}

}  // namespace

Gmres::Gmres(Iterate start)
    : best_(std::move(start)), size_(norm_2(best_.r)), size_before_(size_) {}

bool Gmres::add(Iterate corrected) {
  if (directions_.size() == kCycle) {
    directions_.clear();
    size_before_ = size_;
  }
  Iterate d = std::move(corrected);  // d and A d
  add_to(d.x, -1, best_.x);
  for (std::size_t i = 0; i < d.r.values().size(); ++i) {
    d.r.values()[i] = best_.r.values()[i] - d.r.values()[i];
  }
  for (const Iterate& other : directions_) {
    const double part = dot(other.r, d.r);
    add_to(d.x, -part, other.x);
    add_to(d.r, -part, other.r);
  }
  const double norm = norm_2(d.r);
  if (norm == 0 || !std::isfinite(norm)) return false;
  divide(d.x, norm);
  divide(d.r, norm);
  const double part = dot(d.r, best_.r);
  add_to(best_.x, part, d.x);
  add_to(best_.r, -part, d.r);
  directions_.push_back(std::move(d));
  const double size = norm_2(best_.r);
  shrank_ = size <= kShrunk * size_;
  size_ = size;
  return true;
}

Iterate Gmres::next() const {
  if (shrank_) return best_;
  Iterate next{best_.x, directions_.back().r};
  for (double& value : next.r.values()) value *= size_;
  return next;
}

}  // namespace lugpu

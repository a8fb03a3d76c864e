#include "accuracy/equilibrate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "matrix/norms.hpp"

namespace lugpu {
namespace {

constexpr double kThreshold = 0.1;  // laqge's

double smallest_normal(Precision precision) {
  return precision == Precision::double_precision ? std::numeric_limits<double>::min()
                                                  : std::numeric_limits<float>::min();
}

// 1 / size, rounded to a power of two, within the range of double.
double reciprocal(double size) {
  return std::ldexp(1.0, -std::max(std::ilogb(size), -1022));
}

// The largest sizes become scale factors; returns the smallest over the largest of them.
double to_factors(std::vector<double>& sizes) {
  const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
  const double ratio = *least / *most;
  std::transform(sizes.begin(), sizes.end(), sizes.begin(), reciprocal);
  return ratio;
}

// Empty factors scale nothing.
void scale_rows(Matrix& a, const std::vector<double>& factors) {
  if (factors.empty()) return;
  for (std::size_t j = 0; j < a.cols(); ++j) {
    for (std::size_t i = 0; i < a.rows(); ++i) a(i, j) *= factors[i];
  }
}

void scale_columns(Matrix& a, const std::vector<double>& factors) {
  if (factors.empty()) return;
  for (std::size_t j = 0; j < a.cols(); ++j) {
    for (std::size_t i = 0; i < a.rows(); ++i) a(i, j) *= factors[j];
  }
}

}  // namespace

Equilibration equilibration(const Matrix& a, Precision precision) {
  const std::size_t n = a.rows();
  Equilibration found;
  found.amax = norm_max(a);
  if (!std::isfinite(found.amax)) return found;

  std::vector<double> rows(n, 0.0), columns(n, 0.0);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) rows[i] = std::max(rows[i], std::abs(a(i, j)));
  }
  const auto has_zero = [](const std::vector<double>& sizes) {
    return std::count(sizes.begin(), sizes.end(), 0.0) > 0;
  };
  if (n == 0 || has_zero(rows)) return found;
  const double rowcnd = to_factors(rows);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) {
      columns[j] = std::max(columns[j], std::abs(a(i, j)) * rows[i]);
    }
  }
  if (has_zero(columns)) return found;
  found.rowcnd = rowcnd;
  found.colcnd = to_factors(columns);

  const double small = smallest_normal(precision) / (2 * epsilon(precision));
  const bool extreme = found.amax < small || found.amax > 1 / small;
  if (found.rowcnd < kThreshold || extreme) found.r = std::move(rows);
  if (found.colcnd < kThreshold) found.c = std::move(columns);
  return found;
}

Equilibration into_range(std::size_t n, double amax, Precision precision) {
  // Beyond the sizes of LAPACK's test matrices near under- and overflow.
  const int end = precision == Precision::double_precision ? 1000 : 115;
  const double most = precision == Precision::double_precision ? std::numeric_limits<double>::max()
                                                               : std::numeric_limits<float>::max();
  Equilibration found;
  found.amax = amax;
  if (!(amax > 0 && amax <= most)) return found;
  const int order = std::ilogb(amax);
  if (std::abs(order) <= end) return found;
  found.r.assign(n, std::ldexp(1.0, (order > 0 ? end : -end) - order));
  return found;
}

Matrix Equilibration::matrix(Matrix a) const {
  scale_rows(a, r);
  scale_columns(a, c);
  return a;
}

Matrix Equilibration::right_hand_sides(Matrix b) const {
  scale_rows(b, r);
  return b;
}

Matrix Equilibration::solution(Matrix y) const {
  scale_rows(y, c);
  return y;
}

Matrix Equilibration::inverse(Matrix of_scaled) const {
  scale_rows(of_scaled, c);
  scale_columns(of_scaled, r);
  return of_scaled;
}

ApplyInverse Equilibration::inverse(ApplyInverse of_scaled) const {
  return [this, of_scaled = std::move(of_scaled)](Matrix& x, Op op) {
    scale_rows(x, op == Op::none ? r : c);
    of_scaled(x, op);
    scale_rows(x, op == Op::none ? c : r);
  };
}

}  // namespace lugpu

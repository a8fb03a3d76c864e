// LAPACK's and HPL's scaled residuals. NaN is propagated by hand where a comparison would lose it.
#include "accuracy/checks.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>
#include <utility>

#include "accuracy/condition.hpp"
#include "accuracy/error_bounds.hpp"
#include "accuracy/in_range.hpp"
#include "base/parallel.hpp"
#include "operators/product.hpp"

namespace lugpu {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// The larger of two ratios, NaN if one is NaN.
void raise(std::optional<double>& ratio, double value) {
  ratio = larger(ratio.value_or(0), value);
}

// Of the columns of X and B that are checked at a time, so that little is widened to double.
constexpr std::size_t kColumns = 64;

// Of an inverse or of factors.
constexpr std::size_t kColumnsOfPart = 256;

}  // namespace

double relative(double residual, double size) {
  if (!std::isfinite(size)) return kNaN;
  return residual == 0.0 ? 0.0 : residual / size;
}

double solve_ratio(double a_norm_1, const Matrix& x, const Matrix& r, double epsilon) {
  if (x.rows() == 0) return 0.0;
  double ratio = 0.0;
  for (std::size_t j = 0; j < x.cols(); ++j) {
    ratio = larger(ratio, relative(column_norm_1(r, j), a_norm_1 * column_norm_1(x, j)));
  }
  return ratio / epsilon;
}

double hpl_residual(double a_norm_inf, const Matrix& x, const Matrix& b, const Matrix& r,
                    double epsilon) {
  const std::size_t n = x.rows();
  if (n == 0) return 0.0;
  // Numerator and denominator are divided by ||A|| when it is large: the product with ||x|| could
  // overflow.
  const double scale = larger(a_norm_inf, 1.0);
  double ratio = 0.0;
  for (std::size_t j = 0; j < x.cols(); ++j) {
    const double size =
        (a_norm_inf / scale) * column_norm_max(x, j) + column_norm_max(b, j) / scale;
    ratio = larger(ratio, relative(column_norm_max(r, j) / scale, size));
  }
  return ratio / (static_cast<double>(n) * epsilon);
}

double inverse_ratio(const MatrixView& a, const Matrix& inverse, const Residual& residual,
                     double epsilon) {
  const std::size_t n = a.rows();
  if (n == 0) return 0.0;
  double largest = 0;
  for (std::size_t first = 0; first < n; first += kColumnsOfPart) {
    const std::size_t count = std::min(kColumnsOfPart, n - first);
    Matrix identity(n, count), part(n, count);
    for (std::size_t k = 0; k < count; ++k) identity(first + k, k) = 1.0;
    std::copy_n(inverse.column(first), n * count, part.values().data());
    largest = larger(largest, norm_1(residual(part, identity)));
  }
  return relative(largest, norm_1(a) * norm_1(inverse)) / (static_cast<double>(n) * epsilon);
}

double largest_of_u(const View<const double>& columns, std::size_t first) {
  std::vector<double> largest(columns.columns, 0.0);
  in_parallel(columns.columns, columns.rows * sizeof(double), [&](std::size_t j) {
    const std::size_t rows = std::min(first + j + 1, columns.rows);
    double of_column = 0.0;
    for (std::size_t i = 0; i < rows; ++i) of_column = larger(of_column, std::abs(columns(i, j)));
    largest[j] = of_column;
  });
  return std::accumulate(largest.begin(), largest.end(), 0.0, larger);
}

double pivot_growth(DenseFactorization& factorization, double a_max) {
  const std::size_t n = factorization.size().n;
  Matrix all(n, std::min(kColumnsOfPart, n));
  double largest = 0.0;
  for (std::size_t first = 0; first < n; first += kColumnsOfPart) {
    const View<double> columns = all.view().part(0, std::min(kColumnsOfPart, n - first));
    factorization.download_factors(first, columns);
    largest = larger(largest, largest_of_u(columns, first));
  }
  return relative(largest, a_max);
}

void check_solution(const CheckedSystem& system, const MatrixView& b, const MatrixView& x,
                    double eps, double factors_eps, Checks& checks) {
  const InRange a(system.a, system.largest);
  const double a_norm_1 = norm_1(a.matrix()), a_norm_inf = norm_inf(a.matrix());
  checks.solve_ratio = checks.hpl_residual = 0;
  for (std::size_t first = 0; first < x.cols(); first += kColumns) {
    const std::size_t count = std::min(kColumns, x.cols() - first);
    Matrix part = widened(x.part(first, count)), right = widened(b.part(first, count));
    for (std::size_t j = 0; j < count; ++j) {
      const double of_x = safe_scale(column_norm_max(part, j));
      scale(part.column(j), part.rows(), of_x);
      scale(right.column(j), right.rows(), of_x);
      scale(right.column(j), right.rows(), a.scale());
    }
    const Matrix r = residual(a.matrix(), part, right);
    const Matrix sizes = residual_sizes(a.matrix(), part, right);
    raise(checks.solve_ratio, solve_ratio(a_norm_1, part, r, eps));
    raise(checks.hpl_residual, hpl_residual(a_norm_inf, part, right, r, eps));
    const std::vector<double> berr = backward_errors(r, sizes);
    checks.berr.insert(checks.berr.end(), berr.begin(), berr.end());
    if (!system.inverse) continue;
    const std::vector<double> ferr =
        checks.rcond ? forward_error_bounds(a.matrix(), r, sizes, part, factors_eps,
                                            a.inverse(system.inverse))
                     : std::vector<double>(count, INFINITY);
    checks.ferr.insert(checks.ferr.end(), ferr.begin(), ferr.end());
  }
}

void check_condition(const MatrixView& a, double factors_eps, const ApplyInverse& inverse,
                     Checks& checks) {
  const Condition condition = estimate_condition(a, factors_eps, inverse);
  checks.rcond = condition.rcond;
  if (!condition.rcond) checks.rcond_at_most = condition.at_most;
}

std::optional<int> Checks::digits(Precision precision_of_x) const {
  if (ferr.empty()) return std::nullopt;
  const double error =
      std::max(std::accumulate(ferr.begin(), ferr.end(), 0.0, larger), epsilon(precision_of_x));
  if (!(error < 0.1)) return std::nullopt;
  return static_cast<int>(-std::log10(error));
}

std::string Checks::failure() const {
  const struct {
    const char* name;
    std::optional<double> ratio;
    double limit;
  } limited[] = {
      {"factor_ratio", factor_ratio, kFactorRatioLimit},
      {"solve_ratio", solve_ratio, kSolveRatioLimit},
      {"hpl_residual", hpl_residual, kHplResidualLimit},
  };
  for (const auto& [name, ratio, limit] : limited) {
    if (!ratio || *ratio < limit) continue;  // NaN < limit is false: NaN fails
    char sentence[80];
    // The magnitude, since the C library prints a NaN with its sign.
    std::snprintf(sentence, sizeof sentence, "%s %.3g is not under %g", name, std::abs(*ratio),
                  limit);
    return sentence;
  }
  return {};
}

}  // namespace lugpu

// Test matrices by name: one function for one kind, one row of the table at the end for one name.
#include "matrix/generate.hpp"

#include <lapacke.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace lugpu {
namespace {

/// LINPACK's matgen: uniform in [-0.5, 0.5).
Matrix make_random(std::size_t n, std::uint64_t seed) {
  return Random(seed).matrix(n, n);
}

/// Random off the diagonal, |a_kk| = n/2 + 1/2 + pi(k) + r/2 with a random permutation pi of
/// 0 .. n-1, r in [-0.5, 0.5) and a random sign. The other elements of a row or a column add up to
/// less than n/2, hence the dominance. The magnitudes are 1/2 apart or more and the updates of the
/// diagonal are far smaller, so that rounding does not decide which pivots full pivoting takes.
Matrix make_dominant(std::size_t n, std::uint64_t seed) {
  Random random(seed);
  Matrix a = random.matrix(n, n);
  const std::vector<std::size_t> pi = random.permutation(n);
  for (std::size_t k = 0; k < n; ++k) {
    const double base = 0.5 * static_cast<double>(n + 1 + 2 * pi[k]);
    const double magnitude = base + 0.5 * random.uniform();
    a(k, k) = random.uniform() < 0.0 ? -magnitude : magnitude;
  }
  return a;
}

/// HPL-MxP's (https://hpl-mxp.org): random, with a diagonal as large as the rest of its row
/// together, so that no pivoting is needed from n = 3 on (0 for n = 1, for n = 2 often singular)
/// and factors in low precision are refined quickly.
Matrix make_hpl_mxp(std::size_t n, std::uint64_t seed) {
  Matrix a = make_random(n, seed);
  for (std::size_t k = 0; k < n; ++k) a(k, k) = 0;
  std::vector<double> sums(n, 0.0);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) sums[i] += std::abs(a(i, j));
  }
  for (std::size_t k = 0; k < n; ++k) a(k, k) = sums[k];
  return a;
}

/// Wilkinson (Error analysis of direct methods of matrix inversion, J. ACM 8, 1961): 1 on the
/// diagonal and in the last column, -1 below the diagonal. Every step of partial pivoting doubles
/// the last column: growth 2^(n-1).
Matrix make_wilkinson(std::size_t n, std::uint64_t /*seed*/) {
  Matrix a(n, n);
  for (std::size_t j = 0; j < n; ++j) {
    a(j, j) = 1.0;
    for (std::size_t i = j + 1; i < n; ++i) a(i, j) = -1.0;
    a(j, n - 1) = 1.0;
  }
  return a;
}

/// Random with a(1,1) = 1e-10: the first multipliers are near 1e10 unless rows are interchanged.
Matrix make_tiny_pivot(std::size_t n, std::uint64_t seed) {
  Matrix a = make_random(n, seed);
  if (n > 0) a(0, 0) = 1e-10;
  return a;
}

/// A permutation matrix plus 2^-20 times random elements: in every step one element of the column,
/// or of the trailing matrix one of each column, is the pivot. A search that misses it divides by
/// 2^-20.
Matrix make_permuted(std::size_t n, std::uint64_t seed) {
  Random random(seed);
  Matrix a = random.matrix(n, n);
  for (double& value : a.values()) value *= 0x1p-20;
  std::vector<std::size_t> row = random.permutation(n);
  if (n > 0) std::swap(row.front(), *std::find(row.begin(), row.end(), n - 1));
  for (std::size_t j = 0; j < n; ++j) a(row[j], j) += 1.0;
  return a;
}

/// Hilbert: a(i,j) = 1 / (i + j - 1), condition near e^(3.5 n) (Higham, Accuracy and Stability of
/// Numerical Algorithms, section 28.1).
Matrix make_hilbert(std::size_t n, std::uint64_t /*seed*/) {
  Matrix a(n, n);
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = 0; i < n; ++i) a(i, j) = 1.0 / static_cast<double>(i + j + 1);
  return a;
}

/// Kahan (Numerical linear algebra, 1966): row i of an upper triangle is s^(i-1) (1, -c, ..., -c)
/// with s = sin(theta), c = cos(theta) and Higham's theta = 1.2 (Accuracy and Stability of
/// Numerical Algorithms, section 8.3). Far closer to singular than its smallest diagonal element
/// s^(n-1), which leaves the range of single precision near n = 1250.
Matrix make_kahan(std::size_t n, std::uint64_t /*seed*/) {
  constexpr double kSine = 0.93203908596722635;  // literals: libraries differ in the last bit
  constexpr double kCosine = 0.36235775447667357;
  Matrix a(n, n);
  double scale = 1.0;
  for (std::size_t i = 0; i < n; ++i) {
    a(i, i) = scale;
    for (std::size_t j = i + 1; j < n; ++j) a(i, j) = -kCosine * scale;
    scale *= kSine;
  }
  return a;
}

/// a(i,j) = d(i) r(i,j) d(j) with random r and d(i) = 2^-floor(30 (n-i) / (n-1)), so that d grows
/// from 2^-30 to 1: the elements span 2^60, which single precision holds without underflow. The
/// largest lie at the bottom right, from where pivoting has to fetch them.
Matrix make_graded(std::size_t n, std::uint64_t seed) {
  Matrix a = make_random(n, seed);
  const auto exponent = [n](std::size_t i) {
    return n > 1 ? static_cast<int>(30 * (n - 1 - i) / (n - 1)) : 0;
  };
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = 0; i < n; ++i) a(i, j) = std::ldexp(a(i, j), -exponent(i) - exponent(j));
  return a;
}

/// Random with a(1,1) = 1 and the last row equal to the first; [0] for n = 1. The 1 is the largest
/// element, so that every pivoting eliminates one of the two rows with the other in the first step.
/// The multiplier is exactly 1 even where it comes from a reciprocal, hence what remains of the row
/// is exactly zero, in any precision and order of operations, and stays so: info = n.
Matrix make_singular(std::size_t n, std::uint64_t seed) {
  if (n == 1) return Matrix(1, 1);
  Matrix a = make_random(n, seed);
  if (n > 0) a(0, 0) = 1.0;
  for (std::size_t j = 0; j < n; ++j) a(n - 1, j) = a(0, j);
  return a;
}

/// A sample point of a circular inclusion.
struct SurfacePoint {
  double x, y;    ///< place
  double nx, ny;  ///< outward normal
  double radius;  ///< of its circle
  double count;   ///< k, sample points of its circle
};

/// Sample points of a circle; the last circle has what is left of n.
constexpr std::size_t kCirclePoints = 32;

/// n points on circles of radius 1 / (256 s), one circle after another. The centres lie on s x s
/// places at distance 1, each moved by at most 1/8 along each axis.
std::vector<SurfacePoint> sample_inclusions(std::size_t n, std::uint64_t seed) {
  const std::size_t circles = (n + kCirclePoints - 1) / kCirclePoints;
  const auto side = static_cast<std::size_t>(std::ceil(std::sqrt(circles)));
  std::vector<SurfacePoint> points;
  Random random(seed);
  for (std::size_t circle = 0; circle < circles; ++circle) {
    const double x = static_cast<double>(circle % side) + 0.25 * random.uniform();
    const double y = static_cast<double>(circle / side) + 0.25 * random.uniform();
    const double radius = 1.0 / (256.0 * static_cast<double>(side));
    const auto count = static_cast<double>(std::min(kCirclePoints, n - circle * kCirclePoints));
    for (double k = 0.0; k < count; ++k) {
      const double angle = 2.0 * std::numbers::pi * k / count;
      const double nx = std::cos(angle), ny = std::sin(angle);
      points.push_back({x + radius * nx, y + radius * ny, nx, ny, radius, count});
    }
  }
  return points;
}

/// A cell of a dilute bubbly flow (LU-GPU, section 6.2): m well separated circular inclusions with
/// k = min(32, n) sample points each, N = m k. The potential q on their surfaces solves a Fredholm
/// equation of the second kind, (I/2 + D) q = b, with the double layer of Laplace's equation in the
/// plane (Kress, Linear Integral Equations, chapter 6), n(y) the outward normal:
///   (D q)(x) = integral over all circles of q(y) (y - x) . n(y) / (2 pi |y - x|^2) ds(y).
/// Trapezoidal weights are 2 pi R / k, and on its own circle the kernel is 1 / (4 pi R) exactly:
///   a(x,x) = 1/2 + 1/(2k),   a(x,y) = 1/(2k) for y on the circle of x,
///   a(x,y) = (R/k) (y - x) . n(y) / |y - x|^2 for y on another circle; k belongs to that of y.
///
/// Strictly diagonally dominant by rows and columns for every n: an element of the diagonal exceeds
/// the others of its own circle together by 1/2 + 1/(2k) - (k-1)/(2k) = 1/k >= 1/32. From a circle
/// r places away (the larger of rows and columns) |y - x| >= r - 1/4 - 2R > 2r/3, hence its points
/// together add less than R (3/2) / r to a row. At most 8r circles are r places away, and at worst
/// the s^2 - 1 others are the nearest, at r = 1 .. floor(s/2): they add less than
/// 12 R floor(s/2) <= 6 R s = 3/128 to a row. To a column of a circle with k points they add less
/// than 32/k times that, 3/(4k) < 1/k. Rounding to single precision changes far less.
///
/// Only the places of the inclusions are drawn: up to n = 32 there is one, and the seed decides
/// nothing. Sines and cosines may differ by library in the last bit.
Matrix make_bubbles(std::size_t n, std::uint64_t seed) {
  const std::vector<SurfacePoint> points = sample_inclusions(n, seed);
  Matrix a(n, n);
  for (std::size_t j = 0; j < n; ++j) {
    const SurfacePoint& y = points[j];
    for (std::size_t i = 0; i < n; ++i) {
      const double dx = y.x - points[i].x, dy = y.y - points[i].y;
      const bool same_circle = i / kCirclePoints == j / kCirclePoints;
      a(i, j) = same_circle ? 0.5 / y.count
                            : y.radius / y.count * (dx * y.nx + dy * y.ny) / (dx * dx + dy * dy);
    }
    a(j, j) += 0.5;
  }
  return a;
}

// LAPACK's eleven types for xGE: TESTING/LIN, dlatb4 (the parameters) and dchkge (zero columns).
// Matrices with a prescribed condition are made as dlatms does, from singular values of mode 3 and
// random orthogonal factors.

constexpr double kGoodCondition = 2.0;
/// dlatb4's sqrt(0.1 / eps) and 0.1 / eps with eps = 2^-53, and slatb4's with eps = 2^-24.
constexpr double kBadCondition = 30011996.35935769;
constexpr double kVeryBadCondition = 0.1 * 0x1p53;
constexpr double kBadConditionSingle = 1295.2689296049682;
constexpr double kVeryBadConditionSingle = 0.1 * 0x1p24;
/// slatb4's norm near overflow, 4 eps / (safe minimum) with eps = 2^-23 and safe minimum 2^-126, so
/// that a matrix survives being rounded to single; its reciprocal is the norm near underflow. A
/// product of two elements overflows in single unless it is formed after the division by the pivot.
/// dlatb4's does the same in double: eps = 2^-52, safe minimum 2^-1022. Powers of two: scaling
/// rounds nothing.
constexpr double kLargeNorm = 0x1p105;
constexpr double kLargeNormDouble = 0x1p972;

void require_success(const char* routine, int info) {
  if (info == 0) return;
  throw Error(ErrorKind::failure, std::string(routine) + " returned info = " +
                                      std::to_string(info) + " while a test matrix was generated");
}

/// A = Q R as LAPACK stores it: R in the upper triangle, Householder vectors below it.
struct QrFactors {
  Matrix a;
  std::vector<double> tau;
};

QrFactors factor_qr(Matrix a) {
  QrFactors qr{std::move(a), {}};
  const int n = static_cast<int>(qr.a.rows());
  qr.tau.resize(qr.a.rows());
  require_success("dgeqrf", LAPACKE_dgeqrf(LAPACK_COL_MAJOR, n, n, qr.a.values().data(), qr.a.ld(),
                                           qr.tau.data()));
  return qr;
}

/// Mode 3 of dlatm1: cond^(-(i-1)/(n-1)), geometric from 1 to 1/cond (1 for n = 1).
std::vector<double> geometric(std::size_t n, double condition) {
  std::vector<double> d(n, 1.0);
  for (std::size_t i = 1; i < n; ++i)
    d[i] = std::pow(condition, -static_cast<double>(i) / static_cast<double>(n - 1));
  return d;
}

/// D V: geometric singular values and V the orthogonal factor of a random matrix.
Matrix scaled_orthogonal(std::size_t n, double condition, Random& random) {
  QrFactors v = factor_qr(random.matrix(n, n));
  const int order = static_cast<int>(n);
  require_success("dorgqr", LAPACKE_dorgqr(LAPACK_COL_MAJOR, order, order, order,
                                           v.a.values().data(), v.a.ld(), v.tau.data()));
  const std::vector<double> d = geometric(n, condition);
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = 0; i < n; ++i) v.a(i, j) *= d[i];
  return std::move(v.a);
}

/// U D V: types 4, 8 and 9.
Matrix conditioned(std::size_t n, std::uint64_t seed, double condition) {
  Random random(seed);
  Matrix a = scaled_orthogonal(n, condition, random);
  const QrFactors u = factor_qr(random.matrix(n, n));
  const int order = static_cast<int>(n);
  require_success(
      "dormqr", LAPACKE_dormqr(LAPACK_COL_MAJOR, 'L', 'N', order, order, order, u.a.values().data(),
                               u.a.ld(), u.tau.data(), a.values().data(), a.ld()));
  return a;
}

Matrix make_well_conditioned(std::size_t n, std::uint64_t seed) {
  return conditioned(n, seed, kGoodCondition);
}

/// Type 1: D itself.
Matrix make_diagonal(std::size_t n, std::uint64_t /*seed*/) {
  const std::vector<double> d = geometric(n, kGoodCondition);
  Matrix a(n, n);
  for (std::size_t i = 0; i < n; ++i) a(i, i) = d[i];
  return a;
}

/// Type 2: R of D V = Q R has the singular values D.
Matrix make_upper(std::size_t n, std::uint64_t seed) {
  Random random(seed);
  Matrix r = factor_qr(scaled_orthogonal(n, kGoodCondition, random)).a;
  for (std::size_t j = 0; j < n; ++j) std::fill(r.column(j) + j + 1, r.column(j) + n, 0.0);
  return r;
}

/// Type 3: the transpose of type 2.
Matrix make_lower(std::size_t n, std::uint64_t seed) {
  const Matrix r = make_upper(n, seed);
  Matrix l(n, n);
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = j; i < n; ++i) l(i, j) = r(j, i);
  return l;
}

/// Types 5 to 7: columns first .. last-1 (0-based) are zero, which elimination leaves exactly zero.
Matrix with_zero_columns(Matrix a, std::size_t first, std::size_t last) {
  for (std::size_t j = first; j < last; ++j) std::fill_n(a.column(j), a.rows(), 0.0);
  return a;
}

/// Types 10 and 11.
Matrix scaled(Matrix a, double norm) {
  for (double& value : a.values()) value *= norm;
  return a;
}

constexpr MatrixKind kKinds[] = {
    {"random", "uniform in [-0.5, 0.5), as LINPACK's", make_random},
    {"dominant", "strictly diagonally dominant by rows and columns: needs no pivoting",
     make_dominant},
    {"hpl-mxp", "HPL-MxP's: the diagonal is as large as the rest of its row together",
     make_hpl_mxp},
    {"wilkinson", "growth 2^(n-1) under partial pivoting", make_wilkinson},
    {"tiny-pivot", "random with a(1,1) = 1e-10: needs pivoting", make_tiny_pivot},
    {"permuted", "a permutation matrix plus 2^-20 times random: one right pivot in every column",
     make_permuted},
    {"hilbert", "1 / (i + j - 1): condition near e^(3.5 n)", make_hilbert},
    {"kahan", "upper triangular, nearer to singular than its diagonal shows", make_kahan},
    {"graded", "random with rows and columns scaled from 2^-30 to 1", make_graded},
    {"singular", "random with two equal rows: an exact zero pivot in the last step", make_singular},
    {"bubbles", "integral equation of a bubbly flow: diagonally dominant by rows and columns",
     make_bubbles},
    {"diagonal", "LAPACK type 1: diagonal, condition 2", make_diagonal},
    {"upper", "LAPACK type 2: upper triangular, condition 2", make_upper},
    {"lower", "LAPACK type 3: lower triangular, condition 2", make_lower},
    {"well-conditioned", "LAPACK type 4: condition 2", make_well_conditioned},
    {"zero-first-column", "LAPACK type 5: singular, the first column is zero",
     [](std::size_t n, std::uint64_t seed) {
       return with_zero_columns(make_well_conditioned(n, seed), 0, std::min<std::size_t>(n, 1));
     }},
    {"zero-last-column", "LAPACK type 6: singular, the last column is zero",
     [](std::size_t n, std::uint64_t seed) {
       return with_zero_columns(make_well_conditioned(n, seed), n > 0 ? n - 1 : 0, n);
     }},
    {"zero-half-columns", "LAPACK type 7: singular, columns n/2+1 to n are zero",
     [](std::size_t n, std::uint64_t seed) {
       return with_zero_columns(make_well_conditioned(n, seed), n / 2, n);
     }},
    {"ill-conditioned", "LAPACK type 8: condition 3e7",
     [](std::size_t n, std::uint64_t seed) { return conditioned(n, seed, kBadCondition); }},
    {"very-ill-conditioned", "LAPACK type 9: condition 9e14",
     [](std::size_t n, std::uint64_t seed) { return conditioned(n, seed, kVeryBadCondition); }},
    {"ill-conditioned-single", "LAPACK type 8 of single precision: condition 1e3",
     [](std::size_t n, std::uint64_t seed) { return conditioned(n, seed, kBadConditionSingle); }},
    {"very-ill-conditioned-single", "LAPACK type 9 of single precision: condition 2e6",
     [](std::size_t n, std::uint64_t seed) {
       return conditioned(n, seed, kVeryBadConditionSingle);
     }},
    {"near-underflow", "LAPACK type 10: condition 2, norm 2^-105, small for single precision",
     [](std::size_t n, std::uint64_t seed) {
       return scaled(make_well_conditioned(n, seed), 1.0 / kLargeNorm);
     }},
    {"near-overflow", "LAPACK type 11: condition 2, norm 2^105, large for single precision",
     [](std::size_t n, std::uint64_t seed) {
       return scaled(make_well_conditioned(n, seed), kLargeNorm);
     }},
    {"near-underflow-double", "LAPACK type 10 of double precision: condition 2, norm 2^-972",
     [](std::size_t n, std::uint64_t seed) {
       return scaled(make_well_conditioned(n, seed), 1.0 / kLargeNormDouble);
     }},
    {"near-overflow-double",
     "LAPACK type 11 of double precision: condition 2, norm 2^972, too large for single precision",
     [](std::size_t n, std::uint64_t seed) {
       return scaled(make_well_conditioned(n, seed), kLargeNormDouble);
     }},
};

}  // namespace

std::span<const MatrixKind> matrix_kinds() {
  return kKinds;
}

Matrix generate(const std::string& kind, std::size_t n, std::uint64_t seed) {
  if (n > INT_MAX)
    throw InputError("a matrix of order " + std::to_string(n) +
                     " cannot be generated; the largest order that LAPACK can count is " +
                     std::to_string(INT_MAX));
  std::string names;
  for (const MatrixKind& known : kKinds) {
    if (kind == known.name) return known.make(n, seed);
    names += (names.empty() ? "" : ", ") + std::string(known.name);
  }
  throw InputError("there is no matrix kind \"" + kind + "\"; the kinds are " + names);
}

}  // namespace lugpu

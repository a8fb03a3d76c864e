#include <gtest/gtest.h>
#include <lapacke.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "accuracy/condition.hpp"
#include "matrices.hpp"
#include "matrix/generate.hpp"
#include "ratios.hpp"

extern "C" void dgetc2_(const int* n, double* a, const int* lda, int* ipiv, int* jpiv, int* info);

namespace lugpu {
namespace {

constexpr double kEps = kEpsilonDouble;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Factors {
  Matrix lu;
  std::vector<int> ipiv, jpiv;
};

Factors dgetrf(Matrix a) {
  const int n = static_cast<int>(a.rows());
  Factors f{std::move(a), std::vector<int>(static_cast<std::size_t>(n)), {}};
  EXPECT_EQ(LAPACKE_dgetrf(LAPACK_COL_MAJOR, n, n, f.lu.values().data(), f.lu.ld(), f.ipiv.data()),
            0);
  return f;
}

Factors dgetc2(Matrix a) {
  const int n = static_cast<int>(a.rows());
  const int ld = a.ld();
  Factors f{std::move(a), std::vector<int>(static_cast<std::size_t>(n)),
            std::vector<int>(static_cast<std::size_t>(n))};
  int info = 0;
  dgetc2_(&n, f.lu.values().data(), &ld, f.ipiv.data(), f.jpiv.data(), &info);
  EXPECT_EQ(info, 0);
  return f;
}

/// Factored by sgetrf after rounding to single precision.
Factors sgetrf(const Matrix& a) {
  const int n = static_cast<int>(a.rows());
  std::vector<float> rounded(a.values().begin(), a.values().end());
  Factors f{a, std::vector<int>(a.rows()), {}};
  EXPECT_EQ(LAPACKE_sgetrf(LAPACK_COL_MAJOR, n, n, rounded.data(), a.ld(), f.ipiv.data()), 0);
  f.lu.values().assign(rounded.begin(), rounded.end());
  return f;
}

Matrix dgetrs(const Factors& f, Matrix b) {
  EXPECT_EQ(LAPACKE_dgetrs(LAPACK_COL_MAJOR, 'N', static_cast<int>(f.lu.rows()),
                           static_cast<int>(b.cols()), f.lu.values().data(), f.lu.ld(),
                           f.ipiv.data(), b.values().data(), b.ld()),
            0);
  return b;
}

Matrix dgetri(Factors f) {
  if (f.lu.rows() == 0) return f.lu;  // OpenBLAS refuses the workspace of length 0
  EXPECT_EQ(LAPACKE_dgetri(LAPACK_COL_MAJOR, static_cast<int>(f.lu.rows()), f.lu.values().data(),
                           f.lu.ld(), f.ipiv.data()),
            0);
  return f.lu;
}

double factor_ratio(const Matrix& a, const Factors& f) {
  return lu_factor_ratio(a, f.lu, f.ipiv, f.jpiv, kEps);
}

TEST(Norms, ByHand) {
  const Matrix a = matrix({{1, -2, 3}, {-4, 5, -6}});
  EXPECT_EQ(norm_1(a), 9.0);
  EXPECT_EQ(norm_inf(a), 15.0);
  EXPECT_EQ(norm_max(a), 6.0);
  const Matrix empty;
  EXPECT_EQ(norm_1(empty), 0.0);
  EXPECT_EQ(norm_inf(empty), 0.0);
  EXPECT_EQ(norm_max(empty), 0.0);
}

TEST(Norms, AgreeWithPlainLoops) {
  const Matrix a = random_matrix(37, 23, 1);
  double one = 0.0, inf = 0.0, max = 0.0;
  for (std::size_t j = 0; j < 23; ++j) {
    double sum = 0.0;
    for (std::size_t i = 0; i < 37; ++i) sum += std::fabs(a(i, j));
    one = std::fmax(one, sum);
  }
  for (std::size_t i = 0; i < 37; ++i) {
    double sum = 0.0;
    for (std::size_t j = 0; j < 23; ++j) sum += std::fabs(a(i, j));
    inf = std::fmax(inf, sum);
  }
  for (const double value : a.values()) max = std::fmax(max, std::fabs(value));
  EXPECT_DOUBLE_EQ(norm_1(a), one);
  EXPECT_DOUBLE_EQ(norm_inf(a), inf);
  EXPECT_EQ(norm_max(a), max);
}

// Sums of rows are taken 256 rows at a time.
TEST(Norms, SeeEveryRowOfATallMatrix) {
  for (const std::size_t row : {0, 254, 255, 256, 511, 512, 599}) {
    Matrix a(600, 3);
    for (double& value : a.values()) value = 1;
    a(row, 1) = -7;
    EXPECT_EQ(norm_inf(a), 9) << row;
  }
}

TEST(Norms, NaNAnywhereIsNaN) {
  for (std::size_t k = 0; k < 6; ++k) {
    Matrix a = matrix({{1, 2, 3}, {4, 5, 6}});
    a.values()[k] = kNaN;
    EXPECT_TRUE(std::isnan(norm_1(a))) << k;
    EXPECT_TRUE(std::isnan(norm_inf(a))) << k;
    EXPECT_TRUE(std::isnan(norm_max(a))) << k;
  }
}

TEST(FactorRatio, TwoByTwoByHand) {
  const Matrix a = matrix({{2, 1}, {4, 3}});
  const Matrix lu = matrix({{4, 3}, {0.5, -0.5}});
  EXPECT_EQ(lu_factor_ratio(a, lu, {2, 2}, {}, kEps), 0.0);
  // Without the interchange A - L U = [-2 -2; 2 2], whose columns add up to 4; ||A||_1 = 6.
  EXPECT_DOUBLE_EQ(lu_factor_ratio(a, lu, {}, {}, kEps), 4.0 / (2 * 6 * kEps));
  EXPECT_DOUBLE_EQ(lu_factor_ratio(a, lu, {}, {}, kEpsilonSingle), 4.0 / (2 * 6 * kEpsilonSingle));
  const Matrix unpivoted = matrix({{2, 1}, {2, 1}});
  EXPECT_EQ(lu_factor_ratio(a, unpivoted, {}, {}, kEps), 0.0);
  const Matrix full = matrix({{1, 2}, {3, 4}});
  EXPECT_EQ(lu_factor_ratio(full, lu, {2, 2}, {2, 2}, kEps), 0.0);
  EXPECT_GT(lu_factor_ratio(full, lu, {2, 2}, {}, kEps), 1e10);
}

// A lower bound that is seldom less than a third, of the errors of real factors and of wrong ones.
TEST(FactorRatio, Estimated) {
  for (const std::size_t n : {1, 2, 10, 132, 300}) {
    const Matrix a = random_matrix(n, n, n);
    Factors f = dgetrf(a);
    const auto compare = [&] {
      const double exact = lu_factor_ratio(a, f.lu, f.ipiv, f.jpiv, kEps);
      const double estimate = estimated_factor_ratio(a, f.lu, f.ipiv, f.jpiv, kEps);
      // Its own rounding is as large as that of good factors.
      EXPECT_LE(estimate, 3 * exact + 3) << n;
      EXPECT_GE(estimate, exact / 3 - 1) << n;
    };
    compare();
    f.lu(n - 1, n / 2) += 1e-3;
    compare();
    f.lu(n / 3, n - 1) *= 2;
    compare();
  }
  const Matrix lu = matrix({{1, 2, 3}, {2, 1, 1}, {3, 1, 2}});
  const Matrix both = matrix({{7, 2, 5}, {12, 3, 7}, {3, 1, 2}});
  EXPECT_LT(estimated_factor_ratio(both, lu, {3, 3, 3}, {2, 3, 3}, kEps), 1);
  EXPECT_GT(estimated_factor_ratio(both, lu, {3, 3, 3}, {3, 3, 3}, kEps), 1e10);
  EXPECT_EQ(estimated_factor_ratio(both, lu, {3, 3, 4}, {2, 3, 3}, kEps), INFINITY);
}

// L = [1; 2 1; 3 1 1], U = [1 2 3; 1 1; 2]: L U = [1 2 3; 2 5 7; 3 7 12]. The interchanges do not
// commute, so their order and their direction show.
TEST(FactorRatio, ThreeByThreeByHand) {
  const Matrix lu = matrix({{1, 2, 3}, {2, 1, 1}, {3, 1, 2}});
  const Matrix product = matrix({{1, 2, 3}, {2, 5, 7}, {3, 7, 12}});
  EXPECT_EQ(lu_factor_ratio(product, lu, {}, {}, kEps), 0.0);
  // ipiv (3, 3, 3) reorders the rows of A as 3, 1, 2; jpiv (2, 3, 3) its columns as 2, 3, 1.
  const Matrix rows = matrix({{2, 5, 7}, {3, 7, 12}, {1, 2, 3}});
  EXPECT_EQ(lu_factor_ratio(rows, lu, {3, 3, 3}, {}, kEps), 0.0);
  EXPECT_GT(lu_factor_ratio(rows, lu, {2, 3, 3}, {}, kEps), 1e10);
  const Matrix columns = matrix({{3, 1, 2}, {7, 2, 5}, {12, 3, 7}});
  EXPECT_EQ(lu_factor_ratio(columns, lu, {}, {2, 3, 3}, kEps), 0.0);
  EXPECT_GT(lu_factor_ratio(columns, lu, {}, {3, 3, 3}, kEps), 1e10);
  const Matrix both = matrix({{7, 2, 5}, {12, 3, 7}, {3, 1, 2}});
  EXPECT_EQ(lu_factor_ratio(both, lu, {3, 3, 3}, {2, 3, 3}, kEps), 0.0);
}

TEST(FactorRatio, ImpossiblePivotsAreInfinite) {
  const Matrix a = matrix({{2, 1}, {4, 3}});
  const Matrix lu = matrix({{4, 3}, {0.5, -0.5}});
  const std::vector<std::vector<int>> broken = {{2}, {2, 2, 2}, {0, 2}, {2, 3}, {-1, 2}};
  for (const std::vector<int>& pivots : broken) {
    EXPECT_EQ(lu_factor_ratio(a, lu, pivots, {}, kEps), kInfinity);
    EXPECT_EQ(lu_factor_ratio(a, lu, {2, 2}, pivots, kEps), kInfinity);
  }
}

TEST(InverseRatio, ByHand) {
  const Matrix a = matrix({{2, 0}, {0, 4}});
  EXPECT_EQ(inverse_ratio(a, matrix({{0.5, 0}, {0, 0.25}}), kEps), 0.0);
  // I - A inv = diag(0, -1).
  EXPECT_DOUBLE_EQ(inverse_ratio(a, matrix({{0.5, 0}, {0, 0.5}}), kEps),
                   1.0 / (2 * 4 * 0.5 * kEps));
  // Not symmetric: A inv, not the transpose.
  EXPECT_EQ(inverse_ratio(matrix({{1, 2}, {0, 1}}), matrix({{1, -2}, {0, 1}}), kEps), 0.0);
}

// ||A||_1 = 5, ||A||_inf = 4, A x = (3, 4).
TEST(SolveRatios, ByHand) {
  const Matrix a = matrix({{2, 1}, {0, 4}});
  const Matrix x = matrix({{1}, {1}});
  EXPECT_EQ(solve_ratio(a, x, matrix({{3}, {4}}), kEps), 0.0);
  EXPECT_EQ(hpl_residual(a, x, matrix({{3}, {4}}), kEps), 0.0);
  // b - A x = (1, 2): 1-norm 3, max-norm 2.
  EXPECT_DOUBLE_EQ(solve_ratio(a, x, matrix({{4}, {6}}), kEps), 3.0 / (5 * 2 * kEps));
  EXPECT_DOUBLE_EQ(hpl_residual(a, x, matrix({{4}, {6}}), kEps), 2.0 / (kEps * (4 * 1 + 6) * 2));
  // The larger column counts, wherever it stands.
  const Matrix two = matrix({{1, 1}, {1, 1}});
  EXPECT_DOUBLE_EQ(solve_ratio(a, two, matrix({{3, 4}, {4, 6}}), kEps), 3.0 / (5 * 2 * kEps));
  EXPECT_DOUBLE_EQ(solve_ratio(a, two, matrix({{4, 3}, {6, 4}}), kEps), 3.0 / (5 * 2 * kEps));
  EXPECT_DOUBLE_EQ(hpl_residual(a, two, matrix({{4, 3}, {6, 4}}), kEps),
                   2.0 / (kEps * (4 * 1 + 6) * 2));
}

TEST(Ratios, EmptyAndZero) {
  const Matrix none(0, 0), none_x(0, 1);
  EXPECT_EQ(lu_factor_ratio(none, none, {}, {}, kEps), 0.0);
  EXPECT_EQ(inverse_ratio(none, none, kEps), 0.0);
  EXPECT_EQ(solve_ratio(none, none_x, none_x, kEps), 0.0);
  EXPECT_EQ(hpl_residual(none, none_x, none_x, kEps), 0.0);
  EXPECT_EQ(pivot_growth(none, none), 0.0);

  const Matrix a = random_matrix(3, 3, 1), no_columns(3, 0);
  EXPECT_EQ(solve_ratio(a, no_columns, no_columns, kEps), 0.0);
  EXPECT_EQ(hpl_residual(a, no_columns, no_columns, kEps), 0.0);

  const Matrix zero(3, 3), zero_x(3, 1), b = random_matrix(3, 1, 1);
  EXPECT_EQ(lu_factor_ratio(zero, zero, {}, {}, kEps), 0.0);
  EXPECT_EQ(lu_factor_ratio(zero, a, {}, {}, kEps), kInfinity);
  EXPECT_EQ(inverse_ratio(zero, zero, kEps), kInfinity);
  EXPECT_EQ(solve_ratio(a, zero_x, zero_x, kEps), 0.0);
  EXPECT_EQ(solve_ratio(a, zero_x, b, kEps), kInfinity);
  EXPECT_EQ(hpl_residual(a, zero_x, zero_x, kEps), 0.0);
  EXPECT_GT(hpl_residual(a, zero_x, b, kEps), 1e10);
  EXPECT_EQ(pivot_growth(zero, zero), 0.0);
  EXPECT_EQ(pivot_growth(zero, a), kInfinity);
}

TEST(Ratios, LapackPassesOnRandomMatrices) {
  for (const std::size_t n : {0, 1, 2, 3, 5, 10, 50, 132}) {
    const Matrix a = generate("random", n, 17);
    const Matrix b = random_matrix(n, 3, 17);
    const Factors f = dgetrf(a);
    const Matrix x = dgetrs(f, b);
    EXPECT_LT(factor_ratio(a, f), kFactorRatioLimit) << n;
    EXPECT_LT(factor_ratio(a, dgetc2(a)), kFactorRatioLimit) << n;
    EXPECT_LT(inverse_ratio(a, dgetri(f), kEps), kFactorRatioLimit) << n;
    EXPECT_LT(solve_ratio(a, x, b, kEps), kSolveRatioLimit) << n;
    EXPECT_LT(hpl_residual(a, x, b, kEps), kHplResidualLimit) << n;
  }
}

TEST(Ratios, SinglePrecisionPassesWithItsOwnEpsilonOnly) {
  for (const char* kind : {"random", "dominant", "near-underflow", "near-overflow", "graded"}) {
    const Matrix a = generate(kind, 132, 17);
    const Factors f = sgetrf(a);
    EXPECT_LT(lu_factor_ratio(a, f.lu, f.ipiv, {}, kEpsilonSingle), kFactorRatioLimit) << kind;
    EXPECT_GT(lu_factor_ratio(a, f.lu, f.ipiv, {}, kEpsilonDouble), 1e3) << kind;
  }
}

/// A changed factor, pivot or solution must not pass.
class CorruptedResults : public testing::TestWithParam<std::size_t> {
 protected:
  std::size_t n = GetParam();
  Matrix a = generate("random", n, 19);
  Matrix b = random_matrix(n, 3, 19);
};

TEST_P(CorruptedResults, FactorChanged) {
  for (const Factors& good : {dgetrf(a), dgetc2(a)}) {
    const std::pair<std::size_t, std::size_t> elements[] = {{0, 0}, {n - 1, n - 1}, {0, n - 1}};
    for (const auto& [i, j] : elements) {
      Factors bad = good;
      bad.lu(i, j) *= 1.001;
      EXPECT_FALSE(factor_ratio(a, bad) < kFactorRatioLimit) << i << " " << j;
    }
    for (std::size_t i = 1; i < n; ++i) {
      Factors bad = good;
      bad.lu(i, 0) *= 1.001;
      EXPECT_FALSE(factor_ratio(a, bad) < kFactorRatioLimit) << i;
    }
  }
}

/// The order into which the interchanges bring 0 .. n-1.
std::vector<int> permutation(const std::vector<int>& pivots) {
  std::vector<int> order(pivots.size());
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t k = 0; k < pivots.size(); ++k)
    std::swap(order[k], order[static_cast<std::size_t>(pivots[k]) - 1]);
  return order;
}

// Some exchanges leave the permutation as it is: those, and only those, still pass.
TEST_P(CorruptedResults, PivotsSwapped) {
  const Factors rows = dgetrf(a), both = dgetc2(a);
  std::size_t changed = 0;
  for (std::size_t k = 1; k < n; ++k) {
    Factors bad = rows;
    std::swap(bad.ipiv[k - 1], bad.ipiv[k]);
    const bool same_rows = permutation(bad.ipiv) == permutation(rows.ipiv);
    EXPECT_EQ(factor_ratio(a, bad) < kFactorRatioLimit, same_rows) << k;
    bad = both;
    std::swap(bad.jpiv[k - 1], bad.jpiv[k]);
    const bool same_columns = permutation(bad.jpiv) == permutation(both.jpiv);
    EXPECT_EQ(factor_ratio(a, bad) < kFactorRatioLimit, same_columns) << k;
    changed += !same_rows + !same_columns;
  }
  if (n >= 5) {
    EXPECT_GT(changed, n / 2);
  }
}

TEST_P(CorruptedResults, NaNPlanted) {
  const Factors good = dgetrf(a);
  const Matrix inverse = dgetri(good), x = dgetrs(good, b);
  for (std::size_t k = 0; k<n * n; k += n> 10 ? 101 : 1) {
    Factors bad = good;
    bad.lu.values()[k] = kNaN;
    EXPECT_TRUE(std::isnan(factor_ratio(a, bad))) << k;
    EXPECT_FALSE(
        estimate_condition(a, kEps, inverse_by_lu(bad.lu, bad.ipiv, bad.jpiv)).rcond.has_value())
        << k;
    EXPECT_EQ(std::isnan(pivot_growth(a, bad.lu)), k % n <= k / n) << k;
    Matrix bad_inverse = inverse;
    bad_inverse.values()[k] = kNaN;
    EXPECT_TRUE(std::isnan(inverse_ratio(a, bad_inverse, kEps))) << k;
    Matrix bad_a = a;
    bad_a.values()[k] = kNaN;
    EXPECT_TRUE(std::isnan(factor_ratio(bad_a, good))) << k;
    EXPECT_TRUE(std::isnan(inverse_ratio(bad_a, inverse, kEps))) << k;
    EXPECT_TRUE(std::isnan(solve_ratio(bad_a, x, b, kEps))) << k;
    EXPECT_TRUE(std::isnan(hpl_residual(bad_a, x, b, kEps))) << k;
    EXPECT_TRUE(std::isnan(pivot_growth(bad_a, good.lu))) << k;
  }
  for (std::size_t k = 0; k < n * 3; ++k) {
    Matrix bad = x;
    bad.values()[k] = kNaN;
    EXPECT_TRUE(std::isnan(solve_ratio(a, bad, b, kEps))) << k;
    EXPECT_TRUE(std::isnan(hpl_residual(a, bad, b, kEps))) << k;
    bad = b;
    bad.values()[k] = kNaN;
    EXPECT_TRUE(std::isnan(solve_ratio(a, x, bad, kEps))) << k;
    EXPECT_TRUE(std::isnan(hpl_residual(a, x, bad, kEps))) << k;
  }
}

TEST_P(CorruptedResults, SolutionOff) {
  const Factors good = dgetrf(a);
  const Matrix inverse = dgetri(good), x = dgetrs(good, b);
  for (std::size_t k = 0; k < n * 3; ++k) {
    Matrix bad = x;
    bad.values()[k] *= 1.001;
    EXPECT_FALSE(solve_ratio(a, bad, b, kEps) < kSolveRatioLimit) << k;
    EXPECT_FALSE(hpl_residual(a, bad, b, kEps) < kHplResidualLimit) << k;
    bad = x;
    bad.values()[k] = kInfinity;
    EXPECT_FALSE(solve_ratio(a, bad, b, kEps) < kSolveRatioLimit) << k;
    EXPECT_FALSE(hpl_residual(a, bad, b, kEps) < kHplResidualLimit) << k;
  }
  Matrix bad_inverse = inverse;
  bad_inverse(n - 1, 0) *= 1.001;
  EXPECT_FALSE(inverse_ratio(a, bad_inverse, kEps) < kFactorRatioLimit);
}

INSTANTIATE_TEST_SUITE_P(Orders, CorruptedResults, testing::Values(1, 2, 3, 5, 10, 50, 132));

// A NaN beside zeros, where a BLAS may skip the product.
TEST(Ratios, NaNBesideZerosIsSeen) {
  const Matrix zero(2, 2), identity = matrix({{1, 0}, {0, 1}});
  Matrix planted = identity;
  planted(1, 0) = kNaN;
  EXPECT_TRUE(std::isnan(lu_factor_ratio(zero, planted, {}, {}, kEps)));
  EXPECT_TRUE(std::isnan(solve_ratio(planted, zero, zero, kEps)));
  EXPECT_TRUE(std::isnan(hpl_residual(planted, zero, zero, kEps)));
  EXPECT_TRUE(std::isnan(inverse_ratio(planted, zero, kEps)));
  EXPECT_TRUE(std::isnan(inverse_ratio(zero, planted, kEps)));
}

TEST(Ratios, LargeElementsNeitherOverflowNorPass) {
  // ||A|| ||x|| overflows, A x does not: the diagonal takes x down.
  const Matrix a = matrix({{1e200, 0}, {0, 1e-200}});
  const Matrix x = matrix({{1e-200}, {1e200}});
  EXPECT_EQ(hpl_residual(a, x, matrix({{1}, {1}}), kEps), 0.0);
  const Matrix huge = matrix({{1e308, 1e308}, {1e308, 1e308}});  // its norm overflows
  const Matrix ones = matrix({{1}, {-1}});
  EXPECT_TRUE(std::isnan(solve_ratio(huge, ones, matrix({{1}, {1}}), kEps)));
  EXPECT_TRUE(std::isnan(hpl_residual(huge, ones, matrix({{1}, {1}}), kEps)));
  EXPECT_FALSE(lu_factor_ratio(huge, matrix({{1e308, 1e308}, {1, 1}}), {}, {}, kEps) <
               kFactorRatioLimit);
}

TEST(PivotGrowth, OfWilkinsonIsExact) {
  const Matrix a = generate("wilkinson", 10, 1);
  EXPECT_EQ(pivot_growth(a, dgetrf(a).lu), 512.0);
  // L does not count.
  EXPECT_EQ(pivot_growth(matrix({{2, 0}, {0, 4}}), matrix({{1, 3}, {99, 2}})), 0.75);
}

// inv(A) X and inv(A') X, for LAPACK's factors by rows, and by rows and columns.
TEST(InverseByLu, SolvesAsTheFactors) {
  for (const std::size_t n : {0, 1, 2, 3, 5, 10, 50}) {
    const Matrix a = random_matrix(n, n, 23), b = random_matrix(n, 3, 5);
    for (const Factors& f : {dgetrf(a), dgetc2(a)}) {
      Matrix x = b;
      inverse_by_lu(f.lu, f.ipiv, f.jpiv)(x, Op::none);
      EXPECT_LT(solve_ratio(a, x, b, kEps), kSolveRatioLimit) << n;
      x = b;
      inverse_by_lu(f.lu, f.ipiv, f.jpiv)(x, Op::transpose);
      EXPECT_LT(solve_ratio(transposed(a), x, b, kEps), kSolveRatioLimit) << n;
    }
  }
}

TEST(Rcond, IsCloseToTheTrueValue) {
  for (const char* kind : {"random", "dominant", "well-conditioned", "ill-conditioned",
                           "near-underflow", "near-overflow"}) {
    for (const std::size_t n : {1, 2, 3, 5, 10, 50, 132}) {
      const Matrix a = generate(kind, n, 23);
      const Factors f = dgetrf(a);
      const double exact = 1.0 / (norm_1(a) * norm_1(dgetri(f)));
      const double rcond =
          estimate_condition(a, kEps, inverse_by_lu(f.lu, f.ipiv, f.jpiv)).rcond.value();
      // The estimate is a lower bound of ||inv(A)||_1, nearly always within a factor of 3.
      EXPECT_GT(rcond, 0.999 * exact) << kind << " " << n;
      EXPECT_LT(rcond, 3.0 * exact) << kind << " " << n;
    }
  }
}

TEST(Digits, AreThoseOfTheLargestBound) {
  Checks checks;
  EXPECT_EQ(checks.digits(Precision::double_precision), std::nullopt);
  checks.ferr = {1e-12, 3e-9, 0};
  EXPECT_EQ(checks.digits(Precision::double_precision), 8);
  checks.ferr = {0};  // X has no more
  EXPECT_EQ(checks.digits(Precision::double_precision), 15);
  EXPECT_EQ(checks.digits(Precision::single_precision), 7);
  for (const double none : {0.1, kInfinity, kNaN}) {
    checks.ferr = {1e-12, none, 1e-12};
    EXPECT_EQ(checks.digits(Precision::double_precision), std::nullopt) << none;
  }
}

TEST(Failure, IsEmptyWhenAllPass) {
  Checks checks;
  EXPECT_EQ(checks.failure(), "");
  checks.factor_ratio = 29.9;
  checks.solve_ratio = 0.0;
  checks.hpl_residual = 15.9;
  checks.growth = 1e9;
  checks.rcond = 0.0;
  EXPECT_EQ(checks.failure(), "");
}

TEST(Failure, NamesTheFirstRatioAtItsLimitOrAbove) {
  Checks checks;
  checks.hpl_residual = 16.0;
  EXPECT_EQ(checks.failure(), "hpl_residual 16 is not under 16");
  checks.solve_ratio = kInfinity;
  EXPECT_EQ(checks.failure(), "solve_ratio inf is not under 30");
  checks.factor_ratio = 4.1e6;
  EXPECT_EQ(checks.failure(), "factor_ratio 4.1e+06 is not under 30");
  checks.factor_ratio = 30.0;
  EXPECT_EQ(checks.failure(), "factor_ratio 30 is not under 30");
}

TEST(Failure, NaNNeverPasses) {
  for (const double nan : {kNaN, -kNaN}) {
    Checks checks;
    checks.factor_ratio = nan;
    EXPECT_EQ(checks.failure(), "factor_ratio nan is not under 30");
    checks = {};
    checks.solve_ratio = nan;
    EXPECT_EQ(checks.failure(), "solve_ratio nan is not under 30");
    checks = {};
    checks.hpl_residual = nan;
    EXPECT_EQ(checks.failure(), "hpl_residual nan is not under 16");
  }
}

}  // namespace
}  // namespace lugpu

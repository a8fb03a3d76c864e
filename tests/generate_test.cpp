#include "matrix/generate.hpp"

#include <gtest/gtest.h>
#include <lapacke.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "matrix/random.hpp"

extern "C" void dgetc2_(const int* n, double* a, const int* lda, int* ipiv, int* jpiv, int* info);

namespace lugpu {
namespace {

const std::vector<std::size_t> kSizes = {1, 2, 3, 5, 10, 50, 132};

/// ||.||_max; the checks' norms have tests of their own.
double max_magnitude(const std::vector<double>& values) {
  double largest = 0.0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

struct Factors {
  Matrix lu;
  int info;
};

Factors dgetrf(Matrix a) {
  const int n = static_cast<int>(a.rows());
  std::vector<int> ipiv(a.rows());
  const int info = LAPACKE_dgetrf(LAPACK_COL_MAJOR, n, n, a.values().data(), a.ld(), ipiv.data());
  return {std::move(a), info};
}

/// info of sgetrf for the matrix rounded to single precision.
int sgetrf_info(const Matrix& a) {
  const int n = static_cast<int>(a.rows());
  std::vector<float> rounded(a.values().begin(), a.values().end());
  std::vector<int> ipiv(a.rows());
  return LAPACKE_sgetrf(LAPACK_COL_MAJOR, n, n, rounded.data(), a.ld(), ipiv.data());
}

/// info of dgetc2: full pivoting.
int dgetc2_info(Matrix a) {
  const int n = static_cast<int>(a.rows());
  const int ld = a.ld();
  std::vector<int> ipiv(a.rows()), jpiv(a.rows());
  int info = -1;
  dgetc2_(&n, a.values().data(), &ld, ipiv.data(), jpiv.data(), &info);
  return info;
}

/// Largest first.
std::vector<double> singular_values(Matrix a) {
  const int n = static_cast<int>(a.rows());
  std::vector<double> s(a.rows()), work(a.rows());
  EXPECT_EQ(LAPACKE_dgesvd(LAPACK_COL_MAJOR, 'N', 'N', n, n, a.values().data(), a.ld(), s.data(),
                           nullptr, 1, nullptr, 1, work.data()),
            0);
  return s;
}

TEST(Generate, EveryKindIsNamedOnceAndDescribed) {
  std::set<std::string> names;
  for (const MatrixKind& kind : matrix_kinds()) {
    EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
    EXPECT_FALSE(std::string(kind.description).empty()) << kind.name;
  }
  EXPECT_EQ(names.size(), 26u);
}

TEST(Generate, EveryKindIsFiniteAndSquareInBothPrecisions) {
  for (const MatrixKind& kind : matrix_kinds()) {
    const bool too_large = std::string(kind.name) == "near-overflow-double";
    for (const std::size_t n : {0, 1, 2, 3, 10, 300}) {
      const Matrix a = generate(kind.name, n, 7);
      ASSERT_EQ(a.rows(), n) << kind.name;
      ASSERT_EQ(a.cols(), n) << kind.name;
      for (const double value : a.values()) {
        ASSERT_TRUE(std::isfinite(value)) << kind.name << " n = " << n;
        if (too_large) continue;
        ASSERT_TRUE(std::isfinite(static_cast<float>(value))) << kind.name << " n = " << n;
      }
    }
  }
}

TEST(Generate, SeedDecides) {
  const std::set<std::string> without_chance = {"wilkinson", "hilbert", "kahan", "diagonal"};
  for (const MatrixKind& kind : matrix_kinds()) {
    const Matrix a = generate(kind.name, 40, 1);  // two inclusions of bubbles
    EXPECT_EQ(a.values(), generate(kind.name, 40, 1).values()) << kind.name;
    const bool same = a.values() == generate(kind.name, 40, 2).values();
    EXPECT_EQ(same, without_chance.contains(kind.name)) << kind.name;
  }
}

TEST(Generate, UnknownKindListsTheKinds) {
  try {
    generate("rndom", 3, 1);
    FAIL() << "no error";
  } catch (const InputError& error) {
    const std::string sentence = error.what();
    EXPECT_NE(sentence.find("\"rndom\""), std::string::npos) << sentence;
    for (const MatrixKind& kind : matrix_kinds())
      EXPECT_NE(sentence.find(kind.name), std::string::npos) << sentence;
  }
}

TEST(Generate, OrderBeyondLapackIsRefused) {
  EXPECT_THROW(generate("random", std::size_t{1} << 32, 1), InputError);
}

// The values of splitmix64, computed independently of this program.
TEST(Random, FirstValuesNeverChange) {
  EXPECT_EQ(generate("random", 2, 1).values(),
            (std::vector<double>{0x1.10a2dec890258p-4, 0x1.f75c6d0b2c774p-3, 0x1.e24e8bbbecc94p-2,
                                 -0x1.c7cf2de237a7p-5}));
  EXPECT_EQ(random_matrix(4, 1, 1).values(),
            (std::vector<double>{-0x1.69341b7088788p-3, -0x1.3f6c8f09ffa4p-2, 0x1.820cf94227594p-2,
                                 -0x1.9c315ee7bbadap-2}));
}

TEST(Random, MatrixOfSeveralThreadsHasTheNumbersInTurn) {
  constexpr std::size_t kRows = 1201, kColumns = 1103;
  Random of_matrix(5), in_turn(5);
  const Matrix a = of_matrix.matrix(kRows, kColumns);
  for (const double value : a.values()) ASSERT_EQ(value, in_turn.uniform());
  EXPECT_EQ(of_matrix.bits(), in_turn.bits());
}

TEST(Random, IsUniform) {
  const Matrix a = random_matrix(400, 250, 3);
  double sum = 0.0, squares = 0.0;
  for (const double value : a.values()) {
    ASSERT_GE(value, -0.5);
    ASSERT_LT(value, 0.5);
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / 1e5, 0.0, 0.005);
  EXPECT_NEAR(squares / 1e5, 1.0 / 12.0, 0.002);
}

TEST(Random, RightHandSideIsNoColumnOfTheMatrix) {
  const Matrix a = generate("random", 10, 1);
  const Matrix b = random_matrix(10, 1, 1);
  for (std::size_t j = 0; j < 10; ++j)
    EXPECT_FALSE(std::equal(a.column(j), a.column(j) + 10, b.column(0))) << j;
}

TEST(Dominant, DominatesRowsAndColumnsInSingleToo) {
  for (const std::size_t n : kSizes) {
    const Matrix a = generate("dominant", n, 5);
    for (std::size_t k = 0; k < n; ++k) {
      double row = 0.0, column = 0.0;
      for (std::size_t i = 0; i < n; ++i) {
        if (i == k) continue;
        row += std::abs(static_cast<float>(a(k, i)));
        column += std::abs(static_cast<float>(a(i, k)));
      }
      EXPECT_GT(std::abs(static_cast<float>(a(k, k))), std::max(row, column)) << n << " " << k;
    }
    const std::vector<double> s = singular_values(a);
    EXPECT_LT(s.front() / s.back(), 10.0) << n;
  }
}

// Full pivoting takes the diagonal in the order of its magnitudes, whatever the rounding.
TEST(Dominant, MovesFullPivotingWithoutTies) {
  constexpr int n = 100;
  Matrix a = generate("dominant", n, 5);
  std::vector<double> expected;
  bool negative = false, positive = false;
  for (std::size_t k = 0; k < n; ++k) {
    expected.push_back(std::abs(a(k, k)));
    (a(k, k) < 0.0 ? negative : positive) = true;
  }
  EXPECT_TRUE(negative && positive);
  std::sort(expected.rbegin(), expected.rend());
  for (std::size_t k = 1; k < n; ++k) EXPECT_GE(expected[k - 1] - expected[k], 0.5);

  std::vector<int> ipiv(n), jpiv(n);
  int info = -1;
  dgetc2_(&n, a.values().data(), &n, ipiv.data(), jpiv.data(), &info);
  EXPECT_EQ(info, 0);
  int moved = 0;
  for (std::size_t k = 0; k < n; ++k) {
    EXPECT_EQ(ipiv[k], jpiv[k]);
    EXPECT_NEAR(std::abs(a(k, k)), expected[k], 0.25) << k;
    moved += jpiv[k] != static_cast<int>(k) + 1;
  }
  EXPECT_GT(moved, 90);
}

TEST(Bubbles, OneInclusionIsKnownExactly) {
  for (const std::size_t n : {1, 2, 3, 31, 32}) {
    const Matrix a = generate("bubbles", n, 1);
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i < n; ++i)
        EXPECT_DOUBLE_EQ(a(i, j), (i == j ? 0.5 : 0.0) + 0.5 / static_cast<double>(n));
  }
}

/// Least excess of |a_kk| over the other elements of row and column k, times the sample points of
/// k's circle, rounded to single precision.
double dominance(const Matrix& a) {
  const std::size_t n = a.rows();
  std::vector<double> row(n, 0.0), column(n, 0.0);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) {
      const double magnitude = std::abs(static_cast<float>(a(i, j)));
      row[i] += i == j ? -magnitude : magnitude;
      column[j] += i == j ? -magnitude : magnitude;
    }
  }
  double least = 1.0;
  for (std::size_t k = 0; k < n; ++k) {
    const auto count = static_cast<double>(std::min<std::size_t>(32, n - k / 32 * 32));
    least = std::min(least, -std::max(row[k], column[k]) * count);
  }
  return least;
}

// The bound leaves 1 - 3/4 of 1/k at least; 1/k is what one circle alone has.
TEST(Bubbles, DominatesRowsAndColumnsInSingleToo) {
  for (const std::size_t n : {1, 2, 3, 10, 33, 50, 64, 65, 132, 512, 1025, 2048, 4097})
    EXPECT_GT(dominance(generate("bubbles", n, n)), 0.25) << n;
}

// A density of 1 makes the potential 1 inside a circle, 1/2 on it and 0 outside: (I/2 + D) 1 = 1.
// The weights integrate the far circles to rounding, because R is so small.
TEST(Bubbles, ConstantPotentialIsReproduced) {
  for (const std::size_t n : {33, 300, 2048}) {
    const Matrix a = generate("bubbles", n, 5);
    std::vector<double> sums(n, 0.0);
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i < n; ++i) sums[i] += a(i, j);
    for (const double sum : sums) EXPECT_NEAR(sum, 1.0, n % 32 == 1 ? 1e-2 : 1e-12) << n;
  }
}

TEST(Bubbles, IsDenseAndWellConditioned) {
  const Matrix a = generate("bubbles", 512, 3);
  for (const double value : a.values()) EXPECT_NE(value, 0.0);
  const std::vector<double> s = singular_values(a);
  EXPECT_LT(s.front() / s.back(), 3.0);
}

// Jitter keeps the inclusions apart: |y - x| > 2/3, so that |a(x,y)| < (R/k) (3/2) off the blocks.
TEST(Bubbles, InclusionsAreWellSeparated) {
  constexpr double kRadius = 1.0 / (256.0 * 8.0);  // 2048 = 8 x 8 x 32
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Matrix a = generate("bubbles", 2048, seed);
    double largest = 0.0;
    for (std::size_t j = 0; j < 2048; ++j)
      for (std::size_t i = 0; i < 2048; ++i)
        if (i / 32 != j / 32) largest = std::max(largest, std::abs(a(i, j)));
    EXPECT_LT(largest, kRadius / 32.0 * 1.5) << seed;
    EXPECT_GT(largest, kRadius / 32.0 * 1.01) << seed;  // some are nearer than without jitter
  }
}

TEST(Wilkinson, GrowsByTwoToTheNMinusOne) {
  for (const std::size_t n : {1, 2, 3, 5, 10, 50}) {
    const Matrix a = generate("wilkinson", n, 1);
    EXPECT_EQ(max_magnitude(a.values()), 1.0);
    const Factors f = dgetrf(a);
    EXPECT_EQ(f.info, 0);
    EXPECT_EQ(max_magnitude(f.lu.values()), std::ldexp(1.0, static_cast<int>(n) - 1)) << n;
  }
}

TEST(TinyPivot, IsRandomButForTheFirstElement) {
  Matrix a = generate("tiny-pivot", 5, 9);
  EXPECT_EQ(a(0, 0), 1e-10);
  const Matrix random = generate("random", 5, 9);
  a(0, 0) = random(0, 0);
  EXPECT_EQ(a.values(), random.values());
}

TEST(HplMxp, HasTheRestOfEachRowOnTheDiagonal) {
  const std::size_t n = 40;
  const Matrix a = generate("hpl-mxp", n, 1), random = generate("random", n, 1);
  for (std::size_t i = 0; i < n; ++i) {
    double rest = 0;
    for (std::size_t j = 0; j < n; ++j) {
      if (j == i) continue;
      rest += std::abs(a(i, j));
      EXPECT_EQ(a(i, j), random(i, j));
    }
    EXPECT_NEAR(a(i, i), rest, 1e-14 * rest);
  }
}

TEST(Permuted, HasOneLargeElementInEveryRowAndColumn) {
  for (const std::size_t n : kSizes) {
    const Matrix a = generate("permuted", n, 3);
    std::vector<int> in_row(n), in_column(n);
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = 0; i < n; ++i) {
        const bool large = std::abs(a(i, j)) > 0.5;
        in_row[i] += large, in_column[j] += large;
        EXPECT_LE(std::abs(a(i, j) - (large ? 1.0 : 0.0)), 0x1p-21);
      }
    }
    EXPECT_EQ(in_row, std::vector<int>(n, 1)) << n;
    EXPECT_EQ(in_column, std::vector<int>(n, 1)) << n;
    EXPECT_GT(a(n - 1, 0), 0.5) << n;
  }
}

TEST(Hilbert, IsOneOverIPlusJMinusOne) {
  const Matrix a = generate("hilbert", 3, 1);
  EXPECT_EQ(a.values(), (std::vector<double>{1.0, 1.0 / 2, 1.0 / 3, 1.0 / 2, 1.0 / 3, 1.0 / 4,
                                             1.0 / 3, 1.0 / 4, 1.0 / 5}));
}

TEST(Kahan, HidesASmallSingularValue) {
  const Matrix a = generate("kahan", 40, 1);
  const double s = std::sin(1.2), c = std::cos(1.2);
  for (std::size_t j = 0; j < 40; ++j) {
    for (std::size_t i = 0; i < 40; ++i) {
      const double row = std::pow(s, static_cast<double>(i));
      EXPECT_NEAR(a(i, j), i == j ? row : i < j ? -c * row : 0.0, 1e-14) << i << " " << j;
    }
  }
  EXPECT_LT(singular_values(a).back(), 1e-3 * a(39, 39));
}

TEST(Graded, ScalesRowsAndColumns) {
  const Matrix a = generate("graded", 31, 2);
  const Matrix random = generate("random", 31, 2);
  for (std::size_t j = 0; j < 31; ++j)
    for (std::size_t i = 0; i < 31; ++i)
      EXPECT_EQ(a(i, j), random(i, j) * std::exp2(static_cast<double>(i + j) - 60.0));
  EXPECT_EQ(generate("graded", 1, 2).values(), generate("random", 1, 2).values());
}

TEST(Singular, LastPivotIsExactlyZeroInBothPrecisions) {
  EXPECT_EQ(generate("singular", 1, 3).values(), std::vector<double>{0.0});
  for (const std::size_t n : {1, 2, 3, 5, 10, 50, 132, 300}) {
    for (const std::uint64_t seed : {1, 2, 3}) {
      const Matrix a = generate("singular", n, seed);
      EXPECT_EQ(dgetrf(a).info, static_cast<int>(n));
      EXPECT_EQ(sgetrf_info(a), static_cast<int>(n));
      EXPECT_EQ(dgetc2_info(a), static_cast<int>(n));
    }
  }
}

/// Elimination without pivoting, the multipliers by division or by the reciprocal of the pivot.
template <typename Real>
std::vector<Real> pivots_without_pivoting(const Matrix& a, bool reciprocal) {
  const std::size_t n = a.rows();
  std::vector<Real> v(a.values().begin(), a.values().end());
  std::vector<Real> pivots;
  for (std::size_t k = 0; k < n; ++k) {
    const Real pivot = v[k + k * n];
    pivots.push_back(pivot);
    for (std::size_t i = k + 1; i < n && pivot != 0; ++i) {
      const Real l = reciprocal ? v[i + k * n] * (1 / pivot) : v[i + k * n] / pivot;
      for (std::size_t j = k; j < n; ++j) v[i + j * n] -= l * v[k + j * n];
    }
  }
  return pivots;
}

TEST(Singular, LastPivotIsExactlyZeroWithoutPivoting) {
  const Matrix a = generate("singular", 40, 4);
  for (const bool reciprocal : {false, true}) {
    const std::vector<double> d = pivots_without_pivoting<double>(a, reciprocal);
    const std::vector<float> s = pivots_without_pivoting<float>(a, reciprocal);
    for (std::size_t k = 0; k < 40; ++k) {
      EXPECT_EQ(d[k] == 0.0, k == 39) << k;
      EXPECT_EQ(s[k] == 0.0f, k == 39) << k;
    }
  }
}

TEST(LapackTypes, HaveThePrescribedSingularValues) {
  const struct {
    const char* kind;
    double condition, norm;
  } types[] = {
      {"diagonal", 2.0, 1.0},
      {"upper", 2.0, 1.0},
      {"lower", 2.0, 1.0},
      {"well-conditioned", 2.0, 1.0},
      {"ill-conditioned", std::sqrt(0.1 * 0x1p53), 1.0},
      {"very-ill-conditioned", 0.1 * 0x1p53, 1.0},
      {"ill-conditioned-single", std::sqrt(0.1 * 0x1p24), 1.0},
      {"very-ill-conditioned-single", 0.1 * 0x1p24, 1.0},
      {"near-underflow", 2.0, 0x1p-105},
      {"near-overflow", 2.0, 0x1p105},
      {"near-underflow-double", 2.0, 0x1p-972},
      {"near-overflow-double", 2.0, 0x1p972},
  };
  for (const auto& type : types) {
    for (const std::size_t n : kSizes) {
      const std::vector<double> s = singular_values(generate(type.kind, n, 11));
      for (std::size_t i = 0; i < n; ++i) {
        const double exponent = n > 1 ? static_cast<double>(i) / static_cast<double>(n - 1) : 0.0;
        const double expected = std::pow(type.condition, -exponent);
        EXPECT_NEAR(s[i] / type.norm, expected, 2e-15 * std::sqrt(n)) << type.kind << " " << n;
      }
    }
  }
}

TEST(LapackTypes, TrianglesAreExact) {
  const Matrix diagonal = generate("diagonal", 20, 1);
  const Matrix upper = generate("upper", 20, 1);
  const Matrix lower = generate("lower", 20, 1);
  for (std::size_t j = 0; j < 20; ++j) {
    for (std::size_t i = 0; i < 20; ++i) {
      EXPECT_EQ(diagonal(i, j) != 0.0, i == j);
      EXPECT_EQ(upper(i, j) != 0.0, i <= j);
      EXPECT_EQ(lower(i, j) != 0.0, i >= j);
    }
  }
}

TEST(LapackTypes, ZeroColumnsStopTheFactorizationThere) {
  for (const std::size_t n : kSizes) {
    const struct {
      const char* kind;
      std::size_t first, last;  ///< 1-based
    } types[] = {{"zero-first-column", 1, 1},
                 {"zero-last-column", n, n},
                 {"zero-half-columns", n / 2 + 1, n}};
    for (const auto& type : types) {
      const Matrix a = generate(type.kind, n, 13);
      for (std::size_t j = 1; j <= n; ++j) {
        const std::vector<double> column(a.column(j - 1), a.column(j - 1) + n);
        EXPECT_EQ(max_magnitude(column) == 0.0, j >= type.first && j <= type.last)
            << type.kind << " n = " << n << " j = " << j;
      }
      EXPECT_EQ(dgetrf(a).info, static_cast<int>(type.first)) << type.kind << " " << n;
      EXPECT_EQ(sgetrf_info(a), static_cast<int>(type.first)) << type.kind << " " << n;
    }
  }
}

TEST(LapackTypes, ScalingRoundsNothing) {
  const Matrix a = generate("well-conditioned", 10, 1);
  const Matrix small = generate("near-underflow", 10, 1);
  const Matrix large = generate("near-overflow", 10, 1);
  const Matrix smaller = generate("near-underflow-double", 10, 1);
  const Matrix larger = generate("near-overflow-double", 10, 1);
  for (std::size_t k = 0; k < a.values().size(); ++k) {
    EXPECT_EQ(small.values()[k], a.values()[k] * 0x1p-105);
    EXPECT_EQ(large.values()[k], a.values()[k] * 0x1p105);
    EXPECT_EQ(smaller.values()[k], a.values()[k] * 0x1p-972);
    EXPECT_EQ(larger.values()[k], a.values()[k] * 0x1p972);
  }
}

}  // namespace
}  // namespace lugpu

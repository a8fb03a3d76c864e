// Sparse matrices, their products, norms and facts. Truth is the dense matrix, element by element,
// a sum without rounding errors, or one in long double.
#include "matrix/sparse.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "matrix/norms.hpp"
#include "matrix/random.hpp"
#include "operators/product.hpp"

namespace lugpu {
namespace {

using Triplets = std::vector<Triplet>;

template <typename T>
std::vector<T> list(std::span<const T> values) {
  return {values.begin(), values.end()};
}

bool same_bits(const Matrix& a, const Matrix& b) {
  const auto same = [](double x, double y) {
    return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
  };
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         std::equal(a.values().begin(), a.values().end(), b.values().begin(), b.values().end(),
                    same);
}

// `count` triplets at random places; every third one stands twice. Whole values from -8 to 8, zero
// among them: no sum rounds.
Triplets random_triplets(std::size_t rows, std::size_t cols, std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  Triplets triplets;
  while (triplets.size() < count) {
    const std::size_t i = random() % rows, j = random() % cols;
    const double value = static_cast<double>(random() % 17) - 8;
    triplets.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j), value});
    if (triplets.size() % 3 == 0) triplets.push_back(triplets[random() % triplets.size()]);
  }
  return triplets;
}

Matrix sum_of(std::size_t rows, std::size_t cols, const Triplets& triplets) {
  Matrix a(rows, cols);
  for (const auto& [i, j, value] : triplets) {
    a(static_cast<std::size_t>(i), static_cast<std::size_t>(j)) += value;
  }
  return a;
}

// Expects rows without gaps whose columns ascend, an entry at each of the places of the triplets
// and no other.
void expect_well_formed(const Sparse& a, const Triplets& triplets) {
  std::set<std::pair<std::int32_t, std::int32_t>> places;
  for (const auto& [i, j, value] : triplets) places.insert({i, j});
  ASSERT_EQ(a.row_begin().size(), a.rows() + 1);
  ASSERT_EQ(a.row_begin().front(), 0);
  ASSERT_EQ(a.row_begin().back(), static_cast<std::int64_t>(places.size()));
  ASSERT_EQ(a.columns().size(), places.size());
  ASSERT_EQ(a.values().size(), places.size());
  auto place = places.begin();  // in the order of rows, then columns
  for (std::size_t i = 0; i < a.rows(); ++i) {
    ASSERT_LE(a.row_begin()[i], a.row_begin()[i + 1]);
    for (auto k = a.row_begin()[i]; k < a.row_begin()[i + 1]; ++k, ++place) {
      ASSERT_EQ(place->first, static_cast<std::int32_t>(i));
      ASSERT_EQ(place->second, a.columns()[static_cast<std::size_t>(k)]);
    }
  }
}

struct Shape {
  std::size_t rows, cols, triplets;
};

constexpr Shape kShapes[] = {{1, 1, 1},       {1, 1, 9},      {1, 37, 20},    {37, 1, 20},
                             {3, 5, 0},       {7, 7, 10},     {13, 8, 100},   {8, 13, 100},
                             {131, 131, 400}, {517, 33, 900}, {33, 517, 900}, {1537, 1031, 40000}};

std::string text(const Shape& shape) {
  return std::to_string(shape.rows) + " x " + std::to_string(shape.cols) + ", " +
         std::to_string(shape.triplets) + " triplets";
}

TEST(Sparse, IsTheSumOfItsTriplets) {
  for (const Shape& shape : kShapes) {
    SCOPED_TRACE(text(shape));
    const auto [m, n, count] = shape;
    Triplets triplets = random_triplets(m, n, count, 1);
    const Matrix expected = sum_of(m, n, triplets);
    const auto by_rows = [](const Triplet& a, const Triplet& b) {
      return std::pair(a.row, a.column) < std::pair(b.row, b.column);
    };
    const auto by_columns = [](const Triplet& a, const Triplet& b) {
      return std::pair(a.column, a.row) < std::pair(b.column, b.row);
    };
    for (const int order : {0, 1, 2}) {
      if (order == 1) std::stable_sort(triplets.begin(), triplets.end(), by_rows);
      if (order == 2) std::stable_sort(triplets.begin(), triplets.end(), by_columns);
      const Sparse a(m, n, triplets);
      ASSERT_EQ(a.rows(), m);
      ASSERT_EQ(a.cols(), n);
      expect_well_formed(a, triplets);
      EXPECT_TRUE(same_bits(dense(a), expected)) << "order " << order;
    }
  }
}

// 1e16 + 1 rounds to 1e16, so any other order gives another sum.
TEST(Sparse, AddsTripletsOfOnePlaceInTheirOrder) {
  const Triplets ascending = {{1, 2, 1e16}, {1, 2, 1}, {1, 2, -1e16}};
  EXPECT_EQ(dense(Sparse(2, 3, ascending))(1, 2), 0.0);
  const Triplets disordered = {{1, 2, 1e16}, {1, 2, 1}, {1, 0, 5}, {1, 2, -1e16}};
  EXPECT_EQ(dense(Sparse(2, 3, disordered))(1, 2), 0.0);
  const Triplets exact = {{1, 2, 1e16}, {1, 0, 5}, {1, 2, -1e16}, {1, 2, 1}};
  EXPECT_EQ(dense(Sparse(2, 3, exact))(1, 2), 1.0);
}

TEST(Sparse, ZerosStayEntries) {
  const Sparse a(2, 2, {{0, 1, 0.0}, {1, 0, 2.0}, {1, 0, -2.0}});
  EXPECT_EQ(list(a.values()), (std::vector<double>{0, 0}));
  EXPECT_EQ(list(a.columns()), (std::vector<std::int32_t>{1, 0}));
  EXPECT_EQ(list(a.row_begin()), (std::vector<std::int64_t>{0, 1, 2}));
}

TEST(Sparse, MayHaveNoRowsAndNoEntries) {
  const Sparse none;
  EXPECT_EQ(list(none.row_begin()), (std::vector<std::int64_t>{0}));
  EXPECT_EQ(dense(none).values().size(), 0u);
  EXPECT_EQ(list(none.transposed().row_begin()), (std::vector<std::int64_t>{0}));
  const Sparse rows(3, 2, {});
  EXPECT_EQ(list(rows.row_begin()), (std::vector<std::int64_t>{0, 0, 0, 0}));
  EXPECT_TRUE(same_bits(dense(rows), Matrix(3, 2)));
}

TEST(Sparse, DenseZerosArePositive) {
  EXPECT_FALSE(std::signbit(dense(Sparse(1, 1, {{0, 0, -0.0}}))(0, 0)));
}

TEST(Sparse, TransposesEveryElement) {
  for (const Shape& shape : kShapes) {
    SCOPED_TRACE(text(shape));
    const auto [m, n, count] = shape;
    Triplets triplets = random_triplets(m, n, count, 2);
    const Sparse a(m, n, triplets);
    for (auto& [i, j, value] : triplets) std::swap(i, j);
    const Sparse transposed = a.transposed();
    expect_well_formed(transposed, triplets);
    EXPECT_TRUE(same_bits(dense(transposed), sum_of(n, m, triplets)));
  }
}

// --- Products --------------------------------------------------------------------------------

Matrix integers(std::size_t rows, std::size_t cols, std::uint64_t seed) {
  Matrix a = random_matrix(rows, cols, seed);
  for (double& value : a.values()) value = std::round(8 * value) + 0.0;  // no -0
  return a;
}

TEST(SparseProducts, OfIntegersAreThoseOfTheDenseMatrix) {
  for (const Shape& shape : kShapes) {
    const auto [m, n, count] = shape;
    const Sparse a(m, n, random_triplets(m, n, count, 3));
    const Matrix full = dense(a);
    for (const std::size_t nrhs : {0, 1, 2, 5, 17}) {
      SCOPED_TRACE(text(shape) + ", " + std::to_string(nrhs) + " columns");
      const Matrix x = integers(n, nrhs, 4), z = integers(m, nrhs, 5), b = integers(m, nrhs, 6);
      EXPECT_EQ(multiply(a, Op::none, x).values(), multiply(full, Op::none, x).values());
      EXPECT_EQ(multiply(a, Op::transpose, z).values(), multiply(full, Op::transpose, z).values());
      EXPECT_EQ(residual(a, x, b).values(), residual(full, x, b).values());
      EXPECT_EQ(residual_sizes(a, x, b).values(), residual_sizes(full, x, b).values());
      EXPECT_EQ(multiply(a, Op::transpose, z).rows(), n);
      EXPECT_EQ(residual_sizes(a, x, b).rows(), m);
    }
  }
}

// A sum of k products rounds by at most about k eps of the sum of their magnitudes.
TEST(SparseProducts, RoundNoMoreThanTheirTermsAllow) {
  constexpr std::size_t kRows = 601, kCols = 577, kColumns = 3;
  Triplets triplets = random_triplets(kRows, kCols, 20000, 7);
  const Matrix values = random_matrix(triplets.size(), 1, 8);
  for (std::size_t k = 0; k < triplets.size(); ++k) triplets[k].value = values(k, 0);
  const Sparse a(kRows, kCols, triplets);
  const Matrix full = dense(a), x = random_matrix(kCols, kColumns, 9);
  const Matrix b = random_matrix(kRows, kColumns, 10);
  const Matrix r = residual(a, x, b), sizes = residual_sizes(a, x, b);
  for (std::size_t c = 0; c < kColumns; ++c) {
    for (std::size_t i = 0; i < kRows; ++i) {
      long double exact = b(i, c), size = std::abs(b(i, c));
      for (std::size_t j = 0; j < kCols; ++j) {
        const long double term = static_cast<long double>(full(i, j)) * x(j, c);
        exact -= term;
        size += std::abs(term);
      }
      const double bound = 100 * std::numeric_limits<double>::epsilon() * static_cast<double>(size);
      ASSERT_NEAR(r(i, c), static_cast<double>(exact), bound);
      ASSERT_NEAR(sizes(i, c), static_cast<double>(size), bound);
    }
  }
}

TEST(SparseProducts, NaNSpreadsAlongEntriesAlone) {
  const Sparse a(3, 2, {{0, 0, 2}, {1, 1, 3}});
  Matrix x(2, 2);
  x.values() = {NAN, 1, 1, 1};
  const Matrix y = multiply(a, Op::none, x);
  EXPECT_TRUE(std::isnan(y(0, 0)));
  for (const auto& [i, c, value] : Triplets{{1, 0, 3}, {2, 0, 0}, {0, 1, 2}, {1, 1, 3}}) {
    EXPECT_EQ(y(static_cast<std::size_t>(i), static_cast<std::size_t>(c)), value);
  }
}

// --- Norms -----------------------------------------------------------------------------------

TEST(SparseNorms, AreThoseOfTheDenseMatrix) {
  for (const Shape& shape : kShapes) {
    SCOPED_TRACE(text(shape));
    const auto [m, n, count] = shape;
    const Sparse a(m, n, random_triplets(m, n, count, 11));
    const Matrix full = dense(a);
    EXPECT_EQ(norm_1(a), norm_1(full));
    EXPECT_EQ(norm_inf(a), norm_inf(full));
    EXPECT_EQ(norm_max(a), norm_max(full));
  }
  EXPECT_EQ(norm_1(Sparse()), 0.0);
  EXPECT_EQ(norm_inf(Sparse()), 0.0);
  EXPECT_EQ(norm_max(Sparse()), 0.0);
}

TEST(SparseNorms, AreLargestSumsOfMagnitudes) {
  const Sparse a(3, 3, {{0, 0, -4}, {0, 2, 3}, {2, 0, -5}, {1, 1, 6}});
  EXPECT_EQ(norm_1(a), 9.0);
  EXPECT_EQ(norm_inf(a), 7.0);
  EXPECT_EQ(norm_max(a), 6.0);
}

TEST(SparseNorms, KeepNaN) {
  Triplets triplets = random_triplets(3000, 40, 5000, 12);
  triplets[2500].value = NAN;
  const Sparse a(3000, 40, triplets);
  EXPECT_TRUE(std::isnan(norm_1(a)));
  EXPECT_TRUE(std::isnan(norm_inf(a)));
  EXPECT_TRUE(std::isnan(norm_max(a)));
}

// --- Facts -----------------------------------------------------------------------------------

void expect_facts(const Sparse& a, const SparsityFacts& expected) {
  const SparsityFacts found = facts(a);
  EXPECT_EQ(found.lower_bandwidth, expected.lower_bandwidth);
  EXPECT_EQ(found.upper_bandwidth, expected.upper_bandwidth);
  EXPECT_EQ(found.diagonals, expected.diagonals);
  EXPECT_EQ(found.missing_diagonal, expected.missing_diagonal);
  EXPECT_EQ(found.symmetric, expected.symmetric);
  EXPECT_EQ(found.positive_diagonal, expected.positive_diagonal);
}

TEST(Facts, OfBands) {
  expect_facts(Sparse(1, 1, {{0, 0, 3}}), {0, 0, 1, 0, true, true});
  const Triplets second_differences = {{0, 0, 2},  {0, 1, -1}, {1, 0, -1}, {1, 1, 2},
                                       {1, 2, -1}, {2, 1, -1}, {2, 2, 2}};
  expect_facts(Sparse(3, 3, second_differences), {1, 1, 3, 0, true, true});
  const Triplets upper = {{0, 0, -1}, {0, 3, 1}, {1, 1, 1}, {2, 2, 1}, {3, 3, 1}};
  expect_facts(Sparse(4, 4, upper), {0, 3, 2, 0, false, false});
}

TEST(Facts, OfDiagonalsWithGaps) {
  expect_facts(Sparse(2, 2, {{0, 1, 1}, {1, 0, 1}}), {1, 1, 2, 2, true, false});
  expect_facts(Sparse(2, 2, {{0, 0, 0.0}, {1, 1, 1}}), {0, 0, 1, 1, true, false});
  expect_facts(Sparse(2, 2, {{0, 0, -2}, {1, 1, 1}}), {0, 0, 1, 0, true, false});
  expect_facts(Sparse(3, 3, {{2, 0, 1}, {2, 2, 1}}), {2, 0, 2, 2, false, false});
}

TEST(Facts, OfMatricesThatAreNotSquareOrHaveNoEntries) {
  expect_facts(Sparse(2, 5, {{0, 0, 1}, {1, 1, 2}, {0, 4, 7}}), {0, 4, 2, 0, false, true});
  expect_facts(Sparse(5, 2, {{0, 0, 1}, {4, 0, 2}}), {4, 0, 2, 1, false, false});
  expect_facts(Sparse(2, 3, {{0, 0, 1}, {1, 1, 2}}), {0, 0, 1, 0, false, true});
  expect_facts(Sparse(3, 2, {{0, 0, 1}, {1, 1, 2}}), {0, 0, 1, 0, false, true});
  expect_facts(Sparse(3, 3, {}), {0, 0, 0, 3, true, false});
  expect_facts(Sparse(), {0, 0, 0, 0, true, true});
}

TEST(Facts, SymmetryIsExact) {
  const double next = std::nextafter(0.1, 1.0);
  EXPECT_TRUE(facts(Sparse(3, 3, {{0, 2, 0.1}, {2, 0, 0.1}, {1, 1, 4}})).symmetric);
  EXPECT_FALSE(facts(Sparse(3, 3, {{0, 2, 0.1}, {2, 0, next}, {1, 1, 4}})).symmetric);
  EXPECT_FALSE(facts(Sparse(3, 3, {{0, 2, 0.1}, {2, 0, -0.1}})).symmetric);
  EXPECT_FALSE(facts(Sparse(3, 3, {{0, 1, 1}, {2, 1, 1}})).symmetric);
  EXPECT_FALSE(facts(Sparse(2, 2, {{0, 1, NAN}, {1, 0, NAN}})).symmetric);
  EXPECT_TRUE(facts(Sparse(3, 3, {{0, 1, 0.0}, {2, 1, -0.0}})).symmetric);
}

// Small matrices of every kind: zeros that are entries, and symmetric ones of which an element in
// half of the cases is changed.
TEST(Facts, AreThoseOfTheElements) {
  std::mt19937 random(13);
  std::size_t symmetric = 0, positive = 0;
  constexpr std::size_t kCases = 4000;
  for (std::size_t k = 0; k < kCases; ++k) {
    const std::size_t n = 1 + random() % 6;
    Triplets triplets = random_triplets(n, n, random() % 16, random());
    const std::size_t half = triplets.size();
    for (std::size_t t = 0; t < half; ++t) {
      triplets.push_back({triplets[t].column, triplets[t].row, triplets[t].value});
    }
    if (k % 2 == 0) triplets.push_back(random_triplets(n, n, 1, random()).front());
    for (std::size_t i = 0; i < n && k % 3 == 0; ++i) {
      triplets.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(i), 99});
    }
    const Sparse a(n, n, triplets);
    const Matrix full = dense(a);
    SparsityFacts expected;
    std::set<std::int32_t> offsets;
    for (const auto& [i, j, value] : triplets) {
      offsets.insert(j - i);
      if (i > j) expected.lower_bandwidth = std::max<std::size_t>(expected.lower_bandwidth, i - j);
      if (j > i) expected.upper_bandwidth = std::max<std::size_t>(expected.upper_bandwidth, j - i);
    }
    expected.diagonals = offsets.size();
    expected.symmetric = expected.positive_diagonal = true;
    for (std::size_t i = 0; i < n; ++i) {
      expected.missing_diagonal += full(i, i) == 0.0 ? 1 : 0;
      expected.positive_diagonal = expected.positive_diagonal && full(i, i) > 0.0;
      for (std::size_t j = 0; j < n; ++j) {
        expected.symmetric = expected.symmetric && full(i, j) == full(j, i);
      }
    }
    symmetric += expected.symmetric ? 1 : 0;
    positive += expected.positive_diagonal ? 1 : 0;
    expect_facts(a, expected);
    ASSERT_FALSE(HasFailure()) << "case " << k;
  }
  EXPECT_GT(symmetric, kCases / 2);
  EXPECT_LT(symmetric, kCases * 9 / 10);
  EXPECT_GT(positive, kCases / 4);
  EXPECT_LT(positive, kCases * 3 / 4);
}

}  // namespace
}  // namespace lugpu

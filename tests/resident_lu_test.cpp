// LU with partial pivoting, all columns in registers, every shape around the edges of its blocks
// and work-groups, against LAPACK's getrf. On one compute unit, where no work-group waits.
#include "dense/resident_lu.hpp"

#include "dense/matrix_units.hpp"
#include "factors.hpp"

namespace lugpu {
namespace {

class ResidentLuTest : public OneLaunchTest {
 protected:
  /// Of the rows and columns from `first` on; the others are interchanged alone.
  LuFactors factor(const Matrix& a, std::size_t first = 0) {
    Surface surface = surface_of(context, {precision, Storage::buffer}, a);
    const std::size_t pivots = std::min(a.rows(), a.cols());
    std::vector<cl_int> ipiv(pivots);
    for (std::size_t k = 0; k < first; ++k) ipiv[k] = static_cast<cl_int>(k);
    const cl::Buffer rows(context.handle(), ipiv.begin(), ipiv.end(), false);
    const cl::Buffer info = context.zeros(1);
    ResidentLu lu(context, a.rows() - first, a.cols() - first, precision,
                  has_matrix_units(context.device(), precision));
    lu.factor(surface, first, rows, info);
    LuFactors factors{contents(context, surface), std::vector<int>(pivots), 0};
    context.read_back("test", info, 0, sizeof(cl_int), &factors.info);
    context.read_back("test", rows, 0, pivots * sizeof(cl_int), factors.ipiv.data());
    for (int& row : factors.ipiv) ++row;
    return factors;
  }

  Matrix harmless(std::size_t m, std::size_t n) {
    return harmless_for(Pivot::partial, precision, m, n, m + n);
  }

  void is_right(std::size_t m, std::size_t n) {
    SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n));
    const Matrix a = harmless(m, n);
    expect_right(a, factor(a), Pivot::partial, precision);
  }
};

TEST_P(ResidentLuTest, EveryShapeAroundTheEdgesOfBlocks) {
  const std::vector<std::size_t> sizes = {1, 2, 3, 5, 7, 8, 9, 16, 50, 63, 65, 127, 128, 129, 132};
  for (const std::size_t m : sizes) {
    for (const std::size_t n : sizes) is_right(m, n);
  }
}

TEST_P(ResidentLuTest, RowsAroundTheEdgesOfWorkGroups) {
  for (const std::size_t m : {255, 256}) is_right(m, 70);
  for (const std::size_t m : {1025, 2048}) is_right(m, 40);
}

// The last 512 rows are left to a second launch.
TEST_P(ResidentLuTest, TwoLaunches) {
  is_right(530, 70);
}

TEST_P(ResidentLuTest, BitwiseTheSameEveryTime) {
  const Matrix a = harmless(140, 150);
  const LuFactors first = factor(a), second = factor(a);
  EXPECT_TRUE(equal(first.lu, second.lu));
  EXPECT_EQ(first.ipiv, second.ipiv);
}

// The last rows and columns: the interchanges of the columns left of them are made as well.
TEST_P(ResidentLuTest, PartOfAMatrix) {
  const std::size_t m = 150, n = 140, first = 64;
  const Matrix a = harmless(m, n);
  const LuFactors factors = factor(a, first);
  Matrix part(m - first, n - first), left(m, first);
  for (std::size_t j = first; j < n; ++j) {
    for (std::size_t i = first; i < m; ++i) part(i - first, j - first) = a(i, j);
  }
  const LuFactors alone = factor(part);
  for (std::size_t k = first; k < n; ++k) {
    ASSERT_EQ(factors.ipiv[k], alone.ipiv[k - first] + static_cast<int>(first)) << k;
  }
  Matrix moved = a;
  for (std::size_t k = first; k < n; ++k) {
    const auto p = static_cast<std::size_t>(factors.ipiv[k]) - 1;
    for (std::size_t j = 0; j < first && p != k; ++j) std::swap(moved(k, j), moved(p, j));
  }
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < m; ++i) {
      const double expected = j < first || i < first ? moved(i, j) : alone.lu(i - first, j - first);
      ASSERT_EQ(factors.lu(i, j), expected) << i << ", " << j;
    }
  }
}

TEST_P(ResidentLuTest, InfoIsTheFirstZeroPivot) {
  for (const std::size_t zero : {0, 1, 7, 8, 30, 129}) {
    SCOPED_TRACE("column " + std::to_string(zero));
    const Matrix a = with_zero_pivot(130, zero);
    EXPECT_EQ(factor(a).info, static_cast<int>(zero) + 1);
  }
  EXPECT_EQ(factor(Matrix(70, 70)).info, 1);
}

TEST_P(ResidentLuTest, TheFirstOfEqualPivotsIsTaken) {
  for (const std::size_t column : {0, 1, 7, 8, 65, 100}) {
    SCOPED_TRACE(column);
    Matrix a = diagonal(140, 1);
    for (std::size_t i = column; i < 140; ++i) a(i, column) = i % 2 == column % 2 ? 1 : -1;
    EXPECT_EQ(factor(a).ipiv[column], static_cast<int>(column) + 1);
    a(column, column) = 0.5;
    EXPECT_EQ(factor(a).ipiv[column], static_cast<int>(column) + 2);
    a(column + 1, column) = a(column + 2, column) = 0.25;
    EXPECT_EQ(factor(a).ipiv[column], static_cast<int>(column) + 4);
  }
}

TEST_P(ResidentLuTest, NaNIsNeverAPivotWhereThereIsANumber) {
  for (const std::size_t column : {0, 7, 8, 65}) {
    for (const std::size_t nan : {column, std::size_t{110}, std::size_t{139}}) {
      SCOPED_TRACE("column " + std::to_string(column) + ", NaN in row " + std::to_string(nan));
      Matrix a = diagonal(140, 4);
      a(120, column) = 9;
      a(nan, column) = NAN;
      EXPECT_EQ(factor(a).ipiv[column], 121);
    }
  }
}

// A NaN with all bits set is what a message that has not arrived looks like.
TEST_P(ResidentLuTest, NoNaNIsWaitedForForEver) {
  Matrix a = harmless(40, 40);
  const double ones = precision == Precision::single_precision
                          ? static_cast<double>(std::bit_cast<float>(0xffffffffu))
                          : std::bit_cast<double>(~std::uint64_t{0});
  a(20, 0) = a(3, 17) = ones;
  const LuFactors factors = factor(a);
  EXPECT_GE(factors.info, 0);
  EXPECT_TRUE(std::isnan(factors.lu(39, 39)));
}

TEST_P(ResidentLuTest, TheSmallestPivotsDivideToo) {
  const bool single = precision == Precision::single_precision;
  const double small = single ? 0x1p-140 : 0x1p-1060;
  if (!has_subnormals()) GTEST_SKIP() << "numbers so small are zero here";
  for (const std::size_t column : {0, 7, 8, 65}) {
    Matrix a = diagonal(140, 1);
    a(column, column) = small;
    a(column + 2, column) = -small / 4;
    const LuFactors factors = factor(a);
    EXPECT_EQ(factors.info, 0);
    EXPECT_EQ(factors.lu(column, column), small) << column;
    EXPECT_EQ(factors.lu(column + 2, column), -0.25) << column;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ResidentLuTest,
                         testing::Values(Precision::single_precision, Precision::double_precision),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace lugpu

// LU without pivoting in one launch, every order around the edges of its blocks, against the
// product of its factors. On one compute unit, where no work-group waits.
#include "dense/lu_none.hpp"

#include "dense/matrix_units.hpp"
#include "factors.hpp"

namespace lugpu {
namespace {

class LuNoneTest : public OneLaunchTest {
 protected:
  /// info: what it is before.
  LuFactors factor(const Matrix& a, cl_int info = 0) {
    const std::size_t n = a.rows();
    Surface surface = surface_of(context, {precision, Storage::buffer}, a);
    std::vector<cl_int> numbers(n, -1);
    const cl::Buffer rows(context.handle(), numbers.begin(), numbers.end(), false);
    const cl::Buffer zero(context.handle(), &info, &info + 1, false);
    LuNone lu(context, n, precision, has_matrix_units(context.device(), precision),
              most_without_squares);
    lu.factor(surface, rows, zero);
    LuFactors factors{contents(context, surface), std::vector<int>(n), 0};
    context.read_back("test", zero, 0, sizeof(cl_int), &factors.info);
    context.read_back("test", rows, 0, n * sizeof(cl_int), factors.ipiv.data());
    for (int& row : factors.ipiv) ++row;
    return factors;
  }

  Matrix harmless(std::size_t n) { return harmless_for(Pivot::none, precision, n, n, n); }

  void is_right(std::size_t n) {
    SCOPED_TRACE(n);
    const Matrix a = harmless(n);
    const LuFactors factors = factor(a);
    expect_right(a, factors, Pivot::none, precision);
    for (std::size_t k = 0; k < n; ++k) ASSERT_EQ(factors.ipiv[k], static_cast<int>(k) + 1);
  }

  std::size_t most_without_squares = LuNone::kMostWithoutSquares;
};

TEST_P(LuNoneTest, EveryOrderAroundTheEdgesOfBlocks) {
  for (const std::size_t n : {1, 2, 3, 4, 5, 31, 63, 64, 65, 100, 127, 128, 129, 200, 300})
    is_right(n);
}

// The last square a part of a block, one, and more than one.
TEST_P(LuNoneTest, Squares) {
  most_without_squares = 0;
  for (const std::size_t n : {1, 63, 64, 65, 127, 128, 129, 193, 255, 256, 257, 300, 449})
    is_right(n);
}

TEST_P(LuNoneTest, BitwiseTheSameEveryTime) {
  const Matrix a = harmless(300);
  EXPECT_TRUE(equal(factor(a).lu, factor(a).lu));
}

TEST_P(LuNoneTest, InfoIsTheFirstZeroPivot) {
  for (const std::size_t zero : {0, 1, 3, 4, 63, 64, 100, 129}) {
    SCOPED_TRACE("column " + std::to_string(zero));
    const Matrix a = with_zero_pivot(130, zero);
    EXPECT_EQ(factor(a).info, static_cast<int>(zero) + 1);
    EXPECT_EQ(factor(a, 7).info, 7);
  }
  EXPECT_EQ(factor(Matrix(70, 70)).info, 1);
}

// In blocks with such a pivot, L and U are made by substitution.
TEST_P(LuNoneTest, TheSmallestPivotsDivideToo) {
  const bool single = precision == Precision::single_precision;
  const double small = single ? 0x1p-140 : 0x1p-1060;
  if (!has_subnormals()) GTEST_SKIP() << "numbers so small are zero here";
  for (const std::size_t column : {0, 7, 62, 65, 100}) {
    for (const std::size_t below : {column + 1, std::size_t{139}, std::size_t{199}}) {
      SCOPED_TRACE(std::to_string(column) + ", " + std::to_string(below));
      Matrix a = diagonal(200, 1);
      a(column, column) = small;
      a(below, column) = -small / 4;
      const LuFactors factors = factor(a);
      EXPECT_EQ(factors.info, 0);
      EXPECT_EQ(factors.lu(column, column), small);
      EXPECT_EQ(factors.lu(below, column), -0.25);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, LuNoneTest,
                         testing::Values(Precision::single_precision, Precision::double_precision),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace lugpu

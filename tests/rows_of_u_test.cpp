// Rows of U for a block of columns of L, on any device: gpu/rows_of_u.cl against substitution.
#include <algorithm>
#include <cmath>

#include "dense/matrix_units.hpp"
#include "opencl_fixture.hpp"

namespace lugpu {
namespace {

constexpr std::size_t kItems = 256, kPanel = 64, kSide = 128;

class RowsOfUTest : public testing::TestWithParam<Precision> {
 protected:
  void SetUp() override {
    const std::string missing =
        missing_on(handle_of(context.device()), {precision, Storage::buffer});
    if (!missing.empty()) GTEST_SKIP() << context.device().name << ": " << missing;
  }

  KernelId kernel(const char* function) const {
    return {"gpu/rows_of_u.cl", function, precision, Storage::buffer, Texel::rgba, " -DNB=64"};
  }

  /// `a` with rows k : k+width of columns first : first+columns replaced by inv(L) times them, and
  /// whether the blocks were inverted. l(0, 0) is element (top, left) of the matrix of L.
  Matrix computed(const Matrix& l, const Matrix& a, std::size_t first, std::size_t columns,
                  std::size_t k, std::size_t width, std::size_t top, std::size_t left) {
    const std::size_t blocks = ceiling(width, kSide);
    const Surface of_l = surface_of(context, {precision, Storage::buffer}, l);
    Surface of_a = surface_of(context, {precision, Storage::buffer}, a);
    const cl::Buffer inverses = context.allocate(blocks * kSide * kSide * element_size(precision));
    const cl::Buffer safe = context.zeros(2 * blocks);
    const auto to_int = [](std::size_t value) { return static_cast<cl_int>(value); };
    context.run("test", kernel("invert_blocks"), {2 * blocks * kItems}, of_l, to_int(top),
                to_int(left), to_int(k), to_int(width), inverses, safe);
    context.run("test", kernel("compute_rows"), {ceiling(columns, kSide) * kItems}, of_l,
                to_int(top), to_int(left), of_a, to_int(first), to_int(columns), to_int(k),
                to_int(width), inverses, safe);
    std::vector<cl_int> flags(2 * blocks);
    context.read_back("test", safe, 0, flags.size() * sizeof(cl_int), flags.data());
    inverted = std::all_of(flags.begin(), flags.end(), [](cl_int flag) { return flag == 1; });
    return contents(context, of_a);
  }

  /// L with multipliers up to 1 / 8 and A = L X for an X of small integers.
  void is_right(std::size_t width, std::size_t columns, std::size_t k, std::size_t first) {
    SCOPED_TRACE(std::to_string(width) + " rows, " + std::to_string(columns) + " columns");
    const std::size_t top = k / 2, left = k;
    Matrix l = random_matrix(k - top + width + 3, width, width);
    for (double& element : l.values()) element /= 8;
    Matrix a = random_matrix(k + width + 5, first + columns + 2, columns), expected = a;
    for (std::size_t j = first; j < first + columns; ++j) {
      for (std::size_t i = 0; i < width; ++i)
        expected(k + i, j) = static_cast<double>((7 * i + 3 * j) % 9) - 4;
      for (std::size_t i = 0; i < width; ++i) {
        double sum = expected(k + i, j);
        for (std::size_t q = 0; q < i; ++q) sum += l(k - top + i, q) * expected(k + q, j);
        a(k + i, j) = sum;
      }
    }
    const Matrix rows = computed(l, a, first, columns, k, width, top, left);
    EXPECT_TRUE(inverted);
    const double eps = precision == Precision::double_precision ? 0x1p-53 : 0x1p-24;
    for (std::size_t j = 0; j < a.cols(); ++j) {
      for (std::size_t i = 0; i < a.rows(); ++i) {
        const bool solved = i >= k && i < k + width && j >= first && j < first + columns;
        const double limit = solved ? 8 * static_cast<double>(width) * eps : eps;
        ASSERT_NEAR(rows(i, j), expected(i, j), limit) << i << ", " << j;
      }
    }
  }

  DeviceContext& context = shared_context();
  const Precision precision = GetParam();
  bool inverted = false;
};

TEST_P(RowsOfUTest, WidthsAndColumnsAroundTheEdgesOfTiles) {
  for (const std::size_t columns : {1, 63, 64, 127, 128, 129, 300}) is_right(128, columns, 64, 128);
  for (const std::size_t width : {64, 192, 256, 384, 768}) is_right(width, 131, 128, 16);
}

TEST_P(RowsOfUTest, OneTile) {
  is_right(128, 3, 0, 0);
}

// |inv(L)| grows to 2^126, but all numbers of the substitution are small integers.
TEST_P(RowsOfUTest, SubstitutesWhereTheInverseIsLarge) {
  const std::size_t n = 192, columns = 40;
  Matrix l(n, n), a(n, columns), expected(n, columns);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = j + 1; i < n; ++i) l(i, j) = -1;
  }
  for (std::size_t j = 0; j < columns; ++j) {
    for (std::size_t i = 0; i < n; ++i) {
      expected(i, j) = static_cast<double>((i + j) % 5);
      a(i, j) = expected(i, j);
      for (std::size_t q = 0; q < i; ++q) a(i, j) -= expected(q, j);
    }
  }
  const Matrix rows = computed(l, a, 0, columns, 0, n, 0, 0);
  for (std::size_t j = 0; j < columns; ++j) {
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(rows(i, j), expected(i, j)) << i << ", " << j;
  }
  EXPECT_FALSE(inverted);
}

TEST_P(RowsOfUTest, NaNInLComesToTheRowsFromThereOn) {
  Matrix l(128, 128);
  l(100, 3) = NAN;
  Matrix a(128, 2);
  for (double& element : a.values()) element = 1;
  const Matrix rows = computed(l, a, 0, 2, 0, 128, 0, 0);
  for (std::size_t i = 0; i < 128; ++i) EXPECT_EQ(std::isnan(rows(i, 1)), i >= 100) << i;
}

INSTANTIATE_TEST_SUITE_P(All, RowsOfUTest,
                         testing::Values(Precision::single_precision, Precision::double_precision),
                         [](const auto& kind) { return std::string(name(kind.param)); });

}  // namespace
}  // namespace lugpu

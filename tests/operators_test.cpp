// Vectors, reductions and the matrices of grids on the device against the host.

#include <limits>
#include <numeric>

#include "matrix/grid.hpp"
#include "opencl_fixture.hpp"
#include "operators/grid_operator.hpp"
#include "padding.hpp"

namespace lugpu {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

class Operators : public SurfaceKindTest {
 protected:
  Vectors vectors(std::size_t rows, std::size_t columns, std::size_t scalars = 4) {
    return Vectors(context, {rows, columns, precision, storage, texel}, scalars);
  }
  std::vector<double> random(std::size_t count, std::uint64_t seed) {
    return random_in(precision, count, 1, seed).values();
  }
  Surface vector(Vectors& all, const std::vector<double>& values) {
    Surface surface = all.take();
    all.upload(values, surface);
    return surface;
  }
  double eps() const { return epsilon(precision); }
};
INSTANTIATE_TEST_SUITE_P(Kinds, Operators, testing::ValuesIn(pairwise_kinds()),
                         testing::PrintToStringParamName());

// Around texels, work-groups and strips of rows.
const std::pair<std::size_t, std::size_t> kShapes[] = {{1, 1},   {1, 3},    {2, 2},   {3, 5},
                                                       {7, 13},  {5, 64},   {65, 17}, {33, 255},
                                                       {9, 257}, {2, 1025}, {3, 4099}};

TEST_P(Operators, VectorsReturnAsTheyCameWithZerosAfterThem) {
  for (const auto& [rows, columns] : kShapes) {
    Vectors all = vectors(rows, columns);
    const std::size_t count = rows * columns - columns / 2;
    std::vector<double> values = random(count, 1);
    const Surface x = vector(all, values);
    EXPECT_EQ(all.download(x, count), values);
    values.resize(rows * columns);
    EXPECT_EQ(all.download(x, rows * columns), values);
  }
}

TEST_P(Operators, CombineIsElementByElement) {
  for (const auto& [rows, columns] : kShapes) {
    Vectors all = vectors(rows, columns);
    const std::size_t count = rows * columns;
    const std::vector<double> x = random(count, 1), y = random(count, 2);
    const Surface on_x = vector(all, x), on_y = vector(all, y);
    Surface result = all.take();
    all.set_scalar(1, 0.5);
    for (const Operation operation : {Operation::add, Operation::subtract, Operation::multiply}) {
      // Powers of two, so that only the operation rounds.
      all.combine(operation, {2}, on_x, {-4, 1}, on_y, result);
      expect_zeros_after_columns(all, result);
      const std::vector<double> is = all.download(result, count);
      for (std::size_t i = 0; i < count; ++i) {
        const double a = 2 * x[i], b = -2 * y[i];
        const double exact = operation == Operation::add        ? a + b
                             : operation == Operation::subtract ? a - b
                                                                : a * b;
        ASSERT_NEAR(is[i], exact, 2 * eps() * std::abs(exact)) << rows << " x " << columns;
      }
    }
  }
}

TEST_P(Operators, ReductionsAgreeWithTheHost) {
  for (const auto& [rows, columns] : kShapes) {
    Vectors all = vectors(rows, columns);
    const std::size_t count = rows * columns;
    const std::vector<double> x = random(count, 3), y = random(count, 4);
    const Surface on_x = vector(all, x), on_y = vector(all, y);
    const auto reduced = [&](Reduction reduction) {
      all.reduce(reduction, on_x, on_y, 2);
      return all.scalar(2);
    };
    const double size = static_cast<double>(count);
    EXPECT_NEAR(reduced(Reduction::sum), std::accumulate(x.begin(), x.end(), 0.0), size * eps());
    EXPECT_NEAR(reduced(Reduction::dot), std::inner_product(x.begin(), x.end(), y.begin(), 0.0),
                size * eps());
    EXPECT_EQ(reduced(Reduction::largest), *std::max_element(x.begin(), x.end()));
    EXPECT_EQ(reduced(Reduction::smallest), *std::min_element(x.begin(), x.end()));
    const auto smaller = [](double a, double b) { return std::abs(a) < std::abs(b); };
    EXPECT_EQ(reduced(Reduction::magnitude),
              std::abs(*std::max_element(x.begin(), x.end(), smaller)));
  }
}

TEST_P(Operators, ProductIsExact) {
  Vectors all = vectors(9, 257);
  std::vector<double> x(9 * 257, -1);
  x[3] = 4;
  x[700] = 0.5;
  const Surface on_x = vector(all, x);
  all.reduce(Reduction::product, on_x, on_x, 0);
  EXPECT_EQ(all.scalar(0), x.size() % 2 == 0 ? 2 : -2);
}

TEST_P(Operators, NanAndInfinityPassThrough) {
  Vectors all = vectors(5, 67);
  std::vector<double> x(5 * 67, 1.0);
  x[200] = kInfinity;
  all.reduce(Reduction::sum, vector(all, x), vector(all, x), 0);
  EXPECT_EQ(all.scalar(0), kInfinity);
  x[17] = kNaN;
  const Surface on_x = vector(all, x);
  for (const Reduction reduction : {Reduction::sum, Reduction::product, Reduction::largest,
                                    Reduction::smallest, Reduction::magnitude, Reduction::dot}) {
    all.reduce(reduction, on_x, on_x, 0);
    EXPECT_TRUE(std::isnan(all.scalar(0))) << static_cast<int>(reduction);
  }
}

Grid grid_of(std::array<std::size_t, 3> size, Wall wall) {
  Grid grid{size, {wall, wall, wall}, {1, 0.5, 0.25}, 0.125};
  for (int axis = 0; axis < 3; ++axis) {
    if (size[axis] == 1 && axis > 0) grid.coefficients[axis] = 0;
  }
  return grid;
}

TEST_P(Operators, GridTimesVectorAgreesWithTheHost) {
  const std::array<std::size_t, 3> sizes[] = {{1, 1, 1},    {5, 1, 1},   {1, 7, 1},   {2, 2, 1},
                                              {13, 9, 1},   {67, 33, 1}, {300, 5, 1}, {3, 4, 5},
                                              {4500, 3, 1}, {17, 6, 7},  {64, 3, 2}};
  for (const auto& size : sizes) {
    for (const Wall wall : {Wall::dirichlet, Wall::neumann, Wall::periodic, Wall::dirichlet_half}) {
      // Rows of several work-groups: on CPUs with kernels of their own, which take time to build.
      if (size[0] > 4096 && wall != Wall::periodic) continue;
      const GridOperator a(grid_of(size, wall));
      Vectors all(context, a.layout(precision, storage, texel), 1);
      const std::size_t n = a.grid().unknowns();
      const Matrix x = random_in(precision, n, 1, 5);
      const std::vector<double> y = random(n, 6);
      const Matrix exact = multiply(a.grid(), x);
      Surface result = all.take();
      const Surface on_x = vector(all, x.values()), on_y = vector(all, y);
      a.apply(all, on_x, result);
      std::vector<double> is = all.download(result, n);
      for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(is[i], exact(i, 0), 20 * eps());
      a.apply(all, on_x, Operation::subtract, on_y, result);
      is = all.download(result, n);
      for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(is[i], exact(i, 0) - y[i], 20 * eps());
    }
  }
}

}  // namespace
}  // namespace lugpu

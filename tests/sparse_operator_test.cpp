// Sparse and banded matrices times vectors on the device against the host.

#include "operators/sparse_operator.hpp"

#include <limits>
#include <random>

#include "base/error.hpp"
#include "opencl_fixture.hpp"
#include "operators/banded_operator.hpp"
#include "operators/product.hpp"

namespace lugpu {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::int32_t integer(std::size_t i) {
  return static_cast<std::int32_t>(i);
}

// Multiples of 2^-10 in [-1, 1], which both precisions hold.
class Values {
 public:
  explicit Values(unsigned seed) : generator_(seed) {}
  double next() { return static_cast<double>(below(2049)) / 1024.0 - 1.0; }
  std::size_t below(std::size_t count) { return generator_() % count; }
  std::vector<double> vector(std::size_t n) {
    std::vector<double> x(n);
    for (double& value : x) value = next();
    return x;
  }

 private:
  std::mt19937 generator_;
};

// About 4 entries a row, every third row empty.
Sparse scattered(std::size_t n) {
  Values values(1);
  std::vector<Triplet> triplets;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t count = i % 3 == 1 ? 0 : values.below(9);
    for (std::size_t k = 0; k < count; ++k)
      triplets.push_back({integer(i), integer(values.below(n)), values.next()});
  }
  return Sparse(n, n, triplets);
}

// The diagonals at these offsets, where they are in the matrix.
Sparse banded(std::size_t n, std::initializer_list<std::ptrdiff_t> offsets) {
  Values values(2);
  std::vector<Triplet> triplets;
  for (std::size_t i = 0; i < n; ++i) {
    for (const std::ptrdiff_t offset : offsets) {
      const std::size_t j = i + static_cast<std::size_t>(offset);  // huge where it is negative
      if (j < n) triplets.push_back({integer(i), integer(j), values.next()});
    }
  }
  return Sparse(n, n, triplets);
}

Sparse laplacian(std::size_t nx, std::size_t ny) {
  std::vector<Triplet> triplets;
  for (std::size_t y = 0; y < ny; ++y) {
    for (std::size_t x = 0; x < nx; ++x) {
      const std::size_t i = y * nx + x;
      triplets.push_back({integer(i), integer(i), 4});
      if (x > 0) triplets.push_back({integer(i), integer(i - 1), -1});
      if (x + 1 < nx) triplets.push_back({integer(i), integer(i + 1), -1});
      if (y > 0) triplets.push_back({integer(i), integer(i - nx), -1});
      if (y + 1 < ny) triplets.push_back({integer(i), integer(i + nx), -1});
    }
  }
  return Sparse(nx * ny, nx * ny, triplets);
}

// A star: the hub's row and column are full, with the diagonal.
Sparse star(std::size_t n, std::size_t hub) {
  Values values(3);
  std::vector<Triplet> triplets;
  for (std::size_t i = 0; i < n; ++i) {
    triplets.push_back({integer(hub), integer(i), values.next()});
    if (i == hub) continue;
    triplets.push_back({integer(i), integer(hub), values.next()});
    triplets.push_back({integer(i), integer(i), values.next()});
  }
  return Sparse(n, n, triplets);
}

class SparseOperators : public SurfaceKindTest {
 protected:
  template <typename Operator>
  std::vector<double> product(const Operator& a, std::size_t n, const std::vector<double>& x) {
    Vectors all(context, a.layout(), 1);
    const Surface on_x = vector(all, x);
    Surface result = filled_with_ones(all);
    a.apply(all, on_x, result);
    expect_zeros_after(all, result, n);
    return all.download(result, n);
  }

  Surface vector(Vectors& all, const std::vector<double>& values) {
    Surface surface = all.take();
    all.upload(values, surface);
    return surface;
  }
  // So that elements which are not written are seen.
  Surface filled_with_ones(Vectors& all) {
    return vector(all, std::vector<double>(all.layout().rows * all.layout().columns, 1.0));
  }
  void expect_zeros_after(Vectors& all, const Surface& result, std::size_t n) {
    const std::vector<double> is = all.download(result, all.layout().rows * all.layout().columns);
    for (std::size_t i = n; i < is.size(); ++i) ASSERT_EQ(is[i], 0) << i;
  }

  // A x and A x op y within |A| |x| n eps.
  template <typename Operator>
  void expect_products(const Sparse& a) {
    const std::size_t n = a.rows();
    SCOPED_TRACE(n);
    const Operator on_device(context, a, precision, storage, texel);
    Values values(4);
    const std::vector<double> x = values.vector(n), y = values.vector(n);
    Matrix as_column(n, 1);
    as_column.values() = x;
    const Matrix exact = multiply(a, Op::none, as_column);
    const Matrix sizes = residual_sizes(a, as_column, Matrix(n, 1));
    const double unit = (static_cast<double>(n) + 2) * epsilon(precision);
    const std::vector<double> ax = product(on_device, n, x);
    ASSERT_EQ(ax.size(), n);
    for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(ax[i], exact(i, 0), unit * sizes(i, 0)) << i;

    Vectors all(context, on_device.layout(), 1);
    const Surface on_x = vector(all, x), on_y = vector(all, y);
    for (const Operation operation : {Operation::add, Operation::subtract, Operation::multiply}) {
      Surface result = filled_with_ones(all);
      on_device.apply(all, on_x, operation, on_y, result);
      expect_zeros_after(all, result, n);
      const std::vector<double> is = all.download(result, n);
      for (std::size_t i = 0; i < n; ++i) {
        const double should = operation == Operation::add        ? exact(i, 0) + y[i]
                              : operation == Operation::subtract ? exact(i, 0) - y[i]
                                                                 : exact(i, 0) * y[i];
        ASSERT_NEAR(is[i], should, unit * (sizes(i, 0) + std::abs(y[i]))) << i;
      }
    }
  }

  // An element of x that is not finite reaches the rows with entries in its column, as on the host,
  // and no others.
  template <typename Operator>
  void expect_spreading(const Sparse& a) {
    const std::size_t n = a.rows();
    const Operator on_device(context, a, precision, storage, texel);
    for (const double poison : {kNaN, kInfinity}) {
      for (const std::size_t j : {std::size_t{0}, n / 2, n - 1}) {
        Matrix x(n, 1);
        for (double& value : x.values()) value = 1;
        x(j, 0) = poison;
        const Matrix exact = multiply(a, Op::none, x);
        const std::vector<double> is = product(on_device, n, x.values());
        for (std::size_t i = 0; i < n; ++i) {
          ASSERT_EQ(std::isnan(is[i]), std::isnan(exact(i, 0))) << i << ", " << j;
          ASSERT_EQ(std::isinf(is[i]), std::isinf(exact(i, 0))) << i << ", " << j;
          if (!std::isnan(is[i])) {
            ASSERT_EQ(is[i] == poison, exact(i, 0) == poison) << i << ", " << j;
          }
        }
      }
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Kinds, SparseOperators, testing::ValuesIn(pairwise_kinds()),
                         testing::PrintToStringParamName());

// Around registers, warps, slices and rows of the vectors.
const std::size_t kSizes[] = {0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 127, 129, 1021, 4099, 8195};

TEST_P(SparseOperators, ScatteredEntriesAndEmptyRows) {
  for (const std::size_t n : kSizes) expect_products<SparseOperator>(scattered(n));
}

TEST_P(SparseOperators, DiagonalsOnly) {
  for (const std::size_t n : kSizes) {
    expect_products<SparseOperator>(banded(n, {0}));
    expect_products<BandedOperator>(banded(n, {0}));
    expect_products<SparseOperator>(banded(n, {5}));
    expect_products<BandedOperator>(banded(n, {5}));
  }
}

TEST_P(SparseOperators, NoEntriesAtAll) {
  expect_products<SparseOperator>(Sparse(37, 37, {}));
  expect_products<BandedOperator>(Sparse(37, 37, {}));
}

// Diagonals that begin and end within a register, and corners, as periodic walls make them.
TEST_P(SparseOperators, DiagonalsFarFromTheMainOne) {
  for (const std::size_t n : kSizes) {
    const auto last = static_cast<std::ptrdiff_t>(n) - 1;
    expect_products<SparseOperator>(banded(n, {-last, -64, -17, -1, 0, 2, 16, 4095, last}));
    expect_products<BandedOperator>(banded(n, {-last, -64, -17, -1, 0, 2, 16, 4095, last}));
  }
}

TEST_P(SparseOperators, LaplaciansOfGrids) {
  for (const auto& [nx, ny] : {std::pair<std::size_t, std::size_t>{1, 1}, {5, 3}, {64, 70}}) {
    expect_products<SparseOperator>(laplacian(nx, ny));
    expect_products<BandedOperator>(laplacian(nx, ny));
  }
}

// Rows of one part, of two and of three.
TEST_P(SparseOperators, HubsAreCutIntoParts) {
  for (const std::size_t n : {40, 1000, 5003, 9001}) {
    expect_products<SparseOperator>(star(n, 0));
    expect_products<SparseOperator>(star(n, n - 3));
  }
}

TEST_P(SparseOperators, DenseMatrices) {
  for (const std::size_t n : {5, 33, 70}) {
    std::vector<Triplet> triplets;
    Values values(5);
    for (std::size_t i = 0; i < n * n; ++i)
      triplets.push_back({integer(i / n), integer(i % n), values.next()});
    expect_products<SparseOperator>(Sparse(n, n, triplets));
    expect_products<BandedOperator>(Sparse(n, n, triplets));
  }
}

TEST_P(SparseOperators, NanAndInfinitySpreadAlongEntriesAlone) {
  expect_spreading<SparseOperator>(scattered(1021));
  expect_spreading<SparseOperator>(star(1000, 70));
  expect_spreading<SparseOperator>(laplacian(13, 11));
  expect_spreading<BandedOperator>(laplacian(13, 11));
  expect_spreading<BandedOperator>(banded(67, {-66, -3, 1, 40}));
}

// Zero times infinity is NaN where the zero is an entry, of either sign.
TEST_P(SparseOperators, ZerosThatAreEntriesAreMultiplied) {
  const Sparse a(40, 40, {{0, 1, 0.0}, {1, 2, -0.0}, {2, 3, 1.0}, {20, 20, -0.0}});
  expect_spreading<SparseOperator>(a);
  expect_spreading<BandedOperator>(a);
  const std::vector<double> x(40, kInfinity);
  for (const std::vector<double>& is :
       {product(SparseOperator(context, a, precision, storage, texel), 40, x),
        product(BandedOperator(context, a, precision, storage, texel), 40, x)}) {
    EXPECT_TRUE(std::isnan(is[0]) && std::isnan(is[1]) && std::isnan(is[20]));
    EXPECT_EQ(is[2], kInfinity);
    EXPECT_EQ(is[3], 0);
  }
}

TEST_P(SparseOperators, NotSquareOrOverflowingIsRefused) {
  const Sparse wide(3, 4, {{0, 0, 1.0}});
  EXPECT_THROW(SparseOperator(context, wide, precision, storage, texel), InputError);
  EXPECT_THROW(BandedOperator(context, wide, precision, storage, texel), InputError);
  const Sparse large(3, 3, {{0, 0, 1e300}});
  if (precision == Precision::single_precision) {
    EXPECT_THROW(SparseOperator(context, large, precision, storage, texel), InputError);
    EXPECT_THROW(BandedOperator(context, large, precision, storage, texel), InputError);
  } else {
    expect_products<SparseOperator>(large);
    expect_products<BandedOperator>(large);
  }
}

}  // namespace
}  // namespace lugpu

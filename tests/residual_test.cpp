// Residuals by the host and by either class of devices, each of which runs on all of them. Truth is
// a sum without rounding errors, or in long double.
#include "operators/residual.hpp"

#include <bit>
#include <cfloat>
#include <numeric>
#include <optional>

#include "accuracy/error_bounds.hpp"
#include "base/error.hpp"
#include "matrix/rounded.hpp"
#include "opencl_fixture.hpp"
#include "operators/double_matrix.hpp"

namespace lugpu {
namespace {

/// Integers from -8 to 8: no sum of products rounds.
Matrix integers(std::size_t rows, std::size_t columns, std::uint64_t seed) {
  Matrix a = random_matrix(rows, columns, seed);
  for (double& value : a.values()) value = std::round(8 * value) + 0.0;  // no -0
  return a;
}

/// B - A X
template <typename Real>
std::vector<Real> truth(const Matrix& a, const Matrix& x, const Matrix& b) {
  std::vector<Real> r(b.values().begin(), b.values().end());
  for (std::size_t c = 0; c < x.cols(); ++c) {
    for (std::size_t j = 0; j < a.cols(); ++j) {
      for (std::size_t i = 0; i < a.rows(); ++i) {
        r[c * a.rows() + i] -= static_cast<Real>(a(i, j)) * x(j, c);
      }
    }
  }
  return r;
}

/// max |R - exact| / (|A| |X| + |B|) / eps
double error_of(const Matrix& r, const std::vector<long double>& exact, const Matrix& sizes) {
  double most = 0;
  for (std::size_t k = 0; k < exact.size(); ++k) {
    const auto error = static_cast<double>(std::abs(r.values()[k] - exact[k]));
    if (error != 0) most = larger(most, error / sizes.values()[k]);
  }
  return most / kEpsilonDouble;
}

/// The device's residuals of any number of columns, in surfaces that are kept.
class DeviceResidual {
 public:
  explicit DeviceResidual(const DoubleMatrix& a) : a_(a) {}

  Matrix operator()(const Matrix& x, const Matrix& b) {
    if (x.values().empty()) return b;
    DeviceContext& context = a_.context();
    if (!x_ || x_->rows() < x.cols()) make(x.cols());
    upload_columns_of(context, x, *x_);
    upload_columns_of(context, b, *b_);
    a_.subtract_product(*x_, *b_, *r_, which_, x.cols());
    return read_columns(context, *r_, 0, x.cols());
  }

 private:
  void make(std::size_t count) {
    DeviceContext& context = a_.context();
    for (auto* surface : {&x_, &b_, &r_}) *surface = double_columns(context, a_.n(), count);
    std::vector<cl_int> all(count);
    std::iota(all.begin(), all.end(), 0);
    which_ = context.allocate(count * sizeof(cl_int));
    context.queue().enqueueWriteBuffer(which_, CL_TRUE, 0, count * sizeof(cl_int), all.data());
  }

  const DoubleMatrix& a_;
  std::optional<Surface> x_, b_, r_;  // of the most columns so far
  cl::Buffer which_;                  // all of them
};

/// Where residuals are computed: "host", or by the kernels for "cpu" or "gpu".
class ResidualTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (GetParam() == std::string("host")) return;
    if (!shared_context().device().double_precision) GTEST_SKIP() << "no double precision";
    Device device = shared_context().device();
    device.type = GetParam();
    context_.emplace(device);
  }
  /// Until the next one is asked for.
  Residual of(const MatrixView& a) {
    if (!context_) return host_residual(a);
    a_.emplace(*context_, a);
    return DeviceResidual(*a_);
  }

 private:
  std::optional<DeviceContext> context_;
  std::optional<DoubleMatrix> a_;
};

INSTANTIATE_TEST_SUITE_P(Everywhere, ResidualTest, testing::Values("host", "cpu", "gpu"));

TEST_P(ResidualTest, OfIntegersIsExact) {
  for (const std::size_t n : {1, 2, 7, 8, 9, 16, 17, 33, 127, 128, 129, 131, 300, 517}) {
    const Matrix a = integers(n, n, n);
    const Residual residual = of(a);
    // In an order in which columns come and go.
    for (const std::size_t nrhs : {2, 1, 3, 65, 8, 200, 9, 1}) {
      SCOPED_TRACE(std::to_string(n) + ", " + std::to_string(nrhs));
      const Matrix x = integers(n, nrhs, 2), b = integers(n, nrhs, 3);
      Matrix expected(n, nrhs);
      expected.values() = truth<double>(a, x, b);
      ASSERT_TRUE(equal(residual(x, b), expected));
    }
  }
}

// Of solutions that are as good as their digits allow, so that nearly everything cancels.
TEST_P(ResidualTest, RoundsNoMoreThanTheHost) {
  for (const char* kind : {"random", "graded", "ill-conditioned", "very-ill-conditioned"}) {
    for (const std::size_t n : {1, 9, 131, 333}) {
      const Matrix a = generate(kind, n, 5);
      const Residual residual = of(a);
      for (const std::size_t nrhs : {1, 3, 65, 200}) {
        SCOPED_TRACE(std::string(kind) + ", " + std::to_string(n) + ", " + std::to_string(nrhs));
        const Matrix x = random_matrix(n, nrhs, 6);
        Matrix b(n, nrhs);
        const std::vector<long double> product = truth<long double>(a, x, b);
        for (std::size_t k = 0; k < product.size(); ++k) {
          b.values()[k] = static_cast<double>(-product[k]);
        }
        const std::vector<long double> exact = truth<long double>(a, x, b);
        const Matrix sizes = residual_sizes(a, x, b);
        const double error = error_of(residual(x, b), exact, sizes);
        EXPECT_LE(error, 2 + 1.5 * error_of(host_residual(a)(x, b), exact, sizes));
        EXPECT_LE(error, static_cast<double>(n));
      }
    }
  }
}

TEST_P(ResidualTest, KeepsNaNAndInfinityInTheirRowsAndColumns) {
  const Matrix a = random_matrix(133, 133, 1), x = random_matrix(133, 9, 2);
  const Matrix b = random_matrix(133, 9, 3), good = of(a)(x, b);
  for (const double value : {NAN, INFINITY}) {
    Matrix bad_a = a, bad_x = x;
    bad_a(130, 40) = bad_x(132, 7) = value;
    const Matrix by_row = of(bad_a)(x, b), by_column = of(a)(bad_x, b);
    for (std::size_t c = 0; c < 9; ++c) {
      for (std::size_t i = 0; i < 133; ++i) {
        SCOPED_TRACE(std::to_string(i) + ", " + std::to_string(c));
        EXPECT_EQ(std::isfinite(by_row(i, c)), i != 130);
        EXPECT_EQ(std::isfinite(by_column(i, c)), c != 7);
        EXPECT_TRUE(i == 130 || by_row(i, c) == good(i, c));
        EXPECT_TRUE(c == 7 || by_column(i, c) == good(i, c));
      }
    }
  }
}

TEST_P(ResidualTest, OfNothing) {
  const Matrix none;
  EXPECT_TRUE(equal(of(none)(Matrix(0, 2), Matrix(0, 2)), Matrix(0, 2)));
  const Matrix a = random_matrix(5, 5, 1);
  EXPECT_TRUE(equal(of(a)(Matrix(5, 0), Matrix(5, 0)), Matrix(5, 0)));
}

/// The kernels for one class of devices.
class DoubleMatrixTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!shared_context().device().double_precision) GTEST_SKIP() << "no double precision";
    Device device = shared_context().device();
    device.type = GetParam();
    context_.emplace(device);
  }

  std::optional<DeviceContext> context_;
};

INSTANTIATE_TEST_SUITE_P(Classes, DoubleMatrixTest, testing::Values("cpu", "gpu"));

TEST_P(DoubleMatrixTest, KnowsItsNorms) {
  for (const std::size_t n : {1, 2, 7, 8, 9, 16, 17, 129, 300, 517}) {
    Matrix a = integers(n, n, n);
    a(n / 2, n - 1) = -9;
    DoubleMatrix on_device(*context_, a);
    EXPECT_EQ(on_device.norm_inf(), norm_inf(a)) << n;
    EXPECT_EQ(on_device.largest(), 9) << n;
    a(n - 1, n / 3) = INFINITY;
    EXPECT_EQ(DoubleMatrix(*context_, a).largest(), INFINITY) << n;
    EXPECT_EQ(DoubleMatrix(*context_, a).norm_inf(), INFINITY) << n;
    a(0, n / 2) = NAN;
    EXPECT_TRUE(std::isnan(DoubleMatrix(*context_, a).largest())) << n;
    EXPECT_TRUE(std::isnan(DoubleMatrix(*context_, a).norm_inf())) << n;
  }
  DoubleMatrix none(*context_, Matrix());
  EXPECT_EQ(none.norm_inf(), 0);
  EXPECT_EQ(none.largest(), 0);
}

float to_single(double value) {
  if (std::isfinite(value) && std::abs(value) > FLT_MAX) return value > 0 ? INFINITY : -INFINITY;
  return static_cast<float>(value);
}

/// To 21 significant bits, half away from zero.
double rough(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  return std::bit_cast<double>((bits + 0x80000000) >> 32 << 32);
}

// By columns and by rows, with gaps; more than one piece of columns; numbers of all sizes.
TEST_P(DoubleMatrixTest, GivesItsColumnsInEitherPrecision) {
  for (const std::size_t n : {1, 5, 130, 1500}) {
    Matrix whole = random_matrix(n + 3, n + 3, n);
    const double specials[] = {
        -0.0,        0x1p-1074,    -0x1.8p-1060,        DBL_MIN,      FLT_MIN / 3, FLT_MAX,
        1 + 0x1p-21, -1 - 0x1p-52, 0x1.fffff7fffffffp9, 0x1.fffff8p9, DBL_MAX,     INFINITY,
        -INFINITY};
    for (std::size_t k = 0; n > 20 && k < std::size(specials); ++k) whole(k, 2 * k) = specials[k];
    for (const Order order : {Order::columns, Order::rows}) {
      const View<const double> a{whole.values().data(), n, n, n + 3, order};
      const DoubleMatrix on_device(*context_, a, n % 2 == 1 || order == Order::rows);
      Matrix given(n, n);
      on_device.give_columns(Precision::double_precision,
                             [&](const cl::Buffer& piece, std::size_t first, std::size_t count) {
                               context_->read_back("test", piece, 0, n * count * sizeof(double),
                                                   given.column(first));
                             });
      EXPECT_TRUE(equal(given, widened(a))) << n;
      std::vector<float> singles(n * n);
      on_device.give_columns(Precision::single_precision,
                             [&](const cl::Buffer& piece, std::size_t first, std::size_t count) {
                               context_->read_back("test", piece, 0, n * count * sizeof(float),
                                                   &singles[n * first]);
                             });
      std::vector<float> expected(n * n);
      std::transform(given.values().begin(), given.values().end(), expected.begin(), to_single);
      EXPECT_EQ(singles, expected) << n;
      on_device.give_rough_columns(
          [&](const cl::Buffer& piece, std::size_t first, std::size_t count) {
            context_->read_back("test", piece, 0, n * count * sizeof(float), &singles[n * first]);
          });
      if (GetParam() == std::string("gpu")) {
        std::transform(given.values().begin(), given.values().end(), expected.begin(),
                       [](double value) { return to_single(rough(value)); });
      }
      EXPECT_EQ(singles, expected) << n;
    }
  }
}

// The rest of A is on its way while others come, and while nobody waits for it.
TEST_P(DoubleMatrixTest, OthersMayComeBeforeAllOfItIsThere) {
  const Matrix a = random_matrix(1200, 1200, 1), b = random_matrix(1200, 1200, 2);
  for (int k = 0; k < 3; ++k) {
    const DoubleMatrix first(*context_, a, true), second(*context_, b, true);
    { const DoubleMatrix unused(*context_, a, true); }
    EXPECT_NEAR(second.norm_inf(), norm_inf(b), 1e-10 * norm_inf(b));
    EXPECT_NEAR(first.norm_inf(), norm_inf(a), 1e-10 * norm_inf(a));
    EXPECT_EQ(first.largest(), norm_max(a));
    EXPECT_EQ(second.largest(), norm_max(b));
  }
}

TEST(DoubleMatrix, NeedsDoublesAndRoom) {
  Device device = shared_context().device();
  device.double_precision = false;
  DeviceContext singles(device);
  EXPECT_THROW(DoubleMatrix(singles, Matrix(5, 5)), Unsupported);
  device.double_precision = true;
  device.max_allocation = 5 * 16 * sizeof(double) - 1;
  DeviceContext small(device);
  EXPECT_THROW(DoubleMatrix(small, Matrix(5, 5)), Unsupported);
}

}  // namespace
}  // namespace lugpu

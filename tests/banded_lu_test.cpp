// Banded LU: pivots, factors and solutions against LAPACK's gbtrf and the residual.

#include <lapacke.h>

#include <functional>
#include <limits>
#include <random>

#include "base/error.hpp"
#include "dense/banded_cpu.hpp"
#include "dense/banded_gpu.hpp"
#include "opencl_fixture.hpp"

namespace lugpu {
namespace {

// The element in a row and column of a band, or nothing.
using Element = std::function<double(std::size_t i, std::size_t j)>;

Sparse band_of(const BandSize& size, Precision precision, const Element& element) {
  std::vector<Triplet> entries;
  for (std::size_t i = 0; i < size.n; ++i) {
    const std::size_t first = i - std::min(i, size.lower);
    for (std::size_t j = first; j < std::min(i + size.upper + 1, size.n); ++j) {
      double value = element(i, j);
      if (precision == Precision::single_precision) value = static_cast<float>(value);
      entries.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j), value});
    }
  }
  return {size.n, size.n, std::move(entries)};
}

// Random elements. With at least as many diagonals above as below, the pivot is rarely on the
// diagonal; otherwise such a matrix would be close to singular, and in every second step the pivot
// is in the next row, for certain.
Sparse random_band(const BandSize& size, Precision precision, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const bool free = size.lower <= size.upper, pairs = size.upper > 0 && size.n % 2 == 0;
  const auto diagonals = static_cast<double>(size.lower + size.upper);
  return band_of(size, precision, [&](std::size_t i, std::size_t j) {
    const double value = uniform(engine);
    if (free) return i == j && size.lower > 0 ? value / 64 : value;
    const bool large = (pairs ? i ^ 1 : i) == j;
    return large ? 2 + value : value / diagonals;
  });
}

struct Reference {
  Matrix ab;
  std::vector<int> ipiv;
  int info = 0;
  Matrix x;
};

// gbtrf, and gbtrs with a right-hand side b of one column, if there is one.
template <typename Real>
Reference lapack(const BandSize& size, const Sparse& a, const Matrix& b) {
  const std::size_t ld = 2 * size.lower + size.upper + 1;
  std::vector<Real> ab(ld * size.n);
  for (std::size_t i = 0; i < size.n; ++i) {
    for (std::int64_t k = a.row_begin()[i]; k < a.row_begin()[i + 1]; ++k) {
      const std::size_t j = a.columns()[k];
      ab[size.lower + size.upper + i - j + j * ld] = static_cast<Real>(a.values()[k]);
    }
  }
  Reference reference;
  reference.ipiv.resize(size.n);
  const auto n = static_cast<int>(size.n), kl = static_cast<int>(size.lower),
             ku = static_cast<int>(size.upper);
  const int leading = static_cast<int>(ld), nrhs = static_cast<int>(b.cols());
  int* const ipiv = reference.ipiv.data();
  std::vector<Real> x(b.values().begin(), b.values().end());
  if constexpr (sizeof(Real) == sizeof(double)) {
    reference.info = LAPACKE_dgbtrf_work(LAPACK_COL_MAJOR, n, n, kl, ku, ab.data(), leading, ipiv);
    if (nrhs > 0) {
      LAPACKE_dgbtrs_work(LAPACK_COL_MAJOR, 'N', n, kl, ku, nrhs, ab.data(), leading, ipiv,
                          x.data(), n);
    }
  } else {
    reference.info = LAPACKE_sgbtrf_work(LAPACK_COL_MAJOR, n, n, kl, ku, ab.data(), leading, ipiv);
    if (nrhs > 0) {
      LAPACKE_sgbtrs_work(LAPACK_COL_MAJOR, 'N', n, kl, ku, nrhs, ab.data(), leading, ipiv,
                          x.data(), n);
    }
  }
  reference.x = Matrix(b.rows(), b.cols());
  std::copy(x.begin(), x.end(), reference.x.values().begin());
  reference.ab = Matrix(ld, size.n);
  // What LAPACK leaves outside the matrix is undefined.
  for (std::size_t j = 0; j < size.n; ++j) {
    for (std::size_t r = 0; r < ld; ++r) {
      const std::size_t i = j + r;  // plus lower + upper
      if (i < size.lower + size.upper || i >= size.n + size.lower + size.upper) continue;
      reference.ab(r, j) = ab[r + j * ld];
    }
  }
  return reference;
}

Reference lapack(const BandSize& size, const Sparse& a, Precision precision, const Matrix& b = {}) {
  return precision == Precision::double_precision ? lapack<double>(size, a, b)
                                                  : lapack<float>(size, a, b);
}

double largest_difference(const Matrix& a, const Matrix& b) {
  double largest = 0;
  for (std::size_t k = 0; k < a.values().size(); ++k) {
    largest = std::max(largest, std::abs(a.values()[k] - b.values()[k]));
  }
  return largest;
}

// A x, of a column x
Matrix product(const Sparse& a, const Matrix& x) {
  Matrix y(a.rows(), 1);
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::int64_t k = a.row_begin()[i]; k < a.row_begin()[i + 1]; ++k) {
      y(i, 0) += a.values()[k] * x(a.columns()[k], 0);
    }
  }
  return y;
}

enum class Kernels { cpu, gpu };

struct Kind {
  Kernels kernels;
  Precision precision;
};

void PrintTo(const Kind& kind, std::ostream* out) {
  *out << (kind.kernels == Kernels::cpu ? "cpu_" : "gpu_") << name(kind.precision);
}

class Banded : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    if (GetParam().kernels == Kernels::cpu && context.device().type != "cpu") {
      GTEST_SKIP() << context.device().name << " is no CPU.";
    }
    const std::string missing =
        missing_on(handle_of(context.device()), {precision, Storage::buffer});
    if (!missing.empty()) GTEST_SKIP() << context.device().name << ": " << missing;
  }

  std::unique_ptr<BandedLu> make(const BandSize& size) {
    if (GetParam().kernels == Kernels::cpu) {
      return std::make_unique<BandedCpu>(context, size, precision);
    }
    return std::make_unique<BandedGpu>(context, size, precision);
  }

  // Factors A, whose info and pivots must be LAPACK's, and solves. tolerance: of the factors, in
  // rounding errors of the largest element; 0 if A is so close to singular that they may differ.
  void check(const BandSize& size, const Sparse& a, double tolerance = 1000) {
    SCOPED_TRACE(testing::Message() << "n " << size.n << " kl " << size.lower << " ku "
                                    << size.upper << " nrhs " << size.nrhs);
    const std::unique_ptr<BandedLu> lu = make(size);
    lu->upload(a);
    lu->factor();
    const Reference reference = lapack(size, a, precision);
    const Outcome outcome = lu->outcome();
    EXPECT_EQ(outcome.info, reference.info);
    ASSERT_EQ(outcome.ipiv, reference.ipiv);
    const Matrix factors = lu->factors();
    ASSERT_EQ(factors.rows(), reference.ab.rows());
    if (tolerance > 0 && size.n > 0) {
      EXPECT_LE(largest_difference(factors, reference.ab),
                tolerance * epsilon(precision) * std::max(norm_max(reference.ab), 1.0));
    }
    if (reference.info == 0) check_solutions(*lu, a);
  }

  // Of two right-hand sides, one after the other.
  void check_solutions(BandedLu& lu, const Sparse& a) {
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
      const Matrix b = random_in(precision, lu.size().n, lu.size().nrhs, seed);
      lu.upload_rhs(b);
      lu.solve();
      Matrix x(b.rows(), b.cols());
      lu.download(x.view());
      EXPECT_LT(solve_ratio(dense(a), x, b, epsilon(precision)), 30);
    }
  }

  DeviceContext& context = shared_context();
  const Precision precision = GetParam().precision;
};

INSTANTIATE_TEST_SUITE_P(Kernels, Banded,
                         testing::Values(Kind{Kernels::cpu, Precision::double_precision},
                                         Kind{Kernels::cpu, Precision::single_precision},
                                         Kind{Kernels::gpu, Precision::double_precision},
                                         Kind{Kernels::gpu, Precision::single_precision}),
                         testing::PrintToStringParamName());

TEST_P(Banded, PivotsAndFactorsAreLapacks) {
  const std::pair<std::size_t, std::size_t> bands[] = {
      {0, 0},   {1, 1},   {2, 2}, {3, 0},   {0, 3},   {1, 7},  {8, 8},
      {24, 24}, {25, 24}, {9, 2}, {31, 31}, {31, 64}, {64, 8}, {131, 131}};
  for (const std::size_t n : {0, 1, 2, 3, 5, 10, 15, 16, 17, 31, 32, 33, 50, 63, 64, 65, 132}) {
    for (const auto& band : bands) {
      const BandSize size{n, band.first, band.second, n % 7 + 1};
      check(size, random_band(size, precision, n + 1));
    }
  }
}

TEST_P(Banded, WideBandsToo) {
  for (const BandSize& size :
       {BandSize{700, 200, 230, 1}, BandSize{500, 390, 400, 3}, BandSize{650, 64, 300, 1},
        BandSize{650, 300, 64, 1}, BandSize{600, 520, 540, 2}, BandSize{700, 480, 480, 1},
        BandSize{720, 620, 40, 1}}) {
    check(size, random_band(size, precision, size.lower));
  }
}

// After so many columns two ways to factor differ by more than rounding errors, and in single
// precision take different rows where two are almost equal.
TEST_P(Banded, LargestMultiplierIsOneInWideBands) {
  for (const BandSize& size : {BandSize{800, 512, 512, 1}, BandSize{1100, 512, 512, 1}}) {
    const Sparse a = random_band(size, precision, size.lower);
    const std::unique_ptr<BandedLu> lu = make(size);
    lu->upload(a);
    lu->factor();
    EXPECT_EQ(lu->outcome().info, 0);
    const Matrix factors = lu->factors();
    double largest = 0;
    for (std::size_t j = 0; j < factors.cols(); ++j) {
      for (std::size_t r = size.lower + size.upper + 1; r < factors.rows(); ++r) {
        largest = std::max(largest, std::abs(factors(r, j)));
      }
    }
    EXPECT_GT(largest, 0.99);
    EXPECT_LE(largest, 1 + 2 * epsilon(precision));
    check_solutions(*lu, a);
  }
}

// The five-point matrix of a grid of 512 columns.
TEST_P(Banded, MoreThanTwoGiB) {
  if (context.device().type == "cpu") GTEST_SKIP() << "It would take minutes on a CPU.";
  const std::size_t n = precision == Precision::double_precision ? 180000 : 360000;
  std::vector<Triplet> entries;
  for (std::size_t i = 0; i < n; ++i) {
    for (const std::size_t j : {i - 512, i - 1, i, i + 1, i + 512}) {
      if (j >= n) continue;
      entries.push_back(
          {static_cast<std::int32_t>(i), static_cast<std::int32_t>(j), i == j ? 5.0 : -1.0});
    }
  }
  const Sparse a(n, n, std::move(entries));
  const Matrix b = product(a, filled(n, 1, 1));
  const std::unique_ptr<BandedLu> lu = make({n, 512, 512, 1});
  lu->upload(a);
  lu->factor();
  EXPECT_EQ(lu->outcome().info, 0);
  lu->upload_rhs(b);
  lu->solve();
  Matrix x(n, 1);
  lu->download(x.view());
  EXPECT_LE(largest_difference(x, filled(n, 1, 1)), 100 * epsilon(precision));
}

TEST_P(Banded, AnyNumberOfRightHandSides) {
  for (const std::size_t nrhs : {0, 1, 2, 4, 5, 16, 17, 33, 65, 130}) {
    const BandSize size{77, 20, 25, nrhs};
    check(size, random_band(size, precision, 7));
    const BandSize narrow{77, 2, 3, nrhs};
    check(narrow, random_band(narrow, precision, 7));
  }
}

// The pivot is always the last row of the band.
TEST_P(Banded, InterchangesInEveryStep) {
  for (const std::size_t lower : {1, 5, 30, 64}) {
    const BandSize size{4 * lower + 3, lower, lower, 2};
    std::mt19937_64 engine(1);
    std::uniform_real_distribution<double> uniform(-1, 1);
    const Sparse a = band_of(size, precision, [&](std::size_t i, std::size_t j) {
      return uniform(engine) + (i == j + lower ? static_cast<double>(8 * lower) : 0);
    });
    check(size, a, 0);
    const std::unique_ptr<BandedLu> lu = make(size);
    lu->upload(a);
    lu->factor();
    const Outcome outcome = lu->outcome();
    for (std::size_t j = 0; j + lower < size.n; ++j) {
      ASSERT_EQ(outcome.ipiv[j], static_cast<int>(j + lower + 1)) << j;
    }
  }
}

// The five-point matrix of m x m points, whose rows are alike: so are their errors, which add up.
TEST_P(Banded, AsAccurateAsLapackOnGrids) {
  for (const std::size_t m : {33, 80, 128}) {
    SCOPED_TRACE(m);
    const BandSize size{m * m, m, m, 1};
    const Sparse a = band_of(size, precision, [&](std::size_t i, std::size_t j) {
      if (i == j) return 4.0;
      const std::size_t low = std::min(i, j), high = std::max(i, j);
      const bool neighbours = high == low + m || (high == low + 1 && high % m > 0);
      return neighbours ? -1.0 : 0.0;
    });
    const Matrix truth = filled(size.n, 1, 1), b = product(a, truth);
    const std::unique_ptr<BandedLu> lu = make(size);
    lu->upload(a);
    lu->factor();
    lu->upload_rhs(b);
    lu->solve();
    Matrix x(size.n, 1);
    lu->download(x.view());
    const Matrix of_lapack = lapack(size, a, precision, b).x;
    EXPECT_LE(largest_difference(x, truth), 2 * largest_difference(of_lapack, truth));
  }
}

// With no interchanges, columns right of the band are not touched.
TEST_P(Banded, NoInterchangesInDominantMatrices) {
  for (const std::size_t lower : {1, 30, 100}) {
    const BandSize size{250, lower, lower + 1, 1};
    std::mt19937_64 engine(1);
    std::uniform_real_distribution<double> uniform(-1, 1);
    check(size, band_of(size, precision, [&](std::size_t i, std::size_t j) {
            return uniform(engine) + (i == j ? 250 : 0);
          }));
  }
}

TEST_P(Banded, FirstZeroPivotIsInfo) {
  for (const std::size_t lower : {1, 30}) {
    const BandSize size{70, lower, lower, 1};
    const Sparse zero = band_of(size, precision, [](std::size_t, std::size_t) { return 0.0; });
    check(size, zero);
    for (const std::size_t column : {0, 1, 15, 16, 31, 32, 50, 69}) {
      // Columns that only the diagonal couples are zero exactly where they were.
      check(size, band_of(size, precision, [&](std::size_t i, std::size_t j) {
              const bool gone = j == column || j == 60;
              return gone || i > j + 1 ? 0.0 : i == j ? 2.0 : i == j + 1 ? 1.0 : 0.0;
            }));
    }
  }
}

TEST_P(Banded, NotANumberAndInfinityPassThrough) {
  for (const double value :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
        -std::numeric_limits<double>::infinity()}) {
    for (const std::size_t lower : {0, 1, 30, 100}) {
      const BandSize size{150, lower, lower, 1};
      std::mt19937_64 engine(1);
      std::uniform_real_distribution<double> uniform(-1, 1);
      const Sparse a = band_of(size, precision, [&](std::size_t i, std::size_t j) {
        return i == 75 && j == 75 ? value : uniform(engine) + (i == j ? 300 : 0);
      });
      const std::unique_ptr<BandedLu> lu = make(size);
      lu->upload(a);
      lu->factor();
      const Outcome outcome = lu->outcome();
      EXPECT_EQ(outcome.info, 0);
      for (std::size_t j = 0; j < size.n; ++j) {
        EXPECT_GE(outcome.ipiv[j], static_cast<int>(j + 1));
        EXPECT_LE(outcome.ipiv[j], static_cast<int>(std::min(j + lower + 1, size.n)));
      }
      lu->upload_rhs(filled(size.n, 1, 1));
      lu->solve();
      Matrix x(size.n, 1);
      lu->download(x.view());
      const bool lost = std::isnan(x(75, 0)) || x(75, 0) == 0;
      EXPECT_TRUE(lost) << x(75, 0);
      if (lower == 0) {
        EXPECT_NEAR(x(40, 0), 1.0 / 300, 1e-3);  // beyond any block with row 75
      }
    }
  }
}

TEST_P(Banded, RefusesWhatItCannotHold) {
  EXPECT_THROW(make({std::size_t{1} << 29, 1000, 1000, 1}), Unsupported);
  EXPECT_THROW(make({std::size_t{1} << 40, 1, 1, 1}), Unsupported);
  EXPECT_THROW(make({1000, 1, 1, std::size_t{1} << 60}), Unsupported);
  const std::unique_ptr<BandedLu> lu = make({3, 1, 0, 2});
  EXPECT_THROW(lu->upload(Sparse(3, 3, {{0, 1, 1.0}})), InputError);
  EXPECT_THROW(lu->upload(Sparse(3, 3, {{2, 0, 1.0}})), InputError);
  EXPECT_THROW(lu->upload(Sparse(3, 4, {})), InputError);
  EXPECT_THROW(lu->upload_rhs(Matrix(3, 1)), InputError);
  EXPECT_THROW(lu->upload_rhs(Matrix(2, 2)), InputError);
  if (precision == Precision::single_precision) {
    EXPECT_THROW(lu->upload(Sparse(3, 3, {{1, 1, 1e300}})), InputError);
  }
}

TEST(BandedLu, TakesTheKernelsOfTheDevice) {
  DeviceContext& context = shared_context();
  const std::unique_ptr<BandedLu> lu =
      BandedLu::make(context, {10, 1, 1, 1}, Precision::single_precision);
  EXPECT_EQ(dynamic_cast<BandedCpu*>(lu.get()) != nullptr, context.device().type == "cpu");
}

}  // namespace
}  // namespace lugpu

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
};

template <typename Real>
Reference lapack(const BandSize& size, const Sparse& a) {
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
  if constexpr (sizeof(Real) == sizeof(double)) {
    reference.info = LAPACKE_dgbtrf_work(LAPACK_COL_MAJOR, n, n, kl, ku, ab.data(),
                                         static_cast<int>(ld), reference.ipiv.data());
  } else {
    reference.info = LAPACKE_sgbtrf_work(LAPACK_COL_MAJOR, n, n, kl, ku, ab.data(),
                                         static_cast<int>(ld), reference.ipiv.data());
  }
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

Reference lapack(const BandSize& size, const Sparse& a, Precision precision) {
  return precision == Precision::double_precision ? lapack<double>(size, a)
                                                  : lapack<float>(size, a);
}

double largest_difference(const Matrix& a, const Matrix& b) {
  double largest = 0;
  for (std::size_t k = 0; k < a.values().size(); ++k) {
    largest = std::max(largest, std::abs(a.values()[k] - b.values()[k]));
  }
  return largest;
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

  // Factors and solves; compares with LAPACK.
  void check(const BandSize& size, const Sparse& a) {
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
    const double scale = size.n == 0 ? 1 : norm_max(reference.ab);
    EXPECT_LE(largest_difference(factors, reference.ab),
              1000 * epsilon(precision) * std::max(scale, 1.0) * growth_of_errors);
    if (reference.info != 0 || size.n == 0) return;
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
      const Matrix b = random_in(precision, size.n, size.nrhs, seed);
      lu->upload_rhs(b);
      lu->solve();
      Matrix x(size.n, size.nrhs);
      lu->download(x.view());
      EXPECT_LT(solve_ratio(dense(a), x, b, epsilon(precision)), 30);
    }
  }

  DeviceContext& context = shared_context();
  const Precision precision = GetParam().precision;
  double growth_of_errors = 1;  // of the factors of an ill-conditioned matrix
};

INSTANTIATE_TEST_SUITE_P(Kernels, Banded,
                         testing::Values(Kind{Kernels::cpu, Precision::double_precision},
                                         Kind{Kernels::cpu, Precision::single_precision},
                                         Kind{Kernels::gpu, Precision::double_precision},
                                         Kind{Kernels::gpu, Precision::single_precision}),
                         testing::PrintToStringParamName());

TEST_P(Banded, PivotsAndFactorsAreLapacks) {
  const std::pair<std::size_t, std::size_t> bands[] = {{0, 0},   {1, 1},   {2, 2},  {3, 0},
                                                       {0, 3},   {1, 7},   {8, 8},  {9, 2},
                                                       {31, 31}, {31, 64}, {64, 8}, {131, 131}};
  for (const std::size_t n : {0, 1, 2, 3, 5, 10, 15, 16, 17, 31, 32, 33, 50, 63, 64, 65, 132}) {
    for (const auto& band : bands) {
      const BandSize size{n, band.first, band.second, n % 7 + 1};
      check(size, random_band(size, precision, n + 1));
    }
  }
}

}  // namespace
}  // namespace lugpu

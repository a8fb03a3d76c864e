// Blocked LU: every shape around the edges of its blocks, against LAPACK's getrf.
#include "solvers/lu_blocked.hpp"

#include <lapacke.h>

#include "error.hpp"
#include "opencl_fixture.hpp"
#include "solvers/blocked.hpp"

namespace lugpu {
namespace {

struct BlockedKind {
  Precision precision;
  Pivot pivot;
};

void PrintTo(const BlockedKind& kind, std::ostream* out) {
  *out << name(kind.precision) << "_" << name(kind.pivot);
}

/// What the device left of an m x n matrix.
struct Factors {
  Matrix lu;
  std::vector<int> ipiv;  // 1-based
  int info = 0;
};

class LuBlockedTest : public testing::TestWithParam<BlockedKind> {
 protected:
  void SetUp() override {
    const SurfaceKind kind = {precision, Storage::buffer};
    const std::string missing = missing_on(context.device().handle, kind);
    if (!missing.empty()) GTEST_SKIP() << context.device().name << ": " << missing;
  }

  Factors factor(const Matrix& a, std::size_t nb = 0) {
    Surface surface = surface_of(context, {precision, Storage::buffer}, a);
    const auto blocked = Blocked::make(context, {a.rows(), a.cols(), pivot, precision, nb});
    blocked->factor(surface);
    Factors factors{contents(context, surface), std::vector<int>(std::min(a.rows(), a.cols())), 0};
    context.read_back("test", blocked->info(), 0, sizeof(cl_int), &factors.info);
    if (!factors.ipiv.empty()) {
      context.read_back("test", blocked->ipiv(), 0, factors.ipiv.size() * sizeof(cl_int),
                        factors.ipiv.data());
    }
    for (int& row : factors.ipiv) ++row;
    return factors;
  }

  /// A matrix that this pivoting copes with, rounded to the precision.
  Matrix harmless(std::size_t m, std::size_t n, std::uint64_t seed = 1) {
    Matrix a = random_in(precision, m, n, seed);
    if (pivot == Pivot::none) {
      for (std::size_t i = 0; i < std::min(m, n); ++i) a(i, i) += static_cast<double>(m + n);
    }
    return rounded_to(precision, a);
  }

  DeviceContext& context = shared_context();
  const Precision precision = GetParam().precision;
  const Pivot pivot = GetParam().pivot;
};

/// max |P A - L U| / (max(m, n) max |A| eps), for any shape.
double factor_error(const Matrix& a, const Factors& factors, double eps) {
  Matrix pa = a;
  for (std::size_t k = 0; k < factors.ipiv.size(); ++k) {
    const std::size_t p = static_cast<std::size_t>(factors.ipiv[k]) - 1;
    for (std::size_t j = 0; j < a.cols() && p != k; ++j) std::swap(pa(k, j), pa(p, j));
  }
  double worst = 0, largest = 0;
  for (std::size_t j = 0; j < a.cols(); ++j) {
    for (std::size_t i = 0; i < a.rows(); ++i) {
      double sum = pa(i, j);
      const std::size_t last = std::min(i, j + 1);  // L(i, i) = 1
      for (std::size_t k = 0; k < std::min(last, factors.ipiv.size()); ++k) {
        sum -= factors.lu(i, k) * factors.lu(k, j);
      }
      if (i <= j) sum -= factors.lu(i, j);
      worst = std::max(worst, std::abs(sum));
      largest = std::max(largest, std::abs(a(i, j)));
    }
  }
  const double size = static_cast<double>(std::max(a.rows(), a.cols()));
  return worst / (size * largest * eps);
}

/// LAPACK's answer in double for a matrix of this precision.
std::vector<int> getrf_pivots(const Matrix& a, Precision precision) {
  const auto m = static_cast<lapack_int>(a.rows()), n = static_cast<lapack_int>(a.cols());
  std::vector<lapack_int> ipiv(std::min(a.rows(), a.cols()));
  if (precision == Precision::double_precision) {
    std::vector<double> lu = a.values();
    LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, m, n, lu.data(), std::max(m, 1), ipiv.data());
  } else {
    std::vector<float> lu(a.values().begin(), a.values().end());
    LAPACKE_sgetrf_work(LAPACK_COL_MAJOR, m, n, lu.data(), std::max(m, 1), ipiv.data());
  }
  return ipiv;
}

TEST_P(LuBlockedTest, EveryShapeAroundTheEdgesOfBlocks) {
  const std::size_t nb = Blocked::block_size(context.device(), 100);
  const std::vector<std::size_t> sizes = {
      1, 2, 3, 5, 10, 50, nb - 1, nb, nb + 1, 132, 2 * nb - 1, 2 * nb, 2 * nb + 1, 3 * nb + 7};
  for (const std::size_t m : sizes) {
    for (const std::size_t n : sizes) {
      SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n));
      const Matrix a = harmless(m, n, m + n);
      const Factors factors = factor(a);
      EXPECT_EQ(factors.info, 0);
      EXPECT_LT(factor_error(a, factors, epsilon(precision)), kFactorRatioLimit);
      if (pivot == Pivot::partial && precision == Precision::double_precision) {
        EXPECT_EQ(factors.ipiv, getrf_pivots(a, precision));
      }
    }
  }
}

TEST_P(LuBlockedTest, NoPivotingInterchangesNothing) {
  if (pivot != Pivot::none) GTEST_SKIP() << "with pivoting";
  const Factors factors = factor(harmless(200, 200));
  for (std::size_t k = 0; k < 200; ++k) EXPECT_EQ(factors.ipiv[k], static_cast<int>(k) + 1);
}

TEST_P(LuBlockedTest, MultipliersAreAtMostOneWithPivoting) {
  if (pivot == Pivot::none) GTEST_SKIP() << "without pivoting";
  const Factors factors = factor(harmless(300, 150));
  for (std::size_t j = 0; j < 150; ++j) {
    for (std::size_t i = j + 1; i < 300; ++i) ASSERT_LE(std::abs(factors.lu(i, j)), 1);
  }
}

TEST_P(LuBlockedTest, BitwiseTheSameEveryTime) {
  const Matrix a = harmless(333, 333);
  const Factors first = factor(a), second = factor(a);
  EXPECT_TRUE(equal(first.lu, second.lu));
  EXPECT_EQ(first.ipiv, second.ipiv);
}

TEST_P(LuBlockedTest, InfoIsTheFirstZeroPivot) {
  for (const std::size_t zero : {0, 1, 62, 64, 70, 129}) {
    SCOPED_TRACE("column " + std::to_string(zero));
    // Upper triangular: no rounding, so that the pivot is exactly zero.
    Matrix a(130, 130);
    for (std::size_t j = 0; j < 130; ++j) {
      for (std::size_t i = 0; i <= j; ++i) a(i, j) = i == j ? 4 : 0.5;
    }
    a(zero, zero) = 0;
    if (zero < 129) a(129, 129) = 0;
    EXPECT_EQ(factor(a).info, static_cast<int>(zero) + 1);
  }
  EXPECT_EQ(factor(Matrix(70, 70)).info, 1);
}

TEST_P(LuBlockedTest, TheFirstOfEqualPivotsIsTaken) {
  if (pivot == Pivot::none) GTEST_SKIP() << "without pivoting";
  Matrix a(140, 140);
  for (std::size_t i = 0; i < 140; ++i) a(i, i) = 1;
  for (std::size_t i = 0; i < 140; ++i) a(i, 0) = i % 2 == 0 ? 1 : -1;
  EXPECT_EQ(factor(a).ipiv[0], 1);
  a(0, 0) = 0.5;
  EXPECT_EQ(factor(a).ipiv[0], 2);
  const Matrix ones = filled(200, 1, -3);
  EXPECT_EQ(factor(ones).ipiv[0], 1);
}

TEST_P(LuBlockedTest, NaNIsNeverAPivotWhereThereIsANumber) {
  if (pivot == Pivot::none) GTEST_SKIP() << "without pivoting";
  Matrix a = harmless(100, 1);
  a(0, 0) = a(50, 0) = NAN;
  a(77, 0) = 9;
  EXPECT_EQ(factor(a).ipiv[0], 78);
}

TEST_P(LuBlockedTest, OtherBlockSizes) {
  const Matrix a = harmless(210, 190);
  for (const std::size_t nb : {64, 128, 256}) {
    SCOPED_TRACE(nb);
    EXPECT_LT(factor_error(a, factor(a, nb), epsilon(precision)), kFactorRatioLimit);
  }
  EXPECT_THROW(factor(a, 50), Unsupported);
}

// More rows than the work-groups that run at the same time can hold.
TEST_P(LuBlockedTest, TallPanels) {
  const Matrix a = harmless(256 * context.device().compute_units + 100, 70);
  const Factors factors = factor(a);
  EXPECT_EQ(factors.info, 0);
  EXPECT_LT(factor_error(a, factors, epsilon(precision)), kFactorRatioLimit);
  if (pivot == Pivot::partial && precision == Precision::double_precision) {
    EXPECT_EQ(factors.ipiv, getrf_pivots(a, precision));
  }
}

TEST_P(LuBlockedTest, AnyNumberOfRightHandSides) {
  for (const std::size_t n : {1, 63, 65, 200}) {
    for (const std::size_t nrhs : {1, 2, 17, 64, 130}) {
      SCOPED_TRACE(std::to_string(n) + ", " + std::to_string(nrhs));
      const Matrix a = harmless(n, n), b = random_in(precision, n, nrhs, 3);
      Problem problem;
      problem.n = n;
      problem.nrhs = nrhs;
      problem.pivot = pivot;
      problem.precision = precision;
      LuBlocked solver(context, problem);
      solver.upload(a, b);
      solver.factor();
      EXPECT_EQ(solver.outcome().info, 0);
      solver.solve();
      EXPECT_LT(solve_ratio(a, solver.download(), b, epsilon(precision)), kSolveRatioLimit);
    }
  }
}

// X = inv(L U) B and X = inv((L U)') B, against what B was made of.
void solves_both_systems(DeviceContext& context, const Matrix& a, const BlockedKind& kind,
                         std::size_t nrhs) {
  SCOPED_TRACE(std::to_string(a.rows()) + ", " + std::to_string(nrhs) + " right-hand sides");
  const SurfaceKind buffer = {kind.precision, Storage::buffer};
  const std::size_t n = a.rows();
  Surface surface = surface_of(context, buffer, a);
  const auto blocked = Blocked::make(context, {n, n, kind.pivot, kind.precision, 0});
  blocked->factor(surface);
  const Matrix lu = contents(context, surface);
  Matrix product(n, n);  // L U, which is A but for the interchanges
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k <= j; ++k) {
      for (std::size_t i = k; i < n; ++i) product(i, j) += (i == k ? 1 : lu(i, k)) * lu(k, j);
    }
  }
  const Matrix b = random_in(kind.precision, n, nrhs, 3);
  for (const Op op : {Op::none, Op::transpose, Op::transpose}) {
    Matrix system = product;
    for (std::size_t j = 0; j < n && op == Op::transpose; ++j) {
      for (std::size_t i = 0; i < n; ++i) system(i, j) = product(j, i);
    }
    Surface x(context, n, nrhs, kind.precision, Storage::buffer);
    fill(context, x, 0);
    import_columns(context, upload(context, b, kind.precision), nrhs, x, 0);
    blocked->solve(surface, x, op);
    EXPECT_LT(solve_ratio(system, contents(context, x), b, epsilon(kind.precision)),
              kSolveRatioLimit);
  }
}

TEST_P(LuBlockedTest, SolvesWithTheFactorsAndTheirTranspose) {
  for (const std::size_t n : {1, 5, 64, 65, 200}) {
    for (const std::size_t nrhs : {1, 3, 16, 17, 70}) {
      solves_both_systems(context, harmless(n, n), GetParam(), nrhs);
    }
  }
}

// The kernel for GPUs that solves in one launch, on any device: every triangle, at the edges of
// blocks.
TEST_P(LuBlockedTest, SolvesInOneLaunch) {
  for (const std::size_t n : {1, 5, 63, 64, 65, 130, 200}) {
    for (const bool upper : {false, true}) {
      for (const bool unit : {false, true}) {
        SCOPED_TRACE(std::to_string(n) + (upper ? " upper" : " lower") + (unit ? " unit" : ""));
        const std::size_t nrhs = 3;
        Matrix triangle = harmless(n, n);
        for (std::size_t i = 0; i < n; ++i) triangle(i, i) += 2;
        const Surface t = surface_of(context, {precision, Storage::buffer}, triangle);
        for (std::size_t j = 0; j < n; ++j) {
          for (std::size_t i = 0; i < n; ++i) {
            if (upper ? i > j : i < j) triangle(i, j) = 0;
            if (unit && i == j) triangle(i, j) = 1;
          }
        }
        const Matrix right = random_in(precision, n, nrhs, 3);
        const Surface b = surface_of(context, {precision, Storage::buffer}, right);
        Surface x(context, n, nrhs, precision, Storage::buffer);
        fill(context, x, 0xff);
        context.run(
            "test",
            {"solve_gpu.cl", "solve_waiting", precision, Storage::buffer, Texel::rgba, " -DNB=64"},
            {(n + 63) / 64 * nrhs * 256}, t, b, x, static_cast<cl_int>(n),
            static_cast<cl_int>(nrhs), static_cast<cl_int>(upper), static_cast<cl_int>(unit));
        EXPECT_LT(solve_ratio(triangle, contents(context, x), right, epsilon(precision)),
                  kSolveRatioLimit);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, LuBlockedTest,
                         testing::Values(BlockedKind{Precision::single_precision, Pivot::none},
                                         BlockedKind{Precision::single_precision, Pivot::partial},
                                         BlockedKind{Precision::double_precision, Pivot::none},
                                         BlockedKind{Precision::double_precision, Pivot::partial}),
                         testing::PrintToStringParamName());

TEST(LuBlockedLimits, ImagesAreUnsupported) {
  Problem problem;
  problem.n = 5;
  problem.storage = Storage::image;
  EXPECT_THROW(LuBlocked(shared_context(), problem), Unsupported);
}

}  // namespace
}  // namespace lugpu

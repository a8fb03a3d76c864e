// Every method with every pivoting on every kind of surface, against LAPACK's ratios, LAPACK itself
// and systems solved by hand; and the baselines.
#include <lapacke.h>

#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "baselines/baselines.hpp"
#include "baselines/getc2.hpp"
#include "error.hpp"
#include "opencl_fixture.hpp"
#include "solvers/gauss_jordan.hpp"
#include "solvers/lu.hpp"
#include "solvers/methods.hpp"

namespace lugpu {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// LAPACK's test sizes and those around the blocks of the kernels.
constexpr std::size_t kOrders[] = {0, 1, 2, 3, 5, 10, 31, 32, 33, 50, 63, 64, 65, 132};

struct SolverKind {
  const Method* method;
  Pivot pivot;
  SurfaceKind surface;
};

/// As in test names: "gauss_jordan_full_single_image".
std::string name(const SolverKind& kind) {
  std::string text = kind.method->name;
  std::replace(text.begin(), text.end(), '-', '_');
  return text + "_" + name(kind.pivot) + "_" + name(kind.surface);
}

void PrintTo(const SolverKind& kind, std::ostream* out) {
  *out << name(kind);
}

std::vector<SolverKind> solver_kinds() {
  std::vector<SolverKind> kinds;
  for (const Method& method : methods()) {
    for (const Pivot pivot : method.pivots) {
      for (const SurfaceKind& surface : surface_kinds()) kinds.push_back({&method, pivot, surface});
    }
  }
  return kinds;
}

/// A X = B with X solved and all that a solver says about it.
struct Solved {
  Outcome outcome;
  Matrix x;
  std::optional<Matrix> lu, inverse;
};

/// Factors and, where there is no zero pivot, solves what was uploaded.
Solved run(Solver& solver) {
  solver.factor();
  Solved solved{solver.outcome(), {}, solver.lu(), {}};
  if (solved.outcome.info > 0) return solved;
  solver.solve();
  solved.x = solver.download();
  if (!solved.lu) solved.inverse = solver.inverse();
  return solved;
}

Solved run(Solver& solver, const Matrix& a, const Matrix& b) {
  solver.upload(a, b);
  return run(solver);
}

void expect_passed(const Solved& solved, const Matrix& a, const Matrix& b, double eps) {
  const Outcome& outcome = solved.outcome;
  EXPECT_EQ(outcome.info, 0);
  const double ratio = solved.lu ? lu_factor_ratio(a, *solved.lu, outcome.ipiv, outcome.jpiv, eps)
                                 : inverse_ratio(a, solved.inverse.value(), eps);
  EXPECT_LT(ratio, kFactorRatioLimit);
  ASSERT_EQ(solved.x.rows(), b.rows());
  ASSERT_EQ(solved.x.cols(), b.cols());
  EXPECT_LT(solve_ratio(a, solved.x, b, eps), kSolveRatioLimit);
  EXPECT_LT(hpl_residual(a, solved.x, b, eps), kHplResidualLimit);
}

/// Which pivots an outcome lists depends on the pivoting.
void expect_complete(const Outcome& outcome, std::size_t n, Pivot pivot) {
  EXPECT_EQ(outcome.ipiv.size(), pivot == Pivot::none ? 0 : n);
  EXPECT_EQ(outcome.jpiv.size(), pivot == Pivot::full ? n : 0);
  EXPECT_EQ(outcome.pivots.size(), n);
}

Matrix product(const Matrix& a, const Matrix& x) {
  Matrix b(a.rows(), x.cols());
  for (std::size_t j = 0; j < x.cols(); ++j) {
    for (std::size_t k = 0; k < a.cols(); ++k) {
      for (std::size_t i = 0; i < a.rows(); ++i) b(i, j) += a(i, k) * x(k, j);
    }
  }
  return b;
}

/// 1 .. n rows of the identity.
Matrix identity(std::size_t n) {
  Matrix a(n, n);
  for (std::size_t i = 0; i < n; ++i) a(i, i) = 1;
  return a;
}

class Solvers : public testing::TestWithParam<SolverKind> {
 protected:
  void SetUp() override {
    const std::string missing = missing_on(context.device().handle, GetParam().surface);
    if (!missing.empty()) GTEST_SKIP() << context.device().name << ": " << missing;
  }

  Problem problem(std::size_t n, std::size_t nrhs) const {
    return {n, nrhs, pivot, precision, GetParam().surface.storage};
  }
  std::unique_ptr<Solver> make(std::size_t n, std::size_t nrhs) {
    return GetParam().method->make(context, problem(n, nrhs));
  }
  Solved solve(const Matrix& a, const Matrix& b) { return run(*make(a.rows(), b.cols()), a, b); }
  /// A kind of random matrix that this pivoting copes with.
  const char* harmless() const { return pivot == Pivot::none ? "dominant" : "random"; }

  /// The system of this kind passes the checks.
  void check(const std::string& kind, std::size_t n, std::size_t nrhs) {
    SCOPED_TRACE(kind + ", n = " + std::to_string(n) + ", nrhs = " + std::to_string(nrhs));
    const Matrix a = generate(kind, n, n + 7), b = random_matrix(n, nrhs, n + 7);
    const Solved solved = solve(a, b);
    expect_complete(solved.outcome, n, pivot);
    expect_passed(solved, a, b, eps);
  }

  DeviceContext& context = shared_context();
  const Pivot pivot = GetParam().pivot;
  const Precision precision = GetParam().surface.precision;
  const double eps = epsilon(precision);
};

INSTANTIATE_TEST_SUITE_P(All, Solvers, testing::ValuesIn(solver_kinds()),
                         [](const auto& info) { return name(info.param); });

TEST_P(Solvers, PassTheChecksAtEveryOrder) {
  constexpr std::size_t kRightHandSides[] = {1, 2, 15};
  std::size_t turn = 0;
  for (const std::size_t n : kOrders) check(harmless(), n, kRightHandSides[turn++ % 3]);
}

TEST_P(Solvers, PassTheChecksOnDominantMatrices) {
  for (const std::size_t n : {1, 2, 3, 5, 10, 33, 65}) check("dominant", n, 2);
}

TEST_P(Solvers, PassTheChecksOnLapacksTypes) {
  for (const char* kind : {"diagonal", "upper", "lower"}) {
    for (const std::size_t n : {1, 2, 3, 10, 50}) check(kind, n, 2);
  }
  if (pivot == Pivot::none) return;
  for (const char* kind : {"well-conditioned", "near-underflow", "near-overflow"}) {
    for (const std::size_t n : {1, 2, 3, 10, 50}) check(kind, n, 2);
  }
}

TEST_P(Solvers, PassTheChecksOnIllConditionedMatrices) {
  if (pivot == Pivot::none) return;
  for (const std::size_t n : {2, 3, 10, 50}) check("ill-conditioned", n, 2);
}

TEST_P(Solvers, WithoutRightHandSides) {
  for (const std::size_t n : {0, 1, 5, 33}) check(harmless(), n, 0);
}

}  // namespace
}  // namespace lugpu

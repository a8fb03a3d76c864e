// Every method with every pivoting on every kind of surface, against LAPACK's ratios, LAPACK itself
// and systems solved by hand; and the baselines on the host.
#include <lapacke.h>

#include <climits>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "accuracy/condition.hpp"
#include "base/error.hpp"
#include "baselines/baselines.hpp"
#include "baselines/getc2.hpp"
#include "contenders.hpp"
#include "dense/gauss_jordan.hpp"
#include "dense/lu.hpp"
#include "dense/resident_full.hpp"
#include "opencl_fixture.hpp"
#include "solve/methods.hpp"

namespace lugpu {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// LAPACK's test sizes and those around the blocks of the kernels.
constexpr std::size_t kOrders[] = {0, 1, 2, 3, 5, 10, 31, 32, 33, 50, 63, 64, 65, 132};

struct SolverKind {
  const Method* method;
  Pivot pivot;
  Schedule schedule;
  SurfaceKind surface;
};

/// As in test names: "gauss_jordan_full_fused_single_image_rgba".
std::string name(const SolverKind& kind) {
  std::string text = kind.method->name;
  std::replace(text.begin(), text.end(), '-', '_');
  return text + "_" + name(kind.pivot) + "_" + name(kind.schedule) + "_" + name(kind.surface);
}

void PrintTo(const SolverKind& kind, std::ostream* out) {
  *out << name(kind);
}

/// Those divided into steps, not blocks.
std::vector<Method> unblocked_methods() {
  std::vector<Method> unblocked;
  for (const Method& method : methods()) {
    if (!method.block_size) unblocked.push_back(method);
  }
  return unblocked;
}

/// cli/verify_test has the paper's schedule on the other kinds of surfaces.
std::vector<SolverKind> solver_kinds() {
  std::vector<SolverKind> kinds;
  for (const Method& method : methods()) {
    for (const Pivot pivot : method.pivots()) {
      if (method.block_size) {
        // In place, on buffers; there is no schedule.
        for (const SurfaceKind& surface : kinds_with(Texel::r)) {
          if (surface.storage == Storage::buffer) {
            kinds.push_back({&method, pivot, Schedule::fused, surface});
          }
        }
        continue;
      }
      for (const Schedule schedule : {Schedule::paper, Schedule::fused}) {
        const bool fused = schedule == Schedule::fused;
        for (const SurfaceKind& surface : fused ? all_kinds() : pairwise_kinds()) {
          kinds.push_back({&method, pivot, schedule, surface});
        }
      }
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
Solved run(Contender& solver) {
  solver.factor();
  Solved solved{solver.outcome(), {}, solver.lu(), {}};
  if (solved.outcome.info > 0) return solved;
  solver.solve();
  solved.x = solver.download();
  if (!solved.lu) solved.inverse = solver.inverse();
  return solved;
}

/// The same by a method alone.
Solved run(DenseFactorization& solver) {
  solver.factor();
  Solved solved{solver.outcome(), {}, {}, {}};
  const Size& size = solver.size();
  if (solver.keeps_factors()) {
    solved.lu = Matrix(size.n, size.n);
    solver.download_factors(0, solved.lu->view());
  }
  if (solved.outcome.info > 0) return solved;
  solver.solve();
  solved.x = Matrix(size.n, size.nrhs);
  solver.download(solved.x.view());
  return solved;
}

Solved run(DenseFactorization& solver, const Matrix& a, const Matrix& b) {
  solver.upload(a, b);
  Solved solved = run(solver);
  if (!solver.keeps_factors() && solved.outcome.info == 0) solved.inverse = solver.inverse(a);
  return solved;
}

Solved run(Contender& solver, const Matrix& a, const Matrix& b) {
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
  EXPECT_EQ(outcome.jpiv.size(), exchanges_columns(pivot) ? n : 0);
  EXPECT_EQ(outcome.pivots.size(), n);
}

class Solvers : public testing::TestWithParam<SolverKind> {
 protected:
  void SetUp() override {
    const std::string missing = missing_on(handle_of(context.device()), GetParam().surface);
    if (!missing.empty()) GTEST_SKIP() << context.device().name << ": " << missing;
  }

  Problem problem(std::size_t n, std::size_t nrhs) const {
    const SurfaceKind& surface = GetParam().surface;
    return problem_of(n, nrhs, pivot, precision, surface.storage, surface.texel,
                      GetParam().schedule);
  }
  std::unique_ptr<Contender> make(std::size_t n, std::size_t nrhs) {
    return make_contender(context, *GetParam().method, problem(n, nrhs));
  }
  Solved solve(const Matrix& a, const Matrix& b) { return run(*make(a.rows(), b.cols()), a, b); }
  Solved factor(const Matrix& a) {
    const auto solver = make(a.rows(), 1);
    solver->upload(a, Matrix(a.rows(), 1));
    solver->factor();
    return {solver->outcome(), {}, solver->lu(), {}};
  }
  /// A kind of random matrix that this pivoting can handle.
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
                         testing::PrintToStringParamName());

TEST_P(Solvers, PassTheChecksAtEveryOrder) {
  constexpr std::size_t kRightHandSides[] = {1, 2, 15};
  std::size_t turn = 0;
  for (const std::size_t n : kOrders) check(harmless(), n, kRightHandSides[turn++ % 3]);
}

TEST_P(Solvers, PassTheChecksOnDominantMatrices) {
  for (const std::size_t n : {1, 2, 3, 5, 10, 31, 33, 50, 65, 132}) check("dominant", n, 2);
}

TEST_P(Solvers, PassTheChecksOnLapacksTypes) {
  for (const char* kind : {"diagonal", "upper", "lower"}) {
    for (const std::size_t n : {1, 2, 3, 10, 50}) check(kind, n, 2);
  }
  if (pivot == Pivot::none) return;  // those it can handle have passed
  for (const char* kind : {"well-conditioned", "near-underflow", "near-overflow"}) {
    for (const std::size_t n : {1, 2, 3, 10, 50, 65}) check(kind, n, 2);
  }
}

TEST_P(Solvers, PassTheChecksOnIllConditionedMatrices) {
  if (pivot == Pivot::none) GTEST_SKIP() << "they need pivoting";
  for (const std::size_t n : {2, 3, 10, 50}) check("ill-conditioned", n, 2);
}

TEST_P(Solvers, WithoutRightHandSides) {
  for (const std::size_t n : {0, 1, 5, 33}) check(harmless(), n, 0);
}

// Systems solved by hand. Every number has few digits and every pivot is a power of two, so nothing
// is rounded.

/// L = [1; 1/2 1; 1/4 1/2 1] below the diagonal of U = [8 4 2; 4 1; 2].
Matrix three_by_three_factors() {
  return matrix({{8, 4, 2}, {0.5, 4, 1}, {0.25, 0.5, 2}});
}

/// A system whose pivots differ from the diagonal as far as the pivoting lets them.
struct Example {
  Matrix a, lu;
  std::vector<int> ipiv, jpiv;
};

Example three_by_three(Pivot pivot) {
  const Matrix lu = three_by_three_factors();
  // The rows of L U as they are, in the order 3, 1, 2, and its columns in the order 2, 3, 1.
  if (pivot == Pivot::none) return {matrix({{8, 4, 2}, {4, 6, 2}, {2, 3, 3}}), lu, {}, {}};
  // The rows in that order again, of sizes 21, 2 and 6: 2/2 is taken before 4/6 and 2/21, and then
  // 4/6 before 8/21, though 4 and 8 are larger.
  if (pivot == Pivot::scaled) {
    return {matrix({{2, 9, 21}, {2, 1, 1}, {4, 6, 4}}),
            matrix({{2, 1, 1}, {2, 4, 2}, {1, 2, 16}}),
            {2, 3, 3},
            {}};
  }
  // The 8 is the largest of its row too, and so is the 4 of the second step.
  if (pivot == Pivot::partial || pivot == Pivot::rook) {
    const std::vector<int> stay = {1, 2, 3};
    return {matrix({{2, 3, 3}, {8, 4, 2}, {4, 6, 2}}),
            lu,
            {2, 3, 3},
            pivot == Pivot::rook ? stay : std::vector<int>()};
  }
  return {matrix({{3, 3, 2}, {4, 2, 8}, {6, 2, 4}}), lu, {2, 3, 3}, {3, 3, 3}};
}

Example two_by_two(Pivot pivot) {
  if (pivot == Pivot::none)
    return {matrix({{4, 3}, {2, 1}}), matrix({{4, 3}, {0.5, -0.5}}), {}, {}};
  if (pivot == Pivot::partial) {
    return {matrix({{2, 1}, {4, 3}}), matrix({{4, 3}, {0.5, -0.5}}), {2, 2}, {}};
  }
  if (pivot == Pivot::scaled) {
    return {matrix({{4, 34}, {2, 1}}), matrix({{2, 1}, {2, 32}}), {2, 2}, {}};
  }
  return {matrix({{1, 2}, {3, 4}}), matrix({{4, 3}, {0.5, -0.5}}), {2, 2}, {2, 2}};
}

TEST_P(Solvers, ExactExamples) {
  const std::pair<Example, Matrix> systems[] = {
      {two_by_two(pivot), matrix({{1, -2}, {3, 0}})},
      {three_by_three(pivot), matrix({{1, -1, 0}, {2, 0, 0}, {3, 2, 8}})}};
  for (const auto& [example, x] : systems) {
    const Solved solved = solve(example.a, product(example.a, x));
    EXPECT_EQ(solved.outcome.info, 0);
    EXPECT_EQ(solved.outcome.ipiv, example.ipiv);
    EXPECT_EQ(solved.outcome.jpiv, example.jpiv);
    EXPECT_EQ(solved.x.values(), x.values());
    if (solved.lu) {
      EXPECT_TRUE(equal(*solved.lu, example.lu));
    }
    if (solved.inverse) {
      EXPECT_EQ(product(example.a, *solved.inverse).values(), identity(x.rows()).values());
    }
    for (std::size_t k = 0; k < x.rows(); ++k) {
      EXPECT_EQ(solved.outcome.pivots[k], example.lu(k, k));
    }
  }
}

// A(i, p(i)) = 2^i: every solution and the inverse are exact, and correct only in the right order.
TEST_P(Solvers, PermutationsComeBackInOrder) {
  const std::size_t n = 33;
  Matrix a(n, n), inverse(n, n), x = random_in(precision, n, 3, 1);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t p = pivot == Pivot::none ? i : (7 * i + 5) % n;
    a(i, p) = std::ldexp(1, static_cast<int>(i));
    inverse(p, i) = std::ldexp(1, -static_cast<int>(i));
  }
  const Solved solved = solve(a, product(a, x));
  EXPECT_EQ(solved.outcome.info, 0);
  EXPECT_TRUE(equal(solved.x, x));
  if (solved.inverse) {
    EXPECT_EQ(solved.inverse->values(), inverse.values());
  }
}

TEST_P(Solvers, IdentityIsItsOwnInverse) {
  const Matrix b = random_in(precision, 40, 2, 1);
  const Solved solved = solve(identity(40), b);
  EXPECT_EQ(solved.x.values(), b.values());
  if (solved.inverse) {
    EXPECT_EQ(solved.inverse->values(), identity(40).values());
  }
}

// Each step of partial pivoting doubles the last column, and no rounding happens.
TEST_P(Solvers, WilkinsonGrowthIsExact) {
  if (exchanges_columns(pivot)) GTEST_SKIP() << "no such growth";
  const std::size_t n = 20;
  const Matrix a = generate("wilkinson", n, 1), x = filled(n, 1, 1);
  const Solved solved = solve(a, product(a, x));
  for (std::size_t k = 0; k + 1 < n; ++k) {
    EXPECT_EQ(solved.outcome.pivots[k], 1);
    // Ties in the search: the diagonal is the first.
    if (pivot == Pivot::partial) {
      EXPECT_EQ(solved.outcome.ipiv[k], static_cast<int>(k) + 1);
    }
  }
  EXPECT_EQ(solved.outcome.pivots[n - 1], 0x1p19);
  EXPECT_TRUE(equal(solved.x, x));
  if (solved.lu) {
    EXPECT_EQ(pivot_growth(a, *solved.lu), 0x1p19);
  }
}

// Solvers that are used again.

TEST_P(Solvers, FactorAgainGivesTheSameBits) {
  const Matrix a = generate(harmless(), 65, 3), b = random_matrix(65, 3, 3);
  const auto solver = make(65, 3);
  const Solved first = run(*solver, a, b);
  for (int again = 0; again < 2; ++again) {
    solver->reset();
    const Solved second = run(*solver);
    EXPECT_EQ(second.outcome.ipiv, first.outcome.ipiv);
    EXPECT_EQ(second.outcome.jpiv, first.outcome.jpiv);
    EXPECT_EQ(second.outcome.pivots, first.outcome.pivots);
    EXPECT_TRUE(equal(second.x, first.x));
    if (first.lu) {
      EXPECT_TRUE(equal(*second.lu, *first.lu));
    }
    if (first.inverse) {
      EXPECT_TRUE(equal(*second.inverse, *first.inverse));
    }
  }
}

TEST_P(Solvers, SolveAgainGivesTheSameX) {
  const Matrix a = generate(harmless(), 33, 3), b = random_matrix(33, 3, 3);
  const auto solver = make(33, 3);
  const Solved first = run(*solver, a, b);
  solver->solve();
  EXPECT_TRUE(equal(solver->download(), first.x));
}

TEST_P(Solvers, AnotherUploadReplacesTheFirst) {
  const Matrix a = generate(harmless(), 33, 3), b = random_matrix(33, 3, 3);
  const auto solver = make(33, 3);
  run(*solver, generate("dominant", 33, 4), random_matrix(33, 3, 4));
  const Solved used = run(*solver, a, b), fresh = solve(a, b);
  EXPECT_EQ(used.outcome.ipiv, fresh.outcome.ipiv);
  EXPECT_TRUE(equal(used.x, fresh.x));
}

// Nothing of the surfaces' earlier contents is read: NaN would spread.
TEST_P(Solvers, NaNOfAnEarlierSystemIsForgotten) {
  for (const std::size_t n : {1, 2, 5, 32, 33}) {
    const Matrix a = generate(harmless(), n, 5), b = random_matrix(n, 2, 5);
    const auto solver = make(n, 2);
    solver->upload(filled(n, n, kNaN), filled(n, 2, kNaN));
    solver->factor();
    solver->solve();
    const Solved used = run(*solver, a, b), fresh = solve(a, b);
    EXPECT_TRUE(equal(used.x, fresh.x)) << n;
    expect_passed(used, a, b, eps);
  }
}

TEST_P(Solvers, RefuseWhatTheDeviceCannotHold) {
  Device small = context.device();
  small.max_allocation = 40 * 40 * element_size(precision);
  small.image_max_width = std::min<std::uint64_t>(small.image_max_width, 80);
  DeviceContext limited(small);
  EXPECT_NE(make_contender(limited, *GetParam().method, problem(20, 1)), nullptr);
  EXPECT_THROW(make_contender(limited, *GetParam().method, problem(100, 1)), Unsupported);
}

TEST_P(Solvers, RefuseWhatOverflowsSingle) {
  if (precision != Precision::single_precision) GTEST_SKIP() << "double precision";
  const auto solver = make(2, 1);
  EXPECT_THROW(solver->upload(filled(2, 2, 1e300), Matrix(2, 1)), InputError);
  EXPECT_THROW(solver->upload(identity(2), filled(2, 1, -1e300)), InputError);
}

// Singular matrices.

/// Row interchanges and factors by LAPACK in the precision of a solver.
struct Factors {
  Matrix lu;
  std::vector<int> ipiv, jpiv;
  int info = 0;
};

Factors getrf(const Matrix& a, Precision precision) {
  const int n = static_cast<int>(a.rows());
  Factors f{a, std::vector<int>(a.rows()), {}};
  if (precision == Precision::double_precision) {
    f.info = LAPACKE_dgetrf(LAPACK_COL_MAJOR, n, n, f.lu.values().data(), a.ld(), f.ipiv.data());
  } else {
    std::vector<float> lu(a.values().begin(), a.values().end());
    f.info = LAPACKE_sgetrf(LAPACK_COL_MAJOR, n, n, lu.data(), a.ld(), f.ipiv.data());
    f.lu.values().assign(lu.begin(), lu.end());
  }
  return f;
}

Factors getc2(const Matrix& a, Precision precision) {
  const int n = static_cast<int>(a.rows()), lda = a.ld();
  Factors f{a, std::vector<int>(a.rows()), std::vector<int>(a.rows())};
  if (precision == Precision::double_precision) {
    dgetc2_(&n, f.lu.values().data(), &lda, f.ipiv.data(), f.jpiv.data(), &f.info);
  } else {
    std::vector<float> lu(a.values().begin(), a.values().end());
    sgetc2_(&n, lu.data(), &lda, f.ipiv.data(), f.jpiv.data(), &f.info);
    f.lu.values().assign(lu.begin(), lu.end());
  }
  return f;
}

constexpr const char* kSingularKinds[] = {"singular", "zero-first-column", "zero-last-column",
                                          "zero-half-columns"};

TEST_P(Solvers, SingularMatricesAsLapack) {
  if (pivot != Pivot::partial) GTEST_SKIP() << "getrf's pivoting is partial";
  for (const char* kind : kSingularKinds) {
    for (const std::size_t n : {1, 2, 3, 10, 33, 65}) {
      SCOPED_TRACE(std::string(kind) + ", n = " + std::to_string(n));
      const Matrix a = generate(kind, n, 11);
      const Factors lapack = getrf(a, precision);
      ASSERT_GT(lapack.info, 0);
      const Solved solved = factor(a);
      EXPECT_EQ(solved.outcome.info, lapack.info);
      expect_complete(solved.outcome, n, pivot);
      if (!solved.lu) continue;
      EXPECT_LT(lu_factor_ratio(a, *solved.lu, solved.outcome.ipiv, {}, eps), kFactorRatioLimit);
    }
  }
}

// Rook and full pivoting take the zero columns last.
TEST_P(Solvers, InterchangesOfColumnsRevealTheRank) {
  if (!exchanges_columns(pivot)) GTEST_SKIP() << "no interchanges of columns";
  for (const char* kind : kSingularKinds) {
    for (const std::size_t n : {1, 2, 3, 10, 33, 65}) {
      SCOPED_TRACE(std::string(kind) + ", n = " + std::to_string(n));
      const std::size_t rank = std::string(kind) == "zero-half-columns" ? n / 2 : n - 1;
      const Matrix a = generate(kind, n, 11);
      const Outcome outcome = factor(a).outcome;
      EXPECT_EQ(outcome.info, static_cast<int>(rank) + 1);
      expect_complete(outcome, n, pivot);
    }
  }
}

TEST_P(Solvers, ZeroMatrixHasItsFirstPivotZero) {
  for (const std::size_t n : {1, 2, 33}) {
    const Solved solved = factor(Matrix(n, n));
    EXPECT_EQ(solved.outcome.info, 1);
    for (std::size_t k = 0; k < solved.outcome.ipiv.size(); ++k) {
      EXPECT_EQ(solved.outcome.ipiv[k], static_cast<int>(k) + 1);
    }
    if (solved.lu) {
      EXPECT_EQ(solved.lu->values(), Matrix(n, n).values());
    }
  }
}

TEST_P(Solvers, ZeroFirstPivotNeedsPivoting) {
  const Matrix a = matrix({{0, 2}, {4, 2}}), x = matrix({{1}, {3}});
  const Solved solved = solve(a, product(a, x));
  if (pivot == Pivot::none) {
    EXPECT_EQ(solved.outcome.info, 1);
  } else {
    EXPECT_EQ(solved.outcome.info, 0);
    EXPECT_TRUE(equal(solved.x, x));
  }
}

// Rook pivoting. Row k of the trailing matrix of step k is row k of U, and its column k is L's
// times the pivot.

TEST_P(Solvers, RookPivotsAreTheLargestOfTheirRowAndColumn) {
  if (pivot != Pivot::rook) GTEST_SKIP() << "no rook pivoting";
  for (const char* kind : {"random", "graded", "permuted", "wilkinson", "singular", "dominant"}) {
    for (const std::size_t n : {1, 2, 3, 10, 33, 65, 132}) {
      SCOPED_TRACE(std::string(kind) + ", n = " + std::to_string(n));
      const Matrix a = generate(kind, n, n);
      const Solved solved = factor(a);
      const Matrix& lu = *solved.lu;
      EXPECT_LT(lu_factor_ratio(a, lu, solved.outcome.ipiv, solved.outcome.jpiv, eps),
                kFactorRatioLimit);
      for (std::size_t k = 0; k < n; ++k) {
        const double largest = std::abs(lu(k, k));
        EXPECT_EQ(solved.outcome.pivots[k], lu(k, k));
        for (std::size_t j = k + 1; j < n; ++j) {
          EXPECT_LE(std::abs(lu(k, j)), largest) << k;
          EXPECT_LE(std::abs(lu(j, k)), 1 + 4 * eps) << k;
        }
        EXPECT_GE(solved.outcome.ipiv[k], static_cast<int>(k) + 1);
        EXPECT_GE(solved.outcome.jpiv[k], static_cast<int>(k) + 1);
      }
    }
  }
}

// Where partial pivoting has 2^99.
TEST_P(Solvers, RookPivotingHasNoWilkinsonGrowth) {
  if (pivot != Pivot::rook) GTEST_SKIP() << "no rook pivoting";
  const std::size_t n = 100;
  const Matrix a = generate("wilkinson", n, 1), b = random_matrix(n, 2, 1);
  const Solved solved = solve(a, b);
  expect_passed(solved, a, b, eps);
  EXPECT_LE(pivot_growth(a, *solved.lu), 4);
}

// Partial pivoting on implicitly scaled rows.

TEST_P(Solvers, ScaledPivotsAreTheLargestOfTheirColumnRelativeToTheirRows) {
  if (pivot != Pivot::scaled) GTEST_SKIP() << "no implicit scaling";
  for (const char* kind : {"random", "graded", "permuted", "wilkinson", "singular", "dominant"}) {
    for (const std::size_t n : {1, 2, 3, 10, 33, 65, 132}) {
      SCOPED_TRACE(std::string(kind) + ", n = " + std::to_string(n));
      const Matrix a = generate(kind, n, n);
      const Solved solved = factor(a);
      if (!solved.lu) continue;
      const Matrix& lu = *solved.lu;
      std::vector<double> sizes(n);
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) sizes[i] = std::max(sizes[i], std::abs(a(i, j)));
      }
      for (std::size_t k = 0; k < n; ++k) std::swap(sizes[k], sizes[solved.outcome.ipiv[k] - 1]);
      for (std::size_t k = 0; k < n; ++k) {
        for (std::size_t i = k + 1; i < n; ++i) {
          EXPECT_LE(std::abs(lu(i, k)) * sizes[k], sizes[i] * (1 + 8 * eps)) << i << ", " << k;
        }
      }
    }
  }
}

// Multiplying the rows of [A | B] by powers of two changes no digit of X.
TEST_P(Solvers, ScaledPivotingIsIndifferentToTheSizesOfRows) {
  if (pivot != Pivot::scaled) GTEST_SKIP() << "no implicit scaling";
  for (const std::size_t n : {2, 10, 33, 65, 132}) {
    Matrix a = random_in(precision, n, n, 1), b = random_in(precision, n, 2, 2);
    const Solved solved = solve(a, b);
    for (std::size_t i = 0; i < n; ++i) {
      const double factor = std::ldexp(1, static_cast<int>(5 * i % 41) - 20);
      for (std::size_t j = 0; j < n; ++j) a(i, j) *= factor;
      for (std::size_t j = 0; j < 2; ++j) b(i, j) *= factor;
    }
    const Solved of_scaled = solve(a, b);
    EXPECT_EQ(of_scaled.outcome.ipiv, solved.outcome.ipiv) << n;
    EXPECT_TRUE(equal(of_scaled.x, solved.x)) << n;
  }
}

TEST_P(Solvers, NaNAndInfinityDoNotStopTheSearch) {
  Matrix a = generate("random", 40, 1);
  for (std::size_t k = 0; k < 40; k += 3) a(k, (7 * k) % 40) = k % 2 == 0 ? kNaN : 1 / 0.0;
  const Outcome outcome = factor(a).outcome;
  for (std::size_t k = 0; k < outcome.ipiv.size(); ++k) {
    EXPECT_GT(outcome.ipiv[k], static_cast<int>(k));
    EXPECT_LE(outcome.ipiv[k], 40);
  }
}

// The step in which an element far larger than all others of a diagonal matrix is the pivot: at
// once, or when its column's turn comes.
std::size_t turn_of(std::size_t column, Pivot pivot) {
  return pivot == Pivot::full ? 0 : column;
}

/// 4 on the diagonal.
Matrix fours(std::size_t n) {
  Matrix a(n, n);
  for (std::size_t i = 0; i < n; ++i) a(i, i) = 4;
  return a;
}

TEST_P(Solvers, NaNIsNeverAPivot) {
  if (pivot == Pivot::none) GTEST_SKIP() << "without a search";
  const std::size_t n = 70;
  // A NaN before the largest of its column, and one after it.
  for (const std::size_t column : {0, 1, 5, 31, 50}) {
    for (const auto& [nan, largest] : {std::pair(60, 65), std::pair(69, 60)}) {
      SCOPED_TRACE("column " + std::to_string(column) + ", NaN in row " + std::to_string(nan));
      Matrix a = fours(n);
      a(nan, column) = kNaN;
      a(largest, column) = 9;
      if (pivot == Pivot::scaled) a(column, n - 1) = 16;  // 9/9 is more than 4/16
      const Outcome outcome = factor(a).outcome;
      const std::size_t k = turn_of(column, pivot);
      EXPECT_EQ(outcome.ipiv[k], largest + 1);
      if (!outcome.jpiv.empty()) {
        EXPECT_EQ(outcome.jpiv[k], static_cast<int>(column) + 1);
      }
      // After that all of the NaN's row is NaN; the others still have their pivots.
      const std::size_t last = exchanges_columns(pivot) ? n - 1 : nan;
      for (std::size_t i = 0; i < last; ++i) EXPECT_FALSE(std::isnan(outcome.pivots[i])) << i;
    }
  }
}

// An infinity of A, and one that an update makes of finite elements.
TEST_P(Solvers, InfinityIsAPivot) {
  if (pivot == Pivot::none) GTEST_SKIP() << "without a search";
  const std::size_t n = 70;
  const double infinity = 1 / 0.0;
  const double large = precision == Precision::single_precision ? 0x1p127 : 0x1p1023;
  for (const std::size_t row : {40, 69}) {
    for (const std::size_t column : {1, 5, 31, 39}) {
      SCOPED_TRACE("(" + std::to_string(row) + ", " + std::to_string(column) + ")");
      Matrix a = fours(n);
      std::size_t k = turn_of(column, pivot);
      if (pivot != Pivot::scaled) {  // there the row's size is infinite too
        a(row, column) = infinity;
        const Outcome outcome = factor(a).outcome;
        EXPECT_EQ(outcome.ipiv[k], static_cast<int>(row) + 1);
        EXPECT_EQ(outcome.pivots[k], infinity);
      }

      Matrix b = fours(n);  // b(row, column) + 1.5 large after the first step
      b(0, 0) = 1.75 * large;
      b(0, column) = b(row, 0) = 1.5 * large;
      b(row, 0) = -b(row, 0);
      b(row, column) = large;
      const Outcome of_update = factor(b).outcome;
      k = pivot == Pivot::full ? 1 : column;
      EXPECT_EQ(of_update.ipiv[k], static_cast<int>(row) + 1);
      EXPECT_EQ(of_update.pivots[k], infinity);
    }
  }
}

// Against LAPACK, on matrices where rounding cannot decide which pivot is taken.

/// The smallest relative distance between the pivot of a step and the next candidate.
double smallest_lead(Matrix a, Pivot pivot) {
  const std::size_t n = a.rows();
  double lead = 1;
  for (std::size_t k = 0; k < n; ++k) {
    double best = 0, second = 0;
    std::size_t row = k, column = k;
    for (std::size_t j = k; j < (pivot == Pivot::full ? n : k + 1); ++j) {
      for (std::size_t i = k; i < n; ++i) {
        const double candidate = std::abs(a(i, j));
        second = std::max(second, std::min(best, candidate));
        if (candidate <= best) continue;
        best = candidate;
        row = i, column = j;
      }
    }
    lead = std::min(lead, (best - second) / best);
    for (std::size_t j = 0; j < n; ++j) std::swap(a(k, j), a(row, j));
    for (std::size_t i = 0; i < n; ++i) std::swap(a(i, k), a(i, column));
    for (std::size_t j = k + 1; j < n; ++j) {
      for (std::size_t i = k + 1; i < n; ++i) a(i, j) -= a(i, k) / a(k, k) * a(k, j);
    }
  }
  return lead;
}

/// Random matrices of order n whose pivots exceed the next candidates by far more than rounding
/// errors.
std::vector<Matrix> without_near_ties(std::size_t n, Pivot pivot, Precision precision) {
  const double lead = precision == Precision::double_precision ? 1e-9 : 2e-5;
  std::vector<Matrix> found;
  for (std::uint64_t seed = 1; found.size() < 3 && seed < 100; ++seed) {
    Matrix a = generate("random", n, seed);
    if (smallest_lead(a, pivot) > lead) found.push_back(std::move(a));
  }
  EXPECT_EQ(found.size(), 3u) << "no such matrix of order " << n;
  return found;
}

/// A dominant matrix with its rows out of order: full pivoting has to fetch every pivot, each
/// larger by far than the next candidate.
Matrix shuffled_dominant(std::size_t n, std::uint64_t seed) {
  const Matrix dominant = generate("dominant", n, seed);
  Matrix a(n, n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) a(i, j) = dominant((i * 7 + seed) % n, j);
  }
  return a;
}

/// LAPACK's pivots, and its factors up to the rounding errors of two factorizations.
void expect_as_lapack(const Solved& solved, const Factors& lapack, double eps) {
  ASSERT_EQ(lapack.info, 0);
  EXPECT_EQ(solved.outcome.ipiv, lapack.ipiv);
  EXPECT_EQ(solved.outcome.jpiv, lapack.jpiv);
  if (!solved.lu) return;
  const double n = static_cast<double>(lapack.lu.rows());
  double difference = 0;
  for (std::size_t k = 0; k < lapack.lu.values().size(); ++k) {
    difference = std::max(difference, std::abs(solved.lu->values()[k] - lapack.lu.values()[k]));
  }
  EXPECT_LE(difference, 10 * n * eps * norm_max(lapack.lu));
}

TEST_P(Solvers, SamePivotsAndFactorsAsGetrf) {
  if (pivot != Pivot::partial) GTEST_SKIP() << "getrf's pivoting is partial";
  for (const std::size_t n : {2, 3, 10, 50, 65, 200}) {
    SCOPED_TRACE(n);
    for (const Matrix& a : without_near_ties(n, pivot, precision)) {
      expect_as_lapack(factor(a), getrf(a, precision), eps);
    }
  }
}

TEST_P(Solvers, SamePivotsAndFactorsAsGetc2) {
  if (pivot != Pivot::full) GTEST_SKIP() << "getc2's pivoting is full";
  for (const std::size_t n : {2, 3, 10, 20}) {
    SCOPED_TRACE(n);
    for (const Matrix& a : without_near_ties(n, pivot, precision)) {
      expect_as_lapack(factor(a), getc2(a, precision), eps);
    }
  }
  for (const std::size_t n : {50, 65, 200}) {
    SCOPED_TRACE(n);
    const Matrix a = shuffled_dominant(n, n);
    const Factors lapack = getc2(a, precision);
    EXPECT_NE(lapack.ipiv, lapack.jpiv);
    expect_as_lapack(factor(a), lapack, eps);
  }
}

// Both solutions have a backward error of a few eps, which the condition of A amplifies.
TEST_P(Solvers, SameSolutionAsGesv) {
  for (const char* kind : {harmless(), "dominant"}) {
    for (const std::size_t n : {1, 2, 10, 50, 65}) {
      SCOPED_TRACE(std::string(kind) + ", n = " + std::to_string(n));
      const Matrix a = generate(kind, n, n), b = random_matrix(n, 3, n);
      const int order = static_cast<int>(n);
      Matrix lu = a, expected = b;
      std::vector<int> ipiv(n);
      ASSERT_EQ(LAPACKE_dgesv(LAPACK_COL_MAJOR, order, 3, lu.values().data(), a.ld(), ipiv.data(),
                              expected.values().data(), b.ld()),
                0);
      const double rcond =
          estimate_condition(a, kEpsilonDouble, inverse_by_lu(lu, ipiv, {})).rcond.value();
      const double condition = 1 / rcond;
      Matrix difference = solve(a, b).x;
      for (std::size_t k = 0; k < difference.values().size(); ++k) {
        difference.values()[k] -= expected.values()[k];
      }
      EXPECT_LE(norm_1(difference), 4 * eps * condition * norm_1(expected));
    }
  }
}

// Lemma 4.1 of LU-GPU, also when the target surface held NaN before.

class LuSurfaces : public Solvers {};

std::vector<SolverKind> lu_kinds() {
  std::vector<SolverKind> kinds = solver_kinds();
  std::erase_if(kinds, [](const SolverKind& kind) {
    return kind.method != &find_method("lu") || kind.schedule != Schedule::paper;
  });
  return kinds;
}

INSTANTIATE_TEST_SUITE_P(All, LuSurfaces, testing::ValuesIn(lu_kinds()),
                         testing::PrintToStringParamName());

TEST_P(LuSurfaces, AreBothUpToDate) {
  for (const std::size_t n : kOrders) {
    SCOPED_TRACE(n);
    const Matrix a = generate(harmless(), n, n), b = random_matrix(n, 1, n);
    Lu solver(context, problem(n, 1).size, problem(n, 1).dense);
    solver.upload(a, b);
    // A copy of the handle, which shares the memory.
    Surface target = solver.surfaces().dst;
    fill(context, target, filled(n, n, kNaN));
    const Solved solved = run(solver);
    EXPECT_TRUE(equal(contents(context, solver.surfaces().src), *solved.lu));
    EXPECT_TRUE(equal(contents(context, solver.surfaces().dst), *solved.lu));
    expect_passed(solved, a, b, eps);
  }
}

TEST_P(LuSurfaces, AreBothUpToDateForSingularMatrices) {
  for (const char* kind : kSingularKinds) {
    SCOPED_TRACE(kind);
    Lu solver(context, problem(33, 1).size, problem(33, 1).dense);
    solver.upload(generate(kind, 33, 1), Matrix(33, 1));
    solver.factor();
    const Matrix source = contents(context, solver.surfaces().src);
    EXPECT_TRUE(equal(contents(context, solver.surfaces().dst), source));
  }
}

// Gauss-Jordan elimination compared with LU.

class GaussJordanSurfaces : public SurfaceKindTest {};

INSTANTIATE_TEST_SUITE_P(All, GaussJordanSurfaces, testing::ValuesIn(all_kinds()),
                         testing::PrintToStringParamName());

TEST_P(GaussJordanSurfaces, SamePivotsAsLu) {
  for (const Pivot pivot : {Pivot::partial, Pivot::full}) {
    for (const std::size_t n : {2, 5, 20}) {
      for (const Matrix& a : without_near_ties(n, pivot, precision)) {
        const Problem problem = problem_of(n, 1, pivot, precision, storage, texel);
        GaussJordan gauss_jordan(context, problem.size, problem.dense);
        Lu lu(context, problem.size, problem.dense);
        const Matrix b(n, 1);
        const Outcome ours = run(gauss_jordan, a, b).outcome, theirs = run(lu, a, b).outcome;
        EXPECT_EQ(ours.ipiv, theirs.ipiv) << n;
        EXPECT_EQ(ours.jpiv, theirs.jpiv) << n;
      }
    }
  }
}

/// A device that cannot hold [A | B] with more than `columns` columns.
Device with_room_for(Device device, const Problem& problem, std::size_t columns) {
  const std::uint64_t bytes = columns * element_size(problem.dense.precision);
  device.image_max_width = bytes / (problem.dense.texel == Texel::rgba ? 16 : sizeof(cl_uint));
  // Rows of buffers are padded to odd multiples of 128 bytes.
  if (problem.dense.storage == Storage::buffer) {
    device.max_allocation = problem.size.n * (((bytes + 127) / 128 | 1) * 128);
  }
  return device;
}

// A column of the inverse does not depend on those beside it.
TEST_P(GaussJordanSurfaces, InverseInPartsIsTheSame) {
  const std::size_t n = 97;  // which no width of a part divides
  const Matrix a = generate("random", n, 3);
  for (const Pivot pivot : {Pivot::partial, Pivot::full}) {
    const Problem problem = problem_of(n, 1, pivot, precision, storage, texel);
    GaussJordan solver(context, problem.size, problem.dense);
    const Matrix whole = run(solver, a, Matrix(n, 1)).inverse.value();
    EXPECT_LT(inverse_ratio(a, whole, epsilon(precision)), kFactorRatioLimit);
    // Halves, [A | 49 columns], and sevenths or less.
    for (const std::size_t columns : {n + 60, n + 15}) {
      SCOPED_TRACE(columns);
      const Device limited = with_room_for(context.device(), problem, columns);
      Problem all_at_once = problem;
      all_at_once.size.nrhs = n;
      ASSERT_THROW(GaussJordan::require_room(limited, all_at_once.size, all_at_once.dense),
                   Unsupported);
      DeviceContext small(limited);
      GaussJordan in_parts(small, problem.size, problem.dense);
      EXPECT_TRUE(equal(run(in_parts, a, Matrix(n, 1)).inverse.value(), whole));
    }
  }
}

TEST_P(GaussJordanSurfaces, InverseIsNotASideEffect) {
  const Problem problem = problem_of(33, 2, Pivot::full, precision, storage, texel);
  const Matrix a = generate("random", 33, 3), b = random_matrix(33, 2, 3);
  GaussJordan solver(context, problem.size, problem.dense);
  const Solved before = run(solver, a, b);
  solver.solve();
  Matrix x(33, 2);
  solver.download(x.view());
  EXPECT_TRUE(equal(x, before.x));
  EXPECT_EQ(solver.outcome().jpiv, before.outcome.jpiv);
}

// The fused schedule cuts its launches by the class of the device.

class FusedSurfaces : public SurfaceKindTest {};

INSTANTIATE_TEST_SUITE_P(All, FusedSurfaces, testing::ValuesIn(pairwise_kinds()),
                         testing::PrintToStringParamName());

TEST_P(FusedSurfaces, TilesOfTheOtherClassOfDevices) {
  Device other = context.device();
  other.type = other.type == "cpu" ? "gpu" : "cpu";
  DeviceContext elsewhere(other);
  for (const Method& method : unblocked_methods()) {
    for (const Pivot pivot : method.pivots()) {
      for (const std::size_t n : {1, 2, 5, 33, 140}) {
        SCOPED_TRACE(std::string(method.name) + ", " + name(pivot) + ", " + std::to_string(n));
        const Matrix a = generate(pivot == Pivot::none ? "dominant" : "random", n, n);
        const Matrix b = random_matrix(n, 2, n);
        const Problem problem = problem_of(n, 2, pivot, precision, storage, texel, Schedule::fused);
        const Solved there = run(*make_contender(elsewhere, method, problem), a, b);
        expect_passed(there, a, b, epsilon(precision));
        const Solved here = run(*make_contender(context, method, problem), a, b);
        EXPECT_EQ(there.outcome.ipiv, here.outcome.ipiv);
        EXPECT_EQ(there.outcome.jpiv, here.outcome.jpiv);
        // On a GPU, gpu/resident_full.cl may stand in, which rounds otherwise.
        const Device& gpu = other.type == "gpu" ? other : context.device();
        const bool rounds_otherwise = method.name == std::string("lu") &&
                                      ResidentFull::fits(gpu, problem.size, problem.dense);
        EXPECT_TRUE(rounds_otherwise || equal(there.x, here.x));
      }
    }
  }
}

// Rows of more columns than a work-group takes on any class of device.
TEST(FusedTiles, SeveralWorkGroupsInARow) {
  DeviceContext& context = shared_context();
  const std::size_t n = 1030;
  const Matrix a = generate("random", n, 1), b = random_matrix(n, 3, 1);
  for (const Method& method : unblocked_methods()) {
    for (const Pivot pivot : {Pivot::partial, Pivot::full}) {
      SCOPED_TRACE(std::string(method.name) + ", " + name(pivot));
      const Problem problem = problem_of(n, 3, pivot, Precision::single_precision, Storage::buffer,
                                         Texel::r, Schedule::fused);
      Problem paper = problem;
      paper.dense.schedule = Schedule::paper;
      const auto solver = make_contender(context, method, problem);
      solver->upload(a, b);
      solver->factor();
      const Outcome outcome = solver->outcome();
      solver->solve();
      EXPECT_EQ(outcome.info, 0);
      EXPECT_LT(hpl_residual(a, solver->download(), b, kEpsilonSingle), kHplResidualLimit);
      // The search must not miss a work-group's columns.
      const auto reference = make_contender(context, method, paper);
      reference->upload(a, b);
      reference->factor();
      EXPECT_EQ(outcome.ipiv, reference->outcome().ipiv);
      EXPECT_EQ(outcome.jpiv, reference->outcome().jpiv);
    }
  }
}

// Loads and stores of whole texels, and of single elements for pivots and multipliers, by hand.
TEST(PapersSchedule, CountsWhatItMoves) {
  // diag(5, 4, 3, 2, 1) with rows 0 and 4 and columns 0 and 3 interchanged.
  Matrix a(5, 5);
  a(0, 4) = 1, a(1, 1) = 4, a(2, 2) = 3, a(3, 0) = 2, a(4, 3) = 5;
  struct Count {
    const char* method;
    Pivot pivot;
    Texel texel;
    std::uint64_t elements, launches;
  };
  const Count counts[] = {{"lu", Pivot::none, Texel::r, 225, 19},
                          {"lu", Pivot::none, Texel::rgba, 574, 19},
                          {"lu", Pivot::full, Texel::r, 225 + 55 + 40 + 40, 33},
                          {"lu", Pivot::full, Texel::rgba, 574 + 116 + 64 + 160, 33},
                          {"gauss-jordan", Pivot::none, Texel::r, 580, 15},
                          {"gauss-jordan", Pivot::none, Texel::rgba, 803, 15},
                          {"gauss-jordan", Pivot::full, Texel::r, 580 + 55 + 48 + 40, 29},
                          {"gauss-jordan", Pivot::full, Texel::rgba, 803 + 116 + 64 + 160, 29}};
  DeviceContext& context = shared_context();
  for (const Count& count : counts) {
    SCOPED_TRACE(std::string(count.method) + ", " + name(count.pivot) + ", " + name(count.texel));
    const Problem problem = problem_of(5, 1, count.pivot, Precision::single_precision,
                                       Storage::buffer, count.texel, Schedule::paper);
    const auto solver = make_contender(context, find_method(count.method), problem);
    solver->upload(a, Matrix(5, 1));
    context.timeline().clear();
    solver->factor();
    EXPECT_EQ(context.timeline().bytes(), count.elements * sizeof(float));
    EXPECT_EQ(context.timeline().kernel_launches(), count.launches);
    EXPECT_EQ(context.timeline().readbacks(), count.pivot == Pivot::none ? 0u : 5u);
  }
}

TEST(Permutations, ByHand) {
  EXPECT_EQ(permutation_of({}), std::vector<int>{});
  EXPECT_EQ(permutation_of({1, 2, 3}), (std::vector<int>{0, 1, 2}));
  // 0 1 2 -> 2 1 0 -> 2 0 1
  EXPECT_EQ(permutation_of({3, 3, 3}), (std::vector<int>{2, 0, 1}));
  EXPECT_EQ(permutation_of({2, 3, 4, 4}), (std::vector<int>{1, 2, 3, 0}));
  // What a device that computes incorrectly may have left.
  const std::vector<int> wrong[] = {{0}, {2}, {2, 1}, {1, 3}, {1, INT_MIN}, {INT_MAX, 2}};
  for (const std::vector<int>& ipiv : wrong) EXPECT_THROW(permutation_of(ipiv), Error);
  EXPECT_EQ(inverse_permutation({}), std::vector<int>{});
  EXPECT_EQ(inverse_permutation({2, 0, 1}), (std::vector<int>{1, 2, 0}));
  EXPECT_EQ(inverse_permutation({1, 2, 3, 0}), (std::vector<int>{3, 0, 1, 2}));
}

TEST(Methods, RefuseThePivotingsThatTheyDoNotHave) {
  for (const Method& method : methods()) {
    for (const PivotRule& rule : pivot_rules()) {
      const Problem problem = completed(problem_of(5, 1, rule.pivot, Precision::single_precision,
                                                   Storage::buffer, Texel::r, Schedule::fused),
                                        method, shared_context().device(), Texel::r, 0, {});
      if (method.has(rule)) {
        EXPECT_NE(make_contender(shared_context(), method, problem), nullptr);
      } else {
        EXPECT_THROW(make_contender(shared_context(), method, problem), Unsupported);
      }
    }
  }
}

TEST(Methods, AreFoundByName) {
  for (const Method& method : methods()) EXPECT_EQ(&find_method(method.name), &method);
  try {
    find_method("cramer");
    FAIL() << "nothing was thrown";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("cramer"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("gauss-jordan"), std::string::npos);
  }
}

// Tables 1 and 2 of LU-GPU: n^3/3 and n^3/2 multiply-adds, 16/3 n^3 and 8 n^3 bytes.
TEST(Methods, CountTheWorkOfThePaper) {
  const WorkModel lu = find_method("lu").work(3);
  EXPECT_EQ(lu.elements_updated, 4u + 1);
  EXPECT_EQ(lu.bytes, 6 * 8 + 6 * 12 + 6 * 8 + 5 * 16u);
  const WorkModel gauss_jordan = find_method("gauss-jordan").work(3);
  EXPECT_EQ(gauss_jordan.elements_updated, 3 * (3 + 2 + 1u));
  EXPECT_EQ(gauss_jordan.bytes, 6 * 12 + 6 * 8 + 18 * 16u);
  for (const Method& method : methods()) {
    EXPECT_EQ(method.work(0).elements_updated, 0u);
    EXPECT_EQ(method.work(0).bytes, 0u);
  }
  const double cube = 1e12;
  EXPECT_NEAR(find_method("lu").work(10000).elements_updated / cube, 1.0 / 3, 1e-3);
  EXPECT_NEAR(find_method("lu").work(10000).bytes / cube, 16.0 / 3, 1e-2);
  EXPECT_NEAR(find_method("gauss-jordan").work(10000).elements_updated / cube, 0.5, 1e-3);
  EXPECT_NEAR(find_method("gauss-jordan").work(10000).bytes / cube, 8, 1e-2);
}

// The baselines on the host; rivals_test.cpp has those on a device.

struct BaselineKind {
  const Baseline* baseline;
  Precision precision;
};

void PrintTo(const BaselineKind& kind, std::ostream* out) {
  *out << kind.baseline->name << "_" << name(kind.precision);
}

std::vector<BaselineKind> baseline_kinds() {
  std::vector<BaselineKind> kinds;
  for (const Baseline& baseline : baselines()) {
    if (baseline.on_device || baseline.in_processes) continue;
    kinds.push_back({&baseline, Precision::single_precision});
    kinds.push_back({&baseline, Precision::double_precision});
  }
  return kinds;
}

class Baselines : public testing::TestWithParam<BaselineKind> {
 protected:
  Solved solve(const Matrix& a, const Matrix& b) {
    const Problem problem = problem_of(a.rows(), b.cols(), pivot, precision, Storage::buffer);
    return run(*GetParam().baseline->make(problem), a, b);
  }

  const Pivot pivot = GetParam().baseline->pivot;
  const Precision precision = GetParam().precision;
  const double eps = epsilon(precision);
};

INSTANTIATE_TEST_SUITE_P(All, Baselines, testing::ValuesIn(baseline_kinds()),
                         testing::PrintToStringParamName());

TEST_P(Baselines, PassTheChecks) {
  std::vector<std::string> kinds = {"random", "dominant",         "diagonal",     "upper",
                                    "lower",  "well-conditioned", "near-overflow"};
  // getc2 perturbs pivots below the safe minimum over eps, or below eps times the first.
  if (pivot != Pivot::full || precision == Precision::double_precision) {
    kinds.insert(kinds.end(), {"near-underflow", "ill-conditioned"});
  }
  for (const std::string& kind : kinds) {
    for (const std::size_t n : {1, 2, 3, 5, 10, 50, 132}) {
      for (const std::size_t nrhs : {0, 1, 15}) {
        SCOPED_TRACE(kind + ", n = " + std::to_string(n));
        const Matrix a = generate(kind, n, n), b = random_matrix(n, nrhs, n);
        const Solved solved = solve(a, b);
        expect_complete(solved.outcome, n, pivot);
        expect_passed(solved, a, b, eps);
        for (std::size_t k = 0; k < n; ++k) {
          EXPECT_EQ(solved.outcome.pivots[k], (*solved.lu)(k, k));
        }
      }
    }
  }
}

TEST_P(Baselines, AreLapack) {
  const Matrix a = generate("random", 65, 1);
  const Factors lapack = pivot == Pivot::full ? getc2(a, precision) : getrf(a, precision);
  const Solved solved = solve(a, Matrix(65, 1));
  EXPECT_EQ(solved.outcome.ipiv, lapack.ipiv);
  EXPECT_EQ(solved.outcome.jpiv, lapack.jpiv);
  EXPECT_TRUE(equal(*solved.lu, lapack.lu));
}

TEST_P(Baselines, ExactExamples) {
  const Example example = three_by_three(pivot);
  const Matrix x = matrix({{1, -1, 0}, {2, 0, 0}, {3, 2, 8}});
  const Solved solved = solve(example.a, product(example.a, x));
  EXPECT_EQ(solved.outcome.ipiv, example.ipiv);
  EXPECT_EQ(solved.outcome.jpiv, example.jpiv);
  EXPECT_TRUE(equal(*solved.lu, example.lu));
  EXPECT_EQ(solved.x.values(), x.values());
}

TEST_P(Baselines, AreRepeatable) {
  const Matrix a = generate("random", 65, 1), b = random_matrix(65, 3, 1);
  const Problem problem = problem_of(65, 3, pivot, precision, Storage::buffer);
  const auto solver = GetParam().baseline->make(problem);
  const Solved first = run(*solver, a, b);
  solver->reset();
  const Solved second = run(*solver);
  EXPECT_TRUE(equal(*second.lu, *first.lu));
  EXPECT_TRUE(equal(second.x, first.x));
}

TEST_P(Baselines, FindTheZeroPivot) {
  for (const std::size_t n : {1, 2, 10, 65}) {
    const Matrix a = generate("zero-last-column", n, 1);
    EXPECT_EQ(solve(a, Matrix(n, 1)).outcome.info, static_cast<int>(n));
  }
}

// gesc2 solves A X = scale B with scale = 1/2 here, so near underflow: X must be B's, not scale
// B's.
TEST_P(Baselines, SolutionIsNotScaled) {
  const double least = precision == Precision::double_precision ? 0x1p-970 : 0x1p-103;
  Matrix a(2, 2);
  a(0, 0) = a(1, 1) = least;
  const Solved solved = solve(a, matrix({{1, 2}, {1, -1}}));
  ASSERT_EQ(solved.outcome.info, 0);
  EXPECT_TRUE(equal(solved.x, matrix({{1 / least, 2 / least}, {1 / least, -1 / least}})));
}

TEST(BaselineTable, IsFoundByName) {
  for (const Baseline& baseline : baselines()) {
    EXPECT_EQ(&find_baseline(baseline.name), &baseline);
  }
  try {
    find_baseline("cramer");
    FAIL() << "nothing was thrown";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("cramer"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("getc2"), std::string::npos);
  }
}

TEST(BlasThreads, AreSetAndChecked) {
  const int before = blas_threads();
  set_blas_threads(1);
  EXPECT_EQ(blas_threads(), 1);
  EXPECT_THROW(set_blas_threads(0), InputError);
  EXPECT_EQ(blas_threads(), 1);
  set_blas_threads(before);
}

TEST_P(Baselines, SolveNothing) {
  const Solved solved = solve(Matrix(0, 0), Matrix(0, 3));
  EXPECT_EQ(solved.outcome.info, 0);
  EXPECT_EQ(solved.x.rows(), 0u);
  EXPECT_EQ(solved.x.cols(), 3u);
}

}  // namespace
}  // namespace lugpu

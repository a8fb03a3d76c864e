// What is reported about the accuracy of X, and what improves it: condition and error bounds,
// refinement, mixed precision, equilibration, the determinant. Truth is LAPACK's on the host, or
// known exactly.
#include <lapacke.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>
#include <utility>

#include "accuracy/condition.hpp"
#include "accuracy/determinant.hpp"
#include "accuracy/equilibrate.hpp"
#include "accuracy/error_bounds.hpp"
#include "accuracy/refine.hpp"
#include "base/error.hpp"
#include "bench/measure.hpp"
#include "conditioned.hpp"
#include "contenders.hpp"
#include "formats/formats.hpp"
#include "opencl_fixture.hpp"
#include "solve/methods.hpp"
#include "solve/system_solver.hpp"

namespace lugpu {
namespace {

constexpr double kEps = kEpsilonDouble;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Matrix diagonal(const std::vector<double>& d) {
  Matrix a(d.size(), d.size());
  for (std::size_t i = 0; i < d.size(); ++i) a(i, i) = d[i];
  return a;
}

Matrix times_ones(const Matrix& a) {
  Matrix b(a.rows(), 1);
  for (std::size_t j = 0; j < a.cols(); ++j) {
    for (std::size_t i = 0; i < a.rows(); ++i) b(i, 0) += a(i, j);
  }
  return b;
}

double largest_difference(const Matrix& x, const Matrix& y) {
  double most = 0;
  for (std::size_t k = 0; k < x.values().size(); ++k) {
    most = larger(most, std::abs(x.values()[k] - y.values()[k]));
  }
  return most;
}

/// LAPACK's factors in double.
class HostFactors {
 public:
  explicit HostFactors(Matrix a) : lu_(std::move(a)), ipiv_(lu_.rows()) {
    const int n = static_cast<int>(lu_.rows());
    LAPACKE_dgetrf(LAPACK_COL_MAJOR, n, n, lu_.values().data(), lu_.ld(), ipiv_.data());
  }
  void solve(Matrix& x, Op op) const {
    LAPACKE_dgetrs(LAPACK_COL_MAJOR, op == Op::none ? 'N' : 'T', static_cast<int>(lu_.rows()),
                   static_cast<int>(x.cols()), lu_.values().data(), lu_.ld(), ipiv_.data(),
                   x.values().data(), x.ld());
  }
  ApplyInverse inverse() const {
    return [this](Matrix& x, Op op) { solve(x, op); };
  }
  Matrix explicit_inverse() const {
    Matrix x = identity(lu_.rows());
    solve(x, Op::none);
    return x;
  }

 private:
  Matrix lu_;
  std::vector<lapack_int> ipiv_;
};

/// LAPACK's factors in single precision.
ApplyInverse single_inverse(const Matrix& a) {
  const int n = static_cast<int>(a.rows());
  std::vector<float> lu(a.values().begin(), a.values().end());
  std::vector<lapack_int> ipiv(a.rows());
  LAPACKE_sgetrf(LAPACK_COL_MAJOR, n, n, lu.data(), a.ld(), ipiv.data());
  return [lu, ipiv, n](Matrix& x, Op op) {
    std::vector<float> y(x.values().begin(), x.values().end());
    LAPACKE_sgetrs(LAPACK_COL_MAJOR, op == Op::none ? 'N' : 'T', n, static_cast<int>(x.cols()),
                   lu.data(), x.ld(), ipiv.data(), y.data(), x.ld());
    x.values().assign(y.begin(), y.end());
  };
}

double true_rcond(const Matrix& a) {
  return 1 / norm_1(a) / norm_1(HostFactors(a).explicit_inverse());
}

Problem problem_of(const Matrix& a, const Matrix& b, Pivot pivot, Precision precision,
                   Refine refine = Refine::none) {
  Problem problem = problem_of(a.rows(), b.cols(), pivot, precision);
  problem.dense.schedule = Schedule::fused;
  problem.solve.refine = refine;
  return problem;
}

struct Measured {
  Result result;
  Answers answers;
};

/// With the check of the factors if it is `thorough`.
Measured solve(const std::string& method, const Problem& asked, const Matrix& a, const Matrix& b,
               bool thorough = false) {
  Measured measured;
  const Method& found = find_method(method);
  DeviceContext& context = shared_context();
  Case what;
  what.implementation = "lugpu";
  what.routine = method;
  what.problem = completed(asked, found, context.device(), std::nullopt, 0, {});
  what.device = context.device().name;
  what.problem.solve.determinant = what.problem.solve.inverse = true;
  if (thorough) {
    measured.result = measure(context, found, what, a, b,
                              {.warmup = 0, .runs = 0, .min_time_s = 0, .timeout_s = 300});
  } else {
    measured.result = solve_once(context, found, what, a, b, measured.answers);
  }
  return measured;
}

std::string warnings_of(const Result& result) {
  return std::accumulate(result.warnings.begin(), result.warnings.end(), std::string());
}

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// --- lacn2 and gecon

TEST(EstimateNorms, IsALowerBoundThatIsSeldomFarOff) {
  for (const std::size_t n : {1, 2, 3, 10, 40}) {
    std::vector<Matrix> m;
    for (std::uint64_t seed = 0; seed < 20; ++seed) m.push_back(random_matrix(n, n, seed));
    const ApplyOperators apply = [&](Matrix& x, const std::vector<std::size_t>& which, Op op) {
      for (std::size_t c = 0; c < which.size(); ++c) {
        const Matrix& a = m[which[c]];
        const std::vector<double> from(x.column(c), x.column(c) + n);
        for (std::size_t i = 0; i < n; ++i) {
          x(i, c) = 0;
          for (std::size_t j = 0; j < n; ++j) {
            x(i, c) += (op == Op::none ? a(i, j) : a(j, i)) * from[j];
          }
        }
      }
    };
    const std::vector<double> norms = estimate_norms_1(n, m.size(), apply);
    ASSERT_EQ(norms.size(), m.size());
    for (std::size_t k = 0; k < m.size(); ++k) {
      EXPECT_LE(norms[k], norm_1(m[k]) * (1 + 1e-14)) << n << " " << k;
      EXPECT_GE(norms[k], norm_1(m[k]) / 3) << n << " " << k;
    }
  }
}

// M = v v' with v = (0, 1, -1, 0): M times ones is zero, and so is the column that the signs of
// that lead to. Only the last, alternating vector sees anything: 2 ||M x||_1 / (3 n) = 2 6 / 12.
TEST(EstimateNorms, IsNotDeceivedByZeros) {
  const ApplyOperators apply = [](Matrix& x, const std::vector<std::size_t>&, Op) {
    const double product = x(1, 0) - x(2, 0);
    x = matrix({{0}, {product}, {-product}, {0}});
  };
  EXPECT_DOUBLE_EQ(estimate_norms_1(4, 1, apply)[0], 1);
}

TEST(EstimateNorms, EndsWhateverTheProducts) {
  for (const double value : {kNaN, kInfinity, 0.0}) {
    int products = 0;
    const auto norms = estimate_norms_1(7, 3, [&](Matrix& x, const auto&, Op) {
      ++products;
      std::fill(x.values().begin(), x.values().end(), value);
    });
    EXPECT_EQ(norms, std::vector<double>(3, value == 0 ? 0.0 : kInfinity));
    EXPECT_LE(products, 12);
  }
  EXPECT_EQ(estimate_norms_1(0, 2, [](Matrix&, const auto&, Op) {}), std::vector<double>(2, 0.0));
}

TEST(Rcond, OfHilbertMatricesIsAsPublished) {
  // Condition numbers in the 1-norm, from the exact inverses.
  const std::vector<std::pair<std::size_t, double>> known = {
      {2, 27}, {3, 748}, {4, 28375}, {5, 943656}, {6, 29070279}};
  for (const auto& [n, condition] : known) {
    const Matrix a = generate("hilbert", n, 1);
    const HostFactors factors(a);
    const double rcond = estimate_condition(a, kEps, factors.inverse()).rcond.value();
    EXPECT_GT(rcond * condition, 0.999) << n;
    EXPECT_LT(rcond * condition, 3) << n;
  }
}

TEST(Rcond, IsCloseToTheTrueValueOnTheDevice) {
  for (const char* method : {"lu", "lu-blocked"}) {
    for (const char* kind : {"random", "dominant", "hilbert", "kahan", "graded", "ill-conditioned",
                             "very-ill-conditioned", "near-underflow", "near-overflow"}) {
      for (const std::size_t n : {1, 2, 5, 9, 50, 132}) {
        if (std::string(kind) == "hilbert" && n > 9) continue;  // singular but for rounding
        const Matrix a = generate(kind, n, 3), b = times_ones(a);
        const Result result =
            solve(method, problem_of(a, b, Pivot::partial, Precision::double_precision), a, b)
                .result;
        const double exact = true_rcond(a);
        SCOPED_TRACE(method + std::string(" ") + kind + " " + std::to_string(n));
        ASSERT_TRUE(result.checks.rcond.has_value() || exact < 1e-13);
        if (!result.checks.rcond) {
          EXPECT_LT(result.checks.rcond_at_most.value(), 1e-12);
          continue;
        }
        EXPECT_LT(*result.checks.rcond, 10 * exact);
        EXPECT_GT(*result.checks.rcond, exact / 10);
      }
    }
  }
}

// A matrix whose condition is n times as large in the infinity-norm as in the 1-norm, and its
// transpose.
TEST(Rcond, OfResultsIsOfTheOneNorm) {
  const std::size_t n = 64;
  Matrix a = identity(n);
  for (std::size_t j = 1; j < n; ++j) a(0, j) = 1;  // and inv(A) has -1 there
  const double wide = 1.0 / 4, tall = 1.0 / (static_cast<double>(n) * static_cast<double>(n));
  for (const auto& [matrix, expected] : {std::pair(a, wide), std::pair(transposed(a), tall)}) {
    const Matrix b = times_ones(matrix);
    for (const char* method : {"lu", "lu-blocked", "gauss-jordan"}) {
      const Problem problem = problem_of(matrix, b, Pivot::partial, Precision::double_precision);
      for (const bool thorough : {false, true}) {
        if (method == std::string("gauss-jordan") && !thorough) continue;  // by its inverse alone
        const Checks checks = solve(method, problem, matrix, b, thorough).result.checks;
        EXPECT_DOUBLE_EQ(checks.rcond.value(), expected) << method << " " << thorough;
      }
    }
  }
}

TEST(Rcond, InSinglePrecisionTakesAnyScale) {
  for (const char* method : {"lu", "lu-blocked"}) {
    for (const char* kind : {"well-conditioned", "near-underflow", "near-overflow"}) {
      const Matrix a = generate(kind, 40, 3), b = times_ones(a);
      const Problem problem = problem_of(a, b, Pivot::partial, Precision::single_precision);
      const Checks checks = solve(method, problem, a, b).result.checks;
      EXPECT_NEAR(checks.rcond.value() / true_rcond(a), 1, 2) << method << " " << kind;
      EXPECT_GT(checks.rcond.value(), true_rcond(a) * 0.99);
      EXPECT_LT(checks.ferr.at(0), 1e-3) << method << " " << kind;
    }
  }
}

// inv(A) e overflows single precision unless e is scaled to the size of A.
TEST(Rcond, OfAnInverseThatOverflowsSingle) {
  const double s = 0x1p-120, c = 511;
  const Matrix a = matrix({{s, -c * s}, {0, s}}), b = times_ones(a);
  for (const char* method : {"lu", "lu-blocked"}) {
    const Problem problem = problem_of(a, b, Pivot::partial, Precision::single_precision);
    EXPECT_DOUBLE_EQ(solve(method, problem, a, b).result.checks.rcond.value(), 0x1p-18) << method;
  }
}

TEST(Rcond, OfNoMatrixOrNoNumbers) {
  const auto never = [](Matrix&, Op) { FAIL(); };
  EXPECT_EQ(estimate_condition(Matrix(), kEps, never).rcond, 1);
  EXPECT_EQ(estimate_condition(matrix({{0, 0}, {0, 0}}), kEps, never).rcond, 0);
  EXPECT_EQ(estimate_condition(matrix({{1, kNaN}, {0, 1}}), kEps, never).rcond, std::nullopt);
  EXPECT_EQ(estimate_condition(matrix({{1, kInfinity}, {0, 1}}), kEps, never).rcond, std::nullopt);
  const auto overflow = [](Matrix& x, Op) { x(0, 0) = kInfinity; };
  EXPECT_EQ(estimate_condition(identity(3), kEps, overflow).rcond, std::nullopt);
}

TEST(Rcond, IsOfTheOneNorm) {
  const Matrix a = matrix({{1, 1, 1}, {0, 1, 0}, {0, 0, 1}});
  ASSERT_EQ(norm_1(a) * norm_1(HostFactors(a).explicit_inverse()), 4);
  ASSERT_EQ(norm_inf(a) * norm_inf(HostFactors(a).explicit_inverse()), 9);
  EXPECT_NEAR(estimate_condition(a, kEps, HostFactors(a).inverse()).rcond.value(), 1.0 / 4, 1e-15);
}

TEST(Rcond, IsNotKnownFromFactorsOfAnotherMatrix) {
  const Matrix a = with_condition(30, 1e3, 5);
  ASSERT_TRUE(estimate_condition(a, kEps, HostFactors(a).inverse()).rcond);
  Matrix other = a;
  for (double& value : other.values()) value *= 1.5;
  const Condition wrong = estimate_condition(a, kEps, HostFactors(other).inverse());
  EXPECT_FALSE(wrong.rcond);
  EXPECT_GE(wrong.at_most, true_rcond(a));
}

TEST(Rcond, IsNotKnownBelowTheRoundOffOfTheFactors) {
  const Matrix a = with_condition(30, 1e10, 5);
  EXPECT_TRUE(estimate_condition(a, kEpsilonDouble, HostFactors(a).inverse()).rcond);
  const Condition in_single = estimate_condition(a, kEpsilonSingle, HostFactors(a).inverse());
  EXPECT_FALSE(in_single.rcond);
  EXPECT_GE(in_single.at_most, true_rcond(a));
  EXPECT_LT(in_single.at_most, 100 * true_rcond(a));
}

// --- solving again with the factors of a method

struct FactorsKind {
  const Method* method;
  Pivot pivot;
  SurfaceKind surface;
};

void PrintTo(const FactorsKind& kind, std::ostream* out) {
  std::string text = kind.method->name;
  std::replace(text.begin(), text.end(), '-', '_');
  *out << text << "_" << name(kind.pivot) << "_" << name(kind.surface);
}

std::vector<FactorsKind> factors_kinds() {
  std::vector<FactorsKind> kinds;
  for (const Method& method : methods()) {
    if (!method.keeps_factors) continue;
    for (const Pivot pivot : method.pivots()) {
      for (const SurfaceKind& surface : all_kinds()) {
        const bool packed_buffer =
            surface.storage == Storage::buffer && surface.texel == Texel::rgba;
        if (method.block_size && packed_buffer) continue;
        kinds.push_back({&method, pivot, surface});
      }
    }
  }
  return kinds;
}

class Factors : public testing::TestWithParam<FactorsKind> {
 protected:
  void SetUp() override {
    const std::string missing = missing_on(handle_of(context.device()), GetParam().surface);
    if (!missing.empty()) GTEST_SKIP() << missing;
  }
  DeviceContext& context = shared_context();
};

TEST_P(Factors, SolveAgainPlainAndTransposed) {
  const auto& [method, pivot, surface] = GetParam();
  for (const std::size_t n : {0, 1, 2, 3, 31, 32, 33, 65, 132}) {
    const Matrix a = random_in(surface.precision, n, n, 7);
    Matrix shifted = a;  // dominant without pivoting
    if (pivot == Pivot::none) {
      for (std::size_t i = 0; i < n; ++i) shifted(i, i) += static_cast<double>(n);
    }
    Problem problem = problem_of(n, 1, pivot, surface.precision, surface.storage, surface.texel);
    problem.dense.schedule = Schedule::fused;
    problem.dense.nb =
        method->block_size ? method->block_size(context.device(), problem.size, problem.dense) : 0;
    const auto solver = method->make(context, problem.size, problem.dense);
    solver->upload(shifted, Matrix(n, 1));
    solver->factor();
    ASSERT_EQ(solver->outcome().info, 0);
    for (const std::size_t columns : {1, 3, 70}) {
      const Matrix b = random_in(surface.precision, n, columns, 9);
      for (const Op op : {Op::none, Op::transpose}) {
        Matrix x = b;
        solver->apply_inverse(x, op);
        ASSERT_EQ(x.cols(), columns);
        EXPECT_LT(solve_ratio(op == Op::none ? shifted : transposed(shifted), x, b,
                              epsilon(surface.precision)),
                  kSolveRatioLimit)
            << n << " x " << columns << (op == Op::none ? "" : " transposed");
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryKind, Factors, testing::ValuesIn(factors_kinds()),
                         testing::PrintToStringParamName());

// --- gerfs

TEST(BackwardError, IsTheDefinition) {
  const Matrix a = matrix({{1, -2}, {0, 4}}), b = matrix({{1}, {2}});
  const Matrix x = matrix({{2.5}, {0.5}});
  // r = (1 - 1.5, 2 - 2), |A| |x| + |b| = (4.5, 4)
  EXPECT_EQ(backward_errors(residual(a, x, b), residual_sizes(a, x, b)),
            std::vector<double>{0.5 / 4.5});
  const Matrix zero(2, 1);
  EXPECT_EQ(backward_errors(residual(a, zero, zero), residual_sizes(a, zero, zero)),
            std::vector<double>{0});
  const Matrix bad = matrix({{kNaN}, {1}});
  EXPECT_TRUE(std::isnan(backward_errors(residual(a, bad, b), residual_sizes(a, bad, b))[0]));
}

// gerfs's safe1 = (n + 1) times the smallest normal number is added where |A| |x| + |b| is no more
// than safe2 = safe1 / eps, so that residuals of the size of rounding at underflow are not divided
// by almost zero.
TEST(BackwardError, IsGuardedNearUnderflow) {
  const double safe1 = 3 * std::numeric_limits<double>::min(), safe2 = safe1 / kEps;
  const auto error = [](double r, double size) {
    return backward_errors(matrix({{r}, {0}}), matrix({{size}, {1}}))[0];
  };
  EXPECT_EQ(error(safe1 / 2, safe1), 0.75);
  EXPECT_EQ(error(-safe1 / 2, safe1), 0.75);
  EXPECT_EQ(error(safe1, 0), 2);
  EXPECT_EQ(error(safe2 / 2, safe2), (safe2 / 2 + safe1) / (safe2 + safe1));
  EXPECT_NE(error(safe2 / 2, safe2), 0.5);
  EXPECT_EQ(error(safe2, 2 * safe2), 0.5);
  EXPECT_EQ(error(safe2 / 2, std::nextafter(safe2, 1.0)), (safe2 / 2) / std::nextafter(safe2, 1.0));
}

TEST(ForwardErrorBound, HoldsForPerturbedSolutions) {
  for (const char* kind : {"random", "graded", "ill-conditioned", "kahan"}) {
    const Matrix a = generate(kind, 40, 5);
    const HostFactors factors(a);
    const Matrix exact = random_matrix(40, 4, 8);
    const Matrix b = residual(a, exact, Matrix(40, 4));  // - A X
    for (const double size : {1e-14, 1e-8, 1e-2}) {
      const Matrix noise = random_matrix(40, 4, 99);
      Matrix x = exact;
      for (std::size_t k = 0; k < x.values().size(); ++k) {
        x.values()[k] = -x.values()[k] * (1 + size * noise.values()[k]);
      }
      const std::vector<double> bounds = forward_error_bounds(
          a, residual(a, x, b), residual_sizes(a, x, b), x, kEps, factors.inverse());
      for (std::size_t j = 0; j < 4; ++j) {
        double error = 0;
        for (std::size_t i = 0; i < 40; ++i)
          error = std::max(error, std::abs(x(i, j) + exact(i, j)));
        EXPECT_LE(error / column_norm_max(exact, j), bounds[j]) << kind << " " << size;
        EXPECT_TRUE(std::isfinite(bounds[j])) << kind << " " << size;
      }
    }
  }
}

TEST(ForwardErrorBound, WithoutABoundIsInfinite) {
  const HostFactors factors(identity(2));
  const Matrix a = identity(2), b = matrix({{1}, {2}});
  const auto bound = [&](const Matrix& x, const Matrix& right) {
    return forward_error_bounds(a, residual(a, x, right), residual_sizes(a, x, right), x, kEps,
                                factors.inverse())[0];
  };
  EXPECT_EQ(bound(Matrix(2, 1), Matrix(2, 1)), 0);
  EXPECT_EQ(bound(Matrix(2, 1), b), kInfinity);  // relative to X = 0
  EXPECT_EQ(bound(matrix({{kNaN}, {1}}), b), kInfinity);
  EXPECT_GT(bound(b, b), 0);
  EXPECT_LT(bound(b, b), 1e-14);
}

TEST(ErrorBounds, HoldForEveryStoredMatrix) {
  const std::filesystem::path folder = LUGPU_SOURCE_DIR "/tests/data/good";
  int matrices = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const Matrix a = read_matrix(entry.path().string());
    const Matrix b = times_ones(a);
    ++matrices;
    for (const char* method : {"lu", "lu-blocked"}) {
      for (const auto& [precision, refine] :
           {std::pair(Precision::single_precision, Refine::none),
            std::pair(Precision::double_precision, Refine::none),
            std::pair(Precision::double_precision, Refine::fixed),
            std::pair(Precision::single_precision, Refine::mixed)}) {
        const auto [result, answers] =
            solve(method, problem_of(a, b, Pivot::partial, precision, refine), a, b);
        ASSERT_EQ(result.status, RunStatus::ok) << entry.path() << ": " << result.reason;
        const Matrix& x = answers.x;
        EXPECT_LE(largest_difference(x, filled(a.rows(), 1, 1)) / column_norm_max(x, 0),
                  result.checks.ferr.at(0))
            << entry.path() << " " << method << " " << name(precision);
        if (refine == Refine::mixed) continue;  // normwise accurate
        const double eps = epsilon(precision);
        EXPECT_LT(result.checks.berr.at(0), 100 * static_cast<double>(a.rows()) * eps)
            << entry.path();
      }
    }
  }
  EXPECT_GE(matrices, 9);
}

TEST(Singular, StoredMatricesAreRefusedOrFlagged) {
  const std::filesystem::path folder = LUGPU_SOURCE_DIR "/tests/data/singular";
  int matrices = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const Matrix a = read_matrix(entry.path().string());
    const Matrix b = times_ones(a);
    ++matrices;
    for (const Refine refine : {Refine::none, Refine::fixed, Refine::mixed}) {
      const Precision precision =
          refine == Refine::mixed ? Precision::single_precision : Precision::double_precision;
      const Result result =
          solve("lu-blocked", problem_of(a, b, Pivot::partial, precision, refine), a, b).result;
      EXPECT_TRUE(result.checks.info > 0 || mentions(warnings_of(result), "A is ill-conditioned"))
          << entry.path() << " " << result.checks.rcond.value_or(-1) << warnings_of(result);
      if (result.checks.info > 0) {
        EXPECT_EQ(result.status, RunStatus::failed);
        EXPECT_EQ(result.checks.rcond, std::nullopt);
        EXPECT_EQ(result.determinant.value().mantissa, 0);
      }
    }
  }
  EXPECT_GE(matrices, 7);
}

// --- refinement

TEST(Refine, LowersTheBackwardErrorToEps) {
  for (const char* kind : {"random", "graded", "ill-conditioned", "kahan"}) {
    for (const Precision precision : {Precision::single_precision, Precision::double_precision}) {
      const Matrix a = rounded_to(precision, generate(kind, 100, 5));
      const Matrix b = random_in(precision, 100, 3, 6);
      const auto plain = solve("lu-blocked", problem_of(a, b, Pivot::partial, precision), a, b);
      const auto refined =
          solve("lu-blocked", problem_of(a, b, Pivot::partial, precision, Refine::fixed), a, b);
      for (std::size_t j = 0; j < 3; ++j) {
        const double before = plain.result.checks.berr.at(j);
        const double after = refined.result.checks.berr.at(j);
        EXPECT_LE(after, std::min(before, 4 * epsilon(precision))) << kind << " " << j;
      }
      EXPECT_LE(refined.result.refinement.value().steps, 5);
    }
  }
}

TEST(Refine, MakesUpForPivotGrowth) {
  const Matrix a = generate("wilkinson", 60, 1), b = random_matrix(60, 1, 2);
  const Problem problem = problem_of(a, b, Pivot::partial, Precision::double_precision);
  const Result plain = solve("lu", problem, a, b).result;
  EXPECT_EQ(plain.status, RunStatus::failed);
  EXPECT_TRUE(mentions(plain.reason, "use --pivot full")) << plain.reason;
  const Result refined =
      solve("lu", problem_of(a, b, Pivot::partial, Precision::double_precision, Refine::fixed), a,
            b)
          .result;
  EXPECT_EQ(refined.status, RunStatus::ok) << refined.reason;
  EXPECT_GE(refined.refinement.value().steps, 1);
  EXPECT_FALSE(mentions(warnings_of(refined), "growth")) << warnings_of(refined);
  const Result full =
      solve("lu", problem_of(a, b, Pivot::full, Precision::double_precision), a, b).result;
  EXPECT_EQ(full.status, RunStatus::ok);
  EXPECT_FALSE(mentions(warnings_of(full), "growth"));
}

TEST(Refine, NeverMakesAColumnWorse) {
  // An inverse that is not one.
  const Matrix a = random_matrix(20, 20, 1), b = random_matrix(20, 2, 2);
  const HostFactors factors(a);
  Matrix x = b;
  factors.solve(x, Op::none);
  const Matrix before = x;
  refine(a, b, x, Precision::double_precision, [](Matrix& y, Op) {
    for (double& value : y.values()) value *= 1e9;
  });
  EXPECT_TRUE(equal(x, before));
  refine(a, b, x, Precision::double_precision, [](Matrix& y, Op) { y(0, 0) = kNaN; });
  EXPECT_TRUE(equal(x, before));
}

TEST(Refine, OfASystemThatHoldsNoNumbers) {
  Matrix a = random_matrix(5, 5, 1);
  const Matrix b = random_matrix(5, 1, 2);
  for (const double value : {kNaN, kInfinity}) {
    a(2, 3) = value;
    for (const Refine refine : {Refine::none, Refine::fixed, Refine::mixed}) {
      const Precision precision =
          refine == Refine::mixed ? Precision::single_precision : Precision::double_precision;
      const Result result =
          solve("lu-blocked", problem_of(a, b, Pivot::partial, precision, refine), a, b).result;
      EXPECT_EQ(result.status, RunStatus::failed);
    }
  }
}

TEST(Refine, NeedsFactors) {
  const Matrix a = random_matrix(5, 5, 1), b = random_matrix(5, 1, 2);
  for (const Refine refine : {Refine::fixed, Refine::mixed}) {
    try {
      solve("gauss-jordan", problem_of(a, b, Pivot::partial, Precision::single_precision, refine),
            a, b);
      FAIL();
    } catch (const Unsupported& error) {
      EXPECT_TRUE(mentions(error.what(), "gauss-jordan keeps no factors")) << error.what();
    }
  }
}

// X = 1 by corrections of `share` times the error, a share for each row: A and B are known to be
// the identity and ones.

ApplyInverse inverse_by_shares(const std::vector<double>& shares) {
  return [shares](Matrix& x, Op) {
    for (std::size_t j = 0; j < x.cols(); ++j) {
      for (std::size_t i = 0; i < x.rows(); ++i) x(i, j) *= shares[i];
    }
  };
}

/// X after refine(), column j of which is 1 but for an error of 2^-10 in row j.
Matrix refined_by(const std::vector<double>& shares, int steps,
                  Precision precision = Precision::double_precision) {
  const std::size_t n = shares.size();
  Matrix x = filled(n, n, 1);
  for (std::size_t j = 0; j < n; ++j) x(j, j) -= 0x1p-10;
  const Refinement report =
      refine(identity(n), filled(n, n, 1), x, precision, inverse_by_shares(shares));
  EXPECT_EQ(report.steps, steps);
  EXPECT_TRUE(report.converged);
  return x;
}

TEST(Refine, TakesFiveStepsAtMost) {
  EXPECT_EQ(refined_by({0.75}, 5)(0, 0), 1 - 0x1p-20);
}

TEST(Refine, StopsAtEpsilon) {
  EXPECT_EQ(refined_by({1}, 1)(0, 0), 1);
  // An error of 2^-10, 2^-26, 2^-42, 2^-58.
  EXPECT_EQ(refined_by({1 - 0x1p-16}, 3)(0, 0), 1);
  Matrix x = matrix({{1 - 4 * kEps}});
  const ApplyInverse exact = inverse_by_shares({1});
  EXPECT_EQ(refine(identity(1), filled(1, 1, 1), x, Precision::double_precision, exact).steps, 1);
  // At eps there is no step, however good it would be.
  x(0, 0) = 1 - kEps;
  const auto never = [](Matrix&, Op) { FAIL(); };
  EXPECT_EQ(refine(identity(1), filled(1, 1, 1), x, Precision::double_precision, never).steps, 0);
  x(0, 0) = 1 - kEpsilonSingle;
  EXPECT_EQ(refine(identity(1), filled(1, 1, 1), x, Precision::single_precision, never).steps, 0);
}

TEST(Refine, GoesOnWhileAStepHalvesTheError) {
  EXPECT_EQ(refined_by({0.375}, 1)(0, 0), 1 - 0x1p-10 * 0.625);  // still an improvement
  EXPECT_EQ(refined_by({2.5}, 1)(0, 0), 1 - 0x1p-10);            // worse
  EXPECT_EQ(refined_by({0.5625}, 5)(0, 0), 1 - 0x1p-10 * std::pow(0.4375, 5));
}

TEST(Refine, GoesOnWithThoseColumnsAlone) {
  const Matrix x = refined_by({0.375, 0.75, 1, 2.5}, 5);
  EXPECT_EQ(x(0, 0), 1 - 0x1p-10 * 0.625);
  EXPECT_EQ(x(1, 1), 1 - 0x1p-20);
  EXPECT_EQ(x(2, 2), 1);
  EXPECT_EQ(x(3, 3), 1 - 0x1p-10);
}

TEST(Refine, RoundsToItsPrecision) {
  // 1 - 2^-20 2^-10 is 1 in single.
  EXPECT_EQ(refined_by({1 - 0x1p-20}, 1, Precision::single_precision)(0, 0), 1);
  EXPECT_EQ(refined_by({1 - 0x1p-14}, 1, Precision::single_precision)(0, 0), 1 - 0x1p-24);
}

// --- mixed precision

TEST(Mixed, ReachesDoublesAccuracy) {
  for (const char* method : {"lu", "lu-blocked"}) {
    for (const std::size_t n : {1, 2, 33, 200, 500}) {
      const Matrix a = generate("random", n, 11), b = random_matrix(n, 3, 12);
      const auto [result, answers] =
          solve(method,
                problem_of(a, b, Pivot::partial, Precision::single_precision, Refine::mixed), a, b);
      ASSERT_EQ(result.status, RunStatus::ok) << result.reason;
      EXPECT_TRUE(result.refinement.value().converged);
      EXPECT_EQ(result.refinement.value().fallback, "");
      EXPECT_LE(result.refinement.value().steps, 6);
      EXPECT_LT(result.checks.solve_ratio.value(), kSolveRatioLimit);  // with double's eps
      Matrix exact = b;
      HostFactors(a).solve(exact, Op::none);
      ASSERT_EQ(result.checks.ferr.size(), 3u);
      for (const double bound : result.checks.ferr) EXPECT_LT(bound, 1e-8);
      EXPECT_LT(largest_difference(answers.x, exact), 1e-10 * norm_max(exact));
    }
  }
}

// As many bytes as `problem` needs on the device at least, all of A being there at once.
std::uint64_t least_memory(Device device, const Method& method, const Problem& problem) {
  std::uint64_t too_few = 0, enough = device.global_memory;
  while (enough - too_few > 1) {
    device.global_memory = too_few + (enough - too_few) / 2;
    const Size size = Size::square(problem.size.n, 0);
    const bool fits = has_room_beside(device, method, size, problem.dense, 0);
    (fits ? enough : too_few) = device.global_memory;
  }
  return enough;
}

TEST(Mixed, HasItsResidualsOnTheDeviceWhereThereIsRoom) {
  const Matrix a = generate("random", 60, 11), b = random_matrix(60, 3, 12);
  const Problem problem =
      problem_of(a, b, Pivot::partial, Precision::single_precision, Refine::mixed);
  for (const char* name : {"lu", "lu-blocked"}) {
    const Method& method = find_method(name);
    const Device& whole = shared_context().device();
    const auto expect = [&](bool on_device, const Device& device) {
      DeviceContext context(device);
      const auto solver =
          make_contender(context, method, completed(problem, method, device, std::nullopt, 0, {}));
      solver->upload(a, b);
      solver->factor();
      solver->solve();
      const Refinement report = solver->refinement().value();
      EXPECT_EQ(report.residuals_on_device, on_device) << name;
      EXPECT_TRUE(report.converged);
      EXPECT_EQ(report.fallback, "");
      EXPECT_LT(solve_ratio(a, solver->download(), b, kEps), kSolveRatioLimit);
    };
    expect(true, whole);
    Device part = whole;
    part.double_precision = false;
    expect(false, part);
    part = whole;
    part.max_allocation = 60 * 60 * sizeof(double) - 1;
    expect(false, part);
    part = whole;
    const Problem complete = completed(problem, method, whole, std::nullopt, 0, {});
    part.global_memory = least_memory(whole, method, complete) + bytes_of_refinement(60, 3);
    expect(true, part);
    --part.global_memory;
    expect(false, part);
  }
}

// Falling back makes room, and the next run has its residuals on the device again.
TEST(Mixed, FallsBackAsOftenAsItRuns) {
  const Matrix a = with_condition(200, 1e12, 4), b = times_ones(a);
  const Method& method = find_method("lu-blocked");
  const auto solver = make_contender(
      shared_context(), method,
      completed(problem_of(a, b, Pivot::partial, Precision::single_precision, Refine::mixed),
                method, shared_context().device(), std::nullopt, 0, {}));
  solver->upload(a, b);
  Matrix first;
  for (int run = 0; run < 2; ++run) {
    if (run > 0) solver->reset();
    solver->factor();
    solver->solve();
    EXPECT_TRUE(mentions(solver->refinement().value().fallback, "did not converge"));
    EXPECT_LT(solve_ratio(a, solver->download(), b, kEps), kSolveRatioLimit);
    if (run == 0) first = solver->download();
  }
  EXPECT_TRUE(equal(solver->download(), first));
}

TEST(Mixed, OfNothing) {
  const Matrix none;
  const Result result = solve("lu-blocked",
                              problem_of(none, Matrix(0, 1), Pivot::partial,
                                         Precision::single_precision, Refine::mixed),
                              none, Matrix(0, 1))
                            .result;
  EXPECT_EQ(result.status, RunStatus::ok) << result.reason;
  EXPECT_EQ(result.checks.rcond, 1);
  EXPECT_EQ(result.checks.berr, std::vector<double>{0});
  EXPECT_EQ(result.determinant.value().mantissa, 1);
}

TEST(Mixed, FallsBackToDoubleAndSaysSo) {
  const Matrix a = with_condition(200, 1e12, 4), b = times_ones(a);
  const auto [result, answers] =
      solve("lu-blocked",
            problem_of(a, b, Pivot::partial, Precision::single_precision, Refine::mixed), a, b);
  EXPECT_EQ(result.status, RunStatus::ok) << result.reason;
  EXPECT_FALSE(result.refinement.value().converged);
  EXPECT_TRUE(mentions(result.refinement.value().fallback, "did not converge"));
  EXPECT_TRUE(mentions(warnings_of(result), "factored in double")) << warnings_of(result);
  EXPECT_LE(largest_difference(answers.x, filled(200, 1, 1)), result.checks.ferr.at(0));
}

// Overflows it; and is singular in it. Scaled as it then is, it is neither.
TEST(Mixed, EquilibratesWhatSinglePrecisionCannotHold) {
  for (const double value : {1e300, 1e-300}) {
    const Matrix a = matrix({{value, 0}, {1, 2}}), b = matrix({{value}, {3}});
    const auto [result, answers] =
        solve("lu-blocked",
              problem_of(a, b, Pivot::none, Precision::single_precision, Refine::mixed), a, b);
    EXPECT_EQ(result.status, RunStatus::ok) << result.reason;
    EXPECT_EQ(result.refinement.value().fallback, "");
    EXPECT_EQ(result.refinement.value().factors, FactorArithmetic::single_precision);
    EXPECT_TRUE(result.equilibration.value().helps());
    for (const double x : answers.x.values()) EXPECT_NEAR(x, 1, 4 * kEpsilonDouble);
  }
}

TEST(Mixed, FallsBackWhereSinglePrecisionCannotFactor) {
  const Matrix a = matrix({{1, 1}, {1, 1 + 0x1p-40}}), b = matrix({{2}, {2 + 0x1p-40}});
  const auto [result, answers] =
      solve("lu-blocked",
            problem_of(a, b, Pivot::partial, Precision::single_precision, Refine::mixed), a, b);
  EXPECT_EQ(result.status, RunStatus::ok) << result.reason;
  const Refinement& refinement = result.refinement.value();
  EXPECT_TRUE(mentions(refinement.fallback, "exactly zero")) << refinement.fallback;
  EXPECT_EQ(refinement.factors, FactorArithmetic::double_precision);
  ASSERT_EQ(refinement.given_up.size(), 1u);
  EXPECT_EQ(refinement.given_up[0].factors, FactorArithmetic::single_precision);
  EXPECT_EQ(refinement.given_up[0].failure, refinement.fallback);
  EXPECT_FALSE(result.equilibration);
  for (const double x : answers.x.values()) EXPECT_EQ(x, 1);
}

TEST(Mixed, OfASingularMatrixIsSingular) {
  const Matrix a = generate("singular", 20, 1), b = random_matrix(20, 1, 1);
  const Result result =
      solve("lu-blocked",
            problem_of(a, b, Pivot::partial, Precision::single_precision, Refine::mixed), a, b)
          .result;
  EXPECT_EQ(result.status, RunStatus::failed);
  EXPECT_EQ(result.checks.info, 20);
  EXPECT_TRUE(mentions(result.reason, "A is singular: pivot 20")) << result.reason;
}

struct MixedByShares {
  Refinement report;
  Matrix x;
};

/// The inverse of the identity by solve_mixed(): the error of column j is in row j alone.
MixedByShares mixed_by(const std::vector<double>& shares, double a_norm_inf = 1) {
  const Matrix a = identity(shares.size());
  MixedByShares solved;
  const auto columns = host_columns(host_residual(a), a, inverse_by_shares(shares));
  solved.report = solve_mixed(*columns, a_norm_inf);
  solved.x = columns->solution();
  return solved;
}

// The residual of the first solution is what is too much of its share; max |x| ||A||_inf eps
// sqrt(16) is 2^-51 or, for a norm of 2^10, 2^-41.
TEST(Mixed, StopsAtDsgesvsTolerance) {
  const auto stops = [](std::size_t n, double excess, double norm) {
    const MixedByShares solved = mixed_by(std::vector<double>(n, 1 + excess), norm);
    EXPECT_TRUE(solved.report.converged);
    const double x = solved.x(0, 0);
    EXPECT_EQ(solved.report.steps, x == 1 + excess ? 0 : 1);
    EXPECT_TRUE(x == 1 + excess || std::abs(x - 1) < 3 * kEps) << x;
    return x == 1 + excess;
  };
  EXPECT_TRUE(stops(1, 0x1p-51, 1));
  EXPECT_FALSE(stops(1, 0x1p-50, 1));
  EXPECT_TRUE(stops(1, 0x1p-41, 0x1p10));
  EXPECT_FALSE(stops(1, 0x1p-40, 0x1p10));
  // 8 eps is at most 1.5 sqrt(64) eps, but not 1.5 sqrt(16) eps; and not 0.75 sqrt(100) eps, with
  // which orders above 100 must do too.
  EXPECT_TRUE(stops(64, 0x1p-50, 1.5));
  EXPECT_FALSE(stops(16, 0x1p-50, 1.5));
  EXPECT_FALSE(stops(256, 0x1p-50, 0.75));
}

// However far off the inverse is, the least residual of a column with one direction is none.
TEST(Mixed, GoesAsFarAsTheResidualShrinks) {
  for (const double share : {0.375, 0.75, 2.5, -3.0}) {
    const MixedByShares solved = mixed_by({1, share, 1, share});
    EXPECT_TRUE(solved.report.converged) << share;
    EXPECT_EQ(solved.report.steps, 2) << share;  // the second one shows it
    EXPECT_TRUE(equal(solved.x, identity(4), 4 * kEps)) << share;
  }
}

/// x after solve_mixed() for A = diag(diagonal), b = 1 and `inverse`.
MixedByShares mixed_by(const std::vector<double>& of_diagonal, const ApplyInverse& inverse) {
  const Matrix a = diagonal(of_diagonal);
  MixedByShares solved;
  const auto columns = host_columns(host_residual(a), filled(a.rows(), 1, 1), inverse);
  solved.report = solve_mixed(*columns, norm_inf(a));
  solved.x = columns->solution();
  return solved;
}

const ApplyInverse kIdentity = [](Matrix&, Op) {};

// As many corrections as N A has eigenvalues, after the first solution.
TEST(Mixed, TakesAsManyStepsAsTheSpaceNeeds) {
  for (int eigenvalues = 1; eigenvalues <= 8; ++eigenvalues) {
    std::vector<double> diagonal;
    for (int i = 0; i < 40; ++i) diagonal.push_back(0.6 + 0.1 * (i % eigenvalues));
    const MixedByShares solved = mixed_by(diagonal, kIdentity);
    EXPECT_TRUE(solved.report.converged) << eigenvalues;
    EXPECT_GE(solved.report.steps, eigenvalues);
    EXPECT_LE(solved.report.steps, eigenvalues + 1);
    for (int i = 0; i < 40; ++i) EXPECT_NEAR(solved.x(i, 0), 1 / diagonal[i], 8 * kEps);
  }
}

TEST(Mixed, TakesThirtyStepsAtMost) {
  std::vector<double> diagonal;
  for (int i = 0; i < 200; ++i) diagonal.push_back(std::pow(0.01, i / 199.0));
  const MixedByShares solved = mixed_by(diagonal, kIdentity);
  EXPECT_FALSE(solved.report.converged);
  EXPECT_EQ(solved.report.steps, 30);
  EXPECT_NEAR(solved.x(0, 0), 1, 0.1);  // X is what was reached
}

// After ten corrections, or at once where X is not finite.
TEST(Mixed, GivesUpWhereTheResidualIsNotHalved) {
  for (const double value : {0.0, kNaN, kInfinity}) {
    const auto constant = [&](Matrix& y, Op) {
      std::fill(y.values().begin(), y.values().end(), value);
    };
    const MixedByShares solved = mixed_by({1, 2, 3}, constant);
    EXPECT_FALSE(solved.report.converged);
    EXPECT_EQ(solved.report.steps, value == 0 ? 10 : 0);
    EXPECT_TRUE(value != 0 || equal(solved.x, Matrix(3, 1)));
  }
  // Of (1, 1, ..., 1) only the first element can become smaller.
  const MixedByShares solved = mixed_by({4, 1, 1, 1, 1}, [](Matrix& y, Op) {
    for (std::size_t i = 1; i < y.rows(); ++i) y(i, 0) = 0;
  });
  EXPECT_FALSE(solved.report.converged);
  EXPECT_EQ(solved.report.steps, 12);
  EXPECT_TRUE(equal(solved.x, matrix({{0.25}, {0}, {0}, {0}, {0}}), kEps));
}

TEST(Mixed, GoesOnWhereRefinementStalls) {
  int beyond = 0;
  for (const double condition : {1e7, 1e9, 2e9, 4e9, 8e9}) {
    for (const std::uint64_t seed : {4, 6, 8, 10}) {
      const Matrix a = with_condition(200, condition, seed), b = times_ones(a);
      const auto columns = host_columns(host_residual(a), b, single_inverse(a));
      const Refinement report = solve_mixed(*columns, norm_inf(a));
      const Matrix x = columns->solution();
      EXPECT_LE(report.steps, 30);
      EXPECT_TRUE(report.converged || condition > 1e7);
      if (!report.converged) continue;
      if (condition > 1e8) ++beyond;  // 1 / eps of single precision is 1.7e7
      EXPECT_LT(solve_ratio(a, x, b, kEps), kSolveRatioLimit);
      EXPECT_LT(largest_difference(x, filled(200, 1, 1)), 1e3 * condition * kEps) << condition;
    }
  }
  EXPECT_GE(beyond, 1);
}

// --- equilibration

TEST(Equilibrate, AgreesWithGeequ) {
  for (const int range : {0, 1, 4, 40}) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const Matrix a = badly_scaled(15, range, seed);
      std::vector<double> r(15), c(15);
      double rowcnd = 0, colcnd = 0, amax = 0;
      ASSERT_EQ(LAPACKE_dgeequ(LAPACK_COL_MAJOR, 15, 15, a.values().data(), 15, r.data(), c.data(),
                               &rowcnd, &colcnd, &amax),
                0);
      const Scaling found = equilibration(a, Precision::double_precision);
      EXPECT_DOUBLE_EQ(found.rowcnd, rowcnd);
      EXPECT_EQ(found.amax, amax);
      EXPECT_EQ(!found.r.empty(), rowcnd < 0.1);
      // Columns are scaled after the rows, whose factors are rounded to powers of two.
      EXPECT_GT(found.colcnd, colcnd / 2.1);
      EXPECT_LT(found.colcnd, colcnd * 2.1);
      for (const double factor : found.r)
        EXPECT_EQ(factor, std::exp2(std::round(std::log2(factor))));
      if (found.r.empty() || found.c.empty()) continue;
      const Matrix scaled = scaled_matrix(found, a);
      for (std::size_t j = 0; j < 15; ++j) {
        EXPECT_GE(column_norm_max(scaled, j), 1);
        EXPECT_LT(column_norm_max(scaled, j), 2);
      }
    }
  }
}

// inv(A) = C inv(R A C) R and inv(A') = R inv((R A C)') C.
TEST(Equilibrate, UndoesItselfInProductsWithTheInverse) {
  const Matrix a = badly_scaled(20, 20, 4);
  const Scaling scaling = equilibration(a, Precision::double_precision);
  ASSERT_FALSE(scaling.r.empty() || scaling.c.empty());
  const HostFactors factors(scaled_matrix(scaling, a));
  const ApplyInverse inverse = unscaled_inverse(scaling, factors.inverse());
  const Matrix exact = random_matrix(20, 2, 5);
  for (const Op op : {Op::none, Op::transpose}) {
    const Matrix system = op == Op::none ? a : transposed(a);
    Matrix x = residual(system, exact, Matrix(20, 2));  // - A X
    inverse(x, op);
    for (double& value : x.values()) value = -value;
    EXPECT_TRUE(equal(x, exact, 1e-6));
  }
}

TEST(Equilibrate, KeepsItsFactorsFinite) {
  const Scaling scaling = equilibration(diagonal({1, 0x1p-1060}), Precision::double_precision);
  ASSERT_FALSE(scaling.r.empty());
  EXPECT_EQ(scaling.r[1], 0x1p1022);
}

TEST(Equilibrate, LeavesAloneWhatItCannotScale) {
  EXPECT_FALSE(equilibration(Matrix(), Precision::double_precision).helps());
  EXPECT_FALSE(equilibration(matrix({{0, 0}, {1, 1e9}}), Precision::double_precision).helps());
  EXPECT_FALSE(equilibration(matrix({{0, 1}, {0, 1e9}}), Precision::double_precision).helps());
  EXPECT_FALSE(equilibration(matrix({{kNaN, 1}, {0, 1e9}}), Precision::double_precision).helps());
  EXPECT_FALSE(equilibration(identity(3), Precision::double_precision).helps());
  EXPECT_TRUE(equilibration(matrix({{1e-306}}), Precision::double_precision).helps());
  EXPECT_TRUE(equilibration(matrix({{1e35}}), Precision::single_precision).helps());
  EXPECT_FALSE(equilibration(matrix({{1e35}}), Precision::double_precision).helps());
}

TEST(Equilibrate, FixesABadlyScaledSystem) {
  const Matrix a = badly_scaled(60, 60, 3), b = times_ones(a);
  for (const Precision precision : {Precision::single_precision, Precision::double_precision}) {
    Problem problem = problem_of(a, b, Pivot::partial, precision);
    const auto plain = solve("lu-blocked", problem, a, b);
    EXPECT_TRUE(mentions(warnings_of(plain.result), "--equilibrate")) << warnings_of(plain.result);
    problem.solve.equilibrate = true;
    const auto scaled = solve("lu-blocked", problem, a, b);
    ASSERT_EQ(scaled.result.status, RunStatus::ok) << scaled.result.reason;
    EXPECT_TRUE(scaled.result.equilibration.value().helps());
    EXPECT_GT(scaled.result.checks.rcond.value(), 1e-5);
    EXPECT_LT(plain.result.checks.rcond_at_most.value(), 1e-7);
    EXPECT_FALSE(mentions(warnings_of(scaled.result), "--equilibrate"));
    // inv(R A C) = inv(C) inv(A) inv(R)
    Scaling back = *scaled.result.equilibration;
    for (double& factor : back.r) factor = 1 / factor;
    for (double& factor : back.c) factor = 1 / factor;
    Matrix inverse = scaled.answers.inverse;
    unscale_inverse(back, inverse);
    EXPECT_LT(
        inverse_ratio(scaled_matrix(*scaled.result.equilibration, a), inverse, epsilon(precision)),
        30);
    EXPECT_LT(largest_difference(scaled.answers.x, filled(60, 1, 1)),
              scaled.result.checks.ferr.at(0) * norm_max(scaled.answers.x));
  }
}

TEST(Equilibrate, BringsAMatrixIntoSinglePrecision) {
  const Matrix a = diagonal({1e60, 2e60, 1e-60}), b = times_ones(a);
  Problem problem = problem_of(a, b, Pivot::partial, Precision::single_precision);
  EXPECT_THROW(solve("lu-blocked", problem, a, b), InputError);
  problem.solve.equilibrate = true;
  const auto solved = solve("lu-blocked", problem, a, b);
  ASSERT_EQ(solved.result.status, RunStatus::ok) << solved.result.reason;
  EXPECT_LT(largest_difference(solved.answers.x, filled(3, 1, 1)), 1e-6);
  EXPECT_NEAR(solved.result.determinant.value().exponent, std::log2(2e60), 1);
}

// --- determinant and inverse

TEST(Determinant, OfSmallMatricesIsExact) {
  const auto value = [](const Matrix& a, Pivot pivot, const char* method) {
    const Matrix b = times_ones(a);
    const Determinant det =
        solve(method, problem_of(a, b, pivot, Precision::double_precision), a, b)
            .result.determinant.value();
    return std::ldexp(det.mantissa, static_cast<int>(det.exponent));
  };
  for (const char* method : {"lu", "lu-blocked", "gauss-jordan"}) {
    EXPECT_EQ(value(matrix({{-3}}), Pivot::partial, method), -3);
    EXPECT_EQ(value(matrix({{0, 1}, {1, 0}}), Pivot::partial, method), -1);
    EXPECT_EQ(value(matrix({{1, 2}, {4, 4}}), Pivot::partial, method), -4);
    EXPECT_EQ(value(matrix({{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}), Pivot::partial, method), 1);
    EXPECT_EQ(value(matrix({{2, 0, 0}, {4, 2, 0}, {0, 8, 4}}), Pivot::partial, method), 16);
  }
  EXPECT_EQ(value(matrix({{1, 0, 0}, {0, 0, 8}, {0, 4, 0}}), Pivot::full, "lu"), -32);
  EXPECT_EQ(value(matrix({{1, 2}, {3, 4}}), Pivot::full, "lu"), -2);  // rows and columns change
  EXPECT_EQ(value(matrix({{1, 2}, {2, 4}}), Pivot::partial, "lu"), 0);
}

// det(A) = det(R A C) / (det(R) det(C)), exactly, since scale factors are powers of two.
TEST(Determinant, IsThatOfTheMatrixBeforeScaling) {
  const auto of_scaled = [](const Matrix& a, bool rows, bool columns) {
    const Matrix b = times_ones(a);
    Problem problem = problem_of(a, b, Pivot::partial, Precision::double_precision);
    problem.solve.equilibrate = true;
    const Result result = solve("lu-blocked", problem, a, b).result;
    EXPECT_EQ(!result.equilibration.value().r.empty(), rows);
    EXPECT_EQ(!result.equilibration.value().c.empty(), columns);
    const Determinant det = result.determinant.value();
    return std::ldexp(det.mantissa, static_cast<int>(det.exponent));
  };
  EXPECT_EQ(of_scaled(matrix({{1, 0x1p-30}, {1, 3 * 0x1p-30}}), false, true), 0x1p-29);
  EXPECT_EQ(of_scaled(matrix({{1, 1}, {0x1p-30, 3 * 0x1p-30}}), true, false), 0x1p-29);
  EXPECT_EQ(of_scaled(matrix({{1, 0x1p-30}, {0x1p-40, 3 * 0x1p-70}}), true, true), 0x1p-69);
  EXPECT_EQ(of_scaled(matrix({{1, 0x1p30}, {1, 3 * 0x1p30}}), false, true), 0x1p31);
}

TEST(Determinant, DoesNotOverflow) {
  std::vector<double> d(1000, 0x1p1000);
  d[7] = -3 * 0x1p1000;
  const Matrix a = diagonal(d), b = times_ones(a);
  const Determinant det =
      solve("lu-blocked", problem_of(a, b, Pivot::partial, Precision::double_precision), a, b)
          .result.determinant.value();
  EXPECT_EQ(det.mantissa, -1.5);
  EXPECT_EQ(det.exponent, 1000001);
  EXPECT_TRUE(std::isnan(determinant({0, {}, {}, {1, kNaN}}).mantissa));
}

TEST(Inverse, IsTheInverse) {
  for (const char* method : {"lu", "lu-blocked", "gauss-jordan"}) {
    for (const std::size_t n : {1, 20, 300}) {
      const Matrix a = generate("random", n, 2), b = times_ones(a);
      const Matrix inverse =
          solve(method, problem_of(a, b, Pivot::partial, Precision::double_precision), a, b)
              .answers.inverse;
      EXPECT_LT(inverse_ratio(a, inverse, kEps), 30) << method << " " << n;
    }
  }
}

TEST(Inverse, IsRefinedAsXIs) {
  const Matrix a = generate("random", 300, 2), b = times_ones(a);
  const auto mixed =
      solve("lu-blocked",
            problem_of(a, b, Pivot::partial, Precision::single_precision, Refine::mixed), a, b);
  EXPECT_EQ(mixed.result.refinement.value().fallback, "");
  EXPECT_LT(inverse_ratio(a, mixed.answers.inverse, kEps), 30);
  const Matrix w = generate("wilkinson", 60, 1), c = times_ones(w);
  const Precision precision = Precision::double_precision;
  const auto refined =
      solve("lu-blocked", problem_of(w, c, Pivot::partial, precision, Refine::fixed), w, c);
  EXPECT_LT(inverse_ratio(w, refined.answers.inverse, kEps), 30);
}

TEST(Inverse, ThatIsNoneGetsAWarning) {
  // Right for this right-hand side, and only for it.
  const Matrix a = matrix({{1e-20, 1, 0}, {1, 1, 0}, {0, 0, 1}}), b = matrix({{0}, {0}, {1}});
  const auto [result, answers] =
      solve("lu-blocked", problem_of(a, b, Pivot::none, Precision::double_precision), a, b);
  EXPECT_EQ(result.status, RunStatus::ok) << result.reason;
  EXPECT_TRUE(mentions(warnings_of(result), "the inverse is inaccurate")) << warnings_of(result);
  EXPECT_TRUE(mentions(warnings_of(result), "--pivot partial"));
}

// Pivot growth of 2^(n - 1) is large above 100, and a pivot small at n eps.
TEST(Warnings, HaveTheirLimits) {
  const auto warnings = [](const Matrix& a) {
    const Matrix b = times_ones(a);
    const Problem problem = problem_of(a, b, Pivot::partial, Precision::double_precision);
    return warnings_of(solve("lu-blocked", problem, a, b).result);
  };
  EXPECT_FALSE(mentions(warnings(generate("wilkinson", 7, 1)), "pivot growth is 64"));
  EXPECT_TRUE(mentions(warnings(generate("wilkinson", 8, 1)), "pivot growth is 128"));
  std::vector<double> pivots(64, 1);
  pivots[40] = 63 * kEps;
  EXPECT_TRUE(mentions(warnings(diagonal(pivots)), "pivot 41 is"));
  pivots[40] = 65 * kEps;
  EXPECT_FALSE(mentions(warnings(diagonal(pivots)), "pivot 41 is"));
}

TEST(Warnings, NameWhatToTry) {
  const Matrix a = with_condition(40, 1e17, 3), b = times_ones(a);
  const auto warnings = [&](Precision precision) {
    return warnings_of(
        solve("lu-blocked", problem_of(a, b, Pivot::partial, precision), a, b).result);
  };
  EXPECT_TRUE(mentions(warnings(Precision::single_precision), "--precision double"));
  EXPECT_TRUE(mentions(warnings(Precision::double_precision), "--refine"));
}

}  // namespace
}  // namespace lugpu

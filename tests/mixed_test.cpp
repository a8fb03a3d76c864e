// Mixed precision: as accurate as double, or honestly double after all. Truth is a solution in long
// double.
#include <cmath>
#include <numeric>

#include "accuracy/refine.hpp"
#include "base/error.hpp"
#include "conditioned.hpp"
#include "contenders.hpp"
#include "dense/lu_blocked.hpp"
#include "opencl_fixture.hpp"
#include "solve/methods.hpp"
#include "solve/system_solver.hpp"

namespace lugpu {
namespace {

const Arithmetic kDouble = Precision::double_precision;
const Arithmetic kMixed{Precision::single_precision, Refine::mixed};

/// inv(A) B by elimination with partial pivoting.
Matrix solved_in_long_double(const Matrix& a, const Matrix& b) {
  const std::size_t n = a.rows(), m = n + b.cols();
  std::vector<long double> work(n * m);
  const auto at = [&](std::size_t i, std::size_t j) -> long double& { return work[i * m + j]; };
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < m; ++j) at(i, j) = j < n ? a(i, j) : b(i, j - n);
  }
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < n; ++i) {
      if (std::abs(at(i, k)) > std::abs(at(pivot, k))) pivot = i;
    }
    for (std::size_t j = k; j < m; ++j) std::swap(at(k, j), at(pivot, j));
    for (std::size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const long double factor = at(i, k) / at(k, k);
      for (std::size_t j = k; j < m; ++j) at(i, j) -= factor * at(k, j);
    }
  }
  Matrix x(n, b.cols());
  for (std::size_t j = 0; j < b.cols(); ++j) {
    for (std::size_t i = 0; i < n; ++i) x(i, j) = static_cast<double>(at(i, n + j) / at(i, i));
  }
  return x;
}

Problem problem_of(const Matrix& a, const Matrix& b, const Arithmetic& arithmetic,
                   const Method& method) {
  Problem problem = problem_of(a.rows(), b.cols(), Pivot::partial, arithmetic.precision);
  problem.dense.schedule = Schedule::fused;
  problem.solve.refine = arithmetic.refine;
  return completed(problem, method, shared_context().device(), std::nullopt, 0, {});
}

Solution<double> solve(const Matrix& a, const Matrix& b, const Arithmetic& arithmetic = kMixed,
                       const Method& method = find_method("lu-blocked")) {
  const Plan plan{&method, problem_of(a, b, arithmetic, method)};
  return solve(shared_context(), plan, a.view(), b.view());
}

double backward_error(const Solution<double>& solution) {
  return solution.checks.hpl_residual.value() * static_cast<double>(solution.n) * kEpsilonDouble;
}

/// As good as double, within what solve_mixed() asks of it, or double's X; and every bound holds.
void expect_honest(const Matrix& a, const Matrix& b, const Solution<double>& mixed,
                   const Solution<double>& in_double) {
  const Refinement& refinement = mixed.refinement.value();
  ASSERT_EQ(mixed.status(), Status::ok);
  ASSERT_EQ(in_double.status(), Status::ok);
  EXPECT_LE(backward_error(mixed), std::max(backward_error(in_double), 10 * kEpsilonDouble));
  EXPECT_EQ(refinement.fallback.empty(), refinement.converged);
  EXPECT_EQ(refinement.fallback.empty(), refinement.factors != FactorArithmetic::double_precision);
  if (!refinement.converged) {
    // A that is scaled for half precision may have other pivots.
    EXPECT_TRUE(mixed.x == in_double.x || mixed.equilibration);
    EXPECT_FALSE(mixed.diagnosis.warnings.empty());
  }
  const Matrix x = to_matrix(mixed.x, mixed.n), exact = solved_in_long_double(a, b);
  for (std::size_t j = 0; j < x.cols(); ++j) {
    double error = 0;
    for (std::size_t i = 0; i < x.rows(); ++i) {
      error = std::max(error, std::abs(x(i, j) - exact(i, j)));
    }
    EXPECT_LE(error, mixed.checks.ferr.at(j) * column_norm_max(exact, j));
  }
}

class Mixed : public testing::Test {
 protected:
  void SetUp() override {
    if (!shared_context().device().double_precision) GTEST_SKIP() << "no double precision";
  }
};

TEST_F(Mixed, IsAsGoodAsDoubleOrFallsBackAtEveryCondition) {
  int systems = 0, fell_back = 0;
  for (int order = 0; order <= 16; ++order) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      for (const std::size_t n : {8, 20, 33}) {
        SCOPED_TRACE("n = " + std::to_string(n) + ", condition 1e" + std::to_string(order) +
                     ", seed " + std::to_string(seed));
        const Matrix a = with_condition(n, std::pow(10, order), 100 * seed + n);
        const Matrix b = random_matrix(n, 1 + seed % 2, seed);
        const Solution<double> mixed = solve(a, b);
        expect_honest(a, b, mixed, solve(a, b, kDouble));
        const bool falls = !mixed.refinement.value().converged;
        if (order <= 6) {
          EXPECT_FALSE(falls);
        }
        if (order <= 8) {
          EXPECT_TRUE(std::isfinite(mixed.checks.ferr.at(0)) || order > 6);
        }
        fell_back += falls;
        ++systems;
      }
    }
  }
  EXPECT_GE(systems, 500);
  EXPECT_GT(fell_back, 50);
}

// Rows and columns far beyond the range of single precision, some of them to that of double.
TEST_F(Mixed, EquilibratesRowsAndColumns) {
  for (const int range : {20, 60, 150, 400}) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      SCOPED_TRACE("2^" + std::to_string(range) + ", seed " + std::to_string(seed));
      const Matrix a = badly_scaled(20, range, 10 * seed);
      const Matrix x = random_matrix(20, 1, seed);
      Matrix b(20, 1);
      for (std::size_t j = 0; j < 20; ++j) {
        for (std::size_t i = 0; i < 20; ++i) b(i, 0) += a(i, j) * x(j, 0);
      }
      const Solution<double> mixed = solve(a, b);
      const Refinement& refinement = mixed.refinement.value();
      EXPECT_EQ(mixed.status(), Status::ok);
      EXPECT_EQ(mixed.equilibration.has_value(), range > 60);
      if (range > 60) {
        EXPECT_EQ(refinement.fallback, "");
      }
    }
  }
}

TEST_F(Mixed, OfMatricesBeyondTheRangeOfSinglePrecision) {
  const Matrix a = random_matrix(30, 30, 1), b = random_matrix(30, 2, 2);
  const std::vector<double> expected = solve(a, b).x;
  for (const int shift : {-1000, -300, -160, -130, -110, 110, 127, 130, 300, 1000}) {
    Matrix scaled = a;
    for (double& value : scaled.values()) value = std::ldexp(value, shift);
    const Solution<double> mixed = solve(scaled, b);
    EXPECT_EQ(mixed.status(), Status::ok) << shift;
    EXPECT_EQ(mixed.refinement.value().fallback, "") << shift;
    for (std::size_t k = 0; k < expected.size(); ++k) {
      EXPECT_NEAR(std::ldexp(mixed.x[k], shift), expected[k], 1e-11) << shift;
    }
  }
}

TEST_F(Mixed, OfWhatHasNoSolution) {
  const Matrix b = random_matrix(20, 3, 2);
  for (const double value : {NAN, INFINITY}) {
    Matrix a = random_matrix(20, 20, 1);
    a(7, 3) = value;
    EXPECT_EQ(solve(a, b).status(), Status::failed);
    Matrix right = b;
    right(4, 1) = value;
    EXPECT_EQ(solve(random_matrix(20, 20, 1), right).status(), Status::failed);
  }
  const Solution<double> singular = solve(generate("singular", 20, 1), b);
  EXPECT_EQ(singular.status(), Status::singular);
  EXPECT_TRUE(singular.x.empty());
  EXPECT_EQ(singular.refinement.value().factors, FactorArithmetic::double_precision);
}

// --- on the device as on the host

/// Columns of all sizes, some of them zero.
Matrix right_hand_sides(std::size_t n, std::size_t nrhs) {
  Matrix b = random_matrix(n, nrhs, 3);
  for (std::size_t j = 0; j < nrhs; ++j) {
    const int shift = static_cast<int>(j % 9) * 240 - 960;
    for (std::size_t i = 0; i < n; ++i) b(i, j) = j % 7 == 5 ? 0 : std::ldexp(b(i, j), shift);
  }
  return b;
}

/// Without over- or underflow of squares.
double column_norm_2(const Matrix& x, std::size_t j) {
  const double largest = column_norm_max(x, j);
  if (largest == 0) return 0;
  double sum = 0;
  for (std::size_t i = 0; i < x.rows(); ++i) sum += x(i, j) / largest * (x(i, j) / largest);
  return largest * std::sqrt(sum);
}

TEST_F(Mixed, IsTheSameOnTheDeviceAsOnTheHost) {
  DeviceContext& context = shared_context();
  for (const char* name : {"lu-blocked", "lu"}) {
    for (const auto& [n, nrhs] :
         {std::pair<std::size_t, std::size_t>{1, 1}, {70, 1}, {70, 5}, {33, 300}, {130, 64}}) {
      for (const MixedRules rules : {MixedRules::by_column, MixedRules::lapack}) {
        SCOPED_TRACE(std::string(name) + ", " + std::to_string(n) + ", " + std::to_string(nrhs));
        const Matrix a = with_condition(std::max<std::size_t>(n, 2), 1e4, n);
        const Matrix b = rules == MixedRules::lapack ? random_matrix(a.rows(), nrhs, 4)
                                                     : right_hand_sides(a.rows(), nrhs);
        const Method& method = find_method(name);
        const auto factors =
            method.make(context, Size::square(a.rows(), 0), problem_of(a, b, kMixed, method).dense);
        factors->upload(a, Matrix(a.rows(), 0));
        factors->factor();
        const DoubleMatrix in_double(context, a);
        const auto on_device = device_columns(in_double, b, *factors);
        const auto on_host = host_columns(host_residual(a), b, inverse_by(*factors, norm_max(a)));
        const Refinement by_device = solve_mixed(*on_device, in_double.norm_inf(), rules);
        const Refinement by_host = solve_mixed(*on_host, norm_inf(a), rules);
        EXPECT_TRUE(by_device.converged);
        EXPECT_TRUE(by_host.converged);
        EXPECT_LE(std::abs(by_device.steps - by_host.steps), 1);
        const Matrix x = on_device->solution(), y = on_host->solution();
        for (std::size_t j = 0; j < nrhs; ++j) {
          const double size = column_norm_max(y, j);
          for (std::size_t i = 0; i < a.rows(); ++i) EXPECT_NEAR(x(i, j), y(i, j), 1e-10 * size);
        }
      }
    }
  }
}

// Columns of all sizes, some of them zero: on the device as on the host, and others are left alone.
TEST_F(Mixed, LeavesTheLeastResidual) {
  DeviceContext& context = shared_context();
  const Matrix a = with_condition(300, 1e6, 1);
  const Method& method = find_method("lu-blocked");
  for (const std::size_t nrhs : {1, 6, 40}) {
    const Matrix b = right_hand_sides(300, nrhs);
    const auto factors =
        method.make(context, Size::square(300, 0), problem_of(a, b, kMixed, method).dense);
    // Of a neighbour of A, so that corrections leave much.
    Matrix near = a;
    for (std::size_t i = 0; i < 300; ++i) near(i, i) += 1e-4;
    factors->upload(near, Matrix(300, 0));
    factors->factor();
    const DoubleMatrix in_double(context, a);
    const auto on_device = device_columns(in_double, b, *factors);
    const auto on_host = host_columns(host_residual(a), b, inverse_by(*factors, norm_max(near)));
    Columns all(nrhs);
    std::iota(all.begin(), all.end(), std::size_t{0});
    on_device->begin();
    on_host->begin();
    Matrix last = b;  // residuals
    for (int step = 0; step < 12; ++step) {
      SCOPED_TRACE(std::to_string(nrhs) + ", step " + std::to_string(step));
      on_host->correct(all);
      on_device->correct(all);
      const Matrix corrected = residual(a, on_device->solution(), b);
      on_host->minimize_residual(0);
      on_device->minimize_residual(0);
      const Matrix x = on_device->solution(), y = on_host->solution(), r = residual(a, x, b);
      for (std::size_t j = 0; j < nrhs; ++j) {
        const double unit = column_norm_max(b, j), noise = 1e-10 * unit;
        const double left = column_norm_2(r, j);
        EXPECT_LE(left, column_norm_2(corrected, j) * (1 + 1e-8) + noise);
        EXPECT_LE(left, column_norm_2(last, j) * (1 + 1e-8) + noise);
        const double size = column_norm_max(y, j);
        for (std::size_t i = 0; i < 300; ++i) EXPECT_NEAR(x(i, j), y(i, j), 1e-4 * size);
      }
      last = r;
    }
    const Matrix before = on_device->solution();
    on_device->correct({0});
    on_device->minimize_residual(0);
    const Matrix after = on_device->solution();
    for (std::size_t j = 1; j < nrhs; ++j) {
      EXPECT_TRUE(equal(chosen(before, {j}), chosen(after, {j})));
    }
  }
}

// --- the ladder of factors

/// Factors of A rounded to 11 digits, about as inexact as those with products in half precision.
class HalfLu : public LuBlocked {
 public:
  using LuBlocked::LuBlocked;

  void take_columns(const cl::Buffer& columns, std::size_t first, std::size_t count) override {
    if (options().shortcut == Shortcut::none) return LuBlocked::take_columns(columns, first, count);
    std::vector<float> values(size().n * count);
    const std::size_t bytes = values.size() * sizeof(float);
    context_.queue().enqueueReadBuffer(columns, CL_TRUE, 0, bytes, values.data());
    for (float& value : values) {
      int order = 0;
      const float digits = std::frexp(value, &order);
      value = std::ldexp(std::nearbyint(std::ldexp(digits, 11)), order - 11);
    }
    const cl::Buffer rounded = context_.allocate(bytes);
    context_.queue().enqueueWriteBuffer(rounded, CL_TRUE, 0, bytes, values.data());
    LuBlocked::take_columns(rounded, first, count);
  }
};

/// lu-blocked with such factors where they are asked for.
const Method& half_method() {
  static const Method method = [] {
    Method half = find_method("lu-blocked");
    half.make = [](DeviceContext& context, const Size& size,
                   const DenseOptions& options) -> std::unique_ptr<DenseFactorization> {
      return std::make_unique<HalfLu>(context, size, options);
    };
    half.shortcut = [](const Device&, const Size&, const DenseOptions&) {
      return Shortcut::half_products;
    };
    return half;
  }();
  return method;
}

std::string tried(const Refinement& refinement) {
  std::string text;
  for (const auto& [factors, failure] : refinement.given_up) {
    EXPECT_NE(failure, "");
    text += std::string(name(factors)) + ", ";
  }
  return text + name(refinement.factors);
}

TEST_F(Mixed, NoDeviceHasProductsInHalfPrecisionYet) {
  const Matrix a = random_matrix(20, 20, 1), b = random_matrix(20, 1, 2);
  EXPECT_EQ(problem_of(a, b, kMixed, find_method("lu-blocked")).dense.shortcut, Shortcut::none);
  EXPECT_EQ(problem_of(a, b, kMixed, half_method()).dense.shortcut, Shortcut::half_products);
  EXPECT_EQ(problem_of(a, b, kDouble, half_method()).dense.shortcut, Shortcut::none);
}

TEST_F(Mixed, DescendsTheLadderAsFarAsItMust) {
  std::map<std::string, int> seen;
  for (int order = 0; order <= 15; ++order) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      for (const std::size_t nrhs : {1, 8}) {
        SCOPED_TRACE("condition 1e" + std::to_string(order) + ", " + std::to_string(nrhs));
        const Matrix a = with_condition(30, std::pow(10, order), 10 * seed + 5);
        const Matrix b = random_matrix(30, nrhs, seed);
        const Solution<double> mixed = solve(a, b, kMixed, half_method());
        expect_honest(a, b, mixed, solve(a, b, kDouble, half_method()));
        const std::string rungs = tried(mixed.refinement.value());
        ++seen[rungs];
        if (order <= 3) {
          EXPECT_EQ(rungs, "half-products");
        }
        if (order == 7 && nrhs == 8) {
          EXPECT_EQ(rungs, "half-products, single");
        }
        if (order >= 13) {
          EXPECT_EQ(rungs, "half-products, single, double");
        }
      }
    }
  }
  EXPECT_EQ(seen.size(), 3u);
}

// On PoCL, X of the scaled system is within what refinement asks, and just beyond a check of A as
// given.
TEST_F(Mixed, DescendsWhereXFailsACheck) {
  const struct {
    double condition;
    std::uint64_t seed;
    std::size_t nrhs;
  } systems[] = {{1e8, 18, 8}, {1e9, 8, 1}};
  for (const auto [condition, seed, nrhs] : systems) {
    const Matrix a = with_condition(30, condition, 10 * seed + 5),
                 b = random_matrix(30, nrhs, seed);
    expect_honest(a, b, solve(a, b, kMixed, half_method()), solve(a, b, kDouble, half_method()));
  }
}

TEST_F(Mixed, DescendsWhenItIsTold) {
  const Matrix a = with_condition(30, 10, 1), b = random_matrix(30, 2, 2);
  SystemSolver solver(shared_context(), half_method(), problem_of(a, b, kMixed, half_method()));
  solver.upload(a, b, norm_max(a));
  solver.factor();
  for (const char* rungs :
       {"half-products", "half-products, single", "half-products, single, double"}) {
    solver.solve();
    EXPECT_EQ(tried(solver.refinement().value()), rungs);
    EXPECT_EQ(solver.descend("it was told"),
              std::string_view(rungs).find("double") == std::string::npos);
  }
  EXPECT_EQ(solver.refinement().value().fallback, "it was told");
  Matrix x(30, 2);
  solver.download(x.view());
  EXPECT_EQ(x.values(), solve(a, b, kDouble, half_method()).x);
}

/// Local pivots that leave factors as they should, or an element of L that is too large, or a zero.
class LocalLu : public LuBlocked {
 public:
  using LuBlocked::LuBlocked;
  static inline int failure = 0;

  int info() override {
    return options().shortcut == Shortcut::local_pivots && failure != 0 ? failure
                                                                        : LuBlocked::info();
  }
};

TEST_F(Mixed, DescendsWhereLocalPivotsDoNotServe) {
  Method local = half_method();
  local.make = [](DeviceContext& context, const Size& size,
                  const DenseOptions& options) -> std::unique_ptr<DenseFactorization> {
    return std::make_unique<LocalLu>(context, size, options);
  };
  local.shortcut = [](const Device&, const Size&, const DenseOptions&) {
    return Shortcut::local_pivots;
  };
  const Matrix a = with_condition(30, 10, 1), b = random_matrix(30, 2, 2);
  const struct {
    int info;
    const char *rungs, *failure;
  } cases[] = {
      {0, "local-pivots", ""},
      {kLargeElement, "local-pivots, single", "an element of L is above 256"},
      {7, "local-pivots, single", "a pivot is exactly zero in the rows that it is chosen from"}};
  for (const auto& [info, rungs, failure] : cases) {
    LocalLu::failure = info;
    const Solution<double> mixed = solve(a, b, kMixed, local);
    expect_honest(a, b, mixed, solve(a, b, kDouble, local));
    const Refinement refinement = mixed.refinement.value();
    EXPECT_EQ(tried(refinement), rungs);
    EXPECT_TRUE(info == 0 || refinement.given_up.at(0).failure == failure);
    EXPECT_EQ(mixed.status(), Status::ok);
  }

  // A singular matrix without double to fall back to: what factors in single say of it.
  local.require_room = [](const Device&, const Size&, const DenseOptions& options) {
    if (options.precision == Precision::double_precision) throw Unsupported("no double");
  };
  Matrix ones(30, 30);
  std::fill(ones.values().begin(), ones.values().end(), 1);
  for (const int info : {kLargeElement, 7}) {
    LocalLu::failure = info;
    const Solution<double> mixed = solve(ones, b, kMixed, local);
    EXPECT_EQ(mixed.status(), Status::singular);
    EXPECT_EQ(mixed.checks.info, 2);
  }
}

TEST_F(Mixed, DescendsWhereAPivotIsZero) {
  const Matrix ones = random_matrix(2, 1, 1);
  const auto of = [&](double difference) {
    Matrix a(2, 2);
    std::fill(a.values().begin(), a.values().end(), 1);
    a(1, 1) += difference;
    return solve(a, ones, kMixed, half_method());
  };
  Refinement refinement = of(0x1p-14).refinement.value();
  EXPECT_EQ(tried(refinement), "half-products, single");
  EXPECT_EQ(refinement.given_up[0].failure,
            "a pivot is exactly zero with products in half precision");
  EXPECT_EQ(refinement.fallback, "");
  EXPECT_TRUE(refinement.converged);
  refinement = of(0x1p-40).refinement.value();
  EXPECT_EQ(tried(refinement), "half-products, single, double");
  EXPECT_EQ(refinement.fallback, "a pivot is exactly zero in single precision");
  EXPECT_EQ(of(0).status(), Status::singular);
}

// The benchmark's matrix, its limit of 16, and no pivoting, as its rules have it.
TEST_F(Mixed, PassesTheCheckOfHplMxp) {
  for (const std::size_t n : {10, 100, 500}) {
    for (const Pivot pivot : {Pivot::none, Pivot::partial}) {
      SCOPED_TRACE(std::to_string(n) + ", " + name(pivot));
      const Matrix a = generate("hpl-mxp", n, 1), b = random_matrix(n, 1, 2);
      for (const Method& method : {half_method(), find_method("lu-blocked")}) {
        Problem problem = problem_of(a, b, kMixed, method);
        problem.dense.pivot = pivot;
        const Solution<double> x = solve(shared_context(), {&method, problem}, a.view(), b.view());
        EXPECT_EQ(x.status(), Status::ok);
        EXPECT_LE(x.checks.hpl_residual.value(), 16);
        const Refinement& refinement = x.refinement.value();
        EXPECT_TRUE(refinement.converged);
        EXPECT_TRUE(refinement.given_up.empty());
      }
    }
  }
}

// Every run begins at the top.
TEST_F(Mixed, DescendsAnewInEveryRun) {
  const Matrix a = with_condition(30, 1e7, 7), b = random_matrix(30, 8, 2);
  const auto solver =
      make_contender(shared_context(), half_method(), problem_of(a, b, kMixed, half_method()));
  solver->upload(a, b);
  solver->prepare();
  Matrix first;
  for (int run = 0; run < 3; ++run) {
    solver->reset();
    solver->factor();
    EXPECT_EQ(tried(solver->refinement().value()), "half-products");
    solver->solve();
    EXPECT_EQ(tried(solver->refinement().value()), "half-products, single");
    const Matrix x = solver->download();
    EXPECT_TRUE(run == 0 || equal(x, first));
    first = x;
  }
}

TEST_F(Mixed, EquilibratesForHalfPrecision) {
  const Matrix b = random_matrix(20, 1, 9);
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Matrix a = badly_scaled(20, 20, 10 * seed);
    EXPECT_TRUE(solve(a, b, kMixed, half_method()).equilibration.has_value());
    EXPECT_FALSE(solve(a, b).equilibration.has_value());
  }
}

}  // namespace
}  // namespace lugpu

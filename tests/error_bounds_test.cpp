// What is reported about the accuracy of X must be true: error bounds, digits and condition numbers
// of systems of every kind, in every precision and with every pivoting, checked against solutions
// in quadruple precision.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "bench/measure.hpp"
#include "contenders.hpp"
#include "opencl_fixture.hpp"
#include "solve/methods.hpp"

namespace lugpu {
namespace {

__extension__ using Quad = __float128;

Quad magnitude(Quad value) {
  return value < 0 ? -value : value;
}

struct QuadMatrix {
  QuadMatrix(std::size_t row_count, std::size_t column_count)
      : rows(row_count), columns(column_count), values(row_count * column_count) {}
  explicit QuadMatrix(const Matrix& a)
      : rows(a.rows()), columns(a.cols()), values(a.values().begin(), a.values().end()) {}
  Quad& operator()(std::size_t i, std::size_t j) { return values[i + j * rows]; }
  Quad operator()(std::size_t i, std::size_t j) const { return values[i + j * rows]; }

  std::size_t rows, columns;
  std::vector<Quad> values;
};

Quad norm_1(const QuadMatrix& a) {
  Quad most = 0;
  for (std::size_t j = 0; j < a.columns; ++j) {
    Quad sum = 0;
    for (std::size_t i = 0; i < a.rows; ++i) sum += magnitude(a(i, j));
    most = std::max(most, sum);
  }
  return most;
}

/// Gauss-Jordan elimination with full pivoting. Absent if a pivot is zero.
std::optional<QuadMatrix> solve_in_quad(QuadMatrix a, QuadMatrix b) {
  const std::size_t n = a.rows;
  std::vector<std::size_t> order(n);
  for (std::size_t k = 0; k < n; ++k) order[k] = k;
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t row = k, column = k;
    for (std::size_t j = k; j < n; ++j) {
      for (std::size_t i = k; i < n; ++i) {
        if (magnitude(a(i, j)) > magnitude(a(row, column))) row = i, column = j;
      }
    }
    if (a(row, column) == 0) return std::nullopt;
    for (std::size_t j = 0; j < n; ++j) std::swap(a(k, j), a(row, j));
    for (std::size_t j = 0; j < b.columns; ++j) std::swap(b(k, j), b(row, j));
    for (std::size_t i = 0; i < n; ++i) std::swap(a(i, k), a(i, column));
    std::swap(order[k], order[column]);
    for (std::size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const Quad factor = a(i, k) / a(k, k);
      for (std::size_t j = k; j < n; ++j) a(i, j) -= factor * a(k, j);
      for (std::size_t j = 0; j < b.columns; ++j) b(i, j) -= factor * b(k, j);
    }
  }
  QuadMatrix x(n, b.columns);
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t j = 0; j < b.columns; ++j) x(order[k], j) = b(k, j) / a(k, k);
  }
  return x;
}

/// What is true of a system with one right-hand side. Correct to some digits while rcond is above
/// 1e-30.
struct Truth {
  QuadMatrix x;
  double rcond;
};

std::optional<Truth> truth_of(const Matrix& a, const Matrix& b) {
  const std::size_t n = a.rows();
  QuadMatrix right(n, n + 1);
  for (std::size_t i = 0; i < n; ++i) {
    right(i, i) = 1;
    right(i, n) = b(i, 0);
  }
  const auto solved = solve_in_quad(QuadMatrix(a), right);
  if (!solved) return std::nullopt;
  QuadMatrix x(n, 1), inverse(n, n);
  std::copy(solved->values.begin(), solved->values.end() - n, inverse.values.begin());
  std::copy(solved->values.end() - n, solved->values.end(), x.values.begin());
  return Truth{x, static_cast<double>(1 / (norm_1(QuadMatrix(a)) * norm_1(inverse)))};
}

/// max |x - exact| / max |exact|
double error_of(const Matrix& x, const QuadMatrix& exact) {
  Quad error = 0, size = 0;
  for (std::size_t i = 0; i < x.rows(); ++i) {
    if (!std::isfinite(x(i, 0))) return std::numeric_limits<double>::infinity();
    error = std::max(error, magnitude(x(i, 0) - exact(i, 0)));
    size = std::max(size, magnitude(exact(i, 0)));
  }
  return static_cast<double>(error / size);
}

// --- the systems

struct Named {
  std::string name;
  Matrix a;
};

/// D1 H1 D H2 D2 with reflections H, D of this condition, and D1, D2 with factors from 2^-scales to
/// 2^scales.
Matrix conditioned(std::size_t n, double condition, int scales, std::uint64_t seed) {
  Matrix a(n, n);
  for (std::size_t i = 0; i < n; ++i) {
    const double part = n > 1 ? static_cast<double>(i) / static_cast<double>(n - 1) : 0;
    a(i, i) = std::pow(condition, -part);
  }
  for (int side = 0; side < 2; ++side) {
    const Matrix v = random_matrix(n, 1, seed + side);
    double square = 0;
    for (const double value : v.values()) square += value * value;
    Matrix next(n, n);
    for (std::size_t j = 0; j < n; ++j) {
      double product = 0;
      for (std::size_t i = 0; i < n; ++i) product += v(i, 0) * a(i, j);
      for (std::size_t i = 0; i < n; ++i) next(j, i) = a(i, j) - 2 / square * product * v(i, 0);
    }
    a = std::move(next);
  }
  const Matrix shifts = random_matrix(n, 2, seed + 2);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) {
      a(i, j) = std::ldexp(a(i, j), static_cast<int>(2 * scales * shifts(i, 0)) +
                                        static_cast<int>(2 * scales * shifts(j, 1)));
    }
  }
  return a;
}

/// a(i, j) = t_i^j for equally spaced t in (0, 1].
Matrix vandermonde(std::size_t n) {
  Matrix a(n, n);
  for (std::size_t i = 0; i < n; ++i) {
    const double t = static_cast<double>(i + 1) / static_cast<double>(n);
    for (std::size_t j = 0; j < n; ++j) a(i, j) = std::pow(t, static_cast<double>(j));
  }
  return a;
}

void add_generated(std::vector<Named>& systems, const char* kind,
                   const std::vector<std::size_t>& sizes, std::uint64_t seeds) {
  for (const std::size_t n : sizes) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      systems.push_back(
          {std::string(kind) + " " + std::to_string(n) + " seed " + std::to_string(seed),
           generate(kind, n, seed)});
    }
  }
}

std::vector<Named> all_systems() {
  std::vector<Named> systems;
  add_generated(systems, "hilbert", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 20}, 1);
  add_generated(systems, "wilkinson", {2, 3, 5, 10, 20, 30, 40, 60}, 1);
  add_generated(systems, "kahan", {2, 3, 5, 10, 15, 20, 25, 30}, 1);
  add_generated(systems, "graded", {1, 2, 3, 5, 10, 17, 24}, 8);
  add_generated(systems, "random", {1, 2, 3, 4, 8, 16, 24}, 8);
  add_generated(systems, "tiny-pivot", {2, 3, 9, 20}, 3);
  for (const char* kind : {"ill-conditioned", "very-ill-conditioned", "ill-conditioned-single",
                           "very-ill-conditioned-single", "near-underflow", "near-overflow",
                           "near-underflow-double", "near-overflow-double"}) {
    add_generated(systems, kind, {2, 3, 8, 20}, 4);
  }
  for (std::size_t n = 2; n <= 20; ++n) {
    systems.push_back({"vandermonde " + std::to_string(n), vandermonde(n)});
  }
  for (const std::size_t n : {2, 3, 6, 12, 20}) {
    for (int digits = 0; digits <= 20; digits += 2) {
      for (const int scales : {0, 20}) {
        for (std::uint64_t seed = 1; seed <= 2; ++seed) {
          systems.push_back({"condition 1e" + std::to_string(digits) + " scales " +
                                 std::to_string(scales) + " n " + std::to_string(n),
                             conditioned(n, std::pow(10, digits), scales, 100 * seed)});
        }
      }
    }
  }
  for (const std::size_t n : {2, 3, 10}) {
    for (const int exponent : {1023, 1000, -1000, -1040}) {
      Matrix a = generate("random", n, 5);  // within 1/2 of 0
      for (double& value : a.values()) value = std::ldexp(value, exponent);
      systems.push_back(
          {"random " + std::to_string(n) + " times 2^" + std::to_string(exponent), std::move(a)});
    }
  }
  return systems;
}

/// A times ones for one half, random for the other; of A's size in any case.
Matrix right_hand_side(const Matrix& a, bool random) {
  const std::size_t n = a.rows();
  Matrix b(n, 1);
  if (random) {
    const double size = norm_max(a);
    const Matrix from = random_matrix(n, 1, 77);
    for (std::size_t i = 0; i < n; ++i) b(i, 0) = size * from(i, 0);
    return b;
  }
  const double part = 1 / static_cast<double>(n);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) b(i, 0) += part * a(i, j);
  }
  return b;
}

struct Outcomes {
  int runs = 0, bounded = 0, with_rcond = 0;
  std::vector<double> overestimates;  // bound / error
};

class Bounds : public testing::Test {
 protected:
  /// Absent if it cannot be represented in the precision.
  std::optional<std::pair<Result, Matrix>> run(const Named& system, const Matrix& b, Pivot pivot,
                                               const Arithmetic& arithmetic) {
    Case what;
    what.implementation = "lugpu";
    what.problem.size = Size::square(system.a.rows(), 1);
    what.problem.dense.pivot = pivot;
    what.problem.dense.precision = arithmetic.precision;
    what.problem.solve.refine = arithmetic.refine;
    what.problem.dense.schedule = Schedule::fused;
    const Method& method = automatic_method(context.device(), what.problem, std::nullopt, {});
    what.routine = method.name;
    what.problem = completed(what.problem, method, context.device(), std::nullopt, 0, {});
    Answers answers;
    try {
      Result result = solve_once(context, method, what, system.a, b, answers);
      return std::pair(std::move(result), std::move(answers.x));
    } catch (const InputError&) {
      return std::nullopt;
    }
  }

  /// Whether everything reported is true.
  void expect_honest(const Result& result, const Matrix& x, const Truth& truth, Outcomes& seen) {
    const Checks& checks = result.checks;
    ++seen.runs;
    const bool true_is_known = truth.rcond > 1e-28;
    if (checks.rcond) {
      ++seen.with_rcond;
      EXPECT_TRUE(true_is_known);
      const bool fell_back = result.refinement && !result.refinement->fallback.empty();
      EXPECT_GE(*checks.rcond, epsilon(fell_back ? Precision::double_precision
                                                 : result.what.problem.dense.precision));
      EXPECT_LE(*checks.rcond, 10 * truth.rcond);
      EXPECT_GE(*checks.rcond, truth.rcond / 3);
      EXPECT_FALSE(checks.rcond_at_most);
    } else if (checks.rcond_at_most) {
      EXPECT_GE(*checks.rcond_at_most, truth.rcond * 0.999);
    }
    if (x.values().empty()) return;
    ASSERT_EQ(checks.ferr.size(), 1u);
    const double bound = checks.ferr[0];
    const auto digits = checks.digits(working_precision(result.what.problem));
    EXPECT_EQ(digits.has_value(), bound < 0.1);
    if (!std::isfinite(bound)) return;
    ++seen.bounded;
    EXPECT_TRUE(true_is_known && checks.rcond);
    const double error = error_of(x, truth.x);
    EXPECT_LE(error, bound);
    if (digits) {
      EXPECT_LE(error, std::pow(10, -*digits));
    }
    if (error > 0) seen.overestimates.push_back(bound / error);
  }

  DeviceContext& context = shared_context();
};

TEST_F(Bounds, HoldInEveryPrecisionWithEveryPivoting) {
  const std::vector<Named> systems = all_systems();
  ASSERT_GE(systems.size(), 500u);
  std::vector<Arithmetic> arithmetics = {Precision::single_precision};
  if (context.device().double_precision) {
    arithmetics.push_back(Precision::double_precision);
    arithmetics.push_back({Precision::single_precision, Refine::mixed});
  }
  std::map<std::string, Outcomes> seen;
  for (std::size_t i = 0; i < systems.size(); ++i) {
    const Matrix b = right_hand_side(systems[i].a, i % 2 == 1);
    const auto truth = truth_of(systems[i].a, b);
    for (const Arithmetic& arithmetic : arithmetics) {
      for (const PivotRule& rule : pivot_rules()) {
        const auto solved = run(systems[i], b, rule.pivot, arithmetic);
        if (!solved) continue;
        const std::string precision = precision_name(solved->first.what.problem);
        SCOPED_TRACE(systems[i].name + ", " + precision + ", " + rule.name);
        if (!truth) {
          EXPECT_FALSE(solved->first.checks.rcond);
          continue;
        }
        expect_honest(solved->first, solved->second, *truth, seen[precision]);
      }
    }
  }
  // And enough is reported to be useful.
  for (auto& [precision, outcomes] : seen) {
    SCOPED_TRACE(precision);
    EXPECT_GT(3 * outcomes.bounded, outcomes.runs);
    EXPECT_GT(3 * outcomes.with_rcond, outcomes.runs);
    auto& ratios = outcomes.overestimates;
    ASSERT_FALSE(ratios.empty());
    std::sort(ratios.begin(), ratios.end());
    RecordProperty(precision + "_smallest_overestimate", std::to_string(ratios.front()));
    RecordProperty(precision + "_median_overestimate", std::to_string(ratios[ratios.size() / 2]));
    EXPECT_LT(ratios[ratios.size() / 2], 1000);
  }
}

// Powers of two change no digit, so that the checks of a scaled system are those of the system; but
// for a device that divides in another way near the ends.
TEST_F(Bounds, AreTheSameAtTheEndsOfTheRange) {
  if (!context.device().double_precision) GTEST_SKIP() << "no double precision";
  const Named plain = {"random", generate("random", 12, 5)};
  const Matrix b = right_hand_side(plain.a, false);
  const auto expect_alike = [](double value, double expected, double factor) {
    EXPECT_LE(value, expected * factor);
    EXPECT_GE(value, expected / factor);
  };
  for (const Pivot pivot : {Pivot::partial, Pivot::full}) {
    const auto expected = run(plain, b, pivot, Precision::double_precision).value().first;
    ASSERT_EQ(expected.status, RunStatus::ok);
    for (const int exponent : {1023, 700, -700, -960}) {
      SCOPED_TRACE(exponent);
      Named scaled = plain;
      Matrix right = b;
      for (double& value : scaled.a.values()) value = std::ldexp(value, exponent);
      for (double& value : right.values()) value = std::ldexp(value, exponent);
      const auto found = run(scaled, right, pivot, Precision::double_precision).value().first;
      EXPECT_EQ(found.status, RunStatus::ok) << found.reason;
      const Checks &one = expected.checks, &other = found.checks;
      expect_alike(other.solve_ratio.value(), one.solve_ratio.value(), 4);
      expect_alike(other.hpl_residual.value(), one.hpl_residual.value(), 4);
      expect_alike(other.growth.value(), one.growth.value(), 1 + 1e-9);
      expect_alike(other.rcond.value(), one.rcond.value(), 1 + 1e-9);
      expect_alike(other.berr.at(0), one.berr.at(0), 4);
      expect_alike(other.ferr.at(0), one.ferr.at(0), 4);
      for (const std::string& warning : found.warnings) {
        EXPECT_EQ(warning.find("ill-conditioned"), std::string::npos) << warning;
      }
    }
  }
}

}  // namespace
}  // namespace lugpu

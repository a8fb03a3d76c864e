#include "bench/advice.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace lugpu {
namespace {

// A time is less than another if it is not more than this fraction of it: noise decides nothing.
constexpr double kClearly = 0.8;

// Of X; of the factors of mixed precision it is single's.
double epsilon(const Result& result) {
  return epsilon(working_precision(result.what.problem));
}

double factors_epsilon(const Result& result) {
  return epsilon(result.what.problem.precision);
}

bool is_stable(const Result& result) {
  const double limit = std::max(10.0, static_cast<double>(result.what.problem.n));
  const bool refined = !result.refinement || result.refinement->converged;
  return result.status == Status::ok && refined && result.checks.growth &&
         *result.checks.growth <= limit;
}

// That of the most accurate factors: of the highest precision, of the strongest pivoting.
std::optional<double> condition_of(const std::vector<Result>& results) {
  std::optional<double> rcond;
  double eps = 1;
  for (const Result& result : results) {
    if (!is_stable(result) || !result.checks.rcond || factors_epsilon(result) > eps) continue;
    eps = factors_epsilon(result);
    rcond = result.checks.rcond;
  }
  return rcond;
}

bool is_singular(const std::vector<Result>& results) {
  std::size_t pivoted = 0, singular = 0;
  double least = 1;
  for (const Result& result : results) least = std::min(least, factors_epsilon(result));
  for (const Result& result : results) {
    if (result.what.problem.pivot == Pivot::none || factors_epsilon(result) > least) continue;
    if (result.status == Status::unsupported) continue;
    ++pivoted;
    singular += result.checks.info > 0;
  }
  return pivoted > 0 && singular == pivoted;
}

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", value);
  return text;
}

// Whether X keeps so many correct digits in this precision.
bool keeps_digits(double rcond, double eps) {
  constexpr double kTwoDigits = 100;
  return rcond >= kTwoDigits * eps;
}

std::string accuracy(double rcond, double eps) {
  const std::string condition = "the reciprocal condition number is " + short_number(rcond);
  if (rcond <= eps) return condition + ", so that X may have no correct digit";
  const auto digits = static_cast<int>(std::log10(rcond / eps));
  return condition + ", so that X has about " + std::to_string(std::max(digits, 1)) +
         (digits > 1 ? " correct digits" : " correct digit");
}

}  // namespace

std::vector<Case> advice_cases(const Device& device, std::size_t n, std::size_t nrhs,
                               const std::string& matrix) {
  std::vector<Case> cases;
  const Arithmetic arithmetics[] = {Precision::single_precision,
                                    Precision::double_precision,
                                    {Precision::single_precision, Refine::mixed}};
  for (const auto& [precision, refine] : arithmetics) {
    if (precision == Precision::double_precision && !device.double_precision) continue;
    for (const Pivot pivot : {Pivot::partial, Pivot::none, Pivot::rook, Pivot::full}) {
      Problem problem;
      problem.n = n;
      problem.nrhs = nrhs;
      problem.pivot = pivot;
      problem.precision = precision;
      problem.refine = refine;
      problem.storage = automatic_storage(device);
      problem.schedule = Schedule::fused;
      const Method& method = automatic_method(device, problem, std::nullopt);
      if (refine == Refine::mixed && !method.keeps_factors) continue;
      Case what;
      what.implementation = "lugpu";
      what.routine = method.name;
      what.problem = completed(problem, method, device, std::nullopt, 0);
      what.device = device.name;
      what.device_index = device.index;
      what.matrix = matrix;
      cases.push_back(what);
    }
  }
  return cases;
}

std::optional<double> backward_error(const Result& result) {
  if (!result.checks.hpl_residual) return std::nullopt;
  return *result.checks.hpl_residual * static_cast<double>(result.what.problem.n) * epsilon(result);
}

Advice advise(const std::vector<Result>& results) {
  if (is_singular(results)) {
    return {std::nullopt, "A is singular: every pivoting ends at a zero pivot.", true};
  }
  const std::optional<double> rcond = condition_of(results);
  const auto is_accurate = [&](const Result& r) {
    return !rcond || keeps_digits(*rcond, epsilon(r));
  };
  const auto is_better = [&](const Result& a, const Result& b) {
    if (!is_accurate(a) || !is_accurate(b)) {
      if (epsilon(a) != epsilon(b)) return epsilon(a) < epsilon(b);
    }
    return a.phases_s.at("total") < kClearly * b.phases_s.at("total");
  };
  Advice advice;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!is_stable(results[i])) continue;
    if (!advice.best || is_better(results[i], results[*advice.best])) advice.best = i;
  }
  if (!advice.best) {
    advice.sentence = "No run was backward stable: do not trust a solution of this system.";
    return advice;
  }
  const Result& best = results[*advice.best];
  advice.sentence = std::string("Use --pivot ") + name(best.what.problem.pivot) + " --precision " +
                    precision_name(best.what.problem) +
                    ", the cheapest run that is backward stable" +
                    (rcond ? "; " + accuracy(*rcond, epsilon(best)) : "") + ".";
  return advice;
}

}  // namespace lugpu

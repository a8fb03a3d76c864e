#include "solve/diagnosis.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace lugpu {
namespace {

Remedy safer_pivoting(Pivot pivot) {
  return {"pivot", name(*rule_of(pivot).safer)};
}

Precision precision_of_factors(const Evidence& evidence) {
  return precision_of_factors(evidence.problem, evidence.refinement);
}

bool in_double(const Evidence& evidence) {
  return precision_of_factors(evidence) == Precision::double_precision;
}

// Without pivoting, a zero pivot says nothing about A.
bool is_pivoted(const Evidence& evidence) {
  return exchanges_rows(evidence.problem.dense.pivot);
}

// Names the pivot that only rounding may have kept from being zero, and says what follows.
void warn_of_small_pivot(const Evidence& evidence, std::vector<Warning>& warnings) {
  const std::vector<double>& pivots = evidence.outcome.pivots;
  if (pivots.empty()) return;
  const auto smaller = [](double x, double y) { return std::abs(x) < std::abs(y); };
  const auto least = std::min_element(pivots.begin(), pivots.end(), smaller);
  const double threshold = epsilon(precision_of_factors(evidence)) *
                           static_cast<double>(evidence.problem.size.n) * evidence.largest;
  if (std::abs(*least) > threshold) return;
  const std::string pivot = "pivot " + std::to_string(least - pivots.begin() + 1) + " is " +
                            short_number(*least) + ", so near zero that ";
  if (is_pivoted(evidence)) {
    warnings.push_back(
        {pivot + "it may be a rounding error: A is singular or nearly so", std::nullopt});
  } else {
    warnings.push_back(
        {pivot + "X may be wrong without pivoting", safer_pivoting(evidence.problem.dense.pivot)});
  }
}

void warn_of_bad_scaling(const Evidence& evidence, std::vector<Warning>& warnings) {
  const Scaling& advice = evidence.advice;
  if (!advice.helps() || evidence.is_scaled) return;
  warnings.push_back({"A is badly scaled (rowcnd " + short_number(advice.rowcnd) + ", colcnd " +
                          short_number(advice.colcnd) + ", largest element " +
                          short_number(advice.amax) + "), so that X may be less accurate",
                      Remedy{"equilibrate", ""}});
}

// With partial pivoting, the growth of matrices in practice hardly ever exceeds their order
// (Higham, Accuracy and Stability, 9.4); small orders are allowed more.
bool is_large_growth(const Evidence& evidence) {
  const std::optional<double>& growth = evidence.checks.growth;
  const std::size_t limit = std::max<std::size_t>(evidence.problem.size.n, 100);
  return growth && !(*growth <= static_cast<double>(limit));
}

// Where the factors cannot tell how good X is: because A is ill-conditioned, or because they are
// not A's.
void warn_of_unknown_accuracy(const Evidence& evidence, std::vector<Warning>& warnings) {
  const Checks& checks = evidence.checks;
  if (checks.rcond || !checks.rcond_at_most) return;
  const Remedy doubles{"precision", "double"};
  if (*checks.rcond_at_most > std::sqrt(epsilon(precision_of_factors(evidence)))) {
    warnings.push_back({"the factors are too inaccurate to tell how many digits of X are right",
                        in_double(evidence) ? cure_for_growth(evidence.problem) : doubles});
    return;
  }
  const std::string condition =
      "A is ill-conditioned, its reciprocal condition number is at most " +
      short_number(*checks.rcond_at_most) + ": X may have no correct digit";
  if (in_double(evidence)) {
    std::optional<Remedy> best;
    if (evidence.problem.solve.refine == Refine::none) best = Remedy{"refine", ""};
    warnings.push_back({condition + ", and full pivoting with refinement is the best that double "
                                    "precision can do",
                        best});
  } else {
    warnings.push_back({condition, doubles});
  }
}

void warn_of_refinement(const Evidence& evidence, std::vector<Warning>& warnings) {
  const std::optional<Refinement>& refinement = evidence.refinement;
  if (!refinement || refinement->converged) return;
  if (refinement->fallback.empty()) {
    warnings.push_back(
        {"refinement did not converge, and the device cannot factor A in double "
         "precision",
         std::nullopt});
  } else {
    warnings.push_back({refinement->fallback + ", so that A was factored in double precision; for "
                                               "matrices like it",
                        Remedy{"precision", "double"}});
  }
}

void warn_of_growth(const Evidence& evidence, std::vector<Warning>& warnings) {
  if (!is_large_growth(evidence)) return;
  warnings.push_back({"pivot growth is " + short_number(*evidence.checks.growth) +
                          "; X may have lost about log10 of that in digits",
                      cure_for_growth(evidence.problem)});
}

Warning breakdown(const Evidence& evidence) {
  const std::string pivot = "pivot " + std::to_string(evidence.outcome.info) + " is exactly zero";
  if (!is_pivoted(evidence)) {
    return {pivot + " without pivoting", safer_pivoting(evidence.problem.dense.pivot)};
  }
  const std::string where = in_double(evidence) ? "" : " in single precision";
  return {"A is singular" + where + ": " + pivot, std::nullopt};
}

Warning check_failure(const Evidence& evidence) {
  const Checks& checks = evidence.checks;
  Warning failure{checks.failure(), std::nullopt};
  if (checks.growth && std::isfinite(*checks.growth)) {
    failure.reason += ", growth " + short_number(*checks.growth);
  }
  if (!is_pivoted(evidence)) failure.reason += " without pivoting";
  if (!is_pivoted(evidence) || is_large_growth(evidence)) {
    failure.remedy = cure_for_growth(evidence.problem);
  }
  return failure;
}

}  // namespace

Remedy cure_for_growth(const Problem& problem) {
  const PivotRule& rule = rule_of(problem.dense.pivot);
  return rule.safer ? safer_pivoting(rule.pivot) : Remedy{"refine", ""};
}

Diagnosis diagnose(const Evidence& evidence) {
  Diagnosis found;
  if (!evidence.has_solution) {
    found.status = Status::singular;
    found.reason = breakdown(evidence);
    warn_of_bad_scaling(evidence, found.warnings);
    return found;
  }
  if (!evidence.problem.solve.check) {
    found.status = Status::unchecked;
    warn_of_refinement(evidence, found.warnings);
    return found;
  }
  const bool passed = evidence.checks.failure().empty();
  found.status = passed ? Status::ok : Status::failed;
  if (!passed) found.reason = check_failure(evidence);
  warn_of_refinement(evidence, found.warnings);
  warn_of_small_pivot(evidence, found.warnings);
  warn_of_unknown_accuracy(evidence, found.warnings);
  warn_of_bad_scaling(evidence, found.warnings);
  if (passed && evidence.problem.solve.refine == Refine::none) {
    warn_of_growth(evidence, found.warnings);
  }
  return found;
}

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

}  // namespace lugpu

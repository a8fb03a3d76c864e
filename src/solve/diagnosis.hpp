// What a solution is worth: the verdict of the checks, and what the user should know.
#pragma once

#include "solve/problem.hpp"

namespace lugpu {

/// What is known of a system after its solution.
struct Evidence {
  const Problem& problem;
  const Outcome& outcome;
  const Checks& checks;
  const std::optional<Refinement>& refinement;
  double largest;         ///< max |a_ij| of the matrix that was factored
  const Scaling& advice;  ///< how A should be scaled
  bool is_scaled;         ///< whether the matrix that was factored is scaled
  bool has_solution;
};

/// Status ok (or unchecked), failed if a check failed, singular if there is no solution.
Diagnosis diagnose(const Evidence& evidence);

/// A safer pivoting, or refinement.
Remedy cure_for_growth(const Problem& problem);

/// "%.3g"
std::string short_number(double value);

}  // namespace lugpu

// Which method for sparse matrices and which precision a system needs: judged by the true residual
// first, and by time only where noise cannot change the verdict.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/advice.hpp"
#include "bench/structured_result.hpp"
#include "solve/solve_sparse.hpp"

namespace lugpu {

/// A X = B from files.
struct AdvisedSystem {
  std::string matrix;  ///< the file, for the records
  const Sparse& a;     ///< n x n
  const Matrix& b;     ///< n x nrhs
  double solution;     ///< every element of X; NaN if it is not known
};

/// What `lugpu solve` does with A by itself.
struct AutomaticChoice {
  bool possible;    ///< false: it refuses A, for the reason plan.why
  SparsePlan plan;  ///< its method is null where A is made dense, or nothing is possible
};

/// For a relative residual of 10^-digits, by default that of Options::tolerance.
AutomaticChoice automatic_choice(const Device& device, const Sparse& a, std::optional<int> digits);

/// A plan for every structured method in every precision of the device: the automatic method first,
/// then in the order of their table; double before single.
std::vector<SparsePlan> advice_plans(const AutomaticChoice& choice, const Device& device);

/// How many seconds the next run may take: timeout_s, but no more than could be of use next to
/// those that are good enough.
double advice_limit(const std::vector<StructuredResult>& results, const AutomaticChoice& choice,
                    std::optional<int> digits, double timeout_s);

/// One plan by solve(), which judges X. What is thrown becomes the status, as in attempt(); a run
/// of more than limit_s is skipped. The first steps of an iterative method, which build its
/// kernels, are not counted; a direct one that takes a few seconds runs again for that.
StructuredResult try_plan(DeviceContext& context, const SparsePlan& plan,
                          const AdvisedSystem& system, double limit_s);

/// From the results of advice_plans().
///
/// A run is good enough if solve() accepts its X and the true residual is at most 10^-digits; that
/// of a direct method in the highest precision may be larger without `digits`, because it is as
/// small as the matrix allows.
///
/// Of those, the order is that of advice_plans(), but single before double if `digits` are given:
/// it takes half the memory. The first one is taken that is not clearly slower than another, in
/// setup and solution together: by more than 0.1 s and 4 times, which noise of 60 % makes of
/// equals.
Advice advise(const std::vector<StructuredResult>& results, const AutomaticChoice& choice,
              std::optional<int> digits);

}  // namespace lugpu

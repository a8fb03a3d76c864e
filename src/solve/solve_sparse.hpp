// A X = B with a sparse matrix: choose, prepare, solve, check, judge.
#pragma once

#include "lugpu/solve.hpp"
#include "solve/structured_methods.hpp"

namespace lugpu {

/// How a sparse system is solved.
struct SparsePlan {
  const StructuredMethod* method;  ///< null: as a dense matrix, by what make_plan() says
  StructuredOptions options;
  std::string why;    ///< a clause; empty if the user chose
  bool check = true;  ///< compute the residuals
  /// A direct method for the case that this one fails; null: none.
  const StructuredMethod* otherwise = nullptr;
  /// Where iterative methods start, as large as X; without rows: zero. Direct methods ignore it.
  Matrix start = {};
};

/// The part of the options that a structured method has. Throws InputError for a negative tolerance
/// or more than 10^9 iterations.
StructuredOptions structured_options(const Options& options, const Device& device);

/// From what a user asks for. Throws as structured_options(), InputError for options that
/// contradict one another, Unsupported if no method can take the matrix on this device.
SparsePlan make_plan(const Options& options, const Device& device, const Sparse& a);

/// By plan.method, which is not null, and if X fails by plan.otherwise. Throws as
/// StructuredMethod::make, and InputError if a value overflows the precision.
Solution<double> solve(DeviceContext& context, const SparsePlan& plan, const Sparse& a,
                       const Matrix& b);

}  // namespace lugpu

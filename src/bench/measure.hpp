// Measures one case: prepare, upload, warm up, time, check.
#pragma once

#include "baselines/baselines.hpp"
#include "bench/result.hpp"
#include "opencl/context.hpp"
#include "solvers/methods.hpp"

namespace lugpu {

/// How long and how often.
struct Effort {
  int warmup = 1;           ///< untimed factorizations first
  int runs = 5;             ///< timed factorizations, at least; 0 for the profiled one alone
  double min_time_s = 0.2;  ///< and at least this long in all
  double timeout_s = 20;  ///< for the whole case; fewer runs, or `skipped`, where it is not enough
  bool build_first = true;     ///< every kernel, so that nothing timed waits for a compiler
  bool check_factors = true;   ///< factor_ratio too: 2 n^3 on the host, or an inverse on the device
  bool time_products = false;  ///< Solver::multiply() too
};

/// What there is to hand on besides the result; left empty where there is no solution.
struct Answers {
  bool wants_determinant = false;  ///< into the result
  bool wants_inverse = false;
  Matrix x;        ///< n x nrhs
  Matrix inverse;  ///< n x n
};

/// A X = B on the device by a method; problem.n and nrhs must be those of a (n x n) and b (n x
/// nrhs). A breakdown or a failed check is a status of the result. answers: may be null. Throws
/// TimedOut, Unsupported, InputError (a value overflows the precision) and cl::Error.
Result measure(DeviceContext& context, const Method& method, const Case& what, const Matrix& a,
               const Matrix& b, const Effort& effort, Answers* answers = nullptr);

/// The same by a baseline. context: the device for a rival on a device, null on the host. A library
/// cannot be stopped: a case that would take longer than the timeout, by a cubic estimate from a
/// smaller system, is `skipped`. Throws Unsupported as DeviceRival::require, and what the library's
/// solver throws.
Result measure(const Baseline& baseline, DeviceContext* context, const Case& what, const Matrix& a,
               const Matrix& b, const Effort& effort);

}  // namespace lugpu

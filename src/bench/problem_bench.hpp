// Measures methods and rivals on the systems of grids and files: every one is taken to the same
// tolerance.
#pragma once

#include <functional>
#include <memory>

#include "bench/measure.hpp"
#include "bench/probe.hpp"
#include "bench/problems.hpp"
#include "bench/structured_result.hpp"

namespace lugpu {

/// How a case is prepared.
struct SolverMaker {
  /// Prepares the matrix for solutions by this rule.
  std::function<std::unique_ptr<PreparedSolver>(const StoppingRule& rule)> make;
  bool direct;  ///< takes no steps
};

/// Builds the kernels by a few steps (of a direct method: by the first solution), prepares, solves,
/// times and checks. context: the device; null on the host. The true residual
/// must be at most 1 % above the tolerance. What is thrown becomes the status, as in attempt(). A
/// case that has used effort.timeout_s ends there: `skipped` if it has no time yet.
StructuredResult measure_problem(DeviceContext* context, const StructuredCase& what,
                                 const SystemView& system, const SolverMaker& maker,
                                 const Effort& effort);

/// What no run on a device exceeds.
struct Limits {
  double copy_bytes_per_s;
  std::uint64_t cache_bytes;   ///< of global memory; 0 if it is not known
  double multiply_adds_per_s;  ///< in one precision
};

/// For methods that do this work in this precision. Matrix units are taken to be 2 times as fast as
/// the measured chains of multiply-adds in double, as NVIDIA's data sheets say of the H100 and the
/// H200 and no more of any other; in single 5 times: products of tf32 numbers are up to 15 times as
/// fast, and three of them make one (docs/methods.md, section 6).
Limits limits_of(const DeviceContext& context, const Ceilings& ceilings, Precision precision,
                 const Work& work);

/// Sets the bandwidth of an ok result of a method whose steps have a known number of words. A time
/// that cannot be true makes the result an error without a speed:
/// - the vectors do not fit the device's cache, and its memory would move more than the copy that
///   was measured, allowing for 15 % of noise;
/// - the setup or the solutions would take more multiply-adds a second than the device reaches,
///   allowing for 50 %, for clocks change. least: of the method, for the system of the result.
void judge_time(const Limits& limits, const Work& least, StructuredResult& result);

}  // namespace lugpu

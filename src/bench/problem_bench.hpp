// Measures methods and rivals on the systems of grids: every one is taken to the same tolerance.
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
                                 const GridSystem& system, const SolverMaker& maker,
                                 const Effort& effort);

/// Sets the bandwidth of an ok result of a method whose steps have a known number of words. If the
/// vectors do not fit the device's cache and the time would mean that its memory moves more than
/// the copy that was measured, allowing for 15 % of noise, the result becomes an error without a
/// speed. cache_bytes: of the device, 0 if not known.
void judge_bandwidth(const Ceilings& ceilings, std::uint64_t cache_bytes, StructuredResult& result);

/// Bytes of the device's cache of global memory; 0 if it does not tell.
std::uint64_t cache_bytes(const Device& device);

}  // namespace lugpu

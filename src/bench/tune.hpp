// The fastest variant of each method on a device: `lugpu tune`.
#pragma once

#include "bench/sweep.hpp"
#include "solve/tuning.hpp"

namespace lugpu {

/// Every variant of the methods that keep factors that is worth a try at this order: in buffers,
/// with no, partial and full pivoting, in single precision and, if the device has it, in double. A
/// few samples of each, and its checks (the factors' up to order 1024).
SweepPlan tuning_plan(const Device& device, std::size_t n);

/// The cases of the plan that can run, none twice; the default variant of each method, pivoting and
/// precision first.
std::vector<Case> tuning_cases(const SweepPlan& plan, const Device& device);

/// The fastest variant of each method, pivoting, precision and order among the results that are ok.
/// The first one of them, in the order of tuning_cases() the default, stands unless another is
/// faster by more than 3 % both by the median and by the shortest sample.
Tuning fastest_variants(const std::vector<Result>& results);

}  // namespace lugpu

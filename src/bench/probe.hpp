// What is measured of a device besides its solvers: ceilings, and the variants of single passes
// that the LU-GPU paper compares.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "opencl/context.hpp"

namespace lugpu {

/// What a device reaches at best, by its own clock.
struct Ceilings {
  double copy_bytes_per_s = 0;  ///< device memory, bytes read plus bytes written
  std::map<Precision, double> multiply_adds_per_s = {};
  /// Multiply-adds of the matrix products that the fastest method consists of, alone, of a large
  /// order; without a precision in which it cannot run.
  std::map<Precision, double> products_per_s = {};
};

/// Copies a buffer several times larger than caches (or as large as the device allows), and runs
/// independent chains of multiply-adds in these precisions, without those that the device lacks;
/// the best of a few runs of each. Takes a second or so.
Ceilings measure_ceilings(DeviceContext& context, const std::set<Precision>& precisions);

/// Bytes that a process takes for that on the host.
double host_bytes_of_ceilings(const Device& device);

/// Variants of the update of Algorithm 3.
enum class UpdateVariant {
  kernel_index,  ///< index pairs computed in the kernel
  launch_index,  ///< index pairs given by the launch (LU-GPU, section 4.5, Fig. 4)
  fixed_places,  ///< all loads from the same four elements (section 5.4, Fig. 12)
};

/// Wall-clock seconds of the n - 1 updates of an LU decomposition without its other passes, of each
/// of `runs` after one that warms up. Throws Unsupported as surfaces do.
std::vector<double> time_updates(DeviceContext& context, std::size_t n, Precision precision,
                                 Storage storage, UpdateVariant variant, int runs);

/// Does `action`. Why the device or this machine cannot, a sentence, if it is not supported or
/// memory runs out; else empty. Throws whatever else `action` throws.
std::string impossible(const std::function<void()>& action);

}  // namespace lugpu

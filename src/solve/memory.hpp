// How much memory a solution takes, before it is begun.
#pragma once

#include "solve/methods.hpp"

namespace lugpu {

/// The least memory of a device in which the method would have room: what require_room() counts.
std::uint64_t bytes_on_device(const Device& device, const Method& method, const Size& size,
                              const DenseOptions& options);

/// Bytes at the most of one time.
struct MemoryNeed {
  double host;    ///< A as it was read, the process itself, copies; the device's too if it is a CPU
                  ///< or has a window of the matrix at a time
  double device;  ///< the matrix, the factors and their transpose, work space
};

/// What lugpu::solve() of a dense system in double takes, with A and B of the caller, in a process
/// that uses PoCL; tested to be within 20 % of that. in_file: A stays in its file, whose pages the
/// system drops when it needs them; they are not counted out of core.
MemoryNeed memory_of_solve(const Device& device, const Method& method, const Problem& problem,
                           bool in_file = false);

/// The largest order for which that is at most `bytes` on the host; 0 if none is.
std::size_t largest_order(const Device& device, const Method& method, const Problem& problem,
                          bool in_file, double bytes);

}  // namespace lugpu

// How much memory a solution takes, before it is begun.
#pragma once

#include "solve/methods.hpp"

namespace lugpu {

/// The least memory of a device in which the method would have room: what require_room() counts.
std::uint64_t bytes_on_device(const Device& device, const Method& method, const Size& size,
                              const DenseOptions& options);

/// Bytes at the most of one time.
struct MemoryNeed {
  double host = 0;
  double device = 0;
};

/// On the host by a process that uses PoCL, besides its systems: libraries, the compiler of OpenCL
/// and its kernels.
inline constexpr double kBytesOfProcess = 108e6;

/// On the host, whose memory that of a CPU is too.
inline double all_on_host(const Device& device, const MemoryNeed& need) {
  return device.type == "cpu" ? need.host + need.device : need.host;
}

/// What a SystemSolver has. On the device: the matrix, then its factors, and work space; in mixed
/// precision A in double too, if there is room. On the host: L and U, if the device has a window of
/// them at a time.
MemoryNeed memory_of_factors(const Device& device, const Method& method, const Problem& problem);

/// On the device by the transposed factors, which the estimates of the condition take; 0 for a
/// method that does without, and where there is no room for them.
double bytes_of_transpose(const Device& device, const Method& method, const Problem& problem);

/// On the host by so many copies of X (or B), and the columns that checks look at together.
double bytes_of_columns(const Size& size, double copies);

/// What lugpu::solve() of a dense system in double takes, with A and B of the caller, in a process
/// that uses PoCL; tested to be within 20 % of that. host: A as it was read, the process itself,
/// copies; the device's too if it is a CPU or has a window of the matrix at a time. device: the
/// matrix, the factors and their transpose, work space. in_file: A stays in its file, whose pages
/// the system drops when it needs them; they are not counted out of core.
MemoryNeed memory_of_solve(const Device& device, const Method& method, const Problem& problem,
                           bool in_file = false);

/// The largest order for which that is at most `bytes` on the host; 0 if none is.
std::size_t largest_order(const Device& device, const Method& method, const Problem& problem,
                          bool in_file, double bytes);

}  // namespace lugpu

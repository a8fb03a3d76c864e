#include "solve/memory.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "opencl/element.hpp"
#include "solve/system_solver.hpp"

namespace lugpu {
namespace {

// The factors by columns, for the estimates of the condition.
double bytes_of_transpose(const Method& method, const Problem& problem) {
  if (!method.keeps_factors || !method.block_size || !problem.solve.check) return 0;
  const double n = static_cast<double>(problem.size.n);
  return n * n * static_cast<double>(element_size(problem.dense.precision));
}

}  // namespace

std::uint64_t bytes_on_device(const Device& device, const Method& method, const Size& size,
                              const DenseOptions& options) {
  Device endless = device;
  endless.global_memory = std::uint64_t{1} << 50;
  endless.max_allocation = endless.global_memory;
  DenseOptions alone = options;
  alone.others.clear();
  alone.crew = nullptr;
  const auto has_left = [&](std::uint64_t bytes) {
    return has_room_beside(endless, method, size, alone, bytes);
  };
  std::uint64_t left = 0, too_much = endless.global_memory;
  while (too_much - left > 4096) {
    const std::uint64_t middle = left + (too_much - left) / 2;
    (has_left(middle) ? left : too_much) = middle;
  }
  return endless.global_memory - left;
}

MemoryNeed memory_of_solve(const Device& device, const Method& method, const Problem& problem,
                           bool in_file) {
  constexpr double kProcess = 108e6;    // libraries, the compiler of OpenCL and its kernels
  constexpr double kColumns = 3 * 256;  // that are looked at together
  const Size& size = problem.size;
  const double n = static_cast<double>(size.n), nrhs = static_cast<double>(size.nrhs);
  const double matrix = n * n * sizeof(double);
  const bool at_home = windows_of(device, method, problem).value_or(1) > 1;
  MemoryNeed need{
      kProcess + (in_file && at_home ? 0 : matrix) + n * (kColumns + 4 * nrhs) * sizeof(double),
      static_cast<double>(bytes_on_device(device, method, size_on_device(problem), problem.dense)) +
          (at_home ? 0 : bytes_of_transpose(method, problem))};
  if (at_home) {
    // L and U; the device has what it may have at the most.
    need.host += n * n * static_cast<double>(element_size(problem.dense.precision));
    need.device = std::min(need.device, static_cast<double>(device.global_memory));
  }
  if (problem.solve.equilibrate) need.host += matrix;
  if (problem.solve.refine == Refine::mixed) {
    need.device += static_cast<double>(bytes_of_refinement(size.n, size.nrhs));
  }
  if (problem.solve.inverse) need.host += matrix;
  if (device.type == "cpu") need.host += need.device;
  return need;
}

std::size_t largest_order(const Device& device, const Method& method, const Problem& problem,
                          bool in_file, double bytes) {
  return largest_order([&](std::size_t n) {
    Problem other = problem;
    other.size = Size::square(n, problem.size.nrhs);
    if (memory_of_solve(device, method, other, in_file).host > bytes)
      throw Unsupported("too large");
  });
}

}  // namespace lugpu

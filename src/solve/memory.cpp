#include "solve/memory.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "opencl/element.hpp"
#include "solve/system_solver.hpp"

namespace lugpu {
namespace {

bool has_windows(const Device& device, const Method& method, const Problem& problem) {
  return windows_of(device, method, problem).value_or(1) > 1;
}

double bytes_of_matrix(const Size& size, Precision precision) {
  const double n = static_cast<double>(size.n);
  return n * n * static_cast<double>(element_size(precision));
}

}  // namespace

std::uint64_t bytes_on_device(const Device& device, const Method& method, const Size& size,
                              const DenseOptions& options) {
  Device endless = device;
  endless.global_memory = std::uint64_t{1} << 50;
  endless.max_allocation = endless.global_memory;
  endless.image_max_width = endless.image_max_height = std::size_t{1} << 31;
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

MemoryNeed memory_of_factors(const Device& device, const Method& method, const Problem& problem) {
  const Size& size = problem.size;
  MemoryNeed need{.device = static_cast<double>(
                      bytes_on_device(device, method, size_on_device(problem), problem.dense))};
  if (has_windows(device, method, problem)) {
    // The device has what it may have at the most.
    need.host = bytes_of_matrix(size, problem.dense.precision);
    need.device = std::min(need.device, static_cast<double>(device.global_memory));
  }
  if (problem.solve.refine == Refine::mixed && has_room_for_double(device, method, problem)) {
    need.device += static_cast<double>(bytes_of_refinement(size.n, size.nrhs));
  }
  return need;
}

double bytes_of_transpose(const Device& device, const Method& method, const Problem& problem) {
  if (!method.keeps_factors || !method.block_size) return 0;
  const double bytes = bytes_of_matrix(problem.size, problem.dense.precision);
  const bool has_room = has_room_beside(device, method, size_on_device(problem), problem.dense,
                                        static_cast<std::uint64_t>(bytes));
  return has_room ? bytes : 0;
}

double bytes_of_columns(const Size& size, double copies) {
  constexpr double kColumns = 256;  // that are looked at together
  return static_cast<double>(size.n) * (kColumns + copies * static_cast<double>(size.nrhs)) *
         sizeof(double);
}

MemoryNeed memory_of_solve(const Device& device, const Method& method, const Problem& problem,
                           bool in_file) {
  const double matrix = bytes_of_matrix(problem.size, Precision::double_precision);
  MemoryNeed need = memory_of_factors(device, method, problem);
  if (problem.solve.check) need.device += bytes_of_transpose(device, method, problem);
  need.host += kBytesOfProcess + bytes_of_columns(problem.size, 4);
  if (!in_file || !has_windows(device, method, problem)) need.host += matrix;
  if (problem.solve.equilibrate) need.host += matrix;
  if (problem.solve.inverse) need.host += matrix;
  return {all_on_host(device, need), need.device};
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

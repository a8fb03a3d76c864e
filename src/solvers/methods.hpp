// The table of methods: a new algorithm is one file here and one row there. Help texts, the sweep,
// the tests and the records read it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "opencl/context.hpp"
#include "solvers/solver.hpp"

namespace lugpu {

/// Work by the counts of the LU-GPU paper, Tables 1 and 2, for a matrix of order n.
struct WorkModel {
  std::uint64_t elements_updated;  ///< multiply-adds of the elimination
  std::uint64_t bytes;             ///< memory traffic for 4-byte elements
};

struct Method {
  const char* name;         ///< the routine, as on the command line, e.g. "gauss-jordan"
  const char* description;  ///< one line for help texts
  std::vector<Pivot> pivots;
  WorkModel (*work)(std::uint64_t n);
  /// Throws Unsupported if the device cannot hold the problem, before anything is allocated.
  void (*require_room)(const Device& device, const Problem& problem);
  std::unique_ptr<Solver> (*make)(DeviceContext& context, const Problem& problem);
};

std::span<const Method> methods();

/// Throws InputError that lists the methods if there is no such method.
const Method& find_method(const std::string& name);

/// What is fastest: the method; the storage on a device (buffers on every device measured: on a
/// CPU, images cost a function call an access); the texels of a storage on a device.
const Method& automatic_method();
Storage automatic_storage(const Device& device);
Texel automatic_texel(const Device& device, Storage storage, Schedule schedule);

}  // namespace lugpu

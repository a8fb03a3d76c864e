// The table of methods: a new algorithm is one file here and one row there. Help texts, the sweep,
// the tests and the records read it.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dense/solver.hpp"
#include "opencl/context.hpp"

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
  bool keeps_factors;  ///< whether Solver::apply_inverse is there
  /// The fastest number of columns of a block; null for a method without blocks.
  std::size_t (*block_size)(const Device& device, const Problem& problem) = nullptr;
};

std::span<const Method> methods();

/// Throws InputError that lists the methods if there is no such method.
const Method& find_method(const std::string& name);

/// One way through the kernels as the options of the command line spell it, e.g. "lu partial single
/// image r fused": what `lugpu verify` judges. A method with blocks has no schedule.
std::string path_name(const Method& method, const Problem& problem);

/// What is fastest: the method that can do what the problem (pivoting, storage, schedule) and the
/// texels asked for need, by a path that is not in device.failed_paths; the storage on a device
/// (buffers on every device measured: on a CPU, images cost a function call an access). Throws
/// Unsupported if every path failed.
const Method& automatic_method(const Device& device, const Problem& problem,
                               std::optional<Texel> texel);
Storage automatic_storage(const Device& device);

/// The problem with the texels and the block size that are asked for, or else the fastest ones of
/// the method on the device that are not among its failed_paths. nb = 0 asks for none.
Problem completed(Problem problem, const Method& method, const Device& device,
                  std::optional<Texel> texel, std::size_t nb);

}  // namespace lugpu

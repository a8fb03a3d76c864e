// Times of the operators on a device, as the tables of "Linear Algebra Operators for GPU
// Implementation of Numerical Algorithms" (Krueger, Westermann 2003) and of GPU Gems 2, chapter 44,
// have them.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "opencl/context.hpp"

namespace lugpu {

enum class OperatorKind { vector, matrix, grid };

/// Operators that are timed together.
struct OperatorGroup {
  const char* name;         ///< as on the command line, e.g. "vectors"
  const char* description;  ///< a few words for --help
  OperatorKind kind;
  int dimensions;  ///< of the grid with n points along each axis, for each of which vectors have an
                   ///< element
};

std::span<const OperatorGroup> operator_groups();

struct OperatorTime {
  const char* name;               ///< e.g. "dot"; of a group, no two are the same
  std::vector<std::size_t> grid;  ///< points along each axis; empty for what has no grid
  double bytes;                   ///< loads and stores, each element once, with 4 for the column of
                                  ///< each entry of a sparse matrix
  std::vector<double> times_s;    ///< wall-clock seconds of one operation, of every run
  std::string reason;             ///< why there are none, a sentence; empty if there are
};

/// Times every operator of the group `runs` times after a warm-up, many launches at once where they
/// are short, and calls `done` with each. What the device or this machine has no room for has a
/// reason instead of times; so have steps of the conjugate gradients below n = 16.
void time_operators(DeviceContext& context, const OperatorGroup& group, std::size_t n,
                    Precision precision, Storage storage, int runs,
                    const std::function<void(const OperatorTime&)>& done);

}  // namespace lugpu

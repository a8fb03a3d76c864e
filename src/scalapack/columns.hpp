// Whole columns of a matrix in blocks, dealt to the processes of a 1 x P grid, as a descriptor of
// ScaLAPACK's says.
#pragma once

#include <cstddef>

#include "distributed/process_group.hpp"
#include "lugpu/view.hpp"

namespace lugpu::scalapack {

/// Column j is in block j / nb, which process (first + j / nb) mod processes has; a process has its
/// blocks side by side.
struct Columns {
  std::size_t nb, first, processes;

  std::size_t process_of(std::size_t j) const { return (first + j / nb) % processes; }
  /// Where column j is among those of its process.
  std::size_t place_of(std::size_t j) const { return j / nb / processes * nb + j % nb; }
};

enum class Way { to_holder, from_holder };

/// Columns first : first + block.columns of a matrix go from the processes that have them to the
/// block, on process `holder`, or from there to them. local: those that this process has.
/// block.data: only on the holder. All processes call it, in the same order.
template <typename Real>
void exchange(ProcessGroup& processes, const Columns& dealt, View<Real> local, std::size_t first,
              View<Real> block, std::size_t holder, Way way);

}  // namespace lugpu::scalapack

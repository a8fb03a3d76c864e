// The grid of processes that a matrix of ScaLAPACK's is dealt to.
#pragma once

#include <optional>

#include "mpi/communicator.hpp"

namespace lugpu::scalapack {

/// Of a context of the BLACS: rows x columns processes, and where this one is. rows = -1: this
/// process is not in it.
struct Grid {
  int rows = -1, columns = -1, row = -1, column = -1;
};
Grid grid_of(int context);

/// The processes of a grid with one row, in its order. Every process of the grid makes one and
/// destroys it.
class GridProcesses {
 public:
  GridProcesses(int context, const Grid& grid);
  ~GridProcesses() { MPI_Comm_free(&communicator_); }
  GridProcesses(const GridProcesses&) = delete;
  GridProcesses& operator=(const GridProcesses&) = delete;

  Communicator& group() { return *group_; }

 private:
  MPI_Comm communicator_ = MPI_COMM_NULL;
  std::optional<Communicator> group_;
};

}  // namespace lugpu::scalapack

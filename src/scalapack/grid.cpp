#include "scalapack/grid.hpp"

#include "lapack/next.hpp"

namespace lugpu::scalapack {
namespace {

// A function of the BLACS, which are in the ScaLAPACK that the program has.
template <typename Function>
Function* blacs(const char* name) {
  return reinterpret_cast<Function*>(lapack::next_symbol(name));
}

constexpr int kSystemContext = 10;  // of blacs_get: a context's communicator, as Fortran has it

}  // namespace

Grid grid_of(int context) {
  using GridInfo = void(const int* context, int* rows, int* columns, int* row, int* column);
  static GridInfo* const grid_info = blacs<GridInfo>("blacs_gridinfo_");
  Grid grid;
  if (context >= 0) grid_info(&context, &grid.rows, &grid.columns, &grid.row, &grid.column);
  return grid;
}

GridProcesses::GridProcesses(int context, const Grid& grid) {
  using Get = void(const int* context, const int* what, int* value);
  static Get* const get = blacs<Get>("blacs_get_");
  int handle = 0;
  get(&context, &kSystemContext, &handle);
  MPI_Comm_split(MPI_Comm_f2c(handle), 0, grid.column, &communicator_);
  group_.emplace(communicator_);
}

}  // namespace lugpu::scalapack

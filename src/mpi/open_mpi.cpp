// The plug-in that process_group() opens: all processes of mpirun, by Open MPI.
#include "mpi/communicator.hpp"

namespace lugpu {
namespace {

// From the first use of MPI to the last.
struct Session {
  Session() { MPI_Init(nullptr, nullptr); }
  ~Session() { MPI_Finalize(); }
};

}  // namespace
}  // namespace lugpu

extern "C" __attribute__((visibility("default"))) lugpu::ProcessGroup*
lugpu_open_process_group_2() {
  static lugpu::Session session;
  static lugpu::Communicator processes(MPI_COMM_WORLD);
  return &processes;
}

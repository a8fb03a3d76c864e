// The processes of one run, e.g. one on each host.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace lugpu {

/// Processes that run the same program, numbered from 0. All of them call broadcast(),
/// begin_broadcast(), barrier() and shared_memory() in the same order.
class ProcessGroup {
 public:
  virtual ~ProcessGroup() = default;

  virtual std::size_t rank() const = 0;  ///< this process's number
  virtual std::size_t size() const = 0;

  /// `bytes` bytes at `data` of process `root` become those of all.
  void broadcast(void* data, std::size_t bytes, std::size_t root) {
    begin_broadcast(data, bytes, root)();
  }
  /// The same; what it returns waits until the data is there and, on the root, may be overwritten.
  virtual std::function<void()> begin_broadcast(void* data, std::size_t bytes,
                                                std::size_t root) = 0;
  /// `bytes` bytes at `data` of process `from` become those of process `to`; both call this, others
  /// may. Nothing happens if they are the same.
  virtual void move(void* data, std::size_t bytes, std::size_t from, std::size_t to) = 0;
  /// Returns when all processes have called it.
  virtual void barrier() = 0;
  /// `bytes` bytes of zeros that all processes have in common, each at an address of its own; null
  /// if they are on several hosts, or the host has no such memory left.
  virtual std::shared_ptr<char> shared_memory(std::size_t bytes) = 0;
  /// Ends all processes with exit status 1, with a sentence on stderr: a part of the work that they
  /// do together has failed, and the others wait for this one.
  [[noreturn]] virtual void abort(const std::string& sentence) = 0;
};

/// How mpirun or srun has started this process, by the environment.
struct Launch {
  std::size_t rank = 0, size = 1;
  std::size_t local_rank = 0;  ///< among the processes of this host
};
Launch launch();

/// This process alone.
ProcessGroup& one_process();

/// The processes that mpirun has started. Opens MPI, which is a plug-in (src/mpi), if there are
/// several. Throws Error (failure) if that is not there.
ProcessGroup& process_group();

/// Its only symbol, with the version of ProcessGroup.
using OpenProcessGroup = ProcessGroup*();
constexpr const char* kOpenProcessGroup = "lugpu_open_process_group_2";

}  // namespace lugpu

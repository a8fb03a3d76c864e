// ProcessGroup by a communicator of MPI.
#pragma once

#include <mpi.h>

#include "distributed/process_group.hpp"

namespace lugpu {

/// The processes of a communicator, which must outlive this. MPI has been initialized.
class Communicator : public ProcessGroup {
 public:
  explicit Communicator(MPI_Comm communicator);

  std::size_t rank() const override { return static_cast<std::size_t>(rank_); }
  std::size_t size() const override { return static_cast<std::size_t>(size_); }
  std::function<void()> begin_broadcast(void* data, std::size_t bytes, std::size_t root) override;
  void move(void* data, std::size_t bytes, std::size_t from, std::size_t to) override;
  void barrier() override;
  std::shared_ptr<char> shared_memory(std::size_t bytes) override;
  [[noreturn]] void abort(const std::string& sentence) override;

 private:
  MPI_Comm communicator_;
  int rank_ = 0, size_ = 1;
  bool one_host_ = false;
};

}  // namespace lugpu

#include "mpi/communicator.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace lugpu {
namespace {

using Clock = std::chrono::steady_clock;

// MPI's own waits keep a core busy. These sleep for a hundredth of the time that they have waited,
// a millisecond at most, which leaves the cores to the devices that are CPUs.
void wait(MPI_Request& request) {
  constexpr std::chrono::microseconds kBusy(20), kLongest(1000);
  const Clock::time_point start = Clock::now();
  for (int done = 0;;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done) return;
    const auto waited = Clock::now() - start;
    if (waited < kBusy) continue;
    std::this_thread::sleep_for(std::min<Clock::duration>(waited / 100, kLongest));
  }
}

// Messages have an int for their length.
constexpr std::size_t kLongestMessage = std::size_t{1} << 30;

template <typename Begin>
std::vector<MPI_Request> in_messages(void* data, std::size_t bytes, const Begin& begin) {
  std::vector<MPI_Request> requests;
  for (std::size_t at = 0; at < bytes; at += kLongestMessage) {
    requests.push_back(MPI_REQUEST_NULL);
    begin(static_cast<char*>(data) + at, static_cast<int>(std::min(kLongestMessage, bytes - at)),
          &requests.back());
  }
  return requests;
}

// Memory of the host under a name that the first process has chosen; null if there is none.
using Name = std::array<char, 64>;
std::shared_ptr<char> map_memory(int file, std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return nullptr;
  return {static_cast<char*>(memory), [bytes](char* mapped) { munmap(mapped, bytes); }};
}
std::shared_ptr<char> find_memory(const Name& name, std::size_t bytes) {
  const int file = shm_open(name.data(), O_RDWR, 0);
  if (file < 0) return nullptr;
  const std::shared_ptr<char> memory = map_memory(file, bytes);
  close(file);
  return memory;
}
// Under a new name, or, without memory, none. A page that could not be had later would end the
// process.
std::shared_ptr<char> make_memory(Name& name, std::size_t bytes) {
  static std::atomic<unsigned> count = 0;
  int file = -1;
  do {
    std::snprintf(name.data(), name.size(), "/lugpu-%ld-%u", static_cast<long>(getpid()), count++);
    file = shm_open(name.data(), O_RDWR | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
  } while (file < 0 && errno == EEXIST);
  std::shared_ptr<char> memory;
  if (file >= 0 && posix_fallocate(file, 0, static_cast<off_t>(bytes)) == 0) {
    memory = map_memory(file, bytes);
  }
  if (file >= 0) close(file);
  if (file >= 0 && !memory) shm_unlink(name.data());
  if (!memory) name = {};
  return memory;
}

}  // namespace

Communicator::Communicator(MPI_Comm communicator) : communicator_(communicator) {
  MPI_Comm_rank(communicator_, &rank_);
  MPI_Comm_size(communicator_, &size_);
  MPI_Comm host;
  int on_host = 0;
  MPI_Comm_split_type(communicator_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  MPI_Comm_size(host, &on_host);
  MPI_Comm_free(&host);
  one_host_ = on_host == size_;
}

std::function<void()> Communicator::begin_broadcast(void* data, std::size_t bytes,
                                                    std::size_t root) {
  auto requests = in_messages(data, bytes, [&](void* part, int count, MPI_Request* request) {
    MPI_Ibcast(part, count, MPI_BYTE, static_cast<int>(root), communicator_, request);
  });
  return [requests]() mutable { std::for_each(requests.begin(), requests.end(), wait); };
}

void Communicator::move(void* data, std::size_t bytes, std::size_t from, std::size_t to) {
  if (from == to || (rank() != from && rank() != to)) return;
  auto requests = in_messages(data, bytes, [&](void* part, int count, MPI_Request* request) {
    if (rank() == from) {
      MPI_Isend(part, count, MPI_BYTE, static_cast<int>(to), 0, communicator_, request);
    } else {
      MPI_Irecv(part, count, MPI_BYTE, static_cast<int>(from), 0, communicator_, request);
    }
  });
  std::for_each(requests.begin(), requests.end(), wait);
}

void Communicator::barrier() {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(communicator_, &request);
  wait(request);
}

// The name is given up as soon as all have the memory, so that none is left behind.
std::shared_ptr<char> Communicator::shared_memory(std::size_t bytes) {
  if (!one_host_ || size_ == 1 || bytes == 0) return nullptr;
  Name name{};
  std::shared_ptr<char> memory;
  if (rank_ == 0) memory = make_memory(name, bytes);
  broadcast(name.data(), name.size(), 0);
  if (name[0] == 0) return nullptr;
  if (rank_ != 0) memory = find_memory(name, bytes);
  int mine = memory != nullptr, all = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(&mine, &all, 1, MPI_INT, MPI_MIN, communicator_, &request);
  wait(request);
  if (rank_ == 0) shm_unlink(name.data());
  return all ? memory : nullptr;
}

void Communicator::abort(const std::string& sentence) {
  char host[HOST_NAME_MAX + 1] = "";
  gethostname(host, sizeof host - 1);
  std::fprintf(stderr, "lugpu: process %d on %s: %s\n", rank_, host, sentence.c_str());
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  std::_Exit(EXIT_FAILURE);
}

}  // namespace lugpu

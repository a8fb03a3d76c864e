#include "formats/mapped_matrix.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "base/host_memory.hpp"
#include "base/output_file.hpp"
#include "base/printable.hpp"

namespace lugpu {
namespace {

// The file that was mapped last.
struct {
  std::atomic<const char*> begin = nullptr;
  std::size_t bytes = 0;
  std::string sentence;
} watched;

// Calls only what a handler of signals may call. A signal that another process sent has no address.
void end_with_sentence(int signal, siginfo_t* info, void* /*context*/) {
  const char* const begin = watched.begin;
  const auto* const address = static_cast<const char*>(info->si_addr);
  if (info->si_code > 0 && begin && address >= begin && address < begin + watched.bytes) {
    const std::string& sentence = watched.sentence;
    [[maybe_unused]] const auto count = write(STDERR_FILENO, sentence.data(), sentence.size());
    remove_unfinished_files();
    _exit(1);
  }
  std::signal(signal, SIG_DFL);
  raise(signal);  // once this handler has returned
}

void watch(const void* begin, std::size_t bytes, const std::string& path) {
  watched.begin = nullptr;
  watched.bytes = bytes;
  watched.sentence = "lugpu: " + printable(path) +
                     " cannot be read any more: it has become shorter, or its disk fails.\n";
  watched.begin = static_cast<const char*>(begin);
  struct sigaction action = {};
  if (sigaction(SIGBUS, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) return;
  action.sa_sigaction = end_with_sentence;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace

MappedMatrix::MappedMatrix(const InputFile& file, std::size_t offset, std::size_t rows,
                           std::size_t cols, std::size_t element, Order order)
    : memory_(mmap(nullptr, file.size(), PROT_READ, MAP_SHARED, file.descriptor(), 0)),
      bytes_(file.size()),
      offset_(offset),
      rows_(rows),
      cols_(cols),
      element_(element),
      order_(order) {
  if (memory_ == MAP_FAILED && errno == ENOMEM) {
    throw Unsupported(file.path() + ": its " + gigabytes(static_cast<double>(bytes_)) +
                      " do not fit into the addresses that `ulimit -v` leaves; raise that limit.");
  }
  if (memory_ == MAP_FAILED) {
    throw file.error(0, std::string("cannot be mapped to memory (") + std::strerror(errno) + ")");
  }
  watch(memory_, bytes_, file.path());
}

MappedMatrix::~MappedMatrix() {
  if (!memory_) return;
  if (watched.begin == memory_) watched.begin = nullptr;
  munmap(memory_, bytes_);
}

MappedMatrix::MappedMatrix(MappedMatrix&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)),
      bytes_(other.bytes_),
      offset_(other.offset_),
      rows_(other.rows_),
      cols_(other.cols_),
      element_(other.element_),
      order_(other.order_) {}

MatrixView MappedMatrix::view() const {
  const void* const data = static_cast<const char*>(memory_) + offset_;
  const std::size_t ld = order_ == Order::columns ? rows_ : cols_;
  if (element_ == sizeof(float)) {
    return View<const float>{static_cast<const float*>(data), rows_, cols_, ld, order_};
  }
  return View<const double>{static_cast<const double*>(data), rows_, cols_, ld, order_};
}

}  // namespace lugpu

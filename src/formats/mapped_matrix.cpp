#include "formats/mapped_matrix.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "base/host_memory.hpp"

namespace lugpu {

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
}

MappedMatrix::~MappedMatrix() {
  if (memory_) munmap(memory_, bytes_);
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

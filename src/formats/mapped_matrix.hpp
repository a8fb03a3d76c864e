// A dense matrix that stays in its file.
#pragma once

#include <cstddef>

#include "formats/input_file.hpp"
#include "matrix/matrix.hpp"

namespace lugpu {

/// A file in the address space, read-only: the system reads what is used, and may drop it again
/// when memory is needed for something else. Where the file that was mapped last has become shorter
/// meanwhile, or its disk fails, the process ends with a sentence and exit status 1, from a handler
/// of SIGBUS.
class MappedMatrix {
 public:
  /// rows x cols floats or doubles (element: 4 or 8 bytes) of this machine from byte `offset` on, a
  /// multiple of `element`. Throws InputError if the file cannot be mapped, Unsupported if there
  /// are too few addresses.
  MappedMatrix(const InputFile& file, std::size_t offset, std::size_t rows, std::size_t cols,
               std::size_t element, Order order);
  ~MappedMatrix();
  MappedMatrix(MappedMatrix&& other) noexcept;
  MappedMatrix& operator=(MappedMatrix&&) = delete;

  MatrixView view() const;

 private:
  void* memory_;
  std::size_t bytes_, offset_, rows_, cols_, element_;
  Order order_;
};

}  // namespace lugpu

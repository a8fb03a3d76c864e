// LU of a batch of small matrices, all at once: cpu/batch_lu.cl, gpu/batch_small.cl,
// gpu/batch_small_full.cl, gpu/batch_blocked.cl, gpu/batch_full.cl, gpu/batch_memory.cl,
// gpu/batch_memory_full.cl.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dense/options.hpp"
#include "lugpu/batch.hpp"
#include "opencl/context.hpp"

namespace lugpu {

/// A kernel of GPUs: a matrix of order up to `order` has `items` work-items, a work-group so many
/// matrices, and local memory so many columns of one, where it has any. registers: of a work-item
/// on NVIDIA's GPUs, so that more work-groups share a multiprocessor; 0: as many as the compiler
/// takes. pending: steps of gpu/batch_memory_full.cl from one in which the matrix is written to the
/// next.
struct BatchKernel {
  const char* file;
  std::size_t order, items, matrices, columns = 0, registers = 0, pending = 0;
};

/// The kernels that factor a batch.
enum class BatchPath {
  vectors,       ///< a matrix in each element of a CPU's vectors
  registers,     ///< some work-items of a GPU for each, with a matrix or a panel of it in registers
  memory,        ///< a matrix in global memory, a work-group for each
  memory_first,  ///< the same with full pivoting, until what is left fits registers
};

/// How elements of a batch follow one another on the device: member m is in group m / lanes, and
/// its element (i, j) at ((m / lanes * rows + i) * pitch + j) * lanes + m % lanes.
struct BatchLayout {
  std::size_t lanes, rows, columns, pitch;

  std::size_t elements_of_group() const { return lanes * rows * pitch; }
};

struct BatchSize {
  std::size_t count = 0, n = 0;
};

/// P A Q = L U of every member of a batch. Its device memory is allocated once; it may be used
/// again and again. A member's bits do not depend on the others.
class BatchLu {
 public:
  /// No more elements are in one buffer, so that kernels count them in 32 bits.
  static constexpr std::size_t kMostElements = (std::size_t{1} << 31) - 1;

  /// The fastest kernels for members of order n for which the device has the local memory.
  static BatchPath path(const Device& device, std::size_t n, Precision precision, Pivot pivot);
  /// Throws Unsupported, before anything is allocated, if the device cannot hold or factor such a
  /// batch.
  static void require_room(const Device& device, const BatchSize& size, Precision precision,
                           Pivot pivot);

  /// pivot: none, partial or full. most_elements: of a buffer; fewer in tests.
  BatchLu(DeviceContext& context, const BatchSize& size, Precision precision, Pivot pivot,
          BatchPath path, std::size_t most_elements = kMostElements);

  const BatchSize& size() const { return size_; }
  Precision precision() const { return precision_; }
  Pivot pivot() const { return pivot_; }
  /// "nvidia" or "portable", the kernels for GPUs; null for those of CPUs.
  std::optional<std::string> variant() const;

  /// a: size().count members, n x n. T: of the precision.
  template <typename T>
  void upload(const Batch<const T>& a);
  /// Enqueues the factorization of what was uploaded.
  void factor();

  /// Of the last factor(): of each member, the first pivot (1-based) that is exactly zero, or 0.
  std::vector<int> info();
  /// n of each member, 1-based, as LAPACK's getrf and getc2 have them; empty without them.
  std::vector<int> ipiv();
  std::vector<int> jpiv();

  /// X with A X = B, n x columns each; from and to may be the same.
  template <typename T>
  void solve(const Batch<const T>& from, const Batch<T>& to);
  /// inv(A), n x n each.
  template <typename T>
  void inverse(const Batch<T>& to);
  /// L and U, n x n each.
  template <typename T>
  void download_factors(const Batch<T>& to);

  /// The buffers of the matrices, with room for `bytes` each; for a benchmark's copies of them.
  struct Part {
    cl::Buffer matrices, ipiv, jpiv, info;
    std::size_t first, count;  ///< members; `first` begins a group
    std::size_t bytes;         ///< of the matrices
  };
  const std::vector<Part>& parts() const { return parts_; }

 private:
  BatchLu(DeviceContext& context, const BatchSize& size, Precision precision, Pivot pivot,
          BatchPath path, std::size_t most_elements, bool nvidia);
  /// Whether NVIDIA's instructions are there and factor a batch of the kernel's order right.
  static bool suits_nvidia(DeviceContext& context, std::size_t n, Precision precision, Pivot pivot,
                           BatchPath path);

  std::size_t groups(std::size_t members) const { return ceiling(members, layout_.lanes); }
  BatchKernel gpu_kernel() const;  // of the first launch, but for BatchPath::vectors
  KernelId factor_kernel(const BatchKernel& kernel) const;
  /// sizes: what the kernel takes beside n and the number of members.
  template <typename... Sizes>
  void enqueue_factor(const Part& part, const KernelId& id, std::size_t items, Sizes... sizes);
  void factor_by_launches(const Part& part);
  std::vector<int> places(bool columns);
  /// Calls work(part, first, count) for slices of whole groups of members, first in the batch,
  /// whose matrices with so many columns have some 64 MiB.
  void for_slices(std::size_t columns,
                  const std::function<void(Part&, std::size_t first, std::size_t count)>& work);
  void enqueue_solve(const Part& part, const cl::Buffer& x, std::size_t first, std::size_t count,
                     std::size_t columns);

  DeviceContext& context_;
  const BatchSize size_;
  const Precision precision_;
  const Pivot pivot_;
  const BatchPath path_;
  const bool nvidia_;
  const BatchLayout layout_;
  std::string options_;  // of its kernels
  std::vector<Part> parts_;
};

}  // namespace lugpu

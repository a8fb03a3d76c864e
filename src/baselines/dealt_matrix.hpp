// A matrix in the memory of several CUDA devices, as cuSOLVERMg and cuSOLVERMp take it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "baselines/cuda_runtime.hpp"
#include "matrix/matrix.hpp"
#include "opencl/device.hpp"
#include "solve/problem.hpp"

namespace lugpu {

/// The CUDA devices for `device` and problem.dense.others. Throws Unsupported, for the library of
/// this name, if these are not different ones of one process, or no CUDA devices.
std::vector<int> devices_that_share(const std::string& library, const Device& device,
                                    const Problem& problem);
/// Throws as that, and if A and B, twice each, do not fit into their memory.
void require_dealt_matrices(const std::string& library, const Device& device,
                            const Problem& problem);

/// Columns in blocks of `block`, dealt to the devices cyclically; a device has its own ones side by
/// side, each of all rows. Throws Unsupported if there is not enough memory.
template <typename Real>
class DealtMatrix {
 public:
  DealtMatrix(const std::vector<int>& devices, std::size_t rows, std::size_t columns,
              std::size_t block)
      : devices_(devices), rows_(rows), columns_(columns), block_(block) {
    for (const int device : devices_) {
      use_device(device);
      memory_.push_back(allocate(bytes_of_device()));
      pointers_.push_back(memory_.back().get());
    }
  }

  /// Of each device.
  void** pointers() { return pointers_.data(); }

  void upload(const MatrixView& matrix) const {
    for_blocks([&](Real* there, std::size_t first, std::size_t count) {
      lugpu::upload<Real>(there, matrix.part(first, count));
    });
  }
  Matrix download() const {
    std::vector<Real> values(rows_ * columns_);
    for_blocks([&](const Real* there, std::size_t first, std::size_t count) {
      copy(values.data() + first * rows_, there, count * rows_ * sizeof(Real), kDeviceToHost);
    });
    Matrix all(rows_, columns_);
    std::copy(values.begin(), values.end(), all.values().begin());
    return all;
  }
  void copy_from(const DealtMatrix& other) const {
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      use_device(devices_[d]);
      copy(pointers_[d], other.pointers_[d], bytes_of_device(), kDeviceToDevice);
    }
  }

 private:
  std::size_t bytes_of_device() const {
    const std::size_t blocks = ceiling(ceiling(columns_, block_), devices_.size());
    return blocks * block_ * rows_ * sizeof(Real);
  }
  // Calls action(device memory, first column, columns) for each block.
  template <typename Action>
  void for_blocks(const Action& action) const {
    for (std::size_t first = 0, block = 0; first < columns_; first += block_, ++block) {
      const std::size_t device = block % devices_.size();
      use_device(devices_[device]);
      const std::size_t count = std::min(block_, columns_ - first);
      action(static_cast<Real*>(pointers_[device]) + block / devices_.size() * block_ * rows_,
             first, count);
    }
  }

  std::vector<int> devices_;
  std::size_t rows_, columns_, block_;
  std::vector<Memory> memory_;
  std::vector<void*> pointers_;  // of memory_
};

}  // namespace lugpu

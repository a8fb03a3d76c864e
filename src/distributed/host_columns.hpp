// The home in host memory of a matrix that its devices hold a window at a time.
#pragma once

#include <vector>

#include "distributed/block_columns.hpp"
#include "opencl/element.hpp"

namespace lugpu {

/// Block columns of A, then of L and U, each n rows by rows, as panels are on a device. L stays as
/// its panel was factored: interchanges of later panels are left out.
class HostColumns {
 public:
  /// Uninitialized; `context` must outlive it.
  HostColumns(DeviceContext& context, const BlockColumns& dealt, Precision precision);
  static std::uint64_t bytes(const BlockColumns& dealt, Precision precision);

  /// Bytes from row to row.
  std::size_t pitch() const { return pitch_; }
  /// Row i of block column j.
  char* row(std::size_t j, std::size_t i) { return columns_[j] + i * pitch_; }

 private:
  std::size_t pitch_;
  std::vector<Staging> memory_;  // one for each block column: the largest allocation limits them
  std::vector<char*> columns_;
};

}  // namespace lugpu

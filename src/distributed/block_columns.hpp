// A's columns dealt to devices.
#pragma once

#include <algorithm>
#include <cstddef>

#include "opencl/context.hpp"

namespace lugpu {

/// n columns in block columns of nb, dealt to `devices` cyclically: block column j belongs to
/// device j mod devices (ScaLAPACK's 1 x P grid), which has its own ones side by side.
struct BlockColumns {
  std::size_t n, nb, devices;

  std::size_t blocks() const { return ceiling(n, nb); }
  std::size_t owner(std::size_t j) const { return j % devices; }
  /// Of block column j: its columns of A are first(j) : first(j) + width(j), on its device they are
  /// from place(j) on.
  std::size_t first(std::size_t j) const { return j * nb; }
  std::size_t width(std::size_t j) const { return std::min(nb, n - first(j)); }
  std::size_t place(std::size_t j) const { return j / devices * nb; }
  /// Columns of a device that belong to block columns before j; all for j = blocks().
  std::size_t columns_before(std::size_t j, std::size_t device) const {
    const std::size_t before = (j + devices - 1 - device) / devices;
    const bool last = j == blocks() && j > 0 && owner(j - 1) == device;
    return last ? (before - 1) * nb + width(j - 1) : before * nb;
  }
};

}  // namespace lugpu

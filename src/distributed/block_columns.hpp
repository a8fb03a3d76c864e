// Where A's columns are: on which device, in which buffer, in which window.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "opencl/context.hpp"

namespace lugpu {

/// n columns in block columns of nb, dealt to `devices` cyclically: block column j belongs to
/// device j mod devices (ScaLAPACK's 1 x P grid). Devices hold a window of `window` block columns
/// at a time, a multiple of `devices`; in core that is all of them. A device has its own ones of a
/// window side by side in slabs, buffers of `slab` block columns each. Beside these they have
/// copies of `panels` block columns: two are enough, in windows a third one saves waiting.
struct BlockColumns {
  std::size_t n, nb, devices, window, slab, panels = 2;

  std::size_t blocks() const { return ceiling(n, nb); }
  std::size_t windows() const { return n == 0 ? 1 : ceiling(blocks(), window); }
  std::size_t owner(std::size_t j) const { return j % devices; }
  /// Of block column j: its columns of A are first(j) : first(j) + width(j); on its device they are
  /// in slab slab_of(j), from column place(j) on.
  std::size_t first(std::size_t j) const { return j * nb; }
  std::size_t width(std::size_t j) const { return std::min(nb, n - first(j)); }
  std::size_t slab_of(std::size_t j) const { return index(j) / slab; }
  std::size_t place(std::size_t j) const { return index(j) % slab * nb; }

  /// Columns first : end of a slab.
  struct Columns {
    std::size_t slab, first, end;
    bool operator==(const Columns&) const = default;
  };
  /// Where a device has its block columns out of from : to, all of one window.
  std::vector<Columns> on_device(std::size_t device, std::size_t from, std::size_t to) const {
    std::vector<Columns> found;
    std::size_t j = from + (device + devices - from % devices) % devices;
    while (j < to) {
      const std::size_t room = slab - index(j) % slab;
      const std::size_t last = j + (std::min(room, ceiling(to - j, devices)) - 1) * devices;
      found.push_back({slab_of(j), place(j), place(last) + width(last)});
      j = last + devices;
    }
    return found;
  }

 private:
  // Among the block columns of its window on its device.
  std::size_t index(std::size_t j) const { return j % window / devices; }
};

}  // namespace lugpu

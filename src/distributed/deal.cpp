#include "distributed/deal.hpp"

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/host_memory.hpp"
#include "dense/blocked.hpp"
#include "distributed/crew.hpp"
#include "distributed/host_columns.hpp"
#include "distributed/row_moves.hpp"
#include "opencl/transfer.hpp"

namespace lugpu {
namespace {

constexpr std::size_t kMultiple = 64;  // of columns of a block, as the kernels of Blocked have them
constexpr std::size_t kNarrowBlock = 6 * kMultiple;  // leaves a GPU's windows enough memory

// What a GPU computes while a byte comes from the host: one of today with PCI Express 5, 130 or, in
// double, 45 TFLOP/s and 50 GB/s.
constexpr double operations_per_byte(Precision precision) {
  return precision == Precision::double_precision ? 900 : 2600;
}

// GPUs that share a large matrix were fastest with wider blocks than one alone has.
constexpr std::size_t kSharedBlock = 14 * kMultiple, kLargeShared = 32768;

// Of the factors, what callers of DenseFactorization::factors() take at a time.
constexpr std::size_t kColumnsOfFactors = 256;

std::string size_text(std::uint64_t bytes) {
  const bool small = bytes < (1u << 30);
  char text[32];
  std::snprintf(text, sizeof text, small ? "%.1f MiB" : "%.1f GiB",
                static_cast<double>(bytes) / (small ? 1u << 20 : 1u << 30));
  return text;
}

// The memory of one device's share with blocks of nb columns.
class Share {
 public:
  Share(const Device& device, const Size& size, const DenseOptions& options, std::size_t nb,
        std::size_t panels = 2)
      : device_(device),
        size_(size),
        options_(options),
        nb_(std::min(nb, size.n)),
        panels_(panels) {}

  std::uint64_t block_columns(std::size_t count) const {
    return static_cast<std::uint64_t>(size_.n) * row(count * nb_);
  }
  // Block columns of a buffer, at least one.
  std::size_t slab() const {
    if (size_.n == 0) return 1;
    const std::size_t columns = device_.max_allocation / size_.n / element_size(options_.precision);
    std::size_t count = std::max<std::size_t>(columns / nb_, 1);
    while (count > 1 && block_columns(count) > device_.max_allocation) --count;
    return count;
  }
  // Block columns in slabs, with room for the rows of them that move, and for a block row of U.
  std::uint64_t slabs(std::size_t count) const {
    const std::size_t whole = count / slab(), rest = count % slab();
    return whole * block_columns(slab()) + block_columns(rest) +
           3 * nb_ * row(std::min(count, slab()) * nb_);
  }
  // Besides them while A is factored: panels, their interchanges, B.
  std::uint64_t to_factor() const {
    Shape panel = {size_.n, nb_, options_.pivot, options_.precision};
    panel.updates_others = true;
    return panels_ * block_columns(1) + RowMoves::bytes(size_.n, nb_) + size_.n * row(size_.nrhs) +
           Blocked::workspace(device_, panel);
  }
  // And before or after that, one after another: columns on their way; X, with a transposed panel
  // or two; factors.
  std::uint64_t to_solve() const {
    const std::uint64_t columns =
        piece_bytes(size_.n, std::max(nb_, size_.nrhs), options_.precision);
    const std::uint64_t solution = 3 * (size_.n + nb_) * row(size_.nrhs) + 2 * block_columns(1);
    const std::uint64_t factors =
        size_.n * row(std::min(kColumnsOfFactors, size_.n)) + 2 * block_columns(1);
    return std::max({columns, solution, factors});
  }
  // For `count` block columns at a time, of `all`: buffers for windows are there only while A is
  // factored.
  std::uint64_t bytes(std::size_t count, std::size_t all) const {
    if (count < all) return to_factor() + std::max(slabs(count), to_solve());
    return to_factor() + slabs(count) + to_solve();
  }

 private:
  std::uint64_t row(std::size_t columns) const {
    return Surface::pitch_of(columns, options_.precision, Storage::buffer) *
           element_size(options_.precision);
  }

  const Device& device_;
  const Size& size_;
  const DenseOptions& options_;
  std::size_t nb_, panels_;
};

// Of the device and options.others, the first `count`; other processes have devices like them.
std::vector<const Device*> devices_of(const Device& device, const DenseOptions& options,
                                      std::size_t count) {
  std::vector<const Device*> devices = {&device};
  for (const DeviceContext* other : options.others) devices.push_back(&other->device());
  devices.resize(std::min(count, devices.size()));
  return devices;
}

// Whether every device has the memory for its shares, `count` block columns of `all` in each.
bool fits(const std::vector<const Device*>& devices, const Size& size, const DenseOptions& options,
          std::size_t nb, std::size_t count, std::size_t all, std::size_t panels = 2) {
  std::map<void*, std::uint64_t> taken;  // a device may have several shares
  for (const Device* device : devices) {
    const Share share(*device, size, options, nb, panels);
    std::uint64_t& bytes = taken[device->id];
    bytes += share.bytes(count, all);
    if (bytes > device->global_memory || share.block_columns(1) > device->max_allocation) {
      return false;
    }
  }
  return true;
}

// The most block columns that a device can have at a time, of `all`; 0 for none.
std::size_t most_at_a_time(const std::vector<const Device*>& devices, const Size& size,
                           const DenseOptions& options, std::size_t nb, std::size_t all) {
  if (fits(devices, size, options, nb, all, all)) return all;
  std::size_t most = 0, too_many = all;
  while (too_many - most > 1) {
    const std::size_t count = (most + too_many) / 2;
    (fits(devices, size, options, nb, count, all) ? most : too_many) = count;
  }
  return most;
}

std::string does_not_fit(const Device& device, const Size& size, const DenseOptions& options) {
  const std::string n = std::to_string(size.n);
  return "A " + n + " x " + n + " system (" + name(options.precision) + ") does not fit on " +
         device.name + " even in parts: ";
}

void require_window(const Device& device, const Size& size, const DenseOptions& options,
                    std::size_t nb, std::size_t most) {
  if (most > 0) return;
  const Share share(device, size, options, nb);
  const std::string why = does_not_fit(device, size, options) + "blocks of " + std::to_string(nb) +
                          " columns take " + size_text(share.bytes(1, 2)) + " in buffers of " +
                          size_text(share.block_columns(1)) + ", and it has " +
                          size_text(device.global_memory) + " in buffers of at most " +
                          size_text(device.max_allocation);
  if (nb > kMultiple) throw Unsupported(why, {"nb", std::to_string(kMultiple)});
  throw Unsupported(why + ".");
}

// Whether a device's copies take less time than its operations: its share of A comes, and in each
// of w windows all panels of the windows before, (w - 1) / 2 - (w - 1) (2 w - 1) / (12 w) times A
// in all, and the other devices' panels of that window, up to half of A; it has its share of 2/3
// n^3 operations.
bool operations_hide_copies(const Size& size, Precision precision, std::size_t devices,
                            std::size_t windows) {
  const double n = static_cast<double>(size.n), w = static_cast<double>(windows);
  const double share = 1 / static_cast<double>(devices);
  const double panels = (w - 1) / 2 - (w - 1) * (2 * w - 1) / (12 * w) + (1 - share) / 2;
  const double bytes = (share + panels) * n * n * static_cast<double>(element_size(precision));
  return bytes * operations_per_byte(precision) <= share * 2 / 3 * n * n * n;
}

// For the factors; A is the caller's.
void require_host_memory(const Device& device, const Size& size, const DenseOptions& options,
                         const BlockColumns& dealt) {
  const std::uint64_t bytes = HostColumns::bytes(dealt, options.precision);
  if (dealt.windows() == 1 || bytes <= host_memory()) return;
  throw Unsupported(does_not_fit(device, size, options) + "its factors take " + size_text(bytes) +
                    " of the host's memory, which is " + size_text(host_memory()) + ".");
}

void require_devices(const std::vector<const Device*>& devices, const Size& size,
                     const DenseOptions& options, std::size_t nb) {
  if (nb % kMultiple != 0 || size.rows != size.n) {
    throw Unsupported(
        "Matrices are shared or held in parts if they are square, in blocks of a "
        "multiple of " +
        std::to_string(kMultiple) + " columns.");
  }
  for (const Device* each : devices) {
    require_fits(*each, 0, 0, options.precision, Storage::buffer, 1, 0);
    if (kind_of(*each) == kind_of(*devices.front())) continue;
    throw Unsupported("Devices share a matrix in equal parts: " + devices.front()->name + " and " +
                      each->name + " are not of one kind.");
  }
}

std::size_t devices_for(std::size_t blocks, const DenseOptions& options) {
  return std::clamp<std::size_t>(blocks, 1, device_count(options));
}

}  // namespace

std::size_t distributed_block_size(const Device& device, const Size& size,
                                   const DenseOptions& options) {
  std::size_t nb = Blocked::block_size(device, {size.n, size.n, options.pivot, options.precision});
  if (device.type == "gpu" && device_count(options) > 1 && size.n >= kLargeShared) {
    nb = kSharedBlock;
  }
  const auto held = [&](std::size_t width) {
    const std::size_t blocks = ceiling(size.n, width), count = devices_for(blocks, options);
    const std::size_t all = ceiling(blocks, count);
    const auto devices = devices_of(device, options, count);
    return std::pair(most_at_a_time(devices, size, options, width, all), all);
  };
  if (const auto [most, all] = held(nb); most == all) return nb;
  // Every window takes all panels before it: few wide ones take a CPU less time, and a GPU if its
  // windows do not become more, or their copies hide.
  if (device.type == "cpu") {
    if (options.precision == Precision::single_precision) nb += kMultiple;
  } else {
    const auto windows = [&](std::size_t width) {
      const auto [most, all] = held(width);
      return most == 0 ? SIZE_MAX : ceiling(all, most);
    };
    const std::size_t narrow = std::min(nb, kNarrowBlock), fewest = windows(narrow);
    const auto suits = [&](std::size_t width) {
      const std::size_t count = windows(width);
      return count <= fewest ||
             operations_hide_copies(size, options.precision, device_count(options), count);
    };
    while (nb > narrow && !suits(nb)) nb -= kMultiple;
  }
  for (; nb > kMultiple; nb -= kMultiple) {
    const auto [most, all] = held(nb);
    const Share share(device, size, options, nb);
    if (most == all || 2 * share.slabs(most) > share.bytes(most, all)) break;
  }
  return nb;
}

BlockColumns deal(const Device& device, const Size& size, const DenseOptions& options) {
  const std::size_t nb =
      options.nb > 0 ? options.nb : distributed_block_size(device, size, options);
  const std::size_t blocks = ceiling(size.n, nb), count = devices_for(blocks, options);
  const std::vector<const Device*> devices = devices_of(device, options, count);
  require_devices(devices, size, options, nb);
  const std::size_t all = std::max<std::size_t>(ceiling(blocks, count), 1);
  const std::size_t most = most_at_a_time(devices, size, options, nb, all);
  require_window(device, size, options, nb, most);
  if (options.crew && most < all) {
    throw Unsupported(
        "Processes hold a shared matrix in their devices' memory alone, and A of order " +
        std::to_string(size.n) + " takes more; start more processes.");
  }
  const std::size_t windows = ceiling(all, most), of_window = ceiling(all, windows);
  const std::size_t slab = Share(device, size, options, nb).slab();
  const bool third = windows > 1 && fits(devices, size, options, nb, of_window, all, 3);
  const BlockColumns dealt = {size.n, nb, count, of_window * count, slab, third ? 3u : 2u};
  require_host_memory(device, size, options, dealt);
  return dealt;
}

}  // namespace lugpu

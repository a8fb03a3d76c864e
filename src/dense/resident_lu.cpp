#include "dense/resident_lu.hpp"

#include <algorithm>

namespace lugpu {
namespace {

constexpr std::size_t kColumns = 8;                   // of a work-group
constexpr std::size_t kLastRows = 512;                // of another launch
constexpr std::size_t kHeader = 32 * sizeof(cl_int);  // bytes

/// The work-items of a work-group and the rows of each.
struct Slots {
  std::size_t items, rows;
};

// Few rows in a work-item are few instructions for each column, few work-items have less to wait
// for one another.
Slots slots_for(std::size_t rows) {
  if (rows <= 256) return {256, 1};
  if (rows <= 512) return {256, 2};
  if (rows <= 1024) return {512, 2};
  return {512, 4};
}

// The number of work-groups that have started; headers and L of all blocks, for a matrix
// of this size.
std::uint64_t message_bytes(std::size_t rows, std::size_t columns, Precision precision) {
  const std::size_t blocks = ceiling(std::min(rows, columns), kColumns);
  const Slots slots = slots_for(rows);
  return kHeader +
         blocks * (kHeader + slots.items * slots.rows * kColumns * element_size(precision));
}

}  // namespace

ResidentLu::ResidentLu(DeviceContext& context, std::size_t rows, std::size_t columns,
                       Precision precision, bool nvidia)
    : context_(context),
      precision_(precision),
      nvidia_(nvidia),
      messages_(context.allocate(message_bytes(rows, columns, precision))),
      goes_to_(context.allocate(rows * sizeof(cl_int))) {}

std::uint64_t ResidentLu::workspace(std::size_t rows, std::size_t columns, Precision precision) {
  const std::size_t most = std::min(rows, kMostRows);
  return message_bytes(most, columns, precision) + most * sizeof(cl_int);
}

void ResidentLu::factor(Surface& a, std::size_t first, const cl::Buffer& ipiv,
                        const cl::Buffer& info) {
  const std::size_t end = std::min(a.rows(), a.columns());
  while (first < end) {
    // Rows do not move, so a work-group keeps as many of them as it has at first.
    const std::size_t rows = a.rows() - first;
    const std::size_t blocks =
        rows > kLastRows ? ceiling(rows - kLastRows, kColumns) : ceiling(end - first, kColumns);
    const std::size_t stop = std::min(end, first + blocks * kColumns);
    factor_columns(a, first, stop, ipiv, info);
    first = stop;
  }
}

void ResidentLu::factor_columns(Surface& a, std::size_t first, std::size_t stop,
                                const cl::Buffer& ipiv, const cl::Buffer& info) {
  const std::size_t m = a.rows() - first, n = a.columns() - first;
  const Slots slots = slots_for(m);
  KernelId id =
      a.kernel("gpu/resident_lu.cl", "factor_columns",
               " -DITEMS=" + std::to_string(slots.items) + " -DROWS=" + std::to_string(slots.rows));
  if (nvidia_) id.options += " -DLUGPU_NVIDIA";
  if (context_.device().type == "gpu") id.options += " -DUNROLLED";
  const auto rows = static_cast<cl_int>(a.rows()), columns = static_cast<cl_int>(a.columns());
  const auto start = static_cast<cl_int>(first), width = static_cast<cl_int>(stop - first);

  context_.fill(messages_, 0xff, message_bytes(m, stop - first, precision_));
  context_.run_in_parts(
      "panel", id, {ceiling(n, kColumns) * slots.items},
      [&] { return parts_of_columns("block", first, stop, kColumns); }, a, rows, columns, start,
      width, messages_, ipiv, goes_to_, info);
  id.function = "place_rows";
  context_.run("interchange", id, {ceiling(a.columns(), kColumns) * slots.items}, a, rows, columns,
               start, goes_to_);
  // Both load and store each element once.
  context_.timeline().add_bytes(2 * std::uint64_t{m} * (n + a.columns()) *
                                element_size(precision_));
}

}  // namespace lugpu

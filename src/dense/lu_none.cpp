#include "dense/lu_none.hpp"

#include "dense/matrix_units.hpp"

namespace lugpu {
namespace {

constexpr std::size_t kBlock = 64;                 // NB of the kernel
constexpr std::size_t kItemsOfGroup = 256;         // of a work-group
constexpr std::size_t kWord = 8 * sizeof(cl_int);  // bytes

// Of both factors of all blocks on the diagonal.
std::size_t inverse_bytes(std::size_t order, Precision precision) {
  return 2 * ceiling(order, kBlock) * kBlock * kBlock * element_size(precision);
}

// The number of tasks taken; of each block, how much of its row of L, of its column of U and of its
// diagonal is known; of each square on the diagonal, whether it is up to date.
std::size_t progress_bytes(std::size_t order) {
  return (1 + 3 * ceiling(order, kBlock) + ceiling(order, 2 * kBlock)) * kWord;
}

}  // namespace

std::size_t LuNone::most_order(const Device& device, Precision precision) {
  const bool fast = precision == Precision::double_precision && has_matrix_units(device, precision);
  return fast ? 16384 : 8192;
}

LuNone::LuNone(DeviceContext& context, std::size_t order, Precision precision, bool nvidia,
               std::size_t most_without_squares)
    : context_(context),
      order_(order),
      precision_(precision),
      nvidia_(nvidia),
      in_squares_(order > most_without_squares),
      inverses_(context.allocate(inverse_bytes(order, precision))),
      progress_(context.allocate(progress_bytes(order))) {}

std::uint64_t LuNone::workspace(std::size_t order, Precision precision) {
  return inverse_bytes(order, precision) + progress_bytes(order);
}

void LuNone::factor(Surface& a, const cl::Buffer& ipiv, const cl::Buffer& info) {
  const std::string options = in_squares_ ? " -DF=2" : " -DF=1";
  const KernelId id = {"gpu/lu_none.cl", "factor_none",
                       precision_,       Storage::buffer,
                       Texel::rgba,      options + (nvidia_ ? " -DLUGPU_NVIDIA" : "")};
  context_.fill(progress_, 0, progress_bytes(order_));
  context_.run_in_parts(
      "panel", id, {context_.device().compute_units * kItemsOfGroup},
      [&] { return parts_of_columns("corner", 0, order_, kBlock); }, a, static_cast<cl_int>(order_),
      inverses_, progress_, ipiv, info);
  context_.timeline().add_bytes(2 * std::uint64_t{order_} * order_ * element_size(precision_));
}

}  // namespace lugpu

#include "operators/slices.hpp"

#include <bit>

#include "base/error.hpp"
#include "opencl/transfer.hpp"

namespace lugpu {
namespace {

void require_allocation(const DeviceContext& context, std::size_t bytes) {
  const Device& device = context.device();
  if (bytes <= device.max_allocation) return;
  throw Unsupported("The sparse matrix does not fit on " + device.name + ": it needs " +
                    std::to_string(bytes) + " bytes in one buffer, and the largest has " +
                    std::to_string(device.max_allocation) + ".");
}

}  // namespace

Slices Slices::make(const Device& device, const VectorLayout& layout) {
  constexpr std::size_t kWarp = 32;
  const VectorCut cut = VectorCut::make(device, layout);
  Slices slices;
  slices.pack = cut.vector > 0 ? cut.vector : elements_per_texel(layout.precision, layout.texel);
  slices.lanes = cut.vector > 0 ? 1 : kWarp;
  slices.count = ceiling(layout.rows * layout.columns, slices.rows());
  slices.shift = static_cast<std::size_t>(std::countr_zero(layout.columns));
  return slices;
}

std::string Slices::options(const VectorCut& cut) const {
  return cut.options() + " -DLANES=" + std::to_string(lanes);
}

void require_square(const Sparse& a) {
  constexpr std::size_t kMost = std::size_t{1} << 30;  // so that padded rows stay below 2^31
  if (a.rows() != a.cols()) {
    throw InputError("A matrix of " + std::to_string(a.rows()) + " x " + std::to_string(a.cols()) +
                     " is not square.");
  }
  if (a.rows() > kMost) {
    throw Unsupported("A matrix of more than " + std::to_string(kMost) +
                      " rows does not fit on a device.");
  }
}

cl::Buffer upload_slots(DeviceContext& context, const std::vector<double>& values,
                        const Slices& slices, Precision precision) {
  require_allocation(context, values.size() * element_size(precision));
  const std::size_t rows = slices.rows();
  return upload(context,
                View<const double>{values.data(), rows, values.size() / rows, rows, Order::columns},
                precision);
}

cl::Buffer upload_integers(DeviceContext& context, const std::vector<cl_int>& integers) {
  const std::size_t bytes = integers.size() * sizeof(cl_int);
  require_allocation(context, bytes);
  const cl::Buffer buffer = context.allocate(bytes);
  if (bytes > 0) context.queue().enqueueWriteBuffer(buffer, CL_TRUE, 0, bytes, integers.data());
  return buffer;
}

}  // namespace lugpu

#include "distributed/host_columns.hpp"

#include "opencl/surface.hpp"

namespace lugpu {
namespace {

std::size_t pitch_of(const BlockColumns& dealt, Precision precision) {
  return Surface::pitch_of(dealt.nb, precision, Storage::buffer) * element_size(precision);
}

}  // namespace

HostColumns::HostColumns(DeviceContext& context, const BlockColumns& dealt, Precision precision)
    : pitch_(pitch_of(dealt, precision)) {
  for (std::size_t j = 0; j < dealt.blocks(); ++j) {
    memory_.emplace_back(context.handle(), context.queue());
    columns_.push_back(static_cast<char*>(memory_.back().room(dealt.n * pitch_)));
  }
}

std::uint64_t HostColumns::bytes(const BlockColumns& dealt, Precision precision) {
  return static_cast<std::uint64_t>(dealt.blocks()) * dealt.n * pitch_of(dealt, precision);
}

}  // namespace lugpu

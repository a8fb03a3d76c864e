#include "distributed/panel_transport.hpp"

#include <algorithm>
#include <utility>

namespace lugpu {
namespace {

// Small enough that a panel is on both ways at once, large enough for full bandwidth.
constexpr std::size_t kPieceBytes = 4 << 20;

std::vector<cl::CommandQueue> queues_of(std::span<DeviceContext* const> devices) {
  std::vector<cl::CommandQueue> queues;
  for (DeviceContext* device : devices) {
    queues.emplace_back(device->handle(), handle_of(device->device()));
  }
  return queues;
}

cl::Buffer buffer_of(const cl::Memory& memory) {
  return cl::Buffer(memory(), true);
}

}  // namespace

PanelTransport::PanelTransport(std::span<DeviceContext* const> devices, std::size_t bytes)
    : devices_(devices.begin(), devices.end()),
      queues_(queues_of(devices)),
      staging_(devices.front()->handle(), queues_.front()) {
  if (devices_.size() == 1) return;
  char* const memory = static_cast<char*>(staging_.room(2 * bytes));
  rooms_ = {Room{memory, {}}, Room{memory + bytes, {}}};
}

PanelTransport::~PanelTransport() {
  for (const cl::CommandQueue& queue : queues_) clFinish(queue());
}

void PanelTransport::read(std::size_t owner, const cl::Event& ready, const cl::Buffer& from,
                          std::span<cl_int> to) {
  const std::vector<cl::Event> after = {ready};
  queues_[owner].enqueueReadBuffer(from, CL_TRUE, 0, to.size_bytes(), to.data(), &after);
  devices_[owner]->timeline().add_readback("panel", cl::Event());
}

void PanelTransport::send(std::size_t owner, const cl::Event& ready,
                          std::span<const cl::Memory> panels, std::span<const cl::Event> idle,
                          std::size_t bytes) {
  if (devices_.size() == 1) return;
  std::swap(rooms_[0], rooms_[1]);
  Room& room = rooms_[0];
  for (const cl::Event& sent : room.sent) {
    if (sent()) sent.wait();
  }
  room.sent.assign(devices_.size(), cl::Event());

  const std::size_t pieces = ceiling(bytes, kPieceBytes);
  const auto length = [&](std::size_t i) { return std::min(kPieceBytes, bytes - i * kPieceBytes); };
  std::vector<cl::Event> arrived(pieces);
  const std::vector<cl::Event> after = {ready};
  for (std::size_t i = 0; i < pieces; ++i) {
    const std::size_t at = i * kPieceBytes;
    queues_[owner].enqueueReadBuffer(buffer_of(panels[owner]), CL_FALSE, at, length(i),
                                     room.data + at, &after, &arrived[i]);
  }
  queues_[owner].flush();
  for (std::size_t i = 0; i < pieces; ++i) {
    const std::size_t at = i * kPieceBytes;
    arrived[i].wait();
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      if (d == owner) continue;
      const std::vector<cl::Event> unused = {idle[d]};
      queues_[d].enqueueWriteBuffer(buffer_of(panels[d]), CL_FALSE, at, length(i), room.data + at,
                                    &unused, &room.sent[d]);
      queues_[d].flush();
    }
  }
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    if (d == owner) continue;
    const std::vector<cl::Event> written = {room.sent[d]};
    devices_[d]->queue().enqueueBarrierWithWaitList(&written);
  }
}

}  // namespace lugpu

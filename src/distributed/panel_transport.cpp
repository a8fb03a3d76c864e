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

// Nothing to wait for without a command.
std::vector<cl::Event> after(const cl::Event& event) {
  return event() ? std::vector<cl::Event>{event} : std::vector<cl::Event>();
}

using Extent = cl::array<cl::size_type, 3>;

}  // namespace

PanelTransport::PanelTransport(DeviceContext& context, std::span<DeviceContext* const> devices,
                               std::size_t bytes, ProcessGroup& processes)
    : devices_(devices.begin(), devices.end()),
      queues_(queues_of(devices)),
      staging_(context.handle(), context.queue()),
      processes_(processes) {
  if (bytes == 0) return;
  char* const memory = static_cast<char*>(staging_.room(2 * bytes));
  rooms_ = {Room{memory, {}}, Room{memory + bytes, {}}};
}

PanelTransport::~PanelTransport() {
  for (const cl::CommandQueue& queue : queues_) clFinish(queue());
}

void PanelTransport::read(std::size_t owner, const cl::Event& ready, const cl::Buffer& from,
                          std::span<cl_int> to) {
  const std::vector<cl::Event> waits = after(ready);
  queues_[owner].enqueueReadBuffer(from, CL_TRUE, 0, to.size_bytes(), to.data(), &waits);
  devices_[owner]->timeline().add_readback("panel", cl::Event());
}

char* PanelTransport::next_room() {
  std::swap(rooms_[0], rooms_[1]);
  for (const cl::Event& sent : rooms_[0].sent) {
    if (sent()) sent.wait();
  }
  return rooms_[0].data;
}

void PanelTransport::write_to_others(const char* host, std::size_t owner,
                                     std::span<const cl::Memory> panels,
                                     std::span<const cl::Event> idle, std::size_t at,
                                     std::size_t bytes, std::vector<cl::Event>& sent) {
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    if (d == owner) continue;
    const std::vector<cl::Event> unused = after(idle[d]);
    queues_[d].enqueueWriteBuffer(buffer_of(panels[d]), CL_FALSE, at, bytes, host + at, &unused,
                                  &sent[d]);
    queues_[d].flush();
  }
}

void PanelTransport::send(const Place& owner, const cl::Event& ready,
                          std::span<const cl::Memory> panels, std::span<const cl::Event> idle,
                          std::size_t bytes, char* host) {
  const bool alone = devices_.size() == 1 && processes_.size() == 1;
  if (!host && (alone || !rooms_[0].data)) return;
  if (!host) host = next_room();
  const bool here = owner.process == processes_.rank();
  const std::size_t from = here ? owner.device : devices_.size();
  const std::size_t pieces = ceiling(bytes, kPieceBytes);
  const auto length = [&](std::size_t i) { return std::min(kPieceBytes, bytes - i * kPieceBytes); };
  std::vector<cl::Event> read(pieces), sent(devices_.size());
  std::vector<std::function<void()>> broadcasts;
  const auto broadcast = [&](std::size_t i) {
    broadcasts.push_back(
        processes_.begin_broadcast(host + i * kPieceBytes, length(i), owner.process));
  };
  const std::vector<cl::Event> waits = after(ready);
  for (std::size_t i = 0; i < pieces; ++i) {
    if (!here) {
      broadcast(i);
      continue;
    }
    const std::size_t at = i * kPieceBytes;
    queues_[from].enqueueReadBuffer(buffer_of(panels[from]), CL_FALSE, at, length(i), host + at,
                                    &waits, &read[i]);
  }
  if (here) queues_[from].flush();
  for (std::size_t i = 0; i < pieces; ++i) {
    if (here) {
      read[i].wait();
      broadcast(i);
    } else {
      broadcasts[i]();
    }
    write_to_others(host, from, panels, idle, i * kPieceBytes, length(i), sent);
  }
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    if (d == from) continue;
    const std::vector<cl::Event> written = {sent[d]};
    devices_[d]->queue().enqueueBarrierWithWaitList(&written);
  }
  rooms_[0].sent = std::move(sent);
  if (!here) return;
  for (const auto& wait : broadcasts) wait();
}

void PanelTransport::send_from_host(const char* host, std::span<const cl::Memory> panels,
                                    std::span<const cl::Event> idle, std::size_t bytes) {
  for (std::size_t d = 0; d < panels.size(); ++d) {
    const std::vector<cl::Event> unused = after(idle[d]);
    std::vector<cl::Event> written(1);
    queues_[d].enqueueWriteBuffer(buffer_of(panels[d]), CL_FALSE, 0, bytes, host, &unused,
                                  &written[0]);
    queues_[d].flush();
    devices_[d]->queue().enqueueBarrierWithWaitList(&written);
  }
}

void PanelTransport::store(std::size_t d, const cl::Event& ready, const Columns& columns) {
  if (columns.rows == 0) return;
  const std::size_t element = element_size(columns.of.precision());
  const std::vector<cl::Event> waits = after(ready);
  queues_[d].enqueueReadBufferRect(
      buffer_of(columns.of.memory()), CL_FALSE, Extent{columns.first * element, 0, 0},
      Extent{0, 0, 0}, Extent{columns.width * element, columns.rows, 1},
      columns.of.pitch() * element, 0, columns.pitch, 0, columns.host, &waits);
}

void PanelTransport::load(std::size_t d, const cl::Event& ready, const Columns& columns) {
  const std::size_t element = element_size(columns.of.precision());
  const std::vector<cl::Event> waits = after(ready);
  queues_[d].enqueueWriteBufferRect(
      buffer_of(columns.of.memory()), CL_FALSE, Extent{columns.first * element, 0, 0},
      Extent{0, 0, 0}, Extent{columns.width * element, columns.rows, 1},
      columns.of.pitch() * element, 0, columns.pitch, 0, columns.host, &waits);
  queues_[d].flush();
}

void PanelTransport::join() {
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    std::vector<cl::Event> done(1);
    queues_[d].enqueueMarkerWithWaitList(nullptr, &done[0]);
    queues_[d].flush();
    devices_[d]->queue().enqueueBarrierWithWaitList(&done);
  }
}

void PanelTransport::finish() {
  for (const cl::CommandQueue& queue : queues_) queue.finish();
}

}  // namespace lugpu

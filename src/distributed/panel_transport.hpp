// How panels travel from device to device: through host memory, a piece at a time.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "opencl/context.hpp"

namespace lugpu {

/// Buffers are never shared between devices, each of which has a context of its own: drivers copy
/// those slowly. A panel is read into pinned host memory in pieces, and each piece goes on to the
/// other devices as soon as it is there. Panels have a queue of their own on every device, so that
/// they travel while kernels run.
class PanelTransport {
 public:
  /// For panels of up to `bytes` bytes. The contexts must outlive it.
  PanelTransport(std::span<DeviceContext* const> devices, std::size_t bytes);
  /// Waits for what is under way.
  ~PanelTransport();
  PanelTransport(const PanelTransport&) = delete;
  PanelTransport& operator=(const PanelTransport&) = delete;

  /// Reads ints of the owner once `ready`, an event of its context that has been flushed.
  void read(std::size_t owner, const cl::Event& ready, const cl::Buffer& from,
            std::span<cl_int> to);
  /// The first `bytes` bytes of panels[owner], once `ready`, become those of the others' panels:
  /// panels[d] is overwritten after `idle[d]`, and what is enqueued to device d later waits for it.
  /// Returns when the panel has left its owner.
  void send(std::size_t owner, const cl::Event& ready, std::span<const cl::Memory> panels,
            std::span<const cl::Event> idle, std::size_t bytes);

 private:
  /// Host memory for a panel, and the events after which it may be overwritten.
  struct Room {
    char* data = nullptr;
    std::vector<cl::Event> sent;
  };

  std::vector<DeviceContext*> devices_;
  std::vector<cl::CommandQueue> queues_;
  Staging staging_;
  std::array<Room, 2> rooms_;  // one for every other panel
};

}  // namespace lugpu

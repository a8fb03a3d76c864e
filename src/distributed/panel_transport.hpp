// How panels and block columns travel between devices, host memory and processes.
#pragma once

#include <array>
#include <initializer_list>
#include <span>
#include <vector>

#include "distributed/process_group.hpp"
#include "opencl/surface.hpp"
#include "opencl/timeline.hpp"

namespace lugpu {

/// Buffers are never shared between devices, each of which has a context of its own: drivers copy
/// those slowly. A panel is read into pinned host memory in pieces, and each piece goes on to the
/// other devices and processes as soon as it is there; processes of one host have this memory in
/// common. Each device has a queue for either way, so that data comes and goes while kernels run,
/// and neither way waits for the other, and one for pivots.
class PanelTransport {
 public:
  /// With rooms for panels of up to `bytes` bytes on their way, or none. devices: of this process,
  /// possibly none; context: any. Contexts and processes must outlive it.
  PanelTransport(DeviceContext& context, std::span<DeviceContext* const> devices, std::size_t bytes,
                 ProcessGroup& processes);
  /// Waits for what is under way.
  ~PanelTransport();
  PanelTransport(const PanelTransport&) = delete;
  PanelTransport& operator=(const PanelTransport&) = delete;

  /// Before a factorization, with nothing under way: copies are timed from now on, on the timelines
  /// of their devices, if kernels are.
  void begin();
  /// Reads ints of the owner, from index `first` on, once `ready`, an event of its context that has
  /// been flushed.
  void read(std::size_t owner, const cl::Event& ready, const cl::Buffer& from, std::size_t first,
            std::span<cl_int> to);
  /// A device of a process.
  struct Place {
    std::size_t process, device;
  };
  /// A part of the rows of a buffer, from byte `first` of each on, `pitch` bytes from row to row.
  struct Strip {
    cl::Memory of;
    std::size_t first, pitch;
  };
  /// `rows` rows of `width` bytes of strips[owner.device] of process owner.process, once `ready`,
  /// become those of all others: strips[d] of this process is overwritten after `idle[d]`, and what
  /// is enqueued to device d later waits for it. On the way they are at `host`, one after the
  /// other, where they stay; if that is null, in a room, behind the columns of the same panel that
  /// have been sent before, `before` bytes of each row. All processes call it. Once they are on
  /// their way, calls `meanwhile`. Returns when they have left their owner and its process, or have
  /// come to this one. From an only device to the host it returns at once, and the event tells when
  /// they have left; otherwise there is none.
  cl::Event send(const Place& owner, const cl::Event& ready, std::span<const Strip> strips,
                 std::span<const cl::Event> idle, std::size_t rows, std::size_t before,
                 std::size_t width, char* host, const std::function<void()>& meanwhile);
  /// The same from the host to the first panels.size() devices, after `ready` too, each an event or
  /// none. Does not wait, and nothing else does: returns the event of each device's copy, for
  /// join().
  std::vector<cl::Event> send_from_host(const char* host, std::span<const cl::Memory> panels,
                                        std::span<const cl::Event> idle, std::size_t bytes,
                                        std::initializer_list<cl::Event> ready);

  /// Rows row : row + rows of columns first : first + width of a surface, and the host memory for
  /// them, `pitch` bytes from row to row.
  struct Columns {
    const Surface& of;
    std::size_t first, width, row, rows;
    char* host;
    std::size_t pitch;
  };
  /// Enqueues that columns of device d go to the host after `ready` and what has been enqueued to
  /// go there before; the event tells when they have left.
  cl::Event store(std::size_t d, const cl::Event& ready, const Columns& columns);
  /// Likewise, that they come from the host.
  void load(std::size_t d, const cl::Event& ready, const Columns& columns);
  /// For each device, when what has been enqueued to come to it is there.
  std::vector<cl::Event> coming();
  /// What is enqueued to each device later waits for that.
  void join(std::span<const cl::Event> come);
  /// Returns when all of that is done.
  void finish();

 private:
  /// Host memory for a panel, and the events after which it may be overwritten.
  struct Room {
    char* data = nullptr;
    std::vector<cl::Event> sent;
  };

  /// The queues of a device; `ints` for what the host waits for, so that it is not behind a panel.
  struct Link {
    DeviceContext* device;
    bool timed;  // as the device's own queue
    cl::CommandQueue in, out, ints;
    cl::Event come;  // the last copy of `in`
  };

  static Link link_of(DeviceContext& device);
  /// Rows of a strip, and where they are on the host, `pitch` bytes from row to row.
  struct Piece {
    std::size_t row, rows, width;
    char* host;
    std::size_t pitch;
  };
  static Strip strip_of(const Columns& columns);
  static Piece piece_of(const Columns& columns);
  /// Enqueue a copy on a queue of device d; the event tells when it is done.
  cl::Event read(std::size_t d, const Strip& from, const Piece& to,
                 const std::vector<cl::Event>& ready);
  cl::Event write(std::size_t d, const Piece& from, const Strip& to,
                  const std::vector<cl::Event>& ready);
  void note(std::size_t d, Timeline::Way way, const cl::Event& event);
  void write_to_others(std::size_t owner, std::span<const Strip> strips,
                       std::span<const cl::Event> idle, const Piece& piece,
                       std::vector<cl::Event>& sent);
  char* next_room();

  std::vector<Link> links_;
  std::shared_ptr<char> shared_;  // the rooms, if all processes have them in common
  Staging staging_;
  ProcessGroup& processes_;
  std::array<Room, 2> rooms_;  // one for every other panel
  std::vector<char> signs_;    // that pieces are in memory that all have in common, for others
};

}  // namespace lugpu

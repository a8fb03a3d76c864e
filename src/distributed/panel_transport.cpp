#include "distributed/panel_transport.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace lugpu {
namespace {

// Small enough that a panel is on both ways at once, large enough for full bandwidth.
constexpr std::size_t kPieceBytes = 4 << 20;

cl::Buffer buffer_of(const cl::Memory& memory) {
  return cl::Buffer(memory(), true);
}

// Nothing to wait for without a command.
std::vector<cl::Event> after(std::initializer_list<cl::Event> events) {
  std::vector<cl::Event> commands;
  std::copy_if(events.begin(), events.end(), std::back_inserter(commands),
               [](const cl::Event& event) { return event() != nullptr; });
  return commands;
}

bool is_timed(const cl::CommandQueue& queue) {
  return (queue.getInfo<CL_QUEUE_PROPERTIES>() & CL_QUEUE_PROFILING_ENABLE) != 0;
}

constexpr Timeline::Way kIn = Timeline::Way::to_device, kOut = Timeline::Way::to_host;

using Extent = cl::array<cl::size_type, 3>;

}  // namespace

PanelTransport::PanelTransport(DeviceContext& context, std::span<DeviceContext* const> devices,
                               std::size_t bytes, ProcessGroup& processes)
    : shared_(processes.shared_memory(2 * bytes)),
      staging_(context.handle(), context.queue()),
      processes_(processes) {
  for (DeviceContext* device : devices) links_.push_back(link_of(*device));
  if (bytes == 0) return;
  if (shared_) staging_.pin(shared_.get(), 2 * bytes);
  char* const memory = shared_ ? shared_.get() : static_cast<char*>(staging_.room(2 * bytes));
  rooms_ = {Room{memory, {}}, Room{memory + bytes, {}}};
}

PanelTransport::~PanelTransport() {
  for (const Link& link : links_) {
    clFinish(link.in());
    clFinish(link.out());
  }
}

PanelTransport::Link PanelTransport::link_of(DeviceContext& device) {
  const bool timed = is_timed(device.queue());
  const auto queue = [&] {
    return cl::CommandQueue(device.handle(), handle_of(device.device()),
                            timed ? CL_QUEUE_PROFILING_ENABLE : 0);
  };
  return {&device, timed, queue(), queue(), queue(), {}};
}

void PanelTransport::begin() {
  for (Link& link : links_) {
    if (is_timed(link.device->queue()) != link.timed) link = link_of(*link.device);
  }
}

void PanelTransport::note(std::size_t d, Timeline::Way way, const cl::Event& event) {
  if (links_[d].timed) links_[d].device->timeline().add_copy(way, event);
}

void PanelTransport::read(std::size_t owner, const cl::Event& ready, const cl::Buffer& from,
                          std::size_t first, std::span<cl_int> to) {
  const std::vector<cl::Event> waits = after({ready});
  cl::Event read;
  links_[owner].ints.enqueueReadBuffer(from, CL_TRUE, first * sizeof(cl_int), to.size_bytes(),
                                       to.data(), &waits, &read);
  links_[owner].device->timeline().add_readback("panel", links_[owner].timed ? read : cl::Event());
}

char* PanelTransport::next_room() {
  std::swap(rooms_[0], rooms_[1]);
  for (const cl::Event& sent : rooms_[0].sent) {
    if (sent()) sent.wait();
  }
  rooms_[0].sent.clear();
  if (shared_) processes_.barrier();
  return rooms_[0].data;
}

cl::Event PanelTransport::read(std::size_t d, const Strip& from, const Piece& to,
                               const std::vector<cl::Event>& ready) {
  cl::Event done;
  links_[d].out.enqueueReadBufferRect(buffer_of(from.of), CL_FALSE, Extent{from.first, to.row, 0},
                                      Extent{0, 0, 0}, Extent{to.width, to.rows, 1}, from.pitch, 0,
                                      to.pitch, 0, to.host, &ready, &done);
  links_[d].out.flush();
  note(d, kOut, done);
  return done;
}

cl::Event PanelTransport::write(std::size_t d, const Piece& from, const Strip& to,
                                const std::vector<cl::Event>& ready) {
  cl::Event done;
  links_[d].in.enqueueWriteBufferRect(buffer_of(to.of), CL_FALSE, Extent{to.first, from.row, 0},
                                      Extent{0, 0, 0}, Extent{from.width, from.rows, 1}, to.pitch,
                                      0, from.pitch, 0, from.host, &ready, &done);
  links_[d].in.flush();
  links_[d].come = done;
  note(d, kIn, done);
  return done;
}

void PanelTransport::write_to_others(std::size_t owner, std::span<const Strip> strips,
                                     std::span<const cl::Event> idle, const Piece& piece,
                                     std::vector<cl::Event>& sent) {
  for (std::size_t d = 0; d < links_.size(); ++d) {
    if (d != owner) sent[d] = write(d, piece, strips[d], after({idle[d]}));
  }
}

cl::Event PanelTransport::send(const Place& owner, const cl::Event& ready,
                               std::span<const Strip> strips, std::span<const cl::Event> idle,
                               std::size_t rows, std::size_t before, std::size_t width, char* host,
                               const std::function<void()>& meanwhile) {
  const std::vector<cl::Event> waits = after({ready});
  const bool alone = links_.size() == 1 && processes_.size() == 1;
  if (alone || (!host && !rooms_[0].data)) {  // no others
    cl::Event left;
    if (host) left = read(0, strips[0], {0, rows, width, host, width}, waits);
    meanwhile();
    return left;
  }
  const bool in_room = !host, shared = in_room && shared_;
  if (!host) host = (before == 0 ? next_room() : rooms_[0].data) + rows * before;
  const bool here = owner.process == processes_.rank();
  const std::size_t from = here ? owner.device : links_.size();
  const std::size_t of_piece = std::max<std::size_t>(kPieceBytes / width, 1);
  std::vector<Piece> pieces;
  for (std::size_t row = 0; row < rows; row += of_piece) {
    pieces.push_back({row, std::min(of_piece, rows - row), width, host + row * width, width});
  }
  std::vector<cl::Event> gone(pieces.size()), sent(links_.size());
  std::vector<std::function<void()>> broadcasts;
  signs_.resize(pieces.size());
  const auto broadcast = [&](std::size_t i) {
    const Piece& piece = pieces[i];
    broadcasts.push_back(
        shared ? processes_.begin_broadcast(&signs_[i], 1, owner.process)
               : processes_.begin_broadcast(piece.host, piece.rows * width, owner.process));
  };
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (!here) {
      broadcast(i);
      continue;
    }
    gone[i] = read(from, strips[from], pieces[i], waits);
  }
  meanwhile();
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (here) {
      gone[i].wait();
      broadcast(i);
    } else {
      broadcasts[i]();
    }
    write_to_others(from, strips, idle, pieces[i], sent);
  }
  for (std::size_t d = 0; d < links_.size(); ++d) {
    if (d == from) continue;
    const std::vector<cl::Event> written = {sent[d]};
    links_[d].device->queue().enqueueBarrierWithWaitList(&written);
  }
  if (in_room) std::move(sent.begin(), sent.end(), std::back_inserter(rooms_[0].sent));
  if (here) {
    for (const auto& wait : broadcasts) wait();
  }
  return {};
}

std::vector<cl::Event> PanelTransport::send_from_host(const char* host,
                                                      std::span<const cl::Memory> panels,
                                                      std::span<const cl::Event> idle,
                                                      std::size_t bytes,
                                                      std::initializer_list<cl::Event> ready) {
  std::vector<cl::Event> written(panels.size());
  for (std::size_t d = 0; d < panels.size(); ++d) {
    std::vector<cl::Event> waits = after(ready);
    if (idle[d]()) waits.push_back(idle[d]);
    links_[d].device->queue().flush();  // what the copy waits for must be on its way
    links_[d].in.enqueueWriteBuffer(buffer_of(panels[d]), CL_FALSE, 0, bytes, host, &waits,
                                    &written[d]);
    links_[d].in.flush();
    links_[d].come = written[d];
    note(d, kIn, written[d]);
  }
  return written;
}

PanelTransport::Strip PanelTransport::strip_of(const Columns& columns) {
  const std::size_t element = element_size(columns.of.precision());
  return {columns.of.memory(), columns.first * element, columns.of.pitch() * element};
}

PanelTransport::Piece PanelTransport::piece_of(const Columns& columns) {
  const std::size_t width = columns.width * element_size(columns.of.precision());
  return {columns.row, columns.rows, width, columns.host, columns.pitch};
}

cl::Event PanelTransport::store(std::size_t d, const cl::Event& ready, const Columns& columns) {
  return read(d, strip_of(columns), piece_of(columns), after({ready}));
}

void PanelTransport::load(std::size_t d, const cl::Event& ready, const Columns& columns) {
  write(d, piece_of(columns), strip_of(columns), after({ready}));
}

std::vector<cl::Event> PanelTransport::coming() {
  std::vector<cl::Event> come;
  for (const Link& link : links_) come.push_back(link.come);
  return come;
}

void PanelTransport::join(std::span<const cl::Event> come) {
  for (std::size_t d = 0; d < come.size(); ++d) {
    const std::vector<cl::Event> waits = after({come[d]});
    if (!waits.empty()) links_[d].device->queue().enqueueBarrierWithWaitList(&waits);
  }
}

void PanelTransport::finish() {
  for (const Link& link : links_) {
    link.in.finish();
    link.out.finish();
  }
}

}  // namespace lugpu

// Lines of a matrix (columns or rows) on their way to a device by way of pinned memory, a piece at
// a time.
#pragma once

#include <algorithm>
#include <exception>
#include <vector>

#include "base/cores.hpp"
#include "base/filled_ahead.hpp"
#include "opencl/opencl.hpp"
#include "opencl/staging.hpp"

namespace lugpu {

/// Bytes of a piece, which is one of `parts` if that is within them: memory for pieces costs time
/// too.
struct PieceLimits {
  std::size_t parts, least, most;
};
inline constexpr PieceLimits kFilledAhead{32, 4 << 20, 8 << 20};  // several at a time

struct Lines {
  std::size_t length, count;  // elements of each, and their number; neither is zero
  std::size_t element;        // bytes
  std::size_t together = 1;   // lines that are best filled by one thread
};

/// Threads that fill rooms, at most. With threads on all cores they would wait for each other, and
/// the driver for a core.
inline std::size_t most_filling_threads() {
  return cores().usable * 3 / 4;
}

/// Lines of a piece; a multiple of the elements of every texel.
inline std::size_t lines_of_piece(const Lines& lines, const PieceLimits& limits) {
  constexpr std::size_t kTexel = 4;
  const std::size_t line = std::max<std::size_t>(lines.length * lines.element, 1);
  const std::size_t bytes =
      std::clamp(lines.count * line / limits.parts, limits.least, limits.most);
  return std::min(std::max(bytes / line / kTexel * kTexel, kTexel), lines.count);
}

/// Waits for the queue if an exception ends a scope, whose memory a command may still use. Whether
/// that succeeds does not matter: there already is an error to report.
struct Settled {
  explicit Settled(const cl::CommandQueue& of) : queue(of) {}
  Settled(const Settled&) = delete;
  Settled& operator=(const Settled&) = delete;
  ~Settled() {
    if (std::uncaught_exceptions() > exceptions) clFinish(queue());
  }

  const cl::CommandQueue& queue;
  const int exceptions = std::uncaught_exceptions();
};

/// Fills rooms of `staging` with pieces of the lines and sends each; several are filled while two
/// are on their way. fill(first, count, room): lines first : first + count, called by up to
/// `most_threads` threads; it may throw. send(first, count, room): enqueues to `queue` that a piece
/// is sent, and returns the event after which its room may be filled again. Returns when the queue
/// is finished; throws cl::Error if that fails.
template <typename Element, typename Fill, typename Send>
void send_in_pieces(const cl::CommandQueue& queue, Staging& staging, const Lines& lines,
                    std::size_t most_threads, const Fill& fill, const Send& send) {
  // Pinned memory takes long to get, so there is no more than that needs.
  constexpr std::size_t kPinnedBytes = 32 << 20, kLeastRooms = 3, kMostRooms = 8;
  static_assert(kLeastRooms > 2);  // or no room would ever be given back
  constexpr std::size_t kPartBytes = 512 << 10;
  constexpr std::size_t kElementsOfThread = 512 << 10;
  const std::size_t most = lines_of_piece(lines, kFilledAhead), line = lines.length * lines.element;
  const std::size_t pieces = (lines.count + most - 1) / most;
  const std::size_t count_of_rooms =
      std::min(pieces, std::clamp(kPinnedBytes / (most * line), kLeastRooms, kMostRooms));
  auto* const rooms = static_cast<Element*>(staging.room(count_of_rooms * most * line));
  const auto room_of = [&](std::size_t piece) {
    return rooms + piece % count_of_rooms * most * lines.length;
  };
  const auto count_of = [&](std::size_t piece) {
    return std::min(most, lines.count - piece * most);
  };
  const Settled settled(queue);
  const std::size_t of_part =
      std::max(kPartBytes / line / lines.together, std::size_t{1}) * lines.together;
  const std::size_t threads =
      std::min(lines.count * lines.length / kElementsOfThread, most_threads);
  if (pieces == 1 && threads <= 1) {
    fill(0, lines.count, room_of(0));
    send(0, lines.count, room_of(0));
    queue.finish();
    return;
  }
  FilledAhead filled(pieces, (most + of_part - 1) / of_part, count_of_rooms, threads,
                     [&](std::size_t piece, std::size_t part) {
                       const std::size_t begin = part * of_part, count = count_of(piece);
                       if (begin >= count) return;
                       fill(piece * most + begin, std::min(of_part, count - begin),
                            room_of(piece) + begin * lines.length);
                     });
  std::vector<cl::Event> sent(count_of_rooms);
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    filled.await(piece);
    sent[piece % count_of_rooms] = send(piece * most, count_of(piece), room_of(piece));
    // The last two are on their way.
    if (piece < 2) continue;
    sent[(piece - 2) % count_of_rooms].wait();
    filled.give_back(piece - 1);
  }
  queue.finish();
}

}  // namespace lugpu

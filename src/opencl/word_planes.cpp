#include "opencl/word_planes.hpp"

#include <array>
#include <bit>

#include "base/clock.hpp"
#include "base/clones.hpp"
#include "opencl/filled_rooms.hpp"

namespace lugpu {
namespace {

enum class Word { upper, lower };

template <Word word, typename T>
LUGPU_CLONES void take_words(const T* from, std::size_t count, cl_uint* to) {
  for (std::size_t k = 0; k < count; ++k) {
    const auto bits = std::bit_cast<std::uint64_t>(static_cast<double>(from[k]));
    to[k] = static_cast<cl_uint>(word == Word::upper ? (bits + 0x80000000) >> 32 : bits);
  }
}

// The upper, the lower or both words of the elements of `from`, line after line (columns or rows,
// in its order), to planes with `pitch` words from line to line; null: not that word.
template <typename T>
void send_words(BackgroundTransfer& way, const View<const T>& from, const cl::Buffer* upper,
                const cl::Buffer* lower, std::size_t pitch) {
  using Place = std::array<cl::size_type, 3>;
  // For the upper words alone somebody waits, and the host reads twice what it sends.
  const std::size_t threads = lower ? most_filling_threads() : cores().usable * 7 / 8;
  // A line in a room has its upper words first.
  const std::size_t length = from.rows, line = (upper && lower ? 2 : 1) * length;
  const std::lock_guard alone(way.in_use);
  send_in_pieces<cl_uint>(
      way.queue, way.staging, {line, from.columns, sizeof(cl_uint)}, threads,
      [&](std::size_t first, std::size_t count, cl_uint* room) {
        for (std::size_t k = 0; k < count; ++k) {
          const T* const elements = from.data + (first + k) * from.ld;
          if (upper) take_words<Word::upper>(elements, length, room + k * line);
          if (lower) take_words<Word::lower>(elements, length, room + (k + 1) * line - length);
        }
      },
      [&](std::size_t first, std::size_t count, const cl_uint* room) {
        cl::Event sent;
        for (const cl::Buffer* plane : {upper, lower}) {
          if (!plane) continue;
          way.queue.enqueueWriteBufferRect(*plane, CL_FALSE, Place{0, first, 0}, Place{},
                                           Place{length * sizeof(cl_uint), count, 1},
                                           pitch * sizeof(cl_uint), 0, line * sizeof(cl_uint), 0,
                                           plane == upper ? room : room + line - length, nullptr,
                                           &sent);
        }
        way.queue.flush();
        return sent;
      });
}

}  // namespace

WordPlanes::WordPlanes(DeviceContext& context, const MatrixView& a, bool upper_first)
    : context_(context),
      n_(a.rows()),
      upper_(context.allocate(bytes(n_) / 2)),
      lower_(context.allocate(bytes(n_) / 2)) {
  if (n_ == 0) return;
  BackgroundTransfer& way = context_.background();
  way.borrow(context_.staging());
  a.visit([&](const auto& view) {
    is_transposed_ = view.order == Order::rows;
    send_words(way, view, &upper_, upper_first ? nullptr : &lower_, pitch());
    if (!upper_first) return;
    sent_ = std::async(std::launch::async | std::launch::deferred,
                       [&way, view, lower = lower_, pitch = pitch()] {
                         send_words(way, view, nullptr, &lower, pitch);
                       });
  });
  if (is_transposed_) transpose(upper_);
}

const cl::Buffer& WordPlanes::lower() {
  if (sent_.valid()) {
    const auto start = Clock::now();
    sent_.get();
    waited_ += seconds_since(start);
  }
  context_.background().give_back(context_.staging());
  if (is_transposed_) transpose(lower_);
  is_transposed_ = false;
  return lower_;
}

void WordPlanes::transpose(const cl::Buffer& plane) {
  context_.run(
      "import",
      {"gpu/double_words.cl", "transpose_words", Precision::double_precision, Storage::buffer},
      {ceiling(n_, 16) * 16, ceiling(n_, 16) * 16}, plane, static_cast<cl_int>(pitch()),
      static_cast<cl_int>(n_));
}

std::size_t WordPlanes::pitch_of(std::size_t n) {
  constexpr std::size_t kLine = 32;  // words of a line of a GPU's cache
  return ceiling(n, kLine) * kLine;
}

std::uint64_t WordPlanes::bytes(std::size_t n) {
  return std::uint64_t{2} * n * pitch_of(n) * sizeof(cl_uint);
}

}  // namespace lugpu

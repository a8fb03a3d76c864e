#include "opencl/word_planes.hpp"

#include <array>
#include <bit>
#include <utility>

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

// The words of the elements of `from`, line after line (columns or rows, in its order), `pitch`
// words from line to line.
template <Word word, typename T>
void send_words(BackgroundTransfer& way, const View<const T>& from, const cl::Buffer& to,
                std::size_t pitch) {
  using Place = std::array<cl::size_type, 3>;
  // The upper words are waited for, and half of the bytes go to the device that are read.
  const std::size_t threads = word == Word::upper ? cores().usable * 7 / 8 : most_filling_threads();
  const std::size_t length = from.rows, line = length * sizeof(cl_uint);
  const std::lock_guard alone(way.in_use);
  send_in_pieces<cl_uint>(
      way.queue, way.staging, {length, from.columns, sizeof(cl_uint)}, threads,
      [&](std::size_t first, std::size_t count, cl_uint* room) {
        for (std::size_t k = 0; k < count; ++k) {
          take_words<word>(from.data + (first + k) * from.ld, length, room + k * length);
        }
      },
      [&](std::size_t first, std::size_t count, const cl_uint* room) {
        cl::Event sent;
        way.queue.enqueueWriteBufferRect(to, CL_FALSE, Place{0, first, 0}, Place{},
                                         Place{line, count, 1}, pitch * sizeof(cl_uint), 0, line, 0,
                                         room, nullptr, &sent);
        way.queue.flush();
        return sent;
      });
  way.queue.finish();  // throws what went wrong
}

}  // namespace

WordPlanes::WordPlanes(DeviceContext& context, const MatrixView& a)
    : context_(context),
      n_(a.rows()),
      upper_(context.allocate(bytes(n_) / 2)),
      lower_(context.allocate(bytes(n_) / 2)) {
  constexpr std::size_t kFewBytes = 1 << 20;  // less than it takes to start a thread
  if (n_ == 0) return;
  BackgroundTransfer& way = context_.background();
  way.borrow(context_.staging());
  a.visit([&](const auto& view) {
    send_words<Word::upper>(way, view, upper_, pitch());
    is_transposed_ = view.order == Order::rows;
    sent_ = std::async(
        bytes(n_) <= kFewBytes ? std::launch::deferred : std::launch::async | std::launch::deferred,
        [&way, view, lower = lower_, pitch = pitch()] {
          send_words<Word::lower>(way, view, lower, pitch);
        });
  });
  if (is_transposed_) transpose(upper_);
}

const cl::Buffer& WordPlanes::lower() {
  if (n_ == 0) return lower_;
  const auto start = Clock::now();
  sent_.get();
  waited_ += seconds_since(start);
  context_.background().give_back(context_.staging());
  if (std::exchange(is_transposed_, false)) transpose(lower_);
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

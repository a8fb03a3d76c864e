#include "opencl/transfer.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <optional>
#include <span>
#include <vector>

#include "base/cores.hpp"
#include "base/filled_ahead.hpp"
#include "matrix/rounded.hpp"

namespace lugpu {
namespace {

constexpr std::size_t kSmallBytes = 1 << 20;

// Bytes of a piece, which is one of `parts` if that is within them: memory for pieces costs time
// too.
struct PieceLimits {
  std::size_t parts, least, most;
};
constexpr PieceLimits kFilledAhead{32, 4 << 20, 8 << 20};  // several at a time
constexpr PieceLimits kOneByOne{16, 4 << 20, 32 << 20};

// Of a piece; a multiple of the elements of every texel.
std::size_t lines_of_piece(std::size_t length, std::size_t lines, std::size_t element,
                           const PieceLimits& limits) {
  constexpr std::size_t kTexel = 4;
  const std::size_t line = std::max<std::size_t>(length * element, 1);
  const std::size_t bytes = std::clamp(lines * line / limits.parts, limits.least, limits.most);
  return std::min(std::max(bytes / line / kTexel * kTexel, kTexel), lines);
}

// to(:, j) = from(:, j) for all columns, one after the other.
template <typename Real, typename T>
void copy_columns(const View<const T>& from, Real* to) {
  if (from.order == Order::columns) return round_to(from, to);
  constexpr std::size_t kBlock = 16;  // columns: a cache line of a row of floats
  std::atomic<const T*> overflow = nullptr;
  in_parallel((from.columns + kBlock - 1) / kBlock, kBlock * from.rows * sizeof(T),
              [&](std::size_t block) {
                const std::size_t first = block * kBlock;
                const std::size_t end = std::min(first + kBlock, from.columns);
                for (std::size_t i = 0; i < from.rows; ++i) {
                  const T* row = from.data + i * from.ld;
                  for (std::size_t j = first; j < end; ++j) {
                    if (overflows<Real>(row[j])) overflow = row + j;
                    to[j * from.rows + i] = static_cast<Real>(row[j]);
                  }
                }
              });
  if (overflow) refuse_overflow<Real>(*overflow);
}

// Two buffers on the device, so that one piece travels while another one is used, and rooms on the
// host, which are filled meanwhile. Memory of a CPU needs no rooms.
class Conveyor {
 public:
  /// bytes: of a piece.
  Conveyor(DeviceContext& context, std::size_t bytes, std::size_t pieces)
      : context_(context),
        bytes_(bytes),
        rooms_(std::min(pieces, std::clamp(kPinnedBytes / bytes, kLeastRooms, kMostRooms))),
        sent_(rooms_) {
    if (is_pinned()) room_ = static_cast<char*>(context.staging().room(rooms_ * bytes));
  }
  // The staging memory may be used again.
  ~Conveyor() {
    if (is_pinned()) clFinish(context_.queue()());
  }
  Conveyor(const Conveyor&) = delete;
  Conveyor& operator=(const Conveyor&) = delete;

  bool is_pinned() const { return context_.device().type != "cpu"; }
  std::size_t rooms() const { return rooms_; }
  void* room(std::size_t piece) const { return room_ + piece % rooms_ * bytes_; }

  /// Sends what is in its room.
  const cl::Buffer& send(std::size_t piece, std::size_t bytes) {
    const cl::Buffer& to = buffer(piece);
    context_.queue().enqueueWriteBuffer(to, CL_FALSE, 0, bytes, room(piece), nullptr,
                                        &sent_[piece % rooms_]);
    context_.queue().flush();
    return to;
  }
  /// Returns when the piece has left its room.
  void await(std::size_t piece) const { sent_[piece % rooms_].wait(); }

  /// Sends other memory of the host.
  const cl::Buffer& send_from(const void* data, std::size_t piece, std::size_t bytes) {
    const cl::Buffer& to = buffer(piece);
    context_.queue().enqueueWriteBuffer(to, CL_TRUE, 0, bytes, data);
    return to;
  }

 private:
  // Two pieces are on their way while the others are filled. Pinned memory takes long to get, so
  // there is no more than that needs.
  static constexpr std::size_t kPinnedBytes = 32 << 20, kLeastRooms = 3, kMostRooms = 8;
  static_assert(kLeastRooms > 2);  // or no room would ever be given back

  const cl::Buffer& buffer(std::size_t piece) {
    cl::Buffer& to = buffers_[piece % 2];
    if (!to()) to = context_.allocate(bytes_);
    return to;
  }

  DeviceContext& context_;
  std::size_t bytes_, rooms_;
  char* room_ = nullptr;
  std::array<cl::Buffer, 2> buffers_;
  std::vector<cl::Event> sent_;  // the last piece of each room
};

// The columns first : first + count of parts that stand next to one another.
template <typename Real>
void gather_columns(std::span<const MatrixView> parts, std::size_t first, std::size_t count,
                    Real* to) {
  for (const MatrixView& part : parts) {
    if (first >= part.cols()) {
      first -= part.cols();
      continue;
    }
    const std::size_t here = std::min(count, part.cols() - first);
    part.part(first, here).visit([&](const auto& view) { copy_columns(view, to); });
    to += here * part.rows();
    count -= here;
    first = 0;
    if (count == 0) return;
  }
}

// Contiguous columns (or rows) of the precision that need no copy; null for others.
template <typename Real>
const Real* as_they_are(const MatrixView& matrix) {
  return matrix.visit([](const auto& view) -> const Real* {
    if constexpr (std::is_same_v<decltype(view.data), const Real*>) {
      const std::size_t length = view.order == Order::columns ? view.rows : view.columns;
      return view.ld == length ? view.data : nullptr;
    } else {
      return nullptr;
    }
  });
}

// Sends lines (columns or rows) in pieces. fill(first, count, room): some of them, one after the
// other, a multiple of `together` where others take longer. direct: where they stand like that
// already, or null.
template <typename Real, typename Fill>
void send(DeviceContext& context, std::size_t length, std::size_t lines, std::size_t together,
          const Real* direct, const Fill& fill, const TakePiece& take) {
  if (length * lines == 0) return;
  const PieceLimits& limits = context.device().type == "cpu" ? kOneByOne : kFilledAhead;
  const std::size_t line = length * sizeof(Real);
  const std::size_t most = lines_of_piece(length, lines, sizeof(Real), limits);
  const std::size_t pieces = (lines + most - 1) / most;
  const auto count_of = [&](std::size_t piece) { return std::min(most, lines - piece * most); };
  Conveyor conveyor(context, most * line, pieces);
  if (!conveyor.is_pinned()) {
    std::vector<Real> own(direct ? 0 : most * length);
    for (std::size_t piece = 0; piece < pieces; ++piece) {
      const std::size_t first = piece * most, count = count_of(piece);
      if (!direct) fill(first, count, own.data());
      take(conveyor.send_from(direct ? direct + first * length : own.data(), piece, count * line),
           first, count);
    }
    return;
  }
  constexpr std::size_t kPartBytes = 512 << 10;
  const std::size_t of_part = std::max(kPartBytes / line / together, std::size_t{1}) * together;
  // With threads on all cores they would wait for each other, and the driver for a core.
  constexpr std::size_t kElementsOfThread = 512 << 10;
  const std::size_t threads =
      std::min<std::size_t>(lines * length / kElementsOfThread, cores().usable * 3 / 4);
  if (pieces == 1 && threads <= 1) {
    fill(0, lines, static_cast<Real*>(conveyor.room(0)));
    take(conveyor.send(0, lines * line), 0, lines);
    return;
  }
  FilledAhead filled(pieces, (most + of_part - 1) / of_part, conveyor.rooms(), threads,
                     [&](std::size_t piece, std::size_t part) {
                       const std::size_t begin = part * of_part, count = count_of(piece);
                       if (begin >= count) return;
                       fill(piece * most + begin, std::min(of_part, count - begin),
                            static_cast<Real*>(conveyor.room(piece)) + begin * length);
                     });
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    filled.await(piece);
    take(conveyor.send(piece, count_of(piece) * line), piece * most, count_of(piece));
    // The last two are on their way.
    if (piece < 2) continue;
    conveyor.await(piece - 2);
    filled.give_back(piece - 1);
  }
}

template <typename Real>
void send_columns(DeviceContext& context, std::span<const MatrixView> parts,
                  const TakePiece& take) {
  if (parts.empty()) return;
  std::size_t columns = 0;
  for (const MatrixView& part : parts) columns += part.cols();
  const bool by_columns = std::ranges::all_of(parts, [](const MatrixView& part) {
    return part.visit([](const auto& view) { return view.order == Order::columns; });
  });
  constexpr std::size_t kCacheLine = 16;  // floats of a row
  send<Real>(
      context, parts.front().rows(), columns, by_columns ? 1 : kCacheLine,
      by_columns && parts.size() == 1 ? as_they_are<Real>(parts[0]) : nullptr,
      [&](std::size_t first, std::size_t count, Real* room) {
        gather_columns(parts, first, count, room);
      },
      take);
}

template <typename Real>
void send_rows(DeviceContext& context, const MatrixView& matrix, const TakePiece& take) {
  send<Real>(
      context, matrix.cols(), matrix.rows(), 1, as_they_are<Real>(matrix),
      [&](std::size_t first, std::size_t count, Real* room) {
        matrix.visit([&](auto view) {
          view.data += first * view.ld;
          view.rows = count;
          round_to(view, room);
        });
      },
      take);
}

// Waits for the queue if an exception ends a scope, whose memory a command may still write to.
// Whether that succeeds does not matter: there already is an error to report.
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

// Pieces are read into two rooms in turn: one travels while the other is copied.
template <typename Real, typename T>
void receive(DeviceContext& context, const cl::Buffer& buffer, const View<T>& to) {
  const std::size_t rows = to.rows, columns = to.columns;
  if (rows * columns == 0) return;
  const std::size_t most = lines_of_piece(rows, columns, sizeof(Real), kOneByOne);
  const std::size_t bytes = most * rows * sizeof(Real), pieces = (columns + most - 1) / most;
  std::vector<Real> own;
  Real* rooms;
  if (context.device().type == "cpu") {
    own.resize(std::min<std::size_t>(pieces, 2) * most * rows);
    rooms = own.data();
  } else {
    rooms = static_cast<Real*>(context.staging().room(std::min<std::size_t>(pieces, 2) * bytes));
  }
  const Settled settled(context.queue());
  std::array<cl::Event, 2> read;
  const auto request = [&](std::size_t piece) {
    const std::size_t first = piece * most, count = std::min(most, columns - first);
    context.queue().enqueueReadBuffer(buffer, CL_FALSE, first * rows * sizeof(Real),
                                      count * rows * sizeof(Real), rooms + piece % 2 * most * rows,
                                      nullptr, &read[piece % 2]);
    context.queue().flush();
  };
  request(0);
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    read[piece % 2].wait();
    if (piece + 1 < pieces) request(piece + 1);
    const std::size_t first = piece * most, count = std::min(most, columns - first);
    const Real* const values = rooms + piece % 2 * most * rows;
    const View<T> part = to.part(first, count);
    if (to.order == Order::columns) {
      assign(part, values);
    } else {
      for (std::size_t j = 0; j < count; ++j) {
        for (std::size_t i = 0; i < rows; ++i) part(i, j) = static_cast<T>(values[j * rows + i]);
      }
    }
  }
}

// Without pieces.
template <typename Real>
void write_whole(DeviceContext& context, std::span<const MatrixView> parts, std::size_t elements,
                 const cl::Buffer& to) {
  std::vector<Real> values(elements);
  std::size_t first = 0;
  for (const MatrixView& part : parts) {
    part.visit([&](const auto& view) { copy_columns(view, values.data() + first); });
    first += part.rows() * part.cols();
  }
  context.queue().enqueueWriteBuffer(to, CL_TRUE, 0, elements * sizeof(Real), values.data());
}

}  // namespace

std::uint64_t piece_bytes(std::size_t rows, std::size_t columns, Precision precision) {
  const std::size_t size = element_size(precision);
  return std::uint64_t{2} * lines_of_piece(rows, columns, size, kOneByOne) * rows * size;
}

void upload_columns(DeviceContext& context, std::span<const MatrixView> parts, Precision precision,
                    const TakePiece& take) {
  if (precision == Precision::double_precision) return send_columns<double>(context, parts, take);
  send_columns<float>(context, parts, take);
}

void upload_rows(DeviceContext& context, const MatrixView& matrix, Precision precision,
                 const TakePiece& take) {
  if (precision == Precision::double_precision) return send_rows<double>(context, matrix, take);
  send_rows<float>(context, matrix, take);
}

cl::Buffer upload(DeviceContext& context, std::span<const MatrixView> parts, Precision precision) {
  const std::size_t element = element_size(precision);
  std::size_t elements = 0;
  for (const MatrixView& part : parts) elements += part.rows() * part.cols();
  cl::Buffer whole = context.allocate(elements * element);
  if (elements == 0) return whole;
  if (elements * element <= kSmallBytes) {
    if (precision == Precision::double_precision) {
      write_whole<double>(context, parts, elements, whole);
    } else {
      write_whole<float>(context, parts, elements, whole);
    }
    return whole;
  }
  const std::size_t column = parts.front().rows() * element;
  upload_columns(context, parts, precision,
                 [&](const cl::Buffer& piece, std::size_t first, std::size_t count) {
                   context.queue().enqueueCopyBuffer(piece, whole, 0, first * column,
                                                     count * column);
                 });
  return whole;
}

template <typename T>
void download(DeviceContext& context, const cl::Buffer& buffer, Precision precision, View<T> to) {
  if (precision == Precision::double_precision) return receive<double>(context, buffer, to);
  receive<float>(context, buffer, to);
}

template void download(DeviceContext&, const cl::Buffer&, Precision, View<float>);
template void download(DeviceContext&, const cl::Buffer&, Precision, View<double>);

Matrix download(DeviceContext& context, const cl::Buffer& buffer, std::size_t rows,
                std::size_t columns, Precision precision) {
  Matrix matrix(rows, columns);
  download(context, buffer, precision, matrix.view());
  return matrix;
}

void import_columns(DeviceContext& context, const cl::Buffer& buffer, std::size_t columns,
                    Surface& surface, std::size_t first) {
  context.run("import", surface.kernel("common/transfer.cl", "import_columns"),
              {surface.texels(0, columns), surface.rows()}, buffer, surface,
              static_cast<cl_int>(surface.rows()), static_cast<cl_int>(columns),
              static_cast<cl_int>(first));
}

void import_rows(DeviceContext& context, const cl::Buffer& buffer, std::size_t rows,
                 std::size_t columns, Surface& surface, std::size_t first) {
  context.run("import", surface.kernel("common/transfer.cl", "import_rows"),
              {surface.texels(0, columns), rows}, buffer, surface, static_cast<cl_int>(rows),
              static_cast<cl_int>(columns), static_cast<cl_int>(first));
}

Surface transpose(DeviceContext& context, const Surface& a) {
  Surface transposed(context, a.columns(), a.rows(), a.precision(), a.storage(), a.texel());
  context.run("transpose", a.kernel("common/transfer.cl", "transpose"),
              {(a.columns() + 15) / 16 * 16, (a.rows() + 15) / 16 * 16}, a, transposed,
              static_cast<cl_int>(a.rows()), static_cast<cl_int>(a.columns()));
  return transposed;
}

std::vector<double> export_diagonal(DeviceContext& context, const Surface& surface) {
  const std::size_t n = std::min(surface.rows(), surface.columns());
  const cl::Buffer diagonal = context.allocate(n * element_size(surface.precision()));
  context.run("export", surface.kernel("common/transfer.cl", "export_diagonal"), {n}, surface,
              diagonal, static_cast<cl_int>(n));
  return download(context, diagonal, n, 1, surface.precision()).values();
}

cl::Buffer export_rows(DeviceContext& context, const Surface& surface) {
  cl::Buffer buffer =
      context.allocate(surface.rows() * surface.columns() * element_size(surface.precision()));
  context.run("export", surface.kernel("common/transfer.cl", "export_rows"),
              {surface.columns(), surface.rows()}, surface, buffer,
              static_cast<cl_int>(surface.rows()), static_cast<cl_int>(surface.columns()));
  return buffer;
}

cl::Buffer export_columns(DeviceContext& context, const Surface& surface, std::size_t first,
                          std::size_t columns) {
  cl::Buffer buffer =
      context.allocate(surface.rows() * columns * element_size(surface.precision()));
  context.run("export", surface.kernel("common/transfer.cl", "export_columns"),
              {surface.rows(), columns}, surface, buffer, static_cast<cl_int>(surface.rows()),
              static_cast<cl_int>(columns), static_cast<cl_int>(first));
  return buffer;
}

}  // namespace lugpu

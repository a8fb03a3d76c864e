#include "opencl/transfer.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <span>
#include <vector>

#include "matrix/rounded.hpp"
#include "opencl/filled_rooms.hpp"

namespace lugpu {
namespace {

constexpr std::size_t kSmallBytes = 1 << 20;

constexpr PieceLimits kOneByOne{16, 4 << 20, 32 << 20};

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

// Two buffers on the device in turn, so that one piece travels while another one is used.
class TwoBuffers {
 public:
  TwoBuffers(DeviceContext& context, std::size_t bytes) : context_(context), bytes_(bytes) {}

  const cl::Buffer& next() {
    cl::Buffer& buffer = buffers_[count_++ % 2];
    if (!buffer()) buffer = context_.allocate(bytes_);
    return buffer;
  }

 private:
  DeviceContext& context_;
  std::size_t bytes_, count_ = 0;
  std::array<cl::Buffer, 2> buffers_;
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
// other. direct: where they stand like that already, or null.
template <typename Real, typename Fill>
void send(DeviceContext& context, const Lines& lines, const Real* direct, const Fill& fill,
          const TakePiece& take) {
  if (lines.length * lines.count == 0) return;
  const bool is_cpu = context.device().type == "cpu";  // whose memory needs no rooms
  const std::size_t line = lines.length * sizeof(Real);
  const std::size_t most = lines_of_piece(lines, is_cpu ? kOneByOne : kFilledAhead);
  TwoBuffers buffers(context, most * line);
  if (!is_cpu) {
    send_in_pieces<Real>(context.queue(), context.staging(), lines, most_filling_threads(), fill,
                         [&](std::size_t first, std::size_t count, const Real* room) {
                           const cl::Buffer& to = buffers.next();
                           cl::Event sent;
                           context.queue().enqueueWriteBuffer(to, CL_FALSE, 0, count * line, room,
                                                              nullptr, &sent);
                           context.queue().flush();
                           take(to, first, count);
                           return sent;
                         });
    return;
  }
  std::vector<Real> own(direct ? 0 : most * lines.length);
  for (std::size_t first = 0; first < lines.count; first += most) {
    const std::size_t count = std::min(most, lines.count - first);
    if (!direct) fill(first, count, own.data());
    const cl::Buffer& to = buffers.next();
    context.queue().enqueueWriteBuffer(to, CL_TRUE, 0, count * line,
                                       direct ? direct + first * lines.length : own.data());
    take(to, first, count);
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
      context, {parts.front().rows(), columns, sizeof(Real), by_columns ? 1 : kCacheLine},
      by_columns && parts.size() == 1 ? as_they_are<Real>(parts[0]) : nullptr,
      [&](std::size_t first, std::size_t count, Real* room) {
        gather_columns(parts, first, count, room);
      },
      take);
}

template <typename Real>
void send_rows(DeviceContext& context, const MatrixView& matrix, const TakePiece& take) {
  send<Real>(
      context, {matrix.cols(), matrix.rows(), sizeof(Real)}, as_they_are<Real>(matrix),
      [&](std::size_t first, std::size_t count, Real* room) {
        matrix.visit([&](auto view) {
          view.data += first * view.ld;
          view.rows = count;
          round_to(view, room);
        });
      },
      take);
}

// Pieces are read into two rooms in turn: one travels while the other is copied.
template <typename Real, typename T>
void receive(DeviceContext& context, const cl::Buffer& buffer, const View<T>& to) {
  const std::size_t rows = to.rows, columns = to.columns;
  if (rows * columns == 0) return;
  const std::size_t most = lines_of_piece({rows, columns, sizeof(Real)}, kOneByOne);
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
  return std::uint64_t{2} * lines_of_piece({rows, columns, size}, kOneByOne) * rows * size;
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

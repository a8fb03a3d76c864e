#include "operators/double_matrix.hpp"

#include <algorithm>
#include <array>

#include "matrix/norms.hpp"
#include "opencl/cpu_tile.hpp"

namespace lugpu {
namespace {

constexpr Precision kDouble = Precision::double_precision;

using Place = std::array<cl::size_type, 3>;

// Of a CPU's work-group: long pieces of columns, but enough work-groups for all threads.
std::size_t rows_of_group(const Device& device, std::size_t n) {
  return std::clamp<std::size_t>(ceiling(n, 64 * device.compute_units) * 64, 64, 512);
}

KernelId kernel_of_class(const Device& device, const char* function) {
  if (device.type != "cpu") return {"gpu/residual.cl", function, kDouble, Storage::buffer};
  return {"cpu/residual.cl", function, kDouble,
          Storage::buffer,   Texel::r, cpu_tile_options(device, kDouble)};
}

constexpr std::size_t kRows = 16, kColumns = 8, kItems = 256;  // of a GPU's work-group

// Of a piece that give_columns() makes.
std::size_t columns_of_piece(std::size_t n) {
  constexpr std::size_t kBytes = std::size_t{16} << 20, kTexel = 4;
  return std::min(n, std::max(kBytes / (n * sizeof(double)) / kTexel * kTexel, kTexel));
}

}  // namespace

Surface double_columns(DeviceContext& context, std::size_t n, std::size_t count) {
  Surface columns(context, count, n, kDouble, Storage::buffer);
  fill(context, columns, 0);
  return columns;
}

void upload_columns_of(DeviceContext& context, const MatrixView& from, Surface& to) {
  upload_columns(context, {&from, 1}, kDouble,
                 [&](const cl::Buffer& piece, std::size_t first, std::size_t count) {
                   import_rows(context, piece, count, from.rows(), to, first);
                 });
}

Matrix read_columns(DeviceContext& context, const Surface& from, std::size_t first,
                    std::size_t count) {
  Matrix to(from.columns(), count);
  if (to.values().empty()) return to;
  const std::size_t bytes = to.rows() * sizeof(double);
  context.queue().enqueueReadBufferRect(
      cl::Buffer(from.memory()(), true), CL_TRUE, Place{0, first, 0}, Place{},
      Place{bytes, count, 1}, from.pitch() * sizeof(double), 0, bytes, 0, to.values().data());
  return to;
}

std::size_t items_of_column(const Device& device) {
  return device.type == "gpu" && device.max_work_group >= 1024 ? 1024 : 256;
}

KernelId mixed_kernel(const Device& device, const char* function) {
  return {"dense/mixed.cl", function, kDouble,
          Storage::buffer,  Texel::r, " -DGROUP=" + std::to_string(items_of_column(device))};
}

DoubleMatrix::DoubleMatrix(DeviceContext& context, const MatrixView& a)
    : context_(context), a_(context, a.cols(), a.rows(), kDouble, Storage::buffer) {
  const bool by_rows = a.visit([](const auto& view) { return view.order == Order::rows; });
  if (by_rows) {
    upload_rows(context, a, kDouble,
                [&](const cl::Buffer& piece, std::size_t first, std::size_t count) {
                  import_columns(context, piece, count, a_, first);
                });
  } else {
    upload_columns_of(context, a, a_);
  }
  if (n() > 0) measure();
}

void DoubleMatrix::measure() {
  const std::size_t n = this->n(), room = a_.pitch();
  const cl::Buffer sums = context_.allocate(room * sizeof(double));
  const cl::Buffer largest = context_.allocate(room * sizeof(double));
  const KernelId kernel = kernel_of_class(context_.device(), "measure_rows");
  if (context_.device().type == "cpu") {
    const std::size_t rows = rows_of_group(context_.device(), n);
    context_.run("measure", kernel, {ceiling(n, rows)}, a_, sums, largest, static_cast<cl_int>(n),
                 static_cast<cl_int>(rows));
  } else {
    context_.run("measure", kernel, {ceiling(n, kRows) * kItems}, a_, sums, largest,
                 static_cast<cl_int>(n));
  }
  Matrix of_rows(n, 2);
  context_.read_back("measure", sums, 0, n * sizeof(double), of_rows.column(0));
  context_.read_back("measure", largest, 0, n * sizeof(double), of_rows.column(1));
  norm_inf_ = column_norm_max(of_rows, 0);
  largest_ = column_norm_max(of_rows, 1);
}

void DoubleMatrix::subtract_product(const Surface& x, const Surface& b, Surface& r,
                                    const cl::Buffer& which, std::size_t count) const {
  const std::size_t n = this->n();
  const auto rows = static_cast<cl_int>(n), columns = static_cast<cl_int>(count);
  const KernelId kernel = kernel_of_class(context_.device(), "residual");
  if (context_.device().type == "cpu") {
    const std::size_t rows_each = rows_of_group(context_.device(), n);
    context_.run("residual", kernel, {ceiling(n, rows_each)}, a_, x, b, r, which, rows, columns,
                 static_cast<cl_int>(rows_each));
  } else {
    context_.run("residual", kernel, {ceiling(n, kRows) * kItems, ceiling(count, kColumns)}, a_, x,
                 b, r, which, rows, columns);
  }
  context_.timeline().add_bytes(n * n * sizeof(double));
}

void DoubleMatrix::give_columns(Precision precision, const TakePiece& take) const {
  const std::size_t n = this->n(), most = columns_of_piece(std::max<std::size_t>(n, 1));
  if (n == 0) return;
  const cl::Buffer piece = context_.allocate(n * most * element_size(precision));
  const std::size_t column = n * sizeof(double), pitch = a_.pitch() * sizeof(double);
  for (std::size_t first = 0; first < n; first += most) {
    const std::size_t count = std::min(most, n - first);
    if (precision == kDouble) {
      context_.queue().enqueueCopyBufferRect(cl::Buffer(a_.memory()(), true), piece,
                                             Place{0, first, 0}, Place{}, Place{column, count, 1},
                                             pitch, 0, column, 0);
    } else {
      context_.run("import", mixed_kernel(context_.device(), "round_columns"), {n, count}, a_,
                   piece, static_cast<cl_int>(n), static_cast<cl_int>(first),
                   static_cast<cl_int>(count));
    }
    take(piece, first, count);
  }
}

std::uint64_t DoubleMatrix::bytes(std::size_t n) {
  const std::uint64_t pitch = Surface::pitch_of(n, kDouble, Storage::buffer);
  const std::uint64_t piece =
      n * columns_of_piece(std::max<std::size_t>(n, 1)) * std::uint64_t{sizeof(double)};
  return (n + 2) * pitch * sizeof(double) + std::max(piece_bytes(n, n, kDouble), piece);
}

}  // namespace lugpu

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

KernelId words_kernel(const char* function) {
  return {"gpu/double_words.cl", function, kDouble, Storage::buffer};
}

constexpr std::size_t kRows = 32, kColumns = 8, kItems = 256;  // of a GPU's work-group

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

DoubleMatrix::DoubleMatrix(DeviceContext& context, const MatrixView& a, bool rough_first)
    : context_(context), n_(a.rows()) {
  if (context.device().type != "cpu") {
    require_fits(context.device(), n_, n_, kDouble, Storage::buffer, 1, 0);
    words_ = std::make_unique<WordPlanes>(context, a, rough_first);
    return;
  }
  doubles_.emplace(context, a.cols(), a.rows(), kDouble, Storage::buffer);
  const bool by_rows = a.visit([](const auto& view) { return view.order == Order::rows; });
  if (by_rows) {
    upload_rows(context, a, kDouble,
                [&](const cl::Buffer& piece, std::size_t first, std::size_t count) {
                  import_columns(context, piece, count, *doubles_, first);
                });
  } else {
    upload_columns_of(context, a, *doubles_);
  }
}

DoubleMatrix::Sizes DoubleMatrix::sizes() const {
  if (!sizes_) sizes_ = n_ > 0 ? measure() : Sizes{};
  return *sizes_;
}

DoubleMatrix::Sizes DoubleMatrix::measure() const {
  const std::size_t room = Surface::pitch_of(n_, kDouble, Storage::buffer);
  const cl::Buffer sums = context_.allocate(room * sizeof(double));
  const cl::Buffer largest = context_.allocate(room * sizeof(double));
  const KernelId kernel = kernel_of_class(context_.device(), "measure_rows");
  const auto n = static_cast<cl_int>(n_);
  if (doubles_) {
    const std::size_t rows = rows_of_group(context_.device(), n_);
    context_.run("measure", kernel, {ceiling(n_, rows)}, *doubles_, sums, largest, n,
                 static_cast<cl_int>(rows));
  } else {
    const cl::Buffer& lower = words_->lower();
    context_.run("measure", kernel, {ceiling(n_, kRows) * kItems}, words_->upper(), lower,
                 static_cast<cl_int>(words_->pitch()), sums, largest, n);
  }
  Matrix of_rows(n_, 2);
  context_.read_back("measure", sums, 0, n_ * sizeof(double), of_rows.column(0));
  context_.read_back("measure", largest, 0, n_ * sizeof(double), of_rows.column(1));
  return {column_norm_max(of_rows, 0), column_norm_max(of_rows, 1)};
}

void DoubleMatrix::subtract_product(const Surface& x, const Surface& b, Surface& r,
                                    const cl::Buffer& which, std::size_t count) const {
  const auto rows = static_cast<cl_int>(n_), columns = static_cast<cl_int>(count);
  const KernelId kernel = kernel_of_class(context_.device(), "residual");
  if (doubles_) {
    const std::size_t rows_each = rows_of_group(context_.device(), n_);
    context_.run("residual", kernel, {ceiling(n_, rows_each)}, *doubles_, x, b, r, which, rows,
                 columns, static_cast<cl_int>(rows_each));
  } else {
    const cl::Buffer& lower = words_->lower();
    context_.run("residual", kernel, {ceiling(n_, kRows) * kItems, ceiling(count, kColumns)},
                 words_->upper(), lower, static_cast<cl_int>(words_->pitch()), x, b, r, which, rows,
                 columns);
  }
  context_.timeline().add_bytes(n_ * n_ * sizeof(double));
}

void DoubleMatrix::give(std::size_t element, const TakePiece& make, const TakePiece& take) const {
  if (n_ == 0) return;
  const std::size_t most = columns_of_piece(n_);
  const cl::Buffer piece = context_.allocate(n_ * most * element);
  for (std::size_t first = 0; first < n_; first += most) {
    const std::size_t count = std::min(most, n_ - first);
    make(piece, first, count);
    take(piece, first, count);
  }
}

void DoubleMatrix::give_columns(Precision precision, const TakePiece& take) const {
  const bool in_double = precision == kDouble;
  const auto n = static_cast<cl_int>(n_);
  give(
      element_size(precision),
      [&](const cl::Buffer& piece, std::size_t first, std::size_t count) {
        const auto from = static_cast<cl_int>(first), columns = static_cast<cl_int>(count);
        if (words_) {
          const cl::Buffer& lower = words_->lower();
          context_.run("import", words_kernel(in_double ? "join_columns" : "round_columns"),
                       {n_, count}, words_->upper(), lower, static_cast<cl_int>(words_->pitch()),
                       piece, n, from, columns);
        } else if (in_double) {
          const std::size_t column = n_ * sizeof(double);
          context_.queue().enqueueCopyBufferRect(
              cl::Buffer(doubles_->memory()(), true), piece, Place{0, first, 0}, Place{},
              Place{column, count, 1}, doubles_->pitch() * sizeof(double), 0, column, 0);
        } else {
          context_.run("import", mixed_kernel(context_.device(), "round_columns"), {n_, count},
                       *doubles_, piece, n, from, columns);
        }
      },
      take);
}

void DoubleMatrix::give_rough_columns(const TakePiece& take) const {
  if (!words_) return give_columns(Precision::single_precision, take);
  give(
      sizeof(float),
      [&](const cl::Buffer& piece, std::size_t first, std::size_t count) {
        context_.run("import", words_kernel("round_upper_words"), {n_, count}, words_->upper(),
                     static_cast<cl_int>(words_->pitch()), piece, static_cast<cl_int>(n_),
                     static_cast<cl_int>(first), static_cast<cl_int>(count));
      },
      take);
}

std::uint64_t DoubleMatrix::bytes(std::size_t n) {
  const std::uint64_t pitch = Surface::pitch_of(n, kDouble, Storage::buffer);
  const std::uint64_t piece =
      n * columns_of_piece(std::max<std::size_t>(n, 1)) * std::uint64_t{sizeof(double)};
  return std::max((n + 2) * pitch * sizeof(double), WordPlanes::bytes(n)) +
         std::max(piece_bytes(n, n, kDouble), piece);
}

}  // namespace lugpu

#include "operators/residual.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "opencl/cpu_tile.hpp"
#include "opencl/transfer.hpp"
#include "operators/product.hpp"

namespace lugpu {
namespace {

constexpr Precision kDouble = Precision::double_precision;

// Every matrix is stored by columns: row j of its surface is column j.
class DeviceResidual {
 public:
  DeviceResidual(DeviceContext& context, const MatrixView& a)
      : context_(context), a_(columns(a.cols(), a.rows())) {
    upload_columns(context, {&a, 1}, kDouble,
                   [&](const cl::Buffer& piece, std::size_t first, std::size_t count) {
                     import_rows(context, piece, count, a.rows(), a_, first);
                   });
  }

  Matrix operator()(const Matrix& x, const Matrix& b) {
    Matrix r(x.rows(), x.cols());
    if (r.values().empty()) return r;
    if (!x_ || x_->rows() < x.cols()) {
      for (auto* surface : {&x_, &b_, &r_}) *surface = columns(x.cols(), x.rows());
      fill(context_, *x_, 0);
    }
    write(x, *x_);
    write(b, *b_);
    run(x.rows(), x.cols());
    read(*r_, r);
    return r;
  }

 private:
  using Place = std::array<cl::size_type, 3>;

  Surface columns(std::size_t count, std::size_t rows) {
    return Surface(context_, count, rows, kDouble, Storage::buffer);
  }

  void write(const Matrix& from, const Surface& to) {
    if (from.values().empty()) return;
    const std::size_t bytes = from.rows() * sizeof(double);
    context_.queue().enqueueWriteBufferRect(
        cl::Buffer(to.memory()(), true), CL_TRUE, Place{}, Place{}, Place{bytes, from.cols(), 1},
        to.pitch() * sizeof(double), 0, bytes, 0, from.values().data());
  }

  void read(const Surface& from, Matrix& to) {
    const std::size_t bytes = to.rows() * sizeof(double);
    context_.queue().enqueueReadBufferRect(
        cl::Buffer(from.memory()(), true), CL_TRUE, Place{}, Place{}, Place{bytes, to.cols(), 1},
        from.pitch() * sizeof(double), 0, bytes, 0, to.values().data());
  }

  // R = B - A X
  void run(std::size_t n, std::size_t nrhs) {
    const auto rows = static_cast<cl_int>(n), columns = static_cast<cl_int>(nrhs);
    const Device& device = context_.device();
    if (device.type == "cpu") {
      // Of a work-group: long pieces of columns, but enough work-groups for all threads.
      const std::size_t rows_each =
          std::clamp<std::size_t>(ceiling(n, 64 * device.compute_units) * 64, 64, 512);
      context_.run("residual",
                   {"cpu/residual.cl", "residual", kDouble, Storage::buffer, Texel::r,
                    cpu_tile_options(device, kDouble)},
                   {ceiling(n, rows_each)}, a_, *x_, *b_, *r_, rows, columns,
                   static_cast<cl_int>(rows_each));
      return;
    }
    constexpr std::size_t kRows = 16, kColumns = 8, kItems = 256;  // of a work-group
    context_.run("residual", {"gpu/residual.cl", "residual", kDouble, Storage::buffer},
                 {ceiling(n, kRows) * kItems, ceiling(nrhs, kColumns)}, a_, *x_, *b_, *r_, rows,
                 columns);
  }

  DeviceContext& context_;
  Surface a_;
  std::optional<Surface> x_, b_, r_;  // of the most columns so far
};

}  // namespace

Residual host_residual(const MatrixView& a) {
  return [a](const Matrix& x, const Matrix& b) { return residual(a, x, b); };
}

Residual device_residual(DeviceContext& context, const MatrixView& a) {
  return DeviceResidual(context, a);
}

std::uint64_t residual_bytes(std::size_t n, std::size_t nrhs) {
  const std::uint64_t column = (n + 32) * sizeof(double);
  return (n + 3 * nrhs) * column + piece_bytes(n, n, kDouble);
}

}  // namespace lugpu

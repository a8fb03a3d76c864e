#include "operators/residual.hpp"

#include <numeric>
#include <optional>

#include "operators/product.hpp"

namespace lugpu {
namespace {

class DeviceResidual {
 public:
  explicit DeviceResidual(const DoubleMatrix& a) : a_(a) {}

  Matrix operator()(const Matrix& x, const Matrix& b) {
    if (x.values().empty()) return b;
    DeviceContext& context = a_.context();
    if (!x_ || x_->rows() < x.cols()) make(x.cols());
    write_columns(context, x, *x_);
    write_columns(context, b, *b_);
    a_.subtract_product(*x_, *b_, *r_, which_, x.cols());
    return read_columns(context, *r_, 0, x.cols());
  }

 private:
  void make(std::size_t count) {
    DeviceContext& context = a_.context();
    for (auto* surface : {&x_, &b_, &r_}) *surface = double_columns(context, a_.n(), count);
    std::vector<cl_int> all(count);
    std::iota(all.begin(), all.end(), 0);
    which_ = context.allocate(count * sizeof(cl_int));
    context.queue().enqueueWriteBuffer(which_, CL_TRUE, 0, count * sizeof(cl_int), all.data());
  }

  const DoubleMatrix& a_;
  std::optional<Surface> x_, b_, r_;  // of the most columns so far
  cl::Buffer which_;                  // all of them
};

}  // namespace

Residual host_residual(const MatrixView& a) {
  return [a](const Matrix& x, const Matrix& b) { return residual(a, x, b); };
}

Residual device_residual(const DoubleMatrix& a) {
  return DeviceResidual(a);
}

}  // namespace lugpu

#include "dense/substitution.hpp"

#include <algorithm>

namespace lugpu {
namespace {

constexpr std::size_t kBlock = 32;  // BLOCK of dense/substitute.clh

KernelId kernel(const Surface& lu, const char* function) {
  return lu.kernel("dense/passes.cl", function);
}

cl_int is_transposed(Op op) {
  return op == Op::transpose;
}

// x(top:bottom, :) -= op(lu)(top:bottom, first:last) x(first:last, :)
void subtract_block(DeviceContext& context, const Surface& lu, const cl::Buffer& x,
                    std::size_t nrhs, std::size_t top, std::size_t bottom, std::size_t first,
                    std::size_t last, Op op) {
  context.run("solve", kernel(lu, "subtract_block"), {bottom - top, nrhs}, lu, x,
              static_cast<cl_int>(top), static_cast<cl_int>(bottom), static_cast<cl_int>(first),
              static_cast<cl_int>(last), static_cast<cl_int>(lu.rows()), is_transposed(op));
}

}  // namespace

void gather_rows(DeviceContext& context, const cl::Buffer& in, const cl::Buffer& out,
                 const std::vector<int>& order, std::size_t nrhs, Precision precision) {
  if (order.empty()) return;
  const std::size_t bytes = order.size() * sizeof(cl_int);
  const cl::Buffer& positions = context.scratch(bytes);
  context.queue().enqueueWriteBuffer(positions, CL_TRUE, 0, bytes, order.data());
  gather_rows(context, in, out, positions, order.size(), nrhs, precision);
}

void gather_rows(DeviceContext& context, const cl::Buffer& in, const cl::Buffer& out,
                 const cl::Buffer& order, std::size_t n, std::size_t nrhs, Precision precision) {
  context.run("solve", {"common/transfer.cl", "gather_rows", precision, Storage::buffer}, {n, nrhs},
              in, out, order, static_cast<cl_int>(n));
}

void forward_substitution(DeviceContext& context, const Surface& lu, const cl::Buffer& x,
                          std::size_t nrhs, Op op) {
  const std::size_t n = lu.rows();
  for (std::size_t first = 0; first < n; first += kBlock) {
    const std::size_t last = std::min(first + kBlock, n);
    context.run("solve", kernel(lu, "forward_block"), {nrhs * kBlock}, lu, x,
                static_cast<cl_int>(first), static_cast<cl_int>(n), is_transposed(op));
    subtract_block(context, lu, x, nrhs, last, n, first, last, op);
    context.checkpoint();
  }
}

void back_substitution(DeviceContext& context, const Surface& lu, const cl::Buffer& x,
                       std::size_t nrhs, Op op) {
  const std::size_t n = lu.rows();
  const std::size_t blocks = (n + kBlock - 1) / kBlock;
  for (std::size_t block = blocks; block-- > 0;) {
    const std::size_t first = block * kBlock;
    const std::size_t last = std::min(first + kBlock, n);
    context.run("solve", kernel(lu, "back_block"), {nrhs * kBlock}, lu, x,
                static_cast<cl_int>(first), static_cast<cl_int>(n), is_transposed(op));
    subtract_block(context, lu, x, nrhs, 0, first, first, last, op);
    context.checkpoint();
  }
}

}  // namespace lugpu

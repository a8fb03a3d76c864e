// Forward and back substitution on the device.
#pragma once

#include "dense/factorization.hpp"
#include "opencl/transfer.hpp"

namespace lugpu {

/// out(i, :) = in(order[i], :) for column-major buffers of n = order.size() rows and nrhs columns;
/// in and out are different buffers.
void gather_rows(DeviceContext& context, const cl::Buffer& in, const cl::Buffer& out,
                 const std::vector<int>& order, std::size_t nrhs, Precision precision);
/// The same by an order on the device, n ints.
void gather_rows(DeviceContext& context, const cl::Buffer& in, const cl::Buffer& out,
                 const cl::Buffer& order, std::size_t n, std::size_t nrhs, Precision precision);

/// X = inv(L) X: lu holds the unit lower triangle L of n x n below its diagonal; x is a
/// column-major buffer of n x nrhs elements (LAPACK's trsm in getrs). With Op::transpose
/// X = inv(U') X.
void forward_substitution(DeviceContext& context, const Surface& lu, const cl::Buffer& x,
                          std::size_t nrhs, Op op = Op::none);

/// X = inv(U) X: lu holds the upper triangle U of n x n on and above its diagonal, which has no
/// zero; x as above. With Op::transpose X = inv(L') X.
void back_substitution(DeviceContext& context, const Surface& lu, const cl::Buffer& x,
                       std::size_t nrhs, Op op = Op::none);

}  // namespace lugpu

// LuFactors of matrices, and whether they are right.
#pragma once

#include <cblas.h>
#include <lapacke.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ostream>
#include <vector>

#include "opencl_fixture.hpp"

namespace lugpu {

inline void PrintTo(Precision precision, std::ostream* out) {
  *out << name(precision);
}

/// What the device left of an m x n matrix.
struct LuFactors {
  Matrix lu;
  std::vector<int> ipiv;  // 1-based
  int info = 0;
};

/// A device's context in which no work-group waits for another: one compute unit of a CPU. For
/// kernels of GPUs, which a CPU builds without optimizations: PoCL needs minutes for them.
inline DeviceContext& context_of_one_unit() {
  const Device& device = shared_context().device();
  const bool on_cpu = device.type == "cpu";
  static DeviceContext context(
      on_cpu && device.compute_units > 1 ? with_compute_units(device, 1) : device,
      {.options = on_cpu ? " -cl-opt-disable" : ""});
  return context;
}

/// Of methods in one launch, by precision.
class OneLaunchTest : public testing::TestWithParam<Precision> {
 protected:
  void SetUp() override {
    const std::string missing =
        missing_on(handle_of(context.device()), {precision, Storage::buffer});
    if (!missing.empty()) GTEST_SKIP() << context.device().name << ": " << missing;
  }

  bool has_subnormals() const {
    const cl::Device device = handle_of(context.device());
    const cl_device_fp_config config = precision == Precision::single_precision
                                           ? device.getInfo<CL_DEVICE_SINGLE_FP_CONFIG>()
                                           : device.getInfo<CL_DEVICE_DOUBLE_FP_CONFIG>();
    return (config & CL_FP_DENORM) != 0;
  }

  DeviceContext& context = context_of_one_unit();
  const Precision precision = GetParam();
};

/// A matrix that this pivoting can handle, rounded to the precision.
inline Matrix harmless_for(Pivot pivot, Precision precision, std::size_t m, std::size_t n,
                           std::uint64_t seed) {
  Matrix a = random_in(precision, m, n, seed);
  if (pivot == Pivot::none) {
    for (std::size_t i = 0; i < std::min(m, n); ++i) a(i, i) += static_cast<double>(m + n);
  }
  return rounded_to(precision, a);
}

/// 4 on the diagonal, with zeros at `zero` and at the end, and 0.5 above it: elimination rounds
/// nothing, so that the first of them is exactly zero.
inline Matrix with_zero_pivot(std::size_t n, std::size_t zero) {
  Matrix a = diagonal(n, 4);
  for (std::size_t j = 0; j < n; ++j) std::fill_n(a.column(j), j, 0.5);
  a(zero, zero) = a(n - 1, n - 1) = 0;
  return a;
}

/// max |P A - L U| / (max(m, n) max |A| eps), for any shape.
inline double factor_error(const Matrix& a, const LuFactors& factors, double eps) {
  const std::size_t m = a.rows(), n = a.cols(), steps = factors.ipiv.size();
  Matrix rest = a, l(m, steps), u(steps, n);
  for (std::size_t k = 0; k < steps; ++k) {
    const std::size_t p = static_cast<std::size_t>(factors.ipiv[k]) - 1;
    for (std::size_t j = 0; j < n && p != k; ++j) std::swap(rest(k, j), rest(p, j));
    l(k, k) = 1;
    std::copy(factors.lu.column(k) + k + 1, factors.lu.column(k) + m, l.column(k) + k + 1);
  }
  for (std::size_t j = 0; j < n; ++j) {
    std::copy_n(factors.lu.column(j), std::min(j + 1, steps), u.column(j));
  }
  const auto rows = static_cast<blasint>(m), columns = static_cast<blasint>(n),
             inner = static_cast<blasint>(steps);
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, rows, columns, inner, -1, l.column(0),
              rows, u.column(0), inner, 1, rest.column(0), rows);
  return norm_max(rest) / (static_cast<double>(std::max(m, n)) * norm_max(a) * eps);
}

/// LAPACK's answer in double for a matrix of this precision.
inline std::vector<int> getrf_pivots(const Matrix& a, Precision precision) {
  const auto m = static_cast<lapack_int>(a.rows()), n = static_cast<lapack_int>(a.cols());
  std::vector<lapack_int> ipiv(std::min(a.rows(), a.cols()));
  if (precision == Precision::double_precision) {
    std::vector<double> lu = a.values();
    LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, m, n, lu.data(), std::max(m, 1), ipiv.data());
  } else {
    std::vector<float> lu(a.values().begin(), a.values().end());
    LAPACKE_sgetrf_work(LAPACK_COL_MAJOR, m, n, lu.data(), std::max(m, 1), ipiv.data());
  }
  return ipiv;
}

/// No zero pivot, a small error and, where rounding does not decide, LAPACK's pivots.
inline void expect_right(const Matrix& a, const LuFactors& factors, Pivot pivot,
                         Precision precision) {
  EXPECT_EQ(factors.info, 0);
  EXPECT_LT(factor_error(a, factors, epsilon(precision)), kFactorRatioLimit);
  if (pivot == Pivot::partial && precision == Precision::double_precision) {
    EXPECT_EQ(factors.ipiv, getrf_pivots(a, precision));
  }
}

}  // namespace lugpu

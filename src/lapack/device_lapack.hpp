// LAPACK's routines for general matrices on the device, with the caller's matrices on the host.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "dense/blocked.hpp"
#include "lapack/columns.hpp"
#include "opencl/staging.hpp"
#include "opencl/surface.hpp"

namespace lugpu::lapack {

/// P A = L U, L and U on the device.
struct Factors {
  Surface lu;  ///< m x n: unit lower L below the diagonal, U on and above it
  std::unique_ptr<Blocked> blocked;
  std::vector<int> ipiv;          ///< min(m, n), 1-based, as getrf's
  int info = 0;                   ///< as getrf's: the first zero pivot, 1-based, or 0
  std::uint64_t fingerprint = 0;  ///< of lu and ipiv, where the caller has them
};

/// One device. Real is float or double; shapes as in LAPACK, m and n at least 1. Every function
/// throws (Error, cl::Error, std::bad_alloc) before it overwrites anything of the caller's, or not
/// at all. Not thread-safe.
class DeviceLapack {
 public:
  explicit DeviceLapack(Device device) : context_(std::move(device)) {}

  /// The factors of A, m x n, left on the device.
  template <typename Real>
  Factors factor(Columns<const Real> a);
  /// B = inv(op(A)) B for the factors of an n x n A; B is n x nrhs, nrhs may be 0.
  template <typename Real>
  void solve(Factors& factors, Op op, Columns<Real> b);

  /// LAPACK's getrf; the factors stay on the device until the next factorization. Returns info.
  template <typename Real>
  int getrf(Columns<Real> a, int* ipiv);
  /// LAPACK's gesv, likewise. nrhs may be 0, A then of any shape.
  template <typename Real>
  int gesv(Columns<Real> a, int* ipiv, Columns<Real> b);
  /// LAPACK's getrs. Returns whether the factors were on the device already; they stay there.
  template <typename Real>
  bool getrs(Op op, Columns<const Real> lu, const int* ipiv, Columns<Real> b);
  /// LAPACK's getri for a U without a zero on its diagonal. Returns as getrs.
  template <typename Real>
  bool getri(Columns<Real> lu, const int* ipiv);
  /// LAPACK's getc2: P A Q = L U for an n x n A. Returns info, the last pivot that was replaced by
  /// the smallest that getc2 allows, or 0.
  template <typename Real>
  int getc2(Columns<Real> a, int* ipiv, int* jpiv);

  /// Frees the factors that stay on the device.
  void forget() { kept_.reset(); }

 private:
  template <typename Real>
  cl::Buffer upload(Columns<const Real> host);
  template <typename Real>
  const Real* staged(const cl::Buffer& buffer, std::size_t count);
  template <typename Real>
  cl::Buffer solved(Factors& factors, Op op, Columns<const Real> b);
  template <typename Real>
  bool keep(Columns<const Real> lu, const int* ipiv);

  DeviceContext context_;
  Staging staging_{context_};
  std::optional<Factors> kept_;
};

}  // namespace lugpu::lapack

// LAPACK's routines for general matrices on the device, with the caller's matrices on the host.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "dense/factorization.hpp"
#include "operators/double_matrix.hpp"
#include "solve/problem.hpp"

namespace lugpu::lapack {

/// P A = L U, L and U on the device.
struct Factors {
  std::unique_ptr<DenseFactorization> lu;  ///< m x n
  std::vector<int> ipiv;                   ///< min(m, n), 1-based, as getrf's
  int info = 0;                            ///< as getrf's: the first zero pivot, 1-based, or 0
  std::uint64_t fingerprint = 0;           ///< of lu and ipiv, where the caller has them
};

/// A, m x n, of the caller, with the leading dimension lda.
template <typename Real>
View<Real> view(Real* a, int m, int n, int lda) {
  return {a, static_cast<std::size_t>(m), static_cast<std::size_t>(n),
          static_cast<std::size_t>(lda)};
}

/// to = from, by columns and of the same shape.
template <typename Real>
void copy(View<const Real> from, View<Real> to);

/// One device, or several that share square matrices, while others and getc2 are the first one's.
/// Real is float or double; shapes as in LAPACK, by columns, m and n at least 1. Every
/// function throws (Error, cl::Error, std::bad_alloc) before it overwrites anything of the
/// caller's, or not at all. Not thread-safe.
class DeviceLapack {
 public:
  explicit DeviceLapack(const std::vector<Device>& devices);

  /// The factors of A, m x n, left on the device, in the precision of Real; A may be in another.
  template <typename Real>
  Factors factor(const MatrixView& a);
  /// A, n x n, in double on the device, for factors in single and refinement of nrhs columns; null
  /// if that has no room for it or several devices share A.
  std::unique_ptr<DoubleMatrix> in_double(const MatrixView& a, std::size_t nrhs);
  /// Its factors in single.
  Factors factor(const DoubleMatrix& a);
  /// B = inv(op(A)) B for the factors of an n x n A; B is n x nrhs, nrhs may be 0.
  template <typename Real>
  void solve(Factors& factors, Op op, View<Real> b);

  /// LAPACK's getrf; the factors stay on the device until the next factorization. Returns info.
  template <typename Real>
  int getrf(View<Real> a, int* ipiv);
  /// LAPACK's gesv, likewise. nrhs may be 0, A then of any shape.
  template <typename Real>
  int gesv(View<Real> a, int* ipiv, View<Real> b);
  /// LAPACK's getrs. Returns whether the factors were on the device already; they stay there.
  template <typename Real>
  bool getrs(Op op, View<const Real> lu, const int* ipiv, View<Real> b);
  /// LAPACK's getri for a U without a zero on its diagonal. Returns as getrs.
  template <typename Real>
  bool getri(View<Real> lu, const int* ipiv);
  /// LAPACK's getc2: P A Q = L U for an n x n A. Returns info, the last pivot that was replaced by
  /// the smallest that getc2 allows, or 0.
  template <typename Real>
  int getc2(View<Real> a, int* ipiv, int* jpiv);

  /// Frees the factors that stay on the device.
  void forget() { kept_.reset(); }

 private:
  bool shares(std::size_t rows, std::size_t columns) const {
    return !others_.empty() && rows == columns;
  }
  Factors factored(std::unique_ptr<DenseFactorization> lu);
  template <typename Real>
  Problem problem_of(std::size_t rows, std::size_t columns);
  template <typename Real>
  const Real* staged(const cl::Buffer& buffer, std::size_t count);
  template <typename Real>
  const Real* staged_factors(Factors& factors);
  template <typename Real>
  void invert_shared(View<Real> inverse);
  template <typename Real>
  bool keep(View<const Real> lu, const int* ipiv);

  DeviceContext context_;
  std::vector<std::unique_ptr<DeviceContext>> others_;
  std::optional<Factors> kept_;
};

}  // namespace lugpu::lapack

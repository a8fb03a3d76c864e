// Factors that stay on the device.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "lugpu/solve.hpp"

namespace lugpu {

/// P A Q = L U of an n x n matrix, on the device. Cheap to copy; all copies are the same. Threads
/// may share it, as they may share its Context. T: float or double.
template <typename T>
class LUGPU_API Factorization {
 public:
  std::size_t n() const;
  /// 0, or k > 0: the k-th pivot (1-based) is exactly zero, as LAPACK's getrf has it. Then only the
  /// factors, the pivots and the determinant are there, and the other calls throw Error (failure).
  int info() const;
  /// Row k was interchanged with row ipiv()[k-1], 1-based, as dgetrf's; empty without pivoting.
  const std::vector<int>& ipiv() const;
  /// Likewise the columns, as dgetc2's; empty unless the pivoting interchanges columns.
  const std::vector<int>& jpiv() const;

  /// B becomes X with op(A) X = B (LAPACK's getrs). b: n x nrhs.
  void solve(View<T> b, Op op = Op::none) const;
  /// L (unit, below the diagonal) and U. lu: n x n.
  void factors(View<T> lu) const;
  /// inv(A) (LAPACK's getri). inverse: n x n.
  void inverse(View<T> inverse) const;
  Determinant determinant() const;
  /// An estimate of 1 / (||A||_1 ||inv(A)||_1) (LAPACK's gecon); absent if the factors are too
  /// inaccurate to support one; 0 for info() > 0.
  std::optional<double> rcond() const;

  class LUGPU_LOCAL Implementation;
  explicit Factorization(std::shared_ptr<Implementation> implementation);

 private:
  std::shared_ptr<Implementation> implementation_;
};

extern template class Factorization<float>;
extern template class Factorization<double>;

/// Factors A, n x n, which is not changed. Options: method (one that keeps its factors), pivot,
/// precision, storage, texel, schedule and nb. Throws as solve().
template <typename T>
Factorization<T> factorize(const Context& context, View<const T> a, const Options& options = {});

extern template LUGPU_API Factorization<float> factorize(const Context&, View<const float>,
                                                         const Options&);
extern template LUGPU_API Factorization<double> factorize(const Context&, View<const double>,
                                                          const Options&);

/// The factorization P A = L U that somebody else made, e.g. LAPACK's getrf. lu: n x n, unit lower
/// L below the diagonal, U on and above it; ipiv: as Factorization::ipiv(). Its rcond() is absent:
/// that needs A.
template <typename T>
Factorization<T> adopt(const Context& context, View<const T> lu, const std::vector<int>& ipiv);

extern template LUGPU_API Factorization<float> adopt(const Context&, View<const float>,
                                                     const std::vector<int>&);
extern template LUGPU_API Factorization<double> adopt(const Context&, View<const double>,
                                                      const std::vector<int>&);

}  // namespace lugpu

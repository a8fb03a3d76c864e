// The steps of Jacobi's method, of Gauss-Seidel with red and black points and of conjugate
// gradients in plain loops of one thread (Amador, Gomes 2010, algorithms 2, 3 and 6).
#pragma once

#include "baselines/plain_grid.hpp"
#include "iterative/stopping.hpp"

namespace lugpu {

enum class PlainMethod { jacobi, gauss_seidel, cg };

/// A x = b with the matrix of a grid. Real: float or double; sums are carried along in double.
template <typename Real>
class PlainIteration {
 public:
  using Field = typename PlainGrid<Real>::Field;

  /// Throws std::bad_alloc.
  PlainIteration(PlainMethod method, const Grid& grid);

  const PlainGrid<Real>& grid() const { return grid_; }

  /// Takes the steps of jacobi(), gauss_seidel() or conjugate_gradients() of src/iterative from x
  /// on. A blind rule has no residuals computed but those that the steps need.
  Iteration solve(const Field& b, Field& x, const StoppingRule& rule);

 private:
  void sweep(const Field& b, Field& x);
  Iteration relax(const Field& b, Field& x, const StoppingRule& rule);
  Iteration conjugate_gradients(const Field& b, Field& x, const StoppingRule& rule);

  PlainMethod method_;
  PlainGrid<Real> grid_;
  Field r_, p_, q_;
};

}  // namespace lugpu

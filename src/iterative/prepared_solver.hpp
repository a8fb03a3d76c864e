// What solves systems with one matrix again and again.
#pragma once

#include "iterative/stopping.hpp"
#include "matrix/matrix.hpp"
#include "opencl/surface.hpp"

namespace lugpu {

/// A X = B with an n x n matrix that was given, and factored or otherwise prepared, when this was
/// made.
class PreparedSolver {
 public:
  virtual ~PreparedSolver() = default;

  /// b: n x nrhs; x: the start, as large, which direct methods ignore. Returns when both are where
  /// solve() finds them. Throws InputError if a value overflows the precision.
  virtual void upload(const Matrix& b, const Matrix& x) = 0;
  /// All columns, from the start that was uploaded; returns when X is there. May be called again.
  /// The iteration is that of the column that took the most steps, or of the first one that did not
  /// converge; a direct method takes none.
  virtual Iteration solve() = 0;
  /// X, n x nrhs.
  virtual Matrix download() = 0;
};

/// One whose right-hand sides may be on a device already.
class DeviceSolver : public PreparedSolver {
 public:
  using PreparedSolver::solve;
  /// A x = b for vectors of a grid that are on the device: buffers with a row of nx elements for
  /// each (y, z), whatever their texels are. x: the start, which direct methods ignore, and the
  /// result, perhaps in other memory. Not for matrices that are stored. Direct methods may return
  /// before the device is done. Throws InputError unless both are such buffers of the solver's
  /// order and precision; Unsupported if it was made for images.
  virtual Iteration solve(const Surface& b, Surface& x) = 0;

 protected:
  /// Throws InputError unless b and x are buffers of n elements in so many columns.
  static void require_vectors(const Surface& b, const Surface& x, std::size_t n,
                              std::size_t columns, Precision precision);
};

/// A x = b for the matrix of a grid whose conductivity is on a device and changes, so that nothing
/// of the matrix is read back.
class VaryingSolver {
 public:
  virtual ~VaryingSolver() = default;

  /// From now on, and before the first solve(). k: as x, finite and at least 0.
  virtual void set_conductivity(const Surface& k) = 0;
  /// b, x: buffers with a row of nx elements for each (y, z). x: the start, and the result, perhaps
  /// in other memory.
  virtual Iteration solve(const Surface& b, Surface& x) = 0;
};

}  // namespace lugpu

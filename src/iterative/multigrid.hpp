// Conjugate gradients preconditioned by a multigrid cycle (O. Tatebe, "The Multigrid Preconditioned
// Conjugate Gradient Method", Copper Mountain Conference on Multigrid Methods, 1993; A. McAdams,
// E. Sifakis, J. Teran, "A Parallel Multigrid Poisson Solver for Fluids Simulation on Large Grids",
// Symposium on Computer Animation 2010).
#pragma once

#include <memory>
#include <vector>

#include "iterative/stopping.hpp"
#include "matrix/grid.hpp"
#include "operators/vectors.hpp"

namespace lugpu {

/// Solves A x = b for the matrix of a grid, of any size, with any walls, with or without a
/// conductivity. A is symmetric positive definite, or semidefinite with the constants of parts of
/// the grid that no Dirichlet wall and no shift holds in its null space: b is then projected, the
/// mean of each such part taken off, and the solution's mean there is 0.
///
/// A cell of a coarse grid is two cells along each axis. What the coarse cells find is added to
/// their cells as it is; the two steps of Jacobi's method before and after it make it smooth, since
/// one of them would interpolate a constant jump linearly. The links of the coarse grids are those
/// of the fine cells between them times the ratio of the distances, so that they are grids of the
/// same kind.
class MultigridCg {
 public:
  /// Builds the coarse grids, on the host but for the last one's inverse, in time and memory
  /// proportional to the grid. context must outlive this. Throws InputError for a conductivity that
  /// is negative, not finite or not of every unknown; Unsupported for images, packed texels and
  /// grids that the device cannot hold.
  MultigridCg(DeviceContext& context, const Grid& grid, Precision precision, Storage storage,
              Texel texel);
  ~MultigridCg();

  /// Of b and x: a row for each (y, z), as GridOperator's.
  const VectorLayout& layout() const { return vectors_.layout(); }
  Vectors& vectors() { return vectors_; }

  /// A becomes that of the conductivity k, which is on the device and stays there: a buffer of
  /// layout(), of any texels, finite and at least 0. For grids that were given a conductivity, with
  /// Neumann and periodic walls and without a shift. All cells that exchange anything must be
  /// linked with one another: the mean of all of them is taken off, not that of each part.
  void set_conductivity(const Surface& k);

  /// x: the start, and the result. The residuals are relative to the norm of b, projected. For b =
  /// 0, x is 0 after no iterations; where b . b would leave the range of the precision, b and x are
  /// multiplied by a power of two meanwhile. Uses scalars(0) of vectors(). All other scalars stay
  /// on the device, but that the host looks at the residuals after four iterations and after each
  /// later one.
  Iteration solve(const Surface& b, Surface& x, const StoppingRule& rule);

  /// M r, what the cycle makes of r, which is 0 at obstacles if the shift is 0. M is symmetric and
  /// positive definite.
  std::vector<double> preconditioned(const Surface& r);

 private:
  class Hierarchy;

  Vectors vectors_;
  std::unique_ptr<Hierarchy> hierarchy_;
};

}  // namespace lugpu

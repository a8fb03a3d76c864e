// GMRES with an inverse from inaccurate factors as its preconditioner.
#pragma once

#include "dense/factorization.hpp"
#include "operators/residual.hpp"

namespace lugpu {

struct Gmres {
  int steps = 0;  ///< products with A, each with one application of the inverse
  bool converged = false;
};

/// Improves the n x 1 solution x of A x = b until max |b - A x| <= tolerance max |x|, in at most
/// `most_steps` steps; gives up where a cycle of 10 does not halve the residual. Flexible GMRES
/// (Saad, SIAM J. Sci. Comput. 14, 1993), so that the inverse may be as inexact as single precision
/// makes it, inside refinement (Carson and Higham, SIAM J. Sci. Comput. 39, 2017). residual: b - A
/// x; vectors are on the host in double.
Gmres gmres(const Residual& residual, const Matrix& b, Matrix& x, double tolerance, int most_steps,
            const ApplyInverse& apply_inverse);

}  // namespace lugpu

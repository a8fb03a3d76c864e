// ViennaCL's conjugate gradients on an OpenCL device, without a preconditioner and with algebraic
// multigrid (Rupp et al., SIAM J. Sci. Comput. 38, 2016). Its headers are looked for at configure
// time.
#pragma once

#include <memory>

#include "iterative/prepared_solver.hpp"
#include "solve/structured_methods.hpp"

namespace lugpu {

enum class ViennaClPreconditioner { none, amg };

/// Throws Unsupported if lugpu was built without ViennaCL, if the matrix is not symmetric with a
/// positive diagonal, or if it does not fit: into the device, or into the 32 bits that ViennaCL has
/// for the bytes of its values.
void require_viennacl_cg(ViennaClPreconditioner preconditioner, const Device& device,
                         const StructuredMatrix& a, Precision precision);

/// cg_solver of ViennaCL 1.7.1 on a compressed_matrix, in the context and on the queue of this
/// device: the pipelined method without a preconditioner. amg: aggregates of maximal independent
/// sets of distance 2, smoothed interpolation, two damped Jacobi sweeps before and after; set up
/// here, on the host, applied on the device. ViennaCL's own test of convergence is replaced by that
/// of the rule, because with a preconditioner it looks at another norm. Throws as
/// require_viennacl_cg(), Unsupported if the matrix cannot be coarsened, and what ViennaCL throws.
std::unique_ptr<PreparedSolver> make_viennacl_cg(ViennaClPreconditioner preconditioner,
                                                 DeviceContext& context, const StructuredMatrix& a,
                                                 const Sparse& stored, Precision precision,
                                                 const StoppingRule& rule);

}  // namespace lugpu

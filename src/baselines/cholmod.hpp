// SuiteSparse's CHOLMOD (Chen, Davis, Hager, Rajamanickam, ACM TOMS 35, 2008): sparse Cholesky
// factorization on the host. Building this needs nothing of SuiteSparse: libcholmod is opened on
// demand.
#pragma once

#include <memory>
#include <optional>

#include "baselines/system_baselines.hpp"

namespace lugpu {

/// Throws Unsupported if libcholmod is missing or unknown, in single precision, which CHOLMOD 3
/// does not have, if there are 2^31 entries or more, or if the matrix is not symmetric with a
/// positive diagonal.
void require_cholmod(const StructuredMatrix& a, Precision precision);

/// Analyzed and factored here with CHOLMOD's own choices: the best of its orderings, and a
/// simplicial or supernodal L L'. That it is not positive definite is
/// the reason with which solve() ends; X stays the start then. Where rounding alone can have made a
/// pivot, by cholmod_rcond(), solve() looks at the residual, which must be below the tolerance of
/// the rule. Throws as require_cholmod(), and Unsupported if the factor takes more than half of
/// this machine's memory, which the analysis tells.
std::unique_ptr<PreparedSolver> make_cholmod(const StructuredMatrix& a, const Sparse& stored,
                                             Precision precision, const StoppingRule& rule);

/// The libcholmod that is opened; absent if there is none.
std::optional<RivalLibrary> cholmod_library();

}  // namespace lugpu

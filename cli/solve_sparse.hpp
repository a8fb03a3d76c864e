// `lugpu solve` for a matrix that stays sparse.
#pragma once

#include "exit.hpp"
#include "options.hpp"
#include "solve/solve_sparse.hpp"
#include "system.hpp"

namespace lugpu::cli {

struct SparseSystem {
  std::string matrix, rhs, output;  ///< files; the last two may be empty
  const Sparse& a;
  RightHandSide b;
};

/// Solves by the plan, which is not for a dense matrix; writes X and the record, and prints a
/// report.
Exit solve_sparse(DeviceContext& context, const SparsePlan& plan, const SparseSystem& system,
                  const Options& options, const std::vector<std::string>& arguments);

}  // namespace lugpu::cli

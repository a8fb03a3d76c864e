// `lugpu solve` for a matrix that stays sparse.
#pragma once

#include "base/watchdog.hpp"
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
/// report. watchdog: it is cleared when there is a solution.
Exit solve_sparse(DeviceContext& context, const SparsePlan& plan, const SparseSystem& system,
                  const Options& options, const std::vector<std::string>& arguments,
                  Watchdog& watchdog);

}  // namespace lugpu::cli

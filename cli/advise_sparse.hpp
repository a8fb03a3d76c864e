// `lugpu advise` for a matrix that stays sparse.
#pragma once

#include <optional>

#include "bench/sparse_advice.hpp"
#include "exit.hpp"
#include "options.hpp"
#include "system.hpp"

namespace lugpu::cli {

/// A file and what it holds; the choice is not to make it dense.
struct SparseQuestion {
  std::string matrix, rhs;  ///< files; the second one may be empty
  const Sparse& a;
  RightHandSide b;
  AutomaticChoice choice;
  std::optional<int> digits;
  double timeout_s;  ///< of a run
};

/// Tries every method in every precision, prints them and the advice, and writes the records.
Exit advise_sparse(DeviceContext& context, const SparseQuestion& question, const Options& options,
                   const std::vector<std::string>& arguments);

}  // namespace lugpu::cli

// Sparse systems.
#pragma once

#include <cstdint>

#include "lugpu/solve.hpp"

namespace lugpu {

/// An n x n matrix in compressed sparse rows in memory that somebody else owns: row i has the
/// entries row_begin[i] up to row_begin[i + 1], 0-based, of `columns` and `values`. SciPy's
/// csr_array, for one. In any row the columns may come in any order, and entries of one place are
/// added; where they ascend without duplicates, nothing is copied.
struct SparseView {
  std::size_t n = 0;
  const std::int64_t* row_begin = nullptr;  ///< n + 1
  const std::int32_t* columns = nullptr;    ///< 0-based
  const double* values = nullptr;
};

/// Solves A X = B without making A dense where a method can do that. b: n x nrhs. Options: method
/// ("cg", "banded" ... or a dense one), precision, storage, tolerance and iterations; the others
/// are for dense methods, which "auto" takes if one is given. With "auto", Report::why tells the
/// choice. An X that misses the tolerance is returned with Status::failed. Throws as the solve() of
/// dense matrices; bad_input too for places outside of A, unsupported for a matrix that the method
/// cannot take.
LUGPU_API Solution<double> solve(const Context& context, const SparseView& a, View<const double> b,
                                 const Options& options = {});

/// The same from an estimate of X, n x nrhs, where iterative methods start (else from zero); other
/// methods ignore it.
LUGPU_API Solution<double> solve(const Context& context, const SparseView& a, View<const double> b,
                                 View<const double> start, const Options& options = {});

}  // namespace lugpu

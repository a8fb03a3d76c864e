// A X = B from files.
#pragma once

#include <CLI/CLI.hpp>
#include <cmath>
#include <string>

#include "matrix/matrix.hpp"
#include "matrix/sparse.hpp"

namespace lugpu::cli {

/// The positional arguments MATRIX and RHS; `matrix` and `rhs` must outlive the parsing.
void add_system_arguments(CLI::App& command, std::string& matrix, std::string& rhs);

struct RightHandSide {
  Matrix b;               ///< n x nrhs
  double solution = NAN;  ///< what every element of X should be; NaN if that is not known
};

/// B, with as many rows as A, from a file; if `path` is empty, A times a vector of ones, or of a
/// power of two that keeps every sum from overflowing. Throws what read_matrix throws.
RightHandSide read_rhs(const std::string& path, const Matrix& a);

/// The same for a sparse A.
RightHandSide read_rhs(const std::string& path, const Sparse& a);

/// How a report names B, e.g. "A * ones".
std::string description(const std::string& path, const RightHandSide& rhs);

/// E.g. "3 x 2".
std::string shape(std::size_t rows, std::size_t columns);

}  // namespace lugpu::cli

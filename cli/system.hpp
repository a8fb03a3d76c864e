// A X = B from files.
#pragma once

#include <CLI/CLI.hpp>
#include <cmath>
#include <string>

#include "matrix/matrix.hpp"
#include "matrix/sparse.hpp"

namespace lugpu::cli {

/// The positional arguments MATRIX and RHS, and --format for the one that is standard input; the
/// three must outlive the parsing.
void add_system_arguments(CLI::App& command, std::string& matrix, std::string& rhs,
                          std::string& format);

/// Throws InputError if both files are standard input, or if there is a format without standard
/// input or the other way round.
void check_system_arguments(const std::string& matrix, const std::string& rhs,
                            const std::string& format);

/// How reports and messages name a file that is read: "standard input" for "-".
std::string input_name(const std::string& path);

struct RightHandSide {
  Matrix b;               ///< n x nrhs
  double solution = NAN;  ///< what every element of X should be; NaN if that is not known
};

/// B, with as many rows as A, from a file; if `path` is empty, A times a vector of ones, or of a
/// power of two that keeps every sum from overflowing. `format`: of standard input. Throws what
/// read_matrix throws.
RightHandSide read_rhs(const std::string& path, const std::string& format, const MatrixView& a);

/// The same for a sparse A.
RightHandSide read_rhs(const std::string& path, const std::string& format, const Sparse& a);

/// How a report names B, e.g. "A * ones".
std::string description(const std::string& path, const RightHandSide& rhs);

/// E.g. "3 x 2".
std::string shape(std::size_t rows, std::size_t columns);

}  // namespace lugpu::cli

// A X = B from files.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "matrix/matrix.hpp"

namespace lugpu::cli {

/// The positional arguments MATRIX and RHS; `matrix` and `rhs` must outlive the parsing.
void add_system_arguments(CLI::App& command, std::string& matrix, std::string& rhs);

/// A, which must be square, from a file. Throws what read_matrix throws.
Matrix read_square(const std::string& path);

/// B of as many rows as A from a file, or A ones, whose solution is known, if `path` is empty.
/// Throws what read_matrix throws.
Matrix read_rhs(const std::string& path, const Matrix& a);

/// E.g. "3 x 2".
std::string shape(const Matrix& matrix);

}  // namespace lugpu::cli

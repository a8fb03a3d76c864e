#include "system.hpp"

#include "matrix/formats.hpp"
#include "options.hpp"

namespace lugpu::cli {
namespace {

Matrix row_sums(const Matrix& a) {
  Matrix b(a.rows(), 1);
  for (std::size_t j = 0; j < a.cols(); ++j) {
    for (std::size_t i = 0; i < a.rows(); ++i) b(i, 0) += a(i, j);
  }
  return b;
}

}  // namespace

void add_system_arguments(CLI::App& command, std::string& matrix, std::string& rhs) {
  command.add_option("matrix", matrix, "A: " + format_extensions())
      ->required()
      ->check(not_empty())
      ->type_name("MATRIX");
  command.add_option("rhs", rhs, "B (default: A times a vector of ones)")
      ->check(not_empty())
      ->type_name("RHS");
}

Matrix read_square(const std::string& path) {
  return read_matrix(path, {.square = true});
}

Matrix read_rhs(const std::string& path, const Matrix& a) {
  if (path.empty()) return row_sums(a);
  return read_matrix(path, {.rows = a.rows()});
}

std::string shape(const Matrix& matrix) {
  return std::to_string(matrix.rows()) + " x " + std::to_string(matrix.cols());
}

}  // namespace lugpu::cli

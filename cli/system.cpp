#include "system.hpp"

#include <algorithm>
#include <utility>

#include "base/printable.hpp"
#include "formats/formats.hpp"
#include "matrix/norms.hpp"
#include "operators/product.hpp"
#include "options.hpp"
#include "terminal.hpp"

namespace lugpu::cli {
namespace {

// A times a vector of n elements `value`; each row from left to right, however A is stored.
Matrix row_sums(const MatrixView& matrix, double value) {
  Matrix b(matrix.rows(), 1);
  matrix.visit([&](const auto& a) {
    const bool by_columns = a.order == Order::columns;
    for (std::size_t line = 0; line < (by_columns ? a.columns : a.rows); ++line) {
      for (std::size_t k = 0; k < (by_columns ? a.rows : a.columns); ++k) {
        const std::size_t i = by_columns ? k : line, j = by_columns ? line : k;
        b(i, 0) += value * static_cast<double>(a(i, j));
      }
    }
  });
  return b;
}

Matrix row_sums(const Sparse& a, double value) {
  Matrix x(a.cols(), 1);
  std::fill(x.values().begin(), x.values().end(), value);
  return multiply(a, Op::none, x);
}

template <typename AnyMatrix>
bool is_finite(const AnyMatrix& a) {
  return std::isfinite(norm_max(a));
}

template <typename AnyMatrix>
RightHandSide rhs_of(const std::string& path, const std::string& format, const AnyMatrix& a) {
  if (!path.empty()) return {read_matrix(path, {.rows = a.rows()}, format)};
  RightHandSide rhs{row_sums(a, 1), 1};
  if (!is_finite(rhs.b) && is_finite(a)) {
    rhs.solution = std::ldexp(1.0, -std::ilogb(2.0 * static_cast<double>(a.cols())));
    rhs.b = row_sums(a, rhs.solution);
  }
  return rhs;
}

}  // namespace

void add_system_arguments(CLI::App& command, std::string& matrix, std::string& rhs,
                          std::string& format) {
  command
      .add_option("matrix", matrix,
                  "A: " + readable_extensions() +
                      ", or - for standard input; `lugpu help formats` says more")
      ->required()
      ->check(not_empty())
      ->type_name("MATRIX");
  command.add_option("rhs", rhs, "B (default: A times a vector of ones)")
      ->check(not_empty())
      ->type_name("RHS");
  std::vector<std::string> names;
  for (const FormatFacts& facts : known_formats()) names.push_back(facts.extension.substr(1));
  command.option_defaults()->group("Files");
  command.add_option("--format", format, "Of standard input, where MATRIX or RHS is -")
      ->check(CLI::IsMember(names))
      ->type_name("WHICH");
}

void check_system_arguments(const std::string& matrix, const std::string& rhs,
                            const std::string& format) {
  const bool a = matrix == kStandardInput, b = rhs == kStandardInput;
  if (a && b) throw InputError("Standard input is A or B, not both; give a file for one of them.");
  if ((a || b) && format.empty()) {
    throw InputError(
        "Standard input has no extension to tell its format; add --format, for example --format "
        "mtx.");
  }
  if (!a && !b && !format.empty()) {
    throw InputError("--format " + format +
                     " is for standard input; give - as MATRIX or RHS, or leave it out.");
  }
}

std::string input_name(const std::string& path) {
  return path == kStandardInput ? "standard input" : path;
}

RightHandSide read_rhs(const std::string& path, const std::string& format, const MatrixView& a) {
  return rhs_of(path, format, a);
}

RightHandSide read_rhs(const std::string& path, const std::string& format, const Sparse& a) {
  return rhs_of(path, format, a);
}

std::string description(const std::string& path, const RightHandSide& rhs) {
  if (!path.empty()) return printable(path) + ", " + shape(rhs.b.rows(), rhs.b.cols());
  return rhs.solution == 1 ? "A * ones" : format("A * ones * %g", rhs.solution);
}

std::string shape(std::size_t rows, std::size_t columns) {
  return std::to_string(rows) + " x " + std::to_string(columns);
}

}  // namespace lugpu::cli

#include "solve_report.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>

#include "matrix/norms.hpp"
#include "terminal.hpp"

namespace lugpu::cli {

void print_line(const char* label, const std::string& text) {
  const std::string head = format("%-9s ", label);
  std::cout << head << wrapped(text, head.size(), head.size()) << '\n';
}

void print_checks(bool passed) {
  std::cout << format("%-9s ", "checks")
            << paint(passed ? Ink::good : Ink::bad, passed ? "passed" : "failed") << '\n';
}

void print_error_of(const std::vector<double>& x, double value) {
  double error = 0;
  for (const double element : x) error = std::max(error, std::abs(element / value - 1));
  const std::string difference = value == 1 ? "|x - 1|" : format("|x / %g - 1|", value);
  print_line("error", format("largest %s is %.3g", difference.c_str(), error));
}

double largest(const std::vector<double>& errors) {
  double most = 0;
  for (const double error : errors) most = larger(most, error);
  return most;
}

}  // namespace lugpu::cli

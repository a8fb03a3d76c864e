// The lines of the report that `lugpu solve` prints.
#pragma once

#include <string>
#include <vector>

namespace lugpu::cli {

/// "LABEL     text", wrapped.
void print_line(const char* label, const std::string& text);

/// Whether the checks passed.
void print_checks(bool passed);

/// How far X is from its known solution, all of whose elements are `value`.
void print_error_of(const std::vector<double>& x, double value);

/// The largest error of all columns; NaN if one is NaN.
double largest(const std::vector<double>& errors);

}  // namespace lugpu::cli

// Where the axes of a chart have their marks.
#pragma once

#include <string>
#include <vector>

namespace lugpu::report {

struct Tick {
  double value;
  std::string text;
};

/// Marks of a logarithmic axis, 0 < low <= high: powers of ten, every so many of them where there
/// are more than seven; 1, 2 and 5 times these for less than two decades; as on a linear axis for
/// less than a factor of four.
std::vector<Tick> log_ticks(double low, double high);

/// Marks of a linear axis, 0 <= low < high: multiples of 1, 2 or 5 times a power of ten, seven at
/// most.
std::vector<Tick> linear_ticks(double low, double high);

/// Marks of an axis of sizes at sizes that were measured: ascending, the last one and before it
/// those that leave room. places: of the sizes, in the units of the texts' room.
std::vector<Tick> size_ticks(const std::vector<double>& sizes, const std::vector<double>& places);

}  // namespace lugpu::report

// Charts as SVG: lines over sizes, and bars of stacked parts. Colours are classes of the page's
// style sheet; marks and dashes differ as well, so that none is needed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/statistics.hpp"

namespace lugpu::report {

struct Point {
  double x, y;
  std::optional<Interval> band;  ///< around y
  bool failed = false;           ///< drawn as a cross, and no line goes there
};

struct Line {
  std::string label;
  std::size_t style;  ///< colour and mark; any number
  bool rival;         ///< dashed, with open marks
  std::vector<Point> points;
  bool marked = true;
};

/// A level that means something.
struct Level {
  double y;
  std::string text;
};

struct Chart {
  std::string title;  ///< what it shows
  std::string note;   ///< what one must know to read it; or empty
  std::string x_title, y_title;
  std::vector<Line> lines;
  std::vector<Level> levels;
  bool log_x = true, log_y = true;
  bool x_at_points = true;      ///< marks at the sizes that were measured
  bool losing_below_1 = false;  ///< shades what is below 1
};

/// A part of every bar.
struct Part {
  std::string label;
  std::vector<double> values;  ///< one for each bar
};

struct Bars {
  std::string title, note;
  std::vector<std::string> labels;  ///< of the bars, short
  std::vector<std::string> totals;  ///< written behind each
  std::vector<Part> parts;
};

/// Whether there is a point to draw: finite, and positive on logarithmic axes.
bool has_points(const Chart& chart);

/// <figure> with its caption, the chart and a legend. id: of this figure alone, for its parts.
/// Points that cannot be drawn are left out; there is at least one that can.
std::string figure(const Chart& chart, const std::string& id);

/// The same for bars; each has a part above 0, and all values are finite and not negative.
std::string figure(const Bars& bars, const std::string& id);

}  // namespace lugpu::report

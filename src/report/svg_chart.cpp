#include "report/svg_chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "report/markup.hpp"
#include "report/ticks.hpp"

namespace lugpu::report {
namespace {

// Units of the picture; a phone shows about one for a pixel.
constexpr double kWidth = 420, kHeight = 290;
constexpr double kLeft = 60, kRight = 14, kTop = 26, kBottom = 40;

std::string units(double value) {
  std::string text = std::to_string(std::round(value * 10) / 10);
  return text.substr(0, text.find('.') + 2);
}

std::string attribute(const char* name, double value) {
  return std::string(" ") + name + "=\"" + units(value) + '"';
}

std::string style_class(std::size_t style) {
  return "s" + std::to_string(style % 8);
}

// From values to places; both ends of the axis are known and different.
struct Axis {
  double low, high;   // of the values
  double start, end;  // of the places
  bool log;
  std::vector<Tick> ticks;

  double at(double value) const {
    const double share =
        log ? (std::log10(value) - std::log10(low)) / (std::log10(high) - std::log10(low))
            : (value - low) / (high - low);
    return start + std::clamp(share, 0.0, 1.0) * (end - start);
  }
};

bool is_drawable(const Chart& chart, const Point& point) {
  return std::isfinite(point.x) && std::isfinite(point.y) && (!chart.log_x || point.x > 0) &&
         (!chart.log_y || point.y > 0) && point.x >= 0 && point.y >= 0;
}

// At least a factor apart, and a little room to both sides.
void widen(double& low, double& high, bool log) {
  constexpr double kLeast = 1.5, kRoom = 0.05;
  if (!log) {
    low = 0;
    high = high > 0 ? high * (1 + kRoom) : 1;
    return;
  }
  const double middle = (std::log10(low) + std::log10(high)) / 2;
  const double half = std::max(std::log10(high) - std::log10(low), std::log10(kLeast)) / 2;
  low = std::pow(10.0, std::max(middle - half * (1 + 2 * kRoom), -300.0));
  high = std::pow(10.0, std::min(middle + half * (1 + 2 * kRoom), 300.0));
}

Axis x_axis(const Chart& chart) {
  std::set<double> sizes;
  for (const Line& line : chart.lines) {
    for (const Point& point : line.points) {
      if (is_drawable(chart, point)) sizes.insert(point.x);
    }
  }
  Axis axis{*sizes.begin(), *sizes.rbegin(), kLeft, kWidth - kRight, chart.log_x, {}};
  widen(axis.low, axis.high, axis.log);
  if (chart.x_at_points) {
    const std::vector<double> values(sizes.begin(), sizes.end());
    std::vector<double> places;
    for (const double value : values) places.push_back(axis.at(value));
    axis.ticks = size_ticks(values, places);
  } else {
    axis.ticks = axis.log ? log_ticks(axis.low, axis.high) : linear_ticks(axis.low, axis.high);
  }
  return axis;
}

Axis y_axis(const Chart& chart) {
  std::vector<double> values;
  for (const Line& line : chart.lines) {
    for (const Point& point : line.points) {
      if (is_drawable(chart, point)) values.push_back(point.y);
    }
  }
  for (const Level& level : chart.levels) values.push_back(level.y);
  if (chart.losing_below_1) values.insert(values.end(), {0.8, 1.25});
  Axis axis{*std::ranges::min_element(values),
            *std::ranges::max_element(values),
            kHeight - kBottom,
            kTop,
            chart.log_y,
            {}};
  widen(axis.low, axis.high, axis.log);
  axis.ticks = axis.log ? log_ticks(axis.low, axis.high) : linear_ticks(axis.low, axis.high);
  return axis;
}

std::string line_between(double x1, double y1, double x2, double y2, const char* css) {
  return std::string("<line class=\"") + css + '"' + attribute("x1", x1) + attribute("y1", y1) +
         attribute("x2", x2) + attribute("y2", y2) + "/>\n";
}

std::string text_at(double x, double y, const char* css, const std::string& text) {
  return std::string("<text class=\"") + css + '"' + attribute("x", x) + attribute("y", y) + '>' +
         escaped(text) + "</text>\n";
}

std::string axes(const Chart& chart, const Axis& x, const Axis& y) {
  std::string svg;
  for (const Tick& tick : y.ticks) {
    svg += line_between(x.start, y.at(tick.value), x.end, y.at(tick.value), "grid");
    svg += text_at(x.start - 6, y.at(tick.value) + 4, "end", tick.text);
  }
  for (const Tick& tick : x.ticks) {
    svg += line_between(x.at(tick.value), y.start, x.at(tick.value), y.start + 4, "axis");
    svg += text_at(x.at(tick.value), y.start + 17, "middle", tick.text);
  }
  svg += line_between(x.start, y.start, x.end, y.start, "axis");
  svg += text_at(4, 13, "name", chart.y_title);
  return svg + text_at((x.start + x.end) / 2, kHeight - 5, "middle name", chart.x_title);
}

// One of five marks, filled by the style sheet.
std::string mark(std::size_t style, double x, double y) {
  constexpr double r = 4;
  const auto polygon = [&](std::initializer_list<std::array<double, 2>> corners) {
    std::string points;
    for (const auto& [dx, dy] : corners) {
      points += (points.empty() ? "" : " ") + units(x + r * dx) + ',' + units(y + r * dy);
    }
    return "<polygon class=\"mark\" points=\"" + points + "\"/>";
  };
  switch (style % 5) {
    case 0:
      return "<circle class=\"mark\"" + attribute("cx", x) + attribute("cy", y) +
             attribute("r", r * 0.9) + "/>";
    case 1:
      return polygon({{-0.85, -0.85}, {0.85, -0.85}, {0.85, 0.85}, {-0.85, 0.85}});
    case 2:
      return polygon({{0, -1.15}, {1.1, 0.85}, {-1.1, 0.85}});
    case 3:
      return polygon({{0, -1.25}, {1.25, 0}, {0, 1.25}, {-1.25, 0}});
    default:
      return polygon({{0, 1.15}, {1.1, -0.85}, {-1.1, -0.85}});
  }
}

std::string cross(double x, double y) {
  return line_between(x - 4, y - 4, x + 4, y + 4, "cross") +
         line_between(x - 4, y + 4, x + 4, y - 4, "cross");
}

// Where the points' intervals lie.
std::string band(const std::vector<Point>& points, const Axis& x, const Axis& y) {
  std::string above, below, whiskers;
  for (const Point& point : points) {
    if (!point.band || !(point.band->low > 0) || !std::isfinite(point.band->high)) return "";
    const std::string place = units(x.at(point.x));
    above += place + ',' + units(y.at(point.band->high)) + ' ';
    below = place + ',' + units(y.at(point.band->low)) + ' ' + below;
    whiskers += line_between(x.at(point.x), y.at(point.band->low), x.at(point.x),
                             y.at(point.band->high), "whisker");
  }
  return "<polygon class=\"band\" points=\"" + above + below + "\"/>\n" + whiskers;
}

std::string drawn(const Chart& chart, const Line& line, const Axis& x, const Axis& y) {
  std::vector<Point> joined;
  std::string marks, path;
  for (const Point& point : line.points) {
    if (!is_drawable(chart, point)) continue;
    const double px = x.at(point.x), py = y.at(point.y);
    if (point.failed) {
      marks += cross(px, py);
      continue;
    }
    joined.push_back(point);
    path += (path.empty() ? "M" : " L") + units(px) + ',' + units(py);
    if (line.marked) marks += mark(line.style, px, py) + '\n';
  }
  const std::string css = style_class(line.style) + (line.rival ? " rival" : "");
  std::string svg = "<g class=\"" + css + "\">\n" + band(joined, x, y);
  if (!path.empty()) svg += "<path class=\"line\" d=\"" + path + "\"/>\n";
  return svg + marks + "</g>\n";
}

std::string shade(const Axis& x, const Axis& y) {
  return "<rect class=\"losing\"" + attribute("x", x.start) + attribute("y", y.at(1)) +
         attribute("width", x.end - x.start) + attribute("height", y.start - y.at(1)) + "/>\n";
}

std::string levels(const Chart& chart, const Axis& x, const Axis& y) {
  std::string svg;
  if (chart.losing_below_1) {
    svg += text_at(x.start + 6, kTop + 12, "note", "lugpu is faster");
    svg += text_at(x.start + 6, y.start - 7, "note", "the rival is faster");
  }
  for (const Level& level : chart.levels) {
    svg += line_between(x.start, y.at(level.y), x.end, y.at(level.y), "level");
    if (!level.text.empty()) {
      svg += text_at(x.end - 2, y.at(level.y) - 5, "end note", level.text);
    }
  }
  return svg;
}

// What the chart shows, for those who do not see it.
std::string description(const Chart& chart) {
  std::string text = chart.y_title + " over " + chart.x_title + ".";
  for (const Line& line : chart.lines) {
    const Point *first = nullptr, *last = nullptr;
    for (const Point& point : line.points) {
      if (!is_drawable(chart, point) || point.failed) continue;
      if (!first) first = &point;
      last = &point;
    }
    if (!first) continue;
    text += ' ' + line.label + ": " + number_text(first->y) + " at " + number_text(first->x);
    if (last != first) text += ", " + number_text(last->y) + " at " + number_text(last->x);
    text += '.';
  }
  return text;
}

std::string open_svg(const std::string& id, double height, const std::string& title,
                     const std::string& text) {
  return "<svg viewBox=\"0 0 " + units(kWidth) + ' ' + units(height) + "\" role=\"img\"" +
         " aria-labelledby=\"" + id + "-title " + id + "-desc\">\n<title id=\"" + id + "-title\">" +
         escaped(title) + "</title>\n<desc id=\"" + id + "-desc\">" + escaped(text) + "</desc>\n";
}

std::string caption(const std::string& title, const std::string& note) {
  return "<figcaption><b>" + escaped(title) + "</b>" +
         (note.empty() ? "" : " <span>" + escaped(note) + "</span>") + "</figcaption>\n";
}

std::string legend_entry(const Line& line) {
  const std::string css = style_class(line.style) + (line.rival ? " rival" : "");
  return "<li><svg class=\"key " + css + "\" viewBox=\"0 0 34 12\" aria-hidden=\"true\">" +
         "<path class=\"line\" d=\"M1,6 L33,6\"/>" + (line.marked ? mark(line.style, 17, 6) : "") +
         "</svg>" + escaped(line.label) + "</li>\n";
}

std::string legend(const Chart& chart) {
  std::string items;
  bool failed = false;
  for (const Line& line : chart.lines) {
    const auto is_drawn = [&](const Point& point) { return is_drawable(chart, point); };
    if (std::ranges::any_of(line.points, is_drawn)) items += legend_entry(line);
    failed = failed || std::ranges::any_of(line.points, [&](const Point& point) {
               return point.failed && is_drawn(point);
             });
  }
  if (failed) {
    items += "<li><svg class=\"key\" viewBox=\"0 0 34 12\" aria-hidden=\"true\">" + cross(17, 6) +
             "</svg>failed</li>\n";
  }
  return "<ul class=\"legend\">\n" + items + "</ul>\n";
}

}  // namespace

bool has_points(const Chart& chart) {
  return std::ranges::any_of(chart.lines, [&](const Line& line) {
    return std::ranges::any_of(line.points,
                               [&](const Point& point) { return is_drawable(chart, point); });
  });
}

std::string figure(const Chart& chart, const std::string& id) {
  const Axis x = x_axis(chart), y = y_axis(chart);
  std::string svg = open_svg(id, kHeight, chart.title, description(chart));
  if (chart.losing_below_1) svg += shade(x, y);
  svg += axes(chart, x, y);
  for (const Line& line : chart.lines) svg += drawn(chart, line, x, y);
  svg += levels(chart, x, y);
  return "<figure>\n" + caption(chart.title, chart.note) + svg + "</svg>\n" + legend(chart) +
         "</figure>\n";
}

std::string figure(const Bars& bars, const std::string& id) {
  constexpr double kBar = 20, kStep = 27, kLabel = 58, kTotal = 66;
  const double room = kWidth - kLabel - kTotal;
  std::string body, text;
  for (std::size_t i = 0; i < bars.labels.size(); ++i) {
    const double y = 4 + kStep * static_cast<double>(i);
    double sum = 0, x = kLabel;
    for (const Part& part : bars.parts) sum += part.values[i];
    body += text_at(kLabel - 6, y + 14, "end", bars.labels[i]);
    text += ' ' + bars.labels[i] + " (" + bars.totals[i] + "):";
    for (std::size_t k = 0; k < bars.parts.size(); ++k) {
      const double share = bars.parts[k].values[i] / sum;
      const std::string percent = number_text(std::round(100 * share)) + " %";
      text += ' ' + bars.parts[k].label + ' ' + percent + (k + 1 < bars.parts.size() ? "," : ".");
      if (!(share > 0)) continue;
      body += "<g class=\"" + style_class(k) + "\"><rect class=\"part\"" + attribute("x", x) +
              attribute("y", y) + attribute("width", share * room) + attribute("height", kBar) +
              "><title>" + escaped(bars.parts[k].label + ' ' + percent) + "</title></rect>";
      if (share * room > 30)
        body += text_at(x + share * room / 2, y + 14, "middle inside", percent);
      body += "</g>\n";
      x += share * room;
    }
    body += text_at(x + 5, y + 14, "start", bars.totals[i]);
  }
  std::string items;
  for (std::size_t k = 0; k < bars.parts.size(); ++k) {
    items += "<li><svg class=\"key " + style_class(k) + "\" viewBox=\"0 0 16 12\" aria-hidden=" +
             "\"true\"><rect class=\"part\" width=\"16\" height=\"12\"/></svg>" +
             escaped(bars.parts[k].label) + "</li>\n";
  }
  const double height = 8 + kStep * static_cast<double>(bars.labels.size());
  return "<figure>\n" + caption(bars.title, bars.note) +
         open_svg(id, height, bars.title, "Shares from left to right." + text) + body +
         "</svg>\n<ul class=\"legend\">\n" + items + "</ul>\n</figure>\n";
}

}  // namespace lugpu::report

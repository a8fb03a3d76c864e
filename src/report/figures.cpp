#include "report/figures.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "accuracy/checks.hpp"
#include "report/markup.hpp"
#include "report/svg_chart.hpp"

namespace lugpu::report {
namespace {

// The y of a result, if it has one.
using Quantity = std::function<std::optional<double>(const Row&)>;

Quantity entry(Numbers Row::*numbers, const char* name) {
  return [numbers, name](const Row& row) -> std::optional<double> {
    const auto found = (row.*numbers).find(name);
    if (found == (row.*numbers).end()) return std::nullopt;
    return found->second;
  };
}

std::optional<double> speed_of(const Row& row) {
  return row.timed() ? row.speed : std::nullopt;
}

std::optional<double> seconds_of(const Row& row) {
  return row.timed() ? std::optional(row.median) : std::nullopt;
}

bool is_failed(const Row& row) {
  return row.status == "failed";
}

const char* size_title(Kind kind) {
  switch (kind) {
    case Kind::dense:
      return "order n";
    case Kind::structured:
      return "unknowns";
    case Kind::simulation:
      break;
  }
  return "cells along an axis";
}

// A line for each series. is_rate: y is an amount over the time, so that its interval is too.
std::vector<Line> lines_of(const Subject& subject, const Quantity& quantity, Styles& styles,
                           bool is_time, bool is_rate) {
  std::vector<Line> lines;
  for (const Series& series : subject.series) {
    Line line{series.label, styles.of(series.label), series.rival(), {}};
    for (const Row* row : series.rows) {
      const auto y = quantity(*row);
      if (!y) continue;
      Point point{row->size, *y, {}, is_failed(*row)};
      if (row->interval && is_time) point.band = row->interval;
      if (row->interval && is_rate && row->interval->low > 0) {
        const double amount = *y * row->median;
        point.band = Interval{amount / row->interval->high, amount / row->interval->low};
      }
      line.points.push_back(point);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

// Numbers the figures of a subject.
class Figures {
 public:
  explicit Figures(std::string id) : id_(std::move(id)) {}

  void add(const Chart& chart) {
    if (has_points(chart)) html_ += figure(chart, next_id());
  }
  void add(const Bars& bars) {
    if (bars.parts.size() > 1) html_ += figure(bars, next_id());
  }
  const std::string& html() const { return html_; }

 private:
  std::string next_id() { return id_ + "-" + std::to_string(++count_); }

  std::string id_, html_;
  std::size_t count_ = 0;
};

Chart speed_chart(const Subject& subject, Styles& styles) {
  constexpr const char* kBand = "Medians; the bands are their 95 % intervals.";
  Chart chart;
  chart.x_title = size_title(subject.kind);
  chart.note = kBand;
  if (subject.kind == Kind::structured) {
    chart.title = "Time to the tolerance";
    chart.y_title = "seconds, setup and one solve";
    chart.lines = lines_of(subject, seconds_of, styles, true, false);
    return chart;
  }
  chart.title = subject.kind == Kind::dense ? "Speed" : "Frames a second";
  chart.y_title = subject.kind == Kind::dense ? "GFLOP/s, 2/3 n³ over the time" : "frames/s";
  chart.lines = lines_of(subject, speed_of, styles, false, true);
  return chart;
}

Chart rivals_chart(const Subject& subject, Styles& styles) {
  Chart chart;
  chart.title = "Against each rival";
  chart.note = "Time of the rival over that of lugpu's fastest at the same size.";
  chart.x_title = size_title(subject.kind);
  chart.y_title = "time of the rival / time of lugpu";
  chart.levels = {{1, ""}};
  chart.losing_below_1 = true;
  for (const Rivalry& rivalry : rivalries_of(subject)) {
    Line line{rivalry.label, styles.of(rivalry.series->label), true, {}};
    for (const Contest& contest : rivalry.contests) {
      line.points.push_back({contest.rival->size, contest.ratio.value, contest.ratio.interval});
    }
    chart.lines.push_back(std::move(line));
  }
  return chart;
}

// Some of the rows, evenly spread, the last one among them.
std::vector<const Row*> few(const std::vector<const Row*>& rows, std::size_t most) {
  if (rows.size() <= most) return rows;
  std::vector<const Row*> some;
  for (std::size_t i = 1; i <= most; ++i) some.push_back(rows[i * rows.size() / most - 1]);
  return some;
}

// lugpu's fastest at each size, by device.
std::map<std::string, std::vector<const Row*>> best_of_lugpu(const Subject& subject) {
  std::map<std::string, std::map<double, const Row*>> best;
  for (const Series& series : subject.series) {
    for (const Row* row : series.rows) {
      if (series.rival() || !row->timed()) continue;
      const Row*& one = best[row->fields.at("device")][row->size];
      if (!one || row->median < one->median) one = row;
    }
  }
  std::map<std::string, std::vector<const Row*>> rows;
  for (const auto& [device, by_size] : best) {
    for (const auto& [size, row] : by_size) rows[device].push_back(row);
  }
  return rows;
}

// A bar for each row with phases of these names, in this order.
Bars bars_of(const std::vector<const Row*>& rows, const std::vector<std::string>& names) {
  Bars bars;
  std::vector<const Row*> drawn;
  const auto value = [](const Row& row, const std::string& name) {
    const auto found = row.phases.find(name);
    return found == row.phases.end() ? 0 : std::max(found->second, 0.0);
  };
  for (const Row* row : rows) {
    double sum = 0;
    for (const std::string& name : names) sum += value(*row, name);
    if (sum > 0) drawn.push_back(row);
  }
  constexpr std::size_t kMostBars = 9;
  for (const Row* row : few(drawn, kMostBars)) {
    double sum = 0;
    for (const std::string& name : names) sum += value(*row, name);
    bars.labels.push_back(number_text(row->size));
    bars.totals.push_back(seconds_text(sum));
  }
  for (const std::string& name : names) {
    Part part{name, {}};
    for (const Row* row : few(drawn, kMostBars)) part.values.push_back(value(*row, name));
    std::ranges::replace(part.label, '_', ' ');
    const auto is_there = [](double seconds) { return seconds > 0; };
    if (std::ranges::any_of(part.values, is_there)) bars.parts.push_back(std::move(part));
  }
  return bars;
}

void add_phases(const Subject& subject, Figures& figures) {
  const auto by_device = best_of_lugpu(subject);
  for (const auto& [device, rows] : by_device) {
    const std::string on = by_device.size() > 1 ? ", " + device : std::string();
    const auto add = [&, &best = rows](const char* title, const char* note,
                                       const std::vector<std::string>& names) {
      Bars bars = bars_of(best, names);
      bars.title = title + on;
      bars.note = note;
      figures.add(bars);
    };
    if (subject.kind == Kind::simulation) {
      std::set<std::string> names;
      for (const Row* row : rows) {
        for (const auto& [name, seconds] : row->phases) names.insert(name);
      }
      add("Parts of a time step", "Of lugpu's fastest at each size, each part waited for.",
          {names.begin(), names.end()});
      continue;
    }
    add("Inside the factorization", "lugpu's fastest at each n, by the device's events.",
        {"pivot_search", "interchange", "panel", "update"});
    add("From host to host", "What a user of lugpu's fastest at each n waits for.",
        {"upload", "factor", "solve", "download"});
  }
}

void add_ceilings(const Subject& subject, Figures& figures, Styles& styles) {
  struct Share {
    const char *name, *title, *y_title;
  };
  constexpr Share kShares[] = {
      {"multiply_adds_over_peak", "Share of the arithmetic ceiling",
       "multiply-adds over the measured peak"},
      {"bytes_counted_over_copy", "Share of the memory ceiling",
       "bytes counted over the measured copy"},
      {"over_copy", "Share of the memory ceiling", "bytes by the papers' count over the copy"}};
  for (const auto& [name, title, y_title] : kShares) {
    Chart chart;
    chart.title = title;
    chart.note = "1 is what the device reached with nothing else to do.";
    chart.x_title = size_title(subject.kind);
    chart.y_title = y_title;
    chart.lines = lines_of(subject, entry(&Row::rates, name), styles, false, true);
    chart.levels = {{1, "ceiling"}};
    figures.add(chart);
  }
}

void add_checks(const Subject& subject, Figures& figures, Styles& styles) {
  struct Check {
    const char *name, *title, *y_title;
    std::optional<double> limit;
  };
  const Check checks[] = {
      {"factor_ratio", "Residual of the factors", "factor_ratio", kFactorRatioLimit},
      {"solve_ratio", "Residual of the solution", "solve_ratio", kSolveRatioLimit},
      {"growth", "Growth of the elements", "max |U| / max |A|", {}}};
  for (const auto& [name, title, y_title, limit] : checks) {
    Chart chart;
    chart.title = title;
    chart.note = limit ? "In units of the round-off; passes below the limit."
                       : "Large growth costs as many digits; it has no limit.";
    chart.x_title = size_title(subject.kind);
    chart.y_title = y_title;
    chart.lines = lines_of(subject, entry(&Row::checks, name), styles, false, false);
    if (limit) chart.levels = {{*limit, "limit " + number_text(*limit)}};
    figures.add(chart);
  }
}

// Iterations from 1 on, at most 40 for each factor of ten.
std::vector<Point> history_of(const Row& row) {
  std::vector<Point> points;
  double next = 1;
  for (std::size_t i = 1; i < row.residuals.size(); ++i) {
    const bool last = i + 1 == row.residuals.size();
    const auto at = static_cast<double>(i);
    if (!row.residuals[i] || (at < next && !last)) continue;
    points.push_back({at, *row.residuals[i], {}});
    next = std::max(at + 1, at * std::pow(10.0, 1.0 / 40));
  }
  return points;
}

// At the largest size at which most methods have a history.
void add_convergence(const Subject& subject, Figures& figures, Styles& styles) {
  std::map<double, std::size_t> histories;
  for (const Series& series : subject.series) {
    for (const Row* row : series.rows) histories[row->size] += row->residuals.size() > 1;
  }
  double size = 0;
  std::size_t most = 1;
  for (const auto& [one, count] : histories) {
    if (count >= most) size = one, most = count;
  }
  Chart chart;
  chart.title = "Convergence";
  chart.note =
      "Relative residual as the methods carry it along, at " + number_text(size) + " unknowns.";
  chart.x_title = "iteration";
  chart.y_title = "‖b − A x‖₂ / ‖b‖₂";
  chart.x_at_points = false;
  for (const Series& series : subject.series) {
    for (const Row* row : series.rows) {
      if (row->size != size || row->residuals.size() < 2) continue;
      const std::string label = series.label + (row->timed() ? "" : ", " + row->status);
      chart.lines.push_back(
          {label, styles.of(series.label), series.rival(), history_of(*row), false});
      if (row->tolerance && *row->tolerance > 0) {
        chart.levels = {{*row->tolerance, "tolerance " + number_text(*row->tolerance)}};
      }
    }
  }
  figures.add(chart);
}

void add_left(const Subject& subject, Figures& figures, Styles& styles) {
  Chart chart;
  chart.title = "What is left after a step";
  chart.note = "Of the divergence or the residual, relative to what it was; median of the steps.";
  chart.x_title = size_title(subject.kind);
  chart.y_title = "left over before";
  chart.lines = lines_of(subject, entry(&Row::checks, "median"), styles, false, false);
  figures.add(chart);
}

// Everything that tells a result from others but the pivoting, and the block size, which follows
// it.
std::string apart_from_pivoting(const Row& row) {
  std::string key = row.routine + '\n' + exact_text(row.size);
  for (const auto& [name, value] : row.fields) {
    if (name != "pivot" && name != "nb") key += '\n' + name + '=' + value;
  }
  return key;
}

// Adds the points of a subject with pivoting. without: the results without, by apart_from_pivoting.
void add_overhead(const Subject& subject, const std::map<std::string, const Row*>& without,
                  Chart& chart, Styles& styles) {
  for (const Series& series : subject.series) {
    const std::string& pivot = series.rows.front()->fields.at("pivot");
    Line line{series.label + ", " + pivot, 0, pivot != "partial", {}};
    for (const Row* row : series.rows) {
      const auto found = without.find(apart_from_pivoting(*row));
      if (series.rival() || !row->timed() || found == without.end()) continue;
      const SpeedRatio ratio = compare_times(row->samples, found->second->samples, 0);
      line.points.push_back({row->size, ratio.value, ratio.interval});
    }
    if (line.points.empty()) continue;
    line.style = styles.of(line.label);
    chart.lines.push_back(std::move(line));
  }
}

}  // namespace

std::string figures_of(const Subject& subject, const std::string& id, Styles& styles) {
  Figures figures(id);
  figures.add(speed_chart(subject, styles));
  figures.add(rivals_chart(subject, styles));
  add_phases(subject, figures);
  add_ceilings(subject, figures, styles);
  if (subject.kind == Kind::dense) add_checks(subject, figures, styles);
  if (subject.kind == Kind::structured) add_convergence(subject, figures, styles);
  if (subject.kind == Kind::simulation) add_left(subject, figures, styles);
  return figures.html();
}

std::string pivoting_figures(const std::vector<Subject>& subjects) {
  std::map<std::string, std::map<std::string, const Row*>> without;  // by precision
  for (const Subject& subject : subjects) {
    for (const Series& series : subject.series) {
      for (const Row* row : series.rows) {
        if (subject.kind != Kind::dense || !row->timed()) continue;
        if (row->fields.at("pivot") != "none") continue;
        without[row->fields.at("precision")].emplace(apart_from_pivoting(*row), row);
      }
    }
  }
  Figures figures("pivoting");
  for (const auto& [precision, rows] : without) {
    Styles styles;
    Chart chart;
    chart.title = "Cost of pivoting, " + precision + " precision";
    chart.note = "Time with pivoting over that of the same method without.";
    chart.x_title = size_title(Kind::dense);
    chart.y_title = "time with / time without pivoting";
    chart.levels = {{1, "no pivoting"}};
    for (const Subject& subject : subjects) {
      const Row& first = *subject.series.front().rows.front();
      if (subject.kind != Kind::dense || first.fields.at("precision") != precision) continue;
      if (first.fields.at("pivot") != "none") add_overhead(subject, rows, chart, styles);
    }
    figures.add(chart);
  }
  return figures.html();
}

}  // namespace lugpu::report

#include "problem_table.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/printable.hpp"
#include "bench/statistics.hpp"
#include "terminal.hpp"

namespace lugpu::cli {
namespace {

std::string points(const StructuredResult& result) {
  if (result.what.grid == 0) return std::to_string(result.unknowns);
  const bool cube = result.unknowns > result.what.grid * result.what.grid;
  return std::to_string(result.what.grid) + (cube ? "^3" : "^2");
}

std::string milliseconds(double seconds) {
  const double ms = seconds * 1e3;
  return format(ms < 10 ? "%.3f" : ms < 1000 ? "%.1f" : "%.0f", ms);
}

// With one digit, e.g. "9e-07".
std::string short_power(const std::optional<double>& value) {
  return value ? format("%.0e", *value) : "-";
}

// Grids of one problem in one precision and with one tolerance.
using Setting = std::tuple<std::string, Precision>;

}  // namespace

std::string problem_header() {
  return format("%-7s %-18s %-6s %7s %8s %3s %5s %5s %5s %4s\n", "grid", "method", "prec.", "setup",
                "solve ms", "+-%", "steps", "resid", "error", "copy");
}

std::string problem_row(const StructuredResult& result) {
  const StructuredCase& what = result.what;
  const std::string head = format("%-7s %-18s %-6s ", points(result).c_str(), what.routine.c_str(),
                                  name(what.options.precision));
  if (result.status != RunStatus::ok) {
    constexpr std::size_t kIndent = 7;
    const std::string status = name(result.status);
    const std::string text = wrapped(status + ": " + result.reason, head.size(), kIndent);
    const Ink ink = result.status == RunStatus::failed || result.status == RunStatus::error
                        ? Ink::bad
                        : Ink::dim;
    return head + paint(ink, status) + text.substr(status.size()) + "\n";
  }
  const bool iterated = !result.iteration.residuals.empty();
  return head +
         format("%7s %8s %3.0f %5s ", milliseconds(*result.setup_s).c_str(),
                milliseconds(median(result.times_s)).c_str(),
                std::min(100 * relative_deviation(result.times_s), 999.0),
                iterated ? std::to_string(result.iteration.iterations).c_str() : "-") +
         paint(Ink::good, format("%5s", short_power(result.residual).c_str())) +
         format(" %5s %4s\n", short_power(result.error).c_str(),
                result.bandwidth ? format("%.2f", result.bandwidth->over_copy).c_str() : "-");
}

std::string problem_footer() {
  return wrapped(
             "setup, solve: milliseconds. resid: ||b - A x|| / ||b||, computed anew in double. "
             "error: the largest, against "
             "the exact solution of the equation (of a file: a random X). copy: bytes of a step as "
             "the papers count them "
             "(3 words for each unknown; 10 for cg), over the time, as a share of the device's "
             "copy.",
             0, 0) +
         "\n";
}

std::string answer(const std::vector<StructuredResult>& results) {
  constexpr double kCounts[] = {1, 10, 100, 1000};
  // By setting, then by unknowns.
  std::map<Setting, std::map<std::size_t, std::vector<const StructuredResult*>>> settings;
  for (const StructuredResult& result : results) {
    if (result.what.is_baseline() || result.status != RunStatus::ok) continue;
    settings[{result.what.problem + result.what.matrix, result.what.options.precision}]
            [result.unknowns]
                .push_back(&result);
  }
  std::string text;
  for (const auto& [setting, grids] : settings) {
    const auto& [problem, precision] = setting;
    const double tolerance = grids.begin()->second.front()->what.options.rule.tolerance;
    text += "\n" +
            wrapped(format("Fastest to %g, %s in %s precision, by right-hand sides one "
                           "after the other (setup + count x solve)",
                           tolerance, printable(problem).c_str(), name(precision)),
                    0, 0) +
            "\n" + format("%-7s", "grid");
    for (const double count : kCounts) text += format(" %17.0f", count);
    text += "\n";
    for (const auto& [unknowns, rows] : grids) {
      text += format("%-7s", points(*rows.front()).c_str());
      for (const double count : kCounts) {
        const StructuredResult* best =
            *std::min_element(rows.begin(), rows.end(),
                              [count](const StructuredResult* a, const StructuredResult* b) {
                                return a->total(count) < b->total(count);
                              });
        text += format(" %17s", best->what.routine.c_str());
      }
      text += "\n" + std::string(7, ' ');
      for (const double count : kCounts) {
        double least = INFINITY;
        for (const StructuredResult* row : rows) least = std::min(least, row->total(count));
        text += format(" %17s", duration(least).c_str());
      }
      text += "\n";
    }
  }
  return text;
}

}  // namespace lugpu::cli

#include "problem_table.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/printable.hpp"
#include "bench/statistics.hpp"
#include "noise.hpp"
#include "terminal.hpp"

namespace lugpu::cli {
namespace {

std::string points(const StructuredResult& result) {
  if (result.what.grid == 0) return std::to_string(result.unknowns);
  const bool cube = result.unknowns > result.what.grid * result.what.grid;
  return std::to_string(result.what.grid) + (cube ? "^3" : "^2");
}

// With one digit, e.g. "9e-07".
std::string short_power(const std::optional<double>& value) {
  return value ? format("%.0e", *value) : "-";
}

// Grids of one problem in one precision and with one tolerance.
using Setting = std::tuple<std::string, Precision>;

}  // namespace

ProblemTable::ProblemTable(Format format)
    : table_({{"problem", "problem", -10, kNotForPeople},
              {"grid", "grid", -7, 0},
              {"method", "routine", -18, 0},
              {"prec.", "precision", -6, 0},
              {"storage", "storage", -7, 6}},
             {{"setup", "setup_s", 7, 1},
              {"solve ms", "median_s", 8, 0},
              noise_column(4),
              {"steps", "iterations", 5, 0},
              {"resid", "residual", 5, 0},
              {"error", "error", 5, 2},
              {"copy", "bandwidth_over_copy", 4, 3},
              {"ms, min.", "min_s", 8, 5}},
             format) {}

std::string ProblemTable::row(const StructuredResult& result) const {
  const StructuredCase& what = result.what;
  Row row{{{what.problem + what.matrix},
           {points(result)},
           {what.routine},
           {name(what.options.precision)},
           {what.device ? name(what.options.storage) : "host"}},
          {},
          name(result.status),
          result.reason};
  if (result.status != RunStatus::ok) return table_.row(row);
  const std::vector<double>& times = result.times_s;
  const double least = *std::min_element(times.begin(), times.end());
  const bool iterated = !result.iteration.residuals.empty();
  const auto& bandwidth = result.bandwidth;
  row.numbers = {
      {milliseconds(*result.setup_s), result.setup_s},
      {milliseconds(median(times)), median(times)},
      noise(times),
      {iterated ? std::to_string(result.iteration.iterations) : "-"},
      {short_power(result.residual), result.residual, Ink::good},
      {short_power(result.error), result.error},
      bandwidth ? Cell{format("%.2f", bandwidth->over_copy), bandwidth->over_copy} : Cell{"-"},
      {milliseconds(least), least}};
  return table_.row(row);
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
  constexpr std::size_t kGrid = 7, kColumn = 18;
  std::vector<double> counts = {1, 10, 100, 1000};  // as many as the terminal has room for
  while (counts.size() > 1 && kGrid + kColumn * counts.size() > table_columns()) {
    counts.erase(counts.begin() + 1);
  }
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
    for (const double count : counts) text += format(" %17.0f", count);
    text += '\n';
    for (const auto& [unknowns, rows] : grids) {
      text += format("%-7s", points(*rows.front()).c_str());
      for (const double count : counts) {
        const StructuredResult* best =
            *std::min_element(rows.begin(), rows.end(),
                              [count](const StructuredResult* a, const StructuredResult* b) {
                                return a->total(count) < b->total(count);
                              });
        text += format(" %17s", best->what.routine.c_str());
      }
      text += "\n" + std::string(7, ' ');
      for (const double count : counts) {
        double least = INFINITY;
        for (const StructuredResult* row : rows) least = std::min(least, row->total(count));
        text += format(" %17s", duration(least).c_str());
      }
      text += '\n';
    }
  }
  return text;
}

}  // namespace lugpu::cli

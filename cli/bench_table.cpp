#include "bench_table.hpp"

#include <algorithm>

#include "baselines/baselines.hpp"
#include "bench/statistics.hpp"
#include "distributed/crew.hpp"
#include "noise.hpp"
#include "terminal.hpp"

namespace lugpu::cli {
namespace {

std::string plain_number(double value) {
  return format(value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%.0f", value);
}

// That a case uses: 1 on the host without threads.
int cores_of(const Case& what) {
  return what.units ? static_cast<int>(*what.units) : what.threads.value_or(1);
}

Cell check(const Checks& checks) {
  const double ratio = std::max(checks.factor_ratio.value_or(0), checks.solve_ratio.value_or(0));
  return {format("%s%.2g", checks.factor_ratio_estimated ? "~" : "", ratio), ratio, Ink::good};
}

Cell in_milliseconds(double seconds) {
  return {milliseconds(seconds), seconds};
}

// A number of the record; "-" where it has none.
Cell share(const nlohmann::json& record, const char* place) {
  const nlohmann::json value = record.value(nlohmann::json::json_pointer(place), nlohmann::json());
  if (!value.is_number()) return {"-"};
  return {format("%.2f", value.get<double>()), value.get<double>()};
}

// A sentence about so many rows; nothing if there are none.
std::string clock_warning(std::size_t rows) {
  if (rows == 0) return "";
  return wrapped(
             format("Clocks: in %zu %s, the device's events and the wall clock of one run differ "
                    "by more than 10 %% and more than launches take; the host or other programs "
                    "kept the device waiting.",
                    rows, rows == 1 ? "row" : "rows"),
             0, 0) +
         "\n";
}

std::vector<Column> columns_of_numbers() {
  return {{"ms, med.", "median_s", 8, 0},
          noise_column(3),
          {"GFLOP/s", "gflops", 8, 1},
          {"speedup", "speedup", 7, 0},
          {"check", "check", 5, 2},
          {"ms, min.", "min_s", 8, 6},
          {"ms, dev.", "device_s", 8, 5},
          {"prod.", "share_of_product", 5, 7},
          {"copy", "bytes_model_over_copy", 5, 8},
          {"GF/J", "gflops_per_watt", 5, 10}};
}

// What speed-ups are over: rivals on this host alone.
bool is_reference(const std::string& routine) {
  return std::ranges::any_of(baselines(), [&](const Baseline& baseline) {
    return routine == baseline.name && !baseline.on_device && !baseline.in_processes;
  });
}

// Whether its surfaces have more than one element a texel.
bool is_packed(const Case& what) {
  return !what.is_baseline() && what.problem.dense.texel == Texel::rgba;
}

bool is_of_paper(const Case& what) {
  return !what.is_baseline() && find_method(what.routine).has_schedules &&
         what.problem.dense.schedule == Schedule::paper;
}

}  // namespace

std::vector<Column> columns_of_cases(bool over_cores) {
  return {{"n", "n", 6, 0},
          {"method", "routine", -13, 0},
          {"pivot", "pivot", -7, 0},
          {"prec.", "precision", -6, 0},
          over_cores ? Column{"cores", "compute_units", 7, 0} : Column{"storage", "storage", -7, 4},
          {"threads", "threads", 7, 9}};
}

std::vector<Cell> cells_of(const Case& what, bool over_cores) {
  const auto& [size, dense, around] = what.problem;
  const std::string shared = dense.shared() ? format(" x%zu", device_count(dense)) : "";
  const std::string storage = what.device ? name(dense.storage) : "host";
  return {{std::to_string(size.n)},
          {what.routine + (is_of_paper(what) ? "*" : "") + shared},
          {name(dense.pivot)},
          {precision_name(what.problem)},
          {over_cores ? std::to_string(cores_of(what)) : storage + (is_packed(what) ? "4" : "")},
          {what.threads ? std::to_string(*what.threads) : "-"}};
}

BenchTable::BenchTable(bool over_cores, Format format)
    : over_cores_(over_cores), table_(columns_of_cases(over_cores), columns_of_numbers(), format) {}

Cell BenchTable::speed_up(const Result& result) {
  const Problem& problem = result.what.problem;
  const auto rival = [&](int threads) {
    return Rival{problem.size.n, working_precision(problem),
                 rule_of(problem.dense.pivot).search == Search::matrix, over_cores_ ? threads : 0};
  };
  const double time = median(result.times_s);
  if (is_reference(result.what.routine))
    baseline_medians_[rival(result.what.threads.value_or(0))] = time;
  for (const int threads : {cores_of(result.what), 0}) {
    const auto found = baseline_medians_.find(rival(threads));
    if (found != baseline_medians_.end()) {
      return {plain_number(found->second / time), found->second / time};
    }
  }
  return {"-"};
}

void BenchTable::remember(const nlohmann::json& row) {
  if (row["status"] != "ok" || !is_reference(row.value("routine", ""))) return;
  const Precision precision = row.value("precision", "") == name(Precision::double_precision)
                                  ? Precision::double_precision
                                  : Precision::single_precision;
  const bool full = row.value("pivot", "") == name(Pivot::full);
  const nlohmann::json threads = row.value("threads", nlohmann::json());
  baseline_medians_[{row.value("n", std::size_t{0}), precision, full,
                     over_cores_ && threads.is_number() ? threads.get<int>() : 0}] =
      row.value("median_s", 0.0);
}

std::vector<Cell> BenchTable::what(const Case& what) {
  shared_ |= what.problem.dense.shared();
  packed_ |= is_packed(what);
  paper_ |= is_of_paper(what);
  return cells_of(what, over_cores_);
}

std::vector<Cell> BenchTable::numbers(const Result& result, const nlohmann::json& record) {
  const std::vector<double>& times = result.times_s;
  const std::vector<double>& device = result.device_times_s;
  return {in_milliseconds(median(times)),
          noise(times),
          {plain_number(gflops(result)), gflops(result)},
          speed_up(result),
          check(result.checks),
          in_milliseconds(*std::min_element(times.begin(), times.end())),
          device.empty() ? Cell{"-"} : in_milliseconds(device.front()),
          share(record, "/rates/share_of_product"),
          share(record, "/rates/bytes_model_over_copy"),
          share(record, "/gflops_per_watt")};
}

std::string BenchTable::row(const Result& result, const nlohmann::json& record) {
  Row row{what(result.what), {}, name(result.status), result.reason};
  if (result.status == RunStatus::ok) {
    estimated_ |= result.checks.factor_ratio_estimated;
    noise_.add(result.times_s, result.other_load);
    waiting_ += clocks_disagree(result);
    row.numbers = numbers(result, record);
  }
  return table_.row(row);
}

std::string BenchTable::footer() const {
  std::string text;
  const auto say = [&](bool applies, const std::string& sentence) {
    if (applies) text += sentence + ' ';
  };
  say(packed_ && !over_cores_, "image4, buffer4: packed texels.");
  say(paper_, "*: the schedule of the LU-GPU paper.");
  say(shared_, "x2 and so on: devices that share the work.");
  say(table_.shows("rel_mad"), "+-%: the median absolute deviation over the median.");
  say(table_.shows("gflops"), "GFLOP/s: 2/3 n^3 over the median.");
  say(true, std::string("speedup: over getrf of the same n") +
                (over_cores_ ? ", number of cores" : "") +
                " and precision (mixed: double), for lu-blocked and the other rivals too; for full "
                "pivoting over getc2.");
  say(table_.shows("check"),
      "check: the larger of factor_ratio and solve_ratio, which pass under 30.");
  say(estimated_ && table_.shows("check"), "~: factor_ratio is estimated.");
  say(table_.shows("device_s"), "dev.: by the device's events, in a run of its own.");
  say(table_.shows("share_of_product"),
      "prod., copy: shares of the device's rate of large products and of its copy bandwidth, by "
      "the bytes of a pass for each step.");
  say(table_.shows("gflops_per_watt"), "GF/J: GFLOP a joule.");
  return wrapped(text, 0, 0) + '\n' + noise_.text() + clock_warning(waiting_);
}

}  // namespace lugpu::cli

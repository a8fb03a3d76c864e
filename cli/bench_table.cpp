#include "bench_table.hpp"

#include <algorithm>

#include "bench/statistics.hpp"
#include "noise.hpp"
#include "terminal.hpp"

namespace lugpu::cli {
namespace {

std::string milliseconds(double seconds) {
  const double ms = seconds * 1e3;
  return format(ms < 10 ? "%.3f" : ms < 1000 ? "%.1f" : "%.0f", ms);
}

std::string plain_number(double value) {
  return format(value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%.0f", value);
}

// That a case uses: 1 on the host without threads.
int cores(const Case& what) {
  return what.units ? static_cast<int>(*what.units) : what.threads.value_or(1);
}

std::string check(const Checks& checks) {
  return format("%s%.2g", checks.factor_ratio_estimated ? "~" : "",
                std::max(checks.factor_ratio.value_or(0), checks.solve_ratio.value_or(0)));
}

}  // namespace

std::string BenchTable::header() const {
  return format("     n method        pivot   prec.  %s ms, med. +-%%  GFLOP/s speedup check\n",
                over_cores_ ? "  cores" : "storage");
}

std::string BenchTable::speed_up(const Result& result) {
  const Problem& problem = result.what.problem;
  const auto rival = [&](int threads) {
    return Rival{problem.size.n, working_precision(problem),
                 rule_of(problem.dense.pivot).search == Search::matrix, over_cores_ ? threads : 0};
  };
  const double time = median(result.times_s);
  if (!result.what.device) baseline_medians_[rival(result.what.threads.value_or(0))] = time;
  for (const int threads : {cores(result.what), 0}) {
    const auto found = baseline_medians_.find(rival(threads));
    if (found != baseline_medians_.end()) return plain_number(found->second / time);
  }
  return "-";
}

void BenchTable::remember(const nlohmann::json& row) {
  if (row["status"] != "ok" || !row.value("device", nlohmann::json()).is_null()) return;
  const Precision precision = row.value("precision", "") == name(Precision::double_precision)
                                  ? Precision::double_precision
                                  : Precision::single_precision;
  const bool full = row.value("pivot", "") == name(Pivot::full);
  const nlohmann::json threads = row.value("threads", nlohmann::json());
  baseline_medians_[{row.value("n", std::size_t{0}), precision, full,
                     over_cores_ && threads.is_number() ? threads.get<int>() : 0}] =
      row.value("median_s", 0.0);
}

std::string BenchTable::row(const Result& result) {
  const Problem& problem = result.what.problem;
  const bool on_device = result.what.device.has_value();
  const bool has_surfaces = !result.what.is_baseline();
  const bool packed = has_surfaces && problem.dense.texel == Texel::rgba;
  const bool paper = has_surfaces && find_method(result.what.routine).has_schedules &&
                     problem.dense.schedule == Schedule::paper;
  const std::size_t others = problem.dense.others.size();
  const std::string shared = others > 0 ? format(" x%zu", 1 + others) : "";
  shared_ |= others > 0;
  const std::string storage = on_device ? name(problem.dense.storage) : "host";
  const std::string place =
      over_cores_ ? format("%7d", cores(result.what)) : storage + (packed ? "4" : "");
  const std::string head =
      format("%6zu %-13s %-7s %-6s %-7s ", problem.size.n,
             (result.what.routine + (paper ? "*" : "") + shared).c_str(), name(problem.dense.pivot),
             precision_name(problem), place.c_str());
  if (result.status != RunStatus::ok) {
    constexpr std::size_t kIndent = 7;
    const std::string status = name(result.status);
    const std::string text = wrapped(status + ": " + result.reason, head.size(), kIndent);
    const Ink ink = result.status == RunStatus::failed || result.status == RunStatus::error
                        ? Ink::bad
                        : Ink::dim;
    return head + paint(ink, status) + text.substr(status.size()) + "\n";
  }
  estimated_ |= result.checks.factor_ratio_estimated;
  noisy_ += is_noisy(result.times_s);
  return head +
         format("%8s %3.0f %8s %7s ", milliseconds(median(result.times_s)).c_str(),
                100 * relative_deviation(result.times_s), plain_number(gflops(result)).c_str(),
                speed_up(result).c_str()) +
         paint(Ink::good, format("%5s", check(result.checks).c_str())) + "\n";
}

std::string BenchTable::footer() const {
  return wrapped(
             std::string(over_cores_ ? "" : "image4, buffer4: packed texels. ") +
                 "*: the schedule of the LU-GPU paper. GFLOP/s: 2/3 n^3 over the median. speedup: "
                 "over getrf of the same n" +
                 (over_cores_ ? ", number of cores" : "") +
                 " and precision (mixed: double), for lu-blocked and the other rivals too; for "
                 "full pivoting over getc2. check: the larger of factor_ratio and solve_ratio, "
                 "which pass under 30." +
                 (shared_ ? " x2 and so on: devices that share the work." : "") +
                 (estimated_ ? " ~: factor_ratio is estimated." : ""),
             0, 0) +
         "\n" + noise_warning(noisy_);
}

}  // namespace lugpu::cli

#include "bench_batch.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>

#include "base/cores.hpp"
#include "base/error.hpp"
#include "base/host_memory.hpp"
#include "bench/probe.hpp"
#include "bench/report.hpp"
#include "bench/statistics.hpp"
#include "bench/sweep.hpp"
#include "bench_report.hpp"
#include "noise.hpp"
#include "outputs.hpp"
#include "progress.hpp"
#include "terminal.hpp"

namespace lugpu::cli {
namespace {

Table batch_table(Format format) {
  return {{{"method", "routine", -14, 0},
           {"pivot", "pivot", -7, 0},
           {"prec.", "precision", -6, 0},
           {"n", "n", 4, 0},
           {"batch", "batch", 8, 2}},
          {{"ms", "median_s", 9, 0},
           noise_column(4),
           {"us each", "each_s", 9, 0},
           {"GFLOP/s", "gflops", 8, 0},
           {"copy", "bandwidth_over_copy", 5, 3},
           {"ratio", "solve_ratio", 6, 1}},
          format};
}

std::string row_of(const Table& table, const BatchResult& result) {
  const BatchCase& what = result.what;
  Row row{{{what.routine},
           {name(what.pivot)},
           {name(what.precision)},
           {std::to_string(what.size.n)},
           {std::to_string(what.size.count)}},
          {},
          name(result.status),
          result.reason};
  if (result.status != RunStatus::ok) return table.row(row);
  const double time = median(result.times_s);
  const double each = time / static_cast<double>(what.size.count);
  Cell copy{"-"};
  if (result.copy_bytes_per_s) {
    const double share = result.bytes_per_s() / *result.copy_bytes_per_s;
    copy = {format("%.3f", share), share};
  }
  row.numbers = {{format("%.3f", time * 1e3), time},
                 noise(result.times_s),
                 {format("%.3f", each * 1e6), each},
                 {format("%.1f", result.gflops()), result.gflops()},
                 copy,
                 {format("%.2g", *result.solve_ratio), result.solve_ratio, Ink::good}};
  return table.row(row);
}

class BatchSweep {
 public:
  BatchSweep(const BatchArguments& given, const Options& options,
             std::vector<DeviceContext> contexts, nlohmann::json report,
             const nlohmann::json& earlier)
      : given_(given),
        options_(options),
        contexts_(std::move(contexts)),
        json_(options),
        report_(std::move(report)),
        table_(batch_table(options.format)) {
    const std::set<Precision> precisions(given.precisions.begin(), given.precisions.end());
    for (std::size_t i = 0; i < contexts_.size(); ++i) {
      ceilings_.push_back(measure_ceilings(contexts_[i], precisions));
      report_["devices"][i]["ceilings"] = to_json(ceilings_.back());
    }
    if (!earlier.is_object()) return;
    for (const nlohmann::json& row : earlier["results"]) {
      if (!is_final(row)) continue;
      report_["results"].push_back(row);
      failed_ = failed_ || row["status"] == name(RunStatus::failed);
    }
  }

  Exit run() {
    if (options_.prints_rows()) std::cout << table_.header() << std::flush;
    for (const std::size_t n : parse_sizes(given_.sizes)) {
      for (const Precision precision : given_.precisions) {
        for (const Pivot pivot : given_.pivots) {
          if (precision == Precision::double_precision) {
            run_cases<double>(n, pivot, precision);
          } else {
            run_cases<float>(n, pivot, precision);
          }
        }
      }
    }
    show_progress("");
    if (options_.prints()) {
      std::cout << '\n'
                << wrapped(
                       "ms: of a factorization of all members, the median, data on the device. "
                       "copy: every matrix read and its factors written once, over the time, as a "
                       "share of the device's copy. ratio: the largest solve_ratio of all members, "
                       "which passes under 30.",
                       0, 0)
                << '\n'
                << noise_.text();
    }
    json_.end(report_);
    return json_.status(error_ ? Exit::failure : failed_ ? Exit::check_failed : Exit::ok);
  }

 private:
  BatchCase case_of(std::size_t n, Pivot pivot, Precision precision) const {
    BatchCase what;
    what.pivot = pivot;
    what.precision = precision;
    what.size = {given_.count, n};
    what.nrhs = given_.nrhs;
    what.seed = given_.seed;
    what.matrix = given_.matrix != "auto" ? given_.matrix
                  : pivot == Pivot::none  ? "dominant"
                                          : "random";
    return what;
  }

  static BatchCase on_device(BatchCase what, const Device& device) {
    what.device = device.name;
    what.units = device.compute_units;
    return what;
  }

  bool is_known(const BatchCase& what) const {
    BatchResult probe;
    probe.what = what;
    const nlohmann::json& rows = report_["results"];
    return std::any_of(rows.begin(), rows.end(), [row = to_json(probe)](const nlohmann::json& one) {
      return same_batch_case(one, row);
    });
  }

  // Of one size, precision and pivoting: the rivals of the host, then each device with its own.
  template <typename T>
  void run_cases(std::size_t n, Pivot pivot, Precision precision) {
    const BatchCase what = case_of(n, pivot, precision);
    std::optional<BatchSystem<T>> system;
    const auto run = [&](const BatchCase& one, const Ceilings* ceilings, const auto& make) {
      if (is_known(one)) return;
      show_progress(one.routine + format(" n=%zu", n));
      if (!system) {
        if (const std::string why = no_room(what); !why.empty()) return add_unsupported(one, why);
        system.emplace(what);
      }
      BatchResult result = measure_batch<T>(one, *system, make, given_.effort);
      if (ceilings) result.copy_bytes_per_s = ceilings->copy_bytes_per_s;
      add(result);
    };
    const auto run_rivals = [&](const Device& device, bool of_device) {
      for (const std::string& name : given_.baselines) {
        const BatchRival& rival = find_batch_rival(name);
        if (rival.on_device != of_device || rival.pivot != pivot) continue;
        BatchCase one = of_device ? on_device(what, device) : what;
        one.implementation = rival.implementation;
        one.routine = rival.name;
        if (!of_device) one.threads = cores().usable;
        run(one, nullptr, [&] {
          rival.require(device, one.size, precision);
          if constexpr (std::is_same_v<T, double>) {
            return rival.make_double(device, one.size);
          } else {
            return rival.make_single(device, one.size);
          }
        });
      }
    };
    run_rivals(contexts_.front().device(), false);
    for (std::size_t i = 0; i < contexts_.size(); ++i) {
      run_rivals(contexts_[i].device(), true);
      BatchCase one = on_device(what, contexts_[i].device());
      one.implementation = "lugpu";
      one.routine = kBatchRoutine;
      contexts_[i].deadline().set(given_.effort.timeout_s);
      run(one, &ceilings_[i], [&] { return make_batch_lu<T>(contexts_[i], one); });
      contexts_[i].deadline().set(INFINITY);
    }
  }

  // Why the host cannot hold A, B and X, and the two copies of A that a rival there has; empty if
  // it can.
  static std::string no_room(const BatchCase& what) {
    const double n = static_cast<double>(what.size.n), nrhs = static_cast<double>(what.nrhs);
    const double bytes = static_cast<double>(what.size.count) * n * (3 * n + 2 * nrhs) *
                         static_cast<double>(element_size(what.precision));
    const double left = host_memory_left();
    if (bytes <= left) return "";
    return "The batch takes " + gigabytes(bytes) + " of the host's memory, of which " +
           gigabytes(left) + " are left.";
  }

  void add_unsupported(const BatchCase& what, const std::string& why) {
    BatchResult result;
    result.what = what;
    result.status = RunStatus::unsupported;
    result.reason = why;
    add(result);
  }

  void add(const BatchResult& result) {
    report_["results"].push_back(to_json(result));
    failed_ = failed_ || result.status == RunStatus::failed;
    error_ = error_ || result.status == RunStatus::error;
    if (result.status == RunStatus::ok) noise_.add(result.times_s, result.other_load);
    show_progress("");
    if (options_.prints_rows()) std::cout << row_of(table_, result) << std::flush;
    json_.update(report_);
  }

  const BatchArguments& given_;
  const Options& options_;
  std::vector<DeviceContext> contexts_;
  JsonOutput json_;
  nlohmann::json report_;
  Table table_;
  NoiseWarning noise_;
  std::vector<Ceilings> ceilings_;  // of the contexts
  bool failed_ = false;
  bool error_ = false;
};

}  // namespace

Exit bench_batches(const BatchArguments& given, const Options& options,
                   const std::vector<std::string>& arguments) {
  for (const std::size_t n : parse_sizes(given.sizes)) {
    if (n <= kMostBatchOrder) continue;
    throw InputError("--sizes: members of a batch have an order of at most " +
                     std::to_string(kMostBatchOrder) + ", not " + std::to_string(n) + ".");
  }
  const nlohmann::json earlier = earlier_report(options);
  check_outputs(options, {}, {});
  std::vector<DeviceContext> contexts = open_devices(options);
  nlohmann::json report = begin_report(
      report_head(arguments, devices_of(contexts), options.kernels()), options, earlier);
  return BatchSweep(given, options, std::move(contexts), std::move(report), earlier).run();
}

}  // namespace lugpu::cli

// One row of a benchmark, or the one result of a solve, and its JSON (docs/lugpu.schema.json).
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "opencl/part_times.hpp"
#include "opencl/timeline.hpp"
#include "solve/methods.hpp"

namespace lugpu {

enum class RunStatus {
  ok,           ///< ran, and every check passed
  failed,       ///< ran, and a check failed or the elimination broke down
  unsupported,  ///< cannot run on this device
  skipped,      ///< was not run, or stopped, because it would take too long
  error,        ///< something went wrong while running
  unknown,      ///< of verify only: what kept it from running says nothing about its answers
};

const char* name(RunStatus status);

/// What is run: everything that tells one row from another.
struct Case {
  std::string implementation;  ///< "lugpu", or a baseline's: "openblas", "lapack", "cusolver" ...
  std::string routine;         ///< "lu", "gauss-jordan", or a baseline: "getrf", "getc2" ...
  Problem problem;
  std::optional<std::string> device;           ///< its name; absent on the host
  int device_index = -1;                       ///< of list_devices(); -1 on the host
  std::optional<unsigned> units;               ///< compute units of the device; absent on the host
  std::optional<std::uint64_t> device_memory;  ///< bytes that the device may take, where limited
  std::optional<std::size_t> windows;          ///< windows_of() a method of lugpu
  std::optional<int> threads;                  ///< on the host only
  std::uint64_t seed = 0;
  std::string matrix;  ///< kind or file name
  /// Numbers of threads in ascending order, of which the fastest becomes `threads`; none: those are
  /// given.
  std::vector<int> threads_to_try = {};

  /// Whether a rival runs and not a method of lugpu.
  bool is_baseline() const { return implementation != "lugpu"; }
};

/// The fields of a record that tell its case from others.
std::span<const char* const> case_fields();

/// Whether the number of threads of a record is the fastest of several.
bool is_of_best_threads(const nlohmann::json& row);

/// Same row, whatever number of threads was the fastest in either: a resumed sweep need not run it
/// again.
bool same_case(const nlohmann::json& a, const nlohmann::json& b);

struct Result {
  Case what;
  std::optional<std::string> variant;  ///< Contender::variant()
  std::string choice;                  ///< Report::why: of a sparse matrix that was made dense
  std::vector<double> times_s;         ///< each factorization, wall clock; in mixed precision with
                                       ///< the refinement
  std::vector<double> device_times_s;  ///< a profiled factorization, from the device's events
  std::optional<double> profiled_s;    ///< that factorization, wall clock
  std::optional<double> energy_j;      ///< joules of a factorization, the mean, by energy_of()
  std::vector<Timeline::Command> commands;  ///< of that factorization, where they were asked for,
  std::vector<PartTimes::Ran> parts;        ///< and parts of them
  std::map<std::string, double> phases_s;
  std::map<std::string, std::uint64_t> counters;
  std::optional<double> other_load;  ///< OtherLoad::share() while the samples were taken
  std::optional<double> product_multiply_adds_per_s;  ///< of Contender::multiply()
  Checks checks;
  std::optional<Refinement> refinement;    ///< Contender::refinement()
  std::optional<Scaling> equilibration;    ///< that was applied, where it was asked for
  std::optional<Determinant> determinant;  ///< where it was asked for
  RunStatus status = RunStatus::error;
  std::string reason;  ///< one sentence; empty for ok
  bool tried = true;   ///< false for an error that says nothing about the answers (NotTried)
  std::vector<std::string> warnings;
};

/// The operations and the traffic of the method, as its row counts them.
void set_work(const Method& method, Result& result);

/// Status, reason and warnings.
void set_diagnosis(const Diagnosis& diagnosis, Result& result);

/// The record of a single solution.
Result record_of(const Case& what, const Report& report);

/// By the row's formula.
double operations(const Result& result);

/// The operations of the row's formula over the median time, in GFLOP/s. result.times_s is not
/// empty.
double gflops(const Result& result);

/// Whether the wall clock and the device's events differ about the profiled factorization, by more
/// than 10 % and more than its launches take: then something besides them kept the device waiting.
bool clocks_disagree(const Result& result);

/// Adds what records say of their samples: median_s, min_s, rel_stdev, rel_mad, median_interval_s
/// and outliers; null unless `timed`, and then there are samples.
void add_statistics(const std::vector<double>& times_s, bool timed, nlohmann::json& row);

/// Null without a number, and for those that JSON lacks: NaN and infinity.
nlohmann::json number_or_null(const std::optional<double>& value);

/// The fields of a record that its case decides, case_fields() among them.
nlohmann::json to_json(const Case& what);

/// Only an ok result shows a speed; one that failed keeps its samples and its checks.
nlohmann::json to_json(const Result& result);

}  // namespace lugpu

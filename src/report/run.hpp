// A file of `lugpu bench --json` as a report reads it. Files come from anywhere: what a report
// needs of them is made typed and finite here, and what is missing or odd there is absent here.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/statistics.hpp"

namespace lugpu::report {

/// What a result is of (docs/lugpu.schema.json): result, structured_result, simulation_result.
enum class Kind { dense, structured, simulation };

/// Numbers of an object of the file by their names; those that are null or no number are absent.
using Numbers = std::map<std::string, double>;

/// One result.
struct Row {
  Kind kind = Kind::dense;
  std::size_t run = 0;  ///< place of its file among those of the report
  std::string subject;  ///< what it can be compared with: rows of the same subject
  std::string routine;
  bool rival = false;    ///< of another library than lugpu
  bool on_host = false;  ///< and not on an OpenCL device
  double size = 0;       ///< n of a matrix; of a simulation the cells along its longest axis
  std::map<std::string, std::string> fields;  ///< more that tells it from others, in words

  std::string status, reason;  ///< as in the file
  /// Seconds of a factorization; of a solve with its setup; of a time step. At most kMostSamples;
  /// none unless the status is ok.
  std::vector<double> samples;
  double median = 0;                 ///< of them, 0 if there are none
  std::optional<Interval> interval;  ///< median_interval, as in the file where it has one
  std::optional<double> speed;       ///< GFLOP/s, or frames a second; only where there are samples
  double other_load = 0;             ///< share of the processors that other programs had
  std::vector<std::string> warnings;

  Numbers checks, phases, rates;
  std::vector<std::optional<double>> residuals;  ///< of a structured result, by iteration
  std::optional<double> tolerance, iterations;

  bool timed() const { return !samples.empty(); }
};

/// One file.
struct Run {
  std::string name;  ///< what it is called in labels
  std::string date;  ///< of its start in UTC, or empty
  std::vector<std::string> devices;
  std::vector<std::pair<std::string, std::string>> facts;  ///< what ran where: a label and a text
  std::vector<std::string> warnings;  ///< doubts about the whole run, one sentence each
};

/// What to draw: the files, and the results of all of them.
struct Record {
  std::vector<Run> runs;
  std::vector<Row> rows;
};

/// Files as read_sweep returns them, each with its path; at least one.
Record record_of(const std::vector<std::pair<std::string, nlohmann::json>>& files);

}  // namespace lugpu::report

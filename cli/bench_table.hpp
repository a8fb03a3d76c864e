// The table that `lugpu bench` prints: one row per case.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "bench/result.hpp"
#include "noise.hpp"
#include "table.hpp"

namespace lugpu::cli {

/// What tells cases apart. over_cores: a sweep over numbers of cores, which a column shows instead
/// of the storage.
std::vector<Column> columns_of_cases(bool over_cores);
std::vector<Cell> cells_of(const Case& what, bool over_cores);

class BenchTable {
 public:
  /// over_cores: as in columns_of_cases().
  BenchTable(bool over_cores, Format format);
  std::string header() const { return table_.header(); }
  /// The row of a result, and of its record, which has the rates. Its speed-up is over the baseline
  /// with the same n, precision and (in a sweep over them) cores that was given before: getrf, or
  /// getc2 for full pivoting.
  std::string row(const Result& result, const nlohmann::json& record);
  /// What the columns mean, and warnings if rows so far are noisy or had the device wait.
  std::string footer() const;
  /// Takes a baseline from an earlier run, if this row of its JSON is one.
  void remember(const nlohmann::json& row);

 private:
  std::vector<Cell> what(const Case& what);
  std::vector<Cell> numbers(const Result& result, const nlohmann::json& record);
  Cell speed_up(const Result& result);

  // n, precision, whether it has full pivoting, and threads: 0 if it has none, or all have the
  // same.
  using Rival = std::tuple<std::size_t, Precision, bool, int>;

  const bool over_cores_;
  Table table_;
  std::map<Rival, double> baseline_medians_;
  NoiseWarning noise_;
  std::size_t waiting_ = 0;  // rows: clocks_disagree()
  // Whether there is a row
  bool packed_ = false;     // with packed texels
  bool paper_ = false;      // of the paper's schedule
  bool shared_ = false;     // whose work devices share
  bool estimated_ = false;  // with an estimated factor_ratio
};

}  // namespace lugpu::cli

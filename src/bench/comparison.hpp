// Two files of a benchmark, A and B, case by case: what became faster or slower, and what only
// scatters.
#pragma once

#include <array>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/statistics.hpp"

namespace lugpu {

/// What became of a case from A to B.
enum class Change {
  same,
  faster,
  slower,
  unclear,
  no_longer_ok,  ///< ok in A and not in B
  only_in_a,
  only_in_b,
  not_comparable
};
inline constexpr std::size_t kChanges = 8;

const char* name(Change change);

/// The speed of B over that of A.
struct SpeedRatio {
  double value;                      ///< median(A) / median(B), of the samples' seconds
  std::optional<Interval> interval;  ///< ratio_interval
  Change change;
};

/// Compares samples in seconds, positive and at least one of each, in the order in which they were
/// taken. threshold: a fraction, e.g. 0.05. The case is the
/// - same, if the interval lies from 1 - threshold to 1 + threshold;
/// - faster or slower, if the interval lies beyond 1, and both the ratio of the medians and that of
///   the low deciles beyond 1 + threshold or 1 - threshold. Other load lengthens most samples of a
///   run, and in a way that no interval of one run shows, but it leaves its shortest ones alone;
/// - unclear otherwise, as always with a single sample.
SpeedRatio compare_times(const std::vector<double>& a, const std::vector<double>& b,
                         double threshold);

struct ComparedCase {
  nlohmann::json what;  ///< the fields of its record that tell it from others (compare())
  /// That of the ratio; but unclear where other programs had a tenth of the processors or more
  /// while it was slower.
  Change change;
  std::optional<double> a_s, b_s;   ///< medians, seconds, where it is ok
  std::optional<SpeedRatio> ratio;  ///< where it is ok in both
  std::string reason;  ///< why it is not comparable or no longer ok, or unclear because of other
                       ///< programs; a part of a sentence
};

/// Whether it is slower by more than `limit`, a fraction of the speed; or no longer ok.
bool is_worse(const ComparedCase& one, double limit);

struct Comparison {
  double threshold;
  std::vector<ComparedCase> cases;  ///< in the order of A, then those that are only in B
};

/// Compares two reports (read_sweep). Cases are the same if all fields that tell cases apart are;
/// but for `device`, `device_index` and `compute_units` where each file has no more than one value,
/// and `threads` where it is the best number in one of them; nor `texel` and `nb`, which lugpu may
/// choose, unless a file has cases that differ in nothing else: a case has "A/B" where they differ.
/// Throws InputError if they have no case in common.
Comparison compare(const nlohmann::json& a, const nlohmann::json& b, double threshold);

struct ComparisonSummary {
  std::array<std::size_t, kChanges> counts{};  ///< by Change
  std::optional<double> geometric_mean;        ///< of all ratios; absent where there is none
  const ComparedCase *slowest = nullptr, *fastest = nullptr;  ///< by ratio, of `comparison`
};
ComparisonSummary summary_of(const Comparison& comparison);

/// The `comparison` of a report (docs/lugpu.schema.json), without its `a` and `b`.
nlohmann::json to_json(const Comparison& comparison);

}  // namespace lugpu

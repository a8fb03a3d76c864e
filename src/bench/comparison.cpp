#include "bench/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include "base/error.hpp"
#include "bench/batch_bench.hpp"
#include "bench/result.hpp"
#include "bench/simulation_run.hpp"
#include "bench/structured_result.hpp"

namespace lugpu {
namespace {

using nlohmann::json;

std::span<const char* const> fields_of(const json& row) {
  if (row.contains("scene")) return simulation_fields();
  if (row.contains("problem")) return structured_case_fields();
  return row.contains("batch") ? batch_case_fields() : case_fields();
}

// The values of a field in a report, apart from null.
std::set<json> values_of(const json& report, const char* field) {
  std::set<json> values;
  for (const json& row : report["results"]) values.insert(row.value(field, json()));
  values.erase(json());
  return values;
}

// The fields that say where a case ran, and do not tell cases of either report apart. Of threads,
// the best number may be another one each time.
std::set<std::string> free_fields(const json& a, const json& b) {
  std::set<std::string> fields;
  for (const char* field : {"device", "device_index", "compute_units"}) {
    if (values_of(a, field).size() <= 1 && values_of(b, field).size() <= 1) fields.insert(field);
  }
  for (const json* report : {&a, &b}) {
    const json& rows = (*report)["results"];
    if (std::any_of(rows.begin(), rows.end(), is_of_best_threads)) fields.insert("threads");
  }
  return fields;
}

// What tells its case from others; early files lack fields that have been null since.
json case_of(const json& row, const std::set<std::string>& free) {
  json what = json::object();
  for (const char* field : fields_of(row)) {
    if (!free.contains(field)) what[field] = row.value(field, json());
  }
  return what;
}

// Of the fields that lugpu chooses where it is not told, those without which the cases of either
// report are as many: what it chose may be another value in the other report.
std::set<std::string> choices(const json& a, const json& b, const std::set<std::string>& free) {
  const auto count = [](const json& report, const std::set<std::string>& without) {
    std::set<json> cases;
    for (const json& row : report["results"]) cases.insert(case_of(row, without));
    return cases.size();
  };
  std::set<std::string> without = free, found;
  for (const char* field : {"texel", "nb"}) {
    without.insert(field);
    if (count(a, without) == count(a, free) && count(b, without) == count(b, free))
      found.insert(field);
    else
      without.erase(field);
  }
  return found;
}

std::string text_of(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// The values of these fields, "A/B" where they differ.
json with_choices(json what, const std::set<std::string>& fields, const json& a, const json& b) {
  for (const std::string& field : fields) {
    const json of_a = a.value(field, json()), of_b = b.value(field, json());
    if (of_a == of_b || of_b.is_null())
      what[field] = of_a;
    else
      what[field] = of_a.is_null() ? of_b : json(text_of(of_a) + '/' + text_of(of_b));
  }
  return what;
}

bool is_ok(const json& row) {
  return row["status"] == name(RunStatus::ok) && !row["times_s"].empty();
}

std::vector<double> times_of(const json& row) {
  return row["times_s"];
}

std::optional<double> median_of(const json& row) {
  return is_ok(row) ? std::optional(median(times_of(row))) : std::nullopt;
}

// E.g. "skipped in B: it did not finish within --timeout 20 s".
std::string trouble(const json& row, const std::string& where) {
  if (is_ok(row)) return *median_of(row) > 0 ? "" : "takes no time " + where;
  std::string reason = row.value("reason", "");
  if (reason.ends_with('.')) reason.pop_back();
  return row["status"].get<std::string>() + ' ' + where + (reason.empty() ? "" : ": " + reason);
}

// That other programs took so much of the machine that they may be why it was slower there.
std::string other_load(const json& row, const std::string& where) {
  constexpr double kMuch = 0.1;
  const double share = row.contains("other_load") && row["other_load"].is_number()
                           ? row["other_load"].get<double>()
                           : 0;
  if (share < kMuch) return "";
  return "other programs had " + std::to_string(std::lround(100 * share)) +
         " % of the processors " + where;
}

ComparedCase compare_rows(const json& what, const json& a, const json& b, double threshold) {
  ComparedCase compared{what, Change::not_comparable, median_of(a), median_of(b), {}, {}};
  const std::string in_a = trouble(a, "in A"), in_b = trouble(b, "in B");
  compared.reason = in_a + (in_a.empty() || in_b.empty() ? "" : "; ") + in_b;
  if (is_ok(a) && !is_ok(b)) compared.change = Change::no_longer_ok;
  if (!compared.reason.empty()) return compared;
  compared.ratio = compare_times(times_of(a), times_of(b), threshold);
  compared.change = compared.ratio->change;
  const bool slower = compared.change == Change::slower;
  if (!slower && compared.change != Change::faster) return compared;
  compared.reason = other_load(slower ? b : a, slower ? "in B" : "in A");
  if (!compared.reason.empty()) compared.change = Change::unclear;
  return compared;
}

}  // namespace

const char* name(Change change) {
  constexpr const char* kNames[kChanges] = {"same",      "faster",        "slower",
                                            "unclear",   "no longer ok",  "only in A",
                                            "only in B", "not comparable"};
  return kNames[static_cast<std::size_t>(change)];
}

SpeedRatio compare_times(const std::vector<double>& a, const std::vector<double>& b,
                         double threshold) {
  SpeedRatio ratio{median(a) / median(b), ratio_interval(a, b), Change::unclear};
  if (!ratio.interval) return ratio;
  const auto [low, high] = *ratio.interval;
  const double undisturbed = low_decile(a) / low_decile(b);
  const double least = std::min(ratio.value, undisturbed);
  const double most = std::max(ratio.value, undisturbed);
  if (low >= 1 - threshold && high <= 1 + threshold)
    ratio.change = Change::same;
  else if (low > 1 && least > 1 + threshold)
    ratio.change = Change::faster;
  else if (high < 1 && most < 1 - threshold)
    ratio.change = Change::slower;
  return ratio;
}

bool is_worse(const ComparedCase& one, double limit) {
  return one.change == Change::no_longer_ok ||
         (one.change == Change::slower && one.ratio->value < 1 - limit);
}

Comparison compare(const json& a, const json& b, double threshold) {
  std::set<std::string> free = free_fields(a, b);
  const std::set<std::string> chosen = choices(a, b, free);
  free.insert(chosen.begin(), chosen.end());
  std::map<json, const json*> of_b;
  for (const json& row : b["results"]) of_b.emplace(case_of(row, free), &row);
  Comparison comparison{threshold, {}};
  std::set<json> in_a;
  for (const json& row : a["results"]) {
    const json what = case_of(row, free);
    if (!in_a.insert(what).second) continue;
    const auto found = of_b.find(what);
    const json& other = found == of_b.end() ? row : *found->second;
    const json whole = with_choices(what, chosen, row, other);
    comparison.cases.push_back(
        found == of_b.end() ? ComparedCase{whole, Change::only_in_a, median_of(row), {}, {}, {}}
                            : compare_rows(whole, row, other, threshold));
  }
  const std::size_t of_a = comparison.cases.size();
  for (const json& row : b["results"]) {
    const json what = case_of(row, free);
    if (!in_a.insert(what).second) continue;
    comparison.cases.push_back(
        {with_choices(what, chosen, row, row), Change::only_in_b, {}, median_of(row), {}, {}});
  }
  const bool apart = std::all_of(
      comparison.cases.begin(), comparison.cases.begin() + static_cast<std::ptrdiff_t>(of_a),
      [](const ComparedCase& one) { return one.change == Change::only_in_a; });
  if (apart) {
    throw InputError(
        "The two files have no case in common; run `lugpu bench` with the same options for both.");
  }
  return comparison;
}

ComparisonSummary summary_of(const Comparison& comparison) {
  ComparisonSummary summary;
  double logarithms = 0, count = 0;
  for (const ComparedCase& one : comparison.cases) {
    ++summary.counts[static_cast<std::size_t>(one.change)];
    if (!one.ratio) continue;
    logarithms += std::log(one.ratio->value);
    ++count;
    const auto is_below = [](const ComparedCase& x, const ComparedCase* y) {
      return !y || x.ratio->value < y->ratio->value;
    };
    if (is_below(one, summary.slowest)) summary.slowest = &one;
    if (!summary.fastest || !is_below(one, summary.fastest)) summary.fastest = &one;
  }
  if (count > 0) summary.geometric_mean = std::exp(logarithms / count);
  return summary;
}

json to_json(const Comparison& comparison) {
  json cases = json::array();
  for (const ComparedCase& one : comparison.cases) {
    const bool has_interval = one.ratio && one.ratio->interval;
    cases.push_back({{"case", one.what},
                     {"change", name(one.change)},
                     {"median_a_s", number_or_null(one.a_s)},
                     {"median_b_s", number_or_null(one.b_s)},
                     {"ratio", one.ratio ? json(one.ratio->value) : json(nullptr)},
                     {"ratio_interval",
                      has_interval ? json({one.ratio->interval->low, one.ratio->interval->high})
                                   : json(nullptr)},
                     {"reason", one.reason}});
  }
  const ComparisonSummary summary = summary_of(comparison);
  json counts = json::object();
  for (std::size_t i = 0; i < kChanges; ++i) {
    counts[name(static_cast<Change>(i))] = summary.counts[i];
  }
  const auto ratio = [](const ComparedCase* one) {
    return one ? json(one->ratio->value) : json(nullptr);
  };
  return {{"threshold", comparison.threshold},
          {"cases", cases},
          {"counts", counts},
          {"geometric_mean", number_or_null(summary.geometric_mean)},
          {"lowest_ratio", ratio(summary.slowest)},
          {"highest_ratio", ratio(summary.fastest)}};
}

}  // namespace lugpu

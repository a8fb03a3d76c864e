#include "report/subjects.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace lugpu::report {
namespace {

using Rows = std::vector<const Row*>;

// A field that tells series apart. One that follows the size (a block size that is chosen by n)
// does so only among results of one size.
struct Field {
  const char* name;
  bool may_follow_size = false;
};
constexpr Field kFields[] = {{"implementation"},  {"device"}, {"devices_used"}, {"compute_units"},
                             {"storage"},         {"texel"},  {"schedule"},     {"threads"},
                             {"matrix"},          {"nrhs"},   {"nb", true},     {"seed", true},
                             {"most_iterations"}, {"file"}};

const std::string& field_of(const Row& row, const char* name) {
  static const std::string none;
  const auto found = row.fields.find(name);
  return found == row.fields.end() ? none : found->second;
}

// How many of the rows a label tells apart.
std::size_t told_apart(const Rows& rows, const std::vector<std::string>& labels, bool by_size) {
  std::set<std::pair<double, std::string>> different;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    different.emplace(by_size ? rows[i]->size : 0, labels[i]);
  }
  return different.size();
}

// What is in the brackets of each row's label, of rows with one routine: a field is there if it
// tells rows apart that those before it do not.
std::vector<std::string> details_of(const Rows& rows) {
  std::vector<std::string> details(rows.size());
  for (const auto& [name, may_follow_size] : kFields) {
    std::vector<std::string> longer = details;
    std::set<std::string> values;  // none in an older file tells nothing apart
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::string& value = field_of(*rows[i], name);
      if (!value.empty()) values.insert(value);
      if (!value.empty()) longer[i] += (longer[i].empty() ? "" : ", ") + value;
    }
    if (values.size() > 1 &&
        told_apart(rows, longer, may_follow_size) > told_apart(rows, details, may_follow_size)) {
      details = std::move(longer);
    }
  }
  return details;
}

std::vector<Series> series_of(const Rows& rows) {
  std::vector<std::string> routines;
  std::map<std::string, Rows> by_routine;
  for (const Row* row : rows) {
    if (!by_routine.contains(row->routine)) routines.push_back(row->routine);
    by_routine[row->routine].push_back(row);
  }
  std::vector<Series> all;
  for (const std::string& routine : routines) {
    const Rows& of_routine = by_routine[routine];
    const std::vector<std::string> details = details_of(of_routine);
    std::map<std::string, std::size_t> place;
    for (std::size_t i = 0; i < of_routine.size(); ++i) {
      const std::string label = routine + (details[i].empty() ? "" : " (" + details[i] + ")");
      const auto [found, is_new] = place.emplace(label, all.size());
      if (is_new) all.push_back({label, {}});
      all[found->second].rows.push_back(of_routine[i]);
    }
  }
  for (Series& one : all) {
    std::ranges::stable_sort(one.rows, {}, &Row::size);
  }
  std::stable_partition(all.begin(), all.end(), [](const Series& one) { return !one.rival(); });
  return all;
}

// The fastest of lugpu's results that a rival's can be compared with, on this device.
const Row* opponent(const Row& rival, const std::string& device, const Rows& ours) {
  const Row *fastest = nullptr, *on_as_many = nullptr;
  const std::string& threads = field_of(rival, rival.on_host ? "threads" : "compute_units");
  const auto digits = [](const std::string& text) { return text.substr(0, text.find(' ')); };
  for (const Row* row : ours) {
    const bool same = row->run == rival.run && row->size == rival.size &&
                      field_of(*row, "matrix") == field_of(rival, "matrix") &&
                      field_of(*row, "nrhs") == field_of(rival, "nrhs") &&
                      field_of(*row, "device") == device &&
                      (rival.on_host || field_of(rival, "device") == device);
    if (!same) continue;
    if (!fastest || row->median < fastest->median) fastest = row;
    const bool as_many =
        !threads.empty() && digits(field_of(*row, "compute_units")) == digits(threads);
    if (as_many && (!on_as_many || row->median < on_as_many->median)) on_as_many = row;
  }
  return on_as_many ? on_as_many : fastest;
}

}  // namespace

std::vector<Subject> subjects_of(const Record& record) {
  std::vector<std::string> titles;
  std::map<std::string, Rows> by_title;
  for (const Row& row : record.rows) {
    if (!by_title.contains(row.subject)) titles.push_back(row.subject);
    by_title[row.subject].push_back(&row);
  }
  std::vector<Subject> subjects;
  for (const std::string& title : titles) {
    const Rows& rows = by_title[title];
    subjects.push_back({title, rows.front()->kind, series_of(rows)});
  }
  return subjects;
}

std::vector<Rivalry> rivalries_of(const Subject& subject) {
  constexpr double kThreshold = 0.05;  // of compare
  Rows ours;
  std::set<std::string> devices;
  for (const Series& series : subject.series) {
    for (const Row* row : series.rows) {
      if (series.rival() || !row->timed()) continue;
      ours.push_back(row);
      devices.insert(field_of(*row, "device"));
    }
  }
  std::vector<Rivalry> all;
  for (const Series& series : subject.series) {
    for (const std::string& device : devices) {
      if (!series.rival()) continue;
      const bool says_which = devices.size() > 1 && series.rows.front()->on_host;
      Rivalry rivalry{series.label + (says_which ? ", against " + device : ""), &series, {}};
      for (const Row* rival : series.rows) {
        const Row* row = rival->timed() ? opponent(*rival, device, ours) : nullptr;
        if (!row) continue;
        rivalry.contests.push_back(
            {rival, row, compare_times(rival->samples, row->samples, kThreshold)});
      }
      if (!rivalry.contests.empty()) all.push_back(std::move(rivalry));
    }
  }
  return all;
}

std::vector<Lead> leads_of(const Subject& subject) {
  std::map<double, std::pair<const Series*, const Row*>> fastest;
  for (const Series& series : subject.series) {
    for (const Row* row : series.rows) {
      if (!row->timed()) continue;
      auto& [whose, best] = fastest[row->size];
      if (!best || row->median < best->median) whose = &series, best = row;
    }
  }
  std::vector<Lead> leads;
  for (const auto& [size, one] : fastest) {
    if (leads.empty() || leads.back().series != one.first) leads.push_back({one.first, {}});
    leads.back().rows.push_back(one.second);
  }
  return leads;
}

}  // namespace lugpu::report

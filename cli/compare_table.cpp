#include "compare_table.hpp"

#include <algorithm>
#include <set>

#include "base/printable.hpp"
#include "terminal.hpp"

namespace lugpu::cli {
namespace {

struct Title {
  const char* field;
  const char* title;
};
// Of the fields that tell cases apart, those first that people know a case by.
constexpr Title kTitles[] = {{"problem", "problem"},
                             {"scene", "scene"},
                             {"grid", "grid"},
                             {"batch", "batch"},
                             {"n", "n"},
                             {"routine", "method"},
                             {"pivot", "pivot"},
                             {"precision", "prec."},
                             {"storage", "storage"},
                             {"texel", "texel"},
                             {"schedule", "schedule"},
                             {"nb", "nb"},
                             {"nrhs", "nrhs"},
                             {"compute_units", "cores"},
                             {"threads", "threads"},
                             {"device", "device"},
                             {"device_index", "device"},
                             {"matrix", "matrix"},
                             {"tolerance", "tol."},
                             {"iterations", "iter."},
                             {"most_iterations", "iter."},
                             {"implementation", "of"},
                             {"seed", "seed"}};

constexpr const char* kNumbers = "%8s %8s %5s %9s  ";

std::string text_of(const nlohmann::json& value) {
  if (value.is_null()) return "-";
  if (value.is_string()) return printable(value.get<std::string>());
  if (value.is_number_float()) return format("%g", value.get<double>());
  if (!value.is_array()) return value.dump();
  std::string text;  // of a grid
  for (const nlohmann::json& one : value) text += (text.empty() ? "" : "x") + text_of(one);
  return text;
}

std::string text_of(const ComparedCase& one, const char* field) {
  return text_of(one.what.value(field, nlohmann::json()));
}

std::string padded(const std::string& text, std::size_t width, bool to_the_right) {
  const std::string blanks(width - std::min(width, text.size()), ' ');
  return to_the_right ? blanks + text : text + blanks;
}

std::string ratio_text(double ratio) {
  return format(ratio < 10 ? "%.2f" : ratio < 100 ? "%.1f" : "%.0f", ratio);
}

std::string seconds_text(const std::optional<double>& seconds) {
  return seconds ? duration(*seconds) : "-";
}

std::string interval_text(const ComparedCase& one) {
  if (!one.ratio || !one.ratio->interval) return "-";
  return ratio_text(one.ratio->interval->low) + '-' + ratio_text(one.ratio->interval->high);
}

std::string painted(Change change) {
  const Ink ink = change == Change::faster                                     ? Ink::good
                  : change == Change::slower || change == Change::no_longer_ok ? Ink::bad
                  : change == Change::same                                     ? Ink::plain
                                                                               : Ink::dim;
  return paint(ink, name(change));
}

}  // namespace

CompareTable::CompareTable(const Comparison& comparison) : comparison_(comparison) {
  choose_columns();
  for (Column& column : columns_) {
    for (const ComparedCase& one : comparison_.cases) {
      const std::string text = text_of(one, column.field);
      column.width = std::max(column.width, text.size());
      column.numbers =
          column.numbers && !one.what.value(column.field, nlohmann::json()).is_string();
    }
  }
}

// Each field that tells cases apart which the columns before it do not.
void CompareTable::choose_columns() {
  std::vector<std::string> labels(comparison_.cases.size());
  std::size_t known = 1;
  for (const auto& [field, title] : kTitles) {
    std::vector<std::string> longer = labels;
    std::set<std::string> values;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const std::string value = text_of(comparison_.cases[i], field);
      values.insert(value);
      longer[i] += '\n' + value;
    }
    const std::size_t apart = std::set(longer.begin(), longer.end()).size();
    if (apart > known) {
      columns_.push_back({field, title, std::string(title).size(), true});
      labels = std::move(longer);
      known = apart;
    } else if (values.size() == 1 && *values.begin() != "-") {
      in_all_ += (in_all_.empty() ? "" : ", ") + std::string(title) + ' ' + *values.begin();
    }
  }
}

std::vector<std::string> CompareTable::cells(const ComparedCase& one) const {
  std::vector<std::string> cells;
  for (const Column& column : columns_) cells.push_back(text_of(one, column.field));
  return cells;
}

std::vector<std::string> CompareTable::titles() const {
  std::vector<std::string> cells;
  for (const Column& column : columns_) cells.emplace_back(column.title);
  return cells;
}

std::string CompareTable::label(const std::vector<std::string>& cells) const {
  std::string text;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    text += (i == 0 ? "" : " ") + padded(cells[i], columns_[i].width, columns_[i].numbers);
  }
  return text;
}

std::string CompareTable::row(const ComparedCase& one, bool on_one_line) const {
  constexpr std::size_t kIndent = 2;
  const std::string start =
      on_one_line ? label(cells(one)) + ' '
                  : wrapped(label(cells(one)), 0, kIndent) + '\n' + std::string(kIndent, ' ');
  if (one.change == Change::not_comparable || one.change == Change::no_longer_ok) {
    const std::string text = wrapped(std::string(name(one.change)) + ": " + one.reason + '.',
                                     on_one_line ? start.size() : kIndent, kIndent);
    return start + painted(one.change) + text.substr(std::string(name(one.change)).size()) + '\n';
  }
  return start +
         format(kNumbers, seconds_text(one.a_s).c_str(), seconds_text(one.b_s).c_str(),
                one.ratio ? ratio_text(one.ratio->value).c_str() : "-",
                interval_text(one).c_str()) +
         painted(one.change) + '\n';
}

std::string CompareTable::text() const {
  const std::string numbers = format(kNumbers, "A", "B", "ratio", "95 %") + "B is";
  constexpr std::size_t kLongestName = 9;  // of those behind numbers, "only in A"
  const std::string head = label(titles());
  const bool on_one_line =
      head.size() + 1 + numbers.size() - std::string("B is").size() + kLongestName <=
      table_columns();
  std::string text = on_one_line ? head + ' ' + numbers : wrapped(head, 0, 2) + "\n  " + numbers;
  text += '\n';
  for (const ComparedCase& one : comparison_.cases) text += row(one, on_one_line);
  return text;
}

std::string CompareTable::rows(Format format) const {
  std::vector<lugpu::cli::Column> fields;
  for (const Column& column : columns_) {
    fields.push_back({column.title, column.field, column.numbers ? 1 : -1, 0});
  }
  const Table table(fields,
                    {{"A", "median_a_s", 1, 0},
                     {"B", "median_b_s", 1, 0},
                     {"ratio", "ratio", 1, 0},
                     {"95 %", "ratio_interval", 1, 0}},
                    format, "B is");
  std::string text = table.header();
  for (const ComparedCase& one : comparison_.cases) {
    Row row{{}, {}, name(one.change), one.reason};
    for (const std::string& cell : cells(one)) row.what.push_back({cell});
    row.numbers = {{seconds_text(one.a_s), one.a_s},
                   {seconds_text(one.b_s), one.b_s},
                   one.ratio ? Cell{ratio_text(one.ratio->value), one.ratio->value} : Cell{"-"},
                   {interval_text(one)}};
    text += table.row(row);
  }
  return text;
}

std::vector<std::string> CompareTable::summary() const {
  const ComparisonSummary summary = summary_of(comparison_);
  std::string counts;
  for (std::size_t i = 0; i < kChanges; ++i) {
    const auto change = static_cast<Change>(i);
    if (summary.counts[i] == 0 && change > Change::unclear) continue;
    counts += (counts.empty() ? "" : ", ") + format("%s %zu", name(change), summary.counts[i]);
  }
  if (!summary.geometric_mean) return {counts};
  const auto extreme = [&](const ComparedCase& one) {
    std::string label;
    for (const std::string& cell : cells(one)) label += (label.empty() ? "" : " ") + cell;
    return ratio_text(one.ratio->value) + (label.empty() ? "" : " (" + label + ')');
  };
  return {counts, "geometric mean " + ratio_text(*summary.geometric_mean) + ", worst " +
                      extreme(*summary.slowest) + ", best " + extreme(*summary.fastest)};
}

}  // namespace lugpu::cli

// What `lugpu compare` prints: a row for each case, and below it a summary.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/comparison.hpp"
#include "table.hpp"

namespace lugpu::cli {

class CompareTable {
 public:
  /// The comparison must outlive it.
  explicit CompareTable(const Comparison& comparison);

  /// Fields that are the same in all cases, e.g. "precision single, nrhs 1".
  const std::string& in_all() const { return in_all_; }
  /// For a terminal of 48 columns or more. Where a case and its numbers do not fit on one line, all
  /// take two.
  std::string text() const;
  /// In CSV or Markdown, with the reasons.
  std::string rows(Format format) const;
  /// The counts, and the mean of the ratios with the lowest and the highest, in two lines.
  std::vector<std::string> summary() const;

 private:
  // A field that tells cases apart.
  struct Column {
    const char* field;
    const char* title;
    std::size_t width;  // of its title and its cells
    bool numbers;       // to the right
  };

  void choose_columns();
  std::vector<std::string> cells(const ComparedCase& one) const;
  // The titles or the cells of a row in their widths.
  std::string label(const std::vector<std::string>& cells) const;
  std::vector<std::string> titles() const;
  std::string row(const ComparedCase& one, bool on_one_line) const;

  const Comparison& comparison_;
  std::vector<Column> columns_;
  std::string in_all_;
};

}  // namespace lugpu::cli

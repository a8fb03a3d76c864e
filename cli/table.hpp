// The tables of `lugpu bench` and its likes, row by row, in the format that --format names.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "terminal.hpp"

namespace lugpu::cli {

enum class Format { table, csv, markdown, json };

struct Column {
  const char* title;  ///< for people
  const char* field;  ///< in CSV: the name in records, with its unit
  int width;          ///< of a cell; negative: to the left
  int rank;           ///< where a line has no room for all columns, those of the highest go first
};

/// The rank of a column that only CSV and Markdown show.
inline constexpr int kNotForPeople = 100;

struct Cell {
  std::string text;
  std::optional<double> value = std::nullopt;  ///< what CSV has instead, in the column's unit
  Ink ink = Ink::plain;
};

/// A case, and its numbers or why it has none.
struct Row {
  std::vector<Cell> what, numbers;
  std::string status = "ok", reason = "";  ///< a sentence; both are columns of CSV and Markdown
};

class Table {
 public:
  /// what, numbers: the columns of the cells of rows. The widths are those of lines of
  /// table_columns() characters. verdict: what CSV and Markdown call Row::status.
  Table(std::vector<Column> what, std::vector<Column> numbers, Format format,
        const char* verdict = "status");

  std::string header() const;
  /// One line; but of a case without numbers in a table for people, its reason is wrapped.
  std::string row(const Row& row) const;
  /// Whether there is room for the column of this field.
  bool shows(std::string_view field) const;

 private:
  bool shows(const Column& column) const { return column.rank <= most_rank_; }
  std::string lines(const Row& row) const;
  std::string joined(const Row& row) const;

  std::vector<Column> what_, numbers_;
  Format format_;
  const char* verdict_;
  int most_rank_ = kNotForPeople;
};

}  // namespace lugpu::cli

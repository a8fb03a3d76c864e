#include "table.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/printable.hpp"

namespace lugpu::cli {
namespace {

std::size_t width_of(const Column& column) {
  return static_cast<std::size_t>(std::abs(column.width));
}

std::string padded(const std::string& text, const Column& column) {
  const std::string blanks(width_of(column) - std::min(width_of(column), text.size()), ' ');
  return column.width < 0 ? text + blanks : blanks + text;
}

// In a cell of Markdown, where a bar would end it.
std::string in_markdown(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '|' ? "\\|" : std::string(1, c);
  return result;
}

// RFC 4180.
std::string in_csv(const std::string& text) {
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? "\"\"" : std::string(1, c);
  return result + '"';
}

std::string without_trailing_blanks(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

}  // namespace

Table::Table(std::vector<Column> what, std::vector<Column> numbers, Format format,
             const char* verdict)
    : what_(std::move(what)), numbers_(std::move(numbers)), format_(format), verdict_(verdict) {
  if (format_ != Format::table) return;
  const auto needed = [&] {
    std::size_t width = 0;
    for (const auto* columns : {&what_, &numbers_}) {
      for (const Column& column : *columns) width += shows(column) ? width_of(column) + 1 : 0;
    }
    return width - 1;
  };
  for (most_rank_ = kNotForPeople - 1; most_rank_ > 0 && needed() > table_columns();) --most_rank_;
}

std::string Table::header() const {
  std::string text, line;
  for (const auto* columns : {&what_, &numbers_}) {
    for (const Column& column : *columns) {
      if (!shows(column)) continue;
      text += format_ == Format::table ? padded(column.title, column) + ' '
              : format_ == Format::csv ? column.field + std::string(",")
                                       : "| " + std::string(column.title) + ' ';
      line += column.width < 0 ? "|---" : "|--:";
    }
  }
  if (format_ == Format::table) return without_trailing_blanks(text) + '\n';
  if (format_ == Format::csv) return text + verdict_ + ",reason\n";
  return text + "| " + verdict_ + " | reason |\n" + line + "|---|---|\n";
}

std::string Table::row(const Row& row) const {
  return format_ == Format::table ? lines(row) : joined(row);
}

bool Table::shows(std::string_view field) const {
  for (const auto* columns : {&what_, &numbers_}) {
    for (const Column& column : *columns) {
      if (column.field == field) return shows(column);
    }
  }
  return false;
}

std::string Table::lines(const Row& row) const {
  std::string head, text;
  for (std::size_t i = 0; i < what_.size(); ++i) {
    if (shows(what_[i])) head += padded(row.what[i].text, what_[i]) + ' ';
  }
  if (row.numbers.empty()) {
    constexpr std::size_t kIndent = 7;
    const std::string reason = wrapped(row.status + ": " + row.reason, head.size(), kIndent);
    const bool bad = row.status == "failed" || row.status == "error";
    return head + paint(bad ? Ink::bad : Ink::dim, row.status) + reason.substr(row.status.size()) +
           '\n';
  }
  for (std::size_t i = 0; i < numbers_.size(); ++i) {
    if (!shows(numbers_[i])) continue;
    text += paint(row.numbers[i].ink, padded(row.numbers[i].text, numbers_[i])) + ' ';
  }
  return without_trailing_blanks(head + text) + '\n';
}

std::string Table::joined(const Row& row) const {
  const bool csv = format_ == Format::csv;
  std::string text;
  const auto add = [&](const Cell& cell) {
    const std::string shown = cell.value && csv ? format("%.9g", *cell.value) : cell.text;
    text += csv ? in_csv(printable(shown == "-" ? "" : shown)) + ','
                : "| " + in_markdown(printable(shown)) + ' ';
  };
  for (const Cell& cell : row.what) add(cell);
  for (std::size_t i = 0; i < numbers_.size(); ++i) {
    add(row.numbers.empty() ? Cell{"-"} : row.numbers[i]);
  }
  add({row.status});
  add({row.reason});
  return csv ? text.substr(0, text.size() - 1) + '\n' : text + "|\n";
}

}  // namespace lugpu::cli

#include "matrix/csv.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "matrix/number_text.hpp"

namespace lugpu {
namespace {

constexpr char kRunOfBlanks = ' ';  // the separator that may be repeated

std::string_view trimmed(std::string_view text, std::string_view blanks) {
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

// The position of the first of `characters` that is not inside quotes, from `begin` on; the end of
// the line if there is none. A doubled quote, which stands for one inside quotes, needs no care: it
// closes and opens at once.
std::size_t find_unquoted(std::string_view line, std::string_view characters, std::size_t begin) {
  const std::size_t first = std::min(line.find_first_of(characters, begin), line.size());
  if (line.substr(begin, first - begin).find('"') == std::string_view::npos) return first;
  bool inside = false;
  for (std::size_t k = begin; k < line.size(); ++k) {
    if (line[k] == '"') inside = !inside;
    if (!inside && characters.find(line[k]) != std::string_view::npos) return k;
  }
  return line.size();
}

std::string_view without_comment(std::string_view line) {
  if (line.find('#') == std::string_view::npos) return line;
  return line.substr(0, find_unquoted(line, "#", 0));
}

std::string_view without_quotes(std::string_view field) {
  if (field.size() < 2 || !field.starts_with('"') || !field.ends_with('"')) return field;
  return trimmed(field.substr(1, field.size() - 2), " \t");
}

char separator_of(std::string_view line) {
  for (const char c : {';', ',', '\t'}) {
    if (find_unquoted(line, std::string_view(&c, 1), 0) < line.size()) return c;
  }
  return kRunOfBlanks;
}

// Splits `line` into its fields; `fields` is passed in so that its memory is used again.
void split(std::string_view line, char separator, std::vector<std::string_view>& fields) {
  // A tab that separates is no blank: after it an empty field may follow.
  const std::string_view blanks = separator == '\t' ? " " : " \t";
  const std::string_view ends =
      separator == kRunOfBlanks ? std::string_view(" \t") : std::string_view(&separator, 1);
  line = trimmed(line, blanks);
  fields.clear();
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = find_unquoted(line, ends, begin);
    fields.push_back(without_quotes(trimmed(line.substr(begin, end - begin), blanks)));
    if (end == line.size()) return;
    begin = end + 1;
    if (separator == kRunOfBlanks) begin = line.find_first_not_of(blanks, begin);
  }
}

// A first row of names is told from numbers with a fault (1,5 or 1.5x) by how they begin.
bool is_name(std::string_view field) {
  return !field.empty() &&
         std::string_view("0123456789+-.").find(field[0]) == std::string_view::npos &&
         !parse_number(field);
}

// Goes through the rows of a file, twice: to know the shape before the matrix is allocated, and to
// read the values.
class Rows {
 public:
  explicit Rows(const InputFile& file) : file_(file), lines_(file.bytes) {}

  // Goes to the next row of values; false if there is none. Rows are checked to be of one length.
  bool next();
  const std::vector<std::string_view>& fields() const { return fields_; }
  std::size_t line() const { return lines_.number(); }

 private:
  bool next_content(std::string_view& content);

  const InputFile& file_;
  Lines lines_;
  char separator_ = kRunOfBlanks;
  std::size_t first_line_ = 0;
  std::size_t width_ = 0;
  std::vector<std::string_view> fields_;
};

bool Rows::next_content(std::string_view& content) {
  while (lines_.next()) {
    content = without_comment(lines_.line());
    if (content.find_first_not_of(" \t") != std::string_view::npos) return true;
  }
  return false;
}

bool Rows::next() {
  std::string_view content;
  if (!next_content(content)) return false;
  if (first_line_ == 0) {
    first_line_ = lines_.number();
    separator_ = separator_of(content);
    split(content, separator_, fields_);
    width_ = fields_.size();
    if (!std::all_of(fields_.begin(), fields_.end(), is_name)) return true;
    return next();
  }
  split(content, separator_, fields_);
  if (fields_.size() != width_) {
    throw file_.error(line(), "the row is " + std::to_string(fields_.size()) + " long; expected " +
                                  std::to_string(width_) + " as in line " +
                                  std::to_string(first_line_));
  }
  return true;
}

double value_of(const InputFile& file, const Rows& rows, std::size_t j) {
  const std::string_view field = rows.fields()[j];
  if (field.empty()) {
    throw file.error(rows.line(),
                     "field " + std::to_string(j + 1) + " of the row is empty; expected a number");
  }
  return finite_number(file, rows.line(), field);
}

}  // namespace

Matrix read_csv(const InputFile& file) {
  require_text(file);
  std::size_t m = 0;
  Rows counted(file);
  while (counted.next()) ++m;
  if (m == 0) throw file.error(counted.line(), "no row of numbers; expected at least one");
  const std::size_t n = counted.fields().size();
  check_shape(file, 0, m, n);
  Matrix a(m, n);
  Rows rows(file);
  for (std::size_t i = 0; i < m; ++i) {
    rows.next();
    for (std::size_t j = 0; j < n; ++j) a(i, j) = value_of(file, rows, j);
  }
  return a;
}

void write_csv(const Matrix& matrix, std::FILE* out) {
  std::string text;
  for (std::size_t i = 0; i < matrix.rows(); ++i) {
    for (std::size_t j = 0; j < matrix.cols(); ++j) {
      if (j > 0) text += ',';
      append_number(text, matrix(i, j));
    }
    text += '\n';
    std::fwrite(text.data(), 1, text.size(), out);
    text.clear();
  }
}

}  // namespace lugpu

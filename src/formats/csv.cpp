#include "formats/csv.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <string_view>

#include "formats/number_text.hpp"

namespace lugpu {
namespace {

// Possible separators; the first one present in the first row is used. A run of blanks is one
// separator.
constexpr std::string_view kSeparators = ";,\t ";
constexpr char kRunOfBlanks = ' ';

std::string_view trimmed(std::string_view text, std::string_view blanks) {
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

std::string_view without_quotes(std::string_view field) {
  if (field.size() < 2 || !field.starts_with('"') || !field.ends_with('"')) return field;
  return trimmed(field.substr(1, field.size() - 2), " \t");
}

// The separator by the first line that is neither blank nor a comment. A doubled quote, which
// stands for one inside quotes, needs no care here or below: it closes and opens at once.
char separator_of(const InputFile& file) {
  Text text(file);
  std::size_t best = kSeparators.size() - 1;
  bool content = false;
  bool inside = false;  // of quotes
  bool comment = false;
  do {
    for (const char c : text.ahead()) {
      if (c == '\n') {
        if (content) return kSeparators[best];
        best = kSeparators.size() - 1;
        inside = comment = false;
        continue;
      }
      if (c == '"') inside = !inside;
      comment = comment || (c == '#' && !inside);
      if (comment) continue;
      content = content || (c != ' ' && c != '\t' && c != '\r');
      if (!inside && (c == ';' || c == ',' || c == '\t')) {
        best = std::min(best, kSeparators.find(c));
      }
    }
    text.drop(text.ahead().size());
  } while (text.more());
  return kSeparators[best];
}

// A first row of names is told from numbers with a fault (1,5 or 1.5x) by how they begin.
bool is_name(std::string_view field) {
  return !field.empty() &&
         std::string_view("0123456789+-.").find(field[0]) == std::string_view::npos &&
         !parse_number(field);
}

// Goes through the fields of a file, row after row; a block of the file is in memory.
class Fields {
 public:
  Fields(const InputFile& file, char separator) : file_(file), text_(file), separator_(separator) {
    for (const char c : {'\n', '"', '#', separator}) stops_[static_cast<unsigned char>(c)] = true;
    if (separator == kRunOfBlanks) stops_['\t'] = true;
  }

  // Goes to the next line that is neither blank nor a comment, once all fields of the one before
  // have been taken; false if there is none.
  bool next_row();
  // Goes to the next field of the row; false if there is none.
  bool next();
  // The field without blanks and quotes around it; valid until the next one.
  std::string_view field() const { return field_; }
  // The number of the line, from 1.
  std::size_t line() const { return line_; }

 private:
  bool has(std::size_t count);
  bool at_line_end();
  std::size_t skip_blanks();
  void skip_line();
  std::size_t find_end();

  const InputFile& file_;
  Text text_;
  const char separator_;
  std::array<bool, 256> stops_ = {};  // by character: where a field may end or quotes begin
  std::string_view field_;
  std::size_t length_ = 0;  // of the field and its separator in the text
  std::size_t empty_ = 0;   // fields before the first one with a text
  bool in_row_ = false;
  bool last_ = false;  // field_ is the last one of the row
  std::size_t line_ = 0;
};

// Whether this many bytes lie ahead.
bool Fields::has(std::size_t count) {
  while (text_.ahead().size() < count) {
    if (!text_.more()) return false;
  }
  return true;
}

bool Fields::at_line_end() {
  if (!has(1)) return true;
  const char c = text_.ahead()[0];
  return c == '\n' || c == '#' || (c == '\r' && (!has(2) || text_.ahead()[1] == '\n'));
}

// Returns how many of the blanks are tabs.
std::size_t Fields::skip_blanks() {
  std::size_t tabs = 0;
  for (; has(1) && (text_.ahead()[0] == ' ' || text_.ahead()[0] == '\t'); text_.drop(1)) {
    if (text_.ahead()[0] == '\t') ++tabs;
  }
  return tabs;
}

void Fields::skip_line() {
  while (has(1)) {
    const std::size_t end = text_.ahead().find('\n');
    text_.drop(std::min(end, text_.ahead().size() - 1) + 1);
    if (end != std::string_view::npos) return;
  }
}

bool Fields::next_row() {
  while (has(1)) {
    ++line_;
    const std::size_t tabs = skip_blanks();
    if (!at_line_end()) {
      empty_ = separator_ == '\t' ? tabs : 0;
      in_row_ = true;
      return true;
    }
    skip_line();
  }
  return false;
}

bool Fields::next() {
  if (!in_row_) return false;
  if (empty_ > 0) {
    --empty_;
    field_ = {};
    return true;
  }
  text_.drop(length_);
  length_ = 0;
  if (separator_ == kRunOfBlanks) {
    skip_blanks();
    last_ = last_ || at_line_end();
  }
  if (last_) {
    skip_line();
    in_row_ = last_ = false;
    return false;
  }
  const std::size_t end = find_end();
  std::string_view text = text_.ahead().substr(0, end);
  const char stop = end < text_.ahead().size() ? text_.ahead()[end] : '\n';
  if (stop == '\n' && text.ends_with('\r')) text.remove_suffix(1);
  last_ = stop == '\n' || stop == '#';
  length_ = last_ ? end : end + 1;
  // A tab that separates is not a blank: an empty field may stand before or after it.
  field_ = without_quotes(trimmed(text, separator_ == '\t' ? " " : " \t"));
  return true;
}

// How many bytes the field ahead has.
std::size_t Fields::find_end() {
  bool inside = false;  // of quotes
  for (std::size_t k = 0;;) {
    const std::string_view ahead = text_.ahead();
    while (k < ahead.size() && !stops_[static_cast<unsigned char>(ahead[k])]) ++k;
    if (k < ahead.size()) {
      if (ahead[k] == '"') inside = !inside;
      if (ahead[k] == '\n' || (ahead[k] != '"' && !inside)) return k;
      ++k;
    } else if (!text_.more()) {
      if (text_.at_end()) return k;
      throw file_.error(line_, "a field is longer than " + std::to_string(Text::kBlock) +
                                   " characters; expected a number");
    }
  }
}

// Refuses the first row as soon as it has more fields than the file has room for in the rows that
// the caller wants: a field takes two bytes with its separator. A small file is read to its end
// first, so that its shape can be told.
void check_room(const InputFile& file, std::size_t line, std::size_t width) {
  const WantedShape& wanted = file.wanted();
  const std::size_t rows = wanted.square ? width : std::max<std::size_t>(wanted.rows, 1);
  if (file.size() <= Text::kBlock || width <= (file.size() + 1) / 2 / rows) return;
  throw file.error(line, "the row has " + std::to_string(width) +
                             " fields or more, and the file has no room for " +
                             std::to_string(rows) + " such rows; expected " +
                             (wanted.square ? "a square matrix" : "as many rows as A has"));
}

// What must be known before the matrix is allocated.
struct Table {
  char separator = kRunOfBlanks;
  bool names = false;  // whether the first row has only names
  std::size_t rows = 0;
  std::size_t cols = 0;
};

// Goes through the rows and checks that they are of one length.
Table measure(const InputFile& file) {
  Table table;
  table.separator = separator_of(file);
  Fields fields(file, table.separator);
  std::size_t first_line = 0;
  while (fields.next_row()) {
    bool names = first_line == 0;
    std::size_t width = 0;
    for (; fields.next(); ++width) {
      names = names && is_name(fields.field());
      if (first_line == 0 && std::has_single_bit(width)) check_room(file, fields.line(), width);
    }
    if (first_line == 0) {
      first_line = fields.line();
      table.cols = width;
      table.names = names;
    }
    if (width != table.cols) {
      throw file.error(fields.line(), "the row is " + std::to_string(width) + " long; expected " +
                                          std::to_string(table.cols) + " as in line " +
                                          std::to_string(first_line));
    }
    if (names) continue;
    ++table.rows;
    check_first_rows(file, fields.line(), table.rows, table.cols);
  }
  if (table.rows == 0) {
    throw file.error(fields.line(), "no row of numbers; expected at least one");
  }
  check_shape(file, 0, table.rows, table.cols);
  check_available(file, 0, table.rows, table.cols);
  return table;
}

double value_of(const InputFile& file, const Fields& fields, std::size_t j) {
  if (fields.field().empty()) {
    throw file.error(fields.line(),
                     "field " + std::to_string(j + 1) + " of the row is empty; expected a number");
  }
  return finite_number(file, fields.line(), fields.field());
}

void write_separated(const Matrix& matrix, char separator, std::FILE* out) {
  std::string text;
  for (std::size_t i = 0; i < matrix.rows(); ++i) {
    for (std::size_t j = 0; j < matrix.cols(); ++j) {
      if (j > 0) text += separator;
      append_number(text, matrix(i, j));
    }
    text += '\n';
    std::fwrite(text.data(), 1, text.size(), out);
    text.clear();
  }
}

}  // namespace

Matrix read_csv(const InputFile& file) {
  const Table table = measure(file);
  Matrix a(table.rows, table.cols);
  Fields fields(file, table.separator);
  const auto require = [&file](bool as_measured) {
    if (!as_measured) throw file.error(0, "the file changed while it was read; try again");
  };
  if (table.names) {
    require(fields.next_row());
    while (fields.next()) {
    }
  }
  for (std::size_t i = 0; i < a.rows(); ++i) {
    require(fields.next_row());
    for (std::size_t j = 0; j < a.cols(); ++j) {
      require(fields.next());
      a(i, j) = value_of(file, fields, j);
    }
    require(!fields.next());
  }
  return a;
}

bool is_csv(std::string_view beginning) {
  const std::string_view line = beginning.substr(0, beginning.find('\n'));
  const bool cut = line.size() == beginning.size();  // perhaps in the middle of a number
  std::size_t count = 0;
  for (std::size_t begin = 0; begin <= line.size(); ++count) {
    const std::size_t end = std::min(line.find_first_of(",;\t", begin), line.size());
    const bool last = end == line.size();
    if (!(cut && last) && !parse_number(trimmed(line.substr(begin, end - begin), " \r"))) {
      return false;
    }
    begin = end + 1;
  }
  return count > 1;
}

void write_csv(const Matrix& matrix, std::FILE* out) {
  write_separated(matrix, ',', out);
}

void write_tsv(const Matrix& matrix, std::FILE* out) {
  write_separated(matrix, '\t', out);
}

void write_txt(const Matrix& matrix, std::FILE* out) {
  write_separated(matrix, ' ', out);
}

}  // namespace lugpu

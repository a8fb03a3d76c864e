#include "formats/matrix_market.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "formats/number_text.hpp"

namespace lugpu {
namespace {

constexpr std::string_view kBlanks = " \t";
constexpr std::string_view kBanner = "%%matrixmarket";  // in lower case

enum class Layout { array, coordinate };
enum class Field { real, integer, pattern };
enum class Symmetry { general, symmetric, skew };

// Splits a line at its blanks. Returns how many fields it has; fills in as many as there is room.
std::size_t split(std::string_view line, std::span<std::string_view> fields) {
  std::size_t count = 0;
  std::size_t begin = line.find_first_not_of(kBlanks);
  while (begin != std::string_view::npos) {
    const std::size_t end = std::min(line.find_first_of(kBlanks, begin), line.size());
    if (count < fields.size()) fields[count] = line.substr(begin, end - begin);
    ++count;
    begin = line.find_first_not_of(kBlanks, end);
  }
  return count;
}

std::string lower(std::string_view word) {
  std::string text(word);
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

class MarketReader {
 public:
  explicit MarketReader(const InputFile& file) : file_(file), lines_(file) {}

  Matrix read() {
    read_banner();
    return read_dense();
  }

  std::variant<Matrix, Sparse> read_as_stored() {
    read_banner();
    if (layout_ == Layout::array) return read_dense();
    return read_sparse();
  }

 private:
  void read_banner();
  Matrix read_dense();
  Sparse read_sparse();
  Layout layout_of(std::string_view word) const;
  Field field_of(std::string_view word) const;
  Symmetry symmetry_of(std::string_view word) const;
  // `check`: check_shape for a dense matrix, check_dimensions for a sparse one.
  void read_size(decltype(check_shape) check);
  std::size_t size_of(std::string_view token, const char* what) const;
  std::size_t stored_values() const;
  void require_room() const;
  void require_entries(bool stays_sparse) const;
  void read_array(Matrix& a);
  // Calls add(i, j, value) for every entry and for its mirror image.
  template <typename Add>
  void read_coordinate(const Add& add);
  void require_lower(std::size_t i, std::size_t j, double value) const;
  void require_end();
  std::size_t index_of(std::string_view token, std::size_t limit, const char* what) const;
  double value_of(std::string_view token) const;

  // What the size line counts.
  const char* noun() const { return layout_ == Layout::array ? "values" : "entries"; }
  std::size_t rows_of_entry() const;

  // Goes to the next line that is neither blank nor a comment.
  bool next_content();
  // Goes to the line of value or entry k, counted from 0.
  void next_item(std::size_t k);

  [[noreturn]] void fail(const std::string& sentence) const {
    throw file_.error(lines_.number(), sentence);
  }

  const InputFile& file_;
  Lines lines_;
  Layout layout_ = Layout::array;
  Field field_ = Field::real;
  Symmetry symmetry_ = Symmetry::general;
  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
  std::size_t count_ = 0;  // values or entries that follow
};

void MarketReader::read_banner() {
  lines_.next();
  std::array<std::string_view, 5> words;
  const std::size_t count = split(lines_.line(), words);
  if (lower(words[0]) != kBanner) {
    fail("no Matrix Market banner (" + shown(lines_.line()) +
         "); expected '%%MatrixMarket matrix ...' on the first line");
  }
  if (count != words.size()) {
    fail("the banner " + shown(lines_.line()) + " has " + std::to_string(count) +
         " words; expected 5, such as '%%MatrixMarket matrix array real general'");
  }
  if (lower(words[1]) != "matrix") {
    fail("the object is " + shown(words[1]) + "; expected 'matrix'");
  }
  layout_ = layout_of(lower(words[2]));
  field_ = field_of(lower(words[3]));
  symmetry_ = symmetry_of(lower(words[4]));
}

Layout MarketReader::layout_of(std::string_view word) const {
  if (word == "array") return Layout::array;
  if (word == "coordinate") return Layout::coordinate;
  fail("the format is " + shown(word) + "; expected 'array' or 'coordinate'");
}

Field MarketReader::field_of(std::string_view word) const {
  if (word == "real") return Field::real;
  if (word == "integer") return Field::integer;
  if (word == "complex") fail("complex values are not supported; expected 'real' or 'integer'");
  if (word != "pattern") {
    fail("the values are " + shown(word) + "; expected 'real', 'integer' or 'pattern'");
  }
  if (layout_ == Layout::array) fail("an array has no 'pattern'; expected 'real' or 'integer'");
  return Field::pattern;
}

Symmetry MarketReader::symmetry_of(std::string_view word) const {
  if (word == "general") return Symmetry::general;
  if (word == "symmetric") return Symmetry::symmetric;
  if (word != "skew-symmetric" && word != "hermitian") {
    fail("the symmetry is " + shown(word) +
         "; expected 'general', 'symmetric' or 'skew-symmetric'");
  }
  if (field_ == Field::pattern) {
    fail("a pattern cannot be " + shown(word) + "; expected 'general' or 'symmetric'");
  }
  return word == "hermitian" ? Symmetry::symmetric : Symmetry::skew;
}

void MarketReader::read_size(decltype(check_shape) check) {
  const std::size_t width = layout_ == Layout::array ? 2 : 3;
  const char* const expected =
      layout_ == Layout::array ? "rows and columns" : "rows, columns and number of entries";
  if (!next_content())
    fail(std::string("the file ends before its size line; expected ") + expected);
  std::array<std::string_view, 3> fields;
  if (split(lines_.line(), fields) != width) {
    fail("the size line is " + shown(lines_.line()) + "; expected " + expected);
  }
  rows_ = size_of(fields[0], "rows");
  cols_ = size_of(fields[1], "columns");
  check(file_, lines_.number(), rows_, cols_);
  if (symmetry_ != Symmetry::general && rows_ != cols_) {
    fail("a symmetric matrix cannot be " + std::to_string(rows_) + " x " + std::to_string(cols_) +
         "; expected as many rows as columns");
  }
  count_ = layout_ == Layout::array ? stored_values() : size_of(fields[2], "entries");
}

std::size_t MarketReader::size_of(std::string_view token, const char* what) const {
  const std::optional<std::int64_t> size = parse_whole(token);
  if (!size || *size < 0) {
    fail(std::string("the number of ") + what + " is " + shown(token) +
         "; expected a whole number from 0 to 9223372036854775807");
  }
  return static_cast<std::size_t>(*size);
}

// How many values an array file lists: all, or the lower triangle with or without its diagonal.
std::size_t MarketReader::stored_values() const {
  switch (symmetry_) {
    case Symmetry::symmetric:
      return rows_ * (rows_ + 1) / 2;
    case Symmetry::skew:
      return rows_ * (rows_ - 1) / 2;
    default:
      return rows_ * cols_;
  }
}

// Refuses a size line that the rest of the file cannot bear out, before the matrix is allocated.
void MarketReader::require_room() const {
  std::size_t shortest = 2;                                                        // "1\n"
  if (layout_ == Layout::coordinate) shortest = field_ == Field::pattern ? 4 : 6;  // "1 1 1\n"
  if (count_ <= (lines_.bytes_left() + 1) / shortest) return;
  fail(std::to_string(count_) + " " + noun() + " do not fit in the " +
       std::to_string(lines_.bytes_left()) +
       " bytes that follow; expected the whole file (truncated?) or a smaller size");
}

// How many rows of the full matrix an entry may be in.
std::size_t MarketReader::rows_of_entry() const {
  return symmetry_ == Symmetry::general ? 1 : 2;
}

void MarketReader::require_entries(bool stays_sparse) const {
  check_entries(file_, lines_.number(), rows_, cols_, count_, symmetry_ != Symmetry::general,
                stays_sparse);
}

Matrix MarketReader::read_dense() {
  read_size(check_shape);
  require_room();
  if (layout_ == Layout::coordinate) require_entries(false);
  check_available(file_, lines_.number(), rows_, cols_);
  Matrix a(rows_, cols_);
  if (layout_ == Layout::array) {
    read_array(a);
  } else {
    read_coordinate([&](std::size_t i, std::size_t j, double value) { a(i, j) += value; });
  }
  require_end();
  return a;
}

Sparse MarketReader::read_sparse() {
  read_size(check_dimensions);
  require_room();
  require_entries(true);
  const std::size_t most = count_ * rows_of_entry();
  check_sparse(file_, lines_.number(), rows_, cols_, most);
  std::vector<Triplet> triplets;
  triplets.reserve(most);
  read_coordinate([&](std::size_t i, std::size_t j, double value) {
    triplets.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j), value});
  });
  require_end();
  return {rows_, cols_, std::move(triplets)};
}

void MarketReader::require_end() {
  if (!next_content()) return;
  fail(std::string("more ") + noun() + " than the size line says, " + std::to_string(count_) +
       " (" + shown(lines_.line()) + " follows); expected the end of the file");
}

void MarketReader::read_array(Matrix& a) {
  std::array<std::string_view, 1> fields;
  std::size_t k = 0;
  for (std::size_t j = 0; j < cols_; ++j) {
    const std::size_t first = symmetry_ == Symmetry::general     ? 0
                              : symmetry_ == Symmetry::symmetric ? j
                                                                 : j + 1;
    for (std::size_t i = first; i < rows_; ++i, ++k) {
      next_item(k);
      if (split(lines_.line(), fields) != 1) {
        fail("more than one field (" + shown(lines_.line()) + "); expected one value a line");
      }
      const double value = value_of(fields[0]);
      a(i, j) = value;
      if (symmetry_ == Symmetry::symmetric) a(j, i) = value;
      if (symmetry_ == Symmetry::skew) a(j, i) = 0.0 - value;  // keeps a zero positive
    }
  }
}

template <typename Add>
void MarketReader::read_coordinate(const Add& add) {
  const std::size_t width = field_ == Field::pattern ? 2 : 3;
  std::array<std::string_view, 3> fields;
  for (std::size_t k = 0; k < count_; ++k) {
    next_item(k);
    if (split(lines_.line(), fields) != width) {
      fail("the entry is " + shown(lines_.line()) + "; expected " +
           (width == 2 ? "row and column" : "row, column and value"));
    }
    const std::size_t i = index_of(fields[0], rows_, "row");
    const std::size_t j = index_of(fields[1], cols_, "column");
    const double value = field_ == Field::pattern ? 1.0 : value_of(fields[2]);
    require_lower(i, j, value);
    add(i, j, value);
    if (i == j) continue;
    if (symmetry_ == Symmetry::symmetric) add(j, i, value);
    if (symmetry_ == Symmetry::skew) add(j, i, 0.0 - value);  // keeps a zero positive
  }
}

// Refuses an entry that a file of this symmetry cannot hold.
void MarketReader::require_lower(std::size_t i, std::size_t j, double value) const {
  if (symmetry_ != Symmetry::general && i < j) {
    fail("the entry (" + std::to_string(i + 1) + ", " + std::to_string(j + 1) +
         ") is above the diagonal; expected only the lower triangle of a symmetric matrix");
  }
  if (symmetry_ == Symmetry::skew && i == j && value != 0.0) {
    fail("the diagonal entry (" + std::to_string(i + 1) + ", " + std::to_string(i + 1) +
         ") is not zero; expected none in a skew-symmetric matrix");
  }
}

std::size_t MarketReader::index_of(std::string_view token, std::size_t limit,
                                   const char* what) const {
  const std::optional<std::int64_t> index = parse_whole(token);
  if (!index || *index < 1 || static_cast<std::size_t>(*index) > limit) {
    fail(std::string("the ") + what + " index is " + shown(token) +
         "; expected a whole number from 1 to " + std::to_string(limit) +
         " (Matrix Market counts from 1)");
  }
  return static_cast<std::size_t>(*index) - 1;
}

double MarketReader::value_of(std::string_view token) const {
  const double value = finite_number(file_, lines_.number(), token);
  if (field_ == Field::integer && value != std::trunc(value)) {
    fail("the value " + shown(token) + " is not whole; expected whole numbers in an integer file");
  }
  return value;
}

bool MarketReader::next_content() {
  while (lines_.next()) {
    const std::size_t first = lines_.line().find_first_not_of(kBlanks);
    if (first != std::string_view::npos && lines_.line()[first] != '%') return true;
  }
  return false;
}

void MarketReader::next_item(std::size_t k) {
  if (next_content()) return;
  fail("the file ends after " + std::to_string(k) + " of " + std::to_string(count_) + " " + noun() +
       "; expected as many as the size line says");
}

}  // namespace

Matrix read_matrix_market(const InputFile& file) {
  return MarketReader(file).read();
}

std::variant<Matrix, Sparse> read_matrix_market_as_stored(const InputFile& file) {
  return MarketReader(file).read_as_stored();
}

bool is_matrix_market(std::string_view beginning) {
  if (beginning.starts_with(kByteOrderMark)) beginning.remove_prefix(kByteOrderMark.size());
  return lower(beginning.substr(0, kBanner.size())) == kBanner;
}

void write_matrix_market(const Matrix& matrix, std::FILE* out) {
  std::string text = "%%MatrixMarket matrix array real general\n" + std::to_string(matrix.rows()) +
                     " " + std::to_string(matrix.cols()) + "\n";
  for (std::size_t j = 0; j < matrix.cols(); ++j) {
    for (std::size_t i = 0; i < matrix.rows(); ++i) {
      append_number(text, matrix(i, j));
      text += '\n';
    }
    std::fwrite(text.data(), 1, text.size(), out);
    text.clear();
  }
  std::fwrite(text.data(), 1, text.size(), out);
}

}  // namespace lugpu

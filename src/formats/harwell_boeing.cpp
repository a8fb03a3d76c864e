#include "formats/harwell_boeing.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/number_text.hpp"

namespace lugpu {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

// What stands before the first blank; it is taken from the text.
std::string_view take_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(" \t"));
  text.remove_prefix(word.size());
  return word;
}

std::size_t words_in(std::string_view text) {
  std::size_t count = 0;
  while (!take_word(text).empty()) ++count;
  return count;
}

// A format of Fortran for the numbers of a line, such as (1P,4E20.12).
struct NumberFormat {
  std::int64_t scale = 0;     // 1P: numbers without an exponent are 10^1 times their value
  std::size_t per_line = 1;   // 4
  std::size_t width = 0;      // 20 characters each
  std::int64_t decimals = 0;  // 12, of numbers without a decimal point
};

// Its parts, each of which may be absent: nothing if it is none that one descriptor makes.
std::optional<NumberFormat> parse_format(std::string_view text) {
  const auto take = [&text](char letter) {
    if (text.empty() || std::toupper(static_cast<unsigned char>(text[0])) != letter) return false;
    text.remove_prefix(1);
    return true;
  };
  const auto take_number = [&text]() -> std::optional<std::int64_t> {
    const std::size_t begin = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
    const std::size_t end = std::min(text.find_first_not_of("0123456789", begin), text.size());
    const std::optional<std::int64_t> number = parse_whole(text.substr(0, end));
    if (number) text.remove_prefix(end);
    return number;
  };
  constexpr std::int64_t kMost = 1000;  // of anything
  NumberFormat format;
  std::optional<std::int64_t> count = take_number();
  if (count && take('P')) {
    format.scale = *count;
    take(',');
    count = take_number();
  }
  if (!take('I') && !take('E') && !take('D') && !take('F') && !take('G')) return std::nullopt;
  const std::optional<std::int64_t> width = take_number();
  if (take('.')) {
    const std::optional<std::int64_t> decimals = take_number();
    if (!decimals) return std::nullopt;
    format.decimals = *decimals;
    if (take('E') && !take_number()) return std::nullopt;
  }
  const bool sane = text.empty() && width && *width >= 1 && *width <= kMost &&
                    count.value_or(1) >= 1 && count.value_or(1) <= kMost &&
                    std::abs(format.scale) <= kMost && format.decimals >= 0 &&
                    format.decimals <= kMost;
  if (!sane) return std::nullopt;
  format.per_line = static_cast<std::size_t>(count.value_or(1));
  format.width = static_cast<std::size_t>(*width);
  return format;
}

// The number as it is written elsewhere: with an E before its exponent, which takes up the decimal
// places that have no point and the scale factor.
std::string with_exponent(std::string_view field, const NumberFormat& format) {
  constexpr std::string_view kDigits = "0123456789.";
  const std::size_t sign = field.starts_with('+') || field.starts_with('-') ? 1 : 0;
  const std::size_t end = std::min(field.find_first_not_of(kDigits, sign), field.size());
  const std::string_view mantissa = field.substr(0, end);
  std::string_view exponent = field.substr(end);
  const bool point = mantissa.find('.') != std::string_view::npos;
  const std::int64_t places = (point ? 0 : format.decimals) + (exponent.empty() ? format.scale : 0);
  if (!exponent.empty() && std::string_view("eEdD").find(exponent[0]) != std::string_view::npos) {
    exponent.remove_prefix(1);  // 1.5-101 has none
  }
  const std::optional<std::int64_t> power = exponent.empty() ? 0 : parse_whole(exponent);
  // Not a number, or one with a point and an exponent; or an exponent that makes it 0 or infinite.
  if (!power || std::abs(*power) > 1'000'000 || (exponent.empty() && end != field.size())) {
    return std::string(field);
  }
  return std::string(mantissa) + "e" + std::to_string(*power - places);
}

enum class Symmetry { general, symmetric, skew };

class BoeingReader {
 public:
  explicit BoeingReader(const InputFile& file) : file_(file), lines_(file) {}

  Sparse read();

 private:
  void read_header();
  void read_counts(std::string_view line);
  void read_type(std::string_view type);
  void read_formats();
  NumberFormat take_format(std::string_view& text, const char* what);
  std::size_t take_count(std::string_view& text, const char* what);
  void require_room();
  std::vector<std::size_t> read_pointers();
  std::vector<Triplet> read_entries(const std::vector<std::size_t>& pointers);
  void mirror(std::vector<Triplet>& triplets) const;
  void require_end();

  // Calls use(k, field) for each of `count` numbers.
  template <typename Use>
  void read_fields(const char* what, const NumberFormat& format, std::size_t count, const Use& use);
  std::size_t index_of(std::string_view field, std::size_t most, const char* what) const;

  void next_line(const char* what) {
    if (!lines_.next()) fail(std::string("the file ends before ") + what + "; expected all of it");
  }
  [[noreturn]] void fail(const std::string& sentence) const {
    throw file_.error(lines_.number(), sentence);
  }

  const InputFile& file_;
  Lines lines_;
  bool has_rhs_ = false;
  bool pattern_ = false;
  Symmetry symmetry_ = Symmetry::general;
  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
  std::size_t entries_ = 0;
  NumberFormat pointer_format_, index_format_, value_format_;
};

std::size_t BoeingReader::take_count(std::string_view& text, const char* what) {
  const std::string_view word = take_word(text);
  const std::optional<std::int64_t> count = parse_whole(word);
  if (count && *count >= 0) return static_cast<std::size_t>(*count);
  fail(std::string("the number of ") + what + " is " + shown(word) +
       "; expected a whole number, as in a Harwell-Boeing file");
}

void BoeingReader::read_header() {
  next_line("its title");
  next_line("the counts of its lines");
  std::string_view counts = lines_.line();
  for (const char* what : {"lines", "lines of pointers", "lines of indices", "lines of values"}) {
    take_count(counts, what);
  }
  // Rutherford-Boeing has no right-hand sides here.
  if (!trimmed(counts).empty()) has_rhs_ = take_count(counts, "lines of right-hand sides") > 0;
  next_line("its type");
  read_counts(lines_.line());
  read_formats();
  if (has_rhs_) next_line("the type of its right-hand sides");
}

// Type, rows, columns, entries; what follows counts the elements of elemental matrices.
void BoeingReader::read_counts(std::string_view line) {
  read_type(take_word(line));
  rows_ = take_count(line, "rows");
  cols_ = take_count(line, "columns");
  entries_ = take_count(line, "entries");
  check_dimensions(file_, lines_.number(), rows_, cols_);
  if (symmetry_ != Symmetry::general && rows_ != cols_) {
    fail("a symmetric matrix cannot be " + std::to_string(rows_) + " x " + std::to_string(cols_) +
         "; expected as many rows as columns");
  }
  require_room();
}

void BoeingReader::read_type(std::string_view type) {
  std::string upper(type);
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  if (upper.size() != 3) {
    fail("the type is " + shown(type) + "; expected three letters such as RUA");
  }
  if (upper[0] == 'C') fail("complex values (" + shown(type) + ") are not supported; expected RUA");
  if (std::string_view("RIP").find(upper[0]) == std::string_view::npos) {
    fail("the type is " + shown(type) + "; expected R, I or P first: real, integer or pattern");
  }
  if (std::string_view("USHZR").find(upper[1]) == std::string_view::npos) {
    fail("the type is " + shown(type) + "; expected U, R, S, H or Z second, for the symmetry");
  }
  if (upper[2] != 'A') {
    fail("the type is " + shown(type) + "; expected A last: only assembled matrices are supported");
  }
  pattern_ = upper[0] == 'P';
  symmetry_ = upper[1] == 'Z'                      ? Symmetry::skew
              : upper[1] == 'S' || upper[1] == 'H' ? Symmetry::symmetric
                                                   : Symmetry::general;
  if (pattern_ && symmetry_ == Symmetry::skew) {
    fail("a pattern cannot be skew-symmetric (" + shown(type) + "); expected PUA or PSA");
  }
}

// Every pointer and index takes a character, or more than one with its value.
void BoeingReader::require_room() {
  const std::size_t left = lines_.bytes_left();
  if (cols_ < left && entries_ <= left / (pattern_ ? 1 : 2)) return;
  fail(std::to_string(cols_) + " columns and " + std::to_string(entries_) +
       " entries do not fit in the " + std::to_string(left) +
       " bytes that follow; expected the whole file (truncated?)");
}

void BoeingReader::read_formats() {
  next_line("its formats");
  std::string_view text = lines_.line();
  pointer_format_ = take_format(text, "pointers");
  index_format_ = take_format(text, "indices");
  if (!pattern_) value_format_ = take_format(text, "values");
}

NumberFormat BoeingReader::take_format(std::string_view& text, const char* what) {
  const std::size_t begin = std::min(text.find('('), text.size());
  const std::size_t end = text.find(')', begin);
  const bool next = begin < text.size() && end != std::string_view::npos &&
                    trimmed(text.substr(0, begin)).empty();
  std::string inside(next ? text.substr(begin + 1, end - begin - 1) : "");
  inside.erase(std::remove(inside.begin(), inside.end(), ' '), inside.end());
  const std::optional<NumberFormat> format = parse_format(inside);
  if (!format) {
    fail(std::string("the format of the ") + what + " is " + shown(trimmed(text)) +
         "; expected one such as (16I5) or (1P,4E20.12)");
  }
  text.remove_prefix(end + 1);
  return *format;
}

template <typename Use>
void BoeingReader::read_fields(const char* what, const NumberFormat& format, std::size_t count,
                               const Use& use) {
  for (std::size_t k = 0; k < count;) {
    if (!lines_.next()) {
      fail("the file ends after " + std::to_string(k) + " of " + std::to_string(count) + " " +
           what + "; expected all of them");
    }
    std::string_view line = lines_.line();
    const std::size_t end = std::min(count, k + format.per_line);
    // Some programs write other widths than they say; where blanks part the numbers, none is
    // needed.
    const bool parted = words_in(line) == end - k;
    for (; k < end; ++k) {
      const std::string_view field =
          parted ? take_word(line) : trimmed(line.substr(0, format.width));
      if (field.empty()) {
        fail("the line has fewer numbers than its format says, " + std::to_string(format.per_line) +
             "; expected one every " + std::to_string(format.width) + " characters");
      }
      use(k, field);
      if (!parted) line.remove_prefix(std::min(format.width, line.size()));
    }
    if (!trimmed(line).empty()) {
      fail("the line goes on with " + shown(trimmed(line)) + "; expected " +
           std::to_string(end - (end - 1) / format.per_line * format.per_line) + " " + what +
           " of " + std::to_string(format.width) + " characters");
    }
  }
}

std::size_t BoeingReader::index_of(std::string_view field, std::size_t most,
                                   const char* what) const {
  const std::optional<std::int64_t> index = parse_whole(field);
  if (index && *index >= 1 && static_cast<std::size_t>(*index) <= most) {
    return static_cast<std::size_t>(*index) - 1;
  }
  fail(std::string("the ") + what + " is " + shown(field) + "; expected a whole number from 1 to " +
       std::to_string(most));
}

// Where the columns begin, counted from 0, and where the last one ends.
std::vector<std::size_t> BoeingReader::read_pointers() {
  std::vector<std::size_t> pointers(cols_ + 1);
  read_fields("pointers", pointer_format_, cols_ + 1, [&](std::size_t k, std::string_view field) {
    pointers[k] = index_of(field, entries_ + 1, "pointer");
    const bool ascends = k == 0 ? pointers[k] == 0 : pointers[k] >= pointers[k - 1];
    if (!ascends)
      fail("the pointer " + shown(field) + " goes back; expected them to ascend from 1");
  });
  if (pointers.back() == entries_) return pointers;
  fail("the last pointer is " + std::to_string(pointers.back() + 1) + "; expected " +
       std::to_string(entries_ + 1) + ", one more than the entries");
}

std::vector<Triplet> BoeingReader::read_entries(const std::vector<std::size_t>& pointers) {
  std::vector<Triplet> triplets;
  triplets.reserve(symmetry_ == Symmetry::general ? entries_ : 2 * entries_);
  std::size_t j = 0;
  read_fields("indices", index_format_, entries_, [&](std::size_t k, std::string_view field) {
    while (pointers[j + 1] <= k) ++j;
    const std::size_t i = index_of(field, rows_, "row index");
    if (symmetry_ != Symmetry::general && i < j) {
      fail("the entry (" + std::to_string(i + 1) + ", " + std::to_string(j + 1) +
           ") is above the diagonal; expected only the lower triangle of a symmetric matrix");
    }
    triplets.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j), 1.0});
  });
  if (pattern_) return triplets;
  read_fields("values", value_format_, entries_, [&](std::size_t k, std::string_view field) {
    Triplet& entry = triplets[k];
    entry.value = finite_number(file_, lines_.number(), with_exponent(field, value_format_));
    if (symmetry_ == Symmetry::skew && entry.row == entry.column && entry.value != 0.0) {
      fail("a value on the diagonal of a skew-symmetric matrix is " + shown(field) +
           "; expected zero");
    }
  });
  return triplets;
}

void BoeingReader::mirror(std::vector<Triplet>& triplets) const {
  if (symmetry_ == Symmetry::general) return;
  for (std::size_t k = 0; k < entries_; ++k) {
    const auto [i, j, value] = triplets[k];
    if (i == j) continue;
    // 0 - value keeps a zero positive.
    triplets.push_back({j, i, symmetry_ == Symmetry::skew ? 0.0 - value : value});
  }
}

void BoeingReader::require_end() {
  if (has_rhs_) return;
  while (lines_.next()) {
    if (trimmed(lines_.line()).empty()) continue;
    fail("more lines than the matrix has (" + shown(lines_.line()) +
         " follows); expected the end of the file");
  }
}

Sparse BoeingReader::read() {
  read_header();
  const bool mirrored = symmetry_ != Symmetry::general;
  check_entries(file_, lines_.number(), rows_, cols_, entries_, mirrored, true);
  check_sparse(file_, lines_.number(), rows_, cols_, mirrored ? 2 * entries_ : entries_);
  std::vector<Triplet> triplets = read_entries(read_pointers());
  mirror(triplets);
  require_end();
  return {rows_, cols_, std::move(triplets)};
}

}  // namespace

Sparse read_harwell_boeing(const InputFile& file) {
  return BoeingReader(file).read();
}

}  // namespace lugpu

#include "formats/npy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/number_text.hpp"
#include "formats/raw_number.hpp"

namespace lugpu {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kLongestHeader = std::size_t{1} << 16;  // bytes; NumPy writes about a hundred
constexpr bool kLittleEndian = std::endian::native == std::endian::little;

// What the header says, a Python dict with exactly these keys, in any order.
struct Header {
  std::optional<std::string> descr;  // the type, e.g. "<f8"
  std::optional<bool> fortran_order;
  std::optional<std::vector<std::size_t>> shape;
};

class HeaderParser {
 public:
  HeaderParser(const InputFile& file, std::string_view text) : file_(file), rest_(text) {}

  Header parse() {
    expect('{');
    while (!accept('}')) {
      parse_item();
      if (!accept(',') && !rest_.starts_with('}')) fail("',' or '}'");
    }
    skip_blanks();
    if (!rest_.empty()) fail("its end");
    if (!header_.descr || !header_.fortran_order || !header_.shape) {
      fail("all of the keys 'descr', 'fortran_order' and 'shape'");
    }
    return header_;
  }

 private:
  void parse_item();
  std::string parse_string();
  std::string parse_descr();
  bool parse_bool();
  std::vector<std::size_t> parse_shape();

  void skip_blanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
  }
  // Takes `word` if it comes next, after blanks.
  bool accept(std::string_view word) {
    skip_blanks();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  bool accept(char c) { return accept(std::string_view(&c, 1)); }
  void expect(char c) {
    if (!accept(c)) fail(shown(std::string_view(&c, 1)));
  }
  [[noreturn]] void fail(const std::string& expected) const {
    throw file_.error(0, "the header is malformed at " + shown(rest_) + "; expected " + expected);
  }

  const InputFile& file_;
  std::string_view rest_;
  Header header_;
};

void HeaderParser::parse_item() {
  const std::string key = parse_string();
  expect(':');
  if (key == "descr" && !header_.descr) {
    header_.descr = parse_descr();
  } else if (key == "fortran_order" && !header_.fortran_order) {
    header_.fortran_order = parse_bool();
  } else if (key == "shape" && !header_.shape) {
    header_.shape = parse_shape();
  } else {
    fail("a key other than " + shown(key));
  }
}

std::string HeaderParser::parse_string() {
  skip_blanks();
  const char quote = rest_.empty() ? ' ' : rest_.front();
  if (quote != '\'' && quote != '"') fail("a string");
  const std::size_t end = rest_.find(quote, 1);
  if (end == std::string_view::npos) fail("the end of the string");
  std::string text(rest_.substr(1, end - 1));
  rest_.remove_prefix(end + 1);
  return text;
}

std::string HeaderParser::parse_descr() {
  if (accept('[') || accept('(')) {
    throw file_.error(0, "structured arrays are not supported; expected plain real numbers");
  }
  return parse_string();
}

bool HeaderParser::parse_bool() {
  if (accept("True")) return true;
  if (accept("False")) return false;
  fail("True or False");
}

std::vector<std::size_t> HeaderParser::parse_shape() {
  std::vector<std::size_t> shape;
  expect('(');
  bool comma = true;
  while (!accept(')')) {
    if (!comma) fail("',' or ')'");
    skip_blanks();
    const std::size_t end = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    const std::optional<std::int64_t> length = parse_whole(rest_.substr(0, end));
    if (!length) fail("a length that is a whole number");
    shape.push_back(static_cast<std::size_t>(*length));
    rest_.remove_prefix(end);
    accept('L');  // Python 2's long integers
    comma = accept(',');
  }
  if (shape.size() == 1 && !comma) fail("a tuple; (5) is a number in Python, (5,) a tuple");
  return shape;
}

// IEEE 754 binary16: 1 sign bit, 5 bits of exponent with bias 15, 10 bits of fraction.
struct Half {
  std::uint16_t bits;
  explicit operator double() const {
    const int exponent = bits >> 10 & 0x1F;
    const auto fraction = static_cast<double>(bits & 0x3FF);
    double magnitude = 0.0;
    if (exponent == 0x1F) {
      magnitude = fraction == 0.0 ? HUGE_VAL : std::nan("");
    } else if (exponent == 0) {
      magnitude = std::ldexp(fraction, -24);
    } else {
      magnitude = std::ldexp(1024.0 + fraction, exponent - 25);
    }
    return (bits & 0x8000) != 0 ? -magnitude : magnitude;
  }
};

// One byte: 0 is false, all others are true.
struct Bool {
  char byte;
  explicit operator double() const { return byte != 0 ? 1.0 : 0.0; }
};

// `count` elements of a type, the results `step` apart.
template <typename T>
void load_run(const char* bytes, std::size_t count, bool swap, double* to, std::size_t step) {
  for (std::size_t j = 0; j < count; ++j) {
    to[j * step] = static_cast<double>(load<T>(bytes + j * sizeof(T), swap));
  }
}

// A type of the elements by its NumPy code, the kind and the number of bytes.
struct ElementType {
  std::string_view code;
  void (*load_run)(const char* bytes, std::size_t count, bool swap, double* to, std::size_t step);
  std::size_t size() const { return static_cast<std::size_t>(code[1] - '0'); }
};

constexpr ElementType kTypes[] = {
    {"f8", load_run<double>},        {"f4", load_run<float>},
    {"f2", load_run<Half>},          {"i8", load_run<std::int64_t>},
    {"i4", load_run<std::int32_t>},  {"i2", load_run<std::int16_t>},
    {"i1", load_run<std::int8_t>},   {"u8", load_run<std::uint64_t>},
    {"u4", load_run<std::uint32_t>}, {"u2", load_run<std::uint16_t>},
    {"u1", load_run<std::uint8_t>},  {"b1", load_run<Bool>},
};

// How the data are stored: the type, and whether in the other byte order than this machine's.
struct Storage {
  const ElementType* type = nullptr;
  bool swap = false;
};

Storage storage_of(const InputFile& file, const std::string& descr) {
  const bool has_order = !descr.empty() && std::string_view("<>=|").find(descr[0]) < 4;
  const std::string_view code = std::string_view(descr).substr(has_order ? 1 : 0);
  for (const ElementType& type : kTypes) {
    if (code == type.code) {
      return {&type, has_order && descr[0] == (kLittleEndian ? '>' : '<')};
    }
  }
  std::string what = "elements of type " + shown(descr) + " are not supported";
  if (code.starts_with('c')) what = "complex values (" + shown(descr) + ") are not supported";
  if (code.starts_with('O')) what = "Python objects (" + shown(descr) + ") are not supported";
  throw file.error(0, what + "; expected real numbers such as '<f8'");
}

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t k = bytes.size(); k > 0; --k) {
    value = value << 8 | static_cast<unsigned char>(bytes[k - 1]);
  }
  return value;
}

// Where the data begin, and the text of the header before them.
struct Start {
  std::string header;
  std::size_t data = 0;
};

Start read_start(const InputFile& file) {
  std::array<char, 12> first;
  std::string_view rest(first.data(), file.read(0, first));
  if (!is_npy(rest)) {
    throw file.error(0, "not an .npy file (begins with " + shown(rest.substr(0, kMagic.size())) +
                            "); expected the magic string " + shown(kMagic));
  }
  rest.remove_prefix(kMagic.size());
  const std::uint64_t version = little_endian(rest.substr(0, 2));
  if (rest.size() >= 2 && (version < 1 || version > 3)) {
    throw file.error(0, ".npy version " + std::to_string(version & 0xFF) + "." +
                            std::to_string(version >> 8) +
                            " is not known; expected 1.0, 2.0 or 3.0");
  }
  const std::size_t width = version == 1 ? 2 : 4;
  const std::size_t begin = kMagic.size() + 2 + width;
  const std::string_view length_bytes = rest.substr(std::min<std::size_t>(2, rest.size()), width);
  const auto length = static_cast<std::size_t>(little_endian(length_bytes));
  if (length_bytes.size() < width || length > file.size() - begin) {
    throw file.error(0, "the file ends in its header; expected a whole .npy file (truncated?)");
  }
  if (length > kLongestHeader) {
    throw file.error(0, "the header has " + std::to_string(length) + " bytes; expected at most " +
                            std::to_string(kLongestHeader));
  }
  Start start{std::string(length, ' '), begin + length};
  file.read(begin, start.header);
  return start;
}

// Fills `a` from the data, which begin at byte `offset`: lines (rows, or columns in Fortran order),
// one after the other. A block of them is in memory at a time, several lines or a part of one.
void read_elements(const InputFile& file, std::size_t offset, const Storage& storage,
                   bool fortran_order, Matrix& a) {
  constexpr std::size_t kBlock = std::size_t{1} << 22;  // bytes
  const std::size_t lines = fortran_order ? a.cols() : a.rows();
  const std::size_t length = fortran_order ? a.rows() : a.cols();
  const std::size_t line_step = fortran_order ? a.rows() : 1;  // in a.values()
  const std::size_t step = fortran_order ? 1 : a.rows();
  const std::size_t size = storage.type->size();
  const std::size_t width = std::min(length, kBlock / size);
  const std::size_t height = std::min(lines, kBlock / size / width);
  std::vector<char> block(width * height * size);
  for (std::size_t line = 0; line < lines; line += height) {
    const std::size_t m = std::min(height, lines - line);
    for (std::size_t k = 0; k < length; k += width) {
      const std::size_t n = std::min(width, length - k);
      file.read(offset + (line * length + k) * size, std::span(block).first(m * n * size));
      // Lines that are rows are scattered over `run` columns at a time, a cache line of each.
      const std::size_t run = fortran_order ? n : 8;
      for (std::size_t j = 0; j < n; j += run) {
        double* const to = a.values().data() + line * line_step + (k + j) * step;
        for (std::size_t i = 0; i < m; ++i) {
          storage.type->load_run(&block[(i * n + j) * size], std::min(run, n - j), storage.swap,
                                 to + i * line_step, step);
        }
      }
    }
  }
}

// What a file holds, and from which byte on.
struct Contents {
  Storage storage;
  bool fortran_order;
  std::size_t rows, cols, data;
};

// Of a file whose header has been read. check: of the shape, before the amount of data.
Contents contents_of(const InputFile& file, const Start& start, const Header& header,
                     std::size_t rows, std::size_t cols, decltype(check_shape)* check) {
  const Storage storage = storage_of(file, *header.descr);
  check(file, 0, rows, cols);
  const std::size_t bytes = rows * cols * storage.type->size();
  if (file.size() - start.data != bytes) {
    throw file.error(0, std::to_string(file.size() - start.data) + " bytes of data; expected " +
                            std::to_string(bytes) + " for " + std::to_string(rows) + " x " +
                            std::to_string(cols) + " of " + shown(*header.descr));
  }
  return {storage, *header.fortran_order, rows, cols, start.data};
}

// Of a file that holds one matrix, or a vector.
Contents contents_of(const InputFile& file, decltype(check_shape)* check) {
  const Start start = read_start(file);
  const Header header = HeaderParser(file, start.header).parse();
  const std::vector<std::size_t>& shape = *header.shape;
  if (shape.empty() || shape.size() > 2) {
    throw file.error(0, "the array has " + std::to_string(shape.size()) +
                            " dimensions; expected 2, or 1 for a vector");
  }
  return contents_of(file, start, header, shape[0], shape.size() == 2 ? shape[1] : 1, check);
}

Matrix elements_of(const InputFile& file, const Contents& contents) {
  check_available(file, 0, contents.rows, contents.cols);
  Matrix a(contents.rows, contents.cols);
  read_elements(file, contents.data, contents.storage, contents.fortran_order, a);
  return a;
}

// The magic string, the version and the header, which ends so that the data begin at a multiple of
// 64 bytes.
void write_start(const std::string& order, const std::string& shape, std::FILE* out) {
  std::string header = std::string("{'descr': '") + (kLittleEndian ? '<' : '>') +
                       "f8', 'fortran_order': " + order + ", 'shape': (" + shape + "), }";
  const std::size_t before = kMagic.size() + 4;
  header.append(63 - (before + header.size()) % 64, ' ');
  header += '\n';
  std::string start(kMagic);
  start += {'\x01', '\x00', static_cast<char>(header.size() & 0xFF),
            static_cast<char>(header.size() >> 8)};
  start += header;
  std::fwrite(start.data(), 1, start.size(), out);
}

}  // namespace

Matrix read_npy(const InputFile& file) {
  return elements_of(file, contents_of(file, check_shape));
}

std::optional<MappedMatrix> map_npy(const InputFile& file) {
  const Contents contents = contents_of(file, check_dimensions);
  const auto& [type, swap] = contents.storage;
  const std::size_t size = type->size();
  if (swap || (type->code != "f4" && type->code != "f8") || contents.data % size != 0) {
    return std::nullopt;
  }
  return MappedMatrix(file, contents.data, contents.rows, contents.cols, size,
                      contents.fortran_order ? Order::columns : Order::rows);
}

std::size_t npy_dimensions(const InputFile& file) {
  return HeaderParser(file, read_start(file).header).parse().shape->size();
}

MatrixStack read_npy_stack(const InputFile& file) {
  const Start start = read_start(file);
  const Header header = HeaderParser(file, start.header).parse();
  const std::vector<std::size_t>& shape = *header.shape;
  if (shape.size() != 3) {
    throw file.error(0, "the array has " + std::to_string(shape.size()) +
                            " dimensions; expected 3, matrices one after the other");
  }
  if (*header.fortran_order) {
    throw file.error(0,
                     "the array is in Fortran order; expected C order, as "
                     "numpy.ascontiguousarray() makes it");
  }
  constexpr std::size_t kMost = std::size_t{1} << 31;
  if (shape[0] >= kMost || shape[1] >= kMost || shape[0] * shape[1] >= kMost) {
    throw file.error(0, "the array has " + std::to_string(shape[0]) + " matrices of " +
                            std::to_string(shape[1]) +
                            " rows; expected fewer than 2^31 rows in all");
  }
  const Contents contents =
      contents_of(file, start, header, shape[0] * shape[1], shape[2], check_shape);
  return {elements_of(file, contents), shape[0]};
}

bool is_npy(std::string_view beginning) {
  return beginning.starts_with(kMagic);
}

void write_npy(const Matrix& matrix, std::FILE* out) {
  write_start("True", std::to_string(matrix.rows()) + ", " + std::to_string(matrix.cols()), out);
  std::fwrite(matrix.values().data(), sizeof(double), matrix.values().size(), out);
}

void write_npy_stack(const std::vector<double>& values, std::size_t count, std::size_t rows,
                     std::size_t columns, std::FILE* out) {
  write_start("False",
              std::to_string(count) + ", " + std::to_string(rows) + ", " + std::to_string(columns),
              out);
  std::vector<double> member(rows * columns);
  for (std::size_t m = 0; m < count; ++m) {
    const double* from = values.data() + m * rows * columns;
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j) member[i * columns + j] = from[j * rows + i];
    }
    std::fwrite(member.data(), sizeof(double), member.size(), out);
  }
}

}  // namespace lugpu

#include "formats/input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include "base/host_memory.hpp"
#include "base/temporary_file.hpp"
#include "formats/number_text.hpp"

namespace lugpu {
namespace {

// Half of the physical memory in bytes; where the system does not tell, what can be addressed.
double half_of_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_size = sysconf(_SC_PAGE_SIZE);
  if (pages <= 0 || page_size <= 0) return static_cast<double>(PTRDIFF_MAX) / 2;
  return 0.5 * static_cast<double>(pages) * static_cast<double>(page_size);
}

InputError unreadable(const Origin& origin, int error) {
  return origin.error(0, std::string("cannot be read (") + std::strerror(error) + ")");
}

InputError empty(const Origin& origin) {
  return origin.error(0, "the file is empty");
}

void check_largest(const Origin& origin, std::size_t size) {
  if (size <= largest_input()) return;
  throw Unsupported(origin.place(0) + "more than " +
                    gigabytes(static_cast<double>(largest_input())) +
                    " of data; expected at most twice this machine's memory");
}

// The size of the file, once it is known to be one that has bytes and an end.
std::size_t readable_size(const Origin& origin, int fd) {
  struct stat status = {};
  if (fd < 0 || fstat(fd, &status) != 0) throw unreadable(origin, errno);
  if (S_ISDIR(status.st_mode)) {
    throw origin.error(0, "this is a directory; expected a matrix file");
  }
  if (!S_ISREG(status.st_mode)) {
    throw origin.error(0, "not a regular file; copy what the pipe or device delivers to a file");
  }
  if (status.st_size == 0) throw empty(origin);
  return static_cast<std::size_t>(status.st_size);
}

void write_all(const Origin& origin, int fd, std::span<const char> bytes) {
  while (!bytes.empty()) {
    const ssize_t done = write(fd, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) {
      throw Error(ErrorKind::failure, origin.place(0) + "cannot be copied to a temporary file (" +
                                          std::strerror(errno) + ")");
    }
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
}

constexpr std::size_t kCopied = std::size_t{1} << 16;  // bytes at a time

void copy_standard_input(const Origin& origin, int to) {
  std::array<char, kCopied> block;
  for (std::size_t size = 0;;) {
    const ssize_t got = ::read(STDIN_FILENO, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw unreadable(origin, errno);
    if (got == 0) return;
    size += static_cast<std::size_t>(got);
    check_largest(origin, size);
    write_all(origin, to, std::span(block).first(static_cast<std::size_t>(got)));
  }
}

// A pipe can be read once and in one order only, so a copy takes its place.
int open_to_read(const Origin& origin) {
  // Without O_NONBLOCK, opening a pipe would wait for its writer.
  if (origin.path() != kStandardInput) {
    return open(origin.path().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  }
  const int copy = open_temporary_file();
  try {
    copy_standard_input(origin, copy);
  } catch (...) {
    close(copy);
    throw;
  }
  return copy;
}

// In bytes.
double dense_size(std::size_t rows, std::size_t cols) {
  return 8.0 * static_cast<double>(rows) * static_cast<double>(cols);
}

std::string shape_text(std::size_t rows, std::size_t cols) {
  return std::to_string(rows) + " x " + std::to_string(cols);
}

// For a shape that is not the one the caller wants.
InputError unwanted(const Origin& origin, std::size_t line, const std::string& shape) {
  if (origin.wanted().square) {
    return origin.error(line, "the matrix is " + shape + "; a system needs a square one");
  }
  return origin.error(line, "the right-hand side is " + shape + "; expected " +
                                std::to_string(origin.wanted().rows) + " rows, as many as A has");
}

// Memory that a matrix takes, in bytes, and the beginning of the sentence that refuses it.
struct Need {
  double bytes;
  std::string sentence;
};

Need need_of(std::size_t rows, std::size_t cols) {
  const double bytes = dense_size(rows, cols);
  return {bytes, "a dense " + shape_text(rows, cols) + " matrix needs " + gigabytes(bytes)};
}

void check_half(const Origin& origin, std::size_t line, const Need& need) {
  if (need.bytes <= half_of_memory()) return;
  throw Unsupported(origin.place(line) + need.sentence +
                    "; expected at most half of this machine's memory, " +
                    gigabytes(half_of_memory()));
}

void check_available(const Origin& origin, std::size_t line, const Need& need) {
  const double available = host_memory_left();
  if (need.bytes <= available) return;
  throw Unsupported(origin.place(line) + need.sentence +
                    "; expected at most the memory available, " + gigabytes(available));
}

// How many bytes the stream gives; it is at its beginning before and after.
std::size_t size_of(const Origin& origin, Stream& stream) {
  std::array<char, kCopied> block;
  std::size_t size = 0;
  while (const std::size_t got = stream.next(block)) {
    size += got;
    check_largest(origin, size);
  }
  if (size == 0) throw empty(origin);
  stream.rewind();
  return size;
}

// Refuses what LAPACK cannot index.
void check_index(const Origin& origin, std::size_t line, std::size_t rows, std::size_t cols) {
  if (std::max(rows, cols) <= INT_MAX) return;
  throw Unsupported(origin.place(line) + "the matrix is " + shape_text(rows, cols) +
                    "; expected at most " + std::to_string(INT_MAX) + " rows and columns");
}

// Refuses what LAPACK cannot index or this machine cannot hold.
void check_size(const Origin& origin, std::size_t line, std::size_t rows, std::size_t cols) {
  check_index(origin, line, rows, cols);
  check_half(origin, line, need_of(rows, cols));
}

}  // namespace

InputFile::Descriptor::~Descriptor() {
  if (fd >= 0) close(fd);
}

Origin::Origin(std::string path, WantedShape wanted, std::string member)
    : path_(std::move(path)), wanted_(wanted), member_(std::move(member)) {}

std::string Origin::place(std::size_t line) const {
  const std::string name = path_ == kStandardInput ? "standard input" : path_;
  const std::string whole = member_.empty() ? name : name + ":" + member_;
  return line > 0 ? whole + ":" + std::to_string(line) + ": " : whole + ": ";
}

InputError Origin::error(std::size_t line, const std::string& sentence) const {
  return InputError(place(line) + sentence);
}

InputFile::InputFile(const Origin& origin)
    : Origin(origin), file_(open_to_read(origin)), size_(readable_size(origin, file_.fd)) {}

InputFile::InputFile(const Origin& origin, std::unique_ptr<Stream> stream)
    : Origin(origin),
      file_(-1),
      position_(std::make_unique<Position>(std::move(stream))),
      size_(size_of(origin, *position_->stream)) {}

std::size_t InputFile::Position::read(std::size_t from, std::span<char> to) {
  if (from < offset) {
    stream->rewind();
    offset = 0;
  }
  std::array<char, kCopied> skipped;
  std::size_t done = 0;
  while (done < to.size()) {
    const std::size_t skip = std::min(from - std::min(offset, from), skipped.size());
    const std::size_t got =
        stream->next(skip > 0 ? std::span(skipped).first(skip) : to.subspan(done));
    if (got == 0) break;
    offset += got;
    if (skip == 0) done += got;
  }
  return done;
}

std::size_t InputFile::read(std::size_t offset, std::span<char> to) const {
  const std::size_t count = std::min(to.size(), size_ - std::min(offset, size_));
  std::size_t done = 0;
  if (position_) done = position_->read(offset, to.first(count));
  while (!position_ && done < count) {
    const ssize_t got =
        pread(file_.fd, to.data() + done, count - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw unreadable(*this, errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  if (done < count) throw error(0, "the file became shorter while it was read");
  return count;
}

std::size_t largest_input() {
  return static_cast<std::size_t>(4.0 * half_of_memory());
}

std::string shown(std::string_view bytes) {
  constexpr std::size_t kLongest = 40;
  std::string text = "'";
  for (const char c : bytes) {
    if (text.size() >= kLongest) return text + "...'";
    if (c >= ' ' && c <= '~') {
      text += c;
    } else {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\x%02X", static_cast<unsigned char>(c));
      text += escape;
    }
  }
  return text + "'";
}

void check_dimensions(const Origin& origin, std::size_t line, std::size_t rows, std::size_t cols) {
  const std::string shape = shape_text(rows, cols);
  if (rows == 0 || cols == 0) {
    throw origin.error(line,
                       "the matrix is " + shape + "; expected at least one row and one column");
  }
  const WantedShape& wanted = origin.wanted();
  if ((wanted.square && rows != cols) || (wanted.rows > 0 && rows != wanted.rows)) {
    throw unwanted(origin, line, shape);
  }
  check_index(origin, line, rows, cols);
}

void check_shape(const Origin& origin, std::size_t line, std::size_t rows, std::size_t cols) {
  check_dimensions(origin, line, rows, cols);
  check_half(origin, line, need_of(rows, cols));
}

void check_first_rows(const Origin& origin, std::size_t line, std::size_t rows, std::size_t cols) {
  const WantedShape& wanted = origin.wanted();
  if ((wanted.square && rows > cols) || (wanted.rows > 0 && rows > wanted.rows)) {
    throw unwanted(origin, line, "at least " + shape_text(rows, cols));
  }
  if (rows == 1) check_size(origin, line, rows, cols);
}

void check_available(const Origin& origin, std::size_t line, std::size_t rows, std::size_t cols) {
  check_available(origin, line, need_of(rows, cols));
}

void check_sparse(const Origin& origin, std::size_t line, std::size_t rows, std::size_t cols,
                  std::size_t entries) {
  const double bytes = 28.0 * static_cast<double>(entries) + 8.0 * static_cast<double>(rows + cols);
  const Need need{bytes, "reading a sparse " + shape_text(rows, cols) + " matrix with " +
                             std::to_string(entries) + " entries needs " + gigabytes(bytes)};
  check_half(origin, line, need);
  check_available(origin, line, need);
}

void check_entries(const Origin& origin, std::size_t line, std::size_t rows, std::size_t cols,
                   std::size_t entries, bool mirrored, bool stays_sparse) {
  // Systems of no more elements, and sparse matrices of no more rows and columns, take so little
  // memory that they are read with empty rows too: the factorization tells whether they are
  // singular.
  constexpr std::size_t kSmall = std::size_t{1} << 25;
  const std::size_t full = mirrored ? 2 * entries : entries;
  const std::string what = "a " + shape_text(rows, cols) + " matrix with " +
                           std::to_string(entries) + (entries == 1 ? " entry" : " entries");
  // Factoring it would take gigabytes to say that it is singular.
  if (origin.wanted().square && rows * cols > kSmall && full < rows) {
    throw origin.error(
        line, what + " has empty rows and is singular; expected at least one entry in each row");
  }
  if (stays_sparse && std::max(rows, cols) > kSmall && full < std::max(rows, cols)) {
    throw origin.error(line,
                       what + " has empty rows or columns; expected at least one entry in each");
  }
}

double finite_number(const Origin& origin, std::size_t line, std::string_view token) {
  const std::optional<double> value = parse_number(token);
  if (!value)
    throw origin.error(line, shown(token) + " is not a number; expected one such as 1.5 or -2e-3");
  if (!std::isfinite(*value)) {
    throw origin.error(line, "the value " + shown(token) +
                                 " is not finite in double precision; expected a finite number");
  }
  return *value;
}

Text::Text(const InputFile& file) : file_(file), buffer_(std::min(kBlock, file.size())) {
  more();
  if (ahead().starts_with(kByteOrderMark)) drop(kByteOrderMark.size());
}

bool Text::more() {
  if (begin_ > 0) std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  const std::span<char> room = std::span(buffer_).subspan(end_);
  const std::string_view got(room.data(), file_.read(offset_, room));
  const std::size_t nul = got.find('\0');
  const std::string_view text = got.substr(0, nul);
  line_ends_ += static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  if (nul != std::string_view::npos) {
    throw file_.error(line_ends_ + 1,
                      "a NUL byte (binary data or UTF-16?); expected text in ASCII or UTF-8");
  }
  end_ += got.size();
  offset_ += got.size();
  return !got.empty();
}

bool Lines::next() {
  text_.drop(length_);
  std::size_t searched = 0;
  std::size_t end = text_.ahead().find('\n');
  while (end == std::string_view::npos) {
    searched = text_.ahead().size();
    if (text_.more()) {
      end = text_.ahead().find('\n', searched);
    } else if (text_.at_end()) {
      end = searched;
    } else {
      throw file_.error(number_ + 1, "the line is longer than " + std::to_string(Text::kBlock) +
                                         " characters; expected shorter ones");
    }
  }
  line_ = text_.ahead().substr(0, end);
  length_ = std::min(end + 1, text_.ahead().size());
  if (length_ == 0) return false;
  if (line_.ends_with('\r')) line_.remove_suffix(1);
  ++number_;
  return true;
}

}  // namespace lugpu

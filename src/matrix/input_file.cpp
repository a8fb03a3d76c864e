#include "matrix/input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>

#include "matrix/number_text.hpp"

namespace lugpu {
namespace {

// Closes the descriptor at the end of the scope.
struct Descriptor {
  explicit Descriptor(int descriptor) : fd(descriptor) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
  const int fd;
};

// Half of the physical memory in bytes; where the system does not tell, what can be addressed.
double memory_limit() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_size = sysconf(_SC_PAGE_SIZE);
  if (pages <= 0 || page_size <= 0) return static_cast<double>(PTRDIFF_MAX) / 2;
  return 0.5 * static_cast<double>(pages) * static_cast<double>(page_size);
}

std::string gigabytes(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GB", bytes / 1e9);
  return text;
}

InputError unreadable(const std::string& path, int error) {
  return InputError(path + ": cannot be read (" + std::strerror(error) + ")");
}

// The size of the file, once it is known to be one that can be read whole.
std::size_t readable_size(const std::string& path, int fd) {
  struct stat status = {};
  if (fstat(fd, &status) != 0) throw unreadable(path, errno);
  if (S_ISDIR(status.st_mode)) {
    throw InputError(path + ": this is a directory; expected a matrix file");
  }
  if (!S_ISREG(status.st_mode)) {
    throw InputError(path + ": not a regular file; copy what a pipe or device gives to a file");
  }
  if (status.st_size == 0) throw InputError(path + ": the file is empty");
  const double size = static_cast<double>(status.st_size);
  if (size > memory_limit()) {
    throw Unsupported(path + ": the file has " + gigabytes(size) +
                      "; expected at most half of this machine's memory, " +
                      gigabytes(memory_limit()));
  }
  return static_cast<std::size_t>(status.st_size);
}

}  // namespace

std::string InputFile::place(std::size_t line) const {
  return line > 0 ? path + ":" + std::to_string(line) + ": " : path + ": ";
}

InputError InputFile::error(std::size_t line, const std::string& sentence) const {
  return InputError(place(line) + sentence);
}

InputFile load_file(const std::string& path) {
  // Without O_NONBLOCK, opening a pipe would wait for its writer.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.fd < 0) throw unreadable(path, errno);
  InputFile input{path, std::string(readable_size(path, file.fd), '\0')};
  std::size_t done = 0;
  while (done < input.bytes.size()) {
    const ssize_t got = read(file.fd, input.bytes.data() + done, input.bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw unreadable(path, errno);
    if (got == 0) throw InputError(path + ": the file became shorter while it was read");
    done += static_cast<std::size_t>(got);
  }
  return input;
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

void check_shape(const InputFile& file, std::size_t line, std::size_t rows, std::size_t cols) {
  const std::string shape = std::to_string(rows) + " x " + std::to_string(cols);
  if (rows == 0 || cols == 0) {
    throw file.error(line, "the matrix is " + shape + "; expected at least one row and one column");
  }
  if (std::max(rows, cols) > INT_MAX) {
    throw Unsupported(file.place(line) + "the matrix is " + shape + "; expected at most " +
                      std::to_string(INT_MAX) + " rows and columns");
  }
  const double dense = 8.0 * static_cast<double>(rows) * static_cast<double>(cols);
  if (dense + static_cast<double>(file.bytes.size()) > memory_limit()) {
    throw Unsupported(file.place(line) + "a dense " + shape + " matrix needs " + gigabytes(dense) +
                      " and the file " + gigabytes(static_cast<double>(file.bytes.size())) +
                      "; expected at most half of this machine's memory, " +
                      gigabytes(memory_limit()));
  }
}

double finite_number(const InputFile& file, std::size_t line, std::string_view token) {
  const std::optional<double> value = parse_number(token);
  if (!value)
    throw file.error(line, shown(token) + " is not a number; expected one such as 1.5 or -2e-3");
  if (!std::isfinite(*value)) {
    throw file.error(line, "the value " + shown(token) +
                               " is not finite in double precision; expected a finite number");
  }
  return *value;
}

void require_text(const InputFile& file) {
  const std::size_t nul = file.bytes.find('\0');
  if (nul == std::string::npos) return;
  const auto begin = file.bytes.begin();
  const auto ends = std::count(begin, begin + static_cast<std::ptrdiff_t>(nul), '\n');
  throw file.error(static_cast<std::size_t>(ends) + 1,
                   "a NUL byte (binary data or UTF-16?); expected text in ASCII or UTF-8");
}

Lines::Lines(std::string_view text) : rest_(text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (rest_.starts_with(kByteOrderMark)) rest_.remove_prefix(kByteOrderMark.size());
}

bool Lines::next() {
  if (rest_.empty()) return false;
  const std::size_t end = std::min(rest_.find('\n'), rest_.size());
  line_ = rest_.substr(0, end);
  rest_.remove_prefix(std::min(end + 1, rest_.size()));
  if (line_.ends_with('\r')) line_.remove_suffix(1);
  ++number_;
  return true;
}

}  // namespace lugpu

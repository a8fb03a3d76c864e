#include "terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <mutex>
#include <optional>
#include <sstream>
#include <thread>
#include <utility>

#include "base/printable.hpp"
#include "distributed/process_group.hpp"

namespace lugpu::cli {
namespace {

bool colours = false;
bool quiet = false;

std::size_t measured_columns() {
  constexpr std::size_t kFewest = 40;
  std::size_t found = 0;
  if (const char* text = std::getenv("COLUMNS")) {
    std::from_chars(text, text + std::strlen(text), found);
  }
  winsize window{};
  if (found == 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0) found = window.ws_col;
  return found == 0 ? kColumns : std::max(found, kFewest);
}

// The line of show_progress, drawn by a thread of its own: nobody may come by once the text that
// waits is due.
class ProgressLine {
 public:
  ProgressLine() : artist_([this](const std::stop_token& stop) { draw(stop); }) {}

  void show(const std::string& text) {
    const std::lock_guard lock(mutex_);
    waiting_ = text.substr(0, columns() - 1);
    came_.notify_one();
  }

  void erase() {
    const std::lock_guard lock(mutex_);
    waiting_.reset();
    if (std::exchange(drawn_, false)) std::fputs("\r\033[K", stderr);
  }

 private:
  void draw(const std::stop_token& stop) {
    constexpr std::chrono::milliseconds kPause(100);
    std::unique_lock lock(mutex_);
    while (came_.wait(lock, stop, [this] { return waiting_.has_value(); })) {
      std::fprintf(stderr, "\r\033[K%s", waiting_->c_str());
      drawn_ = true;
      waiting_.reset();
      came_.wait_for(lock, stop, kPause, [] { return false; });
    }
  }

  std::mutex mutex_;
  std::condition_variable_any came_;
  std::optional<std::string> waiting_;
  bool drawn_ = false;
  std::jthread artist_;
};

}  // namespace

std::size_t table_columns() {
  static const std::size_t width = measured_columns();
  return width;
}

std::size_t columns() {
  return std::min(table_columns(), kColumns);
}

std::string format(const char* pattern, ...) {
  char text[1024];
  std::va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(text, sizeof text, pattern, arguments);
  va_end(arguments);
  return text;
}

std::string milliseconds(double seconds) {
  const double ms = seconds * 1e3;
  return format(ms < 10 ? "%.3f" : ms < 1000 ? "%.1f" : "%.0f", ms);
}

std::string wrapped(const std::string& text, std::size_t column, std::size_t indent) {
  std::istringstream words(text);
  std::string result;
  bool first_in_line = true;
  const std::size_t start = indent > 0 ? 0 : column;
  for (std::string word; words >> word;) {
    word = printable(word);
    const std::size_t needed = word.size() + (first_in_line ? 0 : 1);
    if (!first_in_line && column + needed > columns()) {
      result += '\n';
      result.append(indent, ' ');
      column = start + indent;
      first_in_line = true;
    }
    if (!first_in_line) result += ' ';
    result += word;
    column += word.size() + (first_in_line ? 0 : 1);
    first_in_line = false;
  }
  return result;
}

void be_quiet() {
  quiet = true;
}

void print_error(const std::string& text) {
  std::cerr << "lugpu: " << printable(text) << '\n';
}

void print_error_and_log(const std::string& text) {
  std::cerr << "lugpu: " << printable_lines(text) << '\n';
}

void print_warning(const std::string& text) {
  if (!quiet) print_error("warning: " + text);
}

void print_note(const std::string& text) {
  if (!quiet) print_error("note: " + text);
}

void set_colour(const std::string& when) {
  const char* no_colour = std::getenv("NO_COLOR");
  // mpirun's processes have a terminal, wherever its own output goes.
  const bool terminal = isatty(STDOUT_FILENO) && launch().size == 1;
  const bool wanted = terminal && !(no_colour && *no_colour);
  colours = when == "always" || (when == "auto" && wanted);
}

std::string paint(Ink ink, const std::string& text) {
  if (!colours || ink == Ink::plain) return text;
  const char* code = ink == Ink::good ? "32" : ink == Ink::bad ? "31" : "2";
  return "\033[" + std::string(code) + "m" + text + "\033[0m";
}

std::string duration(double seconds) {
  if (seconds < 1e-3) return format("%.3g us", seconds * 1e6);
  if (seconds < 1) return format("%.3g ms", seconds * 1e3);
  return format(seconds < 100 ? "%.3g s" : "%.0f s", seconds);
}

std::string byte_size(double bytes) {
  constexpr double kKiB = 1024;
  if (bytes < kKiB * kKiB) return format("%.4g KiB", bytes / kKiB);
  if (bytes < kKiB * kKiB * kKiB) return format("%.4g MiB", bytes / kKiB / kKiB);
  return format("%.4g GiB", bytes / kKiB / kKiB / kKiB);
}

void show_progress(const std::string& text) {
  if (quiet || !isatty(STDERR_FILENO)) return;
  static ProgressLine line;
  if (text.empty()) {
    line.erase();
  } else {
    line.show(printable(text));
  }
}

}  // namespace lugpu::cli

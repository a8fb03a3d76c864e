#include "base/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace lugpu {
namespace {

namespace fs = std::filesystem;

Error unwritable(const std::string& path, const std::string& why) {
  return Error(ErrorKind::failure, path + ": cannot be written (" + why + ")");
}

Error unwritable(const std::string& path, int error) {
  return unwritable(path, std::strerror(error));
}

// Names of the files to remove when a signal ends the process. Whoever exchanges a name for null
// owns it. A file for which there is no free entry is not removed.
std::array<std::atomic<char*>, 16> unfinished;
static_assert(std::atomic<char*>::is_always_lock_free);  // for the signal handler

void remember_unfinished(const std::string& name) {
  char* const copy = strdup(name.c_str());
  for (std::atomic<char*>& place : unfinished) {
    char* none = nullptr;
    if (copy && place.compare_exchange_strong(none, copy)) return;
  }
  std::free(copy);
}

void forget_unfinished(const std::string& name) {
  for (std::atomic<char*>& place : unfinished) {
    char* mine = place.load();
    if (!mine || name != mine || !place.compare_exchange_strong(mine, nullptr)) continue;
    std::free(mine);
    return;
  }
}

void remove_unfinished(int signal) {
  remove_unfinished_files();
  raise(signal);  // the default action, once this handler has returned (SA_RESETHAND)
}

// Standard output or standard error, if the path names where one of them goes; else -1.
int standard_stream(const std::string& path) {
  struct stat named = {}, open = {};
  if (stat(path.c_str(), &named) != 0) return -1;
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
    if (fstat(fd, &open) == 0 && open.st_dev == named.st_dev && open.st_ino == named.st_ino) {
      return fd;
    }
  }
  return -1;
}

// The path of the file that is created or replaced: links resolved, the last one's target too if
// that does not exist.
fs::path destination(const std::string& path) {
  constexpr int kMostLinks = 40;  // as Linux allows
  std::error_code none;
  fs::path place = path;
  for (int i = 0; i < kMostLinks && fs::is_symlink(place, none); ++i) {
    place = place.parent_path() / fs::read_symlink(place, none);
  }
  const fs::path folder = place.has_parent_path() ? place.parent_path() : fs::path(".");
  const fs::path canonical = fs::weakly_canonical(folder, none);
  return none ? place : canonical / place.filename();
}

void refuse_folders_and_disks(const std::string& path) {
  std::error_code none;
  if (fs::is_directory(path, none)) throw unwritable(path, "it is a directory");
  if (fs::is_block_file(path, none)) throw unwritable(path, "it is a disk");
}

// A new private folder in `folder`; empty if it cannot be made.
std::string new_folder(const fs::path& folder) {
  std::string pattern = (folder / "lugpu-XXXXXX").string();
  return mkdtemp(pattern.data()) ? pattern : "";
}

void write_whole(const std::string& path, const Writer& write) {
  OutputFile file(path);
  write(file.stream());
  file.commit();
}

}  // namespace

OutputFile::OutputFile(const std::string& path) : path_(path) {
  refuse_folders_and_disks(path);
  if (!is_stream(path)) {
    target_ = destination(path).string();
    open();
    return;
  }
  std::fflush(stdout);  // what was printed before comes first
  const int standard = standard_stream(path);
  const int fd = standard < 0 ? ::open(path.c_str(), O_WRONLY | O_CLOEXEC)
                              : fcntl(standard, F_DUPFD_CLOEXEC, 0);
  if (fd >= 0) stream_ = fdopen(fd, "wb");
  if (stream_ == nullptr) throw unwritable(path, errno);
}

OutputFile::~OutputFile() {
  if (stream_ != nullptr) std::fclose(stream_);
  if (name_.empty()) return;
  std::remove(name_.c_str());
  forget_unfinished(name_);
}

void OutputFile::commit() {
  const bool written = std::ferror(stream_) == 0 && std::fflush(stream_) == 0;
  const int write_error = errno;
  const bool closed = std::fclose(stream_) == 0;
  stream_ = nullptr;
  if (!written) throw unwritable(path_, write_error);
  if (!closed) throw unwritable(path_, errno);
  if (name_.empty()) return;
  if (std::rename(name_.c_str(), target_.c_str()) != 0) throw unwritable(path_, errno);
  forget_unfinished(name_);
  name_.clear();
}

// Takes the first free name, never one that is there already, with the user's default
// permissions.
void OutputFile::open() {
  constexpr int kAttempts = 100;
  int fd = -1;
  for (int attempt = 0; attempt < kAttempts && fd < 0; ++attempt) {
    name_ = target_ + "." + std::to_string(getpid()) + "-" + std::to_string(attempt) + ".tmp";
    remember_unfinished(name_);  // a signal may come as soon as it is there
    fd = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    const int error = errno;
    if (fd < 0) forget_unfinished(name_);
    errno = error;
    if (fd < 0 && errno != EEXIST) break;
  }
  if (fd >= 0) stream_ = fdopen(fd, "wb");
  if (stream_ != nullptr) return;
  const int error = errno;
  if (fd >= 0) {
    ::close(fd);
    std::remove(name_.c_str());
    forget_unfinished(name_);
  }
  throw unwritable(path_, error);
}

void write_file(const std::string& path, const Writer& write) {
  try {
    write_whole(path, write);
  } catch (const Error& error) {
    keep_elsewhere(error.what(), fs::path(path).filename().string(), write);
  }
}

bool insert_before_end(const std::string& path, const std::string& end, const std::string& text) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  struct stat before = {};
  fstat(fd, &before);
  const off_t place = before.st_size - std::ssize(end);
  const std::string both = text + end;
  const bool written = pwrite(fd, both.data(), both.size(), place) == std::ssize(both);
  const bool restored = written || (pwrite(fd, end.data(), end.size(), place) == std::ssize(end) &&
                                    ftruncate(fd, before.st_size) == 0);
  return ::close(fd) == 0 && written && restored;
}

void keep_elsewhere(const std::string& failure, const std::string& name, const Writer& write) {
  std::error_code none;
  const fs::path folders[] = {fs::temp_directory_path(none), "/tmp", fs::current_path(none)};
  for (const fs::path& folder : folders) {
    const std::string own = folder.empty() ? "" : new_folder(folder);
    if (own.empty()) continue;
    const std::string place = (fs::path(own) / name).string();
    try {
      write_whole(place, write);
    } catch (const Error&) {
      fs::remove(own, none);
      continue;
    }
    throw KeptElsewhere(failure + "; its content is in " + place + ".", place);
  }
  throw Error(ErrorKind::failure, failure + "; nor can it be kept in a temporary file.");
}

void check_writable(const std::string& path) {
  if (!is_stream(path)) {
    const OutputFile trial(path);
    return;
  }
  // To open a pipe would wait for its reader, and to close it end what it reads.
  refuse_folders_and_disks(path);
  if (standard_stream(path) < 0 && access(path.c_str(), W_OK) != 0) throw unwritable(path, errno);
}

bool is_stream(const std::string& path) {
  std::error_code none;
  return fs::exists(path, none) && (!fs::is_regular_file(path, none) || standard_stream(path) >= 0);
}

bool is_standard_output(const std::string& path) {
  return standard_stream(path) == STDOUT_FILENO;
}

bool is_same_file(const std::string& one, const std::string& other) {
  std::error_code none;
  if (fs::is_character_file(one, none)) return false;
  return fs::equivalent(one, other, none) || destination(one) == destination(other);
}

void remove_unfinished_files() {
  for (std::atomic<char*>& place : unfinished) {
    if (const char* name = place.exchange(nullptr)) unlink(name);
  }
}

void remove_unfinished_files_on_signals() {
  for (const int signal : {SIGHUP, SIGINT, SIGTERM}) {
    struct sigaction action = {};
    if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    action.sa_handler = remove_unfinished;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace lugpu

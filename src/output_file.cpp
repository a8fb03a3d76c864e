#include "output_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "error.hpp"

namespace lugpu {
namespace {

Error unwritable(const std::string& path, int error) {
  return Error(Exit::failure, path + ": cannot be written (" + std::strerror(error) + ")");
}

}  // namespace

OutputFile::OutputFile(const std::string& path) : path_(path), target_(path) {
  std::error_code none;
  if (std::filesystem::exists(path, none)) {
    if (!std::filesystem::is_regular_file(path, none)) {
      throw Error(Exit::failure, path + ": cannot be written (it exists and is no regular file)");
    }
    // Through a symbolic link, the file behind it is replaced, not the link.
    const std::filesystem::path behind = std::filesystem::canonical(path, none);
    if (!none) target_ = behind.string();
  }
  open();
}

OutputFile::~OutputFile() {
  if (stream_ != nullptr) std::fclose(stream_);
  if (!name_.empty()) std::remove(name_.c_str());
}

void OutputFile::commit() {
  const bool written = std::ferror(stream_) == 0 && std::fflush(stream_) == 0;
  const int write_error = errno;
  const bool closed = std::fclose(stream_) == 0;
  stream_ = nullptr;
  if (!written) throw unwritable(path_, write_error);
  if (!closed) throw unwritable(path_, errno);
  if (std::rename(name_.c_str(), target_.c_str()) != 0) throw unwritable(path_, errno);
  name_.clear();
}

// Takes the first free name, never one that is there already, with the user's default
// permissions.
void OutputFile::open() {
  constexpr int kAttempts = 100;
  int fd = -1;
  for (int attempt = 0; attempt < kAttempts && fd < 0; ++attempt) {
    name_ = target_ + "." + std::to_string(getpid()) + "-" + std::to_string(attempt) + ".tmp";
    fd = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno != EEXIST) break;
  }
  if (fd >= 0) stream_ = fdopen(fd, "wb");
  if (stream_ != nullptr) return;
  const int error = errno;
  if (fd >= 0) {
    ::close(fd);
    std::remove(name_.c_str());
  }
  throw unwritable(path_, error);
}

}  // namespace lugpu

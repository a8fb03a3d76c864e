#include "matrix/formats.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <new>
#include <string_view>

#include "error.hpp"
#include "matrix/csv.hpp"
#include "matrix/input_file.hpp"
#include "matrix/matrix_market.hpp"
#include "matrix/npy.hpp"

namespace lugpu {
namespace {

struct Format {
  std::string_view extension;  // in lower case
  Matrix (*read)(const InputFile&);
  void (*write)(const Matrix&, std::FILE*);
};

constexpr Format kFormats[] = {
    {".mtx", read_matrix_market, write_matrix_market},
    {".npy", read_npy, write_npy},
    {".csv", read_csv, write_csv},
};

const Format& format_of(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  std::string lower = extension;
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const Format& format : kFormats) {
    if (lower == format.extension) return format;
  }
  throw InputError(path + ": unknown extension " + shown(extension) + "; expected one of " +
                   format_extensions());
}

void require_finite(const Matrix& a, const std::string& path) {
  for (std::size_t j = 0; j < a.cols(); ++j) {
    for (std::size_t i = 0; i < a.rows(); ++i) {
      if (std::isfinite(a(i, j))) continue;
      throw InputError(path + ": element (" + std::to_string(i + 1) + ", " + std::to_string(j + 1) +
                       "), counted from 1, is " + std::to_string(a(i, j)) +
                       "; expected finite numbers");
    }
  }
}

Error unwritable(const std::string& path, int error) {
  return Error(Exit::failure, path + ": cannot be written (" + std::strerror(error) + ")");
}

// A new file beside its target that takes the target's place on commit and disappears otherwise.
class PendingFile {
 public:
  explicit PendingFile(const std::string& path) : path_(path), target_(path) {
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
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;
  ~PendingFile() {
    if (stream_ != nullptr) std::fclose(stream_);
    if (!name_.empty()) std::remove(name_.c_str());
  }

  std::FILE* stream() { return stream_; }

  void commit() {
    const bool written = std::ferror(stream_) == 0 && std::fflush(stream_) == 0;
    const int write_error = errno;
    const bool closed = std::fclose(stream_) == 0;
    stream_ = nullptr;
    if (!written) throw unwritable(path_, write_error);
    if (!closed) throw unwritable(path_, errno);
    if (std::rename(name_.c_str(), target_.c_str()) != 0) throw unwritable(path_, errno);
    name_.clear();
  }

 private:
  // Takes the first free name, never one that is there already, with the user's default
  // permissions.
  void open() {
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

  const std::string path_;  // as the user gave it
  std::string target_;
  std::string name_;  // of the file beside it; empty when there is none to remove
  std::FILE* stream_ = nullptr;
};

}  // namespace

Matrix read_matrix(const std::string& path) {
  const Format& format = format_of(path);
  try {
    Matrix matrix = format.read(load_file(path));
    require_finite(matrix, path);
    return matrix;
  } catch (const std::bad_alloc&) {
    throw Unsupported(path + ": not enough memory to read it; expected a smaller matrix");
  }
}

void write_matrix(const Matrix& matrix, const std::string& path) {
  const Format& format = format_of(path);
  PendingFile file(path);
  format.write(matrix, file.stream());
  file.commit();
}

void check_format(const std::string& path) {
  format_of(path);
}

std::string format_extensions() {
  std::string list;
  for (const Format& format : kFormats) {
    if (!list.empty()) list += ", ";
    list += format.extension;
  }
  return list;
}

}  // namespace lugpu

#include "base/temporary_file.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

#include "base/error.hpp"

namespace lugpu {

int open_temporary_file() {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  std::string name = (error ? "/tmp" : folder) / "lugpu-XXXXXX";
  const int fd = mkostemp(name.data(), O_CLOEXEC);
  if (fd < 0) {
    throw Error(ErrorKind::failure,
                "Cannot create a temporary file " + name + ": " + std::strerror(errno) + ".");
  }
  unlink(name.c_str());
  return fd;
}

}  // namespace lugpu

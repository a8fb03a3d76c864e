#include "opencl/pocl_cache.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace lugpu {
namespace {

namespace fs = std::filesystem;

std::string value_of(const char* variable) {
  const char* value = std::getenv(variable);
  return value ? value : "";
}

// As pocl_cache_init_topdir of PoCL 3.1 to 6.0 chooses it.
fs::path folder_of_pocl() {
  if (const std::string given = value_of("POCL_CACHE_DIR"); !given.empty()) return given;
  const char* name = value_of("POCL_KERNEL_CACHE") == "0" ? "pocl/uncached" : "pocl/kcache";
  if (const std::string cache = value_of("XDG_CACHE_HOME"); !cache.empty()) {
    return fs::path(cache) / name;
  }
  const char* home = std::getenv("HOME");
  return home ? fs::path(std::string(home) + "/.cache") / name : fs::path("/tmp") / name;
}

// 0 if something can be made in the folder, or in the nearest above it that is there; or errno. A
// trial tells more than permissions, which mean nothing to root or to a file system that is
// read-only.
int error_of_writing(fs::path folder) {
  std::error_code none;
  folder = fs::absolute(folder, none);
  while (!fs::exists(fs::symlink_status(folder, none)) && folder != folder.root_path()) {
    folder = folder.parent_path();
  }
  std::string trial = (folder / ".lugpu-XXXXXX").string();
  if (!mkdtemp(trial.data())) return errno;
  rmdir(trial.c_str());
  return 0;
}

// A folder of that name that is this user's alone; 0 or errno. The temporary folder is everyone's:
// another user may have taken the name.
int make_private(const fs::path& folder) {
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return errno;
  struct stat found;
  if (lstat(folder.c_str(), &found) != 0) return errno;
  if (!S_ISDIR(found.st_mode)) return ENOTDIR;
  const bool ours = found.st_uid == geteuid() && (found.st_mode & 077) == 0;
  return ours ? error_of_writing(folder) : EPERM;
}

std::string complaint(const fs::path& folder, int error) {
  return folder.string() + " (" + std::strerror(error) + ")";
}

PoclCache prepare() {
  const bool given = !value_of("POCL_CACHE_DIR").empty();
  if (!given) unsetenv("POCL_CACHE_DIR");  // PoCL 3.1 aborts at an empty value
  const fs::path usual = folder_of_pocl();
  const int error = error_of_writing(usual);
  if (error == 0) return {};
  if (given) return {"", "POCL_CACHE_DIR, " + complaint(usual, error)};

  std::error_code no_folder;
  const fs::path temporary = fs::temp_directory_path(no_folder);
  const fs::path own =
      (no_folder ? fs::path("/tmp") : temporary) / ("lugpu-cache-" + std::to_string(geteuid()));
  if (const int failure = make_private(own)) {
    return {"", complaint(usual, error) + " or " + complaint(own, failure)};
  }
  setenv("POCL_CACHE_DIR", own.c_str(), 1);
  return {own.string(), ""};
}

}  // namespace

const PoclCache& prepare_pocl_cache() {
  static const PoclCache cache = prepare();
  return cache;
}

}  // namespace lugpu

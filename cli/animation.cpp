#include "animation.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <vector>

#include "base/error.hpp"

namespace lugpu::cli {
namespace {

constexpr const char* kFramesPerSecond = "25";

// Its path; empty if there is none.
std::string find_ffmpeg() {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = (std::filesystem::path(folder) / "ffmpeg").string();
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  return "";
}

bool is_gif(const std::string& path) {
  return path.ends_with(".gif");
}

// Its colours are chosen from all frames of a GIF; MP4 wants even sizes.
const char* filter_for(const std::string& path) {
  return is_gif(path) ? "split[a][b];[a]palettegen[p];[b][p]paletteuse"
                      : "pad=ceil(iw/2)*2:ceil(ih/2)*2,format=yuv420p";
}

}  // namespace

void Animation::require(const std::string& path) {
  if (!is_gif(path) && !path.ends_with(".mp4")) {
    throw InputError("--animate " + path + " does not end in .gif or .mp4.");
  }
  if (find_ffmpeg().empty()) {
    throw Unsupported("--animate needs ffmpeg, which is not in PATH");
  }
}

Animation::Animation(const std::string& path, const Picture& first) : path_(path) {
  const std::string program = find_ffmpeg();
  const std::string size = std::to_string(first.width) + "x" + std::to_string(first.height);
  const char* const arguments[] = {program.c_str(),
                                   "-loglevel",
                                   "error",
                                   "-y",
                                   "-f",
                                   "rawvideo",
                                   "-pix_fmt",
                                   "rgb24",
                                   "-s",
                                   size.c_str(),
                                   "-r",
                                   kFramesPerSecond,
                                   "-i",
                                   "-",
                                   "-vf",
                                   filter_for(path),
                                   path.c_str(),
                                   nullptr};
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw Error(ErrorKind::failure, "Cannot start ffmpeg.");
  std::signal(SIGPIPE, SIG_IGN);  // a write to an ffmpeg that has ended fails instead
  child_ = fork();
  if (child_ == 0) {
    dup2(ends[0], STDIN_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    execv(program.c_str(), const_cast<char* const*>(arguments));
    _exit(127);
  }
  close(ends[0]);
  pipe_ = ends[1];
  if (child_ < 0) throw Error(ErrorKind::failure, "Cannot start ffmpeg.");
}

Animation::~Animation() {
  if (pipe_ >= 0) close(pipe_);
  if (child_ > 0) waitpid(child_, nullptr, 0);
}

void Animation::add(const Picture& picture) {
  std::size_t done = 0;
  while (done < picture.rgb.size()) {
    const ssize_t count = write(pipe_, picture.rgb.data() + done, picture.rgb.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) throw Error(ErrorKind::failure, "ffmpeg ended while it wrote " + path_ + ".");
    done += static_cast<std::size_t>(count);
  }
}

void Animation::end() {
  close(pipe_);
  pipe_ = -1;
  int status = 0;
  waitpid(child_, &status, 0);
  child_ = -1;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw Error(ErrorKind::failure, "ffmpeg could not write " + path_ + ".");
  }
}

}  // namespace lugpu::cli

// Animations, written by ffmpeg.
#pragma once

#include <sys/types.h>

#include <string>

#include "lugpu/picture.hpp"

namespace lugpu::cli {

/// A .gif or .mp4 file, frame by frame.
class Animation {
 public:
  /// Throws InputError for another ending, Unsupported if there is no ffmpeg in PATH.
  static void require(const std::string& path);

  /// first: as large as all that follow. Throws Error (failure) if ffmpeg cannot be started.
  Animation(const std::string& path, const Picture& first);
  ~Animation();
  Animation(const Animation&) = delete;
  Animation& operator=(const Animation&) = delete;

  /// Throws Error (failure) if ffmpeg has ended.
  void add(const Picture& picture);
  /// Waits for ffmpeg. Throws Error (failure) if it failed.
  void end();

 private:
  std::string path_;
  int pipe_ = -1;
  pid_t child_ = -1;
};

}  // namespace lugpu::cli

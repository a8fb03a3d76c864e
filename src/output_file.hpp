// Files that appear whole or not at all.
#pragma once

#include <cstdio>
#include <string>

namespace lugpu {

/// A new file beside its target that takes the target's place on commit and disappears otherwise.
/// Through a symbolic link, the file behind it is replaced. Throws Error (failure) that names the
/// path if that cannot be done; what exists and is no regular file is refused.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  std::FILE* stream() { return stream_; }
  void commit();

 private:
  void open();

  const std::string path_;  // as the user gave it
  std::string target_;
  std::string name_;  // of the file beside it; empty when there is none to remove
  std::FILE* stream_ = nullptr;
};

}  // namespace lugpu

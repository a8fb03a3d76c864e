// Files that appear whole or not at all.
#pragma once

#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>

#include "base/error.hpp"

namespace lugpu {

/// A new file beside its target that takes the target's place on commit and disappears otherwise.
/// Through a symbolic link, the file behind it is replaced. What is not a regular file (a pipe,
/// /dev/stdout, /dev/null) is written to directly. Throws Error (failure) that names the path if
/// that cannot be done; directories and disks are refused.
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

/// Thrown when a file could not be written and its content is elsewhere, as the sentence says.
class KeptElsewhere : public Error {
 public:
  KeptElsewhere(const std::string& sentence, std::string place)
      : Error(ErrorKind::failure, sentence), place_(std::move(place)) {}
  /// The path of the file that has the content.
  const std::string& place() const { return place_; }

 private:
  std::string place_;
};

/// Writes a stream that it is given; called again for another file if the first one fails.
using Writer = std::function<void(std::FILE*)>;

/// Writes an OutputFile. If that fails, keeps the content in a new folder of the temporary folder
/// ($TMPDIR, /tmp) or else of the current one, and throws KeptElsewhere; if that fails as well,
/// Error (failure).
void write_file(const std::string& path, const Writer& write);

/// Inserts a text before the last bytes of a file, `end`, by one call of the system: after a signal
/// the file has all of it or none. Returns whether it could; if not, the file is as it was.
bool insert_before_end(const std::string& path, const std::string& end, const std::string& text);

/// Keeps what could not be written, and throws, like write_file. failure: the beginning of the
/// sentence; name: of the file.
[[noreturn]] void keep_elsewhere(const std::string& failure, const std::string& name,
                                 const Writer& write);

/// Throws Error (failure) if an OutputFile could not be opened, before there is anything to write.
/// Leaves nothing behind.
void check_writable(const std::string& path);

/// Whether `path` exists and is not a regular file, so that writing goes into it.
bool is_stream(const std::string& path);

/// Whether `path` names where standard output goes, e.g. /dev/stdout.
bool is_standard_output(const std::string& path);

/// Whether writing one of the two paths would change what the other one names: links are followed,
/// and files that do not exist yet compared by their names. No two names of a character device
/// (/dev/null, a terminal) are the same in this sense, since nothing is lost there.
bool is_same_file(const std::string& one, const std::string& other);

/// Removes the files of every OutputFile that was not committed. A handler of signals may call it.
void remove_unfinished_files();

/// From now on SIGHUP, SIGINT and SIGTERM remove the files of every OutputFile that was not
/// committed before they end the process. Ignored signals stay ignored.
void remove_unfinished_files_on_signals();

}  // namespace lugpu

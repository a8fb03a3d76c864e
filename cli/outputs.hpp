// The files that a command writes: checked before the work, and kept if they cannot be written
// after it.
#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/result.hpp"
#include "exit.hpp"
#include "options.hpp"

namespace lugpu::cli {

/// A file of the command line: the option or argument, e.g. "-o" or "MATRIX", and its path; an
/// empty path if it was not given.
struct NamedFile {
  std::string name;
  std::string path;
};

/// Checks all files that a command is going to write, `outputs` and --json, before its work. Throws
/// InputError if two of them are the same or, without --force, one is among `inputs`, a kernel of
/// --kernel-dir, or the results of an earlier `lugpu bench`, unless that is to continue from them
/// (options.resume). Throws Error (failure) if one cannot be written.
void check_outputs(const Options& options, std::vector<NamedFile> outputs,
                   std::vector<NamedFile> inputs);

/// Calls `write` and returns whether it succeeded; if it throws an Error, prints its sentence to
/// stderr, so that other files can still be written.
bool attempt_to_write(const std::function<void()>& write);

/// Ends the process with Exit::failure, this sentence on stderr and nothing else, from any thread:
/// for work that does not come back. No file may be being written.
[[noreturn]] void end_late(const std::string& sentence);

/// Where --json sends a report; nothing happens without --json.
class JsonOutput {
 public:
  explicit JsonOutput(const Options& options);

  /// Whether update() has a file to write.
  bool has_file() const;
  /// The results so far: a file has them at once, a stream not before end(). If they cannot be
  /// written, one line on stderr says where they are instead, and where those to come will be.
  /// Throws Error (failure) if they cannot be written anywhere.
  void update(const nlohmann::json& report);
  /// All results, which a file already has from update().
  void end(const nlohmann::json& report);
  /// Both.
  void write(const nlohmann::json& report);
  /// Failure if the results are elsewhere, `otherwise` if not.
  Exit status(Exit otherwise) const { return failed_ ? Exit::failure : otherwise; }

 private:
  void write_to_path(const nlohmann::json& report);

  std::string path_;  // empty if no file is wanted; after a failure not the option's
  bool to_stdout_;
  bool failed_ = false;
};

/// The file of --trace (bench/trace.hpp). If it cannot be written, it is kept as a JsonOutput is.
class TraceOutput {
 public:
  /// Nothing happens without a path.
  explicit TraceOutput(std::string path);

  /// The next result: a file has it at once, and is complete; a stream not before end(). Throws
  /// Error (failure) if it cannot be written anywhere.
  void add(const Result& result);
  void end();
  /// Failure if the trace is elsewhere, `otherwise` if not.
  Exit status(Exit otherwise) const { return failed_ ? Exit::failure : otherwise; }

 private:
  void write_all();

  std::string path_, text_;
  std::size_t processes_ = 0;
  bool failed_ = false;
};

}  // namespace lugpu::cli

// The files that a command writes: checked before the work, and kept if they cannot be written
// after it.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

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

/// Where --json sends a report; nothing happens without --json.
class JsonOutput {
 public:
  explicit JsonOutput(const Options& options);
  /// A file of its own; nothing happens without a path.
  explicit JsonOutput(std::string path) : path_(std::move(path)), to_stdout_(false) {}

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
  void attempt(const std::function<void()>& write);

  std::string path_;  // empty if there is no --json; after a failure not the option's
  bool to_stdout_;
  bool failed_ = false;
};

}  // namespace lugpu::cli

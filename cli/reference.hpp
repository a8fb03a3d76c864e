// The options of a command as entries of a table: what the man pages and the completions of shells
// read. Their source is the same CLI::App that --help shows.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace lugpu::cli {

/// An option or a positional argument.
struct Entry {
  enum class Takes { nothing, text, one_of, matrix_file, file, folder };

  std::vector<std::string> names;  ///< "-o", "--output"; none for a positional argument
  std::string description;
  std::string group;  ///< under which the help lists it
  Takes takes = Takes::nothing;
  std::string value;                 ///< what its value is called, e.g. "FILE"
  std::vector<std::string> choices;  ///< its values, where they are known
  std::string range;                 ///< of numbers, e.g. "1..4096"; or empty
  std::string environment;           ///< the variable that stands in for it; or empty
  std::vector<std::string> excludes;
  bool list = false;  ///< several values, separated by commas
  bool required = false;

  bool positional() const { return names.empty(); }
};

/// The options and arguments of a command in the order of its help; `app` is the whole program.
std::vector<Entry> entries(const CLI::App& app, const CLI::App& command);

/// The endings of matrix files without the dot: "mtx", "npy", "csv".
std::vector<std::string> matrix_file_endings();

/// "a, b, c" and the like.
std::string joined(const std::vector<std::string>& parts, const std::string& between);

}  // namespace lugpu::cli

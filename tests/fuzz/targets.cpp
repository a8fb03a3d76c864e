#include "targets.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "base/printable.hpp"
#include "bench/comparison.hpp"
#include "bench/resume.hpp"
#include "bench/sweep.hpp"
#include "bench_report.hpp"
#include "bench_table.hpp"
#include "commands.hpp"
#include "compare_table.hpp"
#include "formats/formats.hpp"
#include "help.hpp"

namespace lugpu {
namespace {

// A file of this process that is gone at the end of the scope.
class Input {
 public:
  Input(const std::string& name, const std::string& bytes)
      : path_(std::filesystem::temp_directory_path() /
              ("lugpu-fuzz-" + std::to_string(getpid()) + name)) {
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  ~Input() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

[[noreturn]] void die(const std::string& why) {
  std::cerr << why << '\n';
  std::abort();
}

// A refusal is one line, as it is printed.
void require_sentence(const std::string& sentence) {
  const std::string line = printable(sentence);
  if (line.empty() || line.find('\n') != std::string::npos) die("no sentence: " + sentence);
}

// Calls `action`, which may refuse the input. Any other exception ends the process.
template <typename Action>
void may_refuse(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    require_sentence(error.what());
  }
}

void require_same(const Matrix& a, const Matrix& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols() || a.values() != b.values()) {
    die("a matrix is not read back as it was written");
  }
}

void read_file(const FormatFacts& format, const std::string& bytes) {
  constexpr double kMostElements = 1e5;  // that are made dense and written
  const Input file(format.extension, bytes);
  may_refuse([&] {
    const std::variant<Matrix, Sparse> stored = read_dense_or_sparse(file.path());
    const auto* const sparse = std::get_if<Sparse>(&stored);
    if (sparse &&
        static_cast<double>(sparse->rows()) * static_cast<double>(sparse->cols()) > kMostElements) {
      return;
    }
    const Matrix a = sparse ? made_dense(file.path(), *sparse) : std::get<Matrix>(stored);
    require_same(a, read_matrix(file.path()));
    if (!format.written) return;
    const Input copy("-copy" + format.extension, "");
    write_matrix(a, copy.path());
    require_same(a, read_matrix(copy.path()));
  });
}

void resume_sweep(const std::string& bytes) {
  const Input file(".json", bytes);
  may_refuse([&] {
    const nlohmann::json earlier = read_sweep(file.path(), "--resume");
    cli::BenchTable table(false, cli::Format::table);
    for (const nlohmann::json& row : earlier["results"]) {
      cli::is_final(row);
      table.remember(row);
    }
    require_comparable(earlier, earlier, file.path());
  });
}

// The file with itself, in which every row meets its like.
void compare_sweeps(const std::string& bytes) {
  const Input file(".json", bytes);
  may_refuse([&] {
    const nlohmann::json report = read_sweep(file.path(), "compare");
    const Comparison comparison = lugpu::compare(report, report, 0.05);
    const cli::CompareTable table(comparison);
    table.text();
    table.rows(cli::Format::markdown);
    table.summary();
    to_json(comparison);
    differences(report, report);
  });
}

// One argument a line; a subcommand comes first. Nothing is run.
void parse_flags(const std::string& bytes) {
  std::vector<std::string> arguments;
  std::istringstream lines(bytes);
  for (std::string line; std::getline(lines, line);) arguments.push_back(line);
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  CLI::App app("", "lugpu");
  app.require_subcommand(1);
  std::vector<cli::Command> commands;  // they own what the flags are parsed into
  for (const auto add : {cli::add_devices, cli::add_solve, cli::add_advise, cli::add_bench,
                         cli::add_compare, cli::add_report, cli::add_simulate, cli::add_probe,
                         cli::add_tune, cli::add_verify, cli::add_generate}) {
    commands.push_back(add(app));
  }
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) require_sentence(cli::usage_error(app, error));
  }
}

}  // namespace

const std::map<std::string, std::function<void(const std::string&)>>& fuzz_targets() {
  static const auto targets = [] {
    std::map<std::string, std::function<void(const std::string&)>> table = {
        {"resume", resume_sweep},
        {"compare", compare_sweeps},
        {"sizes", [](const std::string& bytes) { may_refuse([&] { parse_sizes(bytes); }); }},
        {"flags", parse_flags},
    };
    for (const FormatFacts& format : known_formats()) {
      table[format.extension.substr(1)] = [=](const std::string& bytes) {
        read_file(format, bytes);
      };
    }
    return table;
  }();
  return targets;
}

}  // namespace lugpu

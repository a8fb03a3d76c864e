#include <filesystem>
#include <iostream>
#include <memory>

#include "base/error.hpp"
#include "base/output_file.hpp"
#include "bench/resume.hpp"
#include "commands.hpp"
#include "help.hpp"
#include "options.hpp"
#include "outputs.hpp"
#include "report/page.hpp"
#include "terminal.hpp"

namespace lugpu::cli {
namespace {

struct ReportArguments {
  Options options;  // --force alone
  std::vector<std::string> files;
  std::string output;
};

// What no benchmark writes, and a parser would fill the memory with.
void refuse_huge(const std::string& path) {
  constexpr std::uintmax_t kMostBytes = std::uintmax_t{256} << 20;
  std::error_code none;
  if (std::filesystem::is_regular_file(path, none) &&
      std::filesystem::file_size(path, none) > kMostBytes) {
    throw InputError(path + " has more than 256 MiB; report takes files of `lugpu bench --json`.");
  }
}

std::vector<std::pair<std::string, nlohmann::json>> read_files(
    const std::vector<std::string>& paths) {
  std::vector<std::pair<std::string, nlohmann::json>> files;
  bool empty = true;
  for (const std::string& path : paths) {
    for (const auto& [other, file] : files) {
      if (is_same_file(path, other)) {
        throw InputError(other + " and " + path + " are the same file; give each once.");
      }
    }
    refuse_huge(path);
    files.emplace_back(path, read_sweep(path, "report"));
    empty = empty && files.back().second["results"].empty();
  }
  if (empty) {
    throw InputError(paths.front() + (paths.size() > 1 ? " and the others have" : " has") +
                     " no results; there is nothing to report.");
  }
  return files;
}

Exit run_report(const ReportArguments& given) {
  const auto files = read_files(given.files);
  const bool to_stdout = given.output == "-";
  std::vector<NamedFile> inputs;
  for (const std::string& path : given.files) inputs.push_back({"FILE", path});
  if (!to_stdout) check_outputs(given.options, {{"-o", given.output}}, inputs);
  const std::string page = report::page_of(report::record_of(files));
  if (to_stdout) {
    std::cout << page;
  } else {
    write_file(given.output,
               [&](std::FILE* file) { std::fwrite(page.data(), 1, page.size(), file); });
  }
  return Exit::ok;
}

}  // namespace

Command add_report(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("report", "Make one page of tables and figures from benchmarks (HTML)");
  const auto given = std::make_shared<ReportArguments>();
  command
      ->add_option("files", given->files,
                   "Files of `lugpu bench --json` or `lugpu simulate --json`")
      ->required()
      ->check(not_empty())
      ->type_name("FILE");
  command->add_option("-o,--output", given->output, "Page to write; - for standard output")
      ->required()
      ->check(not_empty())
      ->type_name("FILE.html");
  command->add_flag("--force", given->options.force, "Overwrite even a FILE that is read");
  command->footer(
      wrapped("The page has all in it: it needs no network and no script, and prints well.", 0, 0) +
      "\n\n" + exit_statuses({Exit::ok, Exit::failure, Exit::usage}));
  return [given](const std::vector<std::string>&) { return run_report(*given); };
}

}  // namespace lugpu::cli

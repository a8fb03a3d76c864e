#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>

#include "base/host_memory.hpp"
#include "base/output_file.hpp"
#include "base/version.hpp"
#include "bench/wording.hpp"
#include "bug_report.hpp"
#include "commands.hpp"
#include "distributed/process_group.hpp"
#include "exit.hpp"
#include "help.hpp"
#include "in_processes.hpp"
#include "opencl/opencl.hpp"
#include "terminal.hpp"

namespace {

using lugpu::cli::Command;
using lugpu::cli::Exit;

int fail(Exit status, const std::string& sentence) {
  lugpu::cli::show_progress("");
  lugpu::cli::print_error(sentence);
  return static_cast<int>(status);
}

// CLI11 reports --help and --version as errors of status 0. Of several processes of mpirun, which
// have the same arguments, the first one speaks.
int finish_parse(const CLI::App& app, const CLI::ParseError& error) {
  if (lugpu::launch().rank > 0) {
    return error.get_exit_code() == 0 ? 0 : static_cast<int>(lugpu::cli::after_first(Exit::usage));
  }
  if (error.get_exit_code() == 0) return app.exit(error);
  return fail(Exit::usage, lugpu::cli::usage_error(app, error));
}

int run(const std::vector<std::pair<CLI::App*, Command>>& commands,
        const std::vector<std::string>& arguments) {
  try {
    for (const auto& [app, command] : commands) {
      if (!app->parsed()) continue;
      const Exit status = command(arguments);
      // A failure has been reported already, possibly that of standard output.
      if (!std::cout.flush() && status != Exit::failure) {
        return fail(Exit::failure, "Cannot write to standard output.");
      }
      return static_cast<int>(status);
    }
  } catch (const lugpu::Error& error) {
    const Exit status = lugpu::cli::exit_of(error.kind());
    if (error.kind() != lugpu::ErrorKind::not_tried) return fail(status, lugpu::words(error));
    lugpu::cli::show_progress("");
    lugpu::cli::print_error_and_log(lugpu::words(error));
    return static_cast<int>(status);
  } catch (const cl::Error& error) {
    return fail(Exit::failure, lugpu::describe(error) + ".");
  } catch (const std::bad_alloc&) {
    return fail(Exit::failure, "This machine does not have enough memory.");
  } catch (const std::exception& error) {
    return fail(Exit::failure, error.what());
  }
  return static_cast<int>(Exit::ok);
}

}  // namespace

int main(int argc, char** argv) {
  if (const std::string sentence = lugpu::too_low_limit(); !sentence.empty()) {
    lugpu::cli::print_error(sentence);
    // Without destructors: OpenBLAS may wait for threads that wait for memory.
    std::_Exit(static_cast<int>(Exit::failure));
  }
  lugpu::remove_unfinished_files_on_signals();
  CLI::App app(
      "Solves dense linear systems by direct methods on OpenCL devices, and "
      "measures how well.",
      "lugpu");
  bool verbose = false;  // read before the version flag calls back
  CLI::Option* verbose_flag =
      app.add_flag("-v,--verbose", verbose, "With --version, print what a bug report needs");
  verbose_flag->needs(app.set_version_flag(
      "-V,--version",
      [&] {
        if (!verbose) return lugpu::cli::version_line();
        lugpu::cli::print_bug_report();
        throw CLI::Success();
      },
      "Print the version and exit"));
  app.require_subcommand(1);
  app.formatter(lugpu::cli::help_formatter());
  app.footer(lugpu::cli::exit_statuses({Exit::ok, Exit::failure, Exit::usage, Exit::singular,
                                        Exit::check_failed, Exit::no_device, Exit::slower}));
  std::vector<std::pair<CLI::App*, Command>> commands;
  for (const auto add : {lugpu::cli::add_devices, lugpu::cli::add_solve, lugpu::cli::add_advise,
                         lugpu::cli::add_bench, lugpu::cli::add_compare, lugpu::cli::add_report,
                         lugpu::cli::add_simulate, lugpu::cli::add_probe, lugpu::cli::add_tune,
                         lugpu::cli::add_verify, lugpu::cli::add_generate, lugpu::cli::add_help}) {
    const Command command = add(app);
    CLI::App* added = app.get_subcommands({}).back();
    // Anew, so that it comes last in the last group.
    added->set_help_flag("-h,--help", app.get_help_ptr()->get_description());
    commands.emplace_back(added, command);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return finish_parse(app, error);
  } catch (const std::exception& error) {
    return fail(Exit::failure, error.what());
  }
  return run(commands, {argv, argv + argc});
}

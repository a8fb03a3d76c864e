#include <CLI/CLI.hpp>
#include <iostream>

#include "commands.hpp"
#include "opencl/opencl.hpp"
#include "terminal.hpp"
#include "version.hpp"

namespace {

using lugpu::Exit;
using lugpu::cli::Command;

int fail(Exit status, const std::string& sentence) {
  lugpu::cli::show_progress("");
  std::cerr << "lugpu: " << sentence << '\n';
  return static_cast<int>(status);
}

// Help texts of 80 columns. CLI11 indents what follows a line break by itself.
class Help : public CLI::Formatter {
 public:
  Help() { column_width(kLeft); }
  std::string make_option_desc(const CLI::Option* option) const override {
    return lugpu::cli::wrapped(option->get_description(), kLeft, 0);
  }

 private:
  static constexpr std::size_t kLeft = 30;
};

// CLI11 reports --help and --version as errors of status 0.
int finish_parse(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) return app.exit(error);
  const std::vector<std::string> unknown = app.remaining(true);
  if (!unknown.empty() && app.get_subcommands().empty()) {
    return fail(Exit::usage,
                "There is no command or option \"" + unknown.front() + "\" (see `lugpu --help`).");
  }
  return fail(Exit::usage, std::string(error.what()) + " (see `lugpu --help`).");
}

int run(const std::vector<std::pair<CLI::App*, Command>>& commands,
        const std::vector<std::string>& arguments) {
  try {
    for (const auto& [app, command] : commands) {
      if (!app->parsed()) continue;
      const Exit status = command(arguments);
      if (!std::cout.flush()) return fail(Exit::failure, "Cannot write to the standard output.");
      return static_cast<int>(status);
    }
  } catch (const lugpu::Error& error) {
    return fail(error.status(), error.what());
  } catch (const cl::Error& error) {
    return fail(Exit::failure, lugpu::describe(error) + ".");
  } catch (const std::bad_alloc&) {
    return fail(Exit::failure, "This machine has not enough memory.");
  } catch (const std::exception& error) {
    return fail(Exit::failure, error.what());
  }
  return static_cast<int>(Exit::ok);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Solves dense linear systems by direct methods on OpenCL devices, and\n"
      "measures how well.",
      "lugpu");
  app.set_version_flag("-V,--version", std::string("lugpu ") + lugpu::version());
  app.require_subcommand(1);
  app.formatter(std::make_shared<Help>());
  app.footer(
      "Exit status: 0 done, 1 failed while running, 2 bad usage or input, 3 singular\n"
      "matrix, 4 failed check or breakdown without pivoting, 5 no usable device.");
  std::vector<std::pair<CLI::App*, Command>> commands;
  for (const auto add : {lugpu::cli::add_devices, lugpu::cli::add_solve, lugpu::cli::add_advise,
                         lugpu::cli::add_bench, lugpu::cli::add_probe, lugpu::cli::add_verify,
                         lugpu::cli::add_generate}) {
    const Command command = add(app);
    commands.emplace_back(app.get_subcommands({}).back(), command);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return finish_parse(app, error);
  }
  return run(commands, {argv, argv + argc});
}

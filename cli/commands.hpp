// The subcommands. Each adds itself to the app; its action runs after the parse and returns the
// exit status.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "exit.hpp"

namespace lugpu::cli {

using Command = std::function<Exit(const std::vector<std::string>& arguments)>;

Command add_devices(CLI::App& app);
Command add_solve(CLI::App& app);
Command add_advise(CLI::App& app);
Command add_bench(CLI::App& app);
Command add_compare(CLI::App& app);
Command add_report(CLI::App& app);
Command add_probe(CLI::App& app);
Command add_simulate(CLI::App& app);
Command add_tune(CLI::App& app);
Command add_generate(CLI::App& app);
Command add_verify(CLI::App& app);
/// `lugpu help`; the app must outlive it.
Command add_help(CLI::App& app);

}  // namespace lugpu::cli

// Completion in shells, from the same table as --help.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace lugpu::cli {

/// The script that completes command lines in "bash", "zsh" or "fish"; for "names" the names of the
/// subcommands, one a line.
std::string completion(const CLI::App& app, const std::string& shell);

}  // namespace lugpu::cli

// Man pages, from the same table as --help.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace lugpu::cli {

/// The page in roff of a subcommand, or that of the program for the app itself.
std::string man_page(const CLI::App& app, const CLI::App& command);

}  // namespace lugpu::cli

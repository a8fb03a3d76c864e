// Help texts, and messages about invalid command lines.
#pragma once

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exit.hpp"

namespace lugpu::cli {

/// Help texts as wide as columns().
std::shared_ptr<CLI::Formatter> help_formatter();

/// Column of the descriptions in the lists of a help text.
std::size_t help_indent();

/// "Exit status: 0 done, ..." for a help text: those that a command can return.
std::string exit_statuses(std::initializer_list<Exit> possible);

/// What a footer that ends with exit_statuses() says: the text before them, and each with its
/// meaning.
struct Footer {
  std::string text;
  std::vector<std::pair<int, std::string>> exit_statuses;
};
Footer footer_of(const CLI::App& command);

/// The sentence about a failed parse: what is wrong, what was probably meant, and which help says
/// more.
std::string usage_error(const CLI::App& app, const CLI::ParseError& error);

/// The sentence about an unknown subcommand.
std::string unknown_subcommand(const CLI::App& app, const std::string& name);

}  // namespace lugpu::cli

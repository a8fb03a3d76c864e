#include "help.hpp"

#include <algorithm>
#include <iostream>
#include <numeric>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "commands.hpp"
#include "completion.hpp"
#include "formats_help.hpp"
#include "man_page.hpp"
#include "pages.hpp"
#include "terminal.hpp"

namespace lugpu::cli {
namespace {

struct ExitStatus {
  Exit exit;
  const char* meaning;
};

constexpr ExitStatus kExitStatuses[] = {
    {Exit::ok, "done"},
    {Exit::failure, "failed while running"},
    {Exit::usage, "bad usage or input"},
    {Exit::singular, "singular matrix"},
    {Exit::check_failed, "failed check or breakdown without pivoting"},
    {Exit::no_device, "no usable device"},
    {Exit::slower, "slower than --fail-slower allows"},
};

constexpr const char* kExitStatusHead = "Exit status:";

std::string examples_of(const CLI::App& command) {
  constexpr std::size_t kPurpose = 2, kLine = 4;
  std::string text = "Examples:\n";
  for (const auto& [purpose, line] :
       page_of(command.get_parent() ? command.get_name() : "").examples) {
    text += std::string(kPurpose, ' ') + wrapped(purpose, kPurpose, kPurpose) + '\n' +
            std::string(kLine, ' ') + wrapped(line, kLine, kLine + 2) + '\n';
  }
  return text;
}

// CLI11 itself indents what follows a line break.
class Help : public CLI::Formatter {
 public:
  Help() { column_width(help_indent()); }

  std::string make_description(const CLI::App* app) const override {
    return wrapped(app->get_description(), 0, 0) + '\n';
  }
  // Long lists of values take several lines.
  std::string make_option_opts(const CLI::Option* option) const override {
    constexpr std::size_t kIndent = 6;
    std::string text = CLI::Formatter::make_option_opts(option);
    std::size_t column = kIndent + make_option_name(option, false).size();
    std::size_t begin = 0;
    while (column + text.size() - begin > columns()) {
      const std::size_t room = columns() - std::min(column, columns());
      const std::size_t comma = text.rfind(',', begin + room - 1);
      if (comma == std::string::npos || comma <= begin) break;
      text.insert(comma + 1, '\n' + std::string(kIndent, ' '));
      begin = comma + 2 + kIndent;
      column = kIndent;
    }
    return text;
  }
  std::string make_option_desc(const CLI::Option* option) const override {
    return wrapped(option->get_description(), help_indent(), 0);
  }
  std::string make_subcommand(const CLI::App* command) const override {
    std::ostringstream text;
    CLI::detail::format_help(text, command->get_name(),
                             wrapped(command->get_description(), help_indent(), 0), help_indent());
    return text.str();
  }
  // One blank line between groups; CLI11 has two.
  std::string make_help(const CLI::App* command, std::string name,
                        CLI::AppFormatMode mode) const override {
    return CLI::detail::find_and_replace(CLI::Formatter::make_help(command, std::move(name), mode),
                                         "\n\n\n", "\n\n");
  }
  // The examples stand before the exit statuses, with which the footers end.
  std::string make_footer(const CLI::App* command) const override {
    std::string text = command->get_footer();
    text.insert(text.rfind(kExitStatusHead), examples_of(*command) + '\n');
    return text + '\n';
  }
};

// Edits (a letter added, dropped or changed, or two neighbours swapped) from one word to the other:
// the optimal string alignment distance.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

// "; did you mean NAME (see ...)?" for the nearest of the known names if it is so near that it was
// probably meant: two edits, one for short names. Otherwise " (see ...).".
std::string hint(const std::string& given, const std::vector<std::string>& known,
                 const std::string& see) {
  const auto letters = [](std::string_view name) {
    return name.substr(std::min(name.find_first_not_of('-'), name.size()));
  };
  constexpr std::size_t kShort = 5;
  std::size_t nearest = letters(given).size() < kShort ? 2 : 3;  // too many edits
  std::string meant;
  for (const std::string& name : known) {
    const std::size_t distance = edit_distance(letters(given), letters(name));
    if (distance >= std::min(nearest, letters(name).size())) continue;
    nearest = distance;
    meant = name;
  }
  const std::string more = " (see `" + see + "`)";
  return meant.empty() ? more + "." : "; did you mean " + meant + more + "?";
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string help_of(const CLI::App& app, const CLI::App& command) {
  return (&command == &app ? app.get_name() : app.get_name() + ' ' + command.get_name()) +
         " --help";
}

std::string help_text(const CLI::App& app, const CLI::App& command) {
  const std::string title =
      &command == &app ? app.get_name() : app.get_name() + ' ' + command.get_name();
  return app.get_formatter()->make_help(&command, title, CLI::AppFormatMode::Normal);
}

}  // namespace

std::shared_ptr<CLI::Formatter> help_formatter() {
  return std::make_shared<Help>();
}

std::size_t help_indent() {
  constexpr std::size_t kWide = 30, kNarrow = 22;
  return columns() < kColumns ? kNarrow : kWide;
}

std::string exit_statuses(std::initializer_list<Exit> possible) {
  std::string text;
  for (const auto& [exit, meaning] : kExitStatuses) {
    if (std::find(possible.begin(), possible.end(), exit) == possible.end()) continue;
    text += (text.empty() ? kExitStatusHead + std::string(" ") : ", ") +
            std::to_string(static_cast<int>(exit)) + ' ' + meaning;
  }
  return wrapped(text + '.', 0, 0);
}

Footer footer_of(const CLI::App& command) {
  const std::string text = command.get_footer();
  const std::size_t start = std::min(text.rfind(kExitStatusHead), text.size());
  Footer footer{text.substr(0, start), {}};
  std::istringstream words(text.substr(start));
  std::string statuses;
  for (std::string word; words >> word;) statuses += ' ' + word;
  for (const auto& [exit, meaning] : kExitStatuses) {
    const int number = static_cast<int>(exit);
    const std::string listed = ' ' + std::to_string(number) + ' ' + meaning;
    if (statuses.find(listed) != std::string::npos) {
      footer.exit_statuses.emplace_back(number, meaning);
    }
  }
  return footer;
}

std::string unknown_subcommand(const CLI::App& app, const std::string& name) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return "There is no subcommand \"" + name + '"' + hint(name, names, help_of(app, app));
}

std::string usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const auto parsed = app.get_subcommands();
  const bool before_subcommand = parsed.empty() || !app.remaining().empty();
  const CLI::App& command = before_subcommand ? app : *parsed.front();
  const std::vector<std::string> unknown = command.remaining();
  const auto option = std::find_if(unknown.begin(), unknown.end(), [](const std::string& word) {
    return word.starts_with('-') && word != "--";
  });
  if (option != unknown.end()) {
    const std::string name = option->substr(0, option->find('='));
    const std::string owner = &command == &app ? "" : command.get_name() + " has ";
    return (owner.empty() ? "There is " : owner) + "no option \"" + name + '"' +
           hint(name, option_names(command), help_of(app, command));
  }
  if (!unknown.empty() && &command == &app) return unknown_subcommand(app, unknown.front());
  if (!unknown.empty()) {
    return command.get_name() + " takes no further argument; \"" + unknown.front() +
           "\" is one too many (see `" + help_of(app, command) + "`).";
  }
  return std::string(error.what()) + " (see `" + help_of(app, command) + "`).";
}

Command add_help(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "help", "Print the help of the program, of a subcommand or on file formats");
  const auto name = std::make_shared<std::string>();
  const auto format = std::make_shared<std::string>("text");
  command->add_option("subcommand", *name, "Subcommand, or formats")->type_name("SUBCOMMAND");
  // For the build, which installs what this prints: in no help.
  command->add_option("--format", *format)
      ->check(CLI::IsMember({"text", "man", "bash", "zsh", "fish", "names"}))
      ->group("");
  command->footer(exit_statuses({Exit::ok, Exit::failure, Exit::usage}));
  return [&app, name, format](const std::vector<std::string>&) {
    if (*name == kFormatsTopic) {
      std::cout << formats_help();
      return Exit::ok;
    }
    const CLI::App* wanted = &app;
    if (!name->empty()) {
      const auto all = app.get_subcommands({});
      const auto found = std::find_if(
          all.begin(), all.end(), [&](const CLI::App* one) { return one->get_name() == *name; });
      if (found == all.end()) throw InputError(unknown_subcommand(app, *name));
      wanted = *found;
    }
    std::cout << (*format == "text"  ? help_text(app, *wanted)
                  : *format == "man" ? man_page(app, *wanted)
                                     : completion(app, *format));
    return Exit::ok;
  };
}

}  // namespace lugpu::cli

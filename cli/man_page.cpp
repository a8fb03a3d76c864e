#include "man_page.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <ctime>
#include <sstream>
#include <utility>

#include "base/version.hpp"
#include "help.hpp"
#include "pages.hpp"
#include "reference.hpp"

namespace lugpu::cli {
namespace {

struct Variable {
  const char* name;
  const char* option;  ///< of the commands that it concerns; empty for all
  const char* meaning;
};
constexpr Variable kVariables[] = {
    {"COLUMNS", "", "Width of the text, between 40 and 80 columns."},
    {"NO_COLOR", "--color", "If it has a value, `--color auto` does not colour."},
    {"XDG_CACHE_HOME", "--kernel-dir",
     "The folder whose lugpu/ keeps what `lugpu verify` found wrong (default: ~/.cache)."},
    {"POCL_AFFINITY", "--kernel-dir",
     "With PoCL, whether each of its threads stays on one core. lugpu chooses if it has no value."},
    {"POCL_MAX_PTHREAD_COUNT", "--kernel-dir",
     "The number of PoCL's threads. Where this process may not use all processors, lugpu gives it "
     "the number of those that it may."},
    {"POCL_CACHE_DIR", "--kernel-dir",
     "PoCL's folder of compiled kernels. Where that cannot be written, lugpu gives it one in the "
     "temporary folder."},
    {"OPENBLAS_NUM_THREADS", "--threads", "Threads of OpenBLAS, unless `--threads` says."},
};

// Every character of prose as roff prints it.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '\\':
        result += "\\e";
        break;
      case '-':
        result += "\\-";
        break;
      case '^':
        result += "\\(ha";
        break;
      case '~':
        result += "\\(ti";
        break;
      case '\'':
        result += "\\(aq";
        break;
      case '`':
        result += "\\(ga";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string bold(const std::string& text) {
  return "\\fB" + escaped(text) + "\\fR";
}
std::string italic(const std::string& text) {
  return "\\fI" + escaped(text) + "\\fR";
}

// Text in roff, broken into lines, of which none is taken for a request.
std::string in_lines(const std::string& text) {
  constexpr std::size_t kLongest = 78;
  std::istringstream words(text);
  std::string result, line;
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > kLongest) {
      result += line + '\n';
      line.clear();
    }
    if (line.empty() && word.starts_with('.')) line = "\\&";
    line += (line.empty() || line == "\\&" ? "" : " ") + word;
  }
  return line.empty() ? result : result + line + '\n';
}

// Prose in lines; what is between backquotes is bold.
std::string prose(const std::string& text) {
  std::string result;
  bool quoted = false;
  for (const std::string& part : CLI::detail::split(text, '`')) {
    result += quoted ? bold(part) : escaped(part);
    quoted = !quoted;
  }
  return in_lines(result);
}

std::string sentence(std::string text) {
  if (!text.empty() && text.back() != '.') text += '.';
  return text;
}

std::string with_upper_start(std::string text) {
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

std::string with_lower_start(std::string text) {
  if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1]))) {
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  }
  if (text.ends_with('.')) text.pop_back();
  return text;
}

// The day of the build, or of the source where a reproducible build says so.
std::string day() {
  const char* given = std::getenv("SOURCE_DATE_EPOCH");
  const std::time_t time = given ? std::strtoll(given, nullptr, 10) : std::time(nullptr);
  std::tm parts{};
  gmtime_r(&time, &parts);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &parts);
  return text;
}

std::string page_name(const CLI::App& app, const CLI::App& command) {
  return &app == &command ? app.get_name() : app.get_name() + '-' + command.get_name();
}

std::string command_line(const CLI::App& app, const CLI::App& command) {
  return &app == &command ? app.get_name() : app.get_name() + ' ' + command.get_name();
}

std::string synopsis(const CLI::App& app, const CLI::App& command,
                     const std::vector<Entry>& table) {
  std::string text = bold(command_line(app, command)) + " [" + italic("OPTIONS") + ']';
  for (const Entry& entry : table) {
    if (!entry.positional() && entry.required) {
      text += ' ' + bold(entry.names.front()) + ' ' + italic(entry.value);
    }
  }
  for (const Entry& entry : table) {
    if (!entry.positional()) continue;
    text += entry.required ? ' ' + italic(entry.value) : " [" + italic(entry.value) + ']';
  }
  if (&app == &command) text += ' ' + bold("SUBCOMMAND") + " ...";
  return in_lines(text);
}

// A footer's text: paragraphs, and lists "Title:" with lines "  name  meaning", continued on lines
// that start further in.
std::string paragraphs(const std::string& footer) {
  std::istringstream lines(footer);
  std::string text, paragraph;
  const auto end_paragraph = [&] {
    if (!paragraph.empty()) text += ".PP\n" + prose(paragraph);
    paragraph.clear();
  };
  for (std::string line; std::getline(lines, line);) {
    const std::size_t start = line.find_first_not_of(' ');
    if (start == 2) {
      end_paragraph();
      const std::size_t end = line.find(' ', start);
      text += ".TP\n" + bold(line.substr(start, end - start)) + '\n' +
              prose(line.substr(std::min(end, line.size())));
    } else if (start != std::string::npos && start > 2) {
      text += prose(line);
    } else if (start == std::string::npos) {
      end_paragraph();
    } else {
      paragraph += ' ' + line;
    }
  }
  end_paragraph();
  return text;
}

std::string option(const Entry& entry) {
  std::vector<std::string> names;
  for (const std::string& name : entry.names) names.push_back(bold(name));
  std::string text = ".TP\n" + joined(names, ", ");
  if (!entry.value.empty()) text += (entry.positional() ? "" : " ") + italic(entry.value);
  text += '\n' + prose(sentence(entry.description));
  if (!entry.choices.empty() && entry.value != "KIND") {
    const std::string head = italic(entry.value) + (entry.list ? ", separated by commas: " : ": ");
    std::vector<std::string> values;
    for (const std::string& value : entry.choices) values.push_back(bold(value));
    text += in_lines(head + joined(values, ", ") + '.');
  }
  if (!entry.range.empty()) {
    text += italic(entry.value) + (entry.list ? ", separated by commas: " : ": ") +
            prose(entry.range + '.');
  }
  if (!entry.environment.empty()) {
    text += in_lines("Where it is not given, " + bold(entry.environment) + " counts.");
  }
  if (!entry.excludes.empty()) {
    text += prose("Not together with " + joined(entry.excludes, " or ") + '.');
  }
  return text;
}

std::string commands(const CLI::App& app) {
  std::string text = ".SH COMMANDS\n";
  for (const CLI::App* command : app.get_subcommands({})) {
    text += ".TP\n.BR " + escaped(page_name(app, *command)) + " (1)\n" +
            prose(sentence(command->get_description()));
  }
  return text;
}

std::string environment(const std::vector<Entry>& table) {
  std::string text = ".SH ENVIRONMENT\n";
  const auto add = [&](const std::string& name, const std::string& meaning) {
    text += ".TP\n" + bold(name) + '\n' + prose(meaning);
  };
  const auto has = [&](const std::string& option) {
    return std::any_of(table.begin(), table.end(), [&](const Entry& entry) {
      return std::count(entry.names.begin(), entry.names.end(), option) > 0;
    });
  };
  for (const Entry& entry : table) {
    if (entry.environment.empty()) continue;
    add(entry.environment, "Counts where `" + entry.names.back() + "` is not given.");
  }
  for (const Variable& variable : kVariables) {
    if (std::string(variable.option).empty() || has(variable.option)) {
      add(variable.name, variable.meaning);
    }
  }
  return text;
}

std::string examples(const Page& page) {
  if (page.examples.empty()) return "";
  std::string text = ".SH EXAMPLES\n";
  for (const Example& example : page.examples) {
    if (&example != &page.examples.front()) text += ".PP\n";
    text += prose(example.purpose) + ".PP\n.RS 4\n.EX\n" + escaped(example.line) + "\n.EE\n.RE\n";
  }
  return text;
}

std::string see_also(const CLI::App& app, const CLI::App& command) {
  std::vector<std::string> names;
  if (&app != &command) names.push_back(app.get_name());
  for (const CLI::App* other : app.get_subcommands({})) {
    if (other != &command) names.push_back(page_name(app, *other));
  }
  names.emplace_back("clinfo");
  std::string text = ".SH SEE ALSO\n";
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += ".BR " + escaped(names[i]) + (i + 1 < names.size() ? " (1),\n" : " (1)\n");
  }
  return text;
}

}  // namespace

std::string man_page(const CLI::App& app, const CLI::App& command) {
  const bool whole = &app == &command;
  const std::vector<Entry> table = entries(app, command);
  const std::string name = page_name(app, command);
  const Footer footer = footer_of(command);
  const Page& page = page_of(whole ? "" : command.get_name());
  std::string title = name;
  for (char& c : title) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));

  std::string text = ".\\\" Written by `lugpu help --format man`.\n.TH " + escaped(title) + " 1 " +
                     day() + " \"lugpu " + version() + "\" \"User Commands\"\n";
  text += ".SH NAME\n" +
          in_lines(escaped(name) + " \\- " + escaped(with_lower_start(command.get_description())));
  text += ".SH SYNOPSIS\n" + synopsis(app, command, table);
  text += ".SH DESCRIPTION\n" + prose(sentence(command.get_description())) + prose(page.details) +
          paragraphs(footer.text);
  if (whole) text += commands(app);
  text += ".SH OPTIONS\n";
  std::string group;
  for (const Entry& entry : table) {
    if (!entry.positional() && std::exchange(group, entry.group) != entry.group) {
      text += ".SS " + escaped(entry.group) + '\n';
    }
    text += option(entry);
  }
  text += ".SH EXIT STATUS\n";
  for (const auto& [status, meaning] : footer.exit_statuses) {
    text +=
        ".TP\n" + bold(std::to_string(status)) + '\n' + prose(with_upper_start(sentence(meaning)));
  }
  return text + environment(table) + examples(page) + see_also(app, command);
}

}  // namespace lugpu::cli

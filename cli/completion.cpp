#include "completion.hpp"

#include <algorithm>

#include "reference.hpp"

namespace lugpu::cli {
namespace {

using Takes = Entry::Takes;

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

// What a menu shows of an option: its description without the default and marks of code.
std::string summary(const Entry& entry) {
  return replaced(entry.description.substr(0, entry.description.find(" (default")), "`", "");
}

std::vector<Entry> options(const CLI::App& app, const CLI::App& command) {
  std::vector<Entry> table = entries(app, command);
  std::erase_if(table, [](const Entry& entry) { return entry.positional(); });
  return table;
}

std::vector<Entry> arguments(const CLI::App& app, const CLI::App& command) {
  std::vector<Entry> table = entries(app, command);
  std::erase_if(table, [](const Entry& entry) { return !entry.positional(); });
  return table;
}

std::vector<std::string> names_of_commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

// The program itself, whose name is empty here, and its subcommands.
std::vector<std::pair<std::string, const CLI::App*>> all_commands(const CLI::App& app) {
  std::vector<std::pair<std::string, const CLI::App*>> all = {{"", &app}};
  for (const CLI::App* command : app.get_subcommands({})) {
    all.emplace_back(command->get_name(), command);
  }
  return all;
}

// bash

// Words that follow on the command line's $cur; nothing where nobody can know them.
std::string bash_words(const std::vector<std::string>& words) {
  return "COMPREPLY=($(compgen -W '" + joined(words, " ") + "' -- \"$cur\"))";
}

std::string bash_values(const Entry& entry) {
  switch (entry.takes) {
    case Takes::one_of:
      return entry.list ? "_lugpu_list '" + joined(entry.choices, " ") + '\''
                        : bash_words(entry.choices);
    case Takes::matrix_file:
      return "_filedir '@(" + joined(matrix_file_endings(), "|") + ")'";
    case Takes::file:
      return "_filedir";
    case Takes::folder:
      return "_filedir -d";
    case Takes::nothing:
    case Takes::text:
      break;
  }
  return "";
}

// Sets the options of the command on the line, and those that take a value.
std::string bash_options(const CLI::App& app) {
  std::string text = "    case $command in\n";
  for (const auto& [name, command] : all_commands(app)) {
    std::vector<std::string> offered, with_value;
    for (const Entry& entry : options(app, *command)) {
      offered.push_back(entry.names.back());
      if (entry.takes == Takes::nothing) continue;
      with_value.insert(with_value.end(), entry.names.begin(), entry.names.end());
    }
    text += "        '" + name + "')\n            options='" + joined(offered, " ") +
            "'\n            with_value='" + joined(with_value, " ") + "' ;;\n";
  }
  return text + "    esac\n";
}

std::string bash_case(const std::string& pattern, const std::string& action) {
  return action.empty() ? "" : "        " + pattern + ") " + action + " ;;\n";
}

constexpr const char* kBashHead =
    R"(# bash completion for lugpu, written by `lugpu help --format bash`

# The last of several values, separated by commas.
_lugpu_list()
{
    local before=
    [[ $cur == *,* ]] && before=${cur%,*},
    COMPREPLY=($(compgen -P "$before" -W "$1" -- "${cur##*,}"))
}

_lugpu()
{
    local cur prev words cword split
    _init_completion -s || return

    # The command, and how many of its arguments are there.
    local command= options= with_value= arguments=0 i
    for ((i = 1; i < cword; i++)); do
        [[ ${words[i]} == -* ]] || { command=${words[i]}; break; }
    done
)";

std::string bash(const CLI::App& app) {
  std::string values, positions = bash_case("',0'", bash_words(names_of_commands(app)));
  for (const auto& [name, command] : all_commands(app)) {
    const std::string start = name + ',';
    for (const Entry& entry : options(app, *command)) {
      std::vector<std::string> patterns;
      for (const std::string& option : entry.names) patterns.push_back(start + option);
      values += bash_case(joined(patterns, "|"), bash_values(entry));
    }
    std::size_t position = 0;
    for (const Entry& entry : arguments(app, *command)) {
      positions += bash_case(start + std::to_string(position++), bash_values(entry));
    }
  }
  return kBashHead + bash_options(app) +
         R"(    for ((i++; i < cword; i++)); do
        [[ ${words[i]} == -* || " $with_value " == *" ${words[i - 1]} "* ]] || ((arguments++))
    done

    if $split || [[ " $with_value " == *" $prev "* ]]; then
        case $command,$prev in
)" + replaced(values, "\n        ", "\n            ").insert(0, "    ") +
         R"(        esac
    elif [[ $cur == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$cur"))
    else
        case $command,$arguments in
)" + replaced(positions, "\n        ", "\n            ").insert(0, "    ") +
         R"(        esac
    fi
} &&
    complete -F _lugpu lugpu
)";
}

// zsh

std::string zsh_quoted(const std::string& text) {
  return replaced(text, "'", "'\\''");
}

std::string zsh_values(const Entry& entry) {
  switch (entry.takes) {
    case Takes::one_of:
      return entry.list ? "_values -s , " + entry.value + ' ' + joined(entry.choices, " ")
                        : '(' + joined(entry.choices, " ") + ')';
    case Takes::matrix_file:
      return "_files -g \"*.(" + joined(matrix_file_endings(), "|") + ")\"";
    case Takes::file:
      return "_files";
    case Takes::folder:
      return "_files -/";
    case Takes::nothing:
    case Takes::text:
      break;
  }
  return " ";
}

// An argument of _arguments.
std::string zsh_spec(const Entry& entry) {
  if (entry.positional()) {
    return '\'' + std::string(entry.required ? ":" : "::") + entry.value + ':' + zsh_values(entry) +
           '\'';
  }
  const bool value = entry.takes != Takes::nothing;
  std::vector<std::string> names;
  for (const std::string& name : entry.names) {
    names.push_back(name + (!value ? "" : name.starts_with("--") ? "=" : "+"));
  }
  const std::string text = replaced(replaced(summary(entry), "[", "\\["), "]", "\\]");
  const std::string tail = "'[" + zsh_quoted(text) + ']' +
                           (value ? ':' + entry.value + ':' + zsh_quoted(zsh_values(entry)) : "") +
                           '\'';
  return names.size() == 1
             ? names.front() + tail
             : "'(" + joined(entry.names, " ") + ")'{" + joined(names, ",") + '}' + tail;
}

std::string zsh(const CLI::App& app) {
  std::string commands, cases;
  for (const CLI::App* command : app.get_subcommands({})) {
    commands +=
        "    '" + command->get_name() + ':' + zsh_quoted(command->get_description()) + "'\n";
    cases += "      (" + command->get_name() + ")\n        _arguments -S";
    for (const Entry& entry : entries(app, *command)) {
      cases += " \\\n          " + zsh_spec(entry);
    }
    cases += "\n        ;;\n";
  }
  std::string own;
  for (const Entry& entry : options(app, app)) own += "    " + zsh_spec(entry) + " \\\n";
  return "#compdef lugpu\n# Written by `lugpu help --format zsh`.\n\n_lugpu() {\n"
         "  local curcontext=$curcontext state line ret=1\n  local -a commands=(\n" +
         commands + "  )\n  _arguments -C -S \\\n" + own +
         "    '1: :->command' '*:: :->arguments' && ret=0\n"
         "  case $state in\n    (command) _describe -t commands command commands && ret=0 ;;\n"
         "    (arguments)\n      curcontext=${curcontext%:*:*}:lugpu-$words[1]:\n"
         "      case $words[1] in\n" +
         replaced(cases, "\n      ", "\n        ").insert(0, "  ") +
         "      esac && ret=0 ;;\n  esac\n  return ret\n}\n\n_lugpu \"$@\"\n";
}

// fish

std::string fish_quoted(const std::string& text) {
  return '\'' + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + '\'';
}

std::string fish_values(const Entry& entry) {
  switch (entry.takes) {
    case Takes::one_of:
      return " -x -a " + fish_quoted(entry.list ? "(__fish_complete_list , \"string split , " +
                                                      joined(entry.choices, ",") + "\")"
                                                : joined(entry.choices, " "));
    case Takes::matrix_file:
    case Takes::file:
      return " -r -F";
    case Takes::folder:
      return " -x -a '(__fish_complete_directories)'";
    case Takes::text:
      return " -x";
    case Takes::nothing:
      break;
  }
  return "";
}

std::string fish(const CLI::App& app) {
  std::string text =
      "# fish completion for lugpu, written by `lugpu help --format fish`\ncomplete -c lugpu -f\n";
  for (const CLI::App* command : app.get_subcommands({})) {
    text += "complete -c lugpu -n __fish_use_subcommand -a " + command->get_name() + " -d " +
            fish_quoted(command->get_description()) + '\n';
  }
  for (const auto& [name, command] : all_commands(app)) {
    const std::string start =
        "complete -c lugpu -n " +
        (name.empty() ? "__fish_use_subcommand" : "'__fish_seen_subcommand_from " + name + '\'');
    for (const Entry& entry : options(app, *command)) {
      text += start;
      for (const std::string& option : entry.names) {
        const std::size_t dashes = option.find_first_not_of('-');
        text += (dashes == 1 ? " -s " : " -l ") + option.substr(dashes);
      }
      text += fish_values(entry) + " -d " + fish_quoted(summary(entry)) + '\n';
    }
    for (const Entry& entry : arguments(app, *command)) {
      if (entry.takes == Takes::matrix_file) text += start + " -F\n";
      if (entry.takes == Takes::one_of) text += start + fish_values(entry) + '\n';
    }
  }
  return text;
}

}  // namespace

std::string completion(const CLI::App& app, const std::string& shell) {
  if (shell == "names") return joined(names_of_commands(app), "\n") + '\n';
  return shell == "bash" ? bash(app) : shell == "zsh" ? zsh(app) : fish(app);
}

}  // namespace lugpu::cli

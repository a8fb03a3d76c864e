#include "reference.hpp"

#include <algorithm>

#include "baselines/baselines.hpp"
#include "formats/formats.hpp"
#include "formats_help.hpp"
#include "matrix/generate.hpp"

namespace lugpu::cli {
namespace {

using Takes = Entry::Takes;

// The values of an option that takes some of a table's rows but has no list of its own.
std::vector<std::string> rows_of_tables(const CLI::App& app, const Entry& entry) {
  std::vector<std::string> names;
  if (entry.value == "KIND") {
    for (const MatrixKind& kind : matrix_kinds()) names.emplace_back(kind.name);
  } else if (entry.value == "SUBCOMMAND") {
    for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
    names.emplace_back(kFormatsTopic);
  } else if (entry.names == std::vector<std::string>{"--baseline"}) {
    for (const Baseline& baseline : baselines()) names.emplace_back(baseline.name);
    names.emplace_back("none");
  }
  return names;
}

Takes kind_of_value(const Entry& entry) {
  if (!entry.choices.empty()) return Takes::one_of;
  if (entry.value == "DIR") return Takes::folder;
  const bool matrix = entry.description.find(readable_extensions()) != std::string::npos ||
                      entry.description.find(writable_extensions()) != std::string::npos;
  if (matrix || entry.value == "MATRIX" || entry.value == "RHS") return Takes::matrix_file;
  return entry.value.starts_with("FILE") ? Takes::file : Takes::text;
}

// CLI11 shows what it knows of a value as "WHICH:{none,partial}", "N:1..4096" or "FILE".
void read_type(const std::string& type, Entry& entry) {
  const auto colon = std::min(type.find(':'), type.size());
  entry.value = type.substr(0, colon);
  const std::string known = colon < type.size() ? type.substr(colon + 1) : "";
  if (known.starts_with('{')) {
    entry.choices = CLI::detail::split(known.substr(1, known.size() - 2), ',');
  } else {
    entry.range = known;
  }
}

Entry entry_of(const CLI::App& app, const CLI::Option& option) {
  Entry entry;
  if (!option.get_positional()) {
    for (const std::string& name : option.get_snames()) entry.names.push_back('-' + name);
    for (const std::string& name : option.get_lnames()) entry.names.push_back("--" + name);
  }
  entry.description = option.get_description();
  entry.group = option.get_group();
  entry.environment = option.get_envname();
  for (const CLI::Option* other : option.get_excludes()) {
    entry.excludes.push_back(other->get_name());
  }
  std::sort(entry.excludes.begin(), entry.excludes.end());  // CLI11 keeps them by address
  entry.required = option.get_required();
  if (option.get_items_expected_max() == 0) return entry;
  read_type(option.get_type_name(), entry);
  if (entry.choices.empty()) entry.choices = rows_of_tables(app, entry);
  entry.takes = kind_of_value(entry);
  entry.list = option.get_delimiter() == ',';
  return entry;
}

}  // namespace

std::vector<Entry> entries(const CLI::App& app, const CLI::App& command) {
  std::vector<Entry> table;
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_group().empty()) table.push_back(entry_of(app, *option));
  }
  return table;
}

std::vector<std::string> matrix_file_endings() {
  std::vector<std::string> endings;
  for (const FormatFacts& format : known_formats()) {
    for (const std::string& extension :
         CLI::detail::split(format.extension + ' ' + format.others, ' ')) {
      if (!extension.empty()) endings.push_back(extension.substr(1));
    }
  }
  return endings;
}

std::string joined(const std::vector<std::string>& parts, const std::string& between) {
  return CLI::detail::join(parts, between);
}

}  // namespace lugpu::cli

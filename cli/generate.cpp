#include "matrix/generate.hpp"

#include <iostream>
#include <memory>

#include "commands.hpp"
#include "formats/formats.hpp"
#include "help.hpp"
#include "options.hpp"
#include "outputs.hpp"
#include "terminal.hpp"

namespace lugpu::cli {
namespace {

// A dense matrix of this order takes 8 GiB.
constexpr std::size_t kLargestOrder = 32768;

struct GenerateArguments {
  std::string kind;
  std::size_t n = 0;
  std::uint64_t seed = 1;
  std::string output;
};

std::string list_of_kinds() {
  std::string text = "Kinds:\n";
  for (const MatrixKind& kind : matrix_kinds()) {
    const std::string head = format("  %-27s ", kind.name);
    text += head + wrapped(kind.description, head.size(), head.size()) + "\n";
  }
  return text;
}

}  // namespace

Command add_generate(CLI::App& app) {
  CLI::App* command = app.add_subcommand("generate", "Write a test matrix to a file");
  const auto given = std::make_shared<GenerateArguments>();
  command->add_option("kind", given->kind, "Kind of matrix, see below")
      ->required()
      ->type_name("KIND");
  command->add_option("n", given->n, "Order")
      ->required()
      ->transform(whole_number(1, kLargestOrder))
      ->type_name("N");
  command->add_option("-o,--output", given->output, "File to write: " + writable_extensions())
      ->required()
      ->type_name("FILE");
  command->add_option("--seed", given->seed, "Seed of the random numbers (default: 1)")
      ->transform(whole_number(0, kLargestSeed))
      ->type_name("SEED");
  command->footer(list_of_kinds() + '\n' + exit_statuses({Exit::ok, Exit::failure, Exit::usage}));
  return [given](const std::vector<std::string>&) {
    check_format(given->output);
    check_outputs({}, {{"-o", given->output}}, {});
    write_matrix(generate(given->kind, given->n, given->seed), given->output);
    return Exit::ok;
  };
}

}  // namespace lugpu::cli

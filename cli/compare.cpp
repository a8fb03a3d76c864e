#include <iostream>
#include <memory>
#include <optional>

#include "base/error.hpp"
#include "base/output_file.hpp"
#include "base/printable.hpp"
#include "bench/comparison.hpp"
#include "bench/report.hpp"
#include "bench/resume.hpp"
#include "commands.hpp"
#include "compare_table.hpp"
#include "help.hpp"
#include "options.hpp"
#include "outputs.hpp"
#include "terminal.hpp"

namespace lugpu::cli {
namespace {

struct CompareArguments {
  Options options;
  std::string a, b;
  double threshold = 0.05;
  std::optional<double> fail_slower;
};

// A text of a report; empty if it has none there.
std::string text_at(const nlohmann::json& report, const char* place) {
  const nlohmann::json value = report.value(nlohmann::json::json_pointer(place), nlohmann::json());
  return value.is_string() ? value.get<std::string>() : "";
}

// The file, and what wrote it when.
nlohmann::json side_of(const std::string& path, const nlohmann::json& report) {
  return {{"file", path},
          {"version", text_at(report, "/tool/version")},
          {"git_rev", text_at(report, "/tool/git_rev")},
          {"time_utc", text_at(report, "/context/time_utc")}};
}

std::string title_of(const nlohmann::json& side) {
  std::string text = side["file"];
  for (const char* field : {"version", "git_rev", "time_utc"}) {
    const std::string value = side[field];
    if (!value.empty()) text += (field == std::string("version") ? ", lugpu " : ", ") + value;
  }
  return text;
}

// How a row is judged, for the help and below the table.
std::string rule(double threshold) {
  const std::string limit = format("%g %%", 100 * threshold);
  return "ratio: the speed of B over that of A, by their medians, and its 95 % interval from "
         "resamples of both. same: the interval is within " +
         limit +
         " of 1. faster, slower: the interval is on one side of 1, and both the medians and the "
         "shortest tenth of the samples differ by more than " +
         limit +
         ", and other programs had less than a tenth of the machine where it was slower. unclear: "
         "neither; bench both again on an idle machine, with --noise 2% for more samples.";
}

// The lines above the table, each with its label.
std::vector<std::pair<std::string, std::string>> heading(const nlohmann::json& record,
                                                         const CompareTable& table) {
  std::vector<std::pair<std::string, std::string>> lines = {{"A", title_of(record["a"])},
                                                            {"B", title_of(record["b"])}};
  const std::vector<std::string> differences = record["differences"];
  if (!differences.empty()) lines.emplace_back("differ in", CLI::detail::join(differences, ", "));
  if (!table.in_all().empty()) lines.emplace_back("all have", table.in_all());
  return lines;
}

void print_text(const Comparison& comparison, const nlohmann::json& record) {
  const CompareTable table(comparison);
  const auto print = [](const std::string& label, const std::string& text) {
    const std::string head = format("%-9s ", label.c_str());
    std::cout << head << wrapped(text, head.size(), head.size()) << '\n';
  };
  for (const auto& [label, text] : heading(record, table)) print(label, text);
  std::cout << '\n' << table.text() << '\n';
  const std::vector<std::string> summary = table.summary();
  for (std::size_t i = 0; i < summary.size(); ++i) print(i == 0 ? "B is" : "ratios", summary[i]);
  std::cout << '\n' << wrapped(rule(comparison.threshold), 0, 0) << '\n';
}

void print_markdown(const Comparison& comparison, const nlohmann::json& record) {
  const CompareTable table(comparison);
  for (const auto& [label, text] : heading(record, table)) {
    std::cout << "- " << label << (label.size() == 1 ? ": " : " ") << printable(text) << '\n';
  }
  std::cout << '\n' << table.rows(Format::markdown) << '\n';
  const std::vector<std::string> summary = table.summary();
  for (std::size_t i = 0; i < summary.size(); ++i) {
    std::cout << "- " << (i == 0 ? "B is " : "ratios: ") << summary[i] << '\n';
  }
}

bool has_worse(const Comparison& comparison, double limit) {
  return std::ranges::any_of(comparison.cases,
                             [&](const ComparedCase& one) { return is_worse(one, limit); });
}

Exit run_compare(const CompareArguments& given, const std::vector<std::string>& arguments) {
  set_colour(given.options.colour);
  if (is_same_file(given.a, given.b)) {
    throw InputError(given.a + " and " + given.b +
                     " are the same file; give the files of two runs.");
  }
  const nlohmann::json a = read_sweep(given.a, "compare"), b = read_sweep(given.b, "compare");
  check_outputs(given.options, {}, {{"FILE_A", given.a}, {"FILE_B", given.b}});
  const Comparison comparison = compare(a, b, given.threshold);
  nlohmann::json record = to_json(comparison);
  record["a"] = side_of(given.a, a);
  record["b"] = side_of(given.b, b);
  record["differences"] = differences(a, b);
  if (given.options.prints()) print_text(comparison, record);
  if (given.options.prints_rows()) {
    if (given.options.format == Format::markdown) print_markdown(comparison, record);
    if (given.options.format == Format::csv)
      std::cout << CompareTable(comparison).rows(Format::csv);
  }
  nlohmann::json report = report_head(arguments, {}, {});
  report["comparison"] = std::move(record);
  JsonOutput json_output(given.options);
  json_output.write(report);
  const bool fails = given.fail_slower && has_worse(comparison, *given.fail_slower);
  return json_output.status(fails ? Exit::slower : Exit::ok);
}

}  // namespace

Command add_compare(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "compare", "Say what became faster or slower from one benchmark to another");
  const auto given = std::make_shared<CompareArguments>();
  command->add_option("a", given->a, "The file A of `lugpu bench --json`")
      ->required()
      ->type_name("FILE_A");
  command->add_option("b", given->b, "The file B, of the same cases")
      ->required()
      ->type_name("FILE_B");
  command->option_defaults()->group("Judgement");
  command
      ->add_option("--threshold", given->threshold,
                   "Differences up to this are no change (default: 5%)")
      ->transform(fraction(0, 0.99))
      ->type_name("P");
  command
      ->add_option("--fail-slower", given->fail_slower,
                   "End with exit status 6 if a case is slower by more than this, or no longer ok")
      ->transform(fraction(0, 0.99))
      ->type_name("P");
  add_format_option(*command, given->options);
  command->add_flag_callback(
      "--markdown", [given] { given->options.format = Format::markdown; },
      "The same as --format markdown");
  add_report_options(*command, given->options);
  command->footer(wrapped(rule(CompareArguments().threshold), 0, 0) + "\n\n" +
                  exit_statuses({Exit::ok, Exit::failure, Exit::usage, Exit::slower}));
  return
      [given](const std::vector<std::string>& arguments) { return run_compare(*given, arguments); };
}

}  // namespace lugpu::cli

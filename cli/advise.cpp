#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>
#include <variant>

#include "advise_report.hpp"
#include "advise_sparse.hpp"
#include "base/printable.hpp"
#include "bench/advice.hpp"
#include "bench/report.hpp"
#include "bench/sweep.hpp"
#include "commands.hpp"
#include "formats/formats.hpp"
#include "help.hpp"
#include "options.hpp"
#include "outputs.hpp"
#include "system.hpp"
#include "table.hpp"
#include "terminal.hpp"

namespace lugpu::cli {
namespace {

struct AdviseArguments {
  Options options;
  std::string matrix, rhs, format;
  std::optional<int> digits;
  Effort effort{.runs = 3, .min_time_s = 0, .check_factors = false};
};

std::string cell(const char* pattern, const std::optional<double>& value) {
  return value ? format(pattern, *value) : "-";
}

bool fell_back(const Result& result) {
  return result.refinement && !result.refinement->fallback.empty();
}

Table make_table() {
  return {{{"", "best", -1, 0},
           {"pivot", "pivot", -7, 0},
           {"prec.", "precision", -6, 0},
           {"method", "routine", -11, 0}},
          {{"time", "total_s", 9, 0},
           {"backward", "berr", 9, 0},
           {"growth", "growth", 9, 2},
           {"rcond", "rcond", 9, 1},
           {"digits", "digits", 7, 0}},
          Format::table};
}

Row row(const Result& result, bool best) {
  const Problem& problem = result.what.problem;
  Row row{{{best ? ">" : ""},
           {name(problem.dense.pivot)},
           {std::string(precision_name(problem)) + (fell_back(result) ? "*" : "")},
           {result.what.routine}},
          {},
          name(result.status),
          result.reason};
  if (result.status != RunStatus::ok) return row;
  const std::optional<int> digits = guaranteed_digits(result);
  for (const std::string& number :
       {duration(result.phases_s.at("total")), cell("%.2g", backward_error(result)),
        cell("%.3g", result.checks.growth), cell("%.2g", result.checks.rcond),
        digits ? std::to_string(*digits) : "-"}) {
    row.numbers.push_back({number, std::nullopt, best ? Ink::good : Ink::plain});
  }
  return row;
}

// why: A was made dense; empty if the file is.
void print(const AdviseArguments& given, const Device& device, const std::string& why,
           const std::vector<Result>& results, const Advice& advice) {
  const std::string n = std::to_string(results.front().what.problem.size.n);
  std::cout << "A         "
            << wrapped(printable(given.matrix) + ", " + n + " x " + n +
                           (why.empty() ? "" : ", made dense: " + why),
                       10, 10)
            << '\n'
            << "device    " << wrapped(device.name + " (" + device.platform + ")", 10, 10)
            << "\n\n";
  const Table table = make_table();
  std::cout << table.header();
  for (std::size_t i = 0; i < results.size(); ++i) {
    std::cout << table.row(row(results[i], i == advice.best));
  }
  const std::string note = std::any_of(results.begin(), results.end(), fell_back)
                               ? " *: factored in double after all."
                               : "";
  std::cout << '\n'
            << wrapped(advice.sentence, 0, 0) << "\n\n"
            << wrapped(std::string("backward: the backward error normInf(A x - b) / (normInf(A) "
                                   "normInf(x) + normInf(b)). ") +
                           (table.shows("growth") ? "growth: max |U| / max |A|. " : "") +
                           (table.shows("rcond") ? "rcond: reciprocal condition number, estimated. "
                                                 : "") +
                           "digits: decimal digits of X that are guaranteed. time: upload, factor, "
                           "solve, download." +
                           note,
                       0, 0)
            << '\n';
}

Exit advise(AdviseArguments given, const std::vector<std::string>& arguments) {
  set_colour(given.options.colour);
  check_system_arguments(given.matrix, given.rhs, given.format);
  check_outputs(given.options, {}, {{"MATRIX", given.matrix}, {"RHS", given.rhs}});
  std::variant<Matrix, Sparse> matrix =
      read_dense_or_sparse(given.matrix, {.square = true}, given.format);
  const Sparse* sparse = std::get_if<Sparse>(&matrix);
  RightHandSide rhs = sparse ? read_rhs(given.rhs, given.format, *sparse)
                             : read_rhs(given.rhs, given.format, std::get<Matrix>(matrix));
  given.matrix = input_name(given.matrix);
  given.rhs = input_name(given.rhs);
  DeviceContext context = std::move(open_devices(given.options).front());
  std::string why;
  if (sparse) {
    const AutomaticChoice choice = automatic_choice(context.device(), *sparse, given.digits);
    if (choice.plan.method || !choice.possible) {
      return advise_sparse(context,
                           {given.matrix, given.rhs, *sparse, std::move(rhs), choice, given.digits,
                            given.effort.timeout_s},
                           given.options, arguments);
    }
    why = choice.plan.why;
    matrix = made_dense(given.matrix, *sparse);
  }
  const Matrix& a = std::get<Matrix>(matrix);
  const Matrix& b = rhs.b;
  const PathRecords records = note_path_records(context);

  std::vector<Result> results;
  for (const Case& what :
       advice_cases(context.device(), a.rows(), b.cols(), given.matrix, records)) {
    show_progress(format("%s %s", name(what.problem.dense.pivot), precision_name(what.problem)));
    results.push_back(attempt(what, given.effort, [&] {
      return measure(context, find_method(what.routine), what, a, b, given.effort);
    }));
  }
  show_progress("");
  const Advice advice = lugpu::advise(results, given.digits);
  if (given.options.prints()) print(given, context.device(), why, results, advice);
  nlohmann::json report = report_head(arguments, {context.device()}, context.settings());
  for (const Result& result : results) report["results"].push_back(to_json(result));
  return finish_advice(advice, given.matrix, given.options, std::move(report));
}

}  // namespace

Command add_advise(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "advise",
      "Try every pivoting and precision on one system, or every method for sparse "
      "matrices");
  const auto given = std::make_shared<AdviseArguments>();
  add_system_arguments(*command, given->matrix, given->rhs, given->format);
  command->option_defaults()->group("Advice");
  command
      ->add_option("--digits", given->digits,
                   "Decimal digits of X that must be guaranteed (default: as many as double "
                   "precision with partial pivoting guarantees); of a matrix that stays sparse: "
                   "||b - A x|| / ||b|| is to be at most 10^-N (default: 10)")
      ->transform(whole_number(1, 15))
      ->type_name("N");
  command
      ->add_option("--timeout", given->effort.timeout_s,
                   "Time limit of a run in seconds; longer ones are skipped (default: 20)")
      ->check(number(0.001, 1e6))
      ->type_name("S");
  add_device_options(*command, given->options, DeviceUse::one);
  add_output_options(*command, given->options);
  command->footer(exit_statuses(
      {Exit::ok, Exit::failure, Exit::usage, Exit::singular, Exit::check_failed, Exit::no_device}));
  return [given](const std::vector<std::string>& arguments) { return advise(*given, arguments); };
}

}  // namespace lugpu::cli

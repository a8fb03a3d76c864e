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
#include "terminal.hpp"

namespace lugpu::cli {
namespace {

struct Arguments {
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

std::string row(const Result& result, bool best) {
  const Problem& problem = result.what.problem;
  const std::string precision = precision_name(problem);
  const std::string head =
      format("%c %-7s %-6s %-11s ", best ? '>' : ' ', name(problem.dense.pivot),
             (precision + (fell_back(result) ? "*" : "")).c_str(), result.what.routine.c_str());
  if (result.status != RunStatus::ok) {
    constexpr std::size_t kIndent = 4;
    const std::string status = name(result.status);
    const std::string text = wrapped(status + ": " + result.reason, head.size(), kIndent);
    return head + paint(Ink::bad, status) + text.substr(status.size()) + '\n';
  }
  const std::optional<int> digits = guaranteed_digits(result);
  const std::string numbers = format(
      "%9s %9s %9s %9s %7s", duration(result.phases_s.at("total")).c_str(),
      cell("%.2g", backward_error(result)).c_str(), cell("%.3g", result.checks.growth).c_str(),
      cell("%.2g", result.checks.rcond).c_str(), digits ? std::to_string(*digits).c_str() : "-");
  return head + paint(best ? Ink::good : Ink::plain, numbers) + '\n';
}

// why: A was made dense; empty if the file is.
void print(const Arguments& given, const Device& device, const std::string& why,
           const std::vector<Result>& results, const Advice& advice) {
  const std::string n = std::to_string(results.front().what.problem.size.n);
  std::cout << "A         "
            << wrapped(printable(given.matrix) + ", " + n + " x " + n +
                           (why.empty() ? "" : ", made dense: " + why),
                       10, 10)
            << '\n'
            << "device    " << wrapped(device.name + " (" + device.platform + ")", 10, 10) << "\n\n"
            << "  pivot   prec.  method           time  backward    growth     rcond  digits\n";
  for (std::size_t i = 0; i < results.size(); ++i) std::cout << row(results[i], i == advice.best);
  const std::string note = std::any_of(results.begin(), results.end(), fell_back)
                               ? " *: factored in double after all."
                               : "";
  std::cout << '\n'
            << wrapped(advice.sentence, 0, 0) << "\n\n"
            << wrapped(
                   "backward: the backward error normInf(A x - b) / (normInf(A) normInf(x) + "
                   "normInf(b)). "
                   "growth: max |U| / max |A|. rcond: reciprocal condition number, estimated. "
                   "digits: decimal digits of X that are guaranteed. time: upload, factor, solve, "
                   "download." +
                       note,
                   0, 0)
            << '\n';
}

Exit advise(Arguments given, const std::vector<std::string>& arguments) {
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
  const auto given = std::make_shared<Arguments>();
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

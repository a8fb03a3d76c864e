#include "advise_sparse.hpp"

#include <iostream>

#include "advise_report.hpp"
#include "base/printable.hpp"
#include "bench/report.hpp"
#include "outputs.hpp"
#include "solve_report.hpp"
#include "terminal.hpp"

namespace lugpu::cli {
namespace {

std::string cell(const std::optional<double>& value) {
  return value ? format("%.1e", *value) : "-";
}

// both: whether it stands for both precisions.
std::string row(const StructuredResult& result, bool best, bool both) {
  const char* precision = both ? "any" : name(result.what.options.precision);
  const std::string head =
      format("%c %-13s %-6s ", best ? '>' : ' ', result.what.routine.c_str(), precision);
  if (result.status != RunStatus::ok) {
    constexpr std::size_t kIndent = 4;
    const std::string status = name(result.status);
    const std::string text = wrapped(status + ": " + result.reason, head.size(), kIndent);
    const Ink ink = result.status == RunStatus::unsupported ? Ink::dim : Ink::bad;
    return head + paint(ink, status) + text.substr(status.size()) + '\n';
  }
  const bool iterated = !result.iteration.residuals.empty();
  const std::string numbers =
      format("%9s %9s %6s %8s %8s", duration(*result.setup_s).c_str(),
             duration(result.times_s.front()).c_str(),
             iterated ? std::to_string(result.iteration.iterations).c_str() : "-",
             cell(result.residual).c_str(), cell(result.error).c_str());
  return head + paint(best ? Ink::good : Ink::plain, numbers) + '\n';
}

bool is_same_refusal(const StructuredResult& a, const StructuredResult& b) {
  return a.status == RunStatus::unsupported && b.status == a.status && b.reason == a.reason &&
         b.what.routine == a.what.routine;
}

void print(const SparseQuestion& question, const Device& device,
           const std::vector<StructuredResult>& results, const Advice& advice) {
  const std::string n = std::to_string(question.a.rows());
  print_line("A", printable(question.matrix) + ", " + n + " x " + n + ", " +
                      std::to_string(question.a.values().size()) + " entries");
  print_line("B", description(question.rhs, question.b));
  print_line("device", device.name + " (" + device.platform + ")");
  std::cout << "\n  method        prec.      setup     solve  steps residual    error\n";
  for (std::size_t i = 0; i < results.size(); ++i) {
    const bool both = i + 1 < results.size() && is_same_refusal(results[i], results[i + 1]);
    std::cout << row(results[i], i == advice.best, both);
    i += both;
  }
  std::cout
      << '\n'
      << wrapped(advice.sentence, 0, 0) << "\n\n"
      << wrapped(
             "setup: preparing the matrix, e.g. its factors. residual: ||b - A x|| / ||b||, "
             "computed anew in double. error: the largest of X, where X is known. skipped: not "
             "done within --timeout, or when it was too slow to be taken.",
             0, 0)
      << '\n';
}

}  // namespace

Exit advise_sparse(DeviceContext& context, const SparseQuestion& question, const Options& options,
                   const std::vector<std::string>& arguments) {
  const AdvisedSystem system{question.matrix, question.a, question.b.b, question.b.solution};
  std::vector<StructuredResult> results;
  for (const SparsePlan& plan : advice_plans(question.choice, context.device())) {
    show_progress(format("%s %s", plan.method->name, name(plan.options.precision)));
    const double limit_s =
        advice_limit(results, question.choice, question.digits, question.timeout_s);
    results.push_back(try_plan(context, plan, system, limit_s));
  }
  show_progress("");
  const Advice advice = lugpu::advise(results, question.choice, question.digits);
  if (options.prints()) print(question, context.device(), results, advice);
  nlohmann::json report = report_head(arguments, {context.device()}, context.settings());
  for (const StructuredResult& result : results) report["results"].push_back(to_json(result));
  return finish_advice(advice, question.matrix, options, std::move(report));
}

}  // namespace lugpu::cli

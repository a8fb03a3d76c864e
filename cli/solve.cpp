#include "solve/solve.hpp"

#include <cmath>
#include <iostream>
#include <limits>
#include <memory>
#include <variant>

#include "base/error.hpp"
#include "base/host_memory.hpp"
#include "base/printable.hpp"
#include "base/watchdog.hpp"
#include "bench/report.hpp"
#include "bench_report.hpp"
#include "commands.hpp"
#include "formats/formats.hpp"
#include "help.hpp"
#include "in_processes.hpp"
#include "matrix/norms.hpp"
#include "options.hpp"
#include "outputs.hpp"
#include "solve/memory.hpp"
#include "solve_batch.hpp"
#include "solve_report.hpp"
#include "solve_sparse.hpp"
#include "system.hpp"
#include "terminal.hpp"

namespace lugpu::cli {
namespace {

struct SolveArguments {
  Options options;
  std::string matrix, rhs, format, output, start;
  std::string method = "auto", pivot = "partial", precision, storage = "auto", texel = "auto",
              schedule = "fused";
  std::size_t nb = 0;
  double tolerance = lugpu::Options().tolerance;
  std::size_t iterations = lugpu::Options().iterations;
  bool refine = false, equilibrate = false, determinant = false, dry_run = false;
  std::string inverse;  // a file, or empty
  double timeout_s = std::numeric_limits<double>::infinity();
};

// In double where the device has that, as the files are.
lugpu::Options options_of(const SolveArguments& given, const Device& device) {
  lugpu::Options options;
  options.method = given.method;
  options.pivot = to_pivot(given.pivot);
  if (!given.precision.empty()) {
    const Arithmetic arithmetic = to_arithmetic(given.precision);
    options.precision = arithmetic.precision;
    options.refine = arithmetic.refine;
  }
  if (given.refine && options.refine == Refine::none) options.refine = Refine::fixed;
  options.equilibrate = given.equilibrate;
  options.determinant = given.determinant;
  options.inverse = !given.inverse.empty();
  options.storage = to_storage(given.storage, device);
  options.texel = to_texel(given.texel);
  options.schedule = to_schedule(given.schedule);
  options.nb = given.nb;
  options.tolerance = given.tolerance;
  options.iterations = given.iterations;
  return options;
}

Case case_of(const Plan& plan, const Device& device, const SolveArguments& given) {
  Case what;
  what.implementation = "lugpu";
  what.routine = plan.method->name;
  what.problem = plan.problem;
  what.device = device.name;
  what.device_index = device.index;
  what.units = device.compute_units;
  what.device_memory = given.options.device_memory;
  what.windows = windows_of(device, *plan.method, plan.problem);
  what.matrix = given.matrix;
  return what;
}

std::string ratio(const std::optional<double>& value) {
  return value ? format("%.3g", *value) : "not known";
}

// What a method works on: its panels, or its surfaces.
std::string layout(const Case& what) {
  const DenseOptions& dense = what.problem.dense;
  if (dense.nb == 0) return format("%s of %s texels", name(dense.storage), name(dense.texel));
  const std::size_t windows = what.windows.value_or(1);
  return format("blocks of %zu columns", dense.nb) +
         (windows > 1 ? format(", out of core in %zu windows", windows) : "");
}

void print_times(const Result& result) {
  std::string text;
  for (const char* phase : {"upload", "factor", "solve", "download", "total"}) {
    const auto found = result.phases_s.find(phase);
    if (found == result.phases_s.end()) continue;
    text += (text.empty() ? "" : ", ") + std::string(phase) + " " + duration(found->second);
  }
  print_line("time",
             text + "; kernels built beforehand in " + duration(result.phases_s.at("build")));
}

std::string bounds_text(const Checks& checks) {
  const std::string backward = format("backward error %.3g", largest(checks.berr));
  if (checks.ferr.empty()) return backward + "; forward error not known without factors";
  const double forward = largest(checks.ferr);
  return backward + (std::isfinite(forward) ? format(", forward error at most %.3g", forward)
                                            : std::string(", forward error not known"));
}

std::string condition_text(const Checks& checks) {
  if (checks.rcond || !checks.rcond_at_most) return ratio(checks.rcond);
  return format("not known, at most %.3g", *checks.rcond_at_most);
}

std::string digits_text(const Result& result) {
  const auto digits = result.checks.digits(working_precision(result.what.problem));
  if (!digits) return "none guaranteed";
  return format("%d guaranteed, relative to the largest element of X", *digits);
}

std::string refinement_text(const Refinement& refinement) {
  std::string text =
      std::to_string(refinement.steps) + (refinement.steps == 1 ? " step" : " steps");
  text += refinement.residuals_on_device ? ", residuals on the device" : ", residuals on the host";
  for (std::size_t k = 0; k < refinement.given_up.size(); ++k) {
    const bool last = k + 1 == refinement.given_up.size();
    const char* next = name(last ? refinement.factors : refinement.given_up[k + 1].factors);
    text += std::string(", then factored in ") + next + ": " + refinement.given_up[k].failure;
  }
  if (refinement.factors == FactorArithmetic::half_products) {
    text += ", factored with products in half precision";
  } else if (refinement.factors == FactorArithmetic::local_pivots) {
    text += ", factored in single with local pivots";
  }
  return refinement.converged || !refinement.fallback.empty() ? text : text + ", not converged";
}

std::string scaling_text(const Scaling& scaling) {
  const std::string what = !scaling.helps()    ? "not needed"
                           : scaling.c.empty() ? "of rows"
                           : scaling.r.empty() ? "of columns"
                                               : "of rows and columns";
  return what + format(": rowcnd %.3g, colcnd %.3g, largest element %.3g", scaling.rowcnd,
                       scaling.colcnd, scaling.amax);
}

// As a power of ten: a determinant may be far beyond the range of double.
std::string decimal(const Determinant& determinant) {
  if (determinant.mantissa == 0 || !std::isfinite(determinant.mantissa)) {
    return format("%g", determinant.mantissa);
  }
  const double digits = std::log10(std::abs(determinant.mantissa)) +
                        static_cast<double>(determinant.exponent) * std::log10(2.0);
  // One that would be printed as 10.000000 is 1.000000 of the next power.
  const double exponent = std::floor(digits + 5e-8 / std::log(10.0));
  return format("%s%.6f * 10^%.0f", determinant.mantissa < 0 ? "-" : "",
                std::max(1.0, std::pow(10.0, digits - exponent)), exponent);
}

// The refinement of mixed precision does not reach the pivots.
std::string determinant_text(const Result& result) {
  const bool mixed = result.refinement && result.what.problem.solve.refine == Refine::mixed &&
                     result.refinement->fallback.empty();
  return decimal(*result.determinant) + (mixed ? ", from pivots in single precision" : "");
}

// Which of the requested files have been written.
struct Written {
  bool x = false, inverse = false;
  Exit status = Exit::ok;
};

// The inverse leaves the solution.
Written write_answers(const SolveArguments& given, Solution<double>& solution) {
  Written written;
  const auto write = [&](std::vector<double> values, std::size_t columns, const std::string& path) {
    if (path.empty()) return false;
    const Matrix matrix(solution.n, columns, std::move(values));
    const bool done = attempt_to_write([&] { write_matrix(matrix, path); });
    if (!done) written.status = Exit::failure;
    return done;
  };
  written.x = write(solution.x, solution.nrhs, given.output);
  written.inverse = write(std::move(solution.inverse), solution.n, given.inverse);
  return written;
}

void print_result(const SolveArguments& given, const std::vector<DeviceContext>& contexts,
                  const RightHandSide& rhs, const Result& result, const Solution<double>& solution,
                  const Written& written) {
  const Problem& problem = result.what.problem;
  const std::string n = std::to_string(problem.size.n);
  print_line("A", printable(given.matrix) + ", " + n + " x " + n);
  print_line("B", description(given.rhs, rhs));
  print_line("method", format("%s, pivoting %s, %s precision, ", result.what.routine.c_str(),
                              name(problem.dense.pivot), precision_name(problem)) +
                           layout(result.what) + (solution.why.empty() ? "" : ": " + solution.why));
  for (const Device& device : devices_of(contexts)) {
    print_line("device", device.name + " (" + device.platform + ")");
  }
  print_times(result);
  if (result.checks.info == 0) {
    print_line("residual", "hpl_residual " + ratio(result.checks.hpl_residual) +
                               " (passes under 16), solve_ratio " +
                               ratio(result.checks.solve_ratio) + " (passes under 30)");
    print_line("stability", "pivot growth " + ratio(result.checks.growth) +
                                ", reciprocal condition " + condition_text(result.checks));
    print_line("bounds", bounds_text(result.checks));
    print_line("digits", digits_text(result));
  }
  if (result.refinement) print_line("refined", refinement_text(*result.refinement));
  if (result.equilibration) print_line("scaling", scaling_text(*result.equilibration));
  if (result.determinant) print_line("det", determinant_text(result));
  const bool passed = result.status == RunStatus::ok;
  print_checks(passed);
  if (passed && std::isfinite(rhs.solution)) print_error_of(solution.x, rhs.solution);
  if (written.x) {
    print_line("X", shape(solution.n, solution.nrhs) + ", written to " + printable(given.output));
  }
  if (written.inverse) {
    print_line("inverse",
               shape(solution.n, solution.n) + ", written to " + printable(given.inverse));
  }
}

// Refuses what does not fit into memory before it is begun; with --dry-run prints what it takes.
void check_memory(const Device& device, const Plan& plan, const SolveArguments& given,
                  bool in_file) {
  const MemoryNeed need = memory_of_solve(device, *plan.method, plan.problem, in_file);
  const double there = host_memory_in_reach();
  const auto largest = [&] {
    return largest_order(device, *plan.method, plan.problem, in_file, there);
  };
  if (given.dry_run) {
    const std::string n = std::to_string(plan.problem.size.n);
    print_line("A", printable(given.matrix) + ", " + n + " x " + n);
    print_line("method", std::string(plan.method->name) + " on " + device.name);
    print_line("memory",
               gigabytes(need.host) + " of " + gigabytes(there) + " on the host" +
                   (device.type == "cpu" ? ", which is the device"
                                         : ", " + gigabytes(need.device) + " on the device") +
                   format("; the largest n that fits is %zu", largest()));
  }
  if (need.host <= there) return;
  throw Unsupported(given.matrix + " is not solved: this takes " + gigabytes(need.host) +
                    " of memory, and " + gigabytes(there) +
                    " are there; the largest n that fits is " + std::to_string(largest()));
}

Exit status_of(const Diagnosis& diagnosis, Pivot pivot) {
  switch (diagnosis.status) {
    case Status::ok:
    case Status::unchecked:
      return Exit::ok;
    case Status::singular:
      return exchanges_rows(pivot) ? Exit::singular : Exit::check_failed;
    case Status::failed:
      break;
  }
  return Exit::check_failed;
}

nlohmann::json make_report(const std::vector<DeviceContext>& contexts, const Result& result,
                           const std::vector<std::string>& arguments) {
  nlohmann::json report = report_head(arguments, devices_of(contexts), contexts.front().settings());
  report["results"].push_back(to_json(result));
  return report;
}

Team team_of(std::vector<DeviceContext>& contexts) {
  Team team;
  for (DeviceContext& context : contexts) team.push_back(&context);
  return team;
}

// A and B. A is left in its file if it would take a good part of the memory, or the devices are to
// have a part of it at a time.
struct System {
  std::optional<MappedMatrix> mapped;
  std::variant<Matrix, Sparse> matrix;  // if A is not left there
  RightHandSide rhs;

  const Sparse* sparse() const { return std::get_if<Sparse>(&matrix); }
  MatrixView a() const { return mapped ? mapped->view() : MatrixView(std::get<Matrix>(matrix)); }
};

System read_system(const SolveArguments& given) {
  const double large = given.options.device_memory ? 0 : static_cast<double>(host_memory()) / 4;
  System system;
  if (auto mapped = map_matrix(given.matrix, {.square = true}, large)) {
    system.mapped.emplace(std::move(*mapped));
  } else {
    system.matrix = read_dense_or_sparse(given.matrix, {.square = true}, given.format);
  }
  system.rhs = system.sparse() ? read_rhs(given.rhs, given.format, *system.sparse())
                               : read_rhs(given.rhs, given.format, system.a());
  return system;
}

void check_files(const SolveArguments& given) {
  check_system_arguments(given.matrix, given.rhs, given.format);
  for (const std::string& file : {given.output, given.inverse}) {
    if (!file.empty()) check_format(file);
  }
  check_outputs(given.options, {{"-o", given.output}, {"--inverse", given.inverse}},
                {{"MATRIX", given.matrix}, {"RHS", given.rhs}, {"--start", given.start}});
}

// Names the file with the value that overflows the precision.
Solution<double> solve_files(DeviceContext& context, const Plan& plan, const SolveArguments& given,
                             const MatrixView& a, const Matrix& b) {
  try {
    return lugpu::solve<double>(context, plan, a, MatrixView(b));
  } catch (const InputError& error) {
    const bool in_b = !given.rhs.empty() && norm_max(a) <= std::numeric_limits<float>::max();
    throw InputError((in_b ? given.rhs : given.matrix) + ": " + error.reason(),
                     error.remedy().value_or(Remedy{"precision", "double"}));
  }
}

// An X as large as B.
Matrix read_start(const std::string& path, const Matrix& b) {
  Matrix start = read_matrix(path, {.rows = b.rows()});
  if (start.cols() == b.cols()) return start;
  throw InputError(path + " has " + std::to_string(start.cols()) + " columns; expected " +
                   std::to_string(b.cols()) + ", as many as B has.");
}

// Some methods are for sparse matrices alone.
void require_dense_method(const lugpu::Options& options) {
  if (options.method == "auto") return;
  for (const Method& method : methods()) {
    if (options.method == method.name) return;
  }
  throw InputError("--method " + options.method + " is for sparse matrices.");
}

// What the options mean for a batch. Those that it does not have are refused.
BatchFiles batch_files(const SolveArguments& given) {
  const auto refuse = [&](bool wrong, const char* option) {
    if (wrong) throw InputError(given.matrix + " is a batch; " + option + " is not for batches.");
  };
  refuse(given.method != "auto", "--method");
  refuse(given.storage != "auto", "--storage");
  refuse(given.texel != "auto", "--texel");
  refuse(given.schedule != "fused", "--schedule");
  refuse(given.nb > 0, "--nb");
  refuse(given.refine, "--refine");
  refuse(given.equilibrate, "--equilibrate");
  refuse(given.determinant, "--det");
  refuse(given.dry_run, "--dry-run");
  refuse(!given.start.empty(), "--start");
  refuse(given.precision == "mixed", "--precision mixed");
  refuse(given.options.device_memory.has_value(), "--device-memory");
  BatchFiles files{given.matrix,          given.rhs, given.output, given.inverse, given.format,
                   to_pivot(given.pivot), {}};
  if (!given.precision.empty()) files.precision = to_arithmetic(given.precision).precision;
  return files;
}

// Nothing if A is one matrix.
std::optional<Exit> solve_stack(const SolveArguments& given,
                                const std::vector<std::string>& arguments, Watchdog& watchdog) {
  const std::optional<MatrixStack> stack = read_stack(given.matrix);
  if (!stack) return std::nullopt;
  const BatchFiles files = batch_files(given);
  std::vector<DeviceContext> contexts = open_devices_together(given.options);
  if (contexts.size() > 1 || process_group().size() > 1) {
    throw Unsupported(given.matrix + " is a batch, which one device solves alone.");
  }
  return solve_batch(contexts.front(), *stack, files, given.options, arguments, watchdog);
}

// Writes what was asked for, and says how it was solved.
Exit report_dense(const Plan& plan, const SolveArguments& given,
                  const std::vector<DeviceContext>& contexts, const RightHandSide& rhs,
                  Solution<double>& solution, const std::vector<std::string>& arguments) {
  const Result result = record_of(case_of(plan, contexts.front().device(), given), solution);
  const Exit status = status_of(solution.diagnosis, plan.problem.dense.pivot);
  const Written written = status == Exit::ok ? write_answers(given, solution) : Written{};
  JsonOutput json(given.options);
  json.write(make_report(contexts, result, arguments));
  if (given.options.prints()) print_result(given, contexts, rhs, result, solution, written);
  for (const std::string& warning : result.warnings) print_warning(warning);
  if (status != Exit::ok) print_error(given.matrix + " is not solved: " + result.reason);
  return json.status(status == Exit::ok ? written.status : status);
}

Exit solve(SolveArguments given, const std::vector<std::string>& arguments) {
  set_colour(given.options.colour);
  Watchdog watchdog([&] {
    end_late(
        format("%s is not solved: this takes longer than --timeout %g s; the device may not "
               "answer.",
               given.matrix.c_str(), given.timeout_s));
  });
  watchdog.set(given.timeout_s);
  check_files(given);
  if (const auto status = solve_stack(given, arguments, watchdog)) return *status;
  System system = read_system(given);
  const Sparse* sparse = system.sparse();
  RightHandSide& rhs = system.rhs;
  given.matrix = input_name(given.matrix);
  given.rhs = input_name(given.rhs);
  std::vector<DeviceContext> contexts = open_devices_together(given.options);
  const Team team = team_of(contexts);
  const std::unique_ptr<Crew> crew = make_crew({team});
  DeviceContext& context = contexts.front();
  const lugpu::Options options = options_of(given, context.device());
  if (!sparse) require_dense_method(options);
  if (!sparse && !given.start.empty()) {
    throw InputError(given.start + ": --start is for sparse matrices.");
  }
  std::string why;
  if (sparse) {
    SparsePlan plan = make_plan(options, context.device(), *sparse);
    if (plan.method) {
      if (given.dry_run) throw InputError("--dry-run is for dense systems.");
      if (crew || contexts.size() > 1) {
        throw Unsupported(std::string(plan.method->name) + " works on one device alone",
                          Remedy{"method", "lu-blocked"});
      }
      if (!given.start.empty()) plan.start = read_start(given.start, rhs.b);
      return solve_sparse(context, plan,
                          {given.matrix, given.rhs, given.output, *sparse, std::move(rhs)},
                          given.options, arguments, watchdog);
    }
    why = plan.why;
    system.matrix = made_dense(given.matrix, *sparse);
  }
  const MatrixView a = system.a();
  const Matrix& b = rhs.b;
  const PathRecords records = note_path_records(context);

  const Plan plan =
      make_plan(options, context.device(), Size::square(a.rows(), b.cols()),
                Precision::double_precision, records, {team.begin() + 1, team.end()}, crew.get());
  require_possible(context.device(), *plan.method, plan.problem);
  check_memory(context.device(), plan, given, system.mapped.has_value());
  if (given.dry_run) return Exit::ok;
  const double build_s = build_kernels(context, *plan.method, plan.problem);
  Solution<double> solution = solve_files(context, plan, given, a, b);
  watchdog.clear();
  solution.phases_s["build"] = build_s;
  solution.why = why;
  return report_dense(plan, given, contexts, rhs, solution, arguments);
}

}  // namespace

Command add_solve(CLI::App& app) {
  CLI::App* command = app.add_subcommand("solve", "Solve A X = B for matrix files");
  const auto given = std::make_shared<SolveArguments>();
  add_system_arguments(*command, given->matrix, given->rhs, given->format);
  command->add_option("-o,--output", given->output, "File for X: " + writable_extensions())
      ->check(not_empty())
      ->type_name("FILE");
  command
      ->add_option("--inverse", given->inverse,
                   "File for the inverse of A: " + writable_extensions())
      ->check(not_empty())
      ->type_name("FILE");
  command->option_defaults()->group("Method");
  command
      ->add_option("--method", given->method,
                   "Method (default: auto, the fastest one that supports the other options)")
      ->check(CLI::IsMember(all_method_names()))
      ->type_name("NAME");
  command
      ->add_option("--pivot", given->pivot,
                   "Pivoting; complete is another name for full (default: partial)")
      ->check(CLI::IsMember(pivot_names()))
      ->type_name("WHICH");
  command
      ->add_option("--precision", given->precision,
                   "single, double, or mixed: factors in single, refined to the accuracy of double "
                   "(default: double where the device has it)")
      ->check(CLI::IsMember(arithmetic_names()))
      ->type_name("WHICH");
  command->add_option("--storage", given->storage, "Surfaces (default: auto, the fastest)")
      ->check(CLI::IsMember(storage_names()))
      ->type_name("WHICH");
  command
      ->add_option(
          "--texel", given->texel,
          "r: one element per texel, rgba: 4 floats or 2 doubles (default: auto, the fastest)")
      ->check(CLI::IsMember(texel_names()))
      ->type_name("WHICH");
  command
      ->add_option("--schedule", given->schedule,
                   "For the unblocked methods; fused: one pass per step, paper: LU-GPU's own "
                   "passes (default: fused)")
      ->check(CLI::IsMember(schedule_names()))
      ->type_name("WHICH");
  command->add_option("--nb", given->nb, "Columns per block of lu-blocked (default: the fastest)")
      ->transform(whole_number(1, kLargestBlock))
      ->type_name("N");
  command->option_defaults()->group("Iterative methods");
  command
      ->add_option("--tolerance", given->tolerance,
                   "Of iterative methods: ||b - A x|| / ||b|| is to be at most this "
                   "(default: 1e-10)")
      ->check(number(1e-16, 1))
      ->type_name("T");
  command
      ->add_option("--iterations", given->iterations,
                   "Steps of iterative methods at most (default: 100000)")
      ->transform(whole_number(1, 10'000'000))
      ->type_name("N");
  command
      ->add_option("--start", given->start,
                   "File with an X that iterative methods start from, and others ignore "
                   "(default: zero): " +
                       readable_extensions())
      ->check(not_empty())
      ->type_name("FILE");
  command->option_defaults()->group("Accuracy");
  command->add_flag("--refine", given->refine, "Improve X by iterative refinement");
  command->add_flag("--equilibrate", given->equilibrate,
                    "Scale rows and columns of A by powers of two where that helps");
  command->add_flag("--det", given->determinant, "Compute the determinant of A");
  command->option_defaults()->group("Device");
  command->add_flag(
      "--dry-run", given->dry_run,
      "Say how much memory the solution of a dense system takes, and do not solve it");
  command
      ->add_option("--timeout", given->timeout_s,
                   "Seconds after which a solution is given up, e.g. of a device that hangs "
                   "(default: none)")
      ->check(number(0.001, 1e6))
      ->type_name("S");
  add_device_options(*command, given->options, DeviceUse::together);
  add_output_options(*command, given->options);
  command->footer(exit_statuses(
      {Exit::ok, Exit::failure, Exit::usage, Exit::singular, Exit::check_failed, Exit::no_device}));
  return [given](const std::vector<std::string>& arguments) {
    std::vector<DeviceContext> contexts;
    return in_processes([&] { return solve(*given, arguments); },
                        [&] {
                          contexts = open_devices_together(given->options);
                          return std::vector<Team>{team_of(contexts)};
                        });
  };
}

}  // namespace lugpu::cli

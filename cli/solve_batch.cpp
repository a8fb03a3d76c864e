#include "solve_batch.hpp"

#include "base/error.hpp"
#include "base/printable.hpp"
#include "bench/batch_bench.hpp"
#include "bench/report.hpp"
#include "outputs.hpp"
#include "solve/solve_batch.hpp"
#include "solve_report.hpp"
#include "terminal.hpp"

namespace lugpu::cli {
namespace {

// The right-hand sides, one below the other as those of MatrixStack.
struct Sides {
  MatrixStack b;
  bool vectors;  // one for each member: X is written as count x n
};

Sides ones_times(const MatrixStack& a) {
  Matrix b(a.rows.rows(), 1);
  for (std::size_t j = 0; j < a.rows.cols(); ++j) {
    for (std::size_t i = 0; i < a.rows.rows(); ++i) b(i, 0) += a.rows(i, j);
  }
  return {{std::move(b), a.count}, true};
}

Sides read_sides(const std::string& path, const std::string& format, const MatrixStack& a) {
  if (path.empty()) return ones_times(a);
  const std::size_t n = a.rows.cols();
  const std::string expected = "; expected " + std::to_string(a.count) + " x " + std::to_string(n) +
                               " or " + std::to_string(a.count) + " x " + std::to_string(n) +
                               " x k, to fit A.";
  if (std::optional<MatrixStack> stack = read_stack(path)) {
    if (stack->count != a.count || stack->rows.rows() != a.count * n) {
      throw InputError(path + ": B is " + std::to_string(stack->count) + " x " +
                       std::to_string(stack->rows.rows() / stack->count) + " x " +
                       std::to_string(stack->rows.cols()) + expected);
    }
    return {std::move(*stack), false};
  }
  const Matrix vectors = read_matrix(path, {}, format);
  if (vectors.rows() != a.count || vectors.cols() != n) {
    throw InputError(path + ": B is " + std::to_string(vectors.rows()) + " x " +
                     std::to_string(vectors.cols()) + expected);
  }
  Matrix b(a.count * n, 1);
  for (std::size_t m = 0; m < a.count; ++m) {
    for (std::size_t i = 0; i < n; ++i) b(m * n + i, 0) = vectors(m, i);
  }
  return {{std::move(b), a.count}, true};
}

template <typename T>
Batch<const T> batch_of(const std::vector<T>& values, const MatrixStack& stack) {
  const std::size_t rows = stack.rows.rows() / stack.count;
  return {{values.data(), rows, stack.rows.cols(), stack.rows.rows()}, stack.count, rows};
}

std::vector<double> widened(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}
const std::vector<double>& widened(const std::vector<double>& values) {
  return values;
}

template <typename T>
BatchSolution<T> solve_as(DeviceContext& context, const MatrixStack& a, const MatrixStack& b,
                          const BatchOptions& options) {
  const std::vector<T> matrices(a.rows.values().begin(), a.rows.values().end());
  const std::vector<T> sides(b.rows.values().begin(), b.rows.values().end());
  return lugpu::solve_batch(context, batch_of(matrices, a), batch_of(sides, b), options);
}

// What was found and what became of it.
template <typename T>
void print_report(const BatchFiles& files, const BatchResult& result,
                  const BatchSolution<T>& solution, const Device& device, bool written) {
  const std::string shape =
      std::to_string(solution.count) + " x " + std::to_string(solution.n) + " x ";
  print_line("A", printable(files.matrix) + ", " + shape + std::to_string(solution.n));
  print_line("B", (files.rhs.empty() ? "A * ones" : printable(files.rhs)) + ", " + shape +
                      std::to_string(solution.nrhs));
  print_line("method", format("%s, pivoting %s, %s precision", kBatchRoutine,
                              name(result.what.pivot), name(result.what.precision)));
  print_line("device", device.name + " (" + device.platform + ")");
  std::string times;
  for (const auto& [phase, seconds] : solution.phases_s) {
    times += (times.empty() ? "" : ", ") + phase + " " + duration(seconds);
  }
  print_line("time", times + "; kernels built on the way");
  print_line("residual", result.solve_ratio ? format("largest solve_ratio %.3g (passes under 30)",
                                                     *result.solve_ratio)
                                            : "not known: no member was solved");
  constexpr std::size_t kMostLines = 10;
  for (std::size_t i = 0; i < std::min(kMostLines, result.bad.size()); ++i) {
    const BatchResult::Member& member = result.bad[i];
    print_line("member",
               std::to_string(member.number) + ", counted from 0: " +
                   (member.info > 0 ? format("singular, pivot %d is exactly zero", member.info)
                                    : format("solve_ratio %.3g", member.solve_ratio)));
  }
  print_checks(result.status == RunStatus::ok);
  if (written)
    print_line("X",
               shape + std::to_string(solution.nrhs) + ", written to " + printable(files.output));
}

template <typename T>
Exit solve_in(DeviceContext& context, const MatrixStack& a, const BatchFiles& files,
              const Options& options, const std::vector<std::string>& arguments,
              Watchdog& watchdog) {
  const Sides sides = read_sides(files.rhs, files.format, a);
  if (!files.inverse.empty()) check_stack_format(files.inverse);
  if (!files.output.empty() && !sides.vectors) check_stack_format(files.output);
  BatchOptions batch;
  batch.pivot = files.pivot;
  batch.inverse = !files.inverse.empty();
  const BatchSolution<T> solution = solve_as<T>(context, a, sides.b, batch);
  watchdog.clear();
  BatchCase what;
  what.implementation = "lugpu";
  what.routine = kBatchRoutine;
  what.pivot = files.pivot;
  what.precision = kPrecision<T>;
  what.size = {solution.count, solution.n};
  what.nrhs = solution.nrhs;
  what.matrix = files.matrix;
  what.device = context.device().name;
  what.units = context.device().compute_units;
  const BatchResult result = record_of(what, solution);
  bool kept = true, written = false;
  if (!files.output.empty()) {
    written = kept = attempt_to_write([&] {
      if (!sides.vectors) {
        write_stack(widened(solution.x), solution.count, solution.n, solution.nrhs, files.output);
        return;
      }
      Matrix x(solution.count, solution.n);
      for (std::size_t m = 0; m < solution.count; ++m) {
        for (std::size_t i = 0; i < solution.n; ++i) x(m, i) = solution.x[m * solution.n + i];
      }
      write_matrix(x, files.output);
    });
  }
  if (!files.inverse.empty()) {
    kept = attempt_to_write([&] {
             write_stack(widened(solution.inverse), solution.count, solution.n, solution.n,
                         files.inverse);
           }) &&
           kept;
  }
  JsonOutput json(options);
  nlohmann::json report = report_head(arguments, {context.device()}, context.settings());
  report["results"].push_back(to_json(result));
  json.write(report);
  if (options.prints()) print_report(files, result, solution, context.device(), written);
  if (result.status == RunStatus::ok) return json.status(kept ? Exit::ok : Exit::failure);
  print_error(files.matrix + " is not solved: " + result.reason);
  const bool singular = result.singular > 0 && files.pivot != Pivot::none;
  return json.status(singular ? Exit::singular : Exit::check_failed);
}

}  // namespace

Exit solve_batch(DeviceContext& context, const MatrixStack& a, const BatchFiles& files,
                 const Options& options, const std::vector<std::string>& arguments,
                 Watchdog& watchdog) {
  const bool has_double = context.device().double_precision;
  const Precision precision = files.precision.value_or(has_double ? Precision::double_precision
                                                                  : Precision::single_precision);
  return precision == Precision::double_precision
             ? solve_in<double>(context, a, files, options, arguments, watchdog)
             : solve_in<float>(context, a, files, options, arguments, watchdog);
}

}  // namespace lugpu::cli

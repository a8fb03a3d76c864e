// `lugpu bench --problem`: methods and rivals taken to the same tolerance on systems of grids and
// of files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/measure.hpp"
#include "bench/problems.hpp"
#include "exit.hpp"
#include "options.hpp"
#include "solve/structured_methods.hpp"

namespace lugpu::cli {

struct ProblemArguments {
  /// Names of grid_problems() and simulated_problems(), and files; empty: no such benchmark.
  std::vector<std::string> problems;
  std::string grids = "32:256:*2";
  std::vector<std::string> methods;    ///< of structured_methods(); empty: all of them
  std::vector<std::string> baselines;  ///< names of system_baselines()
  std::vector<Precision> precisions;   ///< empty: double, or single where the device has no double
  std::vector<Storage> storages;
  std::size_t nrhs = 1;
  std::optional<double> tolerance;
  std::optional<std::size_t> iterations;
  Effort effort;

  /// Of systems.
  StoppingRule rule() const { return {tolerance.value_or(1e-6), iterations.value_or(10000)}; }
};

/// Whether a problem is a file, by the end of its name.
bool is_file(const std::string& problem);

/// Throws InputError for names and sizes that mean nothing, and what reading a file throws.
Exit bench_problems(const ProblemArguments& given, const Options& options,
                    const std::vector<std::string>& arguments);

}  // namespace lugpu::cli

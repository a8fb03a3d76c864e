// One row of the benchmark of problems, or the result of solving a sparse matrix, and its JSON
// (docs/lugpu.schema.json).
#pragma once

#include <span>

#include "bench/result.hpp"
#include "solve/solve_sparse.hpp"

namespace lugpu {

/// What is run: everything that tells one row from another.
struct StructuredCase {
  std::string problem;         ///< of grid_problems(); empty for a file
  std::size_t grid = 0;        ///< points along each axis; 0 for a file
  std::string matrix;          ///< the file; empty for a problem
  std::string implementation;  ///< "lugpu", or a rival's
  std::string routine;         ///< of structured_methods(), or a rival
  StructuredOptions options;
  std::optional<std::string> device;  ///< its name; absent on the host
  int device_index = -1;
  std::optional<unsigned> units;  ///< compute units of the device

  bool is_baseline() const { return implementation != "lugpu"; }
};

/// Traffic by the papers' count of words (StructuredMethod::words).
struct Bandwidth {
  double bytes_per_s;
  double over_copy;  ///< over the copy that was measured
};

struct StructuredResult {
  StructuredCase what;
  std::string choice;  ///< Report::why
  std::size_t unknowns = 0;
  std::optional<double>
      setup_s;                  ///< of preparing the matrix: hierarchy, factors; kernels are built
  std::vector<double> times_s;  ///< each solve of all right-hand sides, data on the device
  Iteration iteration;
  std::optional<double>
      residual;                 ///< ||b - A x||_2 / ||b||_2, computed anew in double; the largest
  std::optional<double> error;  ///< max |x - exact| / max |exact| of the first column
  std::optional<double> solve_ratio;  ///< LAPACK's, of a direct method
  std::optional<Bandwidth> bandwidth;
  std::optional<double> other_load;  ///< OtherLoad::share() while the samples were taken
  RunStatus status = RunStatus::error;
  std::string reason;  ///< one sentence; empty for ok

  /// Setup, and `count` right-hand sides by the median of the solves, in seconds; only of an ok
  /// result.
  double total(double count) const;
};

/// A plan, whose method is not null, for the matrix of a file.
StructuredCase case_of(const SparsePlan& plan, const std::string& matrix, const Device& device);

/// The record of a single solution, by the method that it says.
StructuredResult record_of(const StructuredCase& what, const Solution<double>& solution);

/// The fields of a record that tell its case from others.
std::span<const char* const> structured_case_fields();

/// Same row: a resumed sweep need not run it again.
bool same_structured_case(const nlohmann::json& a, const nlohmann::json& b);

/// Only an ok result shows a speed; one that failed keeps its samples and its checks.
nlohmann::json to_json(const StructuredResult& result);

}  // namespace lugpu

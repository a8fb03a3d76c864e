// Measures the factorization of batches of small matrices, and the record of a case
// (docs/lugpu.schema.json).
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "baselines/batch_rivals.hpp"
#include "bench/measure.hpp"

namespace lugpu {

/// What is run: everything that tells one row from another.
struct BatchCase {
  std::string implementation;  ///< "lugpu", or a rival's
  std::string routine;         ///< kBatchRoutine, or a rival
  Pivot pivot = Pivot::partial;
  Precision precision = Precision::single_precision;
  BatchSize size;
  std::size_t nrhs = 1;               ///< of the check
  std::string matrix;                 ///< of matrix_kinds(), or a file
  std::optional<std::uint64_t> seed;  ///< absent for a file
  std::optional<std::string> device;  ///< its name; absent on the host
  std::optional<unsigned> units;      ///< compute units of the device
  std::optional<unsigned> threads;    ///< of the host

  bool is_baseline() const { return implementation != "lugpu"; }
};

/// What records call the batches of lugpu.
inline constexpr const char* kBatchRoutine = "lu-batch";

struct BatchResult {
  BatchCase what;
  std::optional<std::string> variant;  ///< of bench, as BatchLu::variant()
  std::vector<double> times_s;         ///< each factorization of all members, data on the device
  std::optional<double> other_load;    ///< OtherLoad::share() while the samples were taken
  std::optional<double> solve_ratio;   ///< the largest of all members, LAPACK's dget02
  std::size_t failed = 0;              ///< members whose ratio is not under its limit,
  std::size_t singular = 0;            ///< and those with a zero pivot, of lugpu solve
  std::optional<double> copy_bytes_per_s;  ///< of the device, that was measured
  /// A member without a solution that passes its check: its number from 0, info, and ratio.
  struct Member {
    std::size_t number;
    int info;
    double solve_ratio;
  };
  std::vector<Member> bad;  ///< the first of them, at most kMostMembers, of lugpu solve
  static constexpr std::size_t kMostMembers = 1000;
  RunStatus status = RunStatus::error;
  std::string reason;  ///< one sentence; empty for ok

  /// 2/3 n^3 for each member over the median time.
  double gflops() const;
  /// Bytes a second if every matrix is read and its factors are written once.
  double bytes_per_s() const;
};

/// Matrices and right-hand sides of a batch, columns one after the other. T: float or double.
template <typename T>
struct BatchSystem {
  std::vector<T> a, b;

  /// Of the case's kind; member i has the seed what.seed + i.
  explicit BatchSystem(const BatchCase& what);
};

/// Factors by `make()` as often as the effort asks for, and checks the solutions of all members.
/// What is thrown becomes the status, as in attempt().
template <typename T>
BatchResult measure_batch(const BatchCase& what, const BatchSystem<T>& system,
                          const std::function<std::unique_ptr<BatchContender<T>>()>& make,
                          const Effort& effort);

/// lugpu's contender on a device.
template <typename T>
std::unique_ptr<BatchContender<T>> make_batch_lu(DeviceContext& context, const BatchCase& what);

/// The record of one solution.
template <typename T>
BatchResult record_of(const BatchCase& what, const BatchSolution<T>& solution);

/// The fields of a record that tell its case from others.
std::span<const char* const> batch_case_fields();

/// Same row: a resumed bench need not run it again.
bool same_batch_case(const nlohmann::json& a, const nlohmann::json& b);

/// Only an ok result shows a speed; one that failed keeps its samples and its checks.
nlohmann::json to_json(const BatchResult& result);

}  // namespace lugpu

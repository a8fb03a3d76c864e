// A sweep: sizes x precisions x devices x (baselines, methods x storages x pivotings).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/measure.hpp"

namespace lugpu {

struct SweepPlan {
  std::vector<std::size_t> sizes;
  std::vector<std::string> methods;  ///< names of methods(), or "auto"
  std::vector<Pivot> pivots;         ///< where a method has them
  std::vector<Arithmetic> precisions;
  std::vector<Storage> storages;
  std::vector<std::optional<Texel>> texels = {std::nullopt};  ///< absent: the fastest
  std::vector<std::size_t> nbs = {0};                         ///< 0: the fastest
  std::vector<Schedule> schedules = {Schedule::fused};
  std::vector<std::string> baselines;  ///< names of baselines()
  std::vector<int> threads;  ///< of baselines that have them, each in its turn; none: of 1, 2, 4
                             ///< ... up to the BLAS's own the one that is fastest at each order
  /// Besides the devices that have each system alone, those that share it: the first one, of
  /// run_sweep()'s contexts, and DenseOptions::others.
  std::vector<std::vector<DeviceContext*>> teams;
  Crew* crew = nullptr;                        ///< DenseOptions::crew, of all cases
  std::map<int, PathRecords> path_records;     ///< by the index of a device
  std::optional<std::uint64_t> device_memory;  ///< Case::device_memory of all methods
  std::size_t nrhs = 1;
  std::uint64_t seed = 1;
  std::string matrix = "auto";  ///< a kind of generate(); or "auto": `dominant` without pivoting,
                                ///< which `random` would need, and `random` with it
  Effort effort;
};

/// Sizes as users write them, in the order given, without repetitions: a list, separated by commas,
/// of N, of FIRST:LAST:STEP (inclusive), of FIRST:LAST:*FACTOR, or of FIRST:LAST for
/// FIRST:LAST:FIRST. Throws InputError that names the part that is wrong: not a number, zero,
/// larger than 2^20, a range that is empty or has more than 10000 sizes. option: what the error
/// calls them.
std::vector<std::size_t> parse_sizes(const std::string& text, const char* option = "--sizes");

/// Every case of the plan in the order of their results: size by size, baselines on the host first,
/// then for each device the baselines on it and the methods. Throws InputError that says which
/// pivotings the methods have if there is no case at all.
std::vector<Case> cases_of(const SweepPlan& plan, const std::vector<Device>& devices);

/// 1, 2, 4 ... and `most`.
std::vector<int> powers_of_two_up_to(int most);

/// What `action` returns, or a result with the status of what it throws: unsupported, skipped
/// (time), error.
Result attempt(const Case& what, const Effort& effort, const std::function<Result()>& action);

/// Runs `action`, which fills `result`, that of a case of another kind: what it throws becomes the
/// status and the reason there, as in attempt().
template <typename AnyResult, typename Action>
void attempt_into(AnyResult& result, const Effort& effort, const Action& action) {
  const Result ended = attempt({}, effort, [&] {
    action();
    Result done;
    done.status = result.status;
    done.reason = result.reason;
    return done;
  });
  result.status = ended.status;
  result.reason = ended.reason;
}

/// What a sweep tells its caller.
struct SweepObserver {
  std::function<bool(const Case&)> wanted;   ///< whether the case is to be run
  std::function<void(const Case&)> working;  ///< called before every piece of work on a case
  std::function<void(const Result&, std::size_t)> done;  ///< the result of case number i
  /// The samples of case number i that an earlier run took; may be empty.
  std::function<std::optional<EarlierSamples>(std::size_t)> earlier = {};
  /// More samples of case number i, as Measurement::what(); may be empty.
  std::function<void(const Case&, std::size_t, std::span<const double>)> sampled = {};
};

/// Runs the cases; `contexts` holds the device of each, with as many compute units. Consecutive
/// cases of one order, as many as there is memory for, are sampled in turn, so that their times can
/// be compared; each is done as soon as it has its samples, a quick one before a slow one that
/// comes first in `cases`. What a case throws becomes its status (attempt).
void run_sweep(const SweepPlan& plan, const std::vector<Case>& cases,
               std::vector<DeviceContext>& contexts, const SweepObserver& observer);

}  // namespace lugpu

#include "bench/sweep.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <thread>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "bench/case_memory.hpp"
#include "bench/wording.hpp"
#include "matrix/generate.hpp"

namespace lugpu {
namespace {

constexpr std::size_t kLargestSize = std::size_t{1} << 20;
constexpr std::size_t kMostSizes = 10000;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

[[noreturn]] void refuse_sizes(const char* option, const std::string& part,
                               const std::string& why) {
  throw InputError(std::string(option) + ": \"" + part + "\" " + why +
                   "; write N, FIRST:LAST:STEP or FIRST:LAST:*FACTOR, separated by commas.");
}

std::size_t parse_size(const char* option, const std::string& digits, const std::string& part) {
  std::size_t size = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, problem] = std::from_chars(digits.data(), end, size);
  if (digits.empty() || stop != end || problem == std::errc::invalid_argument) {
    refuse_sizes(option, part, "is not a size");
  }
  if (problem != std::errc() || size > kLargestSize)
    refuse_sizes(option, part, "is larger than 1048576");
  if (size == 0) refuse_sizes(option, part, "has a zero");
  return size;
}

void append_range(const char* option, const std::string& part, std::vector<std::size_t>& sizes) {
  const std::vector<std::string> fields = split(part, ':');
  if (fields.size() > 3) refuse_sizes(option, part, "has too many colons");
  const std::size_t first = parse_size(option, fields[0], part);
  const std::size_t last = fields.size() > 1 ? parse_size(option, fields[1], part) : first;
  if (last < first) refuse_sizes(option, part, "is an empty range");
  const bool geometric = fields.size() == 3 && fields[2].starts_with('*');
  const std::size_t step =
      fields.size() == 3 ? parse_size(option, fields[2].substr(geometric ? 1 : 0), part) : first;
  if (geometric && step < 2) refuse_sizes(option, part, "has a factor below 2");
  for (std::size_t n = first; n <= last; n = geometric ? n * step : n + step) {
    if (std::find(sizes.begin(), sizes.end(), n) == sizes.end()) sizes.push_back(n);
    if (sizes.size() > kMostSizes) refuse_sizes(option, part, "makes more than 10000 sizes");
  }
}

std::string matrix_kind(const SweepPlan& plan, Pivot pivot) {
  if (plan.matrix != "auto") return plan.matrix;
  return exchanges_rows(pivot) ? "random" : "dominant";
}

// The system that a case solves.
struct System {
  Matrix a, b;
};

System make_system(const Case& what) {
  const std::size_t n = what.problem.size.n;
  return {generate(what.matrix, n, what.seed), random_matrix(n, what.problem.size.nrhs, what.seed)};
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", seconds);
  return text;
}

// The case's device; null on the host.
DeviceContext* context_of(const Case& what, std::vector<DeviceContext>& contexts) {
  const auto found =
      std::find_if(contexts.begin(), contexts.end(), [&](const DeviceContext& context) {
        return context.device().index == what.device_index &&
               context.device().compute_units == what.units;
      });
  return found == contexts.end() ? nullptr : &*found;
}

}  // namespace

std::vector<std::size_t> parse_sizes(const std::string& text, const char* option) {
  std::vector<std::size_t> sizes;
  for (const std::string& part : split(text, ',')) append_range(option, part, sizes);
  return sizes;
}

namespace {

// What earlier runs found out about the device.
const PathRecords& records_of(const SweepPlan& plan, const Device& device) {
  static const PathRecords none;
  const auto found = plan.path_records.find(device.index);
  return found == plan.path_records.end() ? none : found->second;
}

// The variants of a method on a device that the plan asks for: a schedule where it has any, a block
// size where it has blocks. "auto" is the fastest one for each variant.
void append_variants(const SweepPlan& plan, const Device& device, const Problem& problem,
                     const std::string& name, std::vector<Case>& cases) {
  const std::vector<std::size_t> no_blocks = {0};
  const PathRecords& records = records_of(plan, device);
  for (const std::optional<Texel>& texel : plan.texels) {
    for (const Schedule schedule : plan.schedules) {
      Problem variant = problem;
      variant.dense.schedule = schedule;
      const Method& method =
          name == "auto" ? automatic_method(device, variant, texel, records) : find_method(name);
      if (!method.has(rule_of(problem.dense.pivot))) continue;
      if (!method.shares && problem.dense.shared()) continue;
      for (const std::size_t nb : method.block_size ? plan.nbs : no_blocks) {
        cases.push_back({"lugpu", method.name,
                         completed(variant, method, device, texel, nb, records), device.name,
                         device.index, device.compute_units, plan.device_memory, std::nullopt,
                         std::nullopt, plan.seed, matrix_kind(plan, problem.dense.pivot)});
        cases.back().windows = windows_of(device, method, cases.back().problem);
      }
      if (!method.has_schedules && name != "auto") break;
    }
  }
}

// On the host, without a number of threads.
Case baseline_case(const SweepPlan& plan, const Baseline& baseline, std::size_t n,
                   Precision precision) {
  return {baseline.implementation,
          baseline.name,
          {Size::square(n, plan.nrhs), {baseline.pivot, precision}, {}},
          std::nullopt,
          -1,
          std::nullopt,
          std::nullopt,
          std::nullopt,
          std::nullopt,
          plan.seed,
          matrix_kind(plan, baseline.pivot)};
}

void append_host_cases(const SweepPlan& plan, const Baseline& baseline, std::size_t n,
                       Precision precision, std::vector<Case>& cases) {
  const Case what = baseline_case(plan, baseline, n, precision);
  if (!baseline.threaded) return cases.push_back(what);
  if (plan.threads.empty()) {
    cases.push_back(what);
    cases.back().threads = blas_threads();
    if (blas_threads() > 1) cases.back().threads_to_try = powers_of_two_up_to(blas_threads());
  }
  for (const int count : plan.threads) {
    cases.push_back(what);
    cases.back().threads = count;
  }
}

// Rivals on a device, or on several that share the work.
void append_rivals(const SweepPlan& plan, const std::vector<std::string>& rivals,
                   const Device& device, const std::vector<DeviceContext*>& others, std::size_t n,
                   Precision precision, std::vector<Case>& cases) {
  for (const std::string& name : rivals) {
    const Baseline& baseline = find_baseline(name);
    if (!baseline.on_device || (!baseline.shares && !others.empty())) continue;
    Case what = baseline_case(plan, baseline, n, precision);
    what.problem.dense.others = others;
    what.device = device.name;
    what.device_index = device.index;
    what.units = device.compute_units;
    cases.push_back(what);
  }
}

// Whether any method lets several devices share a system.
bool can_share(Pivot pivot) {
  return std::ranges::any_of(
      methods(), [&](const Method& method) { return method.shares && method.has(rule_of(pivot)); });
}

std::vector<Case> device_cases(const SweepPlan& plan, const Device& device, std::size_t n,
                               const Arithmetic& arithmetic,
                               const std::vector<DeviceContext*>& others = {}) {
  std::vector<Case> cases;
  for (const std::string& name : plan.methods) {
    for (const Storage storage : plan.storages) {
      for (const Pivot pivot : plan.pivots) {
        Problem problem;
        problem.dense.others = others;
        problem.dense.crew = plan.crew;
        if (problem.dense.shared() && !can_share(pivot)) continue;
        problem.size = Size::square(n, plan.nrhs);
        problem.dense.pivot = pivot;
        problem.dense.precision = arithmetic.precision;
        problem.solve.refine = arithmetic.refine;
        problem.dense.storage = storage;
        append_variants(plan, device, problem, name, cases);
      }
    }
  }
  return cases;
}

// The precision in which rivals run for comparison with this arithmetic: for mixed, whose X is as
// accurate, in double. Absent if the plan has them in that already.
std::optional<Precision> rivals_precision(const SweepPlan& plan, const Arithmetic& arithmetic) {
  if (arithmetic.refine != Refine::mixed) return arithmetic.precision;
  const Arithmetic in_double = Precision::double_precision;
  const auto& planned = plan.precisions;
  if (std::find(planned.begin(), planned.end(), in_double) != planned.end()) return std::nullopt;
  return Precision::double_precision;
}

std::string list(const std::vector<std::string>& names, const std::string& separator) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : separator) + name;
  return text;
}

std::vector<std::string> names_of(const std::vector<Pivot>& pivots) {
  std::vector<std::string> names;
  for (const Pivot pivot : pivots) names.push_back(name(pivot));
  return names;
}

// Only a pivoting that none of the methods has leaves a sweep without cases.
[[noreturn]] void refuse_pivots(const SweepPlan& plan) {
  std::vector<std::string> known;
  for (const std::string& method : plan.methods) {
    known.push_back(method + " has " + list(names_of(find_method(method).pivots()), ", "));
  }
  throw InputError("There is nothing to run with --pivot " + list(names_of(plan.pivots), ",") +
                   ": " + list(known, "; ") + ".");
}

}  // namespace

std::vector<int> powers_of_two_up_to(int most) {
  std::vector<int> numbers;
  for (int number = 1; number < most; number *= 2) numbers.push_back(number);
  numbers.push_back(most);
  return numbers;
}

std::vector<Case> cases_of(const SweepPlan& plan, const std::vector<Device>& devices) {
  std::vector<Case> cases;
  for (const std::size_t n : plan.sizes) {
    for (const Arithmetic& arithmetic : plan.precisions) {
      const auto precision = rivals_precision(plan, arithmetic);
      const std::vector<std::string> rivals =
          precision ? plan.baselines : std::vector<std::string>();
      for (const std::string& name : rivals) {
        const Baseline& baseline = find_baseline(name);
        if (!baseline.on_device) append_host_cases(plan, baseline, n, *precision, cases);
      }
      for (const Device& device : devices) {
        append_rivals(plan, rivals, device, {}, n, precision.value_or(arithmetic.precision), cases);
        const std::vector<Case> more = device_cases(plan, device, n, arithmetic);
        cases.insert(cases.end(), more.begin(), more.end());
      }
      for (const std::vector<DeviceContext*>& team : plan.teams) {
        const std::vector<DeviceContext*> others(team.begin() + 1, team.end());
        const Device& device = team.front()->device();
        append_rivals(plan, rivals, device, others, n, precision.value_or(arithmetic.precision),
                      cases);
        const std::vector<Case> more = device_cases(plan, device, n, arithmetic, others);
        cases.insert(cases.end(), more.begin(), more.end());
      }
    }
  }
  if (cases.empty()) refuse_pivots(plan);
  return cases;
}

Result attempt(const Case& what, const Effort& effort, const std::function<Result()>& action) {
  Result result;
  result.what = what;
  try {
    return action();
  } catch (const TimedOut&) {
    result.status = RunStatus::skipped;
    result.reason = "it did not finish within --timeout " + seconds_text(effort.timeout_s) + ".";
  } catch (const Unsupported& error) {
    result.status = RunStatus::unsupported;
    result.reason = words(error);
  } catch (const NotTried& error) {
    result.tried = false;
    result.reason = first_line(words(error));
  } catch (const cl::Error& error) {
    result.tried = !is_out_of_memory(error.err());
    result.reason = describe(error) + ".";
  } catch (const std::bad_alloc&) {
    result.tried = false;
    result.reason = "The host does not have enough memory.";
  } catch (const Error& error) {
    result.reason = first_line(words(error));
  } catch (const std::exception& error) {
    result.reason = first_line(error.what());
  }
  return result;
}

namespace {

// A case on its way.
struct Running {
  const Case* what;
  std::size_t number;  // of all cases
  std::unique_ptr<Measurement> measurement = nullptr;
  std::optional<Result> result = std::nullopt;  // as soon as it has one
  bool done = false;
};

// Cases of one order that are measured together, so that they share their systems.
class Group {
 public:
  Group(const SweepPlan& plan, std::vector<DeviceContext>& contexts, const SweepObserver& observer)
      : plan_(plan), contexts_(contexts), observer_(observer), memory_(plan.effort) {}

  bool has_room_for(const Case& what) {
    return memory_.has_room_for(what, device_of(what), host_bytes_);
  }

  void add(const Case& what, std::size_t number) {
    if (cases_.empty()) ask_for_memory();
    cases_.push_back({&what, number});
    memory_.add(what, device_of(what), host_bytes_);
  }

  // Samples of each case in turn, beginning with a different one each time.
  void measure() {
    for (Running& running : cases_) {
      proceed(running, [&] { begin(running); });
    }
    std::size_t left = cases_.size();
    for (std::size_t round = 0; left > 0; ++round) {
      for (std::size_t i = 0; i < cases_.size(); ++i) {
        Running& running = cases_[(round + i) % cases_.size()];
        if (running.done) continue;
        if (wants_sample(running)) take_turn(running);
        if (wants_sample(running)) continue;
        finish(running);
        --left;
      }
    }
    cases_.clear();
    memory_ = MemoryInTurn(plan_.effort);
  }

 private:
  // Null on the host.
  const Device* device_of(const Case& what) {
    const DeviceContext* context = context_of(what, contexts_);
    return context ? &context->device() : nullptr;
  }

  // Asking takes as long as a small case, so not before some time has gone by.
  void ask_for_memory() {
    if (host_bytes_ > 0 && seconds_since(asked_) < 0.1) return;
    host_bytes_ = host_memory_for_cases();
    asked_ = Clock::now();
  }

  void begin(Running& running) {
    const Case& what = *running.what;
    DeviceContext* context = context_of(what, contexts_);
    require_possible(device_of(what), what, plan_.effort, host_bytes_);
    // What is left of the group before: of another order; of another kind, where room is scarce.
    std::erase_if(systems_, [&](const auto& entry) {
      const auto& [kind, system] = entry;
      return system.a.rows() != what.problem.size.n || (cases_.size() == 1 && kind != what.matrix);
    });
    if (!systems_.contains(what.matrix)) systems_.emplace(what.matrix, make_system(what));
    set_blas_threads(what.threads.value_or(all_threads_));
    const auto& [a, b] = systems_.at(what.matrix);
    running.measurement = what.is_baseline()
                              ? std::make_unique<Measurement>(find_baseline(what.routine), context,
                                                              what, a, b, plan_.effort)
                              : std::make_unique<Measurement>(*context, find_method(what.routine),
                                                              what, a, b, plan_.effort);
    if (!observer_.earlier) return;
    if (const auto earlier = observer_.earlier(running.number)) {
      running.measurement->resume(*earlier);
    }
  }

  static bool wants_sample(const Running& running) {
    return !running.result && running.measurement->wants_sample();
  }

  // The checks of a case that has its samples.
  void finish(Running& running) {
    set_blas_threads(all_threads_);
    proceed(running, [&] { running.result = running.measurement->finish(); });
    running.measurement.reset();
    running.done = true;
    host_was_last_ = true;  // the checks are the host's
    observer_.done(*running.result, running.number);
  }

  // A sample, or as many short ones as fill the turn.
  void take_turn(Running& running) {
    const bool on_host = !running.what->device;
    // The host's BLAS keeps its threads spinning for 2^26 cycles after a call.
    if (host_was_last_ && !on_host) std::this_thread::sleep_for(std::chrono::milliseconds(40));
    host_was_last_ = on_host;
    const auto start = std::chrono::steady_clock::now();
    const std::chrono::duration<double> turn(plan_.effort.turn_s);
    set_blas_threads(running.measurement->what().threads.value_or(all_threads_));
    std::vector<double> taken;
    do {
      proceed(running, [&] { taken.push_back(running.measurement->sample()); });
    } while (wants_sample(running) && std::chrono::steady_clock::now() - start < turn);
    if (observer_.sampled && !running.result) {
      observer_.sampled(running.measurement->what(), running.number, taken);
    }
  }

  // The next piece of a case that has no result yet. What the piece throws becomes one.
  template <typename Piece>
  void proceed(Running& running, const Piece& piece) {
    if (running.result) return;
    observer_.working(*running.what);
    bool threw = true;
    Result failure = attempt(*running.what, plan_.effort, [&] {
      piece();
      threw = false;
      return Result();
    });
    if (!threw) return;
    running.result = std::move(failure);
    running.measurement.reset();  // another one may need its memory
  }

  const SweepPlan& plan_;
  std::vector<DeviceContext>& contexts_;
  const SweepObserver& observer_;
  std::vector<Running> cases_;
  MemoryInTurn memory_;                    // of them
  double host_bytes_ = 0;                  // that there were for them
  Clock::time_point asked_;                // when
  std::map<std::string, System> systems_;  // by kind of matrix
  bool host_was_last_ = true;              // whether the host's BLAS may have worked last
  const int all_threads_ = blas_threads();
};

}  // namespace

void run_sweep(const SweepPlan& plan, const std::vector<Case>& cases,
               std::vector<DeviceContext>& contexts, const SweepObserver& observer) {
  Group group(plan, contexts, observer);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (!observer.wanted(cases[i])) continue;
    if (!group.has_room_for(cases[i])) group.measure();
    group.add(cases[i], i);
  }
  group.measure();
}

}  // namespace lugpu

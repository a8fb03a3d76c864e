#include "bench/batch_bench.hpp"

#include <algorithm>

#include "accuracy/batch_checks.hpp"
#include "accuracy/checks.hpp"
#include "base/clock.hpp"
#include "base/parallel.hpp"
#include "bench/result.hpp"
#include "bench/samples.hpp"
#include "bench/statistics.hpp"
#include "bench/sweep.hpp"
#include "matrix/generate.hpp"
#include "matrix/norms.hpp"
#include "matrix/random.hpp"
#include "solve/diagnosis.hpp"

namespace lugpu {
namespace {

using nlohmann::json;

// With a copy of the matrices beside the factors.
template <typename T>
class LuContender : public BatchContender<T> {
 public:
  LuContender(DeviceContext& context, const BatchCase& what)
      : context_(context),
        lu_(context, what.size, what.precision, what.pivot,
            BatchLu::path(context.device(), what.size.n, what.precision, what.pivot)) {
    for (const BatchLu::Part& part : lu_.parts()) copies_.push_back(context.allocate(part.bytes));
  }

  void upload(const Batch<const T>& a) override {
    lu_.upload(a);
    copy_parts(true);
  }
  void reset() override { copy_parts(false); }
  void factor() override {
    lu_.factor();
    context_.queue().finish();
  }
  void solve(const Batch<const T>& b, const Batch<T>& x) override { lu_.solve(b, x); }
  std::optional<std::string> variant() const override { return lu_.variant(); }

 private:
  void copy_parts(bool away) {
    for (std::size_t i = 0; i < copies_.size(); ++i) {
      const BatchLu::Part& part = lu_.parts()[i];
      context_.queue().enqueueCopyBuffer(away ? part.matrices : copies_[i],
                                         away ? copies_[i] : part.matrices, 0, 0, part.bytes);
    }
    context_.queue().finish();
  }

  DeviceContext& context_;
  BatchLu lu_;
  std::vector<cl::Buffer> copies_;  // of its parts
};

// The times of the factorizations, the first one not among them.
template <typename T>
void sample(BatchContender<T>& contender, const Effort& effort, BatchResult& result) {
  const Clock::time_point start = Clock::now();
  for (int run = 0; run < std::max(effort.warmup, 1); ++run) {
    contender.factor();
    contender.reset();
  }
  Samples samples(effort);
  OtherLoad load;
  while (samples.count() == 0 ||
         (!samples.enough() && seconds_since(start) < effort.timeout_s / 2)) {
    if (samples.count() > 0) contender.reset();
    const Clock::time_point begin = Clock::now();
    contender.factor();
    samples.add(seconds_since(begin));
  }
  result.other_load = load.share();
  result.times_s = samples.kept();
}

template <typename T>
void check(BatchContender<T>& contender, const BatchSystem<T>& system, BatchResult& result) {
  const std::size_t n = result.what.size.n, count = result.what.size.count;
  const std::size_t nrhs = result.what.nrhs;
  std::vector<T> x(system.b.size());
  const Batch<const T> a({system.a.data(), n, n, n}, count, n * n);
  const Batch<const T> b({system.b.data(), n, nrhs, n}, count, n * nrhs);
  contender.solve(b, Batch<T>({x.data(), n, nrhs, n}, count, n * nrhs));
  double largest = 0;
  for (const double ratio : solve_ratios(
           a, b, Batch<const T>({x.data(), n, nrhs, n}, count, n * nrhs), epsilon(kPrecision<T>))) {
    if (!(ratio < kSolveRatioLimit)) ++result.failed;
    largest = larger(largest, ratio);
  }
  result.solve_ratio = largest;
  result.status = result.failed == 0 ? RunStatus::ok : RunStatus::failed;
  if (result.failed == 0) return;
  result.reason = std::to_string(result.failed) + " of " + std::to_string(count) +
                  " members fail: the largest solve_ratio is " + short_number(largest) +
                  ", not under 30.";
}

}  // namespace

double BatchResult::gflops() const {
  const double n = static_cast<double>(what.size.n);
  return 2.0 / 3.0 * n * n * n * static_cast<double>(what.size.count) / median(times_s) * 1e-9;
}

double BatchResult::bytes_per_s() const {
  const double elements = static_cast<double>(what.size.n * what.size.n * what.size.count);
  return 2 * elements * static_cast<double>(element_size(what.precision)) / median(times_s);
}

template <typename T>
BatchSystem<T>::BatchSystem(const BatchCase& what) {
  const std::size_t n = what.size.n, count = what.size.count, sides = n * what.nrhs;
  const std::uint64_t seed = what.seed.value_or(0);
  a.resize(count * n * n);
  b.resize(count * sides);
  const auto fill = [](std::vector<T>& to, std::size_t first, const Matrix& from) {
    std::transform(from.values().begin(), from.values().end(),
                   to.begin() + static_cast<std::ptrdiff_t>(first),
                   [](double value) { return static_cast<T>(value); });
  };
  for (std::size_t m = 0; m < count; ++m) {
    fill(a, m * n * n, generate(what.matrix, n, seed + m));
    fill(b, m * sides, random_matrix(n, what.nrhs, seed + count + m));
  }
}

template <typename T>
BatchResult measure_batch(const BatchCase& what, const BatchSystem<T>& system,
                          const std::function<std::unique_ptr<BatchContender<T>>()>& make,
                          const Effort& effort) {
  BatchResult result;
  result.what = what;
  attempt_into(result, effort, [&] {
    const std::unique_ptr<BatchContender<T>> contender = make();
    result.variant = contender->variant();
    const std::size_t n = what.size.n;
    contender->upload(Batch<const T>({system.a.data(), n, n, n}, what.size.count, n * n));
    sample(*contender, effort, result);
    check(*contender, system, result);
  });
  return result;
}

template <typename T>
std::unique_ptr<BatchContender<T>> make_batch_lu(DeviceContext& context, const BatchCase& what) {
  BatchSize with_copy = what.size;
  with_copy.count *= 2;
  BatchLu::require_room(context.device(), with_copy, what.precision, what.pivot);
  return std::make_unique<LuContender<T>>(context, what);
}

namespace {

// Why a batch is not solved, with its first bad member.
std::string reason_of(const BatchResult& result) {
  const bool pivoted = result.what.pivot != Pivot::none;
  const auto members = [](std::size_t count, const char* one, const char* many) {
    return std::to_string(count) +
           (count == 1 ? std::string(" member ") + one : std::string(" members ") + many);
  };
  std::string text;
  if (result.singular > 0) {
    text = pivoted ? members(result.singular, "is singular", "are singular")
                   : members(result.singular, "has a pivot that is exactly zero",
                             "have a pivot that is exactly zero");
  }
  if (result.failed > 0) {
    text += (text.empty() ? "" : " and ") +
            members(result.failed, "fails its check", "fail their checks");
  }
  const BatchResult::Member& first = result.bad.front();
  return text + ", of " + std::to_string(result.what.size.count) + "; the first is member " +
         std::to_string(first.number) + ", counted from 0: " +
         (first.info > 0 ? "pivot " + std::to_string(first.info) + " is exactly zero"
                         : "solve_ratio is " + short_number(first.solve_ratio) + ", not under 30") +
         (pivoted ? "." : "; try --pivot partial.");
}

}  // namespace

template <typename T>
BatchResult record_of(const BatchCase& what, const BatchSolution<T>& solution) {
  BatchResult result;
  result.what = what;
  result.times_s = {solution.phases_s.at("factor")};
  for (std::size_t i = 0; i < solution.count; ++i) {
    const double ratio = solution.solve_ratio[i];
    const Status status = solution.status[i];
    if (status == Status::singular) ++result.singular;
    if (status == Status::failed) ++result.failed;
    if (status != Status::singular) {
      result.solve_ratio = larger(result.solve_ratio.value_or(0), ratio);
    }
    if (status != Status::ok && result.bad.size() < BatchResult::kMostMembers) {
      result.bad.push_back({i, solution.info[i], ratio});
    }
  }
  result.status = result.bad.empty() ? RunStatus::ok : RunStatus::failed;
  if (result.bad.empty()) return result;
  result.reason = reason_of(result);
  return result;
}

std::span<const char* const> batch_case_fields() {
  static constexpr const char* kFields[] = {
      "batch", "implementation", "routine", "pivot",  "precision",    "n",
      "nrhs",  "matrix",         "seed",    "device", "compute_units"};
  return kFields;
}

bool same_batch_case(const json& a, const json& b) {
  return std::ranges::all_of(batch_case_fields(), [&](const char* key) {
    return a.contains(key) && b.contains(key) && a.at(key) == b.at(key);
  });
}

json to_json(const BatchResult& result) {
  const BatchCase& what = result.what;
  const bool timed = result.status == RunStatus::ok;
  json row = {{"batch", what.size.count},
              {"implementation", what.implementation},
              {"routine", what.routine},
              {"pivot", name(what.pivot)},
              {"precision", name(what.precision)},
              {"n", what.size.n},
              {"nrhs", what.nrhs},
              {"matrix", what.matrix},
              {"seed", what.seed ? json(*what.seed) : json(nullptr)},
              {"device", what.device ? json(*what.device) : json(nullptr)},
              {"compute_units", what.units ? json(*what.units) : json(nullptr)},
              {"threads", what.threads ? json(*what.threads) : json(nullptr)},
              {"times_s", result.times_s}};
  if (result.variant) row["variant"] = *result.variant;
  add_statistics(result.times_s, timed, row);
  row["other_load"] = number_or_null(result.other_load);
  row["gflops"] = timed ? json(result.gflops()) : json(nullptr);
  row["bandwidth"] = nullptr;
  if (timed && result.copy_bytes_per_s) {
    const double bytes = result.bytes_per_s();
    row["bandwidth"] = {{"bytes_per_s", bytes}, {"over_copy", bytes / *result.copy_bytes_per_s}};
  }
  row["checks"] = {{"solve_ratio", number_or_null(result.solve_ratio)},
                   {"failed", result.failed},
                   {"singular", result.singular}};
  if (!result.bad.empty()) {
    for (const BatchResult::Member& member : result.bad) {
      row["members"].push_back({{"member", member.number},
                                {"info", member.info},
                                {"solve_ratio", number_or_null(member.solve_ratio)}});
    }
  }
  row["status"] = name(result.status);
  row["reason"] = result.reason;
  return row;
}

template BatchResult record_of(const BatchCase&, const BatchSolution<float>&);
template BatchResult record_of(const BatchCase&, const BatchSolution<double>&);
template struct BatchSystem<float>;
template struct BatchSystem<double>;
template BatchResult measure_batch(const BatchCase&, const BatchSystem<float>&,
                                   const std::function<std::unique_ptr<BatchContender<float>>()>&,
                                   const Effort&);
template BatchResult measure_batch(const BatchCase&, const BatchSystem<double>&,
                                   const std::function<std::unique_ptr<BatchContender<double>>()>&,
                                   const Effort&);
template std::unique_ptr<BatchContender<float>> make_batch_lu(DeviceContext&, const BatchCase&);
template std::unique_ptr<BatchContender<double>> make_batch_lu(DeviceContext&, const BatchCase&);

}  // namespace lugpu

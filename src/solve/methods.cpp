#include "solve/methods.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "dense/gauss_jordan.hpp"
#include "dense/lu.hpp"
#include "dense/lu_blocked.hpp"
#include "distributed/deal.hpp"
#include "distributed/distributed_lu.hpp"

namespace lugpu {
namespace {

template <typename T>
std::unique_ptr<DenseFactorization> make(DeviceContext& context, const Size& size,
                                         const DenseOptions& options) {
  return std::make_unique<T>(context, size, options);
}

// As lu-blocked works on buffers.
bool is_in_place(const DenseOptions& options) {
  return options.storage == Storage::buffer && options.texel == Texel::r;
}

// Whether one device has all of A in one buffer. Throws Unsupported if not, and there is no other
// way to have it.
bool has_whole(const Device& device, const Size& size, const DenseOptions& options) {
  if (options.shared()) return false;
  try {
    LuBlocked::require_room(device, size, options);
    return true;
  } catch (const Unsupported&) {
    if (!is_in_place(options)) throw;
    return false;
  }
}

std::size_t windows_of_blocked(const Device& device, const Size& size,
                               const DenseOptions& options) {
  return has_whole(device, size, options) ? 1 : DistributedLu::windows(device, size, options);
}

void require_room_of_blocked(const Device& device, const Size& size, const DenseOptions& options) {
  windows_of_blocked(device, size, options);
}

std::size_t block_size_of_blocked(const Device& device, const Size& size,
                                  const DenseOptions& options) {
  return !is_in_place(options) || has_whole(device, size, options)
             ? LuBlocked::block_size(device, size, options)
             : distributed_block_size(device, size, options);
}

std::unique_ptr<DenseFactorization> make_blocked(DeviceContext& context, const Size& size,
                                                 const DenseOptions& options) {
  if (has_whole(context.device(), size, options)) return make<LuBlocked>(context, size, options);
  return make<DistributedLu>(context, size, options);
}

Shortcut shortcut_of_blocked(const Device& device, const Size& size, const DenseOptions& options) {
  if (!is_in_place(options) || !has_whole(device, size, options)) return Shortcut::none;
  return LuBlocked::shortcut(device, size, options);
}

double lu_flops(double n) {
  return 2.0 / 3.0 * n * n * n;
}

// Table 1: copy and copy back 8 bytes a texel, normalization 12, elimination 16.
WorkModel lu_work(std::uint64_t n) {
  const std::uint64_t eliminated = n == 0 ? 0 : (n - 1) * n * (2 * n - 1) / 6;
  const std::uint64_t panel = n * (n + 1) / 2;
  return {eliminated, 8 * panel + 12 * panel + 8 * panel + 16 * eliminated};
}

WorkModel gauss_jordan_work(std::uint64_t n) {
  const std::uint64_t panel = n * (n + 1) / 2;
  return {n * panel, 12 * panel + 8 * panel + 16 * n * panel};
}

// Mixed precision needs its factors too.
bool has_failed(const FailedPaths& failed, const Method& method, const Problem& problem) {
  Problem factors = problem;
  factors.solve.refine = Refine::none;
  return std::any_of(failed.begin(), failed.end(), [&](const std::string& path) {
    return path == path_name(method, problem) || path == path_name(method, factors);
  });
}

void require_pivoting(const Method& method, Pivot pivot) {
  if (method.has(rule_of(pivot))) return;
  throw Unsupported(std::string(method.name) + " has no " + name(pivot) + " pivoting",
                    {"method", "lu"});
}

void require_one_device(const Method& method, const DenseOptions& options) {
  if (method.shares || !options.shared()) return;
  throw Unsupported(std::string(method.name) + " works on one device alone",
                    {"method", "lu-blocked"});
}

// What `lugpu tune` found of the method near this order. It measures matrices that one buffer
// holds, on one device, by the fused schedule.
const TunedVariant* tuned_variant(const Tuning& tuning, const Method& method,
                                  const Problem& problem) {
  const DenseOptions& dense = problem.dense;
  if (dense.storage != Storage::buffer || dense.schedule != Schedule::fused || dense.shared()) {
    return nullptr;
  }
  return find_variant(tuning, method.name, dense.pivot, dense.precision, problem.size.n);
}

// Whether `lugpu tune` measured both at one order near this one, and the first was faster.
bool was_faster(const Tuning& tuning, const Method& first, const Method& second,
                const Problem& problem, std::optional<Texel> texel) {
  if (texel) return false;
  const TunedVariant* const one = tuned_variant(tuning, first, problem);
  const TunedVariant* const other = tuned_variant(tuning, second, problem);
  return one && other && one->n == other->n && one->seconds < other->seconds;
}

}  // namespace

const FlopFormula kLuFlops = {"2/3 n^3", lu_flops};

std::span<const Method> methods() {
  static const Method table[] = {
      {"lu-blocked", "blocked LU decomposition with look-ahead, as LAPACK's getrf",
       Structure::general,
       [](const PivotRule& rule) {
         return rule.pivot == Pivot::none || rule.pivot == Pivot::partial;
       },
       kLuFlops, lu_work, true, false, true, require_room_of_blocked, make_blocked,
       block_size_of_blocked, windows_of_blocked, shortcut_of_blocked},
      {"lu", "LU decomposition, LU-GPU's Algorithm 3", Structure::general,
       [](const PivotRule&) { return true; }, kLuFlops, lu_work, true, true, false,
       Lu::require_room, make<Lu>},
      {"gauss-jordan", "Gauss-Jordan elimination of [A | B], LU-GPU's Algorithm 1",
       Structure::general, [](const PivotRule& rule) { return rule.search != Search::walk; },
       kLuFlops, gauss_jordan_work, false, true, false, GaussJordan::require_room,
       make<GaussJordan>},
  };
  return table;
}

std::vector<Pivot> Method::pivots() const {
  std::vector<Pivot> found;
  for (const PivotRule& rule : pivot_rules()) {
    if (has(rule)) found.push_back(rule.pivot);
  }
  return found;
}

const Method& find_method(const std::string& name) {
  std::string known;
  for (const Method& method : methods()) {
    if (name == method.name) return method;
    known += (known.empty() ? "" : ", ") + std::string(method.name);
  }
  throw InputError("There is no method \"" + name + "\"; there are: " + known + ".");
}

void require_possible(const Device& device, const Method& method, const Problem& problem) {
  require_pivoting(method, problem.dense.pivot);
  require_one_device(method, problem.dense);
  if (problem.solve.refine != Refine::none && !method.keeps_factors) {
    throw Unsupported(std::string(method.name) + " keeps no factors to refine X with",
                      {"method", "lu"});
  }
  method.require_room(device, problem.size, problem.dense);
}

std::unique_ptr<DenseFactorization> adopt_factors(DeviceContext& context, const Problem& problem,
                                                  const MatrixView& lu,
                                                  const std::vector<int>& ipiv) {
  const auto adopt = [&](auto factors) -> std::unique_ptr<DenseFactorization> {
    factors->upload(lu, View<const float>{nullptr, lu.rows(), 0, lu.rows()});
    factors->adopt_factors(ipiv);
    return factors;
  };
  const auto& [size, options, around] = problem;
  if (has_whole(context.device(), size, options)) {
    return adopt(std::make_unique<LuBlocked>(context, size, options));
  }
  return adopt(std::make_unique<DistributedLu>(context, size, options));
}

Size size_on_device(const Problem& problem) {
  const std::size_t nrhs = problem.solve.refine == Refine::mixed ? 0 : problem.size.nrhs;
  return Size::square(problem.size.n, nrhs);
}

std::optional<std::size_t> windows_of(const Device& device, const Method& method,
                                      const Problem& problem) {
  if (!method.windows) return std::nullopt;
  try {
    return method.windows(device, size_on_device(problem), problem.dense);
  } catch (const Unsupported&) {
    return std::nullopt;
  }
}

bool has_room_beside(const Device& device, const Method& method, const Size& size,
                     const DenseOptions& options, std::uint64_t bytes) {
  Device rest = device;
  rest.global_memory -= std::min(bytes, rest.global_memory);
  try {
    method.require_room(rest, size, options);
    return !method.windows || method.windows(rest, size, options) == 1;
  } catch (const Unsupported&) {
    return false;
  }
}

std::size_t largest_order(const std::function<void(std::size_t n)>& require) {
  std::size_t fits = 0;
  std::size_t too_large = std::size_t{1} << 24;
  while (too_large - fits > 1) {
    const std::size_t n = (fits + too_large) / 2;
    try {
      require(n);
      fits = n;
    } catch (const Unsupported&) {
      too_large = n;
    }
  }
  return fits;
}

std::size_t largest_order(const Device& device, const Method& method, const DenseOptions& options) {
  return largest_order(
      [&](std::size_t n) { method.require_room(device, Size::square(n, 1), options); });
}

std::string path_name(const Method& method, const Problem& problem) {
  const DenseOptions& dense = problem.dense;
  const std::string path = std::string(method.name) + " " + name(dense.pivot) + " " +
                           precision_name(problem) + " " + name(dense.storage) + " " +
                           name(dense.texel);
  return method.has_schedules ? path + " " + name(dense.schedule) : path;
}

const Method& automatic_method(const Device& device, const Problem& problem,
                               std::optional<Texel> texel, const PathRecords& records) {
  const DenseOptions& dense = problem.dense;
  const bool blocks = dense.schedule == Schedule::fused &&
                      (dense.storage == Storage::image || texel != Texel::rgba);
  const Method* fastest = nullptr;
  for (const Method& method : methods()) {
    const bool possible = method.structure == Structure::general &&
                          method.has(rule_of(dense.pivot)) && (blocks || !method.block_size) &&
                          (method.shares || !dense.shared());
    if (possible &&
        !has_failed(records.failed, method,
                    completed(problem, method, device, texel, 0, records)) &&
        (!fastest || was_faster(records.tuning, method, *fastest, problem, texel))) {
      fastest = &method;
    }
  }
  if (fastest) return *fastest;
  if (dense.shared()) {
    throw Unsupported("No method for several devices has pivoting " +
                          std::string(name(dense.pivot)) + " and the other options",
                      {"pivot", "partial"});
  }
  throw Unsupported("`lugpu verify` found every method with pivoting " +
                        std::string(name(dense.pivot)) + " wrong on " + device.name +
                        "; one that is named runs anyway",
                    {"method", "lu"});
}

Storage automatic_storage(const Device&) {
  return Storage::buffer;
}

Problem completed(Problem problem, const Method& method, const Device& device,
                  std::optional<Texel> texel, std::size_t nb, const PathRecords& records) {
  DenseOptions& dense = problem.dense;
  // Blocked methods have their buffers unpacked, and a CPU's compiler makes vectors of scalar loops
  // over them; elsewhere an access is worth packing.
  const bool single =
      dense.storage == Storage::buffer && (method.block_size || device.type == "cpu");
  const bool paper = dense.schedule == Schedule::paper && method.has_schedules;
  dense.texel = texel.value_or(single || paper ? Texel::r : Texel::rgba);
  const TunedVariant* const tuned = tuned_variant(records.tuning, method, problem);
  if (tuned && !texel) dense.texel = tuned->texel;
  if (!texel && has_failed(records.failed, method, problem)) dense.texel = Texel::r;
  if (method.block_size) {
    const bool goes_by_tuning = tuned && has_whole(device, problem.size, dense);
    dense.nb = nb > 0           ? nb
               : goes_by_tuning ? tuned->nb
                                : method.block_size(device, problem.size, dense);
  }
  dense.shortcut = Shortcut::none;
  if (problem.solve.refine == Refine::mixed && method.shortcut) {
    dense.shortcut = method.shortcut(device, problem.size, dense);
  }
  return problem;
}

Plan make_plan(const Options& options, const Device& device, const Size& size, Precision data,
               const PathRecords& records, const std::vector<DeviceContext*>& others, Crew* crew) {
  Problem problem;
  problem.size = size;
  problem.solve = {options.refine, options.equilibrate, options.determinant, options.inverse,
                   options.check};
  DenseOptions& dense = problem.dense;
  dense.pivot = options.pivot;
  dense.precision =
      options.precision.value_or(device.double_precision ? data : Precision::single_precision);
  if (options.refine == Refine::mixed) dense.precision = Precision::single_precision;
  dense.storage = options.storage.value_or(automatic_storage(device));
  dense.schedule = options.schedule;
  dense.others = others;
  dense.crew = crew;
  const Method& method = options.method == "auto"
                             ? automatic_method(device, problem, options.texel, records)
                             : find_method(options.method);
  if (options.nb > 0 && !method.block_size) {
    throw InputError(std::string(method.name) + " has no blocks to choose a size for",
                     {"method", "lu-blocked"});
  }
  if (options.schedule == Schedule::paper && !method.has_schedules) {
    throw InputError(std::string(method.name) + " has no schedule of the paper", {"method", "lu"});
  }
  require_pivoting(method, dense.pivot);
  require_one_device(method, dense);
  return {&method, completed(problem, method, device, options.texel, options.nb, records)};
}

}  // namespace lugpu

#include "solve/methods.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "dense/gauss_jordan.hpp"
#include "dense/lu.hpp"
#include "dense/lu_blocked.hpp"

namespace lugpu {
namespace {

template <typename T>
std::unique_ptr<Solver> make(DeviceContext& context, const Problem& problem) {
  return std::make_unique<T>(context, problem);
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

bool has(const Method& method, Pivot pivot) {
  return std::find(method.pivots.begin(), method.pivots.end(), pivot) != method.pivots.end();
}

// Mixed precision needs its factors too.
bool has_failed(const Device& device, const Method& method, const Problem& problem) {
  Problem factors = problem;
  factors.refine = Refine::none;
  const auto& failed = device.failed_paths;
  return std::any_of(failed.begin(), failed.end(), [&](const std::string& path) {
    return path == path_name(method, problem) || path == path_name(method, factors);
  });
}

}  // namespace

std::span<const Method> methods() {
  static const std::vector<Method> table = {
      {"lu",
       "LU decomposition, LU-GPU's Algorithm 3",
       {Pivot::none, Pivot::partial, Pivot::rook, Pivot::full},
       lu_work,
       Lu::require_room,
       make<Lu>,
       true},
      {"lu-blocked",
       "blocked LU decomposition with look-ahead, as LAPACK's getrf",
       {Pivot::none, Pivot::partial},
       lu_work,
       LuBlocked::require_room,
       make<LuBlocked>,
       true,
       LuBlocked::block_size},
      {"gauss-jordan",
       "Gauss-Jordan elimination of [A | B], LU-GPU's Algorithm 1",
       {Pivot::none, Pivot::partial, Pivot::full},
       gauss_jordan_work,
       GaussJordan::require_room,
       make<GaussJordan>,
       false},
  };
  return table;
}

const Method& find_method(const std::string& name) {
  std::string known;
  for (const Method& method : methods()) {
    if (name == method.name) return method;
    known += (known.empty() ? "" : ", ") + std::string(method.name);
  }
  throw InputError("There is no method \"" + name + "\"; there are: " + known + ".");
}

std::string path_name(const Method& method, const Problem& problem) {
  const std::string path = std::string(method.name) + " " + name(problem.pivot) + " " +
                           precision_name(problem) + " " + name(problem.storage) + " " +
                           name(problem.texel);
  return method.block_size ? path : path + " " + name(problem.schedule);
}

const Method& automatic_method(const Device& device, const Problem& problem,
                               std::optional<Texel> texel) {
  const bool blocks = problem.schedule == Schedule::fused &&
                      (problem.storage == Storage::image || texel != Texel::rgba);
  for (const char* fastest : {"lu-blocked", "lu", "gauss-jordan"}) {
    const Method& method = find_method(fastest);
    const bool possible = has(method, problem.pivot) && (blocks || !method.block_size);
    if (possible && !has_failed(device, method, completed(problem, method, device, texel, 0))) {
      return method;
    }
  }
  throw Unsupported("`lugpu verify` found every method with pivoting " +
                    std::string(name(problem.pivot)) + " wrong on " + device.name +
                    "; --method NAME runs one anyway.");
}

Storage automatic_storage(const Device&) {
  return Storage::buffer;
}

Problem completed(Problem problem, const Method& method, const Device& device,
                  std::optional<Texel> texel, std::size_t nb) {
  // Blocked methods have their buffers unpacked, and a CPU's compiler makes vectors of scalar loops
  // over them; elsewhere an access is worth packing.
  const bool single =
      problem.storage == Storage::buffer && (method.block_size || device.type == "cpu");
  const bool paper = problem.schedule == Schedule::paper && !method.block_size;
  problem.texel = texel.value_or(single || paper ? Texel::r : Texel::rgba);
  if (!texel && has_failed(device, method, problem)) problem.texel = Texel::r;
  if (method.block_size) problem.nb = nb > 0 ? nb : method.block_size(device, problem);
  return problem;
}

}  // namespace lugpu

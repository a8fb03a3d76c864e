#include "solvers/methods.hpp"

#include "error.hpp"
#include "solvers/gauss_jordan.hpp"
#include "solvers/lu.hpp"
#include "solvers/lu_blocked.hpp"

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

}  // namespace

std::span<const Method> methods() {
  static const std::vector<Method> table = {
      {"lu",
       "LU decomposition, LU-GPU's Algorithm 3",
       {Pivot::none, Pivot::partial, Pivot::full},
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

const Method& automatic_method(const Problem& problem, std::optional<Texel> texel) {
  const bool blocked = problem.pivot != Pivot::full && problem.schedule == Schedule::fused &&
                       (problem.storage == Storage::image || texel != Texel::rgba);
  return find_method(blocked ? "lu-blocked" : "lu");
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
  if (method.block_size) problem.nb = nb > 0 ? nb : method.block_size(device, problem);
  return problem;
}

}  // namespace lugpu

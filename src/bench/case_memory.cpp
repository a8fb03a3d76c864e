#include "bench/case_memory.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/host_memory.hpp"
#include "baselines/baselines.hpp"
#include "solve/system_solver.hpp"

namespace lugpu {
namespace {

// Of the memory, by cases: other programs, drivers and rivals' libraries take some too.
constexpr double kShare = 0.9;

double bytes_of(const Size& size, std::size_t element) {
  return static_cast<double>(size.n) * static_cast<double>(size.n + size.nrhs) *
         static_cast<double>(element);
}

double bytes_of_square(const Size& size) {
  return bytes_of(Size::square(size.n, 0), sizeof(double));
}

double bytes_of_x(const Size& size) {
  return static_cast<double>(size.n) * static_cast<double>(size.nrhs) * sizeof(double);
}

// X, as the device gives it and as it is checked.
double bytes_of_solution(const Size& size) {
  return bytes_of_columns(size, 2);
}

// L U, to compare it with A.
double bytes_of_product(const Size& size, bool check_factors) {
  return check_factors && size.n <= kMostOrderOfProduct ? bytes_of_square(size) : 0;
}

MemoryNeed with_device_on_host(const Device& device, const MemoryNeed& need) {
  return {all_on_host(device, need), need.device};
}

MemoryNeed larger_of(const MemoryNeed& a, const MemoryNeed& b) {
  return {std::max(a.host, b.host), std::max(a.device, b.device)};
}

// A and its factors; on the host, the factors in double.
CaseMemory memory_of_baseline(const Device* device, const Case& what, bool check_factors) {
  const auto& [size, dense, around] = what.problem;
  // ScaLAPACK's processes have theirs besides.
  const double copies = find_baseline(what.routine).in_processes ? 4 : 2;
  const double held = copies * bytes_of(size, element_size(dense.precision));
  const double factors = bytes_of_square(size) + bytes_of_product(size, check_factors);
  const MemoryNeed checks{.host = std::max(factors + bytes_of_x(size), bytes_of_solution(size))};
  if (!device) return {{.host = held}, checks};
  return {with_device_on_host(*device, {.device = held}), checks};
}

// Of a method that keeps its factors: first they are compared with A on the host, then the device
// solves with them, for the condition or bounds of errors, and X is checked. Factors that are not
// compared come to the host in parts.
MemoryNeed checks_of_factors(const Device& device, const Method& method, const Problem& problem,
                             bool thorough) {
  const Size& size = problem.size;
  const MemoryNeed without = with_device_on_host(
      device, {bytes_of_solution(size), bytes_of_transpose(device, method, problem)});
  if (!thorough) return without;
  const double factors = bytes_of_square(size) + bytes_of_product(size, true) + bytes_of_x(size);
  return larger_of(with_device_on_host(device, {factors, 0}), without);
}

// Of one that does not: the inverse, for which the device solves for the identity, in as many
// columns at a time as it has room for beside the system. The copy of that is gone.
MemoryNeed checks_of_inverse(const Device& device, const Method& method, const Problem& problem,
                             double system) {
  const Size& size = problem.size;
  // That counts B, as it is reduced, and X, of which one is there at a time.
  const double all = static_cast<double>(bytes_on_device(
                         device, method, Size::square(size.n, size.n), problem.dense)) -
                     2 * bytes_of(Size::square(size.n, 0), element_size(problem.dense.precision));
  const double rest = std::max(static_cast<double>(device.global_memory) - system, 0.0);
  const double copy = bytes_of_copy(device, method, problem);
  return with_device_on_host(
      device, {2 * bytes_of_square(size) + bytes_of_x(size), std::min(all, rest) - copy});
}

CaseMemory memory_of_method(const Device& device, const Case& what, bool check_factors) {
  const Problem& problem = what.problem;
  const Method& method = find_method(what.routine);
  MemoryNeed held = memory_of_factors(device, method, problem);
  const double factors = held.device;
  held.device += bytes_of_copy(device, method, problem);
  const bool thorough = check_factors && problem.solve.refine != Refine::mixed;
  MemoryNeed checks = with_device_on_host(device, {bytes_of_solution(problem.size), 0});
  if (method.keeps_factors) {
    checks = checks_of_factors(device, method, problem, thorough);
  } else if (thorough) {
    checks = checks_of_inverse(device, method, problem, factors);
  }
  return {with_device_on_host(device, held), checks};
}

void require_device(const Device& device, const Case& what) {
  if (what.is_baseline()) {
    find_baseline(what.routine).on_device->require(device, what.problem);
  } else {
    require_possible(device, find_method(what.routine), what.problem);
  }
}

void require_room(const Device* device, const Case& what, const Effort& effort, double host_bytes) {
  if (device) require_device(*device, what);
  const double needed = memory_alone(device, what, effort).host;
  if (needed <= host_bytes) return;
  throw Unsupported("A system of order " + std::to_string(what.problem.size.n) +
                    " with its checks takes " + gigabytes(needed) +
                    " of this machine's memory, and " + gigabytes(host_bytes) + " are there.");
}

bool fits(const Device* device, const Case& what, const Effort& effort, double host_bytes) {
  try {
    require_room(device, what, effort, host_bytes);
    return true;
  } catch (const Unsupported&) {
    return false;
  }
}

}  // namespace

double host_memory_for_cases() {
  return kShare * host_memory_in_reach();
}

CaseMemory memory_of_case(const Device* device, const Case& what, const Effort& effort) {
  return what.is_baseline() ? memory_of_baseline(device, what, effort.check_factors)
                            : memory_of_method(*device, what, effort.check_factors);
}

// Mixed precision has A in double on the device, if there is room for that.
double bytes_of_copy(const Device& device, const Method& method, const Problem& problem) {
  if (problem.solve.refine == Refine::mixed && has_room_for_double(device, method, problem)) {
    return 0;
  }
  const Size size = size_on_device(problem);
  const double bytes = bytes_of(size, element_size(problem.dense.precision));
  const double beside = bytes + bytes_of_transpose(device, method, problem);
  const bool has_room =
      bytes <= static_cast<double>(device.max_allocation) &&
      has_room_beside(device, method, size, problem.dense, static_cast<std::uint64_t>(beside));
  return has_room ? bytes : 0;
}

bool MemoryInTurn::has_room_for(const Case& what, const Device* device, double host_bytes) const {
  if (n_ == 0) return true;
  if (effort_->runs == 0 || what.problem.size.n != n_) return false;
  MemoryInTurn more = *this;
  more.add(what, device, host_bytes);
  const MemoryNeed all = more.need();
  return all.host <= host_bytes && all.device <= kShare * more.device_memory_;
}

void MemoryInTurn::add(const Case& what, const Device* device, double host_bytes) {
  n_ = what.problem.size.n;
  if (!fits(device, what, *effort_, host_bytes)) return;
  const CaseMemory memory = memory_of_case(device, what, *effort_);
  if (device) device_memory_ = std::min(device_memory_, static_cast<double>(device->global_memory));
  systems_[what.matrix] = bytes_of(what.problem.size, sizeof(double));
  held_ = {held_.host + memory.held.host, held_.device + memory.held.device};
  checks_ = larger_of(checks_, memory.checks);
}

MemoryNeed MemoryInTurn::need() const {
  MemoryNeed need{kBytesOfProcess + held_.host + checks_.host, held_.device + checks_.device};
  for (const auto& [kind, bytes] : systems_) need.host += bytes;
  return need;
}

MemoryNeed memory_alone(const Device* device, const Case& what, const Effort& effort) {
  const auto& [held, checks] = memory_of_case(device, what, effort);
  const double system = bytes_of(what.problem.size, sizeof(double));
  return {kBytesOfProcess + system + held.host + checks.host, held.device + checks.device};
}

void require_possible(const Device* device, const Case& what, const Effort& effort,
                      double host_bytes) {
  try {
    require_room(device, what, effort, host_bytes);
  } catch (const Unsupported& error) {
    const std::size_t largest = largest_order(device, what, effort, host_bytes);
    if (largest == 0 || error.remedy()) throw;
    const std::string& sentence = error.reason();
    throw Unsupported(sentence.substr(0, sentence.find_last_not_of('.') + 1) +
                      "; the largest n that fits is " + std::to_string(largest) + ".");
  }
}

std::size_t largest_order(const Device* device, const Case& what, const Effort& effort,
                          double host_bytes) {
  return largest_order([&](std::size_t n) {
    Case other = what;
    other.problem.size = Size::square(n, what.problem.size.nrhs);
    require_room(device, other, effort, host_bytes);
  });
}

}  // namespace lugpu

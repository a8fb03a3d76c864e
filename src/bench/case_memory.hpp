// How much memory the cases of a sweep take, before they are begun.
#pragma once

#include <cmath>
#include <map>
#include <string>

#include "bench/measure.hpp"
#include "solve/memory.hpp"

namespace lugpu {

/// Bytes of the host that there are for cases: nine tenths of host_memory_in_reach(), since nothing
/// here is more exact.
double host_memory_for_cases();

/// What a case takes besides its A and B; host: the device's too if that is a CPU.
struct CaseMemory {
  MemoryNeed held;    ///< from its first sample to its last
  MemoryNeed checks;  ///< besides that, while it is checked
};

/// device: null on the host.
CaseMemory memory_of_case(const Device* device, const Case& what, const Effort& effort);

/// A second copy of [A | B] on the device, from which a method is given them again for each sample,
/// in bytes; 0 if there is no room for it beside what the checks take, or A is there in double.
double bytes_of_copy(const Device& device, const Method& method, const Problem& problem);

/// What cases take that are measured in turn.
class MemoryInTurn {
 public:
  explicit MemoryInTurn(const Effort& effort) : effort_(&effort) {}

  /// Whether the case can be measured in turn with those that were added: it has their order, there
  /// are samples to be taken, and all fit into so many bytes of the host and into nine tenths of
  /// the smallest device's. One alone always can. device: as in memory_of_case().
  bool has_room_for(const Case& what, const Device* device, double host_bytes) const;
  /// One that require_possible() refuses takes nothing.
  void add(const Case& what, const Device* device, double host_bytes);
  /// The process, A and B of each kind, what every case holds, and the most that the checks of one
  /// take: all that a sweep takes at the most of one time, but for host_bytes_of_ceilings();
  /// tested to be within 20 % of that.
  MemoryNeed need() const;

 private:
  const Effort* effort_;
  std::size_t n_ = 0;
  std::map<std::string, double> systems_;  // by kind of matrix
  MemoryNeed held_, checks_;
  double device_memory_ = HUGE_VAL;
};

/// Of a case alone.
MemoryNeed memory_alone(const Device* device, const Case& what, const Effort& effort);

/// Throws Unsupported, before anything is allocated, if the case cannot run on the device, as far
/// as can be said without its matrix, or takes more than so many bytes of the host. If less would
/// fit, the sentence names the largest n that does.
void require_possible(const Device* device, const Case& what, const Effort& effort,
                      double host_bytes);

/// The largest n for which it does not; 0 if it does for all.
std::size_t largest_order(const Device* device, const Case& what, const Effort& effort,
                          double host_bytes);

}  // namespace lugpu

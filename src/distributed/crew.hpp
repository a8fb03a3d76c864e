// Processes that share systems.
#pragma once

#include <functional>
#include <vector>

#include "dense/options.hpp"
#include "distributed/block_columns.hpp"
#include "distributed/process_group.hpp"
#include "opencl/context.hpp"

namespace lugpu {

/// Devices of this process that work on one system together.
using Team = std::vector<DeviceContext*>;

/// What the first process announces to the others, which do it (DistributedLu::obey).
struct Task {
  enum class Kind {
    open,           ///< their devices
    build,          ///< a DistributedLu
    release,        ///< it
    take,           ///< columns first : first + count of A, if they are theirs
    factor,         ///< with all processes
    outcome,        ///< likewise
    apply_inverse,  ///< likewise, to `count` columns
    factors,        ///< give columns first : first + count, as for take
    rival,          ///< what work() is told to do for the benchmark's rivals
    end,            ///< there is nothing more to do
  } kind = Kind::end;
  std::size_t system = 0;  ///< the number of the DistributedLu
  std::size_t first = 0, count = 0;
  Op op = Op::none;
  // Of build:
  std::size_t team = 0;
  Size size = {};
  BlockColumns dealt = {};
  Pivot pivot = Pivot::none;
  Precision precision = Precision::single_precision;
};

/// Who decides what the processes of a Crew do.
enum class Lead {
  first,  ///< the first one, which announces it to the others
  all,    ///< all alike: they run the same program and call the same functions
};

/// The first process has the matrices and decides; the others have as many devices of the same
/// kind, and do what it announces. With Lead::all nothing is announced: each process has block
/// columns of the matrices, and does what its program says.
class Crew {
 public:
  /// All processes call it; with Lead::first, the first one has the others open their devices, too.
  /// teams: in the same order on all processes. Throws the Error of a process that cannot, and
  /// Unsupported if its devices are not of the same kinds. The processes must outlive it.
  Crew(ProcessGroup& processes, std::vector<Team> teams, Lead lead = Lead::first);
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  ProcessGroup& processes() const { return processes_; }
  bool leads() const { return processes_.rank() == 0; }
  /// Whether this process does what another one announces.
  bool follows() const { return lead_ == Lead::first && !leads(); }
  const Team& team(std::size_t number) const { return teams_[number]; }
  /// The number of the team of these devices.
  std::size_t number_of(const Team& team) const;
  /// A number for a DistributedLu.
  std::size_t next_system() { return systems_++; }
  /// With Lead::first, from the first process to the others.
  void announce(Task task) const;

 private:
  ProcessGroup& processes_;
  std::vector<Team> teams_;
  const Lead lead_;
  std::size_t systems_ = 0;
};

/// All processes call it: `action` on each of them. If it throws on any, this throws on all: on the
/// first process what its own threw, or else an Error with the sentence of another one.
void agree(ProcessGroup& processes, const std::function<void()>& action);

/// `action`, for which others wait: if it throws, all processes end (ProcessGroup::abort).
void end_all_if_fails(ProcessGroup& processes, const std::function<void()>& action);

/// The default device, or, for processes that share a host, one of its kind for each as long as
/// there are enough. Throws as choose_device().
Device default_device_of_process(const std::string& platform);

/// The processes and the devices of all of them that share a system.
std::size_t process_count(const DenseOptions& options);
std::size_t device_count(const DenseOptions& options);

}  // namespace lugpu

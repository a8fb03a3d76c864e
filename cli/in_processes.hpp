// Commands that several processes of mpirun share.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "distributed/crew.hpp"
#include "exit.hpp"

namespace lugpu::cli {

/// Carries a command out in the processes that mpirun has started, or in this one alone. On the
/// first `lead`, which prints and writes; on the others, silently, what that announces, with the
/// teams of devices that `open` returns: the same as those of the first one's make_crew(); and
/// `rival` for what rivals of the benchmark announce.
Exit in_processes(const std::function<Exit()>& lead, const std::function<std::vector<Team>()>& open,
                  const std::function<void(const Task&)>& rival = {});

/// `status`, a second later: on the others, if the command cannot begin. mpirun ends all processes
/// as soon as one has failed, and the first one has to say why.
Exit after_first(Exit status);

/// Inside of `lead`: the other processes with their devices; null if there are none. Throws as
/// Crew.
std::unique_ptr<Crew> make_crew(const std::vector<Team>& teams);

}  // namespace lugpu::cli

// The processes that do what the first one announces.
#pragma once

#include "distributed/crew.hpp"

namespace lugpu {

/// On every process but the first: does what that announces, until the end. open: opens the devices
/// of this process and returns its teams, in the same order as the first process has them. rival:
/// does a Task::Kind::rival, if there are such.
void work(ProcessGroup& processes, const std::function<std::vector<Team>()>& open,
          const std::function<void(const Task&)>& rival = {});

}  // namespace lugpu

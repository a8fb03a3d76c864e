#include "in_processes.hpp"

#include "distributed/worker.hpp"
#include "terminal.hpp"

namespace lugpu::cli {
namespace {

// However the command ends, the others do too.
struct Dismissal {
  ProcessGroup& processes;

  ~Dismissal() {
    Task task{.kind = Task::Kind::end};
    processes.broadcast(&task, sizeof task, 0);
  }
};

}  // namespace

Exit in_processes(const std::function<Exit()>& lead,
                  const std::function<std::vector<Team>()>& open) {
  ProcessGroup& processes = process_group();
  if (processes.rank() > 0) {
    be_quiet();
    work(processes, open);
    return Exit::ok;
  }
  const Dismissal dismissal{processes};
  return lead();
}

std::unique_ptr<Crew> make_crew(const std::vector<Team>& teams) {
  ProcessGroup& processes = process_group();
  return processes.size() > 1 ? std::make_unique<Crew>(processes, teams) : nullptr;
}

}  // namespace lugpu::cli

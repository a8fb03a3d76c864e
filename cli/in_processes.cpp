#include "in_processes.hpp"

#include <chrono>
#include <thread>

#include "base/error.hpp"
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

Exit after_first(Exit status) {
  std::this_thread::sleep_for(std::chrono::seconds(1));
  return status;
}

Exit in_processes(const std::function<Exit()>& lead, const std::function<std::vector<Team>()>& open,
                  const std::function<void(const Task&)>& rival) {
  if (launch().rank > 0) {
    be_quiet();
    try {
      process_group();
    } catch (const Error& error) {
      return after_first(exit_of(error.kind()));
    }
    work(process_group(), open, rival);
    return Exit::ok;
  }
  const Dismissal dismissal{process_group()};
  return lead();
}

std::unique_ptr<Crew> make_crew(const std::vector<Team>& teams) {
  ProcessGroup& processes = process_group();
  return processes.size() > 1 ? std::make_unique<Crew>(processes, teams) : nullptr;
}

}  // namespace lugpu::cli

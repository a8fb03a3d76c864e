#include "distributed/worker.hpp"

#include <map>
#include <memory>

#include "distributed/distributed_lu.hpp"

namespace lugpu {
namespace {

class Worker {
 public:
  Worker(ProcessGroup& processes, const std::function<std::vector<Team>()>& open,
         const std::function<void(const Task&)>& rival)
      : processes_(processes), open_(open), rival_(rival) {}

  void obey(const Task& task) {
    switch (task.kind) {
      case Task::Kind::open:
        return open();
      case Task::Kind::build:
        return build(task);
      case Task::Kind::release:
        systems_.erase(task.system);
        return;
      case Task::Kind::rival:
        return rival_(task);
      default:
        return end_all_if_fails(processes_, [&] { systems_.at(task.system)->obey(task); });
    }
  }

 private:
  void open() {
    std::vector<Team> teams;
    agree(processes_, [&] { teams = open_(); });
    crew_.emplace(processes_, std::move(teams));
  }

  void build(const Task& task) {
    std::unique_ptr<DistributedLu> system;
    agree(processes_, [&] {
      const Team& team = crew_->team(task.team);
      DenseOptions options;
      options.pivot = task.pivot;
      options.precision = task.precision;
      options.others.assign(team.begin() + 1, team.end());
      options.crew = &*crew_;
      system = std::make_unique<DistributedLu>(*team.front(), task.size, options, task.dealt);
    });
    systems_.emplace(task.system, std::move(system));
  }

  ProcessGroup& processes_;
  const std::function<std::vector<Team>()>& open_;
  const std::function<void(const Task&)>& rival_;
  std::optional<Crew> crew_;
  std::map<std::size_t, std::unique_ptr<DistributedLu>> systems_;
};

}  // namespace

void work(ProcessGroup& processes, const std::function<std::vector<Team>()>& open,
          const std::function<void(const Task&)>& rival) {
  Worker worker(processes, open, rival);
  for (;;) {
    Task task;
    processes.broadcast(&task, sizeof task, 0);
    if (task.kind == Task::Kind::end) return;
    try {
      worker.obey(task);
    } catch (const std::exception&) {  // the first process knows: they have agreed
    }
  }
}

}  // namespace lugpu

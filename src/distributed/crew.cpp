#include "distributed/crew.hpp"

#include <unistd.h>

#include <algorithm>
#include <climits>
#include <exception>
#include <utility>

#include "base/error.hpp"

namespace lugpu {
namespace {

void move_text(ProcessGroup& processes, std::string& text, std::size_t from, std::size_t to) {
  std::size_t length = text.size();
  processes.move(&length, sizeof length, from, to);
  text.resize(length);
  processes.move(text.data(), length, from, to);
}

void broadcast_text(ProcessGroup& processes, std::string& text) {
  std::size_t length = text.size();
  processes.broadcast(&length, sizeof length, 0);
  text.resize(length);
  processes.broadcast(text.data(), length, 0);
}

// What a process could not do; an empty sentence: nothing.
struct Failure {
  ErrorKind kind = ErrorKind::failure;
  std::string sentence;
};

Failure failure_of(const std::exception_ptr& thrown) {
  if (!thrown) return {};
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    return {error.kind(), error.what()};
  } catch (const cl::Error& error) {
    return {ErrorKind::not_tried, describe(error) + "."};
  } catch (const std::bad_alloc&) {
    return {ErrorKind::not_tried, "The host does not have enough memory."};
  } catch (const std::exception& error) {
    return {ErrorKind::failure, error.what()};
  }
}

std::string host_name() {
  char host[HOST_NAME_MAX + 1] = "";
  gethostname(host, sizeof host - 1);
  return host;
}

std::string kinds_of(const std::vector<Team>& teams) {
  std::string text;
  for (const Team& team : teams) {
    for (const DeviceContext* context : team) {
      text += (text.empty() ? "" : ", ") + kind_of(context->device());
    }
  }
  return text;
}

}  // namespace

void agree(ProcessGroup& processes, const std::function<void()>& action) {
  std::exception_ptr thrown;
  try {
    action();
  } catch (...) {
    thrown = std::current_exception();
  }
  Failure first = failure_of(thrown);
  const std::size_t rank = processes.rank();
  if (rank > 0 && thrown) {
    first.sentence =
        "Process " + std::to_string(rank) + " on " + host_name() + ": " + first.sentence;
  }
  for (std::size_t other = 1; other < processes.size(); ++other) {
    Failure failure = first;
    processes.move(&failure.kind, sizeof failure.kind, other, 0);
    move_text(processes, failure.sentence, other, 0);
    if (rank == 0 && first.sentence.empty()) first = failure;
  }
  processes.broadcast(&first.kind, sizeof first.kind, 0);
  broadcast_text(processes, first.sentence);
  if (thrown) std::rethrow_exception(thrown);
  if (!first.sentence.empty()) throw Error(first.kind, first.sentence);
}

void end_all_if_fails(ProcessGroup& processes, const std::function<void()>& action) {
  try {
    action();
  } catch (...) {
    processes.abort(failure_of(std::current_exception()).sentence);
  }
}

Crew::Crew(ProcessGroup& processes, std::vector<Team> teams, Lead lead)
    : processes_(processes), teams_(std::move(teams)), lead_(lead) {
  if (leads() && lead_ == Lead::first) {
    announce({.kind = Task::Kind::open});
    agree(processes_, [] {});  // what the others open is theirs to say
  }
  std::string kinds = kinds_of(teams_);
  const std::string own = kinds;
  broadcast_text(processes_, kinds);
  agree(processes_, [&] {
    if (own == kinds) return;
    throw Unsupported("Devices share a matrix in equal parts, and " + own + " is not " + kinds +
                      ", which the first process has.");
  });
}

std::size_t Crew::number_of(const Team& team) const {
  return static_cast<std::size_t>(std::find(teams_.begin(), teams_.end(), team) - teams_.begin());
}

void Crew::announce(Task task) const {
  if (lead_ == Lead::first) processes_.broadcast(&task, sizeof task, 0);
}

Device default_device_of_process(const std::string& platform) {
  if (launch().local_rank == 0) return choose_device(platform, "");
  const std::vector<Device> all = choose_devices(platform, "all");
  return all[launch().local_rank % all.size()];
}

std::size_t process_count(const DenseOptions& options) {
  return options.crew ? options.crew->processes().size() : 1;
}

std::size_t device_count(const DenseOptions& options) {
  return process_count(options) * (1 + options.others.size());
}

}  // namespace lugpu

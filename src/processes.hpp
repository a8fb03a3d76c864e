// Jobs in processes of their own: for libraries that do one thing at a time, or that may crash.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lugpu {

class Processes {
 public:
  /// Sends a line, without its line break, to the process that made the jobs.
  using Send = std::function<void(const std::string& line)>;

  /// Starts `at_once` processes that do the jobs job(i, send), 0 <= i < count, one after another;
  /// one that is killed at a job is replaced. They are copies of this process as it is now, with
  /// this one thread: none of the libraries that a job uses may have started threads yet, as
  /// OpenCL's do at the first call. What a job leaves in `job`'s variables is there for the next
  /// ones of the same process. Throws Error (failure).
  Processes(std::size_t count, std::size_t at_once,
            const std::function<void(std::size_t, const Send&)>& job);
  /// Kills those that still work.
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  /// Waits for all jobs. received(i, line): job i sent a line. ended(i, how): after all its lines;
  /// how: empty, or what it threw, or the signal that killed it, e.g. "Segmentation fault".
  void wait(const std::function<void(std::size_t, const std::string&)>& received,
            const std::function<void(std::size_t, const std::string&)>& ended);

 private:
  struct Child {
    pid_t pid;
    int lines;                       // the end of a pipe that it writes into; -1 when it has ended
    std::string text;                // received after the last line break
    std::optional<std::size_t> job;  // that it is at
  };

  void start(std::size_t count, const std::function<void(std::size_t, const Send&)>& job);
  void allow(std::size_t processes);

  int permits_[2] = {-1, -1};       // a pipe with a byte for each process that may begin
  std::atomic<std::size_t>* next_;  // the job that nobody has begun; shared by all processes
  std::vector<Child> children_;     // as many as jobs: each may kill one
};

}  // namespace lugpu

// Jobs in processes of their own: for libraries that do one thing at a time, or that may crash.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace lugpu {

class Processes {
 public:
  /// Sends a line, without its line break, to the process that made the jobs.
  using Send = std::function<void(const std::string& line)>;

  /// Starts a process for each job(i, send), 0 <= i < count, of which `at_once` work at a time.
  /// They are copies of this process as it is now, with this one thread: none of the libraries that
  /// a job uses may have started threads yet, as OpenCL's do at the first call. Throws Error
  /// (failure).
  Processes(std::size_t count, std::size_t at_once,
            const std::function<void(std::size_t, const Send&)>& job);
  /// Kills those that still work.
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  /// Waits for all jobs. received(i, line): a job sent a line. ended(i, how): after all its lines;
  /// how: empty, or what it threw, or the signal that killed it, e.g. "Segmentation fault".
  void wait(const std::function<void(std::size_t, const std::string&)>& received,
            const std::function<void(std::size_t, const std::string&)>& ended);

 private:
  struct Child {
    pid_t pid;
    int lines;         // the end of a pipe that it writes into; -1 when it has ended
    std::string text;  // received after the last line break
  };

  void start(const std::function<void(std::size_t, const Send&)>& job);
  void allow(std::size_t jobs);

  int permits_[2] = {-1, -1};  // a pipe with a byte for each job that may begin
  std::vector<Child> children_;
};

}  // namespace lugpu

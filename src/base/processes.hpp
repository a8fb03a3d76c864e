// Jobs in processes of their own: for libraries that do one thing at a time, or that may crash.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lugpu {

class Processes {
 public:
  /// Sends a line, without its line break, to the process that gave the job.
  using Send = std::function<void(const std::string& line)>;
  /// What is done for an order, a line without its line break.
  using Job = std::function<void(const std::string& order, const Send& send)>;

  /// How a job came to its end.
  struct End {
    enum class Kind {
      returned,
      threw,
      crashed,  ///< its process ended by itself: a signal as SIGSEGV or SIGABRT, or exit()
      killed,   ///< from outside, or because memory ran out
    } kind = Kind::returned;
    std::string how;  ///< what it threw; the signal, e.g. "Segmentation fault"; "exit status 7"
  };

  /// Starts `count` processes that wait for orders. They are copies of this process as it is now,
  /// with this one thread: none of the libraries that a job uses may have started threads yet, as
  /// OpenCL's do at the first call. What a job leaves in `job`'s variables is there for the next
  /// ones of the same process. Throws Error (failure).
  Processes(std::size_t count, const Job& job);
  /// Kills those that are left.
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  /// Has the orders carried out, `at_once` at a time, in the first processes that are free, and
  /// waits for all of them. received(i, line): the job of order i sent a line. ended(i, end): after
  /// all its lines. A job that ends its process costs one of them; when none is left, the rest of
  /// the orders count as killed.
  void run(const std::vector<std::string>& orders, std::size_t at_once,
           const std::function<void(std::size_t, const std::string&)>& received,
           const std::function<void(std::size_t, const End&)>& ended);

 private:
  struct Child {
    pid_t pid;
    int socket;                      // -1 when it has ended
    std::string text;                // received after the last line break
    std::optional<std::size_t> job;  // the number of the order that it carries out
    bool out_of_memory;              // at this job
  };

  void start(const Job& job);
  static End last_of(Child& child);

  std::vector<Child> children_;
};

}  // namespace lugpu

#include "processes.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "error.hpp"

namespace lugpu {
namespace {

// The first character of a line says what it is: a job's number before it begins, a line that it
// sends, or what it threw, if anything, after it.
constexpr char kBegun = 'b', kSent = 's', kEnded = 'e';

[[noreturn]] void fail(const char* call) {
  throw Error(Exit::failure, std::string("Cannot start another process: ") + call + ": " +
                                 std::strerror(errno) + ".");
}

// All of it, or as much as the other end takes before it is closed.
void write_all(int file, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = write(file, text.data() + done, text.size() - done);
    if (written < 0 && errno != EINTR) return;
    if (written > 0) done += static_cast<std::size_t>(written);
  }
}

// The next bytes; empty at the end.
std::string read_some(int file) {
  std::array<char, 65536> bytes;
  ssize_t count = 0;
  do {
    count = read(file, bytes.data(), bytes.size());
  } while (count < 0 && errno == EINTR);
  return {bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
}

int status_of(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

Processes::Processes(std::size_t count, std::size_t at_once,
                     const std::function<void(std::size_t, const Send&)>& job) {
  if (pipe2(permits_, O_CLOEXEC) != 0) fail("pipe");
  void* shared =
      mmap(nullptr, sizeof *next_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) fail("mmap");
  next_ = new (shared) std::atomic<std::size_t>(0);
  for (std::size_t i = 0; i < count; ++i) start(count, job);
  allow(at_once);
}

Processes::~Processes() {
  for (const Child& child : children_) {
    if (child.lines < 0) continue;
    kill(child.pid, SIGKILL);
    status_of(child.pid);
    close(child.lines);
  }
  for (const int end : permits_) close(end);
  munmap(next_, sizeof *next_);
}

void Processes::allow(std::size_t processes) {
  write_all(permits_[1], std::string(processes, '.'));
}

void Processes::start(std::size_t count, const std::function<void(std::size_t, const Send&)>& job) {
  int lines[2];
  if (pipe2(lines, O_CLOEXEC) != 0) fail("pipe");
  const pid_t pid = fork();
  if (pid < 0) fail("fork");
  if (pid > 0) {
    close(lines[1]);
    children_.push_back({pid, lines[0], "", std::nullopt});
    return;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // not to outlive the parent
  char permit;
  while (read(permits_[0], &permit, 1) < 0 && errno == EINTR) {
  }
  const auto send = [&](char kind, std::string line) {
    std::replace(line.begin(), line.end(), '\n', ' ');
    write_all(lines[1], kind + line + '\n');
  };
  for (std::size_t i = 0; (i = (*next_)++) < count;) {
    std::string thrown;
    send(kBegun, std::to_string(i));
    try {
      job(i, [&](const std::string& line) { send(kSent, line); });
    } catch (const std::exception& error) {
      thrown = error.what();
    }
    send(kEnded, thrown);
  }
  _exit(0);  // what the parent has registered for its end is the parent's
}

void Processes::wait(const std::function<void(std::size_t, const std::string&)>& received,
                     const std::function<void(std::size_t, const std::string&)>& ended) {
  const auto take_lines = [&](Child& child) {
    std::string& text = child.text;
    std::size_t start = 0;
    for (std::size_t stop; (stop = text.find('\n', start)) != std::string::npos; start = stop + 1) {
      const std::string line = text.substr(start + 1, stop - start - 1);
      if (text[start] == kBegun) child.job = std::stoul(line);
      if (text[start] == kSent) received(child.job.value(), line);
      if (text[start] == kEnded) {
        ended(child.job.value(), line);
        child.job.reset();
      }
    }
    text.erase(0, start);
  };
  const auto end = [&](Child& child) {
    const int status = status_of(child.pid);
    close(child.lines);
    child.lines = -1;
    allow(1);
    if (!child.job) return;
    ended(*child.job, WIFSIGNALED(status) ? strsignal(WTERMSIG(status))
                                          : "exit status " + std::to_string(WEXITSTATUS(status)));
  };
  std::vector<pollfd> files;
  for (const Child& child : children_) files.push_back({child.lines, POLLIN, 0});
  const auto works = [](const pollfd& file) { return file.fd >= 0; };
  while (std::any_of(files.begin(), files.end(), works)) {
    if (poll(files.data(), files.size(), -1) < 0) continue;  // a signal
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (files[i].fd < 0 || files[i].revents == 0) continue;
      const std::string text = read_some(files[i].fd);
      children_[i].text += text;
      take_lines(children_[i]);
      if (!text.empty()) continue;
      files[i].fd = -1;
      end(children_[i]);
    }
  }
}

}  // namespace lugpu

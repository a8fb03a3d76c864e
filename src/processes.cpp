#include "processes.hpp"

#include <fcntl.h>
#include <poll.h>
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

// The first character of a line says what it is.
constexpr char kSent = 's', kThrown = 't';

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
  for (std::size_t i = 0; i < count; ++i) start(job);
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
}

void Processes::allow(std::size_t jobs) {
  write_all(permits_[1], std::string(jobs, '.'));
}

void Processes::start(const std::function<void(std::size_t, const Send&)>& job) {
  int lines[2];
  if (pipe2(lines, O_CLOEXEC) != 0) fail("pipe");
  const pid_t pid = fork();
  if (pid < 0) fail("fork");
  if (pid > 0) {
    close(lines[1]);
    children_.push_back({pid, lines[0], ""});
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
  int status = 0;
  try {
    job(children_.size(), [&](const std::string& line) { send(kSent, line); });
  } catch (const std::exception& error) {
    send(kThrown, error.what());
    status = 1;
  }
  _exit(status);  // what the parent has registered for its end is the parent's
}

void Processes::wait(const std::function<void(std::size_t, const std::string&)>& received,
                     const std::function<void(std::size_t, const std::string&)>& ended) {
  std::vector<std::string> thrown(children_.size());
  const auto take_lines = [&](std::size_t i) {
    std::string& text = children_[i].text;
    std::size_t start = 0;
    for (std::size_t stop; (stop = text.find('\n', start)) != std::string::npos; start = stop + 1) {
      const std::string line = text.substr(start + 1, stop - start - 1);
      if (text[start] == kSent) received(i, line);
      if (text[start] == kThrown) thrown[i] = line;
    }
    text.erase(0, start);
  };
  const auto end = [&](std::size_t i) {
    const int status = status_of(children_[i].pid);
    close(children_[i].lines);
    children_[i].lines = -1;
    allow(1);
    const std::string signal = WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "";
    const bool silent = !WIFSIGNALED(status) && WEXITSTATUS(status) != 0 && thrown[i].empty();
    ended(i, silent ? "exit status " + std::to_string(WEXITSTATUS(status)) : signal + thrown[i]);
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
      take_lines(i);
      if (!text.empty()) continue;
      files[i].fd = -1;
      end(i);
    }
  }
}

}  // namespace lugpu

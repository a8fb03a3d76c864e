#include "base/processes.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>
#include <utility>

#include "base/error.hpp"

namespace lugpu {
namespace {

// The first character of a line to the parent says what it is: a line that the job sends, what it
// threw, if anything, at its end, or that it got no memory.
constexpr char kSent = 's', kEnded = 'e', kNoMemory = 'm';

int to_parent = -1;  // the socket, in a child

[[noreturn]] void fail(const char* call) {
  throw Error(ErrorKind::failure, std::string("Cannot start another process: ") + call + ": " +
                                      std::strerror(errno) + ".");
}

// All of it, or as much as the other end takes before it is closed.
void write_all(int socket, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = send(socket, text.data() + done, text.size() - done, MSG_NOSIGNAL);
    if (written < 0 && errno != EINTR) return;
    if (written > 0) done += static_cast<std::size_t>(written);
  }
}

// The next bytes; empty at the end.
std::string read_some(int socket) {
  std::array<char, 65536> bytes;
  ssize_t count = 0;
  do {
    count = recv(socket, bytes.data(), bytes.size(), 0);
  } while (count < 0 && errno == EINTR);
  return {bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
}

// The next line of `text` and what follows on the socket; nothing at the end.
std::optional<std::string> read_line(int socket, std::string& text) {
  std::size_t stop;
  while ((stop = text.find('\n')) == std::string::npos) {
    const std::string more = read_some(socket);
    if (more.empty()) return std::nullopt;
    text += more;
  }
  std::string line = text.substr(0, stop);
  text.erase(0, stop + 1);
  return line;
}

// A library may not survive what `new` throws: the parent is to know why it crashed.
void report_no_memory() {
  const char line[] = {kNoMemory, '\n'};
  send(to_parent, line, sizeof line, MSG_NOSIGNAL);
  throw std::bad_alloc();
}

[[noreturn]] void work(const Processes::Job& job) {
  const auto send_line = [](char kind, std::string line) {
    std::replace(line.begin(), line.end(), '\n', ' ');
    write_all(to_parent, kind + line + '\n');
  };
  std::set_new_handler(report_no_memory);
  std::string text;
  while (const std::optional<std::string> order = read_line(to_parent, text)) {
    std::string thrown;
    try {
      job(*order, [&](const std::string& line) { send_line(kSent, line); });
    } catch (const std::exception& error) {
      thrown = error.what();
    }
    send_line(kEnded, thrown);
  }
  _exit(0);  // what the parent has registered for its end is the parent's
}

int status_of(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

// Whether a process sends itself this signal when it goes wrong.
bool is_crash(int signal) {
  constexpr int kCrashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
  return std::find(std::begin(kCrashes), std::end(kCrashes), signal) != std::end(kCrashes);
}

}  // namespace

Processes::Processes(std::size_t count, const Job& job) {
  for (std::size_t i = 0; i < count; ++i) start(job);
}

Processes::~Processes() {
  for (const Child& child : children_) {
    if (child.socket < 0) continue;
    kill(child.pid, SIGKILL);
    status_of(child.pid);
    close(child.socket);
  }
}

void Processes::start(const Job& job) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) fail("socketpair");
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // not to outlive the parent
    close(ends[0]);
    to_parent = ends[1];
    work(job);
  }
  const int error = errno;
  close(ends[1]);
  if (pid < 0) {
    close(ends[0]);
    errno = error;
    fail("fork");
  }
  children_.push_back({pid, ends[0], "", std::nullopt, false});
}

// How a child ended that has closed its socket.
Processes::End Processes::last_of(Child& child) {
  const int status = status_of(child.pid);
  close(child.socket);
  child.socket = -1;
  if (!WIFSIGNALED(status)) {
    return {End::Kind::crashed, "exit status " + std::to_string(WEXITSTATUS(status))};
  }
  const int signal = WTERMSIG(status);
  const bool crashed = is_crash(signal) && !child.out_of_memory;
  return {crashed ? End::Kind::crashed : End::Kind::killed,
          std::string(strsignal(signal)) + (child.out_of_memory ? ", out of memory" : "")};
}

void Processes::run(const std::vector<std::string>& orders, std::size_t at_once,
                    const std::function<void(std::size_t, const std::string&)>& received,
                    const std::function<void(std::size_t, const End&)>& ended) {
  std::size_t next = 0, working = 0;
  const auto give = [&] {
    for (Child& child : children_) {
      if (next == orders.size() || working >= at_once) return;
      if (child.socket < 0 || child.job) continue;
      child.job = next++;
      child.out_of_memory = false;
      ++working;
      write_all(child.socket, orders[*child.job] + '\n');
    }
  };
  const auto finish = [&](Child& child, const End& end) {
    const std::size_t job = std::exchange(child.job, std::nullopt).value();
    --working;
    ended(job, end);
  };
  const auto take_lines = [&](Child& child) {
    std::string& text = child.text;
    std::size_t start = 0;
    for (std::size_t stop; (stop = text.find('\n', start)) != std::string::npos; start = stop + 1) {
      const std::string line = text.substr(start + 1, stop - start - 1);
      if (text[start] == kSent) received(child.job.value(), line);
      if (text[start] == kNoMemory) child.out_of_memory = true;
      if (text[start] == kEnded) {
        finish(child, {line.empty() ? End::Kind::returned : End::Kind::threw, line});
      }
    }
    text.erase(0, start);
  };
  for (give(); working > 0; give()) {
    std::vector<pollfd> sockets;
    for (const Child& child : children_) {
      sockets.push_back({child.job ? child.socket : -1, POLLIN, 0});
    }
    if (poll(sockets.data(), sockets.size(), -1) < 0) continue;  // a signal
    for (std::size_t i = 0; i < sockets.size(); ++i) {
      if (sockets[i].fd < 0 || sockets[i].revents == 0) continue;
      Child& child = children_[i];
      const std::string text = read_some(child.socket);
      child.text += text;
      take_lines(child);
      if (text.empty()) finish(child, last_of(child));
    }
  }
  for (; next < orders.size(); ++next) ended(next, {End::Kind::killed, "no process is left"});
}

}  // namespace lugpu

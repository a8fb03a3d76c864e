// Jobs in processes: what they send arrives, however they end.
#include "processes.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <map>
#include <stdexcept>
#include <thread>

namespace lugpu {
namespace {

struct Heard {
  std::map<std::size_t, std::vector<std::string>> lines;
  std::map<std::size_t, std::string> ends;
};

Heard listen(Processes& processes) {
  Heard heard;
  processes.wait(
      [&](std::size_t i, const std::string& line) {
        EXPECT_FALSE(heard.ends.contains(i)) << "a line after the end";
        heard.lines[i].push_back(line);
      },
      [&](std::size_t i, const std::string& how) { heard.ends[i] = how; });
  return heard;
}

TEST(Processes, SendTheirLines) {
  const std::string longer(200000, 'x');
  Processes processes(5, 2, [&](std::size_t i, const Processes::Send& send) {
    for (std::size_t line = 0; line < i; ++line) send(std::to_string(line));
    send(longer);
    send("two\nlines");
    send("");
  });
  const Heard heard = listen(processes);
  ASSERT_EQ(heard.ends.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) {
    std::vector<std::string> expected;
    for (std::size_t line = 0; line < i; ++line) expected.push_back(std::to_string(line));
    expected.insert(expected.end(), {longer, "two lines", ""});
    EXPECT_EQ(heard.lines.at(i), expected);
    EXPECT_EQ(heard.ends.at(i), "");
  }
}

TEST(Processes, SayHowTheyEnd) {
  Processes processes(5, 1, [](std::size_t i, const Processes::Send& send) {
    send("begun");
    if (i == 1) throw std::runtime_error("no luck");
    if (i == 2) std::raise(SIGSEGV);
    if (i == 3) std::_Exit(7);
  });
  const Heard heard = listen(processes);
  const std::map<std::size_t, std::string> expected = {
      {0, ""}, {1, "no luck"}, {2, strsignal(SIGSEGV)}, {3, "exit status 7"}, {4, ""}};
  EXPECT_EQ(heard.ends, expected);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(heard.lines.at(i), std::vector<std::string>{"begun"});
  }
}

// One process does all jobs and remembers what it did; after one that kills it the next begins
// anew.
TEST(Processes, DoOneJobAfterAnother) {
  Processes processes(6, 1, [begun = 0](std::size_t i, const Processes::Send& send) mutable {
    send(std::to_string(++begun));
    if (i == 1) throw std::runtime_error("no luck");
    if (i == 3) std::raise(SIGKILL);
  });
  const Heard heard = listen(processes);
  ASSERT_EQ(heard.lines.size(), 6u);
  std::vector<std::string> begun;
  for (const auto& [i, lines] : heard.lines) begun.insert(begun.end(), lines.begin(), lines.end());
  EXPECT_EQ(begun, (std::vector<std::string>{"1", "2", "3", "4", "1", "2"}));
  EXPECT_EQ(heard.ends.at(3), strsignal(SIGKILL));
}

TEST(Processes, NoMoreWorkAtOnceThanAllowed) {
  Processes processes(6, 2, [](std::size_t, const Processes::Send& send) {
    send("+");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    send("-");
  });
  int working = 0, most = 0;
  processes.wait(
      [&](std::size_t, const std::string& line) {
        working += line == "+" ? 1 : -1;
        most = std::max(most, working);
      },
      [](std::size_t, const std::string&) {});
  EXPECT_EQ(most, 2);
  EXPECT_EQ(working, 0);
}

TEST(Processes, AreKilledWhenNobodyWaits) {
  std::size_t pid = 0;
  try {
    Processes processes(1, 1, [](std::size_t, const Processes::Send& send) {
      send(std::to_string(getpid()));
      std::this_thread::sleep_for(std::chrono::hours(1));
    });
    processes.wait(
        [&](std::size_t, const std::string& line) {
          pid = std::stoul(line);
          throw std::runtime_error("enough");
        },
        [](std::size_t, const std::string&) {});
  } catch (const std::runtime_error&) {
  }
  ASSERT_GT(pid, 0u);
  EXPECT_NE(kill(static_cast<pid_t>(pid), 0), 0) << "it still runs";
}

TEST(Processes, OfNoJobsNothingIsHeard) {
  Processes processes(0, 1, [](std::size_t, const Processes::Send&) {});
  EXPECT_TRUE(listen(processes).ends.empty());
}

}  // namespace
}  // namespace lugpu

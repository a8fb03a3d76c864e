// Jobs in processes: what they send arrives, however they end.
#include "base/processes.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <map>
#include <new>
#include <stdexcept>
#include <thread>

namespace lugpu {
namespace {

using Kind = Processes::End::Kind;

struct Heard {
  std::map<std::size_t, std::vector<std::string>> lines;
  std::map<std::size_t, std::string> ends;
  std::map<std::size_t, Kind> kinds;
};

/// Orders "0", "1", ... so many.
std::vector<std::string> numbers(std::size_t count) {
  std::vector<std::string> orders;
  for (std::size_t i = 0; i < count; ++i) orders.push_back(std::to_string(i));
  return orders;
}

Heard listen(Processes& processes, const std::vector<std::string>& orders, std::size_t at_once) {
  Heard heard;
  processes.run(
      orders, at_once,
      [&](std::size_t i, const std::string& line) {
        EXPECT_FALSE(heard.ends.contains(i)) << "a line after the end";
        heard.lines[i].push_back(line);
      },
      [&](std::size_t i, const Processes::End& end) {
        EXPECT_FALSE(heard.ends.contains(i)) << "two ends";
        heard.ends[i] = end.how;
        heard.kinds[i] = end.kind;
      });
  return heard;
}

TEST(Processes, SendTheirLines) {
  const std::string longer(200000, 'x');
  Processes processes(2, [&](const std::string& order, const Processes::Send& send) {
    for (std::size_t line = 0; line < std::stoul(order); ++line) send(std::to_string(line));
    send(longer);
    send("two\nlines");
    send("");
  });
  const Heard heard = listen(processes, numbers(5), 2);
  ASSERT_EQ(heard.ends.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) {
    std::vector<std::string> expected;
    for (std::size_t line = 0; line < i; ++line) expected.push_back(std::to_string(line));
    expected.insert(expected.end(), {longer, "two lines", ""});
    EXPECT_EQ(heard.lines.at(i), expected);
    EXPECT_EQ(heard.ends.at(i), "");
    EXPECT_EQ(heard.kinds.at(i), Kind::returned);
  }
}

TEST(Processes, LongOrdersArrive) {
  const std::string longer(300000, 'y');
  Processes processes(1,
                      [](const std::string& order, const Processes::Send& send) { send(order); });
  EXPECT_EQ(
      listen(processes, {longer, "", "z"}, 1).lines,
      (std::map<std::size_t, std::vector<std::string>>{{0, {longer}}, {1, {""}}, {2, {"z"}}}));
}

// Sanitizers would handle the signal.
void crash() {
  std::signal(SIGSEGV, SIG_DFL);
  std::raise(SIGSEGV);
}

TEST(Processes, SayHowTheyEnd) {
  Processes processes(7, [](const std::string& order, const Processes::Send& send) {
    send("begun");
    if (order == "1") throw std::runtime_error("no luck");
    if (order == "2") crash();
    if (order == "3") std::_Exit(7);
    if (order == "4") std::raise(SIGKILL);
    if (order == "5") std::raise(SIGTERM);
  });
  const Heard heard = listen(processes, numbers(7), 1);
  const std::map<std::size_t, std::string> expected = {{0, ""},
                                                       {1, "no luck"},
                                                       {2, strsignal(SIGSEGV)},
                                                       {3, "exit status 7"},
                                                       {4, strsignal(SIGKILL)},
                                                       {5, strsignal(SIGTERM)},
                                                       {6, ""}};
  EXPECT_EQ(heard.ends, expected);
  const std::map<std::size_t, Kind> kinds = {
      {0, Kind::returned}, {1, Kind::threw},  {2, Kind::crashed}, {3, Kind::crashed},
      {4, Kind::killed},   {5, Kind::killed}, {6, Kind::returned}};
  EXPECT_EQ(heard.kinds, kinds);
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(heard.lines.at(i), std::vector<std::string>{"begun"});
  }
}

// What a library does that does not expect `new` to throw.
TEST(Processes, ACrashForWantOfMemoryIsNone) {
  Processes processes(3, [](const std::string& order, const Processes::Send&) {
    try {
      if (order != "1") std::get_new_handler()();
    } catch (const std::bad_alloc&) {
      if (order == "0") crash();
    }
    if (order == "1") crash();
  });
  const Heard heard = listen(processes, numbers(3), 1);
  const std::map<std::size_t, Kind> kinds = {
      {0, Kind::killed}, {1, Kind::crashed}, {2, Kind::returned}};
  EXPECT_EQ(heard.kinds, kinds);
  EXPECT_EQ(heard.ends.at(0), std::string(strsignal(SIGSEGV)) + ", out of memory");
}

// The first process does all jobs and remembers what it did; after one that kills it the next
// begins anew.
TEST(Processes, DoOneJobAfterAnother) {
  Processes processes(2,
                      [begun = 0](const std::string& order, const Processes::Send& send) mutable {
                        send(std::to_string(++begun));
                        if (order == "1") throw std::runtime_error("no luck");
                        if (order == "3") std::raise(SIGKILL);
                      });
  const Heard heard = listen(processes, numbers(6), 1);
  ASSERT_EQ(heard.lines.size(), 6u);
  std::vector<std::string> begun;
  for (const auto& [i, lines] : heard.lines) begun.insert(begun.end(), lines.begin(), lines.end());
  EXPECT_EQ(begun, (std::vector<std::string>{"1", "2", "3", "4", "1", "2"}));
  EXPECT_EQ(heard.ends.at(3), strsignal(SIGKILL));
  EXPECT_EQ(listen(processes, {"6"}, 1).lines.at(0), std::vector<std::string>{"3"});
}

TEST(Processes, OrdersForWhichNoneIsLeftCountAsKilled) {
  Processes processes(2, [](const std::string&, const Processes::Send&) { std::raise(SIGKILL); });
  const Heard heard = listen(processes, numbers(4), 2);
  ASSERT_EQ(heard.kinds.size(), 4u);
  for (const auto& [i, kind] : heard.kinds) EXPECT_EQ(kind, Kind::killed);
  EXPECT_EQ(heard.ends.at(3), "no process is left");
  EXPECT_EQ(listen(processes, {"again"}, 1).kinds.at(0), Kind::killed);
}

TEST(Processes, OneThatDiesWhileItWaitsCostsOneOrder) {
  Processes processes(
      2, [](const std::string&, const Processes::Send& send) { send(std::to_string(getpid())); });
  const pid_t first = std::stoi(listen(processes, {""}, 1).lines.at(0).at(0));
  ASSERT_EQ(kill(first, SIGKILL), 0);
  const Heard heard = listen(processes, numbers(2), 1);
  EXPECT_EQ(heard.kinds.at(0), Kind::killed);
  EXPECT_EQ(heard.kinds.at(1), Kind::returned);
}

TEST(Processes, NoMoreWorkAtOnceThanAllowed) {
  Processes processes(6, [](const std::string&, const Processes::Send& send) {
    send("+");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    send("-");
  });
  int working = 0, most = 0;
  processes.run(
      numbers(6), 2,
      [&](std::size_t, const std::string& line) {
        working += line == "+" ? 1 : -1;
        most = std::max(most, working);
      },
      [](std::size_t, const Processes::End&) {});
  EXPECT_EQ(most, 2);
  EXPECT_EQ(working, 0);
}

TEST(Processes, AreKilledWhenNobodyWaits) {
  std::size_t pid = 0;
  try {
    Processes processes(1, [](const std::string&, const Processes::Send& send) {
      send(std::to_string(getpid()));
      std::this_thread::sleep_for(std::chrono::hours(1));
    });
    processes.run(
        {""}, 1,
        [&](std::size_t, const std::string& line) {
          pid = std::stoul(line);
          throw std::runtime_error("enough");
        },
        [](std::size_t, const Processes::End&) {});
  } catch (const std::runtime_error&) {
  }
  ASSERT_GT(pid, 0u);
  EXPECT_NE(kill(static_cast<pid_t>(pid), 0), 0) << "it still runs";
}

TEST(Processes, OfNoOrdersNothingIsHeard) {
  Processes processes(1, [](const std::string&, const Processes::Send&) {});
  EXPECT_TRUE(listen(processes, {}, 1).ends.empty());
}

}  // namespace
}  // namespace lugpu

// How busy the machine is with other programs.
#include "base/other_load.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <thread>

namespace lugpu {
namespace {

TEST(OtherLoad, OfAnInstantIsNotKnown) {
  EXPECT_FALSE(OtherLoad().share());
}

TEST(OtherLoad, IsAShareOfTheProcessors) {
  const OtherLoad load;
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  ASSERT_TRUE(load.share());
  EXPECT_GE(*load.share(), 0);
  EXPECT_LE(*load.share(), 1);
}

// A child counts as another program; it gets most of a processor, whatever else runs.
TEST(OtherLoad, SeesAnotherProcess) {
  timespec now{};
  const pid_t child = fork();
  if (child == 0) {
    for (;;) clock_gettime(CLOCK_MONOTONIC, &now);
  }
  const OtherLoad load;
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const std::optional<double> share = load.share();
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_GE(*share, 0.2 / static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN)));
}

}  // namespace
}  // namespace lugpu

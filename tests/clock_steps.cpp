// The clock of the calendar as if it were set all the time: LD_PRELOAD puts it an hour ahead or
// behind, in turn, at every look at it. Clocks that only run are as they were.
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <ctime>

extern "C" {

int clock_gettime(clockid_t clock, timespec* to) {
  static std::atomic<int> looks = 0;
  const auto result = static_cast<int>(syscall(SYS_clock_gettime, clock, to));
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) {
    to->tv_sec += ++looks % 2 == 0 ? 3600 : -3600;
  }
  return result;
}

time_t time(time_t* to) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (to) *to = now.tv_sec;
  return now.tv_sec;
}

int gettimeofday(timeval* to, void*) {
  timespec now{};
  const int result = clock_gettime(CLOCK_REALTIME, &now);
  to->tv_sec = now.tv_sec;
  to->tv_usec = now.tv_nsec / 1000;
  return result;
}

}  // extern "C"

// The drop-in LAPACK in a program of several threads that forks; without Python, so that the thread
// sanitizer can watch it.
#include <gtest/gtest.h>
#include <lapacke.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

namespace {

constexpr int kThreads = 4;
constexpr int kHost = 7, kDevice = 40;  // orders that each of them solves
const bool kSet = setenv("LUGPU_LAPACK_MIN_N", "8", 1) == 0;

// A dominant matrix of order n whose rows have the sum 1, so that A times ones is ones.
template <typename Real>
std::vector<Real> matrix(int n) {
  std::vector<Real> a(static_cast<std::size_t>(n * n), Real(-0.5) / static_cast<Real>(n));
  for (int k = 0; k < n; ++k) a[static_cast<std::size_t>(k * (n + 1))] += Real(1.5);
  return a;
}

// Whether X is ones, and INFO 0.
template <typename Real>
bool is_right(const std::vector<Real>& x, int info) {
  bool right = info == 0;
  for (const Real element : x) right = right && std::abs(element - 1) < Real(1e-5);
  return right;
}

bool gesv(int n) {
  std::vector<double> a = matrix<double>(n), x(static_cast<std::size_t>(n), 1);
  std::vector<int> ipiv(static_cast<std::size_t>(n));
  int info = -1;
  const int nrhs = 1;
  LAPACK_dgesv(&n, &nrhs, a.data(), &n, ipiv.data(), x.data(), &n, &info);
  return is_right(x, info);
}

bool getrf_and_getrs(int n) {
  std::vector<float> a = matrix<float>(n), x(static_cast<std::size_t>(n), 1);
  std::vector<int> ipiv(static_cast<std::size_t>(n));
  int info = -1;
  const int nrhs = 1;
  LAPACK_sgetrf(&n, &n, a.data(), &n, ipiv.data(), &info);
  if (info == 0) LAPACK_sgetrs("N", &n, &nrhs, a.data(), &n, ipiv.data(), x.data(), &n, &info);
  return is_right(x, info);
}

pid_t forked(const std::function<bool()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // ends a child that hangs
    _exit(work() ? 0 : 1);
  }
  return child;
}

int status_of(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

// The first case: no other may have opened the device.
TEST(LapackFork, WhileTheDeviceIsOpened) {
  ASSERT_TRUE(kSet);
  std::atomic<bool> done = false;
  bool right = false;
  std::thread first([&] {
    right = gesv(kDevice);
    done = true;
  });
  std::vector<pid_t> children;
  while (!done) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (children.size() < 5) children.push_back(forked([] { return gesv(kDevice); }));
  }
  first.join();
  EXPECT_TRUE(right);
  for (const pid_t child : children) EXPECT_EQ(status_of(child), 0);
}

TEST(LapackThreads, DeviceAndHostAtTheSameTime) {
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int k = 0; k < kThreads; ++k) {
    threads.emplace_back([&, k] {
      for (const int n : {kHost, kDevice, kDevice + k, 2 * kDevice}) {
        right += gesv(n) + getrf_and_getrs(n);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, kThreads * 4 * 2);
}

// On the device alone: a child that is forked while a thread is in OpenBLAS may wait for its locks
// without end.
TEST(LapackFork, WhileOthersWork) {
  std::atomic<bool> done = false;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int k = 0; k < kThreads; ++k) {
    threads.emplace_back([&] {
      while (!done) wrong += !gesv(kDevice) + !getrf_and_getrs(kDevice);
    });
  }
  for (int child = 0; child < 10; ++child) {
    EXPECT_EQ(status_of(forked([] { return gesv(kDevice) && getrf_and_getrs(kHost); })), 0);
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace

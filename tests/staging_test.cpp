// Memory for transfers on a device whose OpenCL fails (opencl_faults.cpp, linked in).
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

#include "opencl/context.hpp"

namespace lugpu {
namespace {

class StagingTest : public testing::Test {
 protected:
  void TearDown() override { unsetenv("OPENCL_FAULT_FUNCTION"); }

  // From now on every call of the function fails.
  static void fail(const char* function) {
    setenv("OPENCL_FAULT_FUNCTION", function, 1);
    setenv("OPENCL_FAULT_CALL", "1+", 1);
    setenv("OPENCL_FAULT_CODE", "-36", 1);
  }

  DeviceContext context_{choose_device()};
};

TEST_F(StagingTest, EndsWhateverFails) {
  for (const char* function : {"clEnqueueUnmapMemObject", "clReleaseMemObject"}) {
    std::optional<Staging> staging;
    staging.emplace(context_.handle(), context_.queue());
    ASSERT_NE(staging->room(64), nullptr);
    fail(function);
    staging.reset();  // an exception here would end the process
    unsetenv("OPENCL_FAULT_FUNCTION");
  }
}

// Memory that was given back is not handed out again.
TEST_F(StagingTest, NewMemoryAfterAFailure) {
  Staging staging(context_.handle(), context_.queue());
  const void* const old = staging.room(64);
  ASSERT_NE(old, nullptr);
  fail("clEnqueueMapBuffer");
  EXPECT_THROW(staging.room(128), cl::Error);
  unsetenv("OPENCL_FAULT_FUNCTION");
  EXPECT_NE(staging.room(64), nullptr);
}

}  // namespace
}  // namespace lugpu

// Errors of OpenCL as sentences: codes with names, kernels that do not build, and what becomes of
// solvers that cannot be tried.
#include "base/error.hpp"
#include "dense/blocked_gpu.hpp"
#include "kernel_files.hpp"
#include "opencl_fixture.hpp"

namespace lugpu {
namespace {

TEST(OpenClErrors, AllCodesHaveNames) {
  for (cl_int code = -1; code >= -72; --code) {
    if (code < -19 && code > -30) continue;  // there are none
    const std::string name = opencl_error_name(code);
    EXPECT_TRUE(name.starts_with("CL_")) << name;
    EXPECT_TRUE(name.ends_with(" (" + std::to_string(code) + ")")) << name;
  }
  EXPECT_EQ(opencl_error_name(-36), "CL_INVALID_COMMAND_QUEUE (-36)");
  EXPECT_EQ(opencl_error_name(-44), "CL_INVALID_PROGRAM (-44)");
  EXPECT_EQ(opencl_error_name(-72), "CL_MAX_SIZE_RESTRICTION_EXCEEDED (-72)");
  EXPECT_EQ(opencl_error_name(-9999), "OpenCL error -9999");
  EXPECT_EQ(describe(cl::Error(-5, "clFinish")), "clFinish failed with CL_OUT_OF_RESOURCES (-5)");
}

/// What `action` throws as an Expected; empty if it throws nothing.
template <typename Expected, typename Action>
std::string sentence(const Action& action) {
  try {
    action();
  } catch (const Expected& error) {
    return error.what();
  }
  return "";
}

/// What BlockedGpu finds out about its kernels, on a device that says it is a GPU.
class TestSystem : public testing::Test {
 protected:
  /// What BlockedGpu throws as an Expected with kernels of which a line is changed.
  template <typename Expected>
  std::string refusal(const std::string& file, const std::string& right, const std::string& wrong) {
    Folder folder;
    copy_kernels(folder.path() / "kernels", file, right, wrong);
    Device device = shared_context().device();
    device.type = "gpu";
    DeviceContext context(device, {(folder.path() / "kernels").string()});
    return sentence<Expected>([&] {
      BlockedGpu(context, {64, 64, Pivot::partial, Precision::single_precision, 64});
    });
  }
};

TEST_F(TestSystem, KernelsThatDoNotBuildAreNotCalledWrong) {
  const std::string reason = refusal<NotTried>("gpu/lu_blocked.cl", "void exchange_and_solve(",
                                               "nothing exchange_and_solve(");
  EXPECT_NE(reason.find("could not be tried"), std::string::npos) << reason;
  EXPECT_NE(reason.find("clBuildProgram failed with CL_BUILD_PROGRAM_FAILURE (-11): "),
            std::string::npos)
      << reason;
  EXPECT_NE(reason.find("method lu"), std::string::npos) << reason;
}

TEST_F(TestSystem, AnErrorIsNotCalledWrong) {
  const std::string reason =
      refusal<NotTried>("common/transfer.cl", "void import_columns(", "void export_nothing(");
  EXPECT_NE(reason.find("clCreateKernel failed with CL_INVALID_KERNEL_NAME (-46)."),
            std::string::npos)
      << reason;
}

// What was found with the kernels of one folder says nothing about those of another.
TEST_F(TestSystem, EveryFolderOfKernelsIsTried) {
  const std::string file = "gpu/lu_blocked.cl", kernel = "void exchange_and_solve(";
  const std::string first = refusal<NotTried>(file, kernel, "nothing exchange_and_solve(");
  const std::string second = refusal<NotTried>(file, kernel, "void exchange_and_nothing(");
  EXPECT_NE(first.find("CL_BUILD_PROGRAM_FAILURE"), std::string::npos) << first;
  EXPECT_NE(second.find("CL_INVALID_KERNEL_NAME"), std::string::npos) << second;
}

}  // namespace
}  // namespace lugpu

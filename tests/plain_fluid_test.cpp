// The fluid in plain loops, against that on a device: both take the same steps.

#include "baselines/plain_fluid.hpp"

#include <cmath>

#include "base/error.hpp"
#include "opencl_fixture.hpp"
#include "simulation/fluid.hpp"

namespace lugpu {
namespace {

SimulationOptions smoke(std::array<std::size_t, 3> size, std::size_t iterations) {
  SimulationOptions options;
  options.size = size;
  options.scene = "smoke";
  options.precision = Precision::double_precision;
  options.tolerance = 0;
  options.iterations = iterations;
  options.semi_lagrangian = true;
  options.reynolds = 50;
  return options;
}

// A few iterations of conjugate gradients are no linear map: from step to step the rounding of the
// velocity grows 30 times.
struct Compared {
  const char* method;
  PlainMethod plain;
  int steps;
};

void expect_near(const std::vector<double>& one, const std::vector<double>& other, double bound) {
  ASSERT_EQ(one.size(), other.size());
  double difference = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    difference = std::max(difference, std::abs(one[i] - other[i]));
  }
  EXPECT_LT(difference, bound);
}

void expect_the_same_steps(const std::array<std::size_t, 3>& size) {
  for (const Compared& compared : {Compared{"jacobi", PlainMethod::jacobi, 12},
                                   Compared{"gauss-seidel", PlainMethod::gauss_seidel, 12},
                                   Compared{"cg", PlainMethod::cg, 4}}) {
    for (const bool twice : {false, true}) {
      SCOPED_TRACE(testing::Message() << compared.method << " " << size[0] << " " << twice);
      SimulationOptions options = smoke(size, 6);
      options.project_twice = twice;
      const std::unique_ptr<PlainFluid> plain = make_plain_fluid(options, compared.plain);
      options.method = compared.method;
      Fluid fluid(shared_context(), options);
      EXPECT_EQ(plain->time_step(), fluid.time_step());
      for (int i = 0; i < compared.steps; ++i) {
        plain->step();
        fluid.step();
      }
      EXPECT_EQ(plain->trouble(), fluid.trouble());
      const std::vector<double> left = plain->left(), expected = fluid.left();
      ASSERT_EQ(left.size(), static_cast<std::size_t>(compared.steps));
      expect_near(left, expected, 1e-9);
      expect_near(plain->smoke(), fluid.smoke(), 1e-11);
      const std::vector<std::vector<double>> u = plain->velocity(), v = fluid.velocity();
      ASSERT_EQ(u.size(), v.size());
      for (std::size_t axis = 0; axis < u.size(); ++axis) {
        double largest = 0;
        for (const double value : v[axis]) largest = std::max(largest, std::abs(value));
        EXPECT_GT(largest, 1e-3);
        expect_near(u[axis], v[axis], 1e-11);
      }
    }
  }
}

TEST(PlainFluid, TakesTheStepsOfTheFluid) {
  expect_the_same_steps({24, 31, 1});
}

TEST(PlainFluid, TakesTheStepsOfTheFluidOnOtherGrids) {
  expect_the_same_steps({33, 16, 1});
  expect_the_same_steps({14, 17, 12});
}

TEST(PlainFluid, RefusesWhatItDoesNotCompute) {
  const auto refused = [](auto&& change) {
    SimulationOptions options = smoke({16, 16, 1}, 4);
    change(options);
    EXPECT_THROW(make_plain_fluid(options, PlainMethod::jacobi), Error);
  };
  refused([](SimulationOptions& o) { o.scene = "cavity"; });
  refused([](SimulationOptions& o) { o.scene = "obstacle"; });
  refused([](SimulationOptions& o) { o.semi_lagrangian = false; });
  refused([](SimulationOptions& o) { o.tolerance = 1e-3; });
  refused([](SimulationOptions& o) { o.size = {1, 16, 1}; });
  refused([](SimulationOptions& o) { o.size = {1u << 20, 1u << 20, 1}; });
}

}  // namespace
}  // namespace lugpu

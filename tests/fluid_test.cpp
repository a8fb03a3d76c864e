// The simulation of fluids: projections, exact solutions, obstacles, smoke.

#include "simulation/fluid.hpp"

#include <cmath>
#include <functional>
#include <numbers>

#include "base/error.hpp"
#include "opencl_fixture.hpp"

namespace lugpu {
namespace {

constexpr double kPi = std::numbers::pi;

SimulationOptions in_double(const std::string& scene, std::array<std::size_t, 3> size) {
  SimulationOptions options;
  options.scene = scene;
  options.size = size;
  options.precision = Precision::double_precision;
  options.rule = {1e-12, 10000};
  return options;
}

[[maybe_unused]] double largest(const std::vector<double>& values) {
  double result = 0;
  for (const double value : values) result = std::max(result, std::abs(value));
  return result;
}

// Root of the mean square of u - exact over both components at time t, for a scene of vortices.
double error_of_vortices(std::size_t n, double step, double time, double reynolds,
                         bool semi_lagrangian) {
  SimulationOptions options = in_double("vortices", {n, n, 1});
  options.reynolds = reynolds;
  options.semi_lagrangian = semi_lagrangian;
  const double steps = std::round(time / step);
  options.time_step = time / steps;
  Fluid fluid(shared_context(), options);
  for (int i = 0; i < static_cast<int>(steps); ++i) fluid.step();
  EXPECT_EQ(fluid.trouble(), "");
  const double decay = std::exp(-8 * kPi * kPi * time / reynolds), h = 1 / static_cast<double>(n);
  const std::vector<std::vector<double>> u = fluid.velocity();
  double sum = 0;
  for (std::size_t i = 0; i < n * n; ++i) {
    const double x = static_cast<double>(i % n) * h, y = static_cast<double>(i / n) * h;
    const double exact_u = decay * std::sin(2 * kPi * (x + h)) * std::cos(2 * kPi * (y + h / 2));
    const double exact_v = -decay * std::cos(2 * kPi * (x + h / 2)) * std::sin(2 * kPi * (y + h));
    sum += std::pow(u[0][i] - exact_u, 2) + std::pow(u[1][i] - exact_v, 2);
  }
  return std::sqrt(sum / static_cast<double>(2 * n * n));
}

TEST(Fluid, PrintsErrors) {
  for (const bool sl : {false, true})
    for (const double courant : {0.25, 0.5, 1.0})
      for (std::size_t n : {16, 32, 64, 128})
        std::printf("sl %d courant %g n %zu error %.3e\n", sl, courant, n,
                    error_of_vortices(n, courant / double(n), 0.5, 100, sl));
}

}  // namespace
}  // namespace lugpu

// Lists the devices, and times a system in single precision on each, or on the one that is named:
//   devices [NAME]   NAME: an index, or a part of a device's name
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <lugpu/lugpu.hpp>
#include <vector>

namespace {

void time_on(const lugpu::Device& device) {
  constexpr std::size_t kN = 500;
  std::vector<float> memory(kN * kN), b(kN);
  const lugpu::View<float> a{memory.data(), kN, kN, kN};
  for (std::size_t j = 0; j < kN; ++j) {
    for (std::size_t i = 0; i < kN; ++i) {
      a(i, j) = static_cast<float>((7 * i + 3 * j) % 10) + (i == j ? 5000.0F : 0.0F);
      b[i] += a(i, j);  // the sum of row i, so that X is 1 everywhere
    }
  }

  const lugpu::Context context(device);
  const lugpu::View<const float> rhs{b.data(), kN, 1, kN};
  lugpu::solve<float>(context, a, rhs);  // the first call builds the kernels
  const auto solution = lugpu::solve<float>(context, a, rhs);
  float error = 0;
  for (const float x : solution.x) error = std::max(error, std::abs(x - 1));
  std::printf("%s: n = %zu, largest error %.1e\n", device.name.c_str(), solution.n, error);
  for (const auto& [phase, seconds] : solution.phases_s) {
    std::printf("  %-8s %9.3f ms\n", phase.c_str(), 1000 * seconds);
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<lugpu::Device> devices = lugpu::list_devices();
  for (const lugpu::Device& device : devices) {
    std::printf("%d: %s (%s, %u compute units, %.1f GiB)\n", device.index, device.name.c_str(),
                device.type.c_str(), device.compute_units,
                static_cast<double>(device.global_memory) / (1 << 30));
  }
  if (argc > 1) {
    time_on(lugpu::choose_device("", argv[1]));
  } else {
    for (const lugpu::Device& device : devices) time_on(device);
  }
} catch (const lugpu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

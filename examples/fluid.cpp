// Smoke that rises in a box and is pushed aside, with what each step leaves of the divergence:
//   fluid [CELLS [PICTURE.ppm]]   CELLS: along each side, 256 by default
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <lugpu/lugpu.hpp>
#include <string>

namespace {

// As a portable pixmap, which most viewers of pictures know.
void write(const lugpu::Picture& picture, const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  file << "P6 " << picture.width << " " << picture.height << " 255\n";
  file.write(reinterpret_cast<const char*>(picture.rgb.data()),
             static_cast<std::streamsize>(picture.rgb.size()));
  if (!file.flush()) std::fprintf(stderr, "Cannot write %s.\n", path.c_str());
}

}  // namespace

int main(int argc, char** argv) try {
  lugpu::SimulationOptions options;
  options.scene = "smoke";
  const std::size_t cells = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 256;
  options.size = {cells, cells, 1};
  options.tolerance = 1e-4;  // of the divergence

  const lugpu::Context context;
  lugpu::Simulation smoke(context, "fluid", options);
  smoke.step();  // the first step builds the kernels
  smoke.left();

  // A stroke from left to right through the rising smoke, a part of it before each step.
  constexpr int kSteps = 100;
  const auto start = std::chrono::steady_clock::now();
  for (int step = 0; step < kSteps; ++step) {
    const double x = 0.1 + 0.8 * step / kSteps;
    smoke.push(x, 0.3, x + 0.8 / kSteps, 0.3);
    smoke.step();
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;

  const std::vector<double> left = smoke.left();
  std::printf("%zu x %zu cells by %s: %.1f frames/s\n", cells, cells, smoke.method().c_str(),
              kSteps / seconds.count());
  std::printf("%s: at most %.1e of it is left\n", smoke.left_name().c_str(),
              *std::max_element(left.begin(), left.end()));

  const lugpu::Field density = smoke.field();
  double sum = 0;
  for (const double value : density.values) sum += value;
  std::printf("%.1f %% of the box is smoke after %.2f units of time\n",
              100 * sum / static_cast<double>(density.values.size()),
              (kSteps + 1) * smoke.time_step());
  if (argc > 2) write(smoke.picture(), argv[2]);
  if (smoke.trouble().empty()) return 0;
  std::fprintf(stderr, "%s.\n", smoke.trouble().c_str());
  return 1;
} catch (const lugpu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

// Solves a sparse system, as the library chooses and by conjugate gradients: Laplace's equation on
// a square of points, u(x, y) = x y on its walls.
#include <cmath>
#include <cstdio>
#include <lugpu/lugpu.hpp>
#include <vector>

namespace {

constexpr int kSide = 100;  // points inside; theirs are rows and columns y * kSide + x of A

struct System {
  std::vector<std::int64_t> row_begin = {0};
  std::vector<std::int32_t> columns;
  std::vector<double> values, b;
};

// 4 u(x, y) - u(x, y - 1) - u(x - 1, y) - u(x + 1, y) - u(x, y + 1) = 0, which is true of x y.
System laplace() {
  System a;
  constexpr int kPlaces[5][3] = {{0, -1, -1}, {-1, 0, -1}, {0, 0, 4}, {1, 0, -1}, {0, 1, -1}};
  for (int i = 0; i < kSide * kSide; ++i) {
    a.b.push_back(0);
    for (const auto& [right, down, value] : kPlaces) {
      const int x = i % kSide + right, y = i / kSide + down;
      const bool on_wall = x < 0 || x >= kSide || y < 0 || y >= kSide;
      if (on_wall) a.b.back() += double(x) * y;
      if (on_wall) continue;
      a.columns.push_back(y * kSide + x);
      a.values.push_back(value);
    }
    a.row_begin.push_back(std::int64_t(a.columns.size()));
  }
  return a;
}

}  // namespace

int main() try {
  const System a = laplace();
  const std::size_t n = a.b.size();
  const lugpu::Context context;
  for (const char* method : {"auto", "cg"}) {
    lugpu::Options options;
    options.method = method;
    const auto solution = lugpu::solve(
        context, lugpu::SparseView{n, a.row_begin.data(), a.columns.data(), a.values.data()},
        lugpu::View<const double>{a.b.data(), n, 1, n}, options);
    double error = 0;
    for (int i = 0; i < int(solution.x.size()); ++i) {
      error = std::fmax(error, std::abs(solution.x[i] - double(i % kSide) * (i / kSide)));
    }
    std::printf("%s: %zu iterations, largest error %.1e of %d; %s\n", solution.method.c_str(),
                solution.iterations, error, kSide * kSide, solution.why.c_str());
  }
} catch (const lugpu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

// Solves the same system once for each line that it reads, and prints the seconds of each: what
// scripts/time_python.py compares Python's call with.
//   time_solve N FILE CHECK    FILE: the doubles of A by columns, then those of b; CHECK: 0 or 1
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <lugpu/lugpu.hpp>
#include <string>
#include <vector>

int main(int, char** argv) {
  const std::size_t n = std::strtoull(argv[1], nullptr, 10);
  std::vector<double> values(n * n + n);
  std::ifstream file(argv[2], std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(values.data()),
                 std::streamsize(values.size() * sizeof(double)))) {
    std::cerr << argv[2] << ": cannot be read\n";
    return 1;
  }
  const lugpu::View<const double> a = {values.data(), n, n, n};
  const lugpu::View<const double> b = {values.data() + n * n, n, 1, n};
  lugpu::Options options;
  options.check = std::string(argv[3]) == "1";
  try {
    const lugpu::Context context;
    for (std::string line; std::getline(std::cin, line);) {
      const auto start = std::chrono::steady_clock::now();
      const auto solution = lugpu::solve(context, a, b, options);
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      std::cout << (solution.x.empty() ? -1 : seconds.count()) << std::endl;
    }
  } catch (const lugpu::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}

// Factors a matrix once, and uses the factors, which stay on the device, many times.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <lugpu/lugpu.hpp>
#include <vector>

int main() try {
  // The second difference: 2 on the diagonal, -1 beside it.
  constexpr std::size_t kN = 100;
  std::vector<double> memory(kN * kN);
  const lugpu::View<double> a{memory.data(), kN, kN, kN};
  for (std::size_t i = 0; i < kN; ++i) {
    a(i, i) = 2;
    if (i > 0) a(i, i - 1) = a(i - 1, i) = -1;
  }

  const lugpu::Context context;
  const lugpu::Factorization<double> lu = lugpu::factorize<double>(context, a);
  if (lu.info() > 0) {
    std::printf("A is singular: pivot %d is zero\n", lu.info());
    return 1;
  }

  // Column j of B is A times a vector of j + 1's, so that this is X. B becomes X.
  constexpr std::size_t kColumns = 50;
  std::vector<double> right_hand_sides(kN * kColumns);
  const lugpu::View<double> b{right_hand_sides.data(), kN, kColumns, kN};
  for (std::size_t j = 0; j < kColumns; ++j) b(0, j) = b(kN - 1, j) = static_cast<double>(j + 1);
  lu.solve(b);
  double error = 0;
  for (std::size_t j = 0; j < kColumns; ++j) {
    for (std::size_t i = 0; i < kN; ++i) {
      error = std::max(error, std::abs(b(i, j) / static_cast<double>(j + 1) - 1));
    }
  }
  std::printf("%zu systems, largest relative error %.1e\n", kColumns, error);

  const lugpu::Determinant det = lu.determinant();  // n + 1
  std::printf("determinant %.10g\n", std::ldexp(det.mantissa, static_cast<int>(det.exponent)));
  if (const auto rcond = lu.rcond()) std::printf("condition number %.6g\n", 1 / *rcond);

  lu.inverse(a);
  std::printf("inverse(1, 1) = %.10g\n", a(0, 0));  // n / (n + 1)
} catch (const lugpu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

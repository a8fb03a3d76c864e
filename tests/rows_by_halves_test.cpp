// kernels/nvidia/rows_by_halves.cl, with NVIDIA's instructions emulated (tests/wgmma/), against
// substitution.
#include <cmath>

#include "emulated_wgmma.hpp"
#include "kernels/gpu/update_arguments.h"
#include "matrix/random.hpp"

namespace lugpu {
namespace {

constexpr std::size_t kItems = 256, kSide = 128, kStrip = 64;

cl_int to_int(std::size_t value) {
  return static_cast<cl_int>(value);
}

/// L, of `width` columns, is there from row `top` on, where its diagonal begins at row k.
struct Case {
  std::size_t width, columns, k = 64, top = 32, first = 16;
};

class RowsByHalves : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (shared_context().device().local_memory < (std::size_t{100} << 10))
      GTEST_SKIP() << "the device has too little local memory";
    const fs::path kernels =
        emulated_kernels(folder, "nvidia/rows_by_halves.cl", "ROWS_BY_HALVES_LOCAL_BYTES");
    context.emplace(shared_context().device(), KernelSettings{kernels.string()});
  }

  KernelId kernel(const char* file, const char* function, const std::string& options) const {
    return {file, function, Precision::single_precision, Storage::buffer, Texel::rgba, options};
  }

  Matrix computed(const Matrix& l, const Matrix& a, const Case& of) {
    const std::size_t blocks = ceiling(of.width, kSide);
    const SurfaceKind path = {Precision::single_precision, Storage::buffer};
    const Surface of_l = surface_of(*context, path, l);
    Surface of_a = surface_of(*context, path, a);
    const cl::Buffer inverses = context->allocate(blocks * kSide * kSide * sizeof(cl_float));
    const cl::Buffer safe = context->zeros(2 * blocks);
    const std::string halves = " -DHALVES=" + std::to_string(GetParam());
    const std::size_t pieces = blocks * (blocks + 1) * 2 * static_cast<std::size_t>(GetParam());
    const cl::Buffer triangle = context->allocate(blocks * kSide * 4 + pieces * kSide * 64);
    const split_block room = {0, to_int(of.first), 16,
                              to_int(ceiling(of.columns, 16) * 16 + kSide)};
    const cl::Buffer u =
        context->zeros(static_cast<std::size_t>(room.rows + room.columns) * (1 + of.width));
    context->run("test", kernel("gpu/rows_of_u.cl", "invert_blocks", " -DNB=64"),
                 {2 * blocks * kItems}, of_l, to_int(of.top), to_int(of.k), to_int(of.k),
                 to_int(of.width), inverses, safe);
    context->run("test", kernel("nvidia/rows_by_halves.cl", "split_triangle", halves),
                 {blocks * kSide / 16 * kItems}, of_l, to_int(of.top), to_int(of.k), to_int(of.k),
                 to_int(of.width), inverses, safe, triangle);
    context->run("test", kernel("nvidia/rows_by_halves.cl", "compute_rows_by_halves", halves),
                 {ceiling(of.columns, kStrip) * kItems}, of_l, to_int(of.top), to_int(of.k), of_a,
                 to_int(of.first), to_int(of.columns), to_int(of.k), to_int(of.width), triangle,
                 safe, room, u);
    return contents(*context, of_a);
  }

  /// The largest error of an element, over the sum of the magnitudes that make it; other elements
  /// must not change.
  double largest_error(const Matrix& l, const Matrix& a, const Case& of) {
    const Matrix result = computed(l, a, of);
    double largest = 0;
    for (std::size_t j = 0; j < a.cols(); ++j) {
      std::vector<double> expected(of.width), weight(of.width);
      for (std::size_t i = 0; i < a.rows(); ++i) {
        const bool changes =
            i >= of.k && i < of.k + of.width && j >= of.first && j < of.first + of.columns;
        if (!changes) {
          EXPECT_EQ(result(i, j), static_cast<float>(a(i, j))) << i << ", " << j;
          continue;
        }
        const std::size_t r = i - of.k;
        expected[r] = static_cast<float>(a(i, j));
        weight[r] = std::abs(expected[r]);
        for (std::size_t q = 0; q < r; ++q) {
          const double multiplier = static_cast<float>(l(i - of.top, q));
          expected[r] -= multiplier * expected[q];
          weight[r] += std::abs(multiplier) * weight[q];
        }
        largest = std::max(largest, std::abs(result(i, j) - expected[r]) / weight[r]);
        EXPECT_FALSE(std::isnan(result(i, j))) << i << ", " << j;
      }
    }
    return largest;
  }

  /// Multipliers up to 1 / 8; columns of A scaled by powers of two from 2^-80 to 2^115.
  static std::pair<Matrix, Matrix> random_case(const Case& of) {
    Matrix l = random_matrix(of.k - of.top + of.width + 3, of.width, of.width);
    for (double& element : l.values()) element /= 8;
    Matrix a = random_matrix(of.k + of.width + 5, of.first + of.columns + 2, of.columns);
    for (std::size_t j = 0; j < a.cols(); ++j) {
      for (std::size_t i = 0; i < a.rows(); ++i)
        a(i, j) = std::ldexp(a(i, j), static_cast<int>(j * 37 % 196) - 80);
    }
    return {l, a};
  }

  double limit() const { return GetParam() == 2 ? 0x1p-20 : 0x1p-9; }

  Folder folder;
  std::optional<DeviceContext> context;
};

TEST_P(RowsByHalves, AreThoseOfSubstitution) {
  for (const Case& of : {Case{128, 1}, Case{192, 63}, Case{320, 65}, Case{576, 20, 128, 128, 32}}) {
    SCOPED_TRACE(std::to_string(of.width) + " rows, " + std::to_string(of.columns) + " columns");
    const auto [l, a] = random_case(of);
    const double error = largest_error(l, a, of);
    EXPECT_LE(error, limit());
    if (GetParam() == 1) {
      EXPECT_GE(error, 0x1p-16);  // rounded indeed
    }
  }
}

TEST_P(RowsByHalves, BlocksThatAreNotSafeAreSolvedFor) {
  const Case of = {320, 70, 0, 0, 0};
  for (const std::size_t row : {std::size_t{5}, std::size_t{200}, std::size_t{300}}) {
    auto [l, a] = random_case(of);
    l(of.k - of.top + row, row - 3) = 100;  // of a block on the diagonal
    EXPECT_LE(largest_error(l, a, of), limit()) << row;
  }
}

INSTANTIATE_TEST_SUITE_P(Halves, RowsByHalves, testing::Values(1, 2),
                         [](const auto& one) { return std::to_string(one.param); });

}  // namespace
}  // namespace lugpu

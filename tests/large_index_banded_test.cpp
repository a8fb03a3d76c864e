// Index arithmetic of banded LU.
#include "dense/matrix_units.hpp"
#include "factors.hpp"
#include "large_index.hpp"
#include "opencl/cpu_tile.hpp"

namespace lugpu {
namespace {

INSTANTIATE_TEST_SUITE_P(Orders, LargeIndex, testing::ValuesIn(large_kinds()),
                         testing::PrintToStringParamName());

// dense/banded_transfer.cl, and the last panel of a band of as many elements as a matrix

TEST_P(LargeIndex, EntriesOfABand) {
  const cl::Buffer a = elements(n * n);
  write(a, n, n - 3, 0, before(3, n));
  const std::vector<cl_int> places = {as_int(n - 1), as_int(n - 1), as_int(n - 2), 5};
  run("dense/banded_transfer.cl", "place_entries", {2}, a, buffer(places),
      vector(matrix({{7}, {8}})), cl_int{2}, static_cast<cl_ulong>(n), cl_ulong{1});
  Matrix expected = before(3, n);
  expected(2, n - 1) = 7;
  expected(1, 5) = 8;
  EXPECT_TRUE(same(read(a, n, n - 3, 0, 3, n), expected));
}

// A band whose rows (or, for GPUs, columns) are so far apart that its last ones are as far on as
// those of a matrix

class LargeIndexOfBands : public LargeIndex {
 protected:
  static constexpr std::size_t kOrder = 2000, kLower = 6, kUpper = 6, kNb = 32, kGpuNb = 16;

  LargeIndexOfBands() : LargeIndex(context_of_one_unit()) {}

  void SetUp() override {
    LargeIndex::SetUp();
    if (IsSkipped()) return;
    const std::uint64_t bytes = band_elements() * element_size(precision);
    if (bytes > context.device().max_allocation) {
      GTEST_SKIP() << context.device().name << " allocates no band of " << gigabytes(double(bytes));
    }
    make_matrix();
  }

  /// L U, whose interchanges are those of neighbours.
  void make_matrix() {
    const ExactFactors factors(kOrder);
    a_ = Matrix(kOrder, kOrder);
    for (std::size_t j = 0; j < kOrder; ++j) {
      for (std::size_t k = j < kUpper ? 0 : j - kUpper + 1; k <= j; ++k) {
        for (std::size_t i = k; i < std::min(k + kLower, kOrder); ++i) {
          a_(i, j) += factors.l(i, k) * factors.u(k, j);
        }
      }
    }
    for (std::size_t i = 0; i < kOrder; i += 2) swap_rows(a_, i, i + 1);
  }

  std::size_t band_elements() const { return (kOrder + 2 * kNb) * (ld_ + 1); }
  /// Zeros, as new memory of a CPU is, and A, by rows or by columns.
  cl::Buffer band(bool by_columns) {
    cl::Buffer band = elements(band_elements());
    const std::size_t size = element_size(precision);
    if (!takes_long()) context.fill(band, 0, band_elements() * size);
    for (std::size_t i = 0; i < kOrder; ++i) {
      const std::size_t first = i < kLower ? 0 : i - kLower;
      const std::size_t count = std::min(i + kUpper + 1, kOrder) - first;
      Matrix line(1, count);
      for (std::size_t j = 0; j < count; ++j) {
        line(0, j) = by_columns ? a_(first + j, i) : a_(i, first + j);
      }
      context.queue().enqueueCopyBuffer(vector(line), band, 0, (i * ld_ + first) * size,
                                        count * size);
    }
    return band;
  }
  /// A X
  Matrix right_hand_sides(const Matrix& x) const { return product(a_, x); }
  void expect_interchanges(const cl::Buffer& ipiv) {
    const std::vector<cl_int> rows = values_of<cl_int>(ipiv, kOrder);
    for (std::size_t k = 0; k < kOrder; ++k) ASSERT_EQ(rows[k], as_int(k + (k + 1) % 2)) << k;
  }

  const std::size_t ld_ = std::max<std::size_t>((n * n / (kOrder - 20) / 16 | 1) * 16, 112);
  const cl_int ld = as_int(ld_), order = as_int(kOrder), lower = kLower, upper = kUpper;
  const Matrix solution = integers(kOrder, 1, 9);

 private:
  Matrix a_;
};

INSTANTIATE_TEST_SUITE_P(Orders, LargeIndexOfBands, testing::ValuesIn(large_kinds()),
                         testing::PrintToStringParamName());

TEST_P(LargeIndexOfBands, NarrowOnesOfCpus) {
  if (context.device().type != "cpu") GTEST_SKIP() << "these kernels are for CPUs";
  const cl::Buffer a = band(false), ipiv = context.zeros(kOrder), info = context.zeros(1),
                   x = vector(right_hand_sides(solution));
  const auto kernel = [&](const char* function) {
    return KernelId{
        "cpu/banded_narrow.cl", function, precision,
        Storage::buffer,        Texel::r, cpu_tile_options(context.device(), precision)};
  };
  context.run("test", kernel("factor_narrow"), {1}, a, ld, order, lower, upper, ipiv, info);
  expect_interchanges(ipiv);
  context.run("test", kernel("solve_narrow"), {1}, a, ld, order, lower, upper, ipiv, x, order);
  EXPECT_TRUE(same(vector_of(x, kOrder), solution));
}

TEST_P(LargeIndexOfBands, BlocksOfCpus) {
  if (context.device().type != "cpu") GTEST_SKIP() << "these kernels are for CPUs";
  const std::size_t vector_size = vector_width(context.device(), precision);
  const std::size_t strip = 2 * vector_size, rows = kLower + kNb, panels = ceiling(kOrder, kNb);
  const cl::Buffer a = band(false), ipiv = context.zeros(kOrder), info = context.zeros(1),
                   w = elements(3 * rows * kNb), v = elements(kNb * kNb),
                   packed = elements((rows + 4 * vector_size) * strip), noted = elements(4 * strip),
                   last = context.zeros(panels), state = context.zeros(32 + 2 * panels),
                   work = context.zeros(16 + 32 + 192);
  const std::string options =
      " -DNB=" + std::to_string(kNb) + cpu_tile_options(context.device(), precision);
  const auto kernel = [&](const char* file, const char* function) {
    return KernelId{file, function, precision, Storage::buffer, Texel::r, options};
  };
  context.run("test", kernel("cpu/banded_lu.cl", "factor_band"), {1}, a, ld, order, lower, upper, w,
              v, packed, noted, ipiv, info, last, state, work, as_int(panels), cl_int{0},
              as_int(panels), cl_int{1}, cl_int{1});
  expect_interchanges(ipiv);

  Matrix padded(kOrder + vector_size, 1);
  put(padded, 0, 0, right_hand_sides(solution));
  const cl::Buffer x = vector(padded);
  context.run("test", kernel("cpu/banded_solve.cl", "solve_columns"), {1}, a, ld, order, lower,
              ipiv, last, x, as_int(kOrder + vector_size));
  EXPECT_TRUE(same(vector_of(x, kOrder), solution));
  const Surface by_rows =
      surface_of(context, {precision, Storage::buffer}, right_hand_sides(solution));
  context.run("test", kernel("cpu/banded_solve.cl", "solve_strips"), {1}, a, ld, order, lower, ipiv,
              last, by_rows, as_int(4 * strip));
  EXPECT_TRUE(same(contents(context, by_rows), solution));
}

TEST_P(LargeIndexOfBands, OfGpus) {
  const std::size_t panels = ceiling(kOrder, kGpuNb), rows = kLower + kGpuNb;
  const cl::Buffer a = band(true), ipiv = context.zeros(kOrder), info = context.zeros(1),
                   origin = context.zeros(panels * rows), last = context.zeros(panels),
                   x = vector(right_hand_sides(solution));
  const bool nvidia = compute_capability(context.device()) >= 80;
  const auto kernel = [&](const char* file, const char* function, const std::string& more) {
    return KernelId{
        file,      function,
        precision, Storage::buffer,
        Texel::r,  more + " -DNB=" + std::to_string(kGpuNb) + (nvidia ? " -DLUGPU_NVIDIA" : "")};
  };
  const std::size_t blocks = ceiling(kLower + kUpper + kGpuNb, kGpuNb);
  for (std::size_t step = 0; step < panels; ++step) {
    const std::size_t right = step == 0 ? 1 : std::min(blocks, panels - step);
    context.run(
        "test", kernel("gpu/banded_lu.cl", "apply_and_factor", " -DPANEL_ITEMS=32 -DROWS=1"),
        {right * 32}, a, ld, order, lower, upper, as_int(step) - 1, ipiv, info, origin, last);
  }
  expect_interchanges(ipiv);
  context.run("test", kernel("gpu/banded_solve.cl", "solve_columns", " -DITEMS=64"), {64}, a, ld,
              order, lower, upper, origin, last, x);
  EXPECT_TRUE(same(vector_of(x, kOrder), solution));
}

}  // namespace
}  // namespace lugpu

// Index arithmetic of products, vectors, residuals and norms.
#include <bit>
#include <numeric>

#include "large_index.hpp"
#include "opencl/cpu_tile.hpp"
#include "operators/double_matrix.hpp"
#include "operators/grid_operator.hpp"

namespace lugpu {
namespace {

INSTANTIATE_TEST_SUITE_P(Orders, LargeIndex, testing::ValuesIn(large_kinds()),
                         testing::PrintToStringParamName());

// Vectors of n^2 elements and the matrix of a grid with as many points: the first columns of all
// rows, of which one work-group takes as many as it has work-items
TEST_P(LargeIndex, VectorsAndGrids) {
  const VectorLayout layout{n, n, precision, Storage::buffer, kVectorTexel};
  Vectors vectors(context, layout, 1);
  const Surface x = vectors.take(), result = vectors.take();
  VectorCut cut = vectors.cut().spread();
  cut.groups_x = 1;
  const auto last_rows = [&](const Surface& from) {
    return read(from, n - kCorner, 0, kCorner, kCorner);
  };
  const Matrix values = integers(kCorner, kCorner, 1);
  write(x, n - kCorner - 1, 0, Matrix(kCorner + 1, kCorner + 1));
  write(x, n - kCorner, 0, values);

  Grid grid;
  grid.size = {n, n, 1};
  grid.coefficients = {1, 2, 0};
  const GridOperator a(grid);
  a.run(context, cut, x.kernel("grid/apply.cl", "apply", cut.options() + a.options()), x, x,
        result);
  Matrix expected(kCorner, kCorner);
  const auto at = [&](std::size_t i, std::size_t j) {
    return i < kCorner && j < kCorner ? values(i, j) : 0;
  };
  for (std::size_t j = 0; j < kCorner; ++j) {
    for (std::size_t i = 0; i < kCorner; ++i) {
      expected(i, j) =
          6 * at(i, j) - at(i, j - 1) - at(i, j + 1) - 2 * at(i - 1, j) - 2 * at(i + 1, j);
    }
  }
  EXPECT_TRUE(same(last_rows(result), expected));

  with_real(precision, [&](auto real) {
    context.run(
        "test",
        x.kernel("common/vectors.cl", "combine", cut.options() + option(Operation::subtract)),
        cut.items(), x, x, result, real(2), real(5), vectors.scalars(), cl_int{-1}, cl_int{-1},
        as_int(n), as_int(n), as_int(cut.walk));
  });
  for (std::size_t i = 0; i < expected.values().size(); ++i) {
    expected.values()[i] = -3 * values.values()[i];
  }
  EXPECT_TRUE(same(last_rows(result), expected));
}

// cpu/jacobi_sweeps.cl: two sweeps over the last rows, which are the second work-item's.
TEST_P(LargeIndex, SweepsOfCpus) {
  if (context.device().type != "cpu") GTEST_SKIP() << "this kernel is for CPUs";
  constexpr std::size_t kRows = kCorner + 2;  // two more are read
  const Matrix values = integers(kRows, n, 1);
  const VectorLayout layout{n, n, precision, Storage::buffer, Texel::r};
  Vectors vectors(context, layout, 1);
  const Surface x = vectors.take(), x_new = vectors.take();
  write(x, n - kRows, 0, values);
  VectorCut cut = vectors.cut();
  cut.group_x = cut.group_y = 1;
  Grid grid;
  grid.size = {n, n, 1};
  const KernelId sweeps = x.kernel("cpu/jacobi_sweeps.cl", "jacobi_sweeps",
                                   cut.options() + GridOperator(grid).options());
  const cl_int4 sizes = {{as_int(n), as_int(n), 1, 1}};
  const cl_float4 in_single = {{1, 1, 0, 4}};
  const cl_double4 in_double = {{1, 1, 0, 4}};
  const cl::Buffer room = elements(2 * 4 * x.pitch());
  const Items second{1, 1, 1, 0};
  if (precision == Precision::double_precision) {
    context.run("test", sweeps, second, x, x, x_new, room, cl_int{2}, as_int(n - kCorner), sizes,
                in_double, 0.25);
  } else {
    context.run("test", sweeps, second, x, x, x_new, room, cl_int{2}, as_int(n - kCorner), sizes,
                in_single, 0.25f);
  }
  Matrix expected = values;
  for (const std::size_t first : {1U, 2U}) {
    const Matrix old = expected;
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = first; i < kRows; ++i) {
        const double beside = (j > 0 ? old(i, j - 1) : 0) + (j + 1 < n ? old(i, j + 1) : 0);
        expected(i, j) =
            (values(i, j) + beside + old(i - 1, j) + (i + 1 < kRows ? old(i + 1, j) : 0)) / 4;
      }
    }
  }
  const Matrix swept = read(x_new, n - kCorner, 0, kCorner, n);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < kCorner; ++i) ASSERT_EQ(swept(i, j), expected(i + 2, j)) << j;
  }
}

TEST_P(LargeIndex, SumOfAVector) {
  if (takes_long()) GTEST_SKIP() << "a CPU takes a minute for so many elements";
  Vectors vectors(context, {n, n, precision, Storage::buffer, kVectorTexel}, 1);
  Surface x = vectors.take();
  lugpu::fill(context, x, 0);
  const Matrix values = integers(kCorner, kCorner, 1);
  write_corner(x, values);
  vectors.reduce(Reduction::sum, x, x, 0);
  EXPECT_EQ(vectors.scalar(0),
            std::accumulate(values.values().begin(), values.values().end(), 0.0));
}

// dense/product.cl: the first elements of A x, for which a work-group takes all columns

TEST_P(LargeIndex, DenseProduct) {
  constexpr std::size_t kRows = 64;
  const bool on_cpu = context.device().type == "cpu";
  const std::size_t vector = vector_width(context.device(), precision);
  const Matrix a = integers(kRows, n, 1), x = integers(n, 1, 2);
  const Surface columns = square();
  write(columns, 0, 0, transposed(a));
  const VectorLayout layout = VectorLayout::of_length(n, precision, Storage::buffer, Texel::r);
  Vectors vectors(context, layout, 1);
  Surface x_of = vectors.take();
  vectors.upload(x.values(), x_of);
  const std::size_t texels = on_cpu ? ceiling(n, vector) : n;
  const cl::Buffer sums = elements(texels * vector);
  const std::string options = on_cpu
                                  ? " -DLUGPU_CPU -DLUGPU_WIDE -DVECTOR=" + std::to_string(vector) +
                                        " -DGROUP_X=1 -DGROUP_Y=1 -DBLOCK=1"
                                  : " -DGROUP_X=64 -DGROUP_Y=4 -DBLOCK=1";
  const KernelId multiply{"dense/product.cl", "multiply", precision,
                          Storage::buffer,    Texel::r,   options};
  const std::size_t items = on_cpu ? kRows / vector : 64;
  context.run("test", multiply, {items, on_cpu ? 1U : 4U}, x_of, columns, sums, as_int(n),
              static_cast<cl_int>(std::countr_zero(layout.columns)), as_int(texels), as_int(n));
  EXPECT_TRUE(same(vector_of(sums, kRows), product(a, x)));
}

// A matrix in double by columns, column j in row j of its surface: residuals and norms of the first
// rows, for which one work-group takes all columns

std::vector<LargeKind> large_doubles() {
  std::vector<LargeKind> kinds = large_kinds();
  std::erase_if(
      kinds, [](const LargeKind& kind) { return kind.precision != Precision::double_precision; });
  return kinds;
}

class LargeIndexOfDoubles : public LargeIndex {
 protected:
  static constexpr std::size_t kRows = 64;  // of A, filled

  KernelId of_gpus(const char* function) const {
    return {"gpu/residual.cl", function, precision, Storage::buffer};
  }
  KernelId of_cpus(const char* function) const {
    return {"cpu/residual.cl", function, precision,
            Storage::buffer,   Texel::r, cpu_tile_options(context.device(), precision)};
  }
  bool on_cpu() const { return context.device().type == "cpu"; }

  /// Word j * pitch + i of a plane belongs to element (i, j) of a matrix.
  struct Planes {
    cl::Buffer upper, lower;
    std::size_t pitch;
  };
  /// Rows i and columns j from (row, column) on are those of `values`.
  Planes planes_with(std::size_t row, std::size_t column, const Matrix& values) {
    constexpr std::size_t kLine = 32;
    Planes planes{{}, {}, ceiling(n, kLine) * kLine};
    Matrix upper = transposed(values), lower = upper;
    for (double& word : upper.values()) {
      word = static_cast<double>((std::bit_cast<std::uint64_t>(word) + 0x80000000) >> 32);
    }
    for (double& word : lower.values()) {
      word = static_cast<cl_uint>(std::bit_cast<std::uint64_t>(word));
    }
    for (auto [plane, words] : {std::pair{&planes.upper, &upper}, {&planes.lower, &lower}}) {
      *plane = context.allocate(n * planes.pitch * sizeof(cl_uint));
      write<cl_uint>(*plane, planes.pitch, column, row, *words);
    }
    return planes;
  }

  /// Numbers of columns among as many as A has.
  cl::Buffer last_column() { return buffer(std::vector<cl_int>{as_int(n - 1)}); }
  /// As dense/mixed.cl has them for each column of X.
  struct Column {
    double x, r, scale, scale_too;
  };
  cl::Buffer records(double scale, double scale_too) {
    std::vector<Column> columns(n);
    columns[n - 1] = {0, 1, scale, scale_too};
    return buffer(columns);
  }
  template <typename... Arguments>
  void refine(const char* function, Items items, const Arguments&... arguments) {
    run("dense/mixed.cl", function, items, arguments...);
  }
};

INSTANTIATE_TEST_SUITE_P(Orders, LargeIndexOfDoubles, testing::ValuesIn(large_doubles()),
                         testing::PrintToStringParamName());

TEST_P(LargeIndexOfDoubles, Residual) {
  const Matrix a = integers(kRows, n, 1), x = integers(n, 1, 2), b = integers(n, 1, 3, 100);
  Surface x_of(double_columns(context, n, 1)), b_of(double_columns(context, n, 1));
  upload_columns_of(context, x, x_of);
  upload_columns_of(context, b, b_of);
  Matrix expected = product(a, x);
  for (std::size_t i = 0; i < kRows; ++i) expected(i, 0) = b(i, 0) - expected(i, 0);
  const cl::Buffer which = context.zeros(1);

  const auto first_rows = [&](const Surface& r, std::size_t count) {
    return transposed(read(r, 0, 0, 1, count));
  };
  Surface r(double_columns(context, n, 1));
  {
    const Planes planes = planes_with(0, 0, a);
    context.run("test", of_gpus("residual"), {kRows / 32 * 256}, planes.upper, planes.lower,
                as_int(planes.pitch), x_of, b_of, r, which, as_int(n), cl_int{1});
    EXPECT_TRUE(same(first_rows(r, kRows), expected));
  }
  if (!on_cpu()) return;
  const Surface on_device = square();
  write(on_device, 0, 0, transposed(a));
  lugpu::fill(context, r, 0);
  context.run("test", of_cpus("residual"), {1}, on_device, x_of, b_of, r, which, as_int(n),
              cl_int{1}, as_int(kRows));
  EXPECT_TRUE(same(first_rows(r, kRows), expected));
}

TEST_P(LargeIndexOfDoubles, Norms) {
  Matrix a = integers(kRows, n, 1);
  for (std::size_t i = 0; i < kRows; ++i) a(i, n - 1) = -100.0 - static_cast<double>(i);
  Matrix sums(kRows, 1), largest(kRows, 1);
  for (std::size_t i = 0; i < kRows; ++i) {
    for (std::size_t j = 0; j < n; ++j) sums(i, 0) += std::abs(a(i, j));
    largest(i, 0) = std::abs(a(i, n - 1));
  }
  const cl::Buffer found = elements(n), found_largest = elements(n);
  {
    const Planes planes = planes_with(0, 0, a);
    context.run("test", of_gpus("measure_rows"), {kRows / 32 * 256}, planes.upper, planes.lower,
                as_int(planes.pitch), found, found_largest, as_int(n));
  }
  EXPECT_TRUE(same(vector_of(found, kRows), sums));
  EXPECT_TRUE(same(vector_of(found_largest, kRows), largest));
  if (!on_cpu()) return;
  const Surface on_device = square();
  write(on_device, 0, 0, transposed(a));
  const cl::Buffer again = elements(n), again_largest = elements(n);
  context.run("test", of_cpus("measure_rows"), {1}, on_device, again, again_largest, as_int(n),
              as_int(kRows));
  EXPECT_TRUE(same(vector_of(again, kRows), sums));
  EXPECT_TRUE(same(vector_of(again_largest, kRows), largest));
}

// dense/mixed.cl: columns of A, and the last one of as many right-hand sides

TEST_P(LargeIndexOfDoubles, RoundedColumns) {
  const Surface a = square();
  Matrix values = integers(2, n, 1);
  for (double& value : values.values()) value += 0x1p-40;
  write(a, n - 2, 0, values);
  const cl::Buffer target = context.allocate(2 * n * sizeof(float));
  refine("round_columns", {n, 2}, a, target, as_int(n), as_int(n - 2), cl_int{2});
  EXPECT_TRUE(same(download(context, target, n, 2, Precision::single_precision),
                   rounded_to(Precision::single_precision, transposed(values))));
}

// gpu/double_words.cl: columns of A, and two tiles beside the end of its diagonal

TEST_P(LargeIndexOfDoubles, ColumnsInWords) {
  Matrix values = integers(n, 2, 1);
  for (double& value : values.values()) value += 0x1p-40;
  const Planes planes = planes_with(0, n - 2, values);
  const auto give = [&](const char* function, const cl::Buffer& target, auto... buffers) {
    run("gpu/double_words.cl", function, {n, 2}, buffers..., as_int(planes.pitch), target,
        as_int(n), as_int(n - 2), cl_int{2});
  };
  const cl::Buffer doubles = elements(2 * n), singles = context.allocate(2 * n * sizeof(float));
  give("join_columns", doubles, planes.upper, planes.lower);
  EXPECT_TRUE(same(vector_of(doubles, n, 2), values));
  const Matrix rounded = rounded_to(Precision::single_precision, values);
  const auto given = [&] { return download(context, singles, n, 2, Precision::single_precision); };
  give("round_columns", singles, planes.upper, planes.lower);
  EXPECT_TRUE(same(given(), rounded));
  context.fill(singles, 0xff, 2 * n * sizeof(float));
  give("round_upper_words", singles, planes.upper);
  EXPECT_TRUE(same(given(), rounded));
}

TEST_P(LargeIndexOfDoubles, TransposedWords) {
  constexpr std::size_t kTile = 16;
  const std::size_t row = n / kTile * kTile - kTile, column = row - kTile, pitch = n + n % 2;
  const auto words = [](std::uint64_t seed) {
    Matrix a = integers(kTile, kTile, seed, 100);
    for (double& word : a.values()) word = std::abs(word);
    return a;
  };
  const Matrix below = words(1), above = words(2);
  const cl::Buffer plane = context.allocate(n * pitch * sizeof(cl_uint));
  write<cl_uint>(plane, pitch, column, row, below);
  write<cl_uint>(plane, pitch, row, column, above);
  run("gpu/double_words.cl", "transpose_words", {kTile, kTile, row, column}, plane, as_int(pitch),
      as_int(n));
  EXPECT_TRUE(same(read<cl_uint>(plane, pitch, column, row, kTile, kTile), transposed(above)));
  EXPECT_TRUE(same(read<cl_uint>(plane, pitch, row, column, kTile, kTile), transposed(below)));
}

TEST_P(LargeIndexOfDoubles, ResidualsAndCorrections) {
  constexpr double kSquares = 6.1;
  const auto bytes = static_cast<double>(n * n * sizeof(double));
  if (!on_cpu() && kSquares * bytes > static_cast<double>(context.device().global_memory)) {
    GTEST_SKIP() << "six matrices do not fit " << context.device().name;
  }
  const Surface r = square(), x = square();
  const cl::Buffer which = last_column(), columns = records(8, 0.5);
  const Matrix residual = integers(1, n, 1), old = integers(1, n, 2);
  write(r, n - 1, 0, residual);
  write(r, n - 2, 0, before(1, n));
  write(x, n - 1, 0, old);
  write(x, n - 2, 0, before(1, n));
  const cl::Buffer rounded = context.allocate(n * sizeof(float));
  refine("round_residuals", {n, 1}, r, columns, which, rounded, as_int(n));
  Matrix scaled = transposed(residual);
  for (double& value : scaled.values()) value *= 4;
  EXPECT_TRUE(same(download(context, rounded, n, 1, Precision::single_precision), scaled));

  refine("measure_columns", {256}, x, r, columns, which, as_int(n), cl_int{0});
  const Column measured = values_of<Column>(columns, n)[n - 1];
  EXPECT_EQ(measured.x, 3);
  EXPECT_EQ(measured.r, 3);

  const Surface x_before = square(), r_before = square();
  refine("add_corrections", {n, 1}, x, r, x_before, r_before, records(8, 0.5), which, rounded,
         as_int(n));
  EXPECT_TRUE(same(read(x_before, n - 1, 0, 1, n), old));
  EXPECT_TRUE(same(read(r_before, n - 1, 0, 1, n), residual));
  Matrix sum = old;
  for (std::size_t j = 0; j < n; ++j) sum(0, j) += residual(0, j);
  EXPECT_TRUE(same(read(x, n - 1, 0, 1, n), sum));

  // With R = R before / 2 the least residual is at X before + 2 (X - X before).
  Matrix half = residual, least = old;
  for (std::size_t j = 0; j < n; ++j) {
    half(0, j) /= 2;
    least(0, j) += 2 * residual(0, j);
  }
  write(r, n - 1, 0, half);
  const Surface p = square(), q = square();
  const std::size_t parts = (n + 511) / 512;
  const cl::Buffer sums = elements(parts * 17), more_sums = elements(parts * 2);
  refine("project_correction", {parts * 128, 1}, r, r_before, q, records(8, 0.5), which, sums,
         as_int(n), cl_int{1}, cl_int{1}, cl_int{0}, 0.0);
  refine("subtract_directions", {parts * 128, 1}, x, r, x_before, r_before, p, q, records(8, 0.5),
         which, sums, more_sums, as_int(n), cl_int{1}, cl_int{1}, cl_int{0}, 0.0);
  refine("combine_directions", {parts * 128, 1}, x, r, x_before, r_before, p, q, records(8, 0.5),
         which, sums, more_sums, as_int(n), cl_int{1}, cl_int{1}, cl_int{0}, 0.0, 1e-10);
  Matrix difference = read(x, n - 1, 0, 1, n);
  for (std::size_t j = 0; j < n; ++j) difference(0, j) -= least(0, j);
  EXPECT_LT(norm_max(difference), 1e-12);
  EXPECT_LT(norm_max(read(r, n - 1, 0, 1, n)), 1e-12);
  write(x, n - 1, 0, sum);
  refine("copy_chosen", {n, 1}, x, r, which, as_int(n));
  EXPECT_TRUE(same(read(r, n - 1, 0, 1, n), sum));
  EXPECT_TRUE(same(read(r, n - 2, 0, 1, n), before(1, n)));
  EXPECT_TRUE(same(read(x, n - 2, 0, 1, n), before(1, n)));
}

}  // namespace
}  // namespace lugpu

// Kernels that a solver reaches in large systems alone, or after it has solved a test system, on
// small ones: so small that oclgrind_test can run them.
#include "dense/batch_lu.hpp"
#include "dense/fast_diagonal.hpp"
#include "dense/lu_none.hpp"
#include "factors.hpp"
#include "iterative/multigrid.hpp"
#include "large_index.hpp"
#include "opencl/cpu_tile.hpp"
#include "operators/dense_operator.hpp"
#include "simulation/bubble_cells.hpp"

namespace lugpu {
namespace {

constexpr Precision kSingle = Precision::single_precision;

/// The default device, with the methods that are for CPUs.
DeviceContext& context_of_a_cpu() {
  static DeviceContext context([] {
    Device device = shared_context().device();
    device.type = "cpu";
    return device;
  }());
  return context;
}

std::vector<cl_float> as_floats(const Matrix& a) {
  return {a.values().begin(), a.values().end()};
}

// common/ceilings.cl: what is behind the copy stays.
TEST(SmallKernels, CopyBytes) {
  constexpr std::size_t kPieces = 1001, kFloats = 4 * kPieces;
  DeviceContext& context = shared_context();
  std::vector<cl_float> values(kFloats + 4);
  std::iota(values.begin(), values.end(), 1.0f);
  const cl::Buffer source = buffer_of(context, values),
                   target = buffer_of(context, std::vector<cl_float>(kFloats + 4));
  context.run(
      "test",
      {"common/ceilings.cl", "copy_bytes", kSingle, Storage::buffer, Texel::r, " -DVECTOR=8"},
      {ceiling(kPieces, 4)}, source, target, static_cast<cl_ulong>(kPieces));
  std::fill(values.end() - 4, values.end(), 0.0f);
  EXPECT_EQ(values_of<cl_float>(context, target, values.size()), values);
}

TEST(SmallKernels, MultiplyAdd) {
  constexpr std::size_t kItems = 64, kVector = 8;
  constexpr int kCount = 3;
  DeviceContext& context = shared_context();
  const cl::Buffer result = context.allocate(kItems * kVector * sizeof(cl_float));
  context.run(
      "test",
      {"common/ceilings.cl", "multiply_add", kSingle, Storage::buffer, Texel::r, " -DVECTOR=8"},
      {kItems}, result, cl_int{kCount});
  const std::vector<cl_float> sums = values_of<cl_float>(context, result, kItems * kVector);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    double sum = 0;
    for (std::size_t v = 0; v < 8; ++v) {
      double x = static_cast<double>(i / kVector + v);
      for (int k = 0; k < kCount; ++k) x = x * 0.999 + 0.999;
      sum += x;
    }
    ASSERT_NEAR(sums[i], sum, 1e-5 * sum) << i;
  }
}

// One launch after the other, as on images, whose update is another kernel.
TEST(SmallKernels, BlockedLuOfCpus) {
  DeviceContext& context = context_of_a_cpu();
  const std::size_t strip = 2 * vector_width(context.device(), kSingle), columns = 4 * strip;
  const std::size_t nb = strip, order = 2 * nb + 5;
  const Matrix a = random_in(kSingle, order, order, 1);
  const Surface lu = surface_of(context, {kSingle, Storage::buffer}, a);
  const std::size_t threads = context.device().compute_units;
  const auto floats = [&](std::size_t count) { return context.allocate(count * sizeof(cl_float)); };
  const cl::Buffer w = floats(order * nb), v = floats(ceiling(order, strip) * strip * nb),
                   packed = floats((order + order / 4 + 2 * strip) * strip),
                   noted = floats((2 + 2 * threads) * strip), ipiv = context.zeros(order),
                   info = context.zeros(1), work = context.zeros(16 + threads * 32 + 8 * 192);
  const auto kernel = [&](const char* function) {
    const std::string options =
        " -DNB=" + std::to_string(nb) + cpu_tile_options(context.device(), kSingle);
    return KernelId{"cpu/lu_blocked.cl", function, kSingle, Storage::buffer, Texel::r, options};
  };
  const cl_int n = as_int(order);
  for (std::size_t k = 0; k < order; k += nb) {
    const std::size_t end = std::min(k + nb, order), right = order - end;
    context.run("test", kernel("factor_columns"), {threads}, lu, w, packed, noted, ipiv, info,
                as_int(k), n, as_int(end - k), cl_int{1}, work);
    context.run("test", kernel("exchange_and_solve"),
                {ceiling(k, columns) + ceiling(right, columns)}, lu, w, v, ipiv, as_int(k),
                as_int(end - k), n, as_int(columns), cl_int{1});
    context.run("test", kernel("update"), {right > 0 ? threads : 0}, lu, w, v, as_int(k), n, n,
                cl_int{12}, cl_int{512}, work);
  }
  LuFactors factors{contents(context, lu), values_of<cl_int>(context, ipiv, order),
                    values_of<cl_int>(context, info, 1)[0]};
  for (int& row : factors.ipiv) ++row;
  expect_right(a, factors, Pivot::partial, kSingle);
}

// Rows 0 and 65 change places.
TEST(SmallKernels, UpdateOfImagesOfGpus) {
  constexpr std::size_t kN = 70, kNb = 64, kRight = kN - kNb;
  DeviceContext& context = context_of_one_unit();
  const SurfaceKind kind{kSingle, Storage::image, Texel::rgba};
  const std::string missing = missing_on(handle_of(context.device()), kind);
  if (!missing.empty()) GTEST_SKIP() << missing;
  const Matrix a = integers(kN, kN, 1), lu = integers(kN, kN, 2);
  const Surface source = surface_of(context, kind, a), target = surface_of(context, kind, a);
  std::vector<cl_int> goes_to(kNb);
  std::iota(goes_to.begin(), goes_to.end(), 0);
  goes_to[0] = 65;
  context.run("test", source.kernel("gpu/lu_blocked_image.cl", "update", " -DNB=64"), {256, 1},
              source, target, surface_of(context, {kSingle, Storage::buffer}, lu),
              buffer_of(context, goes_to), cl_int{0}, as_int(kN));
  Matrix expected = a;
  for (std::size_t j = kNb; j < kNb + kRight; ++j) {
    expected(65, j) = a(0, j);
    for (std::size_t i = kNb; i < kN; ++i) {
      for (std::size_t k = 0; k < kNb; ++k) expected(i, j) -= lu(i, k) * lu(k, j);
    }
  }
  EXPECT_TRUE(same(contents(context, target), expected));
}

// Work-groups wait for those before them.
TEST(SmallKernels, TrianglesAndFewColumnsOfGpus) {
  constexpr std::size_t kN = 70;
  DeviceContext& context = context_of_one_unit();
  const ExactFactors factors(kN);
  for (const bool upper : {false, true}) {
    const std::size_t columns = upper ? 1 : 2;
    const Matrix& t = upper ? factors.u : factors.l;
    const Matrix x = integers(kN, columns, 7);
    const Surface solved = surface_of(context, {kSingle, Storage::buffer}, product(t, x));
    const std::size_t message_bytes = 2 * kN * columns * sizeof(float);
    const cl::Buffer messages = context.allocate(message_bytes);
    context.fill(messages, 0xff, message_bytes);
    context.run("test",
                {"gpu/solve.cl", "solve_waiting", kSingle, Storage::buffer, Texel::rgba,
                 " -DNB=64 -DGROUPS_MAX=64 -DPIVOT=1"},
                {2 * columns * 256}, surface_of(context, {kSingle, Storage::buffer}, t), cl_int{0},
                cl_int{0}, solved, cl_int{0}, as_int(kN), as_int(columns), cl_int{upper},
                cl_int{!upper}, messages, cl_int{0});
    const Matrix found = contents(context, solved);
    for (std::size_t i = 0; i < kN * columns; ++i)
      ASSERT_NEAR(found.values()[i], x.values()[i], 1e-3) << upper << ", " << i;
  }
}

TEST(SmallKernels, LuWithoutPivotingInOneLaunch) {
  constexpr std::size_t kN = 65;
  DeviceContext& context = context_of_one_unit();
  const Matrix a = harmless_for(Pivot::none, kSingle, kN, kN, 1);
  Surface surface = surface_of(context, {kSingle, Storage::buffer}, a);
  const cl::Buffer ipiv = context.zeros(kN), info = context.zeros(1);
  LuNone(context, kN, kSingle, false).factor(surface, ipiv, info);
  LuFactors factors{contents(context, surface), values_of<cl_int>(context, ipiv, kN),
                    values_of<cl_int>(context, info, 1)[0]};
  for (int& row : factors.ipiv) ++row;
  expect_right(a, factors, Pivot::none, kSingle);
}

// With partial pivoting two panels and a column.
TEST(SmallKernels, BatchesInMemory) {
  constexpr std::size_t kN = 33, kCount = 2;
  DeviceContext& context = context_of_one_unit();
  if (context.device().max_work_group < 256) GTEST_SKIP() << "work-groups are too small";
  const Matrix a = harmless_for(Pivot::partial, kSingle, kN, kN * kCount, 1);
  const std::vector<cl_float> given = as_floats(a);
  std::vector<cl_float> lu(given.size());
  const auto batch = [](auto& values) {
    using Element = std::remove_pointer_t<decltype(values.data())>;
    return Batch<Element>({values.data(), kN, kN, kN}, kCount, kN * kN);
  };
  for (const Pivot pivot : {Pivot::partial, Pivot::full}) {
    BatchLu solver(context, {kCount, kN}, kSingle, pivot, BatchPath::memory);
    solver.upload(batch(given));
    solver.factor();
    solver.download_factors(batch(lu));
    const std::vector<int> info = solver.info(), ipiv = solver.ipiv(), jpiv = solver.jpiv();
    for (std::size_t m = 0; m < kCount; ++m) {
      Matrix member(kN, kN);
      std::copy_n(a.column(m * kN), kN * kN, member.column(0));
      for (std::size_t k = 0; k < kN && pivot == Pivot::full; ++k) {
        const auto q = static_cast<std::size_t>(jpiv[m * kN + k] - 1);
        if (q != k) std::swap_ranges(member.column(k), member.column(k) + kN, member.column(q));
      }
      LuFactors factors{Matrix(kN, kN), {&ipiv[m * kN], &ipiv[m * kN] + kN}, info[m]};
      std::copy_n(&lu[m * kN * kN], kN * kN, factors.lu.column(0));
      expect_right(member, factors, pivot, kSingle);
    }
  }
}

// As for larger orders, of three panels.
TEST(SmallKernels, BatchesOfLargerMembers) {
  constexpr std::size_t kN = 34;
  DeviceContext& context = context_of_one_unit();
  const Matrix a = harmless_for(Pivot::full, kSingle, kN, kN, 1);
  for (const bool full : {false, true}) {
    const cl::Buffer matrix = buffer_of(context, as_floats(transposed(a)));
    const cl::Buffer ipiv = context.zeros(kN), jpiv = context.zeros(kN), info = context.zeros(1);
    if (full) {
      for (const std::size_t first : {0, 2}) {  // two steps, and those of the 32 x 32 that are left
        const std::size_t items = first == 0 ? 64 : 32;
        context.run("test",
                    {"gpu/batch_full.cl", "factor_batch", kSingle, Storage::buffer, Texel::rgba,
                     " -DPIVOT=FULL -DORDER=" + std::to_string(items) +
                         " -DITEMS=" + std::to_string(items)},
                    {items}, matrix, ipiv, jpiv, info, as_int(kN), cl_int{1}, as_int(first),
                    as_int(first == 0 ? 2 : kN - 2));
      }
    } else {
      context.run("test",
                  {"gpu/batch_blocked.cl", "factor_batch", kSingle, Storage::buffer, Texel::rgba,
                   " -DPIVOT=PARTIAL -DORDER=64 -DITEMS=32 -DCOLUMNS=32"},
                  {32}, matrix, ipiv, jpiv, info, as_int(kN), cl_int{1});
    }
    LuFactors factors{Matrix(kN, kN), {}, values_of<cl_int>(context, info, 1)[0]};
    const std::vector<cl_float> rows = values_of<cl_float>(context, matrix, kN * kN);
    for (std::size_t i = 0; i < kN * kN; ++i) factors.lu(i / kN, i % kN) = rows[i];
    for (const cl_int row : values_of<cl_int>(context, ipiv, kN)) factors.ipiv.push_back(row + 1);
    Matrix aq = a;
    const std::vector<cl_int> columns = values_of<cl_int>(context, jpiv, kN);
    for (std::size_t k = 0; k < kN && full; ++k) {
      const auto q = static_cast<std::size_t>(columns[k]);
      if (q != k) std::swap_ranges(aq.column(k), aq.column(k) + kN, aq.column(q));
    }
    expect_right(aq, factors, full ? Pivot::full : Pivot::partial, kSingle);
  }
}

// gpu/tile_order.clh: every tile once, in whole bands and in one that is not. All products are 1.
TEST(SmallKernels, TilesInBands) {
  constexpr std::size_t kDepth = 16, kColumns = 3 * 128 - 1;
  DeviceContext& context = shared_context();
  for (const std::size_t rows : {8 * 128, 8 * 128 + 1, 11 * 128 - 1, 1}) {
    Matrix ones(kDepth + rows, kDepth), x(kDepth + rows, kColumns);
    std::fill(ones.values().begin(), ones.values().end(), 1);
    for (std::size_t j = 0; j < kColumns; ++j) {
      for (std::size_t i = 0; i < x.rows(); ++i)
        x(i, j) = i < kDepth ? 1 : static_cast<double>(i * kColumns + j);
    }
    const SurfaceKind kind = {kSingle, Storage::buffer};
    const Surface t = surface_of(context, kind, ones), surface = surface_of(context, kind, x);
    const std::size_t tiles = ceiling(rows, 128) * 3;
    context.run("test",
                {"gpu/solve.cl", "subtract_block", kSingle, Storage::buffer, Texel::rgba,
                 " -DNB=64 -DGROUPS_MAX=1 -DPIVOT=1"},
                {tiles * 256}, t, cl_int{0}, cl_int{0}, surface, cl_int{0}, as_int(kColumns),
                cl_int{0}, as_int(kDepth), as_int(kDepth), as_int(kDepth + rows));
    for (std::size_t j = 0; j < kColumns; ++j) {
      for (std::size_t i = kDepth; i < x.rows(); ++i) x(i, j) -= kDepth;
    }
    EXPECT_EQ(contents(context, surface).values(), x.values()) << rows;
  }
}

TEST(SmallKernels, FastDiagonalsOfGpus) {
  Device device = shared_context().device();
  device.type = "gpu";
  DeviceContext context(device, {.options = context_of_one_unit().settings().options});
  const Grid grid{{5, 4, 1}, {Wall::dirichlet, Wall::dirichlet, Wall::neumann}, {1, 1, 0}};
  const Matrix b = random_in(kSingle, grid.unknowns(), 1, 5);
  FastDiagonal solver(context, grid, kSingle);
  solver.upload(b);
  solver.solve();
  const Matrix product = multiply(grid, solver.download());
  for (std::size_t i = 0; i < grid.unknowns(); ++i) ASSERT_NEAR(product(i, 0), b(i, 0), 1e-5) << i;
}

TEST(SmallKernels, DenseProducts) {
  constexpr std::size_t kN = 5;
  DeviceContext& context = shared_context();
  const Matrix a = integers(kN, kN, 1), x = integers(kN, 1, 2);
  const DenseOperator on_device(context, a, DenseOperator::Order::columns, kSingle, Storage::buffer,
                                Texel::r);
  Vectors vectors(context, on_device.layout(), 1);
  Surface on_x = vectors.take(), result = vectors.take();
  vectors.upload(x.values(), on_x);
  on_device.apply(vectors, on_x, result);
  EXPECT_EQ(vectors.download(result, kN), product(a, x).values());
}

// Two grids: what a cycle makes of a conductivity that the solver was given later.
TEST(SmallKernels, ConductivityOfCoarseGrids) {
  Grid grid{{40, 27, 1}, {Wall::neumann, Wall::neumann, Wall::neumann}, {1, 1, 0}};
  grid.conductivity.assign(grid.unknowns(), 1.0);
  const auto cycle = [&](MultigridCg& solver) {
    Surface r = solver.vectors().take();
    std::vector<double> unit(grid.unknowns());
    unit[333] = 1;
    solver.vectors().upload(unit, r);
    return solver.preconditioned(r);
  };
  MultigridCg changed(context_of_a_cpu(), grid, kSingle, Storage::buffer, Texel::r);
  std::fill_n(grid.conductivity.begin() + 200, 300, 50.0);
  Surface conductivity = changed.vectors().take();
  changed.vectors().upload(grid.conductivity, conductivity);
  changed.set_conductivity(conductivity);
  MultigridCg fresh(context_of_a_cpu(), grid, kSingle, Storage::buffer, Texel::r);
  const std::vector<double> is = cycle(changed), should = cycle(fresh);
  EXPECT_GT(should[333], 1e-3);
  for (std::size_t i = 0; i < is.size(); ++i) ASSERT_NEAR(is[i], should[i], 1e-5) << i;
}

TEST(SmallKernels, PushedBubbles) {
  SimulationOptions options;
  options.size = {4, 4, 1};
  options.inclusions = 1;
  BubbleCells flow(context_of_a_cpu(), options);
  const std::vector<double> before = flow.density();
  flow.push(0.1, 0.1, 0.4, 0.1);
  const std::vector<double> after = flow.density();
  EXPECT_GT(std::accumulate(after.begin(), after.end(), 0.0),
            std::accumulate(before.begin(), before.end(), 0.0));
}

}  // namespace
}  // namespace lugpu

// Blocked LU: every shape around the edges of its blocks, against LAPACK's getrf.
#include "dense/lu_blocked.hpp"

#include <map>
#include <numeric>

#include "base/error.hpp"
#include "dense/blocked.hpp"
#include "dense/pivot_rules.hpp"
#include "factors.hpp"
#include "opencl_fixture.hpp"

namespace lugpu {
namespace {

struct BlockedKind {
  Precision precision;
  Pivot pivot;
};

void PrintTo(const BlockedKind& kind, std::ostream* out) {
  *out << name(kind.precision) << "_" << name(kind.pivot);
}

/// What a factorization of `blocked` left in lu.
LuFactors factors_of(DeviceContext& context, const Blocked& blocked, const Surface& lu) {
  LuFactors factors{contents(context, lu), std::vector<int>(std::min(lu.rows(), lu.columns())), 0};
  context.read_back("test", blocked.info(), 0, sizeof(cl_int), &factors.info);
  if (!factors.ipiv.empty()) {
    context.read_back("test", blocked.ipiv(), 0, factors.ipiv.size() * sizeof(cl_int),
                      factors.ipiv.data());
  }
  for (int& row : factors.ipiv) ++row;
  return factors;
}

Matrix solution_of(DenseFactorization& solver) {
  Matrix x(solver.size().n, solver.size().nrhs);
  solver.download(x.view());
  return x;
}

class LuBlockedTest : public testing::TestWithParam<BlockedKind> {
 protected:
  void SetUp() override {
    const SurfaceKind kind = {precision, Storage::buffer};
    const std::string missing = missing_on(handle_of(context.device()), kind);
    if (!missing.empty()) GTEST_SKIP() << context.device().name << ": " << missing;
  }

  LuFactors factor(const Matrix& a, std::size_t nb = 0) { return factor(context, a, nb); }
  LuFactors factor(DeviceContext& where, const Matrix& a, std::size_t nb = 0) {
    Surface surface = surface_of(where, {precision, Storage::buffer}, a);
    const auto blocked = Blocked::make(where, {a.rows(), a.cols(), pivot, precision, nb});
    blocked->factor(surface);
    return factors_of(where, *blocked, surface);
  }

  Matrix harmless(std::size_t m, std::size_t n, std::uint64_t seed = 1) {
    return harmless_for(pivot, precision, m, n, seed);
  }

  DeviceContext& context = shared_context();
  const Precision precision = GetParam().precision;
  const Pivot pivot = GetParam().pivot;
};

TEST_P(LuBlockedTest, EveryShapeAroundTheEdgesOfBlocks) {
  const std::size_t nb = Blocked::block_size(context.device(), {100, 100});
  const std::vector<std::size_t> sizes = {
      1, 2, 3, 5, 10, 50, nb - 1, nb, nb + 1, 132, 2 * nb - 1, 2 * nb, 2 * nb + 1, 3 * nb + 7};
  for (const std::size_t m : sizes) {
    for (const std::size_t n : sizes) {
      SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n));
      const Matrix a = harmless(m, n, m + n);
      expect_right(a, factor(a), pivot, precision);
    }
  }
}

TEST_P(LuBlockedTest, NoPivotingInterchangesNothing) {
  if (pivot != Pivot::none) GTEST_SKIP() << "with pivoting";
  const LuFactors factors = factor(harmless(200, 200));
  for (std::size_t k = 0; k < 200; ++k) EXPECT_EQ(factors.ipiv[k], static_cast<int>(k) + 1);
}

TEST_P(LuBlockedTest, MultipliersAreAtMostOneWithPivoting) {
  if (pivot == Pivot::none) GTEST_SKIP() << "without pivoting";
  const LuFactors factors = factor(harmless(300, 150));
  for (std::size_t j = 0; j < 150; ++j) {
    for (std::size_t i = j + 1; i < 300; ++i) ASSERT_LE(std::abs(factors.lu(i, j)), 1);
  }
}

TEST_P(LuBlockedTest, BitwiseTheSameEveryTime) {
  const Matrix a = harmless(333, 333);
  const LuFactors first = factor(a), second = factor(a);
  EXPECT_TRUE(equal(first.lu, second.lu));
  EXPECT_EQ(first.ipiv, second.ipiv);
}

// Who updates what, and who helps with a panel, is a matter of chance.
TEST_P(LuBlockedTest, TheNumberOfThreadsChangesNoBit) {
  const Device& device = context.device();
  if (device.type != "cpu" || device.compute_units < 2) GTEST_SKIP() << "no threads to leave out";
  const Matrix a = harmless(1300, 900);
  const LuFactors all = factor(a);
  for (const unsigned units : {1u, device.compute_units / 2}) {
    SCOPED_TRACE(units);
    DeviceContext some(with_compute_units(device, units));
    const LuFactors factors = factor(some, a);
    EXPECT_TRUE(equal(factors.lu, all.lu));
    EXPECT_EQ(factors.ipiv, all.ipiv);
  }
}

TEST_P(LuBlockedTest, InfoIsTheFirstZeroPivot) {
  for (const std::size_t zero : {0, 1, 62, 64, 70, 129}) {
    SCOPED_TRACE("column " + std::to_string(zero));
    const Matrix a = with_zero_pivot(130, zero);
    EXPECT_EQ(factor(a).info, static_cast<int>(zero) + 1);
  }
  EXPECT_EQ(factor(Matrix(70, 70)).info, 1);
}

// Of a block, of its strips and of the panel after it: their searches are not the same code.
constexpr std::size_t kColumns[] = {0, 1, 6, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100};

TEST_P(LuBlockedTest, TheFirstOfEqualPivotsIsTaken) {
  if (pivot == Pivot::none) GTEST_SKIP() << "without pivoting";
  for (const std::size_t column : kColumns) {
    SCOPED_TRACE(column);
    // Earlier columns do not change it.
    Matrix a = diagonal(140, 1);
    for (std::size_t i = column; i < 140; ++i) a(i, column) = i % 2 == column % 2 ? 1 : -1;
    EXPECT_EQ(factor(a).ipiv[column], static_cast<int>(column) + 1);
    a(column, column) = 0.5;
    EXPECT_EQ(factor(a).ipiv[column], static_cast<int>(column) + 2);
    a(column + 1, column) = a(column + 2, column) = 0.25;
    EXPECT_EQ(factor(a).ipiv[column], static_cast<int>(column) + 4);
  }
  const Matrix ones = filled(200, 1, -3);
  EXPECT_EQ(factor(ones).ipiv[0], 1);
}

// Whose reciprocal overflows.
TEST_P(LuBlockedTest, TheSmallestPivotsDivideToo) {
  const bool single = precision == Precision::single_precision;
  const double small = single ? 0x1p-140 : 0x1p-1060;
  const cl_device_fp_config config =
      single ? handle_of(context.device()).getInfo<CL_DEVICE_SINGLE_FP_CONFIG>()
             : handle_of(context.device()).getInfo<CL_DEVICE_DOUBLE_FP_CONFIG>();
  if ((config & CL_FP_DENORM) == 0) GTEST_SKIP() << "numbers so small are zero here";
  for (const std::size_t column : kColumns) {
    Matrix a = diagonal(140, 1);
    a(column, column) = small;
    a(column + 2, column) = -small / 4;
    const LuFactors factors = factor(a);
    EXPECT_EQ(factors.info, 0);
    EXPECT_EQ(factors.lu(column, column), small) << column;
    EXPECT_EQ(factors.lu(column + 2, column), -0.25) << column;
  }
}

// A NaN on the diagonal, before and after the largest.
TEST_P(LuBlockedTest, NaNIsNeverAPivotWhereThereIsANumber) {
  if (pivot == Pivot::none) GTEST_SKIP() << "without pivoting";
  for (const std::size_t column : kColumns) {
    for (const std::size_t nan : {column, std::size_t{110}, std::size_t{139}}) {
      SCOPED_TRACE("column " + std::to_string(column) + ", NaN in row " + std::to_string(nan));
      Matrix a = diagonal(140, 4);
      a(120, column) = 9;
      a(nan, column) = NAN;
      EXPECT_EQ(factor(a).ipiv[column], 121);
    }
  }
  Matrix a = harmless(100, 1);
  a(0, 0) = a(50, 0) = a(99, 0) = NAN;
  a(77, 0) = 9;
  EXPECT_EQ(factor(a).ipiv[0], 78);
}

TEST_P(LuBlockedTest, InfinityIsAPivot) {
  if (pivot == Pivot::none) GTEST_SKIP() << "without pivoting";
  for (const std::size_t column : kColumns) {
    for (const std::size_t row : {column + 1, std::size_t{139}}) {
      SCOPED_TRACE("column " + std::to_string(column) + ", row " + std::to_string(row));
      Matrix a = diagonal(140, 4);
      a(row, column) = INFINITY;
      EXPECT_EQ(factor(a).ipiv[column], static_cast<int>(row) + 1);
    }
  }
}

TEST_P(LuBlockedTest, OtherBlockSizes) {
  const Matrix a = harmless(210, 190);
  for (const std::size_t nb : {64, 128, 256, 384, 768}) {
    SCOPED_TRACE(nb);
    EXPECT_LT(factor_error(a, factor(a, nb), epsilon(precision)), kFactorRatioLimit);
  }
  EXPECT_THROW(factor(a, 50), Unsupported);
}

// On GPUs, numbers of work-groups for which a column's pivot is found in different ways.
TEST_P(LuBlockedTest, NumbersOfWorkGroups) {
  for (const std::size_t rows : {256, 257, 1024, 1025, 2048, 2049, 9000}) {
    SCOPED_TRACE(rows);
    const Matrix a = harmless(rows, 70);
    EXPECT_LT(factor_error(a, factor(a), epsilon(precision)), kFactorRatioLimit);
  }
}

// More rows than the work-groups that run at the same time can hold.
TEST_P(LuBlockedTest, TallPanels) {
  const Matrix a = harmless(256 * context.device().compute_units + 100, 70);
  expect_right(a, factor(a), pivot, precision);
}

TEST_P(LuBlockedTest, AnyNumberOfRightHandSides) {
  for (const std::size_t n : {1, 63, 65, 200}) {
    for (const std::size_t nrhs : {1, 2, 17, 64, 130}) {
      SCOPED_TRACE(std::to_string(n) + ", " + std::to_string(nrhs));
      const Matrix a = harmless(n, n), b = random_in(precision, n, nrhs, 3);
      LuBlocked solver(context, Size::square(n, nrhs), {pivot, precision});
      solver.upload(a, b);
      solver.factor();
      EXPECT_EQ(solver.outcome().info, 0);
      solver.solve();
      EXPECT_LT(solve_ratio(a, solution_of(solver), b, epsilon(precision)), kSolveRatioLimit);
    }
  }
}

TEST_P(LuBlockedTest, ProductsAlone) {
  for (const std::size_t n : {1, 128, 129, 300}) {
    SCOPED_TRACE(n);
    const Matrix a = harmless(n, n), b = random_in(precision, n, 1, 3);
    DenseOptions options{pivot, precision};
    options.nb = 64;
    LuBlocked solver(context, Size::square(n, 1), options);
    solver.upload(a, b);
    solver.factor();
    const std::uint64_t multiply_adds = solver.multiply();
    if (n == 1) {
      EXPECT_EQ(multiply_adds, 0u);
    } else {
      EXPECT_GE(multiply_adds, 64 * (n - 64) * (n - 128));
      EXPECT_LE(multiply_adds, 64 * (n - 64) * (n - 64));
    }
    solver.upload(a, b);  // what it has left must not matter
    solver.factor();
    solver.solve();
    EXPECT_LT(solve_ratio(a, solution_of(solver), b, epsilon(precision)), kSolveRatioLimit);
  }
}

// X = inv(L U) B and X = inv((L U)') B, the same X every time.
void solves_both_systems(DeviceContext& context, const Matrix& a, const BlockedKind& kind,
                         std::size_t nrhs) {
  SCOPED_TRACE(std::to_string(a.rows()) + ", " + std::to_string(nrhs) + " right-hand sides");
  const SurfaceKind buffer = {kind.precision, Storage::buffer};
  const std::size_t n = a.rows();
  Surface surface = surface_of(context, buffer, a);
  const auto blocked = Blocked::make(context, {n, n, kind.pivot, kind.precision, 0});
  blocked->factor(surface);
  const Matrix lu = contents(context, surface);
  Matrix product(n, n);  // L U, which is A but for the interchanges
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k <= j; ++k) {
      for (std::size_t i = k; i < n; ++i) product(i, j) += (i == k ? 1 : lu(i, k)) * lu(k, j);
    }
  }
  const Matrix b = random_in(kind.precision, n, nrhs, 3);
  std::map<Op, Matrix> solutions;
  for (const Op op : {Op::none, Op::none, Op::transpose, Op::transpose}) {
    Matrix system = product;
    for (std::size_t j = 0; j < n && op == Op::transpose; ++j) {
      for (std::size_t i = 0; i < n; ++i) system(i, j) = product(j, i);
    }
    Surface x(context, n, nrhs, kind.precision, Storage::buffer);
    fill(context, x, 0);
    import_columns(context, upload(context, b, kind.precision), nrhs, x, 0);
    blocked->solve(surface, x, op);
    const Matrix solution = contents(context, x);
    EXPECT_LT(solve_ratio(system, solution, b, epsilon(kind.precision)), kSolveRatioLimit);
    EXPECT_TRUE(equal(solution, solutions.emplace(op, solution).first->second));
  }
}

TEST_P(LuBlockedTest, SolvesWithTheFactorsAndTheirTranspose) {
  for (const std::size_t n : {1, 5, 64, 65, 200}) {
    for (const std::size_t nrhs : {1, 3, 16, 17, 70}) {
      solves_both_systems(context, harmless(n, n), GetParam(), nrhs);
    }
  }
}

// The class for GPUs on any device, with one compute unit, so that no work-group waits for another:
// panels by one work-group and by launches; all in registers, or the last columns alone. A CPU
// builds it without optimizations: PoCL needs a quarter of an hour for them.
TEST_P(LuBlockedTest, AsOnGpus) {
  Device device = context.device();
  KernelSettings settings;
  if (device.type == "cpu") settings.options = " -cl-opt-disable";
  if (device.type == "cpu" && device.compute_units > 1) device = with_compute_units(device, 1);
  device.type = "gpu";
  DeviceContext gpu(device, settings);
  std::vector<std::pair<std::size_t, std::size_t>> shapes = {{130, 130}, {300, 330}, {601, 601}};
  if (precision == Precision::single_precision) shapes.push_back({2400, 420});
  for (const auto& [m, n] : shapes) {
    SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n));
    const Matrix a = harmless(m, n);
    expect_right(a, factor(gpu, a), pivot, precision);
  }
  for (const std::size_t nrhs : {3, 70})
    solves_both_systems(gpu, harmless(130, 130), GetParam(), nrhs);
}

// On CPUs along the rows of the triangles.
TEST_P(LuBlockedTest, SolvesForAFewColumnsAtTheEdgesOfBlocks) {
  for (const std::size_t n : {255, 256, 257, 530}) {
    for (const std::size_t nrhs : {1, 4, 5}) {
      solves_both_systems(context, harmless(n, n), GetParam(), nrhs);
    }
  }
}

// The first element of T that is there, and the rows of X that are solved for.
struct PartOfTriangle {
  std::size_t top, left, begin, n;
};

// The kernel for GPUs that solves in one launch, on any device: all of X, with the rows of the part
// solved for.
Matrix solution_in_one_launch(DeviceContext& context, const Surface& t, const Matrix& right,
                              bool upper, bool unit, const PartOfTriangle& part) {
  const std::size_t n = part.n, nrhs = right.cols();
  const Precision precision = t.precision();
  const Surface x = surface_of(context, {precision, Storage::buffer}, right);
  const std::size_t message_bytes = 2 * n * nrhs * element_size(precision);
  const cl::Buffer messages = context.allocate(message_bytes);
  context.fill(messages, 0xff, message_bytes);
  context.run("test",
              {"gpu/solve.cl", "solve_waiting", precision, Storage::buffer, Texel::rgba,
               " -DNB=64 -DSPIN_LIMIT=0x7fffffff"},
              {(n + 63) / 64 * nrhs * 256}, t, static_cast<cl_int>(part.top),
              static_cast<cl_int>(part.left), x, static_cast<cl_int>(part.begin),
              static_cast<cl_int>(n), static_cast<cl_int>(nrhs), static_cast<cl_int>(upper),
              static_cast<cl_int>(unit), messages, cl_int{n % 2 == 0});
  return contents(context, x);
}
Matrix solution_in_one_launch(DeviceContext& context, const Surface& t, const Matrix& right,
                              bool upper, bool unit) {
  return solution_in_one_launch(context, t, right, upper, unit, {0, 0, 0, right.rows()});
}

// The triangle of A with 2 more on its diagonal, or ones (unit).
Matrix triangle_of(const Matrix& a, bool upper, bool unit) {
  Matrix triangle = a;
  for (std::size_t j = 0; j < a.cols(); ++j) {
    for (std::size_t i = 0; i < a.rows(); ++i) {
      if (upper ? i > j : i < j) triangle(i, j) = 0;
      if (i == j) triangle(i, j) = unit ? 1 : a(i, j) + 2;
    }
  }
  return triangle;
}

// Every triangle, at the edges of blocks, and one of more blocks than are added up in a row.
TEST_P(LuBlockedTest, SolvesInOneLaunch) {
  for (const std::size_t n : {1, 5, 63, 64, 65, 130, 200, 2200}) {
    for (const bool upper : {false, true}) {
      for (const bool unit : {false, true}) {
        SCOPED_TRACE(std::to_string(n) + (upper ? " upper" : " lower") + (unit ? " unit" : ""));
        const std::size_t nrhs = n > 1000 ? 1 : 3;
        Matrix a = harmless(n, n);
        const Matrix triangle = triangle_of(a, upper, unit);
        for (std::size_t i = 0; i < n; ++i) a(i, i) += 2;
        const Surface t = surface_of(context, {precision, Storage::buffer}, a);
        const Matrix right = random_in(precision, n, nrhs, 3);
        EXPECT_LT(solve_ratio(triangle, solution_in_one_launch(context, t, right, upper, unit),
                              right, epsilon(precision)),
                  kSolveRatioLimit);
      }
    }
  }
}

// Of T there is only what begins at some row and column, and only some rows of X are solved for, as
// where devices share a system.
TEST_P(LuBlockedTest, SolvesInOneLaunchForAPart) {
  constexpr std::size_t kOrder = 420, kRightHandSides = 2;
  Matrix a = harmless(kOrder, kOrder);
  const Matrix right = random_in(precision, kOrder, kRightHandSides, 3);
  const Matrix lower = triangle_of(a, false, false), upper = triangle_of(a, true, false);
  for (std::size_t i = 0; i < kOrder; ++i) a(i, i) += 2;
  for (const PartOfTriangle& part :
       {PartOfTriangle{0, 64, 64, 200}, {33, 128, 192, 130}, {128, 8, 128, 1}, {64, 64, 64, 356}}) {
    Matrix there(kOrder - part.top, kOrder - part.left);
    for (std::size_t j = 0; j < there.cols(); ++j) {
      for (std::size_t i = 0; i < there.rows(); ++i) there(i, j) = a(part.top + i, part.left + j);
    }
    const Surface t = surface_of(context, {precision, Storage::buffer}, there);
    for (const Matrix& triangle : {lower, upper}) {
      SCOPED_TRACE(std::to_string(part.begin) + ", " + std::to_string(part.n));
      const bool is_upper = triangle(1, 0) == 0;
      const Matrix all = solution_in_one_launch(context, t, right, is_upper, false, part);
      Matrix square(part.n, part.n), x(part.n, kRightHandSides), b(part.n, kRightHandSides),
          untouched = right;
      for (std::size_t i = 0; i < part.n; ++i) {
        for (std::size_t j = 0; j < part.n; ++j) {
          square(i, j) = triangle(part.begin + i, part.begin + j);
        }
        for (std::size_t j = 0; j < kRightHandSides; ++j) {
          x(i, j) = all(part.begin + i, j);
          b(i, j) = right(part.begin + i, j);
          untouched(part.begin + i, j) = x(i, j);
        }
      }
      EXPECT_LT(solve_ratio(square, x, b, epsilon(precision)), kSolveRatioLimit);
      EXPECT_TRUE(equal(all, untouched));
    }
  }
}

// Triangles whose inverses are much larger than themselves, or underflow: a product with those
// would be wrong.
TEST_P(LuBlockedTest, SolvesInOneLaunchWhereInversesAreBad) {
  const std::size_t n = 130;
  const double large = precision == Precision::single_precision ? 0x1p120 : 0x1p1000;
  for (const bool upper : {false, true}) {
    for (const double scale : {1.0, large}) {
      SCOPED_TRACE(std::string(upper ? "upper " : "lower ") + std::to_string(std::log2(scale)));
      Matrix triangle(n, n), right(n, 1);
      for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t i = 0; i < n; ++i) {
          triangle(i, j) = i == j ? scale : (upper ? i < j : i > j) ? -scale / 2 : 0;
          right(i, 0) += triangle(i, j);
        }
      }
      const Surface t = surface_of(context, {precision, Storage::buffer}, triangle);
      EXPECT_EQ(solution_in_one_launch(context, t, right, upper, false).values(),
                std::vector<double>(n, 1));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, LuBlockedTest,
                         testing::Values(BlockedKind{Precision::single_precision, Pivot::none},
                                         BlockedKind{Precision::single_precision, Pivot::partial},
                                         BlockedKind{Precision::double_precision, Pivot::none},
                                         BlockedKind{Precision::double_precision, Pivot::partial}),
                         testing::PrintToStringParamName());

// From one surface to the other: images, and buffers with the same kernels.

struct PingPongKind {
  SurfaceKind surface;
  Pivot pivot;
};

void PrintTo(const PingPongKind& kind, std::ostream* out) {
  *out << name(kind.surface) << "_" << name(kind.pivot);
}

std::vector<PingPongKind> ping_pong_kinds() {
  std::vector<PingPongKind> kinds;
  for (const SurfaceKind& surface : all_kinds()) {
    for (const Pivot pivot : {Pivot::none, Pivot::partial}) kinds.push_back({surface, pivot});
  }
  return kinds;
}

class LuBlockedPingPong : public testing::TestWithParam<PingPongKind> {
 protected:
  void SetUp() override {
    const std::string missing = missing_on(handle_of(context.device()), kind);
    if (!missing.empty()) GTEST_SKIP() << context.device().name << ": " << missing;
  }

  LuFactors factor(const Matrix& a, std::size_t nb = 64) {
    const std::size_t n = a.rows();
    PingPong pair{surface_of(context, kind, a), surface_of(context, kind, filled(n, n, NAN))};
    Surface lu = surface_of(context, {precision, Storage::buffer}, filled(n, n, NAN));
    const auto blocked = Blocked::make(context, {n, n, pivot, precision, nb, true});
    blocked->factor(pair, lu);
    return factors_of(context, *blocked, lu);
  }

  Matrix harmless(std::size_t n, std::uint64_t seed = 1) {
    return harmless_for(pivot, precision, n, n, seed);
  }

  DenseOptions options() { return {pivot, precision, kind.storage, kind.texel}; }

  DeviceContext& context = shared_context();
  const SurfaceKind kind = GetParam().surface;
  const Precision precision = kind.precision;
  const Pivot pivot = GetParam().pivot;
};

INSTANTIATE_TEST_SUITE_P(All, LuBlockedPingPong, testing::ValuesIn(ping_pong_kinds()),
                         testing::PrintToStringParamName());

/// A = inv(P) L U whose elimination is exact in every precision: the elements of L below its
/// diagonal are 0 or 1/2 in magnitude and those of U small whole numbers, with a diagonal of
/// `diagonal`. A column whose pivot is zero has zeros below. The rows of A are shuffled if there is
/// pivoting.
struct Exact {
  Matrix a, lu;
};

Exact exact(const std::vector<double>& diagonal, bool shuffled) {
  const std::size_t n = diagonal.size();
  const Matrix random = random_matrix(n, n, n);  // in -1/2 : 1/2
  Exact exact{Matrix(n, n), Matrix(n, n)};
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) {
      const double whole = std::round(2 * random(i, j)) + 0.0;  // no -0
      exact.lu(i, j) = i == j ? diagonal[j] : i < j ? whole : diagonal[j] == 0 ? 0 : whole / 2;
    }
  }
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) {
      // 5 has no common divisor with n.
      const std::size_t row = shuffled ? (5 * i + 3) % n : i;
      for (std::size_t k = 0; k <= std::min(i, j); ++k) {
        exact.a(row, j) += (k == i ? 1 : exact.lu(i, k)) * exact.lu(k, j);
      }
    }
  }
  return exact;
}

TEST_P(LuBlockedPingPong, ExactFactors) {
  for (const std::size_t n : {1, 2, 3, 63, 64, 66, 127, 128, 129, 193, 257}) {
    SCOPED_TRACE(n);
    const auto [a, lu] = exact(std::vector<double>(n, 4), pivot == Pivot::partial);
    const LuFactors factors = factor(a);
    EXPECT_EQ(factors.info, 0);
    EXPECT_TRUE(equal(factors.lu, lu));
    if (pivot == Pivot::partial) {
      EXPECT_EQ(factors.ipiv, getrf_pivots(a, precision));
    }
  }
}

TEST_P(LuBlockedPingPong, InfoIsTheFirstZeroPivot) {
  const std::size_t n = 197;
  for (const std::size_t zero : {0, 1, 63, 64, 130, 196}) {
    SCOPED_TRACE("column " + std::to_string(zero));
    std::vector<double> diagonal(n, 4);
    diagonal[zero] = diagonal[n - 1] = 0;
    const auto [a, lu] = exact(diagonal, pivot == Pivot::partial);
    const LuFactors factors = factor(a);
    EXPECT_EQ(factors.info, static_cast<int>(zero) + 1);
    if (pivot == Pivot::none) {
      EXPECT_TRUE(equal(factors.lu, lu));
    }
    EXPECT_LT(factor_error(a, factors, epsilon(precision)), kFactorRatioLimit);
  }
  EXPECT_EQ(factor(Matrix(70, 70)).info, 1);
}

TEST_P(LuBlockedPingPong, EveryOrderAroundTheEdgesOfBlocks) {
  for (const std::size_t n : {1, 2, 3, 5, 63, 64, 65, 127, 128, 129, 191, 200, 320, 333}) {
    SCOPED_TRACE(n);
    const Matrix a = harmless(n, n);
    expect_right(a, factor(a), pivot, precision);
  }
}

TEST_P(LuBlockedPingPong, BitwiseTheSameEveryTime) {
  const Matrix a = harmless(260);
  const LuFactors first = factor(a), second = factor(a);
  EXPECT_TRUE(equal(first.lu, second.lu));
  EXPECT_EQ(first.ipiv, second.ipiv);
}

TEST_P(LuBlockedPingPong, OtherBlockSizes) {
  const Matrix a = harmless(260);
  if (context.device().type != "cpu") {
    EXPECT_THROW(factor(a, 128), Unsupported);
    return;  // there are no others
  }
  for (const std::size_t nb : {0, 32, 160}) {
    SCOPED_TRACE(nb);
    EXPECT_LT(factor_error(a, factor(a, nb), epsilon(precision)), kFactorRatioLimit);
  }
}

TEST_P(LuBlockedPingPong, SolvesAndStartsAgain) {
  if (kind.storage == Storage::buffer) GTEST_SKIP() << "lu-blocked has its buffers in place";
  for (const std::size_t n : {0, 1, 64, 191, 192, 193, 300}) {
    SCOPED_TRACE(n);
    const Matrix a = harmless(n), b = random_in(precision, n, 3, 3);
    LuBlocked solver(context, Size::square(n, 3), options());
    Matrix first;
    for (int run = 0; run < 2; ++run) {
      solver.upload(a, b);
      solver.factor();
      EXPECT_EQ(solver.outcome().info, 0);
      solver.solve();
      EXPECT_LT(solve_ratio(a, solution_of(solver), b, epsilon(precision)), kSolveRatioLimit);
      if (run == 0) first = solution_of(solver);
    }
    EXPECT_TRUE(equal(solution_of(solver), first));
    EXPECT_EQ(solver.outcome().pivots.size(), n);
  }
}

// The update of either class of devices, each of which runs on all of them.

class UpdateBetweenSurfaces : public SurfaceKindTest {
 protected:
  /// target = source(from) - L U after the 64 columns of panel k, with L and U of lu.
  void update(const std::string& type, PingPong& pair, const Surface& lu, const cl::Buffer& to,
              std::size_t k) {
    const std::size_t n = lu.rows();
    const cl_int step = static_cast<cl_int>(k), end = static_cast<cl_int>(n);
    if (type == "gpu") {
      const std::size_t tiles = ceiling(n - k - 64, 128);
      context.run("test", pair.src.kernel("gpu/lu_blocked_image.cl", "update", " -DNB=64"),
                  {tiles * 256, tiles}, pair.src, pair.dst, lu, to, step, end);
    } else {
      const cl::Buffer tiles = context.allocate(2 * 12 * 64 * sizeof(double));
      const std::string options = " -DNB=64 -DVECTOR=4 -DROWS=6 -DTILE_ROWS=12 -DTILE_COLUMNS=64";
      context.run("test", pair.src.kernel("cpu/lu_blocked_image.cl", "update", options), {2},
                  pair.src, pair.dst, lu, tiles, to, step, end);
    }
  }
};

INSTANTIATE_TEST_SUITE_P(All, UpdateBetweenSurfaces, testing::ValuesIn(all_kinds()),
                         testing::PrintToStringParamName());

/// Whole numbers from -2 to 2, without negative zeros.
Matrix whole_numbers(std::size_t n, std::uint64_t seed) {
  Matrix a = random_matrix(n, n, seed);
  for (double& value : a.values()) value = std::round(4 * value) + 0.0;
  return a;
}

TEST_P(UpdateBetweenSurfaces, ExactProducts) {
  for (const std::size_t n : {65, 130, 191, 193, 259}) {
    for (const std::size_t k : {0, 64}) {
      if (n <= k + 64) continue;
      // The row that interchanges like getrf's bring to each row, and where the panel's rows go.
      std::vector<std::size_t> from(n);
      std::iota(from.begin(), from.end(), 0);
      for (std::size_t j = k; j < k + 64; ++j) std::swap(from[j], from[j + 7 * j % (n - j)]);
      std::vector<cl_int> to(64);
      for (std::size_t i = k; i < n; ++i) {
        if (from[i] - k < 64) to[from[i] - k] = static_cast<cl_int>(i);
      }
      const cl::Buffer goes_to(context.handle(), to.begin(), to.end(), true);
      const Matrix a = whole_numbers(n, 1), lu = whole_numbers(n, 2);
      Matrix expected = filled(n, n, 7);  // where nothing is to be written
      for (std::size_t j = k + 64; j < n; ++j) {
        for (std::size_t i = k + 64; i < n; ++i) {
          expected(i, j) = a(from[i], j);
          for (std::size_t q = k; q < k + 64; ++q) expected(i, j) -= lu(i, q) * lu(q, j);
        }
      }
      const Surface factors = surface_of(context, {precision, Storage::buffer}, lu);
      for (const char* type : {"cpu", "gpu"}) {
        SCOPED_TRACE(std::string(type) + ", " + std::to_string(n) + ", " + std::to_string(k));
        PingPong pair{surface_of(context, GetParam(), a),
                      surface_of(context, GetParam(), filled(n, n, 7))};
        update(type, pair, factors, goes_to, k);
        EXPECT_TRUE(equal(contents(context, pair.dst), expected));
      }
    }
  }
}

/// Element (i, j) of a matrix of order n whose pivots are on the antidiagonal, exact in single.
float antidiagonal_element(std::size_t n, std::size_t i, std::size_t j) {
  const auto random = static_cast<std::uint32_t>(i * n + j) * 2654435761u >> 20;  // of 4096
  return static_cast<float>(random) / 4096 - 0.5f + (i + j + 1 == n ? static_cast<float>(n) : 0);
}

// More than 2^31 elements. A X = B for X of ones, by every second interchange across the matrix.
TEST(LuBlockedLimits, IndicesBeyond31Bits) {
  DeviceContext& context = shared_context();
  const std::size_t n = 46400;
  const std::uint64_t bytes = n * (n + 64) * sizeof(float);
  if (context.device().max_allocation < bytes || context.device().global_memory < 2 * bytes) {
    GTEST_SKIP() << context.device().name << " has no room for " << bytes << " bytes";
  }
  constexpr Precision kSingle = Precision::single_precision;
  Surface a(context, n, n, kSingle, Storage::buffer), x(context, n, 1, kSingle, Storage::buffer);
  fill(context, a, 0);
  fill(context, x, 0);
  std::vector<float> row(n);
  Matrix b(n, 1);
  for (std::size_t i = 0; i < n; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < n; ++j) sum += row[j] = antidiagonal_element(n, i, j);
    b(n - 1 - i, 0) = sum;  // P B
    context.queue().enqueueWriteBuffer(cl::Buffer(a.memory()(), true), CL_TRUE,
                                       i * a.pitch() * sizeof(float), n * sizeof(float),
                                       row.data());
  }
  const auto blocked = Blocked::make(context, {n, n, Pivot::partial, kSingle});
  blocked->factor(a);
  cl_int info = -1;
  context.read_back("test", blocked->info(), 0, sizeof info, &info);
  EXPECT_EQ(info, 0);
  std::vector<cl_int> ipiv(n);
  context.read_back("test", blocked->ipiv(), 0, n * sizeof(cl_int), ipiv.data());
  for (std::size_t k = 0; k < n; ++k) {
    ASSERT_EQ(ipiv[k], static_cast<cl_int>(std::max(k, n - 1 - k))) << "step " << k;
  }
  import_columns(context, upload(context, b, kSingle), 1, x, 0);
  blocked->solve(a, x);
  const Matrix solution = contents(context, x);
  for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(solution(i, 0), 1, 1e-4) << "row " << i;
}

TEST(LuBlockedLimits, PackedBuffersAreUnsupported) {
  DenseOptions options;
  options.texel = Texel::rgba;
  EXPECT_THROW(LuBlocked(shared_context(), Size::square(5, 1), options), Unsupported);
}

TEST(LuBlockedLimits, ImagesMustFit) {
  DenseOptions options;
  options.storage = Storage::image;
  Size size = Size::square(200, 1);
  Device device = shared_context().device();
  device.images = device.image_float = device.image_uint32 = device.double_precision = true;
  device.image_max_width = device.image_max_height = 400;
  device.global_memory = device.max_allocation = std::uint64_t{1} << 30;
  EXPECT_NO_THROW(LuBlocked::require_room(device, size, options));
  device.image_max_width = 399;  // a double takes two texels
  EXPECT_THROW(LuBlocked::require_room(device, size, options), Unsupported);
  options.texel = Texel::rgba;  // two doubles per texel
  device.image_max_width = 100;
  EXPECT_NO_THROW(LuBlocked::require_room(device, size, options));
  device.image_max_height = 199;
  EXPECT_THROW(LuBlocked::require_room(device, size, options), Unsupported);

  // Room for what is in place, not for two images more.
  device.image_max_width = device.image_max_height = 100000;
  size = Size::square(10000, 1);
  device.max_allocation = std::uint64_t{1} << 40;
  device.global_memory = 2 * size.n * size.n * sizeof(double);
  EXPECT_THROW(LuBlocked::require_room(device, size, options), Unsupported);
  options.storage = Storage::buffer;
  options.texel = Texel::r;
  EXPECT_NO_THROW(LuBlocked::require_room(device, size, options));
}

}  // namespace
}  // namespace lugpu

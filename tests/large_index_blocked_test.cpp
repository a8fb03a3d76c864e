// Index arithmetic of blocked LU and of triangular solutions by blocks.
#include <numeric>

#include "dense/blocked.hpp"
#include "dense/matrix_units.hpp"
#include "dense/resident_lu.hpp"
#include "factors.hpp"
#include "kernels/gpu/update_arguments.h"
#include "large_index.hpp"
#include "opencl/cpu_tile.hpp"

namespace lugpu {
namespace {

// Blocked LU: the last panels and what is right of them

/// The rows and columns from `first` on, P A = L U, and the first columns of the same rows.
struct Trailing {
  static constexpr std::size_t kPanel = 64, kLeft = 8;

  explicit Trailing(std::size_t n)
      : first((n - 1) / kPanel * kPanel - 2 * kPanel),
        order(n - first),
        lu(order, order),
        left_after(integers(order, kLeft, 5, 100)) {
    const ExactFactors factors(order);
    a = product(factors.l, factors.u);
    for (std::size_t j = 0; j < order; ++j) {
      for (std::size_t i = 0; i < order; ++i) {
        lu(i, j) = i > j ? factors.l(i, j) : factors.u(i, j);
      }
    }
    left = left_after;
    ipiv.resize(order);
    for (std::size_t k = order; k-- > 0;) {
      ipiv[k] = k + (7 * k + 5) % (order - k);
      swap_rows(a, k, ipiv[k]);
      swap_rows(left, k, ipiv[k]);
    }
  }

  std::size_t first, order;
  Matrix a, lu, left, left_after;
  std::vector<std::size_t> ipiv;  // from `first` on
};

class LargeIndexOfPanels : public LargeIndex {
 protected:
  explicit LargeIndexOfPanels(DeviceContext& of = shared_context()) : LargeIndex(of) {}

  Surface surface() {
    Surface a = square();
    write_corner(a, end.a);
    write(a, end.first, 0, end.left);
    // What is above and left of it stays.
    write(a, end.first - 2, end.first - 2, before(2, end.order + 2));
    write(a, end.first - 2, 0, before(2, Trailing::kLeft));
    return a;
  }
  void expect_factored(const Surface& a, const cl::Buffer& ipiv) {
    EXPECT_TRUE(same(corner(a, end.order, end.order), end.lu));
    EXPECT_TRUE(same(read(a, end.first, 0, end.order, Trailing::kLeft), end.left_after));
    EXPECT_TRUE(
        same(read(a, end.first - 2, end.first - 2, 2, end.order + 2), before(2, end.order + 2)));
    EXPECT_TRUE(same(read(a, end.first - 2, 0, 2, Trailing::kLeft), before(2, Trailing::kLeft)));
    const std::vector<cl_int> rows = values_of<cl_int>(ipiv, n);
    for (std::size_t k = 0; k < end.order; ++k) {
      EXPECT_EQ(rows[end.first + k], as_int(end.first + end.ipiv[k])) << k;
    }
  }
  /// No interchanges so far.
  cl::Buffer ipiv() {
    std::vector<cl_int> rows(n);
    std::iota(rows.begin(), rows.end(), 0);
    return buffer(rows);
  }

  const Trailing end{n};
};

INSTANTIATE_TEST_SUITE_P(Orders, LargeIndexOfPanels, testing::ValuesIn(large_kinds()),
                         testing::PrintToStringParamName());

TEST_P(LargeIndexOfPanels, OfCpus) {
  if (context.device().type != "cpu") GTEST_SKIP() << "these kernels are for CPUs";
  constexpr std::size_t kPanel = Trailing::kPanel;
  const Surface a = surface();
  const std::size_t strip = 2 * vector_width(context.device(), precision);
  const std::size_t threads = context.device().compute_units;
  const cl::Buffer w = elements(n * kPanel), w_next = elements(n * kPanel),
                   v = elements(ceiling(n, strip) * strip * kPanel),
                   packed = elements((n + n / 4 + 4 * strip) * strip),
                   noted = elements((2 + 2 * threads) * strip), rows = ipiv(),
                   info = context.zeros(1), work = context.zeros(16 + threads * 32 + 8 * 192);
  const bool even = end.first / kPanel % 2 == 0;
  const std::string options =
      " -DNB=" + std::to_string(kPanel) + cpu_tile_options(context.device(), precision);
  const auto kernel = [&](const char* function) {
    return KernelId{"cpu/lu_blocked.cl", function, precision, Storage::buffer, Texel::r, options};
  };
  context.run("test", kernel("factor_columns"), {threads}, a, w, packed, noted, rows, info,
              as_int(end.first), as_int(n), as_int(kPanel), cl_int{1}, work);
  context.run("test", kernel("factor_panels"), {threads}, a, even ? w : w_next, even ? w_next : w,
              v, packed, noted, rows, info, as_int(end.first), as_int(n), as_int(n), as_int(n),
              as_int(4 * strip), cl_int{12}, cl_int{512}, cl_int{1}, work);
  EXPECT_EQ(values_of<cl_int>(info, 1)[0], 0);
  expect_factored(a, rows);
}

/// The kernels of GPUs on any device, as in context_of_one_unit().
class LargeIndexOnGpus : public LargeIndexOfPanels {
 protected:
  LargeIndexOnGpus() : LargeIndexOfPanels(context_of_one_unit()) {}

  KernelId kernel(const char* file, const char* function, std::string options = "") const {
    options += " -DNB=64 -DGROUPS_MAX=64 -DPIVOT=1";
    if (has_matrix_units(context.device(), precision)) options += " -DLUGPU_NVIDIA";
    return {file, function, precision, Storage::buffer, Texel::rgba, options};
  }
};

INSTANTIATE_TEST_SUITE_P(Orders, LargeIndexOnGpus, testing::ValuesIn(large_kinds()),
                         testing::PrintToStringParamName());

// A panel, the interchanges and U right of it, the update; the next panel.
TEST_P(LargeIndexOnGpus, Panels) {
  constexpr std::size_t kPanel = Trailing::kPanel, kItems = 256, kTile = 128;
  const Surface a = surface();
  const std::size_t message_bytes = (kPanel * kPanel + 2 * 64 * 8) * 2 * sizeof(cl_ulong);
  const cl::Buffer messages = context.allocate(message_bytes), info = context.zeros(1),
                   rows = ipiv(), row_for = context.zeros(kPanel), goes_to = context.zeros(kPanel),
                   none = context.zeros(1);
  context.fill(messages, 0, message_bytes);
  for (std::size_t k = end.first; k < n; k += kPanel) {
    const std::size_t after = std::min(k + kPanel, n), width = after - k;
    const std::size_t before = k - kPanel;
    const bool updates = k > end.first;
    const update_panel panel = {as_int(k),
                                as_int(width),
                                as_int(after),
                                1,
                                updates ? as_int(before) : 0,
                                updates ? as_int(k) : 0};
    const update_region right = {as_int(after), as_int(n), as_int(before), as_int(k)};
    const std::size_t tiles =
        updates && after < n ? ceiling(n - after, kTile) * ceiling(n - k, kTile) : 0;
    const update_arguments launch = {as_int(n), panel, {}, tiles > 0 ? right : update_region{},
                                     {},        {},    0};
    context.run("test", kernel("gpu/lu_blocked.cl", "update_and_factor"), {(1 + tiles) * kItems}, a,
                launch, messages, rows, row_for, goes_to, info, none);
    const std::size_t left = k / kPanel, strips = left + ceiling(n - after, kPanel);
    context.run("test", kernel("gpu/lu_blocked.cl", "exchange_and_solve"), {strips * kItems}, a,
                as_int(n), as_int(k), as_int(width), cl_int{0}, as_int(left), as_int(n), row_for,
                goes_to, as_int(strips), split_block{}, none);
  }
  EXPECT_EQ(values_of<cl_int>(info, 1)[0], 0);
  expect_factored(a, rows);
}

TEST_P(LargeIndexOnGpus, PanelsByLaunches) {
  constexpr std::size_t kInner = 8, kWidth = 2 * kInner + 4;  // INNER of the kernel
  const Surface a = surface();
  const cl::Buffer rows = ipiv(), info = context.zeros(1);
  const std::size_t groups = ceiling(end.order, 128);
  const cl::Buffer places = context.zeros(2 * groups),
                   copies = elements((2 * (groups + 1) + kInner) * Trailing::kPanel);
  for (int j = -1; j < static_cast<int>(kWidth); ++j) {
    context.run("test", kernel("dense/panel_launches.cl", "eliminate_and_propose"), {groups * 256},
                a, as_int(n), as_int(end.first), as_int(kWidth), cl_int{j}, cl_int{1},
                as_int(groups), places, copies, rows, info);
  }
  // The rows of L below are not where all interchanges bring them.
  Matrix expected(end.order, kWidth);
  std::copy_n(end.lu.column(0), end.order * kWidth, expected.column(0));
  for (std::size_t k = end.order; k-- > kWidth;) swap_rows(expected, k, end.ipiv[k]);
  EXPECT_TRUE(same(read(a, end.first, end.first, end.order, kWidth), expected));
  Matrix unchanged(end.order, end.order - kWidth);
  std::copy_n(end.a.column(kWidth), end.order * (end.order - kWidth), unchanged.column(0));
  EXPECT_TRUE(
      same(read(a, end.first, end.first + kWidth, end.order, end.order - kWidth), unchanged));
}

TEST_P(LargeIndexOnGpus, ColumnsInRegisters) {
  Surface a = surface();
  const cl::Buffer rows = ipiv(), info = context.zeros(1);
  ResidentLu lu(context, end.order, end.order, precision,
                has_matrix_units(context.device(), precision));
  lu.factor(a, end.first, rows, info);
  EXPECT_EQ(values_of<cl_int>(info, 1)[0], 0);
  expect_factored(a, rows);
}

// Triangular solutions: of the last two blocks, X(K, :) and what it contributes to the other ones

class LargeIndexOfSolutions : public LargeIndexOnGpus {
 protected:
  static constexpr std::size_t kPanel = Trailing::kPanel, kColumns = 70;

  /// The last rows of X in a matrix of few columns.
  Surface x_with(const Matrix& last) {
    Surface x(context, n, kColumns, precision, Storage::buffer);
    lugpu::fill(context, x, 0);
    write(x, n - last.rows(), 0, last);
    return x;
  }

  const std::size_t first = (n - 1) / kPanel * kPanel - kPanel, middle = first + kPanel;
  const ExactFactors factors{n - first};
  const Matrix solution = integers(n - first, kColumns, 7);
};

INSTANTIATE_TEST_SUITE_P(Orders, LargeIndexOfSolutions, testing::ValuesIn(large_kinds()),
                         testing::PrintToStringParamName());

TEST_P(LargeIndexOfSolutions, OnGpus) {
  const auto solve = [&](const Surface& t, const Surface& x, std::size_t from, std::size_t to,
                         bool upper) {
    context.run("test", kernel("gpu/solve.cl", "solve_block"), {ceiling(kColumns, kPanel) * 256}, t,
                cl_int{0}, cl_int{0}, x, cl_int{0}, as_int(kColumns), as_int(from),
                as_int(to - from), cl_int{upper}, cl_int{!upper});
  };
  const auto subtract = [&](const Surface& t, const Surface& x, std::size_t k, std::size_t k_end,
                            std::size_t from, std::size_t to) {
    context.run("test", kernel("gpu/solve.cl", "subtract_block"), {256}, t, cl_int{0}, cl_int{0}, x,
                cl_int{0}, as_int(kColumns), as_int(k), as_int(k_end - k), as_int(from),
                as_int(to));
  };
  const Surface t = square_with(factors.l);
  const Surface below = x_with(product(factors.l, solution));
  solve(t, below, first, middle, false);
  subtract(t, below, first, middle, middle, n);
  solve(t, below, middle, n, false);
  EXPECT_TRUE(same(read(below, first, 0, n - first, kColumns), solution));

  const Surface rows = x_with(product(factors.l, solution));
  const cl::Buffer inverses = context.allocate(4 * kPanel * kPanel * element_size(precision));
  const cl::Buffer safe = context.zeros(2);
  context.run("test", kernel("gpu/rows_of_u.cl", "invert_blocks"), {2 * 256}, t, cl_int{0},
              cl_int{0}, as_int(first), as_int(kPanel), inverses, safe);
  context.run("test", kernel("gpu/rows_of_u.cl", "compute_rows"), {256}, t, cl_int{0}, cl_int{0},
              rows, cl_int{0}, as_int(kColumns), as_int(first), as_int(kPanel), inverses, safe);
  EXPECT_EQ(values_of<cl_int>(safe, 2), std::vector<cl_int>({1, 1}));
  subtract(t, rows, first, middle, middle, n);
  solve(t, rows, middle, n, false);
  const Matrix solved = read(rows, first, 0, n - first, kColumns);
  const double limit = precision == Precision::double_precision ? 1e-9 : 1e-3;
  for (std::size_t j = 0; j < kColumns; ++j) {  // inverses are rounded
    for (std::size_t i = 0; i < solved.rows(); ++i)
      ASSERT_NEAR(solved(i, j), solution(i, j), limit) << i << ", " << j;
  }

  write_corner(t, factors.u);
  const Surface above = x_with(product(factors.u, solution));
  solve(t, above, middle, n, true);
  subtract(t, above, middle, n, first, middle);
  solve(t, above, first, middle, true);
  EXPECT_TRUE(same(read(above, first, 0, n - first, kColumns), solution));
}

/// As the device solves, with its own kernels.
class LargeIndexOfBlocked : public LargeIndex {
 protected:
  /// The identity, and a few elements at the end of it in L and in U.
  Surface nearly_identity() {
    Surface a = square();
    lugpu::fill(context, a, 0);
    run("common/transfer.cl", "set_diagonal", {n}, a, as_int(n));
    write_corner(a, corner_);
    return a;
  }
  /// L U X
  Matrix right_hand_sides(const Matrix& x) const {
    Matrix b = x;
    Matrix l = corner_, u = corner_, last(kCorner, x.cols());
    for (std::size_t j = 0; j < kCorner; ++j) {
      for (std::size_t i = 0; i < kCorner; ++i) {
        if (i < j) l(i, j) = 0;
        if (i > j) u(i, j) = 0;
      }
    }
    for (std::size_t c = 0; c < x.cols(); ++c) {
      std::copy_n(x.column(c) + n - kCorner, kCorner, last.column(c));
    }
    put(b, n - kCorner, 0, product(l, product(u, last)));
    return b;
  }
  Surface surface_with(const Matrix& x) {
    Surface surface(context, n, x.cols(), precision, Storage::buffer);
    lugpu::fill(context, surface, 0);
    import_columns(context, vector(x), x.cols(), surface, 0);
    return surface;
  }

  const Matrix corner_ = [] {
    Matrix a = diagonal(kCorner, 1);
    a(kCorner - 1, 2) = a(kCorner - 2, kCorner - 3) = 2;   // L
    a(1, kCorner - 1) = a(kCorner - 4, kCorner - 2) = -1;  // U
    return a;
  }();
};

INSTANTIATE_TEST_SUITE_P(Orders, LargeIndexOfBlocked, testing::ValuesIn(large_kinds()),
                         testing::PrintToStringParamName());

// Few columns in one launch, or along the rows of the triangle; many by blocks.
TEST_P(LargeIndexOfBlocked, WholeTriangles) {
  if (takes_long()) GTEST_SKIP() << "a CPU takes a minute for so many elements";
  const Surface a = nearly_identity();
  const auto blocked = Blocked::make(context, {n, n, Pivot::partial, precision});
  for (const std::size_t columns : {2, 70}) {
    const Matrix x = integers(n, columns, columns);
    Surface solved = surface_with(right_hand_sides(x));
    blocked->solve(a, solved);
    EXPECT_TRUE(same(read(solved, 0, 0, n, columns), x)) << columns;
  }
}

// The last rows of X: by columns of L, and by rows of U.
TEST_P(LargeIndexOfBlocked, LastBlocks) {
  constexpr std::size_t kColumns = 70, kNb = 64;
  const std::size_t first = (n - 1) / kNb * kNb - kNb, rows = n - first;
  const ExactFactors factors(rows);
  const Matrix solution = integers(rows, kColumns, 7);
  const auto blocked = Blocked::make(context, {n, n, Pivot::partial, precision, kNb});
  const Surface t = square_with(factors.l);
  Surface x(context, n, kColumns, precision, Storage::buffer);
  lugpu::fill(context, x, 0);
  const auto blocks_of = [&](const Matrix& right, bool upper) {
    write(x, first, 0, right);
    const std::size_t middle = first + kNb;
    const Blocked::Triangle triangle{t, upper, !upper};
    const Blocked::Columns all{x, 0, kColumns};
    if (upper) {
      blocked->solve_rows(triangle, middle, n - middle, all);
      blocked->solve_rows(triangle, first, kNb, all);
    } else {
      blocked->solve_columns(triangle, first, kNb, all);
      blocked->solve_columns(triangle, middle, n - middle, all);
    }
    return read(x, first, 0, rows, kColumns);
  };
  EXPECT_TRUE(same(blocks_of(product(factors.l, solution), false), solution));
  write_corner(t, factors.u);
  EXPECT_TRUE(same(blocks_of(product(factors.u, solution), true), solution));
}

// cpu/solve_few.cl: the last two blocks of rows, when all before them are solved.
TEST_P(LargeIndexOfBlocked, LastRowsOfAFewColumns) {
  if (context.device().type != "cpu") GTEST_SKIP() << "this kernel is for CPUs";
  const std::size_t blocks = ceiling(n, kBlock), first = (blocks - 2) * kBlock, rows = n - first;
  const Matrix x = integers(n, 1, 2);
  Matrix l = integers(rows, n, 1);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = first; j < n; ++j) l(i, j) = j == first + i;
  }
  l(rows - 1, n - 3) = 2;
  const Surface t = square();
  write(t, first, 0, l);
  Matrix right = x;
  put(right, first, 0, product(l, x));
  Surface in_place = surface_with(right);
  const cl::Buffer solved = vector(x);
  const cl_int taken = as_int(blocks - 2);
  const KernelId few{
      "cpu/solve_few.cl",
      "solve_few",
      precision,
      Storage::buffer,
      Texel::r,
      " -DNB=64 -DBLOCK=32 -DCOLUMNS=4" + cpu_tile_options(context.device(), precision)};
  context.run("test", few, {2}, t, in_place, solved, buffer(std::vector<cl_int>{taken, taken}),
              as_int(n), cl_int{1}, cl_int{0}, cl_int{1});
  EXPECT_TRUE(same(read(in_place, first, 0, rows, 1), read(surface_with(x), first, 0, rows, 1)));
}

// C -= L U, where all but the last rows of L and the last columns of U are zero.
TEST_P(LargeIndexOfBlocked, UpdateOfAGpu) {
  if (context.device().type != "gpu") GTEST_SKIP() << "a CPU's is tested with its panels";
  Shape shape{n, n, Pivot::partial, precision};
  shape.nb = Blocked::block_size(context.device(), shape);
  const Matrix l = integers(kCorner, shape.nb, 1), u = integers(shape.nb, kCorner, 2);
  Matrix expected = integers(kCorner, kCorner, 3);
  Surface a = square();
  lugpu::fill(context, a, 0);
  write(a, n - kCorner, 0, l);
  write(a, 0, n - kCorner, u);
  write_corner(a, expected);
  const auto blocked = Blocked::make(context, shape);
  EXPECT_GT(blocked->multiply(a), 0U);
  const Matrix lu = product(l, u);
  for (std::size_t j = 0; j < kCorner; ++j) {
    for (std::size_t i = 0; i < kCorner; ++i) expected(i, j) -= lu(i, j);
  }
  EXPECT_TRUE(same(corner(a), expected));
  EXPECT_TRUE(
      same(read(a, n - 2 * kCorner, n - 2 * kCorner, kCorner, kCorner), Matrix(kCorner, kCorner)));
}

}  // namespace
}  // namespace lugpu

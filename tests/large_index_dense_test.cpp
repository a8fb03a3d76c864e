// Index arithmetic of transfers, of the passes of an elimination and of substitution.
#include <numeric>

#include "dense/substitution.hpp"
#include "large_index.hpp"

namespace lugpu {
namespace {

INSTANTIATE_TEST_SUITE_P(Orders, LargeIndex, testing::ValuesIn(large_kinds()),
                         testing::PrintToStringParamName());

// common/transfer.cl

TEST_P(LargeIndex, ImportAndExportOfColumns) {
  Surface a = square();
  Matrix expected = before(n, 6);
  write(a, 0, n - 6, expected);
  const Matrix columns = integers(n, 3, 1);
  import_columns(context, vector(columns), 3, a, n - 3);
  put(expected, 0, 3, columns);
  EXPECT_TRUE(same(read(a, 0, n - 6, n, 6), expected));
  EXPECT_TRUE(same(vector_of(export_columns(context, a, n - 6, 6), n, 6), expected));
}

TEST_P(LargeIndex, ImportAndExportOfRows) {
  Surface a = square();
  Matrix expected = before(6, n);
  write(a, n - 6, 0, expected);
  const Matrix rows = integers(3, n, 1);
  import_rows(context, vector(transposed(rows)), 3, n, a, n - 3);
  put(expected, 3, 0, rows);
  EXPECT_TRUE(same(read(a, n - 6, 0, 6, n), expected));

  const cl::Buffer all = elements(n * n);
  write(all, n, n - 6, 0, before(6, n));
  run("common/transfer.cl", "export_rows", {n, 4, 0, n - 4}, a, all, as_int(n), as_int(n));
  Matrix exported = before(6, n);
  for (std::size_t i = 2; i < 6; ++i) {
    for (std::size_t j = 0; j < n; ++j) exported(i, j) = expected(i, j);
  }
  EXPECT_TRUE(same(read(all, n, n - 6, 0, 6, n), exported));
}

TEST_P(LargeIndex, Diagonal) {
  Matrix expected = before();
  const Surface a = square_with(expected);
  run("common/transfer.cl", "set_diagonal", {64, 1, n - 64}, a, as_int(n));
  for (std::size_t i = 0; i < kCorner; ++i) expected(i, i) = 1;
  EXPECT_TRUE(same(corner(a), expected));

  for (std::size_t i = 0; i < kCorner; ++i) expected(i, i) = static_cast<double>(i);
  write_corner(a, expected);
  const cl::Buffer diagonal = vector(Matrix(n, 1));
  run("common/transfer.cl", "export_diagonal", {64, 1, n - 64}, a, diagonal, as_int(n));
  const Matrix exported = vector_of(diagonal, n);
  for (std::size_t i = 0; i < kCorner; ++i) {
    EXPECT_EQ(exported(n - kCorner + i, 0), expected(i, i));
  }
}

// The first columns to the first rows, and the first rows to the first columns.
TEST_P(LargeIndex, Transposition) {
  const Surface source = square(), target = square();
  const Matrix values = integers(n, 16, 1);
  write(source, 0, 0, values);
  run("common/transfer.cl", "transpose", {16, ceiling(n, 16) * 16}, source, target, as_int(n),
      as_int(n));
  EXPECT_TRUE(same(read(target, 0, 0, 16, n), transposed(values)));

  write(source, 0, 0, transposed(values));
  write(target, 0, 16, before(n, 2));
  run("common/transfer.cl", "transpose", {ceiling(n, 16) * 16, 16}, source, target, as_int(n),
      as_int(n));
  Matrix expected(n, 18);
  put(expected, 0, 0, values);
  put(expected, 0, 16, before(n, 2));
  EXPECT_TRUE(same(read(target, 0, 0, n, 18), expected));
}

// As many right-hand sides as there are rows, by columns.
TEST_P(LargeIndex, InterchangesOfRightHandSides) {
  const cl::Buffer in = elements(n * n), out = elements(n * n);
  const Matrix values = integers(n, 3, 1, 100);
  write(in, n, n - 3, 0, transposed(values));
  write(out, n, n - 3, 0, transposed(before(n, 3)));
  std::vector<cl_int> order(n);
  std::iota(order.rbegin(), order.rend(), 0);
  run("common/transfer.cl", "gather_rows", {n, 2, 0, n - 2}, in, out, buffer(order), as_int(n));
  Matrix expected = before(n, 3);
  for (std::size_t j = 1; j < 3; ++j) {
    for (std::size_t i = 0; i < n; ++i) expected(i, j) = values(n - 1 - i, j);
  }
  EXPECT_TRUE(same(transposed(read(out, n, n - 3, 0, 3, n)), expected));
}

// dense/passes.cl: the steps of the paper

TEST_P(LargeIndex, CopiesOfRowsAndColumns) {
  const Matrix values = integers(kCorner, kCorner, 1);
  Matrix expected = before();
  const Surface source = square_with(values), target = square_with(expected);
  pass("copy_row", {8}, source, target, as_int(n - 2), as_int(n - 8), as_int(n));
  for (std::size_t j = kCorner - 8; j < kCorner; ++j) {
    expected(kCorner - 2, j) = values(kCorner - 2, j);
  }
  pass("copy_column", {8}, source, target, as_int(n - 1), as_int(n - 8), as_int(n));
  for (std::size_t i = kCorner - 8; i < kCorner; ++i) {
    expected(i, kCorner - 1) = values(i, kCorner - 1);
  }
  EXPECT_TRUE(same(corner(target), expected));
}

TEST_P(LargeIndex, InterchangesOfRows) {
  const Matrix values = integers(kCorner, kCorner, 1, 100);
  const Surface source = square_with(values), target = square_with(before());
  Matrix expected = values;
  swap_rows(expected, kCorner - 5, kCorner - 1);
  const cl_int a = as_int(n - 5), b = as_int(n - 1), first = as_int(n - kCorner);
  pass("exchange_rows", {kCorner}, source, target, a, b, first, as_int(n));
  Matrix half = before();
  for (const std::size_t i : {kCorner - 5, kCorner - 1}) {
    for (std::size_t j = 0; j < kCorner; ++j) half(i, j) = expected(i, j);
  }
  EXPECT_TRUE(same(corner(target), half));
  pass("copy_rows", {kCorner}, target, source, a, b, first, as_int(n));
  EXPECT_TRUE(same(corner(source), expected));
}

TEST_P(LargeIndex, InterchangesOfColumns) {
  const Matrix values = integers(n, kCorner, 1, 100);
  const Surface source = square_with(values), target = square_with(before(n));
  Matrix expected = values;
  swap_columns(expected, kCorner - 5, kCorner - 1);
  const cl_int a = as_int(n - 5), b = as_int(n - 1);
  pass("exchange_columns", {n}, source, target, a, b, as_int(n));
  Matrix half = before(n);
  for (const std::size_t j : {kCorner - 5, kCorner - 1}) {
    std::copy_n(expected.column(j), n, half.column(j));
  }
  EXPECT_TRUE(same(corner(target, n), half));
  pass("copy_columns", {n}, target, source, a, b, as_int(n));
  EXPECT_TRUE(same(corner(source, n), expected));
}

TEST_P(LargeIndex, DivisionsByThePivot) {
  constexpr std::size_t kStep = kCorner - 4;
  Matrix values = integers(kCorner, kCorner, 1);
  values(kStep, kStep) = 4;
  Matrix expected = before();
  const Surface source = square_with(values), target = square_with(expected);
  const cl::Buffer pivots = vector(Matrix(n, 1));
  pass("normalize_column", {4}, source, target, pivots, as_int(n - 4), as_int(n));
  for (std::size_t i = kStep; i < kCorner; ++i) {
    expected(i, kStep) = i == kStep ? 4 : values(i, kStep) / 4;
  }
  EXPECT_TRUE(same(corner(target), expected));
  EXPECT_EQ(vector_of(pivots, n)(n - 4, 0), 4);

  pass("normalize_row", {4}, source, target, pivots, as_int(n - 4), as_int(n));
  for (std::size_t j = kStep; j < kCorner; ++j) expected(kStep, j) = values(kStep, j) / 4;
  EXPECT_TRUE(same(corner(target), expected));
}

TEST_P(LargeIndex, TrailingUpdate) {
  constexpr std::size_t kStep = kCorner - 5;
  const Matrix values = integers(kCorner, kCorner, 1);
  Matrix expected = before();
  const Surface source = square_with(values), target = square_with(expected);
  pass("update_trailing", {4, 4}, source, target, as_int(n - 5), as_int(n));
  for (std::size_t j = kStep + 1; j < kCorner; ++j) {
    for (std::size_t i = kStep + 1; i < kCorner; ++i) {
      expected(i, j) = values(i, j) - values(i, kStep) * values(kStep, j);
    }
  }
  EXPECT_TRUE(same(corner(target), expected));
}

TEST_P(LargeIndex, EliminationOfAColumn) {
  constexpr std::size_t kStep = kCorner - 2;
  Matrix values = integers(n, kCorner, 1);
  const std::size_t k = n - 2;
  values(k, kStep - 1) = 0;
  Matrix expected = before(n);
  const Surface source = square_with(values), target = square_with(expected);
  pass("eliminate_column", {3, n}, source, target, as_int(k), as_int(k - 1), as_int(n), as_int(n));
  for (std::size_t j = kStep - 1; j < kCorner; ++j) {
    for (std::size_t i = 0; i < n; ++i) {
      const double factor = i == k || j < kStep ? 0 : values(i, kStep);
      expected(i, j) = values(i, j) - factor * values(k, j);
    }
  }
  EXPECT_TRUE(same(corner(target, n), expected));
}

TEST_P(LargeIndex, SearchesForPivots) {
  const std::size_t k = n - 6, origin = n - kCorner;
  constexpr std::size_t kStep = kCorner - 6;
  Matrix values = integers(kCorner, kCorner, 1);
  values(kCorner - 2, kStep) = -5;
  values(kCorner - 1, kCorner - 3) = 8;
  values(kCorner - 2, kCorner - 3) = 7;
  const Surface source = square_with(values);
  const cl::Buffer places = buffer(std::vector<PlaceInt>(n)), sizes = vector(filled(n, 1, 1));
  const auto found = [&] { return values_of<PlaceInt>(places, n)[k]; };
  const PlaceInt of_column{as_int(n - 2), as_int(k)}, of_all{as_int(n - 1), as_int(n - 3)};

  pass("search_column", {256}, source, places, as_int(k), as_int(n));
  EXPECT_EQ(found(), of_column);
  pass("search_scaled", {256}, source, sizes, places, as_int(k), as_int(n));
  EXPECT_EQ(found(), of_column);
  pass("search_rook", {256}, source, places, as_int(k), as_int(n));
  EXPECT_EQ(found(), of_all);

  const cl::Buffer magnitudes = elements(16 * n), rows = context.zeros(16 * n);
  pass("search_each_column", {6, 16}, source, magnitudes, rows, as_int(k), as_int(n));
  pass("search_candidates", {256}, magnitudes, rows, places, as_int(k), as_int(n), cl_int{16});
  EXPECT_EQ(found(), of_all);
  EXPECT_EQ(largest(values, kStep, kCorner),
            (PlaceInt{as_int(n - 1 - origin), as_int(n - 3 - origin)}));
}

TEST_P(LargeIndex, SizesOfRows) {
  const Matrix values = integers(64, n, 1, 1000);
  const Surface source = square();
  write(source, n - 64, 0, values);
  const cl::Buffer sizes = vector(Matrix(n, 1));
  pass("measure_rows", {64, 1, n - 64}, source, sizes, as_int(n));
  const Matrix measured = vector_of(sizes, n);
  for (std::size_t i = 0; i < 64; ++i) {
    double size = 0;
    for (std::size_t j = 0; j < n; ++j) size = std::max(size, std::abs(values(i, j)));
    EXPECT_EQ(measured(n - 64 + i, 0), size) << i;
  }
}

// The last rows of L are interchanged by the last step but one, and the last columns of U.
TEST_P(LargeIndex, FinishedFactors) {
  std::vector<PlaceInt> places(n);
  for (std::size_t k = 0; k < n; ++k) places[k] = {as_int(k), as_int(k)};
  places[n - 2] = {as_int(n - 1), as_int(n - 1)};
  const cl::Buffer on_device = buffer(places), pivots = vector(filled(n, 1, 4));
  const Surface source = square(), target = square();

  Matrix rows = integers(64, n, 1);
  write(source, n - 64, 0, rows);
  pass("finish_lower", {64, 1, n - 64}, source, target, on_device, pivots, as_int(n), cl_int{1},
       cl_int{1});
  for (std::size_t j = 0; j < n; ++j) {
    if (j < n - 2) std::swap(rows(62, j), rows(63, j));
    for (std::size_t i = 0; i < 64; ++i) rows(i, j) /= j < n - 64 + i ? 4 : 1;
  }
  EXPECT_TRUE(same(read(target, n - 64, 0, 64, n), rows));

  Matrix columns = integers(n, 64, 1);
  write(source, 0, n - 64, columns);
  pass("finish_upper", {64, 1, n - 64}, source, target, on_device, as_int(n), cl_int{1});
  for (std::size_t i = 0; i + 2 < n; ++i) std::swap(columns(i, 62), columns(i, 63));
  EXPECT_TRUE(same(read(target, 0, n - 64, n, 64), columns));
}

// With the last block of rows.
TEST_P(LargeIndex, SubstitutionWithTheFactors) {
  const std::size_t first = n - kBlock;
  const ExactFactors factors(kBlock);
  Matrix lu = factors.u;
  for (std::size_t j = 0; j < kBlock; ++j) {
    for (std::size_t i = j + 1; i < kBlock; ++i) lu(i, j) = factors.l(i, j);
  }
  const Surface a = square_with(lu);
  const Matrix solution = integers(kBlock, 1, 2);
  const auto column_with = [&](const Matrix& last) {
    Matrix column(n, 1);
    put(column, first, 0, last);
    return vector(column);
  };
  const auto last_of = [&](const cl::Buffer& x) {
    Matrix last(kBlock, 1);
    std::copy_n(vector_of(x, n).column(0) + first, kBlock, last.column(0));
    return last;
  };
  cl::Buffer x = column_with(product(factors.l, solution));
  pass("forward_block", {kBlock}, a, x, as_int(first), as_int(n), cl_int{0});
  EXPECT_TRUE(same(last_of(x), solution));
  x = column_with(product(factors.u, solution));
  pass("back_block", {kBlock}, a, x, as_int(first), as_int(n), cl_int{0});
  EXPECT_TRUE(same(last_of(x), solution));
  x = column_with(solution);
  pass("subtract_block", {4, 1}, a, x, as_int(n - 4), as_int(n), as_int(first), as_int(n - 4),
       as_int(n), cl_int{0});
  Matrix expected = solution;
  for (std::size_t i = kBlock - 4; i < kBlock; ++i) {
    for (std::size_t j = 0; j + 4 < kBlock; ++j) expected(i, 0) -= lu(i, j) * solution(j, 0);
  }
  EXPECT_TRUE(same(last_of(x), expected));
}

// As many right-hand sides as there are rows, of which the last two are filled.
TEST_P(LargeIndex, SubstitutionForManyColumns) {
  const std::size_t first = n - kBlock;
  const ExactFactors factors(kBlock);
  const Surface a = square_with(factors.l);
  const Matrix solution = integers(kBlock, 2, 2);
  const cl::Buffer x = elements(n * n);
  write(x, n, n - 2, first, transposed(product(factors.l, solution)));
  pass("forward_block", {n * kBlock}, a, x, as_int(first), as_int(n), cl_int{0});
  EXPECT_TRUE(same(transposed(read(x, n, n - 2, first, 2, kBlock)), solution));
  pass("subtract_block", {4, 2, 0, n - 2}, a, x, as_int(n - 4), as_int(n), as_int(first),
       as_int(n - 4), as_int(n), cl_int{0});
  Matrix expected = solution;
  for (std::size_t i = kBlock - 4; i < kBlock; ++i) {
    for (std::size_t j = 0; j + 4 < kBlock; ++j) {
      for (std::size_t c = 0; c < 2; ++c) expected(i, c) -= factors.l(i, j) * solution(j, c);
    }
  }
  EXPECT_TRUE(same(transposed(read(x, n, n - 2, first, 2, kBlock)), expected));
}

// dense/move_rows.cl, of several devices, in packs of 16 bytes
TEST_P(LargeIndex, MovesOfRows) {
  const Matrix values = integers(kCorner, kCorner, 1, 100);
  const Surface a = square_with(values).with_texel(Texel::rgba);
  const Surface moved(context, 4, n, precision, Storage::buffer, Texel::rgba);
  const std::size_t packs = a.texels(0, n), first = a.texels(0, n - kCorner);
  std::vector<cl_int> from_end = {1, 2, 9, 9, 1, 2};
  for (cl_int& row : from_end) row = as_int(n) - row;
  const cl::Buffer rows = buffer(from_end);
  const auto move = [&](const char* function, const char* options) {
    const std::size_t columns = *options == 0 ? packs - first : 1;
    context.run("test", a.kernel("dense/move_rows.cl", function, options), {columns, 2}, a, moved,
                rows, cl_int{0}, cl_int{3}, as_int(n), as_int(first), cl_int{3},
                as_int(packs - first));
  };
  move("take_rows", "");
  move("put_rows", " -DLUGPU_BY_ROWS");
  Matrix expected = values;
  const std::size_t begin = first * a.pack() - (n - kCorner);
  for (std::size_t j = begin; j < kCorner; ++j) {
    expected(kCorner - 9, j) = values(kCorner - 1, j);
    expected(kCorner - 1, j) = values(kCorner - 2, j);
    expected(kCorner - 2, j) = values(kCorner - 9, j);
  }
  EXPECT_TRUE(same(corner(a), expected));
  const Surface panel(context, 5, kCorner - begin, precision, Storage::buffer, Texel::rgba);
  context.run("test", a.kernel("dense/move_rows.cl", "copy_columns"), {packs - first, 3}, a, panel,
              as_int(n - 3), as_int(first), cl_int{2}, cl_int{0}, cl_int{3}, as_int(packs - first));
  Matrix copied(3, kCorner - begin);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = begin; j < kCorner; ++j) {
      copied(i, j - begin) = expected(kCorner - 3 + i, j);
    }
  }
  EXPECT_TRUE(same(read(panel, 2, 0, 3, kCorner - begin), copied));
}

// dense/subtract_rows.cl: more than 16 products, and some more
TEST_P(LargeIndex, ProductsForFewRightHandSides) {
  constexpr std::size_t kRows = 3, kDepth = 21, kEnd = kRows + kDepth;
  const Matrix t = integers(kRows, kDepth, 1), before = integers(kEnd, 2, 2);
  const Surface a = square();
  write(a, n - kRows, n - kEnd, t);
  Matrix expected = before;
  for (std::size_t i = 0; i < kRows; ++i) {
    for (std::size_t c = 0; c < 2; ++c) {
      for (std::size_t q = 0; q < kDepth; ++q) expected(kDepth + i, c) -= t(i, q) * before(q, c);
    }
  }
  const Surface x(context, n, 2, precision, Storage::buffer);
  for (const auto& [option, lanes] :
       {std::pair<const char*, std::size_t>{" -DLUGPU_BY_ROWS", 1}, {"", 16}}) {
    write(x, n - kEnd, 0, before);
    context.run("test", x.kernel("dense/subtract_rows.cl", "subtract_rows", option),
                {kRows * lanes, 2}, a, x, cl_int{0}, cl_int{0}, as_int(n - kEnd), as_int(kDepth),
                as_int(n - kRows), as_int(n));
    EXPECT_TRUE(same(read(x, n - kEnd, 0, kEnd, 2), expected)) << option;
  }
}

// More work-groups along the second dimension of a launch than 16 bits count

constexpr Precision kSingle = Precision::single_precision;

TEST(LargeLaunches, ManyRightHandSides) {
  constexpr std::size_t kColumns = 70000, kOrder = kBlock + 1;
  DeviceContext& context = shared_context();
  const ExactFactors factors(kOrder);
  const Surface lu = surface_of(context, {kSingle, Storage::buffer}, factors.l);
  const Matrix solution = integers(kOrder, kColumns, 1);
  const cl::Buffer x = upload(context, product(factors.l, solution), kSingle);
  forward_substitution(context, lu, x, kColumns, Op::none);
  EXPECT_TRUE(same(download(context, x, kOrder, kColumns, kSingle), solution));

  std::vector<int> order(kOrder);
  std::iota(order.rbegin(), order.rend(), 0);
  const cl::Buffer turned = context.allocate(kOrder * kColumns * sizeof(float));
  gather_rows(context, x, turned, order, kColumns, kSingle);
  Matrix expected = solution;
  for (std::size_t j = 0; j < kColumns; ++j) {
    std::reverse(expected.column(j), expected.column(j) + kOrder);
  }
  EXPECT_TRUE(same(download(context, turned, kOrder, kColumns, kSingle), expected));
}

TEST(LargeLaunches, ManyRows) {
  constexpr std::size_t kRows = 300000, kColumns = 3;
  DeviceContext& context = shared_context();
  const Matrix values = integers(kRows, kColumns, 1);
  const Surface a = surface_of(context, {kSingle, Storage::buffer}, values);
  EXPECT_TRUE(same(contents(context, a), values));
  const cl::Buffer rows = export_rows(context, a);
  EXPECT_TRUE(same(transposed(download(context, rows, kColumns, kRows, kSingle)), values));
  Surface again(context, kRows, kColumns, kSingle, Storage::buffer);
  import_rows(context, rows, kRows, kColumns, again, 0);
  EXPECT_TRUE(same(contents(context, again), values));
}

}  // namespace
}  // namespace lugpu

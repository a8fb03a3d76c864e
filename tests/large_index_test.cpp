// Index arithmetic: one step of every kernel that can meet 2^31 elements or more, at the ends of
// such a matrix, and the same at the ends of a small one, so that the tests themselves are proven
// where there is no room (PoCL allocates about a quarter of the memory at once). All numbers are
// such that nothing is rounded: the device has to give what the host does. What no kernel of a test
// touches is not even filled.
//
// Not here: images, whose texels have a row and a column; batches, of which a buffer has fewer than
// 2^31 elements; what the host limits, which are the orders of matrices in registers (full
// pivoting) and in one launch (no pivoting), the rows of sparse matrices, and the fields of
// multigrid, fast diagonalization and fluids.
#include <sys/prctl.h>

#include <numeric>

#include "base/host_memory.hpp"
#include "dense/blocked.hpp"
#include "dense/matrix_units.hpp"
#include "dense/resident_lu.hpp"
#include "dense/substitution.hpp"
#include "dense/tiling.hpp"
#include "factors.hpp"
#include "kernels/gpu/update_arguments.h"
#include "opencl/cpu_tile.hpp"
#include "operators/double_matrix.hpp"
#include "operators/grid_operator.hpp"

namespace lugpu {
namespace {

using Place = std::array<cl::size_type, 3>;

constexpr std::size_t kCorner = 16;  // rows and columns at the ends that are filled, or more
constexpr std::size_t kBlock = 32;   // BLOCK of dense/substitute.clh

cl_int as_int(std::size_t value) {
  return static_cast<cl_int>(value);
}

/// Random integers from -most to most.
Matrix integers(std::size_t rows, std::size_t columns, std::uint64_t seed, double most = 3) {
  Matrix a = random_matrix(rows, columns, seed);
  for (double& value : a.values()) value = std::round(2 * most * value);
  return a;
}

Matrix transposed(const Matrix& a) {
  Matrix t(a.cols(), a.rows());
  for (std::size_t j = 0; j < a.cols(); ++j) {
    for (std::size_t i = 0; i < a.rows(); ++i) t(j, i) = a(i, j);
  }
  return t;
}

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c(a.rows(), b.cols());
  for (std::size_t j = 0; j < b.cols(); ++j) {
    for (std::size_t k = 0; k < a.cols(); ++k) {
      for (std::size_t i = 0; i < a.rows(); ++i) c(i, j) += a(i, k) * b(k, j);
    }
  }
  return c;
}

/// Rows (or columns) at the beginning of others.
void put(Matrix& a, std::size_t row, std::size_t column, const Matrix& part) {
  for (std::size_t j = 0; j < part.cols(); ++j) {
    std::copy_n(part.column(j), part.rows(), a.column(column + j) + row);
  }
}

void swap_rows(Matrix& a, std::size_t i, std::size_t k) {
  for (std::size_t j = 0; j < a.cols(); ++j) std::swap(a(i, j), a(k, j));
}
void swap_columns(Matrix& a, std::size_t j, std::size_t k) {
  for (std::size_t i = 0; i < a.rows(); ++i) std::swap(a(i, j), a(i, k));
}

/// The same numbers; 0 is -0 too.
testing::AssertionResult same(Matrix actual, Matrix expected) {
  for (double& value : actual.values()) value += 0.0;
  for (double& value : expected.values()) value += 0.0;
  return equal(actual, expected);
}

/// L, unit lower triangular, and U; U's diagonal is powers of two, of which the first is at least
/// twice as large as what L has below it. `falling`: and larger than all that is left to eliminate.
struct ExactFactors {
  ExactFactors(std::size_t n, bool falling = false)
      : l(integers(n, n, n, 2)), u(integers(n, n, n + 1, 2)) {
    for (std::size_t j = 0; j < n; ++j) {
      const double pivot = falling ? std::ldexp(1, 2 * static_cast<int>(n - 1 - j)) : 4;
      for (std::size_t i = 0; i < n; ++i) {
        l(i, j) = i < j ? 0 : i == j ? 1 : l(i, j) / 4;
        u(i, j) = i > j ? 0 : i == j ? pivot : u(i, j);
      }
    }
  }
  Matrix l, u;
};

struct PlaceInt {
  cl_int row, column;
  bool operator==(const PlaceInt&) const = default;
};
void PrintTo(const PlaceInt& place, std::ostream* out) {
  *out << "(" << place.row << ", " << place.column << ")";
}

/// The first element of largest magnitude of the rows from k on and columns k : end.
PlaceInt largest(const Matrix& a, std::size_t k, std::size_t end) {
  PlaceInt best{as_int(k), as_int(k)};
  for (std::size_t j = k; j < end; ++j) {
    for (std::size_t i = k; i < a.rows(); ++i) {
      if (std::abs(a(i, j)) > std::abs(a(best.row, best.column))) best = {as_int(i), as_int(j)};
    }
  }
  return best;
}

struct LargeKind {
  Precision precision;
  std::size_t n;
};
void PrintTo(const LargeKind& kind, std::ostream* out) {
  *out << name(kind.precision) << "_" << kind.n;
}

/// A small order, the first one whose matrix has more than 2^31 elements, and 2^16, whose matrix
/// has more than 2^32 with its padding.
std::vector<LargeKind> large_kinds() {
  std::vector<LargeKind> kinds;
  for (const std::size_t n : {326, 46342, 65536}) {
    kinds.push_back({Precision::single_precision, n});
    kinds.push_back({Precision::double_precision, n});
  }
  return kinds;
}

std::vector<LargeKind> large_doubles() {
  std::vector<LargeKind> kinds = large_kinds();
  std::erase_if(
      kinds, [](const LargeKind& kind) { return kind.precision != Precision::double_precision; });
  return kinds;
}

/// Matrices of order n, two of which have to fit.
class LargeIndex : public testing::TestWithParam<LargeKind> {
 protected:
  explicit LargeIndex(DeviceContext& of = shared_context()) : context(of) {}

  /// On a CPU, a column of a large matrix takes a page of memory for each row, and not a huge one.
  static void SetUpTestSuite() { prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); }

  void SetUp() override {
    const Device& device = context.device();
    const std::string missing = missing_on(handle_of(device), {precision, Storage::buffer});
    if (!missing.empty()) GTEST_SKIP() << device.name << ": " << missing;
    const std::uint64_t bytes =
        n * Surface::pitch_of(n, precision, Storage::buffer) * element_size(precision);
    if (bytes > device.max_allocation) {
      GTEST_SKIP() << device.name << " allocates " << gigabytes(double(device.max_allocation))
                   << " at once, and a matrix has " << gigabytes(double(bytes));
    }
    // Of a matrix on a CPU, what is not touched takes no memory.
    constexpr double kTouched = 4e9;
    const bool on_cpu = device.type == "cpu";
    const double room = on_cpu ? double(host_memory()) : double(device.global_memory);
    if ((on_cpu ? 1 : 2.2) * double(bytes) > room) {
      GTEST_SKIP() << device.name << " has " << gigabytes(room) << " of memory, and a matrix has "
                   << gigabytes(double(bytes));
    }
    if (on_cpu && n > 1000 && host_memory_left() < kTouched) {
      GTEST_SKIP() << gigabytes(host_memory_left()) << " of the host's memory are left";
    }
  }

  /// To fill a matrix and to read all of it.
  bool takes_long() const { return context.device().type == "cpu" && n > 1000; }

  Surface square() { return Surface(context, n, n, precision, Storage::buffer); }

  /// Rows and columns from (row, column) on of a row-major buffer.
  template <typename Real>
  void write(const cl::Buffer& to, std::size_t pitch, std::size_t row, std::size_t column,
             const Matrix& values) {
    const Matrix by_rows = transposed(values);
    const std::vector<Real> elements(by_rows.values().begin(), by_rows.values().end());
    const std::size_t width = values.cols() * sizeof(Real);
    context.queue().enqueueWriteBufferRect(to, CL_TRUE, Place{column * sizeof(Real), row, 0},
                                           Place{}, Place{width, values.rows(), 1},
                                           pitch * sizeof(Real), 0, width, 0, elements.data());
  }
  template <typename Real>
  Matrix read(const cl::Buffer& from, std::size_t pitch, std::size_t row, std::size_t column,
              std::size_t rows, std::size_t columns) {
    std::vector<Real> elements(rows * columns);
    const std::size_t width = columns * sizeof(Real);
    context.queue().enqueueReadBufferRect(from, CL_TRUE, Place{column * sizeof(Real), row, 0},
                                          Place{}, Place{width, rows, 1}, pitch * sizeof(Real), 0,
                                          width, 0, elements.data());
    return transposed(Matrix(columns, rows, {elements.begin(), elements.end()}));
  }
  void write(const cl::Buffer& to, std::size_t pitch, std::size_t row, std::size_t column,
             const Matrix& values) {
    if (precision == Precision::double_precision) {
      write<double>(to, pitch, row, column, values);
    } else {
      write<float>(to, pitch, row, column, values);
    }
  }
  void write(const Surface& to, std::size_t row, std::size_t column, const Matrix& values) {
    write(buffer_of(to), to.pitch(), row, column, values);
  }
  Matrix read(const cl::Buffer& from, std::size_t pitch, std::size_t row, std::size_t column,
              std::size_t rows, std::size_t columns) {
    return precision == Precision::double_precision
               ? read<double>(from, pitch, row, column, rows, columns)
               : read<float>(from, pitch, row, column, rows, columns);
  }
  Matrix read(const Surface& from, std::size_t row, std::size_t column, std::size_t rows,
              std::size_t columns) {
    return read(buffer_of(from), from.pitch(), row, column, rows, columns);
  }
  static cl::Buffer buffer_of(const Surface& surface) {
    return cl::Buffer(surface.memory()(), true);
  }

  /// The last rows and columns.
  void write_corner(const Surface& to, const Matrix& values) {
    write(to, n - values.rows(), n - values.cols(), values);
  }
  Matrix corner(const Surface& from, std::size_t rows = kCorner, std::size_t columns = kCorner) {
    return read(from, n - rows, n - columns, rows, columns);
  }
  /// A matrix of which the corner is filled.
  Surface square_with(const Matrix& values) {
    Surface surface = square();
    write_corner(surface, values);
    return surface;
  }
  /// Other numbers than integers() has, to be overwritten or left.
  static Matrix before(std::size_t rows = kCorner, std::size_t columns = kCorner) {
    Matrix a(rows, columns);
    std::iota(a.values().begin(), a.values().end(), 1000.0);
    return a;
  }

  template <typename T>
  cl::Buffer buffer(const std::vector<T>& values) {
    cl::Buffer written = context.allocate(values.size() * sizeof(T));
    context.queue().enqueueWriteBuffer(written, CL_TRUE, 0, values.size() * sizeof(T),
                                       values.data());
    return written;
  }
  template <typename T>
  std::vector<T> values_of(const cl::Buffer& from, std::size_t count) {
    std::vector<T> values(count);
    context.read_back("test", from, 0, count * sizeof(T), values.data());
    return values;
  }
  cl::Buffer vector(const Matrix& values) { return upload(context, values, precision); }
  Matrix vector_of(const cl::Buffer& from, std::size_t count, std::size_t columns = 1) {
    return download(context, from, count, columns, precision);
  }
  cl::Buffer elements(std::size_t count) {
    return context.allocate(count * element_size(precision));
  }

  template <typename... Arguments>
  void run(const char* file, const char* function, Items items, const Arguments&... arguments) {
    context.run("test", {file, function, precision, Storage::buffer}, items, arguments...);
  }
  template <typename... Arguments>
  void pass(const char* function, Items items, const Arguments&... arguments) {
    run("dense/passes.cl", function, items, arguments...);
  }

  DeviceContext& context;
  const Precision precision = GetParam().precision;
  const std::size_t n = GetParam().n;
};

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

// dense/fused.cl and dense/full_pivoting.cl, cut into work-groups as for the device

class LargeIndexOfSteps : public LargeIndex {
 protected:
  /// As for this device, and on CPUs as for a GPU too.
  std::vector<Tiling> tilings(Pivot pivot) const {
    DenseOptions options;
    options.precision = precision;
    options.storage = Storage::buffer;
    options.pivot = pivot;
    Device device = context.device();
    std::vector<Tiling> cuts = {Tiling::make(device, Size::square(n, 0), options, n)};
    if (device.type == "gpu") return cuts;
    device.type = "gpu";
    cuts.push_back(Tiling::make(device, Size::square(n, 0), options, n));
    return cuts;
  }
  /// A CPU builds what is for GPUs without optimizations, in less time.
  std::string build_options(const Tiling& cut) const {
    const bool quick = context.device().type == "cpu" && cut.tile.lanes > 1;
    return cut.options() + (quick ? " -cl-opt-disable" : "");
  }
  /// Where the pivot of step k is, among all places.
  cl::Buffer places_with(std::size_t k, const PlaceInt& place) {
    std::vector<PlaceInt> places(n);
    places[k] = place;
    return buffer(places);
  }
  PlaceInt place_at(const cl::Buffer& places, std::size_t k) {
    return values_of<PlaceInt>(places, n)[k];
  }
  /// Of the corner.
  PlaceInt in_corner(PlaceInt place) const {
    return {place.row - as_int(n - kCorner), place.column - as_int(n - kCorner)};
  }

  /// One step of dense/fused.cl, which may have several in a launch on CPUs, and the choice of the
  /// next pivot.
  void fused_step(const std::string& prefix, const char* pivot, const Tiling& cut,
                  const Surface& source, const Surface& target, const cl::Buffer& places,
                  std::size_t k, std::size_t first_row, std::size_t first_column) {
    const Candidates candidates(context, cut, precision);
    const cl::Buffer pivots = vector(Matrix(n, 1));
    const auto kernel = [&](const std::string& name) {
      return KernelId{"dense/fused.cl", name.c_str(), precision,
                      Storage::buffer,  Texel::r,     build_options(cut)};
    };
    if (cut.tile.lanes == 1) {
      const std::string steps = prefix + "_steps_" + pivot;
      context.run("test", kernel(steps), {context.device().compute_units}, source, target, places,
                  pivots, candidates.magnitudes, candidates.places, as_int(k), as_int(k + 1),
                  as_int(n), as_int(n), as_int(cut.most_groups), context.zeros(cut.phase_ints()));
    } else {
      const std::string step = prefix + "_step_" + pivot, choose = "choose_pivot";
      const Tiling::Launch launch = cut.launch(first_row, first_column);
      context.run("test", kernel(step), {launch.group_columns * cut.tile.lanes, launch.group_rows},
                  source, target, places, pivots, candidates.magnitudes, candidates.places,
                  as_int(k), as_int(n), as_int(n), as_int(launch.rows));
      const std::size_t count = pivot == std::string("full") ? launch.groups() : launch.group_rows;
      context.run("test", kernel(choose), {Tiling::kChoosers}, candidates.magnitudes,
                  candidates.places, places, as_int(k + 1), as_int(count));
    }
    EXPECT_EQ(vector_of(pivots, n)(k, 0), 4);
  }
};

INSTANTIATE_TEST_SUITE_P(Orders, LargeIndexOfSteps, testing::ValuesIn(large_kinds()),
                         testing::PrintToStringParamName());

TEST_P(LargeIndexOfSteps, FusedLu) {
  constexpr std::size_t kStep = kCorner - 9, kPivot = kCorner - 2;
  const std::size_t k = n - 9;
  Matrix values = integers(kCorner, kCorner, 1);
  values(kPivot, kStep) = 4;
  // Row and column k-1 are copied, column k is not divided yet.
  Matrix reduced = values, expected = before();
  for (std::size_t j = kStep; j < kCorner; ++j) std::swap(reduced(kStep, j), reduced(kPivot, j));
  for (std::size_t j = kStep - 1; j < kCorner; ++j) {
    for (std::size_t i = kStep - 1; i < kCorner; ++i) {
      const bool trails = i > kStep && j > kStep;
      expected(i, j) = reduced(i, j) - (trails ? reduced(i, kStep) / 4 * reduced(kStep, j) : 0);
    }
  }
  const Surface source = square_with(values), target = square();
  for (const Tiling& cut : tilings(Pivot::partial)) {
    write_corner(target, before());
    const cl::Buffer places = places_with(k, {as_int(n - 2), as_int(k)});
    fused_step("lu", "partial", cut, source, target, places, k, k - 1, k - 1);
    EXPECT_TRUE(same(corner(target), expected)) << cut.tile.lanes;
    EXPECT_EQ(in_corner(place_at(places, k + 1)), largest(expected, kStep + 1, kStep + 2));
  }
}

TEST_P(LargeIndexOfSteps, FusedGaussJordan) {
  constexpr std::size_t kStep = kCorner - 9;
  const std::size_t k = n - 9, p = n - 2, q = n - 4;
  Matrix values = integers(n, kCorner, 1);
  values(p, kCorner - 4) = 4;
  values(n - 1, kCorner - 1) = 50;  // the next pivot, reduced by 3 * 3 / 4 at most
  const Surface source = square_with(values), target = square();
  swap_columns(values, kStep, kCorner - 4);
  for (std::size_t j = kStep; j < kCorner; ++j) std::swap(values(k, j), values(p, j));
  Matrix expected = before(n);
  for (std::size_t j = kStep + 1; j < kCorner; ++j) {
    for (std::size_t i = 0; i < n; ++i) {
      const double reduced = values(k, j) / 4;
      expected(i, j) = i == k ? reduced : values(i, j) - values(i, kStep) * reduced;
    }
  }
  for (const Tiling& cut : tilings(Pivot::full)) {
    write_corner(target, before(n));
    const cl::Buffer places = places_with(k, {as_int(p), as_int(q)});
    fused_step("gauss_jordan", "full", cut, source, target, places, k, 0, k + 1);
    // Column k is left with anything, and those before it as they were.
    Matrix actual = corner(target, n);
    std::copy_n(expected.column(kStep), n, actual.column(kStep));
    EXPECT_TRUE(same(actual, expected)) << cut.tile.lanes;
    EXPECT_EQ(in_corner(place_at(places, k + 1)), (PlaceInt{kCorner - 1, kCorner - 1}));
  }
}

// The last whole block of four steps, whose pivots are far from the diagonal.
class LargeIndexOfFullPivoting : public LargeIndexOfSteps {
 protected:
  static constexpr std::size_t kDelay = 4;

  /// Steps k : k + kDelay, of which the last one writes.
  void steps(const Tiling& cut, const Surface& source, const Surface& target,
             const cl::Buffer& places, std::size_t k) {
    const Candidates candidates(context, cut, precision);
    const cl::Buffer pivots = vector(Matrix(n, 1)), l = vector(Matrix(kDelay * (n + 3), 1)),
                     u = vector(Matrix(kDelay * (n + 3), 1));
    KernelId id{"dense/full_pivoting.cl", "full_steps", precision,
                Storage::buffer,          Texel::r,     build_options(cut) + " -DDELAY=4"};
    if (cut.tile.lanes == 1) {
      context.run("test", id, {context.device().compute_units}, source, target, places, pivots, l,
                  u, candidates.magnitudes, candidates.places, as_int(k), as_int(k + kDelay),
                  as_int(n), cl_int{0}, as_int(cut.most_groups), context.zeros(cut.phase_ints()));
      return;
    }
    std::size_t count = 0;
    for (std::size_t step = k; step < k + kDelay; ++step) {
      const bool writes = step + 1 == k + kDelay;
      const Tiling::Launch launch = cut.launch(writes ? k - kDelay : k, writes ? k - kDelay : k);
      id.function = "take_pivot";
      context.run("test", id, {n - k}, source, candidates.magnitudes, candidates.places, places,
                  pivots, l, u, as_int(step), as_int(n), as_int(count));
      id.function = writes ? "write_updates" : "delay_update";
      context.run("test", id, {launch.group_columns * cut.tile.lanes, launch.group_rows}, source,
                  target, places, l, u, candidates.magnitudes, candidates.places, as_int(step),
                  as_int(n), as_int(launch.rows));
      count = launch.groups();
    }
  }

  /// The same on the host, for the corner: rows and columns of pivots have the interchanges of
  /// their own step, and no column is divided. Where the pivots are goes to `places`.
  static Matrix reduced(Matrix a, std::size_t first, std::vector<PlaceInt>& places) {
    for (std::size_t k = first; k < first + kDelay; ++k) {
      const PlaceInt place = largest(a, k, kCorner);
      places.push_back(place);
      for (std::size_t j = first; j < kCorner; ++j) std::swap(a(k, j), a(place.row, j));
      for (std::size_t i = first; i < kCorner; ++i) std::swap(a(i, k), a(i, place.column));
      for (std::size_t j = k + 1; j < kCorner; ++j) {
        for (std::size_t i = k + 1; i < kCorner; ++i) a(i, j) -= a(i, k) / a(k, k) * a(k, j);
      }
    }
    return a;
  }
};

INSTANTIATE_TEST_SUITE_P(Orders, LargeIndexOfFullPivoting, testing::ValuesIn(large_kinds()),
                         testing::PrintToStringParamName());

TEST_P(LargeIndexOfFullPivoting, Steps) {
  const std::size_t k = n / kDelay * kDelay - 8, order = n - k, at = kCorner - order;
  const ExactFactors factors(order, true);
  Matrix block = product(factors.l, factors.u);
  for (std::size_t i = 0; i < order / 2; ++i) {
    swap_rows(block, i, order - 1 - i);
    swap_columns(block, i, order - 1 - i);
  }
  Matrix values = integers(kCorner, kCorner, 1), expected = before();
  put(values, at, at, block);
  std::vector<PlaceInt> pivots;
  const Matrix left = reduced(values, at, pivots);
  // The block before is copied.
  for (std::size_t j = at - kDelay; j < kCorner; ++j) {
    for (std::size_t i = at - kDelay; i < kCorner; ++i) expected(i, j) = left(i, j);
  }
  const Surface source = square_with(values), target = square();
  const cl_int origin = as_int(n - kCorner);
  for (const Tiling& cut : tilings(Pivot::full)) {
    write_corner(target, before());
    const cl::Buffer places = places_with(k, {pivots[0].row + origin, pivots[0].column + origin});
    steps(cut, source, target, places, k);
    EXPECT_TRUE(same(corner(target), expected)) << cut.tile.lanes;
    for (std::size_t r = 0; r < kDelay; ++r) {
      EXPECT_EQ(in_corner(place_at(places, k + r)), pivots[r]) << r;
    }
  }
}

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
  const std::size_t mail_bytes = (kPanel * kPanel + 2 * 64 * 8) * 2 * sizeof(cl_ulong);
  const cl::Buffer mail = context.allocate(mail_bytes), info = context.zeros(1), rows = ipiv(),
                   row_for = context.zeros(kPanel), goes_to = context.zeros(kPanel),
                   none = context.zeros(1);
  context.fill(mail, 0, mail_bytes);
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
    const update_region right = {as_int(k), as_int(after), as_int(n), as_int(before), as_int(k)};
    const std::size_t tiles =
        updates && after < n ? ceiling(n - after, kTile) * ceiling(n - k, kTile) : 0;
    const update_arguments launch = {as_int(n), panel, tiles > 0 ? right : update_region{},
                                     {},        {},    0};
    context.run("test", kernel("gpu/lu_blocked.cl", "update_and_factor"), {(1 + tiles) * kItems}, a,
                launch, mail, rows, row_for, goes_to, info, none);
    const std::size_t left = k / kPanel, strips = left + ceiling(n - after, kPanel);
    context.run("test", kernel("gpu/lu_blocked.cl", "exchange_and_solve"), {strips * kItems}, a,
                as_int(n), as_int(k), as_int(width), as_int(left), as_int(k), as_int(n), row_for,
                goes_to, as_int(strips), split_block{}, none);
  }
  EXPECT_EQ(values_of<cl_int>(info, 1)[0], 0);
  expect_factored(a, rows);
}

TEST_P(LargeIndexOnGpus, PanelsByLaunches) {
  constexpr std::size_t kWidth = 4;
  const Surface a = surface();
  const cl::Buffer rows = ipiv(), info = context.zeros(1);
  const auto launches = [&](const char* function) {
    return kernel("dense/panel_launches.cl", function);
  };
  const cl_int first = as_int(end.first);
  for (std::size_t j = 0; j < kWidth; ++j) {
    context.run("test", launches("choose_and_exchange"), {256}, a, as_int(n), first, as_int(kWidth),
                as_int(j), cl_int{1}, rows, info);
    context.run("test", launches("eliminate_column"), {end.order - j - 1}, a, as_int(n), first,
                as_int(kWidth), as_int(j));
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

// dense/move_rows.cl, of several devices, in packs of 16 bytes
TEST_P(LargeIndex, MovesOfRows) {
  const Matrix values = integers(kCorner, kCorner, 1, 100);
  const Surface a = square_with(values).with_texel(Texel::rgba);
  const Surface moved(context, 4, n, precision, Storage::buffer, Texel::rgba);
  const std::size_t packs = a.texels(0, n), first = a.texels(0, n - kCorner);
  const auto rows = [&](std::vector<cl_int> from_end) {
    for (cl_int& row : from_end) row = as_int(n) - row;
    return buffer(from_end);
  };
  const auto move = [&](const char* function, const cl::Buffer& list) {
    context.run("test", a.kernel("dense/move_rows.cl", function), {packs - first, 3}, a, moved,
                list, as_int(n), as_int(first), as_int(packs - first));
  };
  move("take_rows", rows({1, 2, 9}));
  move("put_rows", rows({9, 1, 2}));
  Matrix expected = values;
  const std::size_t begin = first * a.pack() - (n - kCorner);
  for (std::size_t j = begin; j < kCorner; ++j) {
    expected(kCorner - 9, j) = values(kCorner - 1, j);
    expected(kCorner - 1, j) = values(kCorner - 2, j);
    expected(kCorner - 2, j) = values(kCorner - 9, j);
  }
  EXPECT_TRUE(same(corner(a), expected));
}

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

// A matrix in double by columns, column j in row j of its surface: residuals and norms of the first
// rows, for which one work-group takes all columns

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

  /// Numbers of columns among as many as A has.
  cl::Buffer last_column() { return buffer(std::vector<cl_int>{as_int(n - 1)}); }
  /// As dense/mixed.cl has them for each column of X.
  struct Column {
    double x, r, scale, scale_too;
  };
  cl::Buffer records(double scale, double scale_too) {
    std::vector<Column> columns(n);
    columns[n - 1] = {0, 0, scale, scale_too};
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
  const Surface on_device = square();
  write(on_device, 0, 0, transposed(a));
  Surface x_of(double_columns(context, n, 1)), b_of(double_columns(context, n, 1));
  write_columns(context, x, x_of);
  write_columns(context, b, b_of);
  Matrix expected = product(a, x);
  for (std::size_t i = 0; i < kRows; ++i) expected(i, 0) = b(i, 0) - expected(i, 0);
  const cl::Buffer which = context.zeros(1);

  const auto first_rows = [&](const Surface& r, std::size_t count) {
    return transposed(read(r, 0, 0, 1, count));
  };
  Surface r(double_columns(context, n, 1));
  context.run("test", of_gpus("residual"), {kRows / 16 * 256}, on_device, x_of, b_of, r, which,
              as_int(n), cl_int{1});
  EXPECT_TRUE(same(first_rows(r, kRows), expected));
  if (!on_cpu()) return;
  lugpu::fill(context, r, 0);
  context.run("test", of_cpus("residual"), {1}, on_device, x_of, b_of, r, which, as_int(n),
              cl_int{1}, as_int(kRows));
  EXPECT_TRUE(same(first_rows(r, kRows), expected));
}

TEST_P(LargeIndexOfDoubles, Norms) {
  Matrix a = integers(kRows, n, 1);
  for (std::size_t i = 0; i < kRows; ++i) a(i, n - 1) = -100.0 - static_cast<double>(i);
  const Surface on_device = square();
  write(on_device, 0, 0, transposed(a));
  Matrix sums(kRows, 1), largest(kRows, 1);
  for (std::size_t i = 0; i < kRows; ++i) {
    for (std::size_t j = 0; j < n; ++j) sums(i, 0) += std::abs(a(i, j));
    largest(i, 0) = std::abs(a(i, n - 1));
  }
  const cl::Buffer found = elements(n), found_largest = elements(n);
  context.run("test", of_gpus("measure_rows"), {kRows / 16 * 256}, on_device, found, found_largest,
              as_int(n));
  EXPECT_TRUE(same(vector_of(found, kRows), sums));
  EXPECT_TRUE(same(vector_of(found_largest, kRows), largest));
  if (!on_cpu()) return;
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

TEST_P(LargeIndexOfDoubles, ResidualsAndCorrections) {
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

  // R takes what X was before.
  refine("add_corrections", {n, 1}, x, r, records(8, 0.5), which, rounded, as_int(n));
  EXPECT_TRUE(same(read(r, n - 1, 0, 1, n), old));
  Matrix sum = old;
  for (std::size_t j = 0; j < n; ++j) sum(0, j) += residual(0, j);
  EXPECT_TRUE(same(read(x, n - 1, 0, 1, n), sum));
  refine("copy_chosen", {n, 1}, x, r, which, as_int(n));
  EXPECT_TRUE(same(read(r, n - 1, 0, 1, n), sum));
  EXPECT_TRUE(same(read(r, n - 2, 0, 1, n), before(1, n)));
  EXPECT_TRUE(same(read(x, n - 2, 0, 1, n), before(1, n)));
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

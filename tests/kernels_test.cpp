// Every kernel against a plain loop on the host, launched as the solvers launch it. Targets are
// filled with other values first, so that anything a kernel writes outside its rectangle shows.
#include <array>
#include <limits>
#include <numeric>

#include "dense/substitution.hpp"
#include "dense/tiling.hpp"
#include "kernel_files.hpp"
#include "kernels/gpu/update_arguments.h"
#include "opencl_fixture.hpp"

namespace lugpu {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Small, and around the work-group sizes 64 x 1 and 64 x 4.
constexpr std::size_t kOrders[] = {0, 1, 2, 3, 4, 5, 31, 32, 33, 63, 64, 65, 127, 129};

/// First, second, middle, last but one and last of 0 .. n-1.
std::vector<std::size_t> steps_of(std::size_t n) {
  std::vector<std::size_t> steps = {0, 1, n / 2, n - 2, n - 1};
  std::erase_if(steps, [n](std::size_t k) { return k >= n; });
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

class Kernels : public SurfaceKindTest {
 protected:
  template <typename... Arguments>
  void run(const char* file, const char* function, Items items, const Arguments&... arguments) {
    context.run("test", {file, function, precision, storage, texel}, items, arguments...);
  }

  Matrix random(std::size_t rows, std::size_t columns) {
    return random_in(precision, rows, columns, ++seed_);
  }
  Surface surface(const Matrix& values) { return surface_of(context, GetParam(), values); }
  Matrix contents(const Surface& surface) { return lugpu::contents(context, surface); }
  cl::Buffer buffer(const Matrix& values) { return upload(context, values, precision); }
  Matrix contents(const cl::Buffer& values, std::size_t rows, std::size_t columns) {
    return download(context, values, rows, columns, precision);
  }

  /// a b + c and a / b, rounded once.
  double multiply_add(double a, double b, double c) const {
    if (precision == Precision::double_precision) return std::fma(a, b, c);
    return std::fma(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c));
  }
  double quotient(double a, double b) const {
    if (precision == Precision::double_precision) return a / b;
    return static_cast<float>(a) / static_cast<float>(b);
  }
  std::size_t pack() const { return elements_per_texel(precision, texel); }
  /// target(row, j) = source(row, j) for what the texels of the columns first : end hold: kernels
  /// write whole texels, and outside their rectangle what the source has.
  void propagate(const Matrix& source, Matrix& target, std::size_t row, std::size_t first,
                 std::size_t end) const {
    if (first >= end) return;
    const std::size_t last = std::min((end + pack() - 1) / pack() * pack(), source.cols());
    for (std::size_t j = first / pack() * pack(); j < last; ++j) target(row, j) = source(row, j);
  }

  /// Relative error allowed to one division: OpenCL lets one of floats be off by 2.5 ulp.
  double division_error() const {
    const bool exact =
        precision == Precision::double_precision || context.device().correctly_rounded_division;
    return exact ? 0 : 3 * 0x1p-23;
  }

 private:
  std::uint64_t seed_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Kinds, Kernels, testing::ValuesIn(all_kinds()),
                         testing::PrintToStringParamName());

// common/copy.clh

TEST_P(Kernels, CopyRow) {
  for (const std::size_t length : kOrders) {
    const std::size_t first = length % 3, end = first + length;
    const Matrix source = random(5, end + 2);
    const Surface src = surface(source);
    for (const std::size_t row : {0, 2, 4}) {
      Matrix expected = poison(5, end + 2);
      const Surface dst = surface(expected);
      run("dense/passes.cl", "copy_row", {src.texels(first, end)}, src, dst, as_int(row),
          as_int(first), as_int(end));
      propagate(source, expected, row, first, end);
      EXPECT_TRUE(equal(contents(dst), expected)) << length;
    }
  }
}

TEST_P(Kernels, CopyColumn) {
  for (const std::size_t length : kOrders) {
    const std::size_t first = length % 3, end = first + length;
    const Matrix source = random(end + 2, 5);
    const Surface src = surface(source);
    for (const std::size_t column : {0, 2, 4}) {
      Matrix expected = poison(end + 2, 5);
      const Surface dst = surface(expected);
      run("dense/passes.cl", "copy_column", {length}, src, dst, as_int(column), as_int(first),
          as_int(end));
      for (std::size_t i = first; i < end; ++i) propagate(source, expected, i, column, column + 1);
      EXPECT_TRUE(equal(contents(dst), expected)) << length;
    }
  }
}

// dense/interchange.clh

// The pairs of rows or columns, of five, that are exchanged; two the same as well.
constexpr std::array<std::pair<std::size_t, std::size_t>, 6> kPairs = {
    {{0, 4}, {4, 0}, {1, 2}, {2, 3}, {3, 3}, {0, 0}}};

TEST_P(Kernels, ExchangeRows) {
  for (const std::size_t length : kOrders) {
    const std::size_t first = length % 3, end = first + length;
    const Matrix source = random(5, end + 2);
    const Surface src = surface(source);
    for (const auto& [a, b] : kPairs) {
      Matrix expected = poison(5, end + 2);
      const Surface dst = surface(expected);
      run("dense/passes.cl", "exchange_rows", {src.texels(first, end)}, src, dst, as_int(a),
          as_int(b), as_int(first), as_int(end));
      Matrix exchanged = source;
      for (std::size_t j = 0; j < source.cols(); ++j) std::swap(exchanged(a, j), exchanged(b, j));
      for (const std::size_t row : {a, b}) propagate(exchanged, expected, row, first, end);
      EXPECT_TRUE(equal(contents(dst), expected)) << length << ": " << a << ", " << b;
    }
  }
}

TEST_P(Kernels, CopyRows) {
  for (const std::size_t length : kOrders) {
    const std::size_t first = length % 3, end = first + length;
    const Matrix source = random(5, end + 2);
    const Surface src = surface(source);
    for (const auto& [a, b] : kPairs) {
      Matrix expected = poison(5, end + 2);
      const Surface dst = surface(expected);
      run("dense/passes.cl", "copy_rows", {src.texels(first, end)}, src, dst, as_int(a), as_int(b),
          as_int(first), as_int(end));
      for (const std::size_t row : {a, b}) propagate(source, expected, row, first, end);
      EXPECT_TRUE(equal(contents(dst), expected)) << length << ": " << a << ", " << b;
    }
  }
}

TEST_P(Kernels, ExchangeColumns) {
  for (const std::size_t n : kOrders) {
    const Matrix source = random(n + 2, 5);
    const Surface src = surface(source);
    for (const auto& [a, b] : kPairs) {
      Matrix expected = poison(n + 2, 5);
      const Surface dst = surface(expected);
      run("dense/passes.cl", "exchange_columns", {n}, src, dst, as_int(a), as_int(b), as_int(n));
      for (std::size_t i = 0; i < n; ++i) {
        for (const std::size_t column : {a, b}) propagate(source, expected, i, column, column + 1);
        expected(i, a) = source(i, b);
        expected(i, b) = source(i, a);
      }
      EXPECT_TRUE(equal(contents(dst), expected)) << n << ": " << a << ", " << b;
    }
  }
}

TEST_P(Kernels, CopyColumns) {
  for (const std::size_t n : kOrders) {
    const Matrix source = random(n + 2, 5);
    const Surface src = surface(source);
    for (const auto& [a, b] : kPairs) {
      Matrix expected = poison(n + 2, 5);
      const Surface dst = surface(expected);
      run("dense/passes.cl", "copy_columns", {n}, src, dst, as_int(a), as_int(b), as_int(n));
      for (std::size_t i = 0; i < n; ++i) {
        for (const std::size_t column : {a, b}) propagate(source, expected, i, column, column + 1);
      }
      EXPECT_TRUE(equal(contents(dst), expected)) << n << ": " << a << ", " << b;
    }
  }
}

// dense/normalize.clh

TEST_P(Kernels, NormalizeColumn) {
  for (const std::size_t n : kOrders) {
    const Matrix source = random(n + 2, n + 2);
    const Surface src = surface(source);
    for (const std::size_t k : steps_of(n)) {
      Matrix expected = poison(n + 2, n + 2), pivots = poison(n + 2, 1);
      const Surface dst = surface(expected);
      const cl::Buffer recorded = buffer(pivots);
      run("dense/passes.cl", "normalize_column", {n - k}, src, dst, recorded, as_int(k), as_int(n));
      for (std::size_t i = k; i < n; ++i) {
        propagate(source, expected, i, k, k + 1);
        if (i > k) expected(i, k) = quotient(source(i, k), source(k, k));
      }
      pivots(k, 0) = source(k, k);
      EXPECT_TRUE(equal(contents(dst), expected, division_error())) << n << ", step " << k;
      EXPECT_TRUE(equal(contents(recorded, n + 2, 1), pivots)) << n << ", step " << k;
    }
  }
}

TEST_P(Kernels, NormalizeRow) {
  for (const std::size_t end : kOrders) {
    const Matrix source = random(end + 2, end + 2);
    const Surface src = surface(source);
    for (const std::size_t k : steps_of(end)) {
      Matrix expected = poison(end + 2, end + 2), pivots = poison(end + 2, 1);
      const Surface dst = surface(expected);
      const cl::Buffer recorded = buffer(pivots);
      run("dense/passes.cl", "normalize_row", {src.texels(k, end)}, src, dst, recorded, as_int(k),
          as_int(end));
      propagate(source, expected, k, k, end);
      for (std::size_t j = k; j < end; ++j) {
        expected(k, j) = quotient(source(k, j), source(k, k));
      }
      pivots(k, 0) = source(k, k);
      EXPECT_TRUE(equal(contents(dst), expected, division_error())) << end << ", step " << k;
      EXPECT_TRUE(equal(contents(recorded, end + 2, 1), pivots)) << end << ", step " << k;
    }
  }
}

TEST_P(Kernels, ZeroPivotDividesNothing) {
  for (const double zero : {0.0, -0.0}) {
    Matrix source = random(70, 70);
    source(2, 2) = zero;
    const Surface src = surface(source);
    const cl::Buffer pivots = buffer(poison(70, 1));
    Matrix expected = poison(70, 70);

    const Surface column = surface(expected);
    run("dense/passes.cl", "normalize_column", {68}, src, column, pivots, 2, 70);
    for (std::size_t i = 2; i < 70; ++i) propagate(source, expected, i, 2, 3);
    EXPECT_TRUE(equal(contents(column), expected));
    EXPECT_EQ(contents(pivots, 70, 1)(2, 0), 0);

    expected = poison(70, 70);
    const Surface row = surface(expected);
    run("dense/passes.cl", "normalize_row", {src.texels(2, 70)}, src, row, pivots, 2, 70);
    propagate(source, expected, 2, 2, 70);
    EXPECT_TRUE(equal(contents(row), expected));
  }
}

// dense/rowop.clh

TEST_P(Kernels, UpdateTrailing) {
  for (const std::size_t n : kOrders) {
    const Matrix source = random(n + 2, n + 2);
    const Surface src = surface(source);
    for (const std::size_t k : steps_of(n)) {
      Matrix expected = poison(n + 2, n + 2);
      const Surface dst = surface(expected);
      run("dense/passes.cl", "update_trailing", {src.texels(k + 1, n), n - k - 1}, src, dst,
          as_int(k), as_int(n));
      for (std::size_t i = k + 1; i < n; ++i) {
        propagate(source, expected, i, k + 1, n);
        for (std::size_t j = k + 1; j < n; ++j) {
          expected(i, j) = multiply_add(-source(i, k), source(k, j), source(i, j));
        }
      }
      EXPECT_TRUE(equal(contents(dst), expected)) << n << ", step " << k;
    }
  }
}

// The variant whose index pair comes from the offset of the launch.
TEST_P(Kernels, UpdateTrailingByLaunchIndex) {
  for (const std::size_t n : kOrders) {
    const Surface src = surface(random(n + 2, n + 2));
    for (const std::size_t k : steps_of(n)) {
      const Surface by_kernel = surface(poison(n + 2, n + 2));
      const Surface by_launch = surface(poison(n + 2, n + 2));
      const Items items = {src.texels(k + 1, n), n - k - 1};
      run("dense/passes.cl", "update_trailing", items, src, by_kernel, as_int(k), as_int(n));
      context.run("test", src.kernel("dense/passes.cl", "update_trailing", " -DLUGPU_LAUNCH_INDEX"),
                  {items.x, items.y, (k + 1) / pack(), k + 1}, src, by_launch, as_int(k),
                  as_int(n));
      EXPECT_TRUE(equal(contents(by_launch), contents(by_kernel))) << n << ", step " << k;
    }
  }
}

TEST_P(Kernels, EliminateColumn) {
  std::vector<std::pair<std::size_t, std::size_t>> shapes;  // n and the end of [A | B]
  for (const std::size_t n : kOrders) shapes.emplace_back(n, n + n % 3);
  for (const std::size_t n : {3, 4, 5}) {
    for (const std::size_t end : {63, 64, 65}) shapes.emplace_back(n, end);
  }
  for (const auto& [n, end] : shapes) {
    const Matrix source = random(n + 2, end + 2);
    const Surface src = surface(source);
    for (const std::size_t k : steps_of(n)) {
      Matrix expected = poison(n + 2, end + 2);
      const Surface dst = surface(expected);
      const std::size_t first = k == 0 ? 0 : k - 1;
      run("dense/passes.cl", "eliminate_column", {src.texels(first, end), n}, src, dst, as_int(k),
          as_int(first), as_int(n), as_int(end));
      for (std::size_t i = 0; i < n; ++i) {
        propagate(source, expected, i, first, end);
        for (std::size_t j = first; j < end; ++j) {
          expected(i, j) = i == k || j < k
                               ? source(i, j)
                               : multiply_add(-source(i, k), source(k, j), source(i, j));
        }
      }
      EXPECT_TRUE(equal(contents(dst), expected)) << n << ", " << end << ", step " << k;
    }
  }
}

// dense/pivot_search.clh

struct Place {
  int row, column;
  bool operator==(const Place&) const = default;
};

void PrintTo(const Place& place, std::ostream* out) {
  *out << "(" << place.row << ", " << place.column << ")";
}

/// The first element of largest magnitude of a(k:n, k:end), column after column; (k, k) for none.
Place largest(const Matrix& a, std::size_t k, std::size_t n, std::size_t end) {
  double best = -1;
  Place place = {static_cast<int>(k), static_cast<int>(k)};
  for (std::size_t j = k; j < end; ++j) {
    for (std::size_t i = k; i < n; ++i) {
      if (!(std::abs(a(i, j)) > best)) continue;
      best = std::abs(a(i, j));
      place = {static_cast<int>(i), static_cast<int>(j)};
    }
  }
  return place;
}

/// Random elements of {-2, -1, 0, 1, 2, NaN}: ties everywhere.
Matrix with_ties(std::size_t rows, std::size_t columns, std::uint64_t seed) {
  Matrix a = random_matrix(rows, columns, seed);
  for (double& value : a.values()) value = value > 0.4 ? kNaN : std::round(4.4 * value);
  return a;
}

class PivotSearch : public Kernels {
 protected:
  /// The place that search_column, or another search of one work-group, finds. Those of other steps
  /// must stay as they are.
  Place search_column(const Matrix& a, std::size_t k, std::size_t n,
                      const char* search = "search_column") {
    const Surface source = surface(a);
    const cl::Buffer places = unknown_places(n);
    run("dense/passes.cl", search, {256}, source, places, as_int(k), as_int(n));
    return place_of(places, k, n);
  }
  Place search_rook(const Matrix& a, std::size_t k, std::size_t n) {
    return search_column(a, k, n, "search_rook");
  }

  /// The place that search_scaled finds; it leaves sizes_after_.
  Place search_scaled(const Matrix& a, const Matrix& sizes_of_rows, std::size_t k, std::size_t n) {
    const Surface source = surface(a);
    const cl::Buffer places = unknown_places(n), sizes = buffer(sizes_of_rows);
    run("dense/passes.cl", "search_scaled", {256}, source, sizes, places, as_int(k), as_int(n));
    sizes_after_ = contents(sizes, n, 1);
    return place_of(places, k, n);
  }
  Matrix sizes_after_;

  /// The place that the two parts of the full search find.
  Place search_all(const Matrix& a, std::size_t k, std::size_t n, std::size_t slices = 16) {
    const Surface source = surface(a);
    const cl::Buffer magnitudes = buffer(poison(slices * n, 1));
    const cl::Buffer rows = buffer_of(context, std::vector<cl_int>(slices * n, -7));
    run("dense/passes.cl", "search_each_column", {source.texels(k, n), slices}, source, magnitudes,
        rows, as_int(k), as_int(n));
    return search_candidates(magnitudes, rows, k, n, slices);
  }

  Place search_candidates(const cl::Buffer& magnitudes, const cl::Buffer& rows, std::size_t k,
                          std::size_t n, std::size_t slices) {
    const cl::Buffer places = unknown_places(n);
    run("dense/passes.cl", "search_candidates", {256}, magnitudes, rows, places, as_int(k),
        as_int(n), as_int(slices));
    return place_of(places, k, n);
  }

 private:
  static constexpr Place kUnknown = {-7, -9};

  cl::Buffer unknown_places(std::size_t n) {
    return buffer_of(context, std::vector<Place>(n + 1, kUnknown));
  }
  Place place_of(const cl::Buffer& places, std::size_t k, std::size_t n) {
    const std::vector<Place> found = values_of<Place>(context, places, n + 1);
    for (std::size_t i = 0; i <= n; ++i) EXPECT_TRUE(i == k || found[i] == kUnknown) << i;
    return found[k];
  }
};

INSTANTIATE_TEST_SUITE_P(Kinds, PivotSearch, testing::ValuesIn(all_kinds()),
                         testing::PrintToStringParamName());

// Small, around a column of work-items of the full search, and around a work-group of searchers.
constexpr std::size_t kSearched[] = {1,  2,  3,  4,  5,   15,  16,  17,  31,  32,
                                     33, 63, 64, 65, 127, 129, 255, 256, 257, 513};

TEST_P(PivotSearch, ColumnOfRandomElements) {
  for (const std::size_t n : kSearched) {
    const Matrix a = random(n, 3);
    for (std::size_t k = 0; k < std::min<std::size_t>(n, 3); ++k) {
      EXPECT_EQ(search_column(a, k, n), largest(a, k, n, k + 1)) << n;
    }
  }
}

TEST_P(PivotSearch, ColumnWithTiesAndNaN) {
  for (const std::size_t n : kSearched) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const Matrix a = with_ties(n, 3, seed);
      const std::size_t k = std::min<std::size_t>(n - 1, seed - 1);
      EXPECT_EQ(search_column(a, k, n), largest(a, k, n, k + 1)) << n;
    }
  }
}

TEST_P(PivotSearch, ColumnOfRowsInTheLastSteps) {
  for (const std::size_t n : {5, 64, 257}) {
    const Matrix a = random(n, n);
    for (const std::size_t k : steps_of(n)) {
      EXPECT_EQ(search_column(a, k, n), largest(a, k, n, k + 1)) << n;
    }
  }
}

// A negative pivot at every edge, beside larger elements that are out of bounds.
TEST_P(PivotSearch, ColumnFindsItsPivotAnywhere) {
  for (const std::size_t n : {3, 64, 256, 257, 513}) {
    for (const std::size_t place : {std::size_t{1}, std::size_t{2}, n / 2, n - 2, n - 1}) {
      Matrix a = random(n + 1, 3);
      for (std::size_t i = 0; i <= n; ++i) a(i, 0) = a(i, 2) = 50;
      a(0, 1) = a(n, 1) = 50;
      a(place, 1) = -10;
      EXPECT_EQ(search_column(a, 1, n), (Place{as_int(place), 1})) << n;
    }
  }
}

TEST_P(PivotSearch, ColumnTieGoesToTheSmallestRow) {
  // Neighbours; the same searcher, which looks at every 256th row; the last searcher and the first.
  const std::pair<std::size_t, std::size_t> pairs[] = {{7, 8},     {0, 512},   {3, 259},
                                                       {255, 256}, {256, 511}, {255, 512}};
  for (const auto& [first, second] : pairs) {
    Matrix a = random(513, 1);
    a(first, 0) = -10;
    a(second, 0) = 10;
    EXPECT_EQ(search_column(a, 0, 513), (Place{as_int(first), 0})) << first << ", " << second;
  }
}

TEST_P(PivotSearch, ColumnOfZerosOrNaNGivesTheDiagonal) {
  for (const double value : {0.0, -0.0, kNaN}) {
    for (const std::size_t n : {3, 257, 513}) {
      const Matrix a = filled(n, 3, value);
      EXPECT_EQ(search_column(a, 2, n), (Place{2, 2})) << value;
      EXPECT_EQ(search_column(a, 0, n), (Place{0, 0})) << value;
    }
  }
}

TEST_P(PivotSearch, ColumnTakesInfinityAndTheSmallestNumber) {
  Matrix a(300, 1);
  a(299, 0) = std::numeric_limits<float>::min();
  EXPECT_EQ(search_column(a, 0, 300), (Place{299, 0}));
  a(17, 0) = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(search_column(a, 0, 300), (Place{17, 0}));
}

// Rows 0 and 1 and columns 0 and 1 hold larger elements that are out of bounds.
TEST_P(PivotSearch, RookWalksToTheLargestOfItsRowAndColumn) {
  const Place steps[] = {{5, 2}, {5, 299}, {258, 299}, {258, 2 + 256}, {2, 258}, {2, 3}};
  for (std::size_t length = 1; length <= std::size(steps); ++length) {
    Matrix a(300, 300);
    for (std::size_t i = 0; i < 300; ++i) a(i, 0) = a(i, 1) = a(0, i) = a(1, i) = 50;
    a(200, 200) = 40;  // of a row and a column that the walk does not meet
    for (std::size_t turn = 0; turn < length; ++turn) {
      const double magnitude = static_cast<double>(turn) + 1;
      a(steps[turn].row, steps[turn].column) = turn % 2 == 0 ? -magnitude : magnitude;
    }
    EXPECT_EQ(search_rook(a, 2, 300), steps[length - 1]) << length;
  }
}

TEST_P(PivotSearch, RookOfRandomElementsAndTies) {
  for (const std::size_t n : kSearched) {
    for (const Matrix& a : {random(n, n), with_ties(n, n, 1), with_ties(n, n, 2)}) {
      const Place place = search_rook(a, 0, n);
      const auto magnitude = [&](std::size_t i, std::size_t j) { return std::abs(a(i, j)); };
      for (std::size_t i = 0; i < n; ++i) {
        // NaN is not larger than anything.
        EXPECT_FALSE(magnitude(i, place.column) > magnitude(place.row, place.column)) << n;
        EXPECT_FALSE(magnitude(place.row, i) > magnitude(place.row, place.column)) << n;
      }
    }
  }
}

TEST_P(PivotSearch, RookOfZerosOrNaNStaysOnTheDiagonal) {
  for (const double value : {0.0, -0.0, kNaN}) {
    EXPECT_EQ(search_rook(filled(257, 257, value), 2, 257), (Place{2, 2})) << value;
  }
  // A column of zeros is left along its row.
  Matrix a(5, 5);
  a(1, 3) = 1;
  EXPECT_EQ(search_rook(a, 1, 5), (Place{1, 3}));
  EXPECT_EQ(search_rook(a, 2, 5), (Place{2, 2}));
}

TEST_P(PivotSearch, SizesOfRows) {
  for (const std::size_t n : {1, 3, 63, 64, 65, 129}) {
    Matrix a = rounded_to(precision, with_ties(n, n, n)), expected(n + 1, 1);
    a(n / 2, n - 1) = -10;
    const Surface source = surface(a);
    const cl::Buffer sizes = buffer(poison(n + 1, 1));
    run("dense/passes.cl", "measure_rows", {n}, source, sizes, as_int(n));
    expected(n, 0) = poison(n + 1, 1)(n, 0);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j)
        expected(i, 0) = std::fmax(expected(i, 0), std::abs(a(i, j)));
    }
    EXPECT_TRUE(equal(contents(sizes, n + 1, 1), expected)) << n;
  }
}

// Row 7 has the largest element of the column; relative to its row, row 300 has.
TEST_P(PivotSearch, ScaledTakesTheLargestRelativeToItsRowAndMovesTheSizes) {
  const std::size_t n = 400, k = 2;
  Matrix a(n, n);
  for (std::size_t i = 0; i < n; ++i) a(i, k) = i < k ? 50 : 1;
  a(7, k) = 40, a(300, k) = -2;
  Matrix sizes = filled(n, 1, 8);
  sizes(k, 0) = 16, sizes(7, 0) = 400, sizes(300, 0) = 4;
  EXPECT_EQ(search_scaled(a, sizes, k, n), (Place{300, 2}));
  std::swap(sizes(k, 0), sizes(300, 0));
  EXPECT_TRUE(equal(sizes_after_, sizes));
}

// A row of zeros has the size 0; NaN is never larger.
TEST_P(PivotSearch, ScaledOfZerosOrNaNStaysOnTheDiagonal) {
  for (const double value : {0.0, -0.0, kNaN}) {
    EXPECT_EQ(search_scaled(filled(257, 257, value), filled(257, 1, 0), 2, 257), (Place{2, 2}));
  }
  Matrix a(5, 5);
  a(3, 1) = a(4, 1) = 1;  // a tie
  EXPECT_EQ(search_scaled(a, matrix({{0}, {0}, {0}, {1}, {1}}), 1, 5), (Place{3, 1}));
}

TEST_P(PivotSearch, EachColumnInSlices) {
  for (const std::size_t n : {1, 2, 3, 5, 16, 17, 63, 64, 65, 129}) {
    const Matrix a = rounded_to(precision, with_ties(n, n, n));
    const Surface source = surface(a);
    for (const std::size_t slices : {1, 3, 16}) {
      for (const std::size_t k : steps_of(n)) {
        Matrix magnitudes = poison(n, slices);
        std::vector<cl_int> rows(slices * n, -7);
        const cl::Buffer found = buffer(magnitudes), found_rows = buffer_of(context, rows);
        run("dense/passes.cl", "search_each_column", {source.texels(k, n), slices}, source, found,
            found_rows, as_int(k), as_int(n));
        for (std::size_t j = k; j < n; ++j) {
          for (std::size_t s = 0; s < slices; ++s) {
            magnitudes(j, s) = -1;
            rows[j + s * n] = as_int(k);
            for (std::size_t i = k + s; i < n; i += slices) {
              if (!(std::abs(a(i, j)) > magnitudes(j, s))) continue;
              magnitudes(j, s) = std::abs(a(i, j));
              rows[j + s * n] = as_int(i);
            }
          }
        }
        EXPECT_TRUE(equal(contents(found, n, slices), magnitudes)) << n << ", step " << k;
        EXPECT_EQ(values_of<cl_int>(context, found_rows, slices * n), rows) << n << ", step " << k;
      }
    }
  }
}

TEST_P(PivotSearch, AllOfRandomElements) {
  for (const std::size_t n : kSearched) {
    if (n > 257) continue;
    const Matrix a = random(n, n);
    for (const std::size_t k : steps_of(n)) {
      EXPECT_EQ(search_all(a, k, n), largest(a, k, n, n)) << n << ", step " << k;
    }
  }
}

TEST_P(PivotSearch, AllWithTiesAndNaN) {
  for (const std::size_t n : kSearched) {
    if (n > 257) continue;
    const Matrix a = with_ties(n, n, n);
    for (const std::size_t k : steps_of(n)) {
      EXPECT_EQ(search_all(a, k, n), largest(a, k, n, n)) << n << ", step " << k;
    }
  }
}

// At every corner and edge of the trailing matrix, beside larger elements outside it.
TEST_P(PivotSearch, AllFindsItsPivotAnywhere) {
  for (const std::size_t n : {5, 65, 257}) {
    const std::size_t k = 2;
    for (const std::size_t row : {k, n / 2, n - 1}) {
      for (const std::size_t column : {k, n / 2, n - 1}) {
        Matrix a = random(n, n);
        for (std::size_t i = 0; i < n; ++i) a(i, 0) = a(i, 1) = a(0, i) = a(1, i) = 50;
        a(row, column) = -10;
        EXPECT_EQ(search_all(a, k, n), (Place{as_int(row), as_int(column)})) << n;
      }
    }
  }
}

TEST_P(PivotSearch, AllTieGoesToTheSmallestColumnThenRow) {
  Matrix a = random(65, 65);
  a(40, 30) = 10, a(1, 31) = -10;
  EXPECT_EQ(search_all(a, 1, 65), (Place{40, 30}));
  // Rows 24 and 39 are in different slices, the later row in the earlier one; 24 and 40 in one.
  a(39, 30) = -10;
  EXPECT_EQ(search_all(a, 1, 65), (Place{39, 30}));
  a(24, 30) = 10;
  EXPECT_EQ(search_all(a, 1, 65), (Place{24, 30}));
  a(64, 1) = -10;
  EXPECT_EQ(search_all(a, 1, 65), (Place{64, 1}));
  for (double& value : a.values()) value = -1;
  EXPECT_EQ(search_all(a, 3, 65), (Place{3, 3}));
}

TEST_P(PivotSearch, AllOfZerosOrNaNGivesTheDiagonal) {
  for (const double value : {0.0, -0.0, kNaN}) {
    for (const std::size_t n : {3, 65, 257}) {
      const Matrix a = filled(n, n, value);
      EXPECT_EQ(search_all(a, 2, n), (Place{2, 2})) << value;
    }
  }
}

// Candidates that no surface would give: the slices in any order of rows.
TEST_P(PivotSearch, CandidatesWithTies) {
  for (const std::size_t n : {1, 2, 5, 255, 256, 257, 513}) {
    for (const std::size_t slices : {1, 3, 16}) {
      for (const std::size_t k : steps_of(n)) {
        const Matrix rank = random_matrix(n, slices, n + slices);
        Matrix magnitudes(n, slices);
        std::vector<cl_int> rows(n * slices);
        double best = -1;
        Place place = {as_int(k), as_int(k)};
        for (std::size_t j = 0; j < n; ++j) {
          for (std::size_t s = 0; s < slices; ++s) {
            // Columns before k are of earlier steps, and larger.
            magnitudes(j, s) = j < k ? 50 : std::round(4 * rank(j, s));
            rows[j + s * n] = as_int((j * 31 + (slices - s) * 17) % 1000);
            const Place here = {rows[j + s * n], as_int(j)};
            const bool earlier = here.column == place.column && here.row < place.row;
            if (j < k) continue;
            if (magnitudes(j, s) > best || (magnitudes(j, s) == best && earlier)) {
              best = magnitudes(j, s);
              place = here;
            }
          }
        }
        EXPECT_EQ(search_candidates(buffer(magnitudes), buffer_of(context, rows), k, n, slices),
                  place)
            << n << ", " << slices << " slices, step " << k;
      }
    }
  }
}

// dense/substitute.clh

class Substitution : public Kernels {
 protected:
  static constexpr std::size_t kBlock = 32;

  /// x(first:last) = inv(L(first:last, first:last)) x(first:last), in the order of the kernel.
  void host_forward_block(const Matrix& l, Matrix& x, std::size_t first, std::size_t last) const {
    for (std::size_t c = 0; c < x.cols(); ++c) {
      for (std::size_t j = first; j < last; ++j) {
        for (std::size_t i = j + 1; i < last; ++i) {
          x(i, c) = multiply_add(-l(i, j), x(j, c), x(i, c));
        }
      }
    }
  }
  void host_back_block(const Matrix& u, Matrix& x, std::size_t first, std::size_t last) const {
    for (std::size_t c = 0; c < x.cols(); ++c) {
      for (std::size_t j = last; j-- > first;) {
        x(j, c) = quotient(x(j, c), u(j, j));
        for (std::size_t i = first; i < j; ++i) {
          x(i, c) = multiply_add(-u(i, j), x(j, c), x(i, c));
        }
      }
    }
  }
  void host_subtract(const Matrix& lu, Matrix& x, std::size_t top, std::size_t bottom,
                     std::size_t first, std::size_t last) const {
    for (std::size_t c = 0; c < x.cols(); ++c) {
      for (std::size_t i = top; i < bottom; ++i) {
        double sum = 0;
        for (std::size_t j = first; j < last; ++j) sum = multiply_add(lu(i, j), x(j, c), sum);
        x(i, c) = multiply_add(-1, sum, x(i, c));
      }
    }
  }

  /// L with NaN wherever a unit lower triangle is not to be read.
  Matrix lower(std::size_t n) {
    Matrix a = random(n, n);
    for (std::size_t j = 0; j < n; ++j) std::fill_n(a.column(j), j + 1, kNaN);
    return a;
  }
  /// U, dominated by its diagonal, with NaN below.
  Matrix upper(std::size_t n) {
    Matrix a = random(n, n);
    for (std::size_t j = 0; j < n; ++j) {
      std::fill(a.column(j) + j, a.column(j) + n, kNaN);
      a(j, j) = (j % 2 == 0 ? 3 : -3) + static_cast<double>(j) / 64;
    }
    return a;
  }
  /// What the errors of the divisions grow to.
  double tolerance() const { return 1000 * division_error(); }

  static constexpr std::size_t kSizes[] = {1, 2, 3, 4, 5, 31, 32, 33, 63, 64, 65, 100};
};

INSTANTIATE_TEST_SUITE_P(Kinds, Substitution, testing::ValuesIn(kinds_with(Texel::r)),
                         testing::PrintToStringParamName());

TEST_P(Substitution, GatherRows) {
  for (const std::size_t n : kOrders) {
    for (const std::size_t nrhs : {0, 1, 3, 5}) {
      const Matrix in = random(n, nrhs);
      std::vector<int> order(n);
      for (std::size_t i = 0; i < n; ++i) order[i] = as_int((i * 7 + 3) % n);
      // One more column, which is not a right-hand side.
      Matrix expected = poison(n, nrhs + 1);
      const cl::Buffer out = buffer(expected);
      gather_rows(context, buffer(in), out, order, nrhs, precision);
      for (std::size_t j = 0; j < nrhs; ++j) {
        for (std::size_t i = 0; i < n; ++i) expected(i, j) = in(order[i], j);
      }
      EXPECT_TRUE(equal(contents(out, n, nrhs + 1), expected));
    }
  }
}

TEST_P(Substitution, ForwardBlock) {
  for (const std::size_t n : kSizes) {
    const Matrix l = lower(n);
    const Surface source = surface(l);
    for (std::size_t first = 0; first < n; first += kBlock) {
      for (const std::size_t nrhs : {1, 2, 5}) {
        Matrix expected = random(n, nrhs);
        const cl::Buffer x = buffer(expected);
        run("dense/passes.cl", "forward_block", {nrhs * kBlock}, source, x, as_int(first),
            as_int(n), 0);
        host_forward_block(l, expected, first, std::min(first + kBlock, n));
        EXPECT_TRUE(equal(contents(x, n, nrhs), expected)) << n << ", from " << first;
      }
    }
  }
}

TEST_P(Substitution, BackBlock) {
  for (const std::size_t n : kSizes) {
    const Matrix u = upper(n);
    const Surface source = surface(u);
    for (std::size_t first = 0; first < n; first += kBlock) {
      for (const std::size_t nrhs : {1, 2, 5}) {
        Matrix expected = random(n, nrhs);
        const cl::Buffer x = buffer(expected);
        run("dense/passes.cl", "back_block", {nrhs * kBlock}, source, x, as_int(first), as_int(n),
            0);
        host_back_block(u, expected, first, std::min(first + kBlock, n));
        EXPECT_TRUE(equal(contents(x, n, nrhs), expected, tolerance())) << n << ", " << first;
      }
    }
  }
}

TEST_P(Substitution, SubtractBlock) {
  struct Rectangle {
    std::size_t top, bottom, first, last;
  };
  const Rectangle rectangles[] = {{32, 33, 0, 32},   {32, 97, 0, 32},  {64, 129, 32, 64},
                                  {0, 32, 32, 64},   {0, 64, 64, 65},  {0, 128, 128, 130},
                                  {65, 130, 64, 65}, {3, 3, 0, 2},     {1, 2, 0, 1},
                                  {0, 65, 66, 66},   {40, 103, 8, 40}, {128, 130, 96, 128}};
  const Matrix lu = random(130, 130);
  const Surface source = surface(lu);
  for (const auto& [top, bottom, first, last] : rectangles) {
    for (const std::size_t nrhs : {1, 2, 5}) {
      Matrix expected = random(130, nrhs);
      const cl::Buffer x = buffer(expected);
      run("dense/passes.cl", "subtract_block", {bottom - top, nrhs}, source, x, as_int(top),
          as_int(bottom), as_int(first), as_int(last), 130, 0);
      host_subtract(lu, expected, top, bottom, first, last);
      EXPECT_TRUE(equal(contents(x, 130, nrhs), expected)) << top << ":" << bottom;
    }
  }
}

TEST_P(Substitution, ForwardInBlocks) {
  for (const std::size_t n : {0, 1, 5, 31, 32, 33, 63, 64, 65, 97}) {
    for (const std::size_t nrhs : {0, 1, 3}) {
      const Matrix l = lower(n);
      Matrix expected = random(n, nrhs);
      const cl::Buffer x = buffer(expected);
      forward_substitution(context, surface(l), x, nrhs, Op::none);
      for (std::size_t first = 0; first < n; first += kBlock) {
        const std::size_t last = std::min(first + kBlock, n);
        host_forward_block(l, expected, first, last);
        host_subtract(l, expected, last, n, first, last);
      }
      EXPECT_TRUE(equal(contents(x, n, nrhs), expected)) << n;
    }
  }
}

TEST_P(Substitution, BackInBlocks) {
  for (const std::size_t n : {0, 1, 5, 31, 32, 33, 63, 64, 65, 97}) {
    for (const std::size_t nrhs : {0, 1, 3}) {
      const Matrix u = upper(n);
      Matrix expected = random(n, nrhs);
      const cl::Buffer x = buffer(expected);
      back_substitution(context, surface(u), x, nrhs, Op::none);
      // The last block is the one that may be short.
      for (std::size_t last = n; last > 0;) {
        const std::size_t first = (last - 1) / kBlock * kBlock;
        host_back_block(u, expected, first, last);
        host_subtract(u, expected, 0, first, first, last);
        last = first;
      }
      EXPECT_TRUE(equal(contents(x, n, nrhs), expected, tolerance())) << n;
    }
  }
}

// dense/fused.cl

/// Small, so that small systems have many.
constexpr Tile kTiles[] = {{1, 5, 3}, {8, 8, 4}, {16, 4, 8}};

/// One tile of rows for each work-group of a step that takes all, or two for odd n.
Tiling tiling_of(const Tile& tile, std::size_t n, std::size_t end, Precision precision,
                 Texel texel) {
  const std::size_t pack = elements_per_texel(precision, texel);
  Tiling tiling = {tile,
                   0,
                   n,
                   end,
                   pack,
                   pack * element_size(precision),
                   vector_width(shared_context().device(), precision)};
  if (n % 2 == 1) tiling.most_groups = (tiling.launch(0, 0).groups() + 1) / 2;
  return tiling;
}

enum class Elimination { lu, gauss_jordan };

class FusedSteps : public Kernels {
 protected:
  struct Step {
    Elimination elimination;
    const char* pivot;  // as in the names of the kernels
    std::size_t k, n, end;
    Place place;
  };
  /// What a step leaves.
  struct Left {
    Matrix target, pivots;
    Place next;
  };

  static bool is_lu(const Step& step) { return step.elimination == Elimination::lu; }
  /// The first row and the first texel that the step writes.
  static std::size_t first_row(const Step& step) {
    return is_lu(step) && step.k > 0 ? step.k - 1 : 0;
  }
  std::size_t first_texel(const Step& step) const {
    return (is_lu(step) ? first_row(step) : step.k + 1) / pack();
  }

  /// Launches the step, and the choice of the next pivot, as dense/fused.cpp does.
  Left launch(const Step& step, const Tile& tile, const Matrix& source, const Matrix& before) {
    const Tiling tiling = tiling_of(tile, step.n, step.end, precision, texel);
    const Tiling::Launch cut = tiling.launch(first_row(step), pack() * first_texel(step));

    const Surface src = surface(source), dst = surface(before);
    std::vector<Place> known(step.n + 1, Place{-7, -9});
    known[step.k] = step.place;
    const cl::Buffer places = buffer_of(context, known);
    const cl::Buffer pivots = buffer(poison(step.n, 1));
    const cl::Buffer magnitudes = buffer(Matrix(cut.groups(), 1));
    const cl::Buffer candidates =
        buffer_of(context, std::vector<Place>(cut.groups(), Place{-7, -9}));
    const std::string kernel =
        std::string(is_lu(step) ? "lu" : "gauss_jordan") + "_step_" + step.pivot;
    const std::string options = tiling.options();
    context.run("test", src.kernel("dense/fused.cl", kernel.c_str(), options),
                {cut.group_columns * tile.lanes, cut.group_rows}, src, dst, places, pivots,
                magnitudes, candidates, as_int(step.k), as_int(step.n), as_int(step.end),
                as_int(cut.rows));
    const bool all = step.pivot == std::string("full");
    context.run("test", src.kernel("dense/fused.cl", "choose_pivot", options), {Tiling::kChoosers},
                magnitudes, candidates, places, as_int(step.k + 1),
                as_int(all ? cut.groups() : cut.group_rows));
    return {contents(dst), contents(pivots, step.n, 1),
            values_of<Place>(context, places, step.n + 1)[step.k + 1]};
  }

  /// The same on the host; elements that the step does not write are those of `before`.
  Matrix host(const Step& step, const Matrix& source, const Matrix& before) const {
    const std::size_t k = step.k;
    const std::size_t p = step.place.row, q = step.place.column;
    Matrix a = source;  // with rows and columns interchanged
    const auto swap_rows = [&](std::size_t j) { std::swap(a(k, j), a(p, j)); };
    const auto swap_columns = [&](std::size_t i) { std::swap(a(i, k), a(i, q)); };
    for (std::size_t j = k; j < step.end; ++j) swap_rows(j);
    for (std::size_t i = is_lu(step) ? k : 0; i < step.n; ++i) swap_columns(i);

    Matrix target = before;
    for (std::size_t j = first_texel(step) * pack(); j < step.end; ++j) {
      for (std::size_t i = first_row(step); i < step.n; ++i) {
        target(i, j) = is_lu(step) ? host_lu(a, k, i, j) : host_gauss_jordan(a, k, i, j);
      }
    }
    return target;
  }

 private:
  // Column k is left undivided.
  double host_lu(const Matrix& a, std::size_t k, std::size_t i, std::size_t j) const {
    if (i <= k || j <= k || a(k, k) == 0) return a(i, j);
    return multiply_add(-quotient(a(i, k), a(k, k)), a(k, j), a(i, j));
  }
  double host_gauss_jordan(const Matrix& a, std::size_t k, std::size_t i, std::size_t j) const {
    if (j <= k) return kNaN;  // no longer needed
    const double reduced = a(k, k) == 0 ? a(k, j) : quotient(a(k, j), a(k, k));
    return i == k ? reduced : multiply_add(-a(i, k), reduced, a(i, j));
  }
};

INSTANTIATE_TEST_SUITE_P(Kinds, FusedSteps, testing::ValuesIn(pairwise_kinds()),
                         testing::PrintToStringParamName());

/// Gauss-Jordan leaves anything in the columns up to k.
Matrix without_columns(Matrix a, std::size_t count) {
  std::fill_n(a.values().begin(), count * a.rows(), 0);
  return a;
}

/// Places of the pivot of step k, from the diagonal to the last corner.
std::vector<Place> pivot_places(const std::string& pivot, std::size_t k, std::size_t n) {
  std::vector<Place> places;
  for (const std::size_t p : {k, (k + n) / 2, n - 1}) {
    for (const std::size_t q : {k, (k + n) / 2, n - 1}) {
      if (pivot == "none" && p != k) continue;
      if (pivot != "full" && q != k) continue;
      places.push_back({as_int(p), as_int(q)});
    }
  }
  return places;
}

constexpr const char* kPivotings[] = {"none", "partial", "full"};
// Around one, two and more tiles, and texels of 2 and 4 elements.
constexpr std::size_t kFusedOrders[] = {1, 2, 3, 4, 5, 7, 8, 9, 12, 17, 32, 35, 41};

TEST_P(FusedSteps, Lu) {
  for (const Tile& tile : kTiles) {
    for (const char* pivot : {"none", "partial"}) {
      for (const std::size_t n : kFusedOrders) {
        const Matrix source = random(n, n), before = poison(n, n);
        for (const std::size_t k : steps_of(n)) {
          for (const Place& place : pivot_places(pivot, k, n)) {
            const Step step = {Elimination::lu, pivot, k, n, n, place};
            const Left left = launch(step, tile, source, before);
            const Matrix expected = host(step, source, before);
            ASSERT_TRUE(equal(left.target, expected, 1000 * division_error()))
                << pivot << ", step " << k << ", tile of " << tile.lanes;
            EXPECT_EQ(left.pivots(k, 0), source(place.row, place.column));
            if (pivot == std::string("none") || k + 1 == n) continue;
            EXPECT_EQ(left.next, largest(left.target, k + 1, n, k + 2))
                << pivot << ", step " << k << " of " << n << ", tile of " << tile.lanes;
          }
        }
      }
    }
  }
}

TEST_P(FusedSteps, GaussJordan) {
  for (const Tile& tile : kTiles) {
    for (const char* pivot : kPivotings) {
      for (const std::size_t n : kFusedOrders) {
        const std::size_t end = n + 1 + n % 6;
        const Matrix source = random(n, end), before = poison(n, end);
        for (const std::size_t k : steps_of(n)) {
          for (const Place& place : pivot_places(pivot, k, n)) {
            const Step step = {Elimination::gauss_jordan, pivot, k, n, end, place};
            const Left left = launch(step, tile, source, before);
            const Matrix expected = host(step, source, before);
            ASSERT_TRUE(equal(without_columns(left.target, k + 1), without_columns(expected, k + 1),
                              1000 * division_error()))
                << pivot << ", step " << k << ", tile of " << tile.lanes;
            EXPECT_EQ(left.pivots(k, 0), source(place.row, place.column));
            if (pivot == kPivotings[0] || k + 1 == n) continue;
            const std::size_t searched = pivot == kPivotings[1] ? k + 2 : n;
            EXPECT_EQ(left.next, largest(left.target, k + 1, n, searched))
                << pivot << ", step " << k << " of " << n << ", tile of " << tile.lanes;
          }
        }
      }
    }
  }
}

TEST_P(FusedSteps, ZeroPivotLeavesTheRestAsItIs) {
  for (const Tile& tile : kTiles) {
    Matrix source = random(17, 17);
    source(2, 2) = 0;
    const Step step = {Elimination::lu, "none", 2, 17, 17, {2, 2}};
    const Left left = launch(step, tile, source, poison(17, 17));
    EXPECT_EQ(left.pivots(2, 0), 0);
    for (std::size_t j = 2; j < 17; ++j) {
      for (std::size_t i = 1; i < 17; ++i) ASSERT_EQ(left.target(i, j), source(i, j));
    }
  }
}

// The multiplier of every row below k is 1, and row k is zero from there on: what remains is the
// source, whose ties and NaN are seen by the search.
TEST_P(FusedSteps, NextPivotAmongTiesAndNaN) {
  for (const Tile& tile : kTiles) {
    for (const std::size_t n : {5, 9, 17, 41}) {
      for (const std::size_t k : {0, 2, 3}) {
        Matrix source = with_ties(n, n, n + k);
        for (std::size_t j = 0; j < n; ++j) source(k, j) = 0;
        for (std::size_t i = 0; i < n; ++i) source(i, k) = 1;
        const Place diagonal = {as_int(k), as_int(k)};
        const Step partial = {Elimination::lu, "partial", k, n, n, diagonal};
        EXPECT_EQ(launch(partial, tile, source, Matrix(n, n)).next,
                  largest(source, k + 1, n, k + 2))
            << n << ", step " << k;
        // Which of the largest is taken depends on the tiles.
        const Step full = {Elimination::gauss_jordan, "full", k, n, n, diagonal};
        const Place best = largest(source, k + 1, n, n);
        const Place next = launch(full, tile, source, Matrix(n, n)).next;
        ASSERT_TRUE(next.row > as_int(k) && next.column > as_int(k));
        EXPECT_EQ(std::abs(source(next.row, next.column)), std::abs(source(best.row, best.column)))
            << n << ", step " << k;
      }
    }
  }
}

TEST_P(FusedSteps, NextPivotOfZerosIsTheDiagonal) {
  for (const Tile& tile : kTiles) {
    for (const char* pivot : {"partial", "full"}) {
      for (const Elimination elimination : {Elimination::lu, Elimination::gauss_jordan}) {
        Matrix source(9, 11);
        source(2, 2) = 1;
        if (elimination == Elimination::lu) {
          if (pivot == std::string("full")) continue;
          source = Matrix(9, 9);
        }
        const Step step = {elimination, pivot, 2, 9, source.cols(), {2, 2}};
        EXPECT_EQ(launch(step, tile, source, source).next, (Place{3, 3})) << pivot;
      }
    }
  }
}

TEST_P(FusedSteps, ChoosePivotTakesTheFirstOfTheLargest) {
  const std::string options = tiling_of(kTiles[0], 1, 1, precision, texel).options();
  for (const std::size_t count : {1, 2, 5, 255, 256, 257, 600}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      // Magnitudes of 0 to 4; all zero for the last seed.
      Matrix magnitudes = random_matrix(count, 1, seed);
      for (double& value : magnitudes.values()) {
        value = seed == 3 ? 0 : std::round(std::abs(8 * value));
      }
      std::vector<Place> candidates(count);
      for (std::size_t c = 0; c < count; ++c) candidates[c] = {as_int(c + 10), as_int(2 * c)};
      const auto first = std::max_element(magnitudes.values().begin(), magnitudes.values().end());
      const Place expected =
          *first > 0 ? candidates[first - magnitudes.values().begin()] : Place{1, 1};
      const cl::Buffer places = buffer_of(context, std::vector<Place>(3, Place{-7, -9}));
      context.run("test", {"dense/fused.cl", "choose_pivot", precision, storage, texel, options},
                  {Tiling::kChoosers}, buffer(magnitudes), buffer_of(context, candidates), places,
                  1, as_int(count));
      EXPECT_EQ(values_of<Place>(context, places, 3),
                (std::vector<Place>{{-7, -9}, expected, {-7, -9}}));
    }
  }
}

// dense/full_pivoting.cl

class FullPivotingSteps : public Kernels {
 protected:
  static constexpr std::size_t kDelay = 4;
  // Wide enough for the vectors of a CPU too.
  static constexpr Tile kTiles[] = {{1, 100, 6}, {16, 4, 8}};

  /// What the steps hand on.
  struct State {
    State(FullPivotingSteps& test, const Matrix& a)
        : source(test.surface(a)),
          target(test.surface(poison(a.rows(), a.cols()))),
          pivots(test.buffer(poison(a.rows(), 1))),
          l(test.buffer(poison(kDelay * (a.rows() + 3), 1))),
          u(test.buffer(poison(kDelay * (a.rows() + 3), 1))),
          magnitudes(test.buffer(poison(1, 1))),
          candidates(buffer_of(test.context, std::vector<Place>(1))),
          places(a.rows(), Place{-7, -9}) {}
    Surface source, target;
    cl::Buffer pivots, l, u, magnitudes, candidates;
    std::vector<Place> places;
    std::size_t candidate_count = 0;
  };

  static std::size_t first_of(std::size_t k) { return k / kDelay * kDelay; }
  static bool writes(std::size_t k, std::size_t n) {
    return k + 1 == n || k % kDelay + 1 == kDelay;
  }
  /// The first row and column that step k takes.
  static std::size_t begin_of(std::size_t k, std::size_t n) {
    const std::size_t first = first_of(k);
    return writes(k, n) && first > 0 ? first - kDelay : first;
  }

  Tiling tiling(const State& state, const Tile& tile) const {
    const std::size_t n = state.source.rows();
    return tiling_of(tile, n, n, precision, texel);
  }
  KernelId kernel(const State& state, const Tile& tile, const char* function) const {
    const std::string options =
        tiling(state, tile).options() + " -DDELAY=" + std::to_string(kDelay);
    return state.source.kernel("dense/full_pivoting.cl", function, options);
  }

  /// The first half of step k: places[k] from the candidates of the step before, if there are any,
  /// as dense/full_pivoting.cpp does it.
  void take_pivot(State& state, const Tile& tile, std::size_t k) {
    const cl::Buffer places = buffer_of(context, state.places);
    context.run("test", kernel(state, tile, "take_pivot"), {300}, state.source, state.magnitudes,
                state.candidates, places, state.pivots, state.l, state.u, as_int(k),
                as_int(state.source.rows()), as_int(state.candidate_count));
    state.places = values_of<Place>(context, places, state.places.size());
  }

  /// The second half, but the surfaces are not swapped.
  void update(State& state, const Tile& tile, std::size_t k) {
    const std::size_t n = state.source.rows();
    const std::size_t begin = begin_of(k, n);
    const Tiling::Launch cut = tiling(state, tile).launch(begin, begin);
    state.candidate_count = cut.groups();
    state.magnitudes = buffer(Matrix(state.candidate_count, 1));
    state.candidates = buffer_of(context, std::vector<Place>(state.candidate_count, Place{-7, -9}));
    const char* step = writes(k, n) ? "write_updates" : "delay_update";
    context.run("test", kernel(state, tile, step), {cut.group_columns * tile.lanes, cut.group_rows},
                state.source, state.target, buffer_of(context, state.places), state.l, state.u,
                state.magnitudes, state.candidates, as_int(k), as_int(n), as_int(cut.rows));
  }

  /// Step k of LU on a, with the interchanges of the rows and columns from `first` on.
  void host_step(Matrix& a, std::size_t k, std::size_t first, const Place& place) const {
    const std::size_t n = a.rows();
    for (std::size_t j = first; j < n; ++j) std::swap(a(k, j), a(place.row, j));
    for (std::size_t i = first; i < n; ++i) std::swap(a(i, k), a(i, place.column));
    if (a(k, k) == 0) return;
    for (std::size_t j = k + 1; j < n; ++j) {
      for (std::size_t i = k + 1; i < n; ++i) {
        a(i, j) = multiply_add(-quotient(a(i, k), a(k, k)), a(k, j), a(i, j));
      }
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Kinds, FullPivotingSteps, testing::ValuesIn(pairwise_kinds()),
                         testing::PrintToStringParamName());

TEST_P(FullPivotingSteps, AsIfEveryStepWrote) {
  for (const Tile& tile : kTiles) {
    for (const std::size_t n : {1, 2, 3, 4, 5, 7, 8, 9, 12, 17, 35, 41, 150}) {
      if (n > 100 && tile.lanes > 1) continue;
      Matrix a = random(n, n);
      State state(*this, a);
      state.places[0] = largest(a, 0, n, n);
      Matrix source = a, target = poison(n, n);
      for (std::size_t k = 0; k < n; ++k) {
        take_pivot(state, tile, k);
        const Place place = state.places[k], best = largest(a, k, n, n);
        ASSERT_TRUE(place.row >= as_int(k) && place.column >= as_int(k));
        ASSERT_EQ(std::abs(a(place.row, place.column)), std::abs(a(best.row, best.column)))
            << "step " << k << " of " << n << ", tile of " << tile.lanes;
        host_step(a, k, first_of(k), place);
        ASSERT_EQ(contents(state.pivots, n, 1)(k, 0), a(k, k));
        update(state, tile, k);
        if (!writes(k, n)) continue;
        for (std::size_t j = begin_of(k, n); j < n; ++j) {
          for (std::size_t i = begin_of(k, n); i < n; ++i) target(i, j) = a(i, j);
        }
        ASSERT_TRUE(equal(contents(state.target), target)) << "step " << k << " of " << n;
        std::swap(state.source, state.target);
        std::swap(source, target);
      }
    }
  }
}

// Row and column k of A are zero but for the pivot, for every k of the first block: what remains is
// A, whose ties and NaN are seen by the search.
TEST_P(FullPivotingSteps, NextPivotAmongTiesAndNaN) {
  for (const Tile& tile : kTiles) {
    for (const std::size_t n : {5, 9, 17, 41}) {
      Matrix a = with_ties(n, n, n);
      for (std::size_t k = 0; k < kDelay; ++k) {
        for (std::size_t i = 0; i < n; ++i) a(i, k) = a(k, i) = i == k ? 1 : 0;
      }
      State state(*this, a);
      for (std::size_t k = 0; k < kDelay; ++k) {
        state.places[k] = {as_int(k), as_int(k)};
        state.candidate_count = 0;
        take_pivot(state, tile, k);
        update(state, tile, k);
        if (writes(k, n)) std::swap(state.source, state.target);
        take_pivot(state, tile, k + 1);
        // Which of the largest is taken depends on the tiles.
        const Place best = largest(a, k + 1, n, n), next = state.places[k + 1];
        ASSERT_TRUE(next.row > as_int(k) && next.column > as_int(k));
        EXPECT_EQ(std::abs(a(next.row, next.column)), std::abs(a(best.row, best.column)))
            << n << ", step " << k;
      }
    }
  }
}

TEST_P(FullPivotingSteps, NextPivotOfZerosIsTheDiagonal) {
  for (const Tile& tile : kTiles) {
    State state(*this, Matrix(9, 9));
    state.places[0] = {0, 0};
    for (std::size_t k = 0; k < 6; ++k) {
      take_pivot(state, tile, k);
      EXPECT_EQ(state.places[k], (Place{as_int(k), as_int(k)}));
      update(state, tile, k);
      if (writes(k, 9)) std::swap(state.source, state.target);
    }
    EXPECT_EQ(contents(state.source)(8, 8), 0);
  }
}

// dense/finish.clh

/// Places of pivots as a factorization leaves them: row and column of step k are k or later.
std::vector<Place> random_places(std::size_t n) {
  const Matrix random = random_matrix(n, 2, n);
  std::vector<Place> places(n);
  for (std::size_t k = 0; k < n; ++k) {
    const auto later = [&](double r) {
      return as_int(k + static_cast<std::size_t>((r + 0.5) * static_cast<double>(n - k)));
    };
    places[k] = {later(random(k, 0)), later(random(k, 1))};
  }
  return places;
}

TEST_P(FusedSteps, FinishLower) {
  for (const std::size_t n : {1, 2, 3, 4, 5, 31, 63, 64, 65, 127, 129}) {
    const Matrix source = random(n, n);
    Matrix pivots = random(n, 1);
    pivots(n / 2, 0) = 0;
    const std::vector<Place> places = random_places(n);
    for (const std::size_t block : {0, 1, 4}) {  // 0: without pivoting
      Matrix expected = source;
      for (std::size_t j = 0; j < n; ++j) {
        // The interchanges of the steps after j and its block, in their order.
        for (std::size_t t = block == 0 ? n : (j / block + 1) * block; t < n; ++t) {
          std::swap(expected(t, j), expected(places[t].row, j));
        }
        for (std::size_t i = j + 1; i < n; ++i) {
          if (pivots(j, 0) != 0) expected(i, j) = quotient(expected(i, j), pivots(j, 0));
        }
      }
      const Surface src = surface(source), dst = surface(poison(n, n));
      run("dense/passes.cl", "finish_lower", {n}, src, dst, buffer_of(context, places),
          buffer(pivots), as_int(n), cl_int{block > 0}, as_int(std::max<std::size_t>(block, 1)));
      EXPECT_TRUE(equal(contents(dst), expected, division_error())) << n;
    }
  }
}

TEST_P(FusedSteps, FinishUpper) {
  for (const std::size_t n : {1, 2, 3, 4, 5, 31, 63, 64, 65, 127, 129, 257}) {
    const Matrix source = random(n, n);
    const std::vector<Place> places = random_places(n);
    for (const std::size_t block : {1, 4}) {
      Matrix expected = source;
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t t = (i / block + 1) * block; t < n; ++t) {
          std::swap(expected(i, t), expected(i, places[t].column));
        }
      }
      const Surface src = surface(source), dst = surface(poison(n, n));
      run("dense/passes.cl", "finish_upper", {(n + pack() - 1) / pack()}, src, dst,
          buffer_of(context, places), as_int(n), as_int(block));
      EXPECT_TRUE(equal(contents(dst), expected)) << n << ", blocks of " << block;
    }
  }
}

// gpu/update_arguments.h

TEST(UpdateArguments, ArriveAsTheyWereSent) {
  Folder folder;
  const fs::path kernels = folder.path() / "kernels";
  fs::copy(fs::path(LUGPU_SOURCE_DIR) / "kernels", kernels, fs::copy_options::recursive);
  write_text(kernels / "gpu/echo.cl", R"(#include "gpu/update_arguments.h"
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void echo(int before, const update_arguments u, __global int* out) {
  const int members[] = {
      before, u.m, u.panel.column, u.panel.width, u.panel.column_end, u.panel.groups, u.panel.k,
      u.panel.k_end, u.tickets.word, u.tickets.drawn, u.near_region.column,
      u.near_region.column_end, u.near_region.k, u.near_region.k_end, u.far_region.column,
      u.far_region.column_end, u.far_region.k, u.far_region.k_end, u.split.row, u.split.column,
      u.split.rows, u.split.columns, u.split_near};
  for (int i = 0; i < 23; ++i) out[i] = members[i];
}
)");
  DeviceContext context(shared_context().device(), {kernels.string()});
  const update_arguments arguments = {
      1, {2, 3, 4, 5, 6, 7}, {8, 9}, {10, 11, 12, 13}, {14, 15, 16, 17}, {18, 19, 20, 21}, 22};
  const cl::Buffer out = context.allocate(23 * sizeof(cl_int));
  const KernelId echo = {"gpu/echo.cl", "echo", Precision::single_precision, Storage::buffer};
  context.run("test", echo, {1}, cl_int{0}, arguments, out);
  std::vector<cl_int> members(23), expected(23);
  context.read_back("test", out, 0, 23 * sizeof(cl_int), members.data());
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(members, expected);
}

}  // namespace
}  // namespace lugpu

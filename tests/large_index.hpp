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
#pragma once

#include <sys/prctl.h>

#include <array>

#include "base/host_memory.hpp"
#include "opencl_fixture.hpp"

namespace lugpu {

constexpr std::size_t kCorner = 16;  // rows and columns at the ends that are filled, or more
constexpr std::size_t kBlock = 32;   // BLOCK of dense/substitute.clh

/// Random integers from -most to most.
inline Matrix integers(std::size_t rows, std::size_t columns, std::uint64_t seed, double most = 3) {
  Matrix a = random_matrix(rows, columns, seed);
  for (double& value : a.values()) value = std::round(2 * most * value);
  return a;
}

/// Rows (or columns) at the beginning of others.
inline void put(Matrix& a, std::size_t row, std::size_t column, const Matrix& part) {
  for (std::size_t j = 0; j < part.cols(); ++j) {
    std::copy_n(part.column(j), part.rows(), a.column(column + j) + row);
  }
}

inline void swap_rows(Matrix& a, std::size_t i, std::size_t k) {
  for (std::size_t j = 0; j < a.cols(); ++j) std::swap(a(i, j), a(k, j));
}
inline void swap_columns(Matrix& a, std::size_t j, std::size_t k) {
  for (std::size_t i = 0; i < a.rows(); ++i) std::swap(a(i, j), a(i, k));
}

/// The same numbers; 0 is -0 too.
inline testing::AssertionResult same(Matrix actual, Matrix expected) {
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
inline void PrintTo(const PlaceInt& place, std::ostream* out) {
  *out << "(" << place.row << ", " << place.column << ")";
}

/// The first element of largest magnitude of the rows from k on and columns k : end.
inline PlaceInt largest(const Matrix& a, std::size_t k, std::size_t end) {
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
inline void PrintTo(const LargeKind& kind, std::ostream* out) {
  *out << name(kind.precision) << "_" << kind.n;
}

/// A small order, the first one whose matrix has more than 2^31 elements, and 2^16, whose matrix
/// has more than 2^32 with its padding.
inline std::vector<LargeKind> large_kinds() {
  std::vector<LargeKind> kinds;
  for (const std::size_t n : {326, 46342, 65536}) {
    kinds.push_back({Precision::single_precision, n});
    kinds.push_back({Precision::double_precision, n});
  }
  return kinds;
}

/// Matrices of order n, two of which have to fit.
class LargeIndex : public testing::TestWithParam<LargeKind> {
 protected:
  using Place = std::array<cl::size_type, 3>;

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
    return poison(rows, columns);
  }

  template <typename T>
  cl::Buffer buffer(const std::vector<T>& values) {
    return lugpu::buffer_of(context, values);
  }
  template <typename T>
  std::vector<T> values_of(const cl::Buffer& from, std::size_t count) {
    return lugpu::values_of<T>(context, from, count);
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

}  // namespace lugpu

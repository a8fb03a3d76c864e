#include "operators/product.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "base/parallel.hpp"

// The best of these is chosen when the program starts. Sanitizers run before that.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define LUGPU_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define LUGPU_CLONES
#endif

namespace lugpu {
namespace {

// Lines are the columns of A or, by rows, its rows: contiguous elements.
template <typename T>
struct Lines {
  const T* data;
  std::size_t count, length, ld;
  bool magnitudes;  // |A| in place of A
};

// Some places of some lines.
template <typename T>
struct Block {
  const T* data;  // the first place of the first line
  std::size_t lines, places, ld;
  bool magnitudes;
};

template <typename T>
inline double element(T value, std::uint64_t mask) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(static_cast<double>(value)) & mask);
}

constexpr std::uint64_t mask_of(bool magnitudes) {
  return magnitudes ? ~(std::uint64_t{1} << 63) : ~std::uint64_t{0};
}

// y(i) += sum over lines k of alpha a_k(i) x(k), four lines at a time
template <typename T>
inline void add_lines(const Block<T>& a, double alpha, const double* x, double* y) {
  const std::uint64_t mask = mask_of(a.magnitudes);
  std::size_t k = 0;
  for (; k + 4 <= a.lines; k += 4) {
    const T *a0 = a.data + k * a.ld, *a1 = a0 + a.ld, *a2 = a1 + a.ld, *a3 = a2 + a.ld;
    const double x0 = alpha * x[k], x1 = alpha * x[k + 1], x2 = alpha * x[k + 2],
                 x3 = alpha * x[k + 3];
#pragma omp simd
    for (std::size_t i = 0; i < a.places; ++i) {
      y[i] += (element(a0[i], mask) * x0 + element(a1[i], mask) * x1) +
              (element(a2[i], mask) * x2 + element(a3[i], mask) * x3);
    }
  }
  for (; k < a.lines; ++k) {
    const T* line = a.data + k * a.ld;
    const double factor = alpha * x[k];
#pragma omp simd
    for (std::size_t i = 0; i < a.places; ++i) y[i] += element(line[i], mask) * factor;
  }
}

// The same for four columns of X and Y, whose elements are ldx and ldy apart.
template <typename T>
inline void add_lines_4(const Block<T>& a, double alpha, const double* x, std::size_t ldx,
                        double* y, std::size_t ldy) {
  const std::uint64_t mask = mask_of(a.magnitudes);
  double *y0 = y, *y1 = y + ldy, *y2 = y1 + ldy, *y3 = y2 + ldy;
  std::size_t k = 0;
  for (; k + 2 <= a.lines; k += 2) {
    const T *line = a.data + k * a.ld, *next = line + a.ld;
    const double* x0 = x + k;
    const double p0 = alpha * x0[0], p1 = alpha * x0[ldx], p2 = alpha * x0[2 * ldx],
                 p3 = alpha * x0[3 * ldx];
    const double q0 = alpha * x0[1], q1 = alpha * x0[ldx + 1], q2 = alpha * x0[2 * ldx + 1],
                 q3 = alpha * x0[3 * ldx + 1];
#pragma omp simd
    for (std::size_t i = 0; i < a.places; ++i) {
      const double v = element(line[i], mask), w = element(next[i], mask);
      y0[i] += v * p0 + w * q0;
      y1[i] += v * p1 + w * q1;
      y2[i] += v * p2 + w * q2;
      y3[i] += v * p3 + w * q3;
    }
  }
  if (k < a.lines) {
    for (std::size_t c = 0; c < 4; ++c) {
      add_lines(Block<T>{a.data + k * a.ld, 1, a.places, a.ld, a.magnitudes}, alpha,
                x + c * ldx + k, y + c * ldy);
    }
  }
}

// y(k) += alpha a_k' x for all lines k, four at a time
template <typename T>
inline void add_dots(const Block<T>& a, double alpha, const double* x, double* y) {
  const std::uint64_t mask = mask_of(a.magnitudes);
  std::size_t k = 0;
  for (; k + 4 <= a.lines; k += 4) {
    const T *a0 = a.data + k * a.ld, *a1 = a0 + a.ld, *a2 = a1 + a.ld, *a3 = a2 + a.ld;
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
    for (std::size_t i = 0; i < a.places; ++i) {
      s0 += element(a0[i], mask) * x[i];
      s1 += element(a1[i], mask) * x[i];
      s2 += element(a2[i], mask) * x[i];
      s3 += element(a3[i], mask) * x[i];
    }
    y[k] += alpha * s0, y[k + 1] += alpha * s1, y[k + 2] += alpha * s2, y[k + 3] += alpha * s3;
  }
  for (; k < a.lines; ++k) {
    const T* line = a.data + k * a.ld;
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::size_t i = 0; i < a.places; ++i) sum += element(line[i], mask) * x[i];
    y[k] += alpha * sum;
  }
}

template <typename T>
inline void add_block(const Block<T>& a, double alpha, const Matrix& x, std::size_t first_line,
                      std::size_t first_place, Matrix& y) {
  std::size_t c = 0;
  for (; c + 4 <= x.cols(); c += 4) {
    add_lines_4(a, alpha, x.column(c) + first_line, x.rows(), y.column(c) + first_place, y.rows());
  }
  for (; c < x.cols(); ++c) {
    add_lines(a, alpha, x.column(c) + first_line, y.column(c) + first_place);
  }
}

template <typename T>
inline void dot_block(const Block<T>& a, double alpha, const Matrix& x, std::size_t first_line,
                      std::size_t first_place, Matrix& y) {
  for (std::size_t c = 0; c < x.cols(); ++c) {
    add_dots(a, alpha, x.column(c) + first_place, y.column(c) + first_line);
  }
}

LUGPU_CLONES void add_block_of(const Block<float>& a, double alpha, const Matrix& x,
                               std::size_t first_line, std::size_t first_place, Matrix& y) {
  add_block(a, alpha, x, first_line, first_place, y);
}
LUGPU_CLONES void add_block_of(const Block<double>& a, double alpha, const Matrix& x,
                               std::size_t first_line, std::size_t first_place, Matrix& y) {
  add_block(a, alpha, x, first_line, first_place, y);
}
LUGPU_CLONES void dot_block_of(const Block<float>& a, double alpha, const Matrix& x,
                               std::size_t first_line, std::size_t first_place, Matrix& y) {
  dot_block(a, alpha, x, first_line, first_place, y);
}
LUGPU_CLONES void dot_block_of(const Block<double>& a, double alpha, const Matrix& x,
                               std::size_t first_line, std::size_t first_place, Matrix& y) {
  dot_block(a, alpha, x, first_line, first_place, y);
}

// Y += alpha A X, where A has the lines as its columns: a part of all lines at a time, so that its
// part of Y stays in the first-level cache.
template <typename T>
void add_product(const Lines<T>& a, double alpha, const Matrix& x, Matrix& y) {
  constexpr std::size_t kPlaces = 1024, kLines = 64;
  in_parallel((a.length + kPlaces - 1) / kPlaces, kPlaces * a.count * sizeof(T) * x.cols(),
              [&](std::size_t part) {
                const std::size_t place = part * kPlaces;
                const std::size_t places = std::min(kPlaces, a.length - place);
                for (std::size_t line = 0; line < a.count; line += kLines) {
                  const std::size_t lines = std::min(kLines, a.count - line);
                  add_block_of(
                      Block<T>{a.data + line * a.ld + place, lines, places, a.ld, a.magnitudes},
                      alpha, x, line, place, y);
                }
              });
}

// Y += alpha A X, where A has the lines as its rows.
template <typename T>
void add_product_of_rows(const Lines<T>& a, double alpha, const Matrix& x, Matrix& y) {
  constexpr std::size_t kPlaces = 2048, kLines = 16;
  in_parallel((a.count + kLines - 1) / kLines, kLines * a.length * sizeof(T) * x.cols(),
              [&](std::size_t part) {
                const std::size_t line = part * kLines;
                const std::size_t lines = std::min(kLines, a.count - line);
                for (std::size_t place = 0; place < a.length; place += kPlaces) {
                  const std::size_t places = std::min(kPlaces, a.length - place);
                  dot_block_of(
                      Block<T>{a.data + line * a.ld + place, lines, places, a.ld, a.magnitudes},
                      alpha, x, line, place, y);
                }
              });
}

// Y += alpha op(A) X, or with |A|
void add_product(const MatrixView& a, Op op, bool magnitudes, double alpha, const Matrix& x,
                 Matrix& y) {
  if (x.values().empty() || y.values().empty()) return;
  a.visit([&](const auto& view) {
    using T = std::remove_const_t<std::remove_pointer_t<decltype(view.data)>>;
    const bool by_columns = view.order == Order::columns;
    const Lines<T> lines{view.data, by_columns ? view.columns : view.rows,
                         by_columns ? view.rows : view.columns, view.ld, magnitudes};
    if (by_columns == (op == Op::none)) {
      add_product(lines, alpha, x, y);
    } else {
      add_product_of_rows(lines, alpha, x, y);
    }
  });
}

// Calls action(k) for every entry k of row i.
template <typename Action>
inline void for_each_entry(const Sparse& a, std::size_t i, const Action& action) {
  const auto end = static_cast<std::size_t>(a.row_begin()[i + 1]);
  for (auto k = static_cast<std::size_t>(a.row_begin()[i]); k < end; ++k) action(k);
}

// What a product goes through for one column of X.
std::size_t bytes_of(const Sparse& a) {
  return a.values().size() * (sizeof(double) + sizeof(std::int32_t));
}

// Y += alpha A X, or with |A|. An element of Y needs one row: threads share the rows.
void add_product(const Sparse& a, bool magnitudes, double alpha, const Matrix& x, Matrix& y) {
  constexpr std::size_t kRows = 512;  // their entries stay in the cache for the columns of X
  const std::size_t parts = (a.rows() + kRows - 1) / kRows;
  const std::uint64_t mask = mask_of(magnitudes);
  const double* const values = a.values().data();
  const std::int32_t* const columns = a.columns().data();
  in_parallel(
      parts, bytes_of(a) / std::max<std::size_t>(parts, 1) * x.cols(), [&](std::size_t part) {
        const std::size_t end = std::min((part + 1) * kRows, a.rows());
        for (std::size_t c = 0; c < x.cols(); ++c) {
          const double* const from = x.column(c);
          double* const to = y.column(c);
          for (std::size_t i = part * kRows; i < end; ++i) {
            double sum = 0;
            for_each_entry(
                a, i, [&](std::size_t k) { sum += element(values[k], mask) * from[columns[k]]; });
            to[i] += alpha * sum;
          }
        }
      });
}

// Y += A' X. Every row adds to many elements of a column of Y: threads share the columns.
void add_transposed_product(const Sparse& a, const Matrix& x, Matrix& y) {
  const double* const values = a.values().data();
  const std::int32_t* const columns = a.columns().data();
  in_parallel(x.cols(), bytes_of(a), [&](std::size_t c) {
    double* const to = y.column(c);
    for (std::size_t i = 0; i < a.rows(); ++i) {
      const double factor = x(i, c);
      for_each_entry(a, i, [&](std::size_t k) { to[columns[k]] += values[k] * factor; });
    }
  });
}

Matrix magnitudes(Matrix a) {
  for (double& value : a.values()) value = std::abs(value);
  return a;
}

}  // namespace

Matrix multiply(const MatrixView& a, Op op, const Matrix& x) {
  Matrix y(op == Op::none ? a.rows() : a.cols(), x.cols());
  add_product(a, op, false, 1, x, y);
  return y;
}

Matrix residual(const MatrixView& a, const Matrix& x, Matrix b) {
  add_product(a, Op::none, false, -1, x, b);
  return b;
}

Matrix residual_sizes(const MatrixView& a, const Matrix& x, const Matrix& b) {
  Matrix sizes = magnitudes(b);
  add_product(a, Op::none, true, 1, magnitudes(x), sizes);
  return sizes;
}

Matrix multiply(const Sparse& a, Op op, const Matrix& x) {
  Matrix y(op == Op::none ? a.rows() : a.cols(), x.cols());
  if (op == Op::none) {
    add_product(a, false, 1, x, y);
  } else {
    add_transposed_product(a, x, y);
  }
  return y;
}

Matrix residual(const Sparse& a, const Matrix& x, Matrix b) {
  add_product(a, false, -1, x, b);
  return b;
}

Matrix residual_sizes(const Sparse& a, const Matrix& x, const Matrix& b) {
  Matrix sizes = magnitudes(b);
  add_product(a, true, 1, magnitudes(x), sizes);
  return sizes;
}

}  // namespace lugpu

// Matrices of the caller.
#pragma once

#include <cstddef>
#include <type_traits>

namespace lugpu {

/// How the elements follow one another in memory.
enum class Order {
  columns,  ///< column after column, as in LAPACK
  rows,     ///< row after row, as in C
};

/// A rows x columns matrix in memory that somebody else owns. Element (i, j), 0-based, is
/// data[i + j * ld] by columns, ld >= rows, or data[i * ld + j] by rows, ld >= columns.
/// T: float or double, const where it is only read.
template <typename T>
struct View {
  T* data = nullptr;
  std::size_t rows = 0, columns = 0, ld = 0;
  Order order = Order::columns;

  T& operator()(std::size_t i, std::size_t j) const {
    return order == Order::columns ? data[i + j * ld] : data[i * ld + j];
  }
  /// Column j of a matrix by columns.
  T* column(std::size_t j) const { return data + j * ld; }
  /// The columns first : first + count.
  View part(std::size_t first, std::size_t count) const {
    return {order == Order::columns ? data + first * ld : data + first, rows, count, ld, order};
  }

  operator View<const T>() const requires(!std::is_const_v<T>) {
    return {data, rows, columns, ld, order};
  }
};

}  // namespace lugpu

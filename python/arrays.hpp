// NumPy's arrays as views.
#pragma once

#include <pybind11/numpy.h>

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "lugpu/batch.hpp"
#include "lugpu/view.hpp"

namespace lugpu::python {

namespace py = pybind11;

/// A vector or a matrix of T as a View, n x 1 or rows x columns: without a copy if its rows or its
/// columns follow one another with positive strides, else absent.
template <typename T>
std::optional<View<const T>> straight_view(const py::array& array) {
  if (!py::isinstance<py::array_t<T>>(array) || array.ndim() < 1 || array.ndim() > 2) return {};
  if (!(array.flags() & py::detail::npy_api::NPY_ARRAY_ALIGNED_)) return {};
  constexpr py::ssize_t size = sizeof(T);
  const bool vector = array.ndim() == 1;
  const py::ssize_t rows = array.shape(0), columns = vector ? 1 : array.shape(1);
  View<const T> view = {static_cast<const T*>(array.data()), std::size_t(rows),
                        std::size_t(columns), std::size_t(rows)};
  if (rows == 0 || columns == 0) return view;
  // Lines of `count` elements, one behind the other. NumPy's stride along a dimension of one
  // element means nothing.
  const auto fits = [&](py::ssize_t inner, py::ssize_t count, py::ssize_t outer,
                        py::ssize_t lines) {
    view.ld = std::size_t(lines > 1 ? outer / size : count);
    return (count == 1 || inner == size) &&
           (lines == 1 || (outer % size == 0 && outer >= count * size));
  };
  const py::ssize_t down = array.strides(0), across = vector ? size : array.strides(1);
  if (fits(down, rows, across, columns)) return view;
  view.order = Order::rows;
  if (fits(across, columns, down, rows)) return view;
  return {};
}

/// The view of an array that has one.
template <typename T>
View<const T> view_of(const py::array& array) {
  const auto view = straight_view<T>(array);
  if (!view) throw py::value_error("the array is not laid out as a matrix");
  return *view;
}

/// The same, to be written to.
template <typename T>
View<T> writable_view_of(py::array& array) {
  const View<const T> view = view_of<T>(array);
  return {static_cast<T*>(array.mutable_data()), view.rows, view.columns, view.ld, view.order};
}

/// A batch of `count` x rows x columns elements of T, by rows and without gaps.
template <typename T>
Batch<const T> batch_of(const py::array_t<T, py::array::c_style>& array) {
  if (array.ndim() != 3) throw py::value_error("the array is not a batch of matrices");
  const auto rows = std::size_t(array.shape(1)), columns = std::size_t(array.shape(2));
  return {{array.data(), rows, columns, columns, Order::rows},
          std::size_t(array.shape(0)),
          rows * columns};
}

/// The same, to be written to.
template <typename T>
Batch<T> writable_batch_of(py::array_t<T, py::array::c_style>& array) {
  const Batch<const T> batch = batch_of<T>(array);
  return {{array.mutable_data(), batch.rows(), batch.columns(), batch.columns(), Order::rows},
          batch.size(),
          batch.rows() * batch.columns()};
}

/// An array that owns the elements of a vector, each matrix column after column: nothing is copied.
template <typename T>
py::array_t<T> array_of(std::vector<T> elements, std::vector<py::ssize_t> shape) {
  auto* owned = new std::vector<T>(std::move(elements));
  const py::capsule owner(owned, [](void* p) { delete static_cast<std::vector<T>*>(p); });
  std::vector<py::ssize_t> strides = {py::ssize_t(sizeof(T))};
  if (shape.size() == 2) strides.push_back(py::ssize_t(sizeof(T)) * shape[0]);
  if (shape.size() == 3) {
    const py::ssize_t column = py::ssize_t(sizeof(T)) * shape[1];
    strides = {column * shape[2], py::ssize_t(sizeof(T)), column};
  }
  return py::array_t<T>(std::move(shape), std::move(strides), owned->data(), owner);
}

}  // namespace lugpu::python

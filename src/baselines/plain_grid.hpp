// Matrices of grids in plain loops on one thread, as the CPU side of Amador and Gomes, "Linear
// Solvers for Stable Fluids: GPU vs CPU" (2010), section 5: nothing is stored but, where the
// conductivity varies, a coefficient for each pair of neighbours.
#pragma once

#include <cstddef>
#include <vector>

#include "matrix/grid.hpp"

namespace lugpu {

/// What the loops over one row of points know of the matrix. Pointers are to the row's first point.
template <typename Real>
struct PlainRow {
  std::size_t nx, row, plane;       // points; elements from row to row and from plane to plane
  Real diagonal, cx, cy, cz;        // constant coefficients, the diagonal away from the ends
  Real lost_first, lost_last;       // what the diagonal lacks at the first and the last point
  const Real *diagonals, *fx, *fy;  // varying ones: to the next point of the axis
  const Real* fz;
};

/// Real: float or double. A field is an array of unknowns with a border of one point around them,
/// which stays zero but at periodic walls. Fields are changed in their border by what reads them.
template <typename Real>
class PlainGrid {
 public:
  using Field = std::vector<Real>;

  /// Throws std::bad_alloc.
  explicit PlainGrid(const Grid& grid);

  /// Zeros.
  Field field() const { return Field(elements_); }
  const std::array<std::size_t, 3>& size() const { return size_; }
  /// Elements from one point to the next one along each axis.
  std::array<std::size_t, 3> strides() const { return {1, row_, plane_}; }
  /// Of a point in a field.
  std::size_t place(std::size_t x, std::size_t y, std::size_t z) const {
    return x + 1 + row_ * (y + 1) + plane_ * (z + (solid_ ? 1 : 0));
  }
  /// unknowns() contiguous elements into a field.
  void load(const Real* from, Field& to) const;
  void store(const Field& from, double* to) const;

  /// q = A p. Returns p . q.
  double apply(Field& p, Field& q) const;
  /// r = b - A x. Returns r . r.
  double residual(Field& x, const Field& b, Field& r) const;
  /// x_new = x + (b - A x) / diagonal.
  void jacobi(Field& x, const Field& b, Field& x_new) const;
  /// The same in place at the points with (x + y + z) mod 2 = colour.
  void half_sweep(Field& x, const Field& b, std::size_t colour) const;

 private:
  void find_coefficients(const Grid& grid);
  void fill_border(Field& x) const;
  PlainRow<Real> row_at(std::size_t y, std::size_t z) const;
  // use(y, z, place of the row's first point) for every row of points
  template <typename Use>
  void for_rows(const Use& use) const {
    for (std::size_t z = 0; z < size_[2]; ++z) {
      for (std::size_t y = 0; y < size_[1]; ++y) use(y, z, place(0, y, z));
    }
  }

  std::array<std::size_t, 3> size_;
  std::array<bool, 3> wraps_;  // periodic, with neighbours
  bool solid_, varies_;        // neighbours along z; a conductivity
  std::size_t row_, plane_, elements_;
  double shift_;
  std::array<double, 3> coefficients_;
  std::array<int, 3> lost_;  // coefficients that the diagonal lacks at the ends
  Field diagonals_, fx_, fy_, fz_;
};

}  // namespace lugpu

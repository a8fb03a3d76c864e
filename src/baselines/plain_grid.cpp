#include "baselines/plain_grid.hpp"

#include <algorithm>

#include "base/clones.hpp"

namespace lugpu {
namespace {

// Which neighbours there are, and whether coefficients vary.
enum class Kind { flat, solid, flat_varying, solid_varying };
constexpr bool is_solid(Kind kind) {
  return kind == Kind::solid || kind == Kind::solid_varying;
}
constexpr bool varies(Kind kind) {
  return kind == Kind::flat_varying || kind == Kind::solid_varying;
}

// sum of a_ij x_j over the neighbours j of point i, with the sign changed
template <Kind kind, typename Real>
[[gnu::always_inline]] inline Real neighbours(const PlainRow<Real>& m, const Real* x,
                                              std::size_t i) {
  Real sum;
  if constexpr (varies(kind)) {
    sum = m.fx[i] * x[i + 1] + *(m.fx + i - 1) * *(x + i - 1);
    sum += m.fy[i] * x[i + m.row] + *(m.fy + i - m.row) * *(x + i - m.row);
    if constexpr (is_solid(kind)) {
      sum += m.fz[i] * x[i + m.plane] + *(m.fz + i - m.plane) * *(x + i - m.plane);
    }
  } else {
    sum = m.cx * (x[i + 1] + *(x + i - 1));
    sum += m.cy * (x[i + m.row] + *(x + i - m.row));
    if constexpr (is_solid(kind)) sum += m.cz * (x[i + m.plane] + *(x + i - m.plane));
  }
  return sum;
}

template <Kind kind, typename Real>
[[gnu::always_inline]] inline Real diagonal(const PlainRow<Real>& m, std::size_t i) {
  if constexpr (varies(kind)) return m.diagonals[i];
  return m.diagonal;
}

// q = A p in a row; p . q
template <Kind kind, typename Real>
LUGPU_CLONES Real apply_row(const PlainRow<Real> m, const Real* p, Real* q) {
#pragma omp simd
  for (std::size_t i = 0; i < m.nx; ++i) {
    q[i] = diagonal<kind>(m, i) * p[i] - neighbours<kind>(m, p, i);
  }
  q[0] -= m.lost_first * p[0];
  q[m.nx - 1] -= m.lost_last * p[m.nx - 1];
  Real sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t i = 0; i < m.nx; ++i) sum += p[i] * q[i];
  return sum;
}

// value(i), divided by the diagonal away from the ends, is divided by that of the ends there.
template <typename Real>
[[gnu::always_inline]] inline void divide_at_ends(const PlainRow<Real>& m, Real* values,
                                                  std::size_t first, std::size_t step) {
  const auto divide = [&](std::size_t i, Real lost) {
    if (i % step == first % step && lost != 0) values[i] *= m.diagonal / (m.diagonal - lost);
  };
  if (m.nx == 1) return divide(0, m.lost_first + m.lost_last);
  divide(0, m.lost_first);
  divide(m.nx - 1, m.lost_last);
}

template <Kind kind, typename Real>
LUGPU_CLONES void jacobi_row(const PlainRow<Real> m, const Real* x, const Real* b, Real* x_new) {
  const Real inverse = 1 / m.diagonal;
#pragma omp simd
  for (std::size_t i = 0; i < m.nx; ++i) {
    const Real sum = b[i] + neighbours<kind>(m, x, i);
    x_new[i] = varies(kind) ? sum / diagonal<kind>(m, i) : sum * inverse;
  }
  if constexpr (!varies(kind)) divide_at_ends(m, x_new, 0, 1);
}

// At every other point from `first`, none of which is a neighbour of another.
template <Kind kind, typename Real>
LUGPU_CLONES void colour_row(const PlainRow<Real> m, Real* x, const Real* b, std::size_t first) {
  const Real inverse = 1 / m.diagonal;
#pragma omp simd
  for (std::size_t i = first; i < m.nx; i += 2) {
    const Real sum = b[i] + neighbours<kind>(m, x, i);
    x[i] = varies(kind) ? sum / diagonal<kind>(m, i) : sum * inverse;
  }
  if constexpr (!varies(kind)) divide_at_ends(m, x, first, 2);
}

// action.template operator()<kind>()
template <typename Action>
void with_kind(bool solid, bool varying, const Action& action) {
  if (solid && varying) return action.template operator()<Kind::solid_varying>();
  if (solid) return action.template operator()<Kind::solid>();
  if (varying) return action.template operator()<Kind::flat_varying>();
  action.template operator()<Kind::flat>();
}

// How many coefficients of an axis the diagonal lacks at its ends: one where a wall lets nothing
// through, or an only point is its own neighbour; a wall at half a point adds one.
int lost_at_ends(Wall wall, std::size_t size) {
  if (wall == Wall::dirichlet_half) return -1;
  return wall == Wall::neumann || (wall == Wall::periodic && size == 1) ? 1 : 0;
}

}  // namespace

template <typename Real>
PlainGrid<Real>::PlainGrid(const Grid& grid)
    : size_(grid.size),
      solid_(grid.coefficients[2] != 0 && grid.size[2] > 0),
      varies_(!grid.conductivity.empty()),
      row_(grid.size[0] + 2),
      plane_(row_ * (grid.size[1] + 2)),
      elements_(plane_ * (grid.size[2] + (solid_ ? 2 : 0))),
      shift_(grid.shift),
      coefficients_(grid.coefficients) {
  for (int axis = 0; axis < 3; ++axis) {
    // The only point of a periodic axis is its own neighbour: nothing stands in its row.
    const bool periodic = grid.walls[axis] == Wall::periodic;
    wraps_[axis] = periodic && size_[axis] > 1 && coefficients_[axis] != 0;
    lost_[axis] = lost_at_ends(grid.walls[axis], size_[axis]);
  }
  if (varies_ && grid.unknowns() > 0) find_coefficients(grid);
}

// The coefficients of neighbours, with that of the last point and the first one in the border of
// periodic walls.
template <typename Real>
void PlainGrid<Real>::find_coefficients(const Grid& grid) {
  diagonals_ = field();
  const std::vector<double> all = diagonal(grid);
  std::vector<Real> rounded(all.begin(), all.end());
  load(rounded.data(), diagonals_);
  Field* const faces[] = {&fx_, &fy_, &fz_};
  const std::size_t strides[] = {1, row_, plane_};
  const std::size_t unknowns[] = {1, size_[0], size_[0] * size_[1]};
  for (int axis = 0; axis < (solid_ ? 3 : 2); ++axis) {
    Field& face = *faces[axis] = field();
    const std::vector<double>& k = grid.conductivity;
    std::size_t i = 0;
    for_rows([&](std::size_t y, std::size_t z, std::size_t begin) {
      for (std::size_t x = 0; x < size_[0]; ++x, ++i) {
        const std::size_t at = axis == 0 ? x : axis == 1 ? y : z;
        const bool last = at + 1 == size_[axis];
        if (last && !wraps_[axis]) continue;
        const std::size_t next = last ? i - at * unknowns[axis] : i + unknowns[axis];
        const auto value = static_cast<Real>(coefficients_[axis] * between(k[i], k[next]));
        face[begin + x] = value;
        if (last) face[begin + x - size_[axis] * strides[axis]] = value;
      }
    });
  }
}

template <typename Real>
void PlainGrid<Real>::load(const Real* from, Field& to) const {
  for_rows([&](std::size_t, std::size_t, std::size_t begin) {
    std::copy_n(from, size_[0], to.data() + begin);
    from += size_[0];
  });
}

template <typename Real>
void PlainGrid<Real>::store(const Field& from, double* to) const {
  for_rows([&](std::size_t, std::size_t, std::size_t begin) {
    to = std::copy_n(from.data() + begin, size_[0], to);
  });
}

// Beyond a periodic wall is the other end.
template <typename Real>
void PlainGrid<Real>::fill_border(Field& x) const {
  const std::size_t nx = size_[0], ny = size_[1], nz = size_[2];
  if (wraps_[0]) {
    for_rows([&](std::size_t, std::size_t, std::size_t begin) {
      x[begin - 1] = x[begin + nx - 1];
      x[begin + nx] = x[begin];
    });
  }
  if (wraps_[1]) {
    for (std::size_t z = 0; z < nz; ++z) {
      Real *first = &x[place(0, 0, z)], *last = &x[place(0, ny - 1, z)];
      std::copy_n(last, nx, first - row_);
      std::copy_n(first, nx, last + row_);
    }
  }
  if (wraps_[2]) {
    Real *first = &x[plane_], *last = &x[plane_ * nz];
    std::copy_n(last, plane_, first - plane_);
    std::copy_n(first, plane_, last + plane_);
  }
}

template <typename Real>
PlainRow<Real> PlainGrid<Real>::row_at(std::size_t y, std::size_t z) const {
  const auto along = [&](int axis, std::size_t at) {
    const int ends = (at == 0) + (at + 1 == size_[axis]);
    return (2 - lost_[axis] * ends) * coefficients_[axis];
  };
  const Real cx = static_cast<Real>(coefficients_[0]), cy = static_cast<Real>(coefficients_[1]);
  const Real cz = static_cast<Real>(coefficients_[2]);
  const double diagonal = shift_ + 2 * coefficients_[0] + along(1, y) + along(2, z);
  const Real lost = varies_ ? 0 : static_cast<Real>(lost_[0]) * cx;
  const std::size_t begin = place(0, y, z);
  const auto from = [&](const Field& field) {
    return field.empty() ? nullptr : field.data() + begin;
  };
  return {size_[0],  row_,
          plane_,    static_cast<Real>(diagonal),
          cx,        cy,
          cz,        lost,
          lost,      from(diagonals_),
          from(fx_), from(fy_),
          from(fz_)};
}

template <typename Real>
double PlainGrid<Real>::apply(Field& p, Field& q) const {
  fill_border(p);
  double sum = 0;
  if (size_[0] == 0) return sum;
  with_kind(solid_, varies_, [&]<Kind kind>() {
    for_rows([&](std::size_t y, std::size_t z, std::size_t begin) {
      sum += static_cast<double>(apply_row<kind>(row_at(y, z), &p[begin], &q[begin]));
    });
  });
  return sum;
}

template <typename Real>
double PlainGrid<Real>::residual(Field& x, const Field& b, Field& r) const {
  fill_border(x);
  double square = 0;
  if (size_[0] == 0) return square;
  with_kind(solid_, varies_, [&]<Kind kind>() {
    for_rows([&](std::size_t y, std::size_t z, std::size_t begin) {
      apply_row<kind>(row_at(y, z), &x[begin], &r[begin]);
      const Real* right = &b[begin];
      Real* row = &r[begin];
      Real sum = 0;
#pragma omp simd reduction(+ : sum)
      for (std::size_t i = 0; i < size_[0]; ++i) {
        row[i] = right[i] - row[i];
        sum += row[i] * row[i];
      }
      square += static_cast<double>(sum);
    });
  });
  return square;
}

template <typename Real>
void PlainGrid<Real>::jacobi(Field& x, const Field& b, Field& x_new) const {
  fill_border(x);
  if (size_[0] == 0) return;
  with_kind(solid_, varies_, [&]<Kind kind>() {
    for_rows([&](std::size_t y, std::size_t z, std::size_t begin) {
      jacobi_row<kind>(row_at(y, z), &x[begin], &b[begin], &x_new[begin]);
    });
  });
}

template <typename Real>
void PlainGrid<Real>::half_sweep(Field& x, const Field& b, std::size_t colour) const {
  fill_border(x);
  if (size_[0] == 0) return;
  with_kind(solid_, varies_, [&]<Kind kind>() {
    for_rows([&](std::size_t y, std::size_t z, std::size_t begin) {
      colour_row<kind>(row_at(y, z), &x[begin], &b[begin], (y + z + colour) % 2);
    });
  });
}

template class PlainGrid<float>;
template class PlainGrid<double>;

}  // namespace lugpu

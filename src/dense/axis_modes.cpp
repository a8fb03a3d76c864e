#include "dense/axis_modes.hpp"

#include <cmath>
#include <numbers>

#include "base/parallel.hpp"

namespace lugpu {
namespace {

// The angle 2 pi part / whole is a whole number of eighths of a turn and a rest below one.
struct Angle {
  std::size_t eighth;
  double rest, to_next;  // in radians; rest + to_next = pi / 4
};

Angle reduced(std::size_t part, std::size_t whole) {
  const std::size_t in_eighths = 8 * (part % whole);
  const auto radians = [&](std::size_t numerator) {
    return std::numbers::pi / 4 * (static_cast<double>(numerator) / static_cast<double>(whole));
  };
  const std::size_t rest = in_eighths % whole;
  return {in_eighths / whole, radians(rest), radians(whole - rest)};
}

// Of the modes of one kind: j-th frequency, how many times its argument grows from point to point,
// and the values.
struct Family {
  std::size_t n;
  Wall wall;
  bool odd;

  std::size_t count() const { return odd ? n / 2 : (n + 1) / 2; }

  std::size_t frequency(std::size_t j) const {
    switch (wall) {
      case Wall::dirichlet:
      case Wall::dirichlet_half:
        return 2 * j + 1 + odd;
      case Wall::neumann:
        return 2 * j + odd;
      default:
        return j + odd;
    }
  }

  // The angles are those of multiples of 1 / turn() of a turn.
  std::size_t turn() const {
    return wall == Wall::dirichlet ? 2 * (n + 1) : wall == Wall::periodic ? 2 * n : 4 * n;
  }

  bool sines() const { return is_dirichlet(wall) || (wall == Wall::periodic && odd); }

  std::size_t multiple(std::size_t i, std::size_t f) const {
    return (wall == Wall::dirichlet ? i + 1 : 2 * i + 1) * f;
  }

  // 1 over the 2-norm.
  double scale(std::size_t f) const {
    if (wall == Wall::dirichlet) return std::sqrt(2.0 / static_cast<double>(n + 1));
    // One of a kind.
    const bool alternating = wall == Wall::periodic ? 2 * f == n : f == n;
    return std::sqrt((f == 0 || alternating ? 1.0 : 2.0) / static_cast<double>(n));
  }

  // 4 sin^2 of half the angle that the argument grows by from point to point.
  double eigenvalue(std::size_t f) const {
    const std::size_t whole = wall == Wall::dirichlet  ? 4 * (n + 1)
                              : wall == Wall::periodic ? 2 * n
                                                       : 4 * n;
    const double sine = sine_of(f, whole);
    return 4 * sine * sine;
  }
};

}  // namespace

double sine_of(std::size_t part, std::size_t whole) {
  const Angle a = reduced(part, whole);
  const double sign = a.eighth < 4 ? 1 : -1;
  switch (a.eighth % 4) {
    case 0:
      return sign * std::sin(a.rest);
    case 1:
      return sign * std::cos(a.to_next);
    case 2:
      return sign * std::cos(a.rest);
    default:
      return sign * std::sin(a.to_next);
  }
}

double cosine_of(std::size_t part, std::size_t whole) {
  // cos(2 pi p / w) = sin(2 pi (4 p + w) / (4 w))
  return sine_of(4 * (part % whole) + whole, 4 * whole);
}

AxisModes axis_modes(std::size_t n, Wall wall, bool odd) {
  const Family family{n, wall, odd};
  const std::size_t count = family.count(), turn = family.turn();
  std::vector<double> values(turn);
  for (std::size_t m = 0; m < turn; ++m) {
    values[m] = family.sines() ? sine_of(m, turn) : cosine_of(m, turn);
  }
  AxisModes modes{Matrix(count, count), std::vector<double>(count)};
  in_parallel(count, count * sizeof(double), [&](std::size_t j) {
    const std::size_t f = family.frequency(j);
    const double scale = family.scale(f);
    modes.eigenvalues[j] = family.eigenvalue(f);
    for (std::size_t i = 0; i < count; ++i) {
      modes.vectors(i, j) = scale * values[family.multiple(i, f) % turn];
    }
  });
  return modes;
}

}  // namespace lugpu

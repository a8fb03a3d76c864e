#include "simulation/solids.hpp"

#include <algorithm>
#include <cmath>

#include "opencl/transfer.hpp"

namespace lugpu {
namespace {

// The cells along an axis whose centres may be inside.
std::pair<std::size_t, std::size_t> reach(const Solid& solid, std::size_t axis, std::size_t cells) {
  const double last = static_cast<double>(cells);
  const double from = std::floor(solid.centre[axis] - solid.radius);
  const double to = std::ceil(solid.centre[axis] + solid.radius);
  return {static_cast<std::size_t>(std::clamp(from, 0.0, last)),
          static_cast<std::size_t>(std::clamp(to, 0.0, last))};
}

}  // namespace

void Solids::place(const std::vector<Solid>& solids) {
  const auto& [nx, ny, nz] = on_.box().cells;
  const bool flat = on_.dimensions() == 2;
  empty_ = solids.empty();
  std::vector<double> number(nx * ny * nz), velocities;
  for (std::size_t i = 0; i < solids.size(); ++i) {
    const Solid& solid = solids[i];
    const auto [x_from, x_to] = reach(solid, 0, nx);
    const auto [y_from, y_to] = reach(solid, 1, ny);
    const auto [z_from, z_to] = flat ? std::pair{std::size_t{0}, nz} : reach(solid, 2, nz);
    const auto away = [&](std::size_t at, std::size_t axis) {
      return static_cast<double>(at) + 0.5 - solid.centre[axis];
    };
    for (std::size_t z = z_from; z < z_to; ++z) {
      for (std::size_t y = y_from; y < y_to; ++y) {
        for (std::size_t x = x_from; x < x_to; ++x) {
          const double dz = flat ? 0 : away(z, 2);
          if (std::hypot(away(x, 0), away(y, 1), dz) >= solid.radius) continue;
          number[x + nx * (y + ny * z)] = static_cast<double>(i + 1);
        }
      }
    }
    velocities.insert(velocities.end(), solid.velocity.begin(), solid.velocity.end());
    velocities.push_back(0);
  }
  Vectors& vectors = on_.vectors(Place::centres);
  vectors.upload(number, number_);
  velocities_ = lugpu::upload(
      on_.context(), View<const double>{velocities.data(), velocities.size(), 1, velocities.size()},
      on_.precision());
  conductivity_.resize(number.size());
  std::transform(number.begin(), number.end(), conductivity_.begin(),
                 [](double value) { return value > 0 ? 0.0 : 1.0; });
  vectors.upload(conductivity_, on_device_);
}

void Solids::hold(Velocity& u) const {
  for (std::size_t axis = 0; axis < u.size(); ++axis) {
    on_.hold(number_, velocities_, faces(axis), u[axis]);
  }
}

void Solids::hold(Surface& at_centres) const {
  on_.hold(number_, velocities_, Place::centres, at_centres);
}

}  // namespace lugpu

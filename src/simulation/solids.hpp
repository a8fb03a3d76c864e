// Solid circles and spheres in a fluid.
#pragma once

#include <array>
#include <vector>

#include "simulation/staggered.hpp"

namespace lugpu {

/// In cells, and cells a unit of time.
struct Solid {
  std::array<double, 3> centre;
  double radius;
  std::array<double, 3> velocity = {0, 0, 0};
};

/// A cell is solid where its centre is inside; solids are as their cells are, whose faces have
/// their velocity.
class Solids {
 public:
  /// on must outlive this.
  explicit Solids(const Staggered& on)
      : on_(on), number_(on.field(Place::centres)), on_device_(on.field(Place::centres)) {}

  /// Where they are from now on.
  void place(const std::vector<Solid>& solids);
  bool empty() const { return empty_; }
  /// 0 for solid cells, 1 for the others.
  const std::vector<double>& conductivity() const { return conductivity_; }
  const Surface& conductivity_on_device() const { return on_device_; }
  /// Of every cell the number of its solid, from 1 on, or 0.
  const Surface& number() const { return number_; }
  /// Velocities on their faces become theirs; a field at centres becomes 0 in them.
  void hold(Velocity& u) const;
  void hold(Surface& at_centres) const;

 private:
  const Staggered& on_;
  bool empty_ = true;
  Surface number_, on_device_;
  cl::Buffer velocities_;
  std::vector<double> conductivity_;
};

}  // namespace lugpu

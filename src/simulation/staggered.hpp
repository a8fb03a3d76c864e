// Fields on a staggered grid (kernels/simulation/staggered.clh; F. H. Harlow, J. E. Welch, Physics
// of Fluids 8, 1965), and what the simulations of fluids do with them. Velocities are in cells a
// unit of time here.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "matrix/grid.hpp"
#include "operators/vectors.hpp"

namespace lugpu {

/// What bounds a fluid along an axis.
enum class Boundary {
  no_slip,    ///< walls that hold it
  free_slip,  ///< walls along which it slides
  periodic,   ///< the other end
};

struct Box {
  std::array<std::size_t, 3> cells = {1, 1, 1};  ///< 1 along z in 2D, where nothing is across z
  std::array<Boundary, 3> bounds = {Boundary::no_slip, Boundary::no_slip, Boundary::no_slip};
  double lid = 0;  ///< the speed along x of the last wall across y

  int dimensions() const { return cells[2] == 1 ? 2 : 3; }
};

/// Where a field has its values: in the middle of the faces across an axis, or at the centres.
enum class Place { faces_x, faces_y, faces_z, centres };

constexpr Place faces(std::size_t axis) {
  return static_cast<Place>(axis);
}

/// Cells along the longest side, which is 1 in lengths.
double cells_per_length(const std::array<std::size_t, 3>& cells);

/// The matrix of a field with the walls that a velocity has there, a field at centres with Neumann
/// walls; coefficients along the axes, and a shift.
Grid field_grid(const Box& box, Place place, double coefficient, double shift);

/// A velocity: for each axis of the box the components across its faces.
using Velocity = std::vector<Surface>;

/// Launches kernels on fields of a box, which are buffers.
class Staggered {
 public:
  /// Throws InputError for a box of fewer than 2 cells along x or y, Unsupported for more elements
  /// than a kernel's indices reach.
  Staggered(DeviceContext& context, const Box& box, Precision precision);

  const Box& box() const { return box_; }
  Precision precision() const { return precision_; }
  DeviceContext& context() const { return context_; }
  std::size_t dimensions() const { return static_cast<std::size_t>(box_.dimensions()); }
  VectorLayout layout(Place place) const;

  /// Operations on fields of a place.
  Vectors& vectors(Place place) const;
  /// A field on the host; x first, then y, then z.
  std::vector<double> download(Place place, const Surface& field) const;

  /// All zeros.
  Surface field(Place place) const;
  Velocity velocity() const;

  /// How the flow is traced backwards: by Euler's rule or the midpoint rule.
  enum class Trace { euler, midpoint };
  /// moved = s, brought along by u for a time step: backwards along the flow and linear.
  void advect(const Velocity& u, double time_step, Trace trace, Place place, const Surface& s,
              Surface& moved) const;
  /// corrected = MacCormack's correction of that (Selle and others 2008), by the midpoint rule.
  void correct(const Velocity& u, double time_step, Place place, const Surface& s,
               const Surface& moved, Surface& corrected) const;

  /// b = the negative divergence of u. conductivity: of the cells, 0 for solid ones, where b is 0;
  /// null: 1 everywhere.
  void inflow(const Velocity& u, const Surface* conductivity, Surface& b) const;
  /// u -= conductivity gradient of q, between cells their harmonic mean (between() of grid.hpp).
  void subtract_gradient(const Surface& q, const Surface* conductivity, Velocity& u) const;

  /// s += share (value - s), share = strength exp(-(distance from the line / radius)^2); lengths in
  /// cells.
  void blend(Place place, const std::array<double, 3>& from, const std::array<double, 3>& to,
             double radius, double strength, double value, Surface& s) const;
  /// v += lift smoke; v is the component along y.
  void rise(const Surface& smoke, double lift, Surface& v) const;
  /// s += value in the last row along y.
  void add_at_last_wall(Place place, double value, Surface& s) const;
  /// The curl of u at centres: along z in 2D, along all axes in 3D.
  void curl(const Velocity& u, std::vector<Surface>& result) const;
  /// Adds the force of the vorticity confinement, times strength.
  void confine(double strength, const std::vector<Surface>& curl, Velocity& u) const;

  /// s = the velocity of solids on the faces of their cells, 0 in them if `place` is the centres.
  /// solid: of every cell the number of its solid, from 1 on, or 0; velocities: four for each
  /// solid.
  void hold(const Surface& solid, const cl::Buffer& velocities, Place place, Surface& s) const;

 private:
  template <typename... Arguments>
  void run(const char* phase, const char* file, const char* function, Place place,
           const std::string& options, const Arguments&... arguments) const;

  DeviceContext& context_;
  Box box_;
  Precision precision_;
  std::string options_;
  mutable std::array<std::unique_ptr<Vectors>, 4> vectors_;  // of the places
};

}  // namespace lugpu

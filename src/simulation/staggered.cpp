#include "simulation/staggered.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"

namespace lugpu {
namespace {

// Whether the faces at both ends of an axis are walls, which are not stored.
bool ends_at_walls(const Box& box, Place place, std::size_t axis) {
  return place == faces(axis) && box.bounds[axis] != Boundary::periodic;
}

Wall wall_of(const Box& box, Place place, std::size_t axis) {
  if (box.bounds[axis] == Boundary::periodic) return Wall::periodic;
  if (place == Place::centres) return Wall::neumann;
  if (place == faces(axis)) return Wall::dirichlet;
  return box.bounds[axis] == Boundary::no_slip ? Wall::dirichlet_half : Wall::neumann;
}

}  // namespace

double cells_per_length(const std::array<std::size_t, 3>& cells) {
  return static_cast<double>(std::max({cells[0], cells[1], cells[2]}));
}

Grid field_grid(const Box& box, Place place, double coefficient, double shift) {
  Grid grid;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(box.dimensions()); ++axis) {
    grid.size[axis] = box.cells[axis] - ends_at_walls(box, place, axis);
    grid.walls[axis] = wall_of(box, place, axis);
    grid.coefficients[axis] = coefficient;
  }
  grid.shift = shift;
  return grid;
}

Staggered::Staggered(DeviceContext& context, const Box& box, Precision precision)
    : context_(context), box_(box), precision_(precision) {
  double cells = 1;
  for (std::size_t axis = 0; axis < dimensions(); ++axis) {
    cells *= static_cast<double>(box.cells[axis]);
    if (box.cells[axis] >= 2) continue;
    throw InputError("A fluid needs at least 2 cells along each axis.");
  }
  // Rows are padded by less than 64 elements and one alignment.
  const double padded = cells * (1 + 64 / static_cast<double>(box.cells[0]));
  if (padded > std::numeric_limits<cl_int>::max()) {
    throw Unsupported("a field of 2^31 cells or more is too large for the simulation of fluids",
                      {"grid", "a smaller one"});
  }
  options_ = " -DDIMENSIONS=" + std::to_string(dimensions());
  for (std::size_t axis = 0; axis < 3; ++axis) {
    options_ += std::string(" -DWALL_") + "XYZ"[axis] + "=" +
                std::to_string(static_cast<int>(box.bounds[axis]));
  }
}

VectorLayout Staggered::layout(Place place) const {
  const std::array<std::size_t, 3> size = field_grid(box_, place, 0, 0).size;
  return {size[1] * size[2], size[0], precision_, Storage::buffer, Texel::r};
}

Vectors& Staggered::vectors(Place place) const {
  std::unique_ptr<Vectors>& own = vectors_[static_cast<std::size_t>(place)];
  if (!own) own = std::make_unique<Vectors>(context_, layout(place), 1);
  return *own;
}

std::vector<double> Staggered::download(Place place, const Surface& field) const {
  const VectorLayout at = layout(place);
  return vectors(place).download(field, at.rows * at.columns);
}

Surface Staggered::field(Place place) const {
  const VectorLayout at = layout(place);
  Surface surface(context_, at.rows, at.columns, precision_, at.storage, at.texel);
  fill(context_, surface, 0);
  return surface;
}

Velocity Staggered::velocity() const {
  Velocity u;
  for (std::size_t axis = 0; axis < dimensions(); ++axis) u.push_back(field(faces(axis)));
  return u;
}

template <typename... Arguments>
void Staggered::run(const char* phase, const char* file, const char* function, Place place,
                    const std::string& options, const Arguments&... arguments) const {
  const VectorCut cut = VectorCut::make(context_.device(), layout(place)).spread();
  const cl_int4 sizes = {{static_cast<cl_int>(box_.cells[0]), static_cast<cl_int>(box_.cells[1]),
                          static_cast<cl_int>(box_.cells[2]), 0}};
  const std::string all =
      cut.options() + options_ + options + " -DAT=" + std::to_string(static_cast<int>(place));
  context_.run(phase, {file, function, precision_, Storage::buffer, Texel::r, all}, cut.items(),
               arguments..., sizes, static_cast<cl_int>(cut.walk));
}

void Staggered::advect(const Velocity& u, double time_step, Trace trace, Place place,
                       const Surface& s, Surface& moved) const {
  const char* const options = trace == Trace::midpoint ? " -DMIDPOINT" : "";
  with_real(precision_, [&](auto real) {
    run("advect", "simulation/advect.cl", "advect", place, options, u[0], u[1], u.back(), s, moved,
        real(time_step), real(box_.lid));
  });
}

void Staggered::correct(const Velocity& u, double time_step, Place place, const Surface& s,
                        const Surface& moved, Surface& corrected) const {
  with_real(precision_, [&](auto real) {
    run("advect", "simulation/advect.cl", "correct", place, " -DMIDPOINT", u[0], u[1], u.back(), s,
        moved, corrected, real(time_step), real(box_.lid));
  });
}

void Staggered::inflow(const Velocity& u, const Surface* conductivity, Surface& b) const {
  if (conductivity) {
    run("divergence", "simulation/project.cl", "inflow", Place::centres, " -DCONDUCTIVITY", u[0],
        u[1], u.back(), *conductivity, b);
  } else {
    run("divergence", "simulation/project.cl", "inflow", Place::centres, "", u[0], u[1], u.back(),
        b);
  }
}

void Staggered::subtract_gradient(const Surface& q, const Surface* conductivity,
                                  Velocity& u) const {
  for (std::size_t axis = 0; axis < dimensions(); ++axis) {
    if (conductivity) {
      run("gradient", "simulation/project.cl", "subtract_gradient", faces(axis), " -DCONDUCTIVITY",
          u[axis], q, *conductivity);
    } else {
      run("gradient", "simulation/project.cl", "subtract_gradient", faces(axis), "", u[axis], q);
    }
  }
}

void Staggered::blend(Place place, const std::array<double, 3>& from,
                      const std::array<double, 3>& to, double radius, double strength, double value,
                      Surface& s) const {
  with_real(precision_, [&](auto real) {
    using Real4 = std::conditional_t<sizeof(real(0)) == sizeof(double), cl_double4, cl_float4>;
    const Real4 first = {{real(from[0]), real(from[1]), real(from[2]), real(radius)}};
    const Real4 last = {{real(to[0]), real(to[1]), real(to[2]), real(strength)}};
    run("force", "simulation/force.cl", "blend", place, "", s, first, last, real(value));
  });
}

void Staggered::rise(const Surface& smoke, double lift, Surface& v) const {
  with_real(precision_, [&](auto real) {
    run("force", "simulation/force.cl", "rise", Place::faces_y, "", v, smoke, real(lift));
  });
}

void Staggered::add_at_last_wall(Place place, double value, Surface& s) const {
  with_real(precision_, [&](auto real) {
    run("diffuse", "simulation/force.cl", "add_at_last_wall", place, "", s, real(value));
  });
}

void Staggered::curl(const Velocity& u, std::vector<Surface>& result) const {
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::size_t axis = result.size() == 1 ? 2 : i;
    with_real(precision_, [&](auto real) {
      run("force", "simulation/confine.cl", "curl", Place::centres,
          " -DAXIS=" + std::to_string(axis), u[0], u[1], u.back(), result[i], real(box_.lid));
    });
  }
}

void Staggered::confine(double strength, const std::vector<Surface>& curl, Velocity& u) const {
  for (std::size_t axis = 0; axis < dimensions(); ++axis) {
    with_real(precision_, [&](auto real) {
      if (curl.size() == 1) {
        run("force", "simulation/confine.cl", "confine", faces(axis), "", u[axis], curl[0],
            real(strength));
      } else {
        run("force", "simulation/confine.cl", "confine", faces(axis), "", u[axis], curl[0], curl[1],
            curl[2], real(strength));
      }
    });
  }
}

void Staggered::hold(const Surface& solid, const cl::Buffer& velocities, Place place,
                     Surface& s) const {
  run("solids", "simulation/hold.cl", "hold", place, "", s, solid, velocities);
}

}  // namespace lugpu

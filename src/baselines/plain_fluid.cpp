#include "baselines/plain_fluid.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/clones.hpp"
#include "base/error.hpp"
#include "baselines/columns.hpp"
#include "opencl/element.hpp"
#include "simulation/fluid_scenes.hpp"
#include "simulation/staggered.hpp"

namespace lugpu {
namespace {

// What the loops over a row of points know of a field: the row's first point, and elements from one
// point to the next along each axis.
template <typename Real>
struct RowOf {
  const Real* at;
  std::array<std::ptrdiff_t, 3> strides;
};

// What stands for the velocity along an axis at the points of a row: the mean of so many values.
template <typename Real>
struct MeanOf {
  std::array<const Real*, 4> rows;
  int count;
};

// Where a row of points is.
template <typename Real>
struct Points {
  std::size_t nx;
  std::array<Real, 3> first;   // the row's first point in the field's own places
  std::array<Real, 3> offset;  // of the field's first value, in cells
  std::array<Real, 3> cells;   // of the box
  std::array<Real, 3> last;    // place from which a pair of neighbours may start at most
};

// moved(x) = s(x - time_step u(x)), within the box and linear between values. The border of s and
// of u holds what is beyond the walls.
template <typename Real, int dimensions>
LUGPU_CLONES void advect_row(const Points<Real> points,
                             const std::array<MeanOf<Real>, dimensions> velocity, Real time_step,
                             const RowOf<Real> s, Real* moved) {
  for (std::size_t i = 0; i < points.nx; ++i) {
    std::array<Real, dimensions> share;
    std::ptrdiff_t from = 0;
    for (int axis = 0; axis < dimensions; ++axis) {
      const MeanOf<Real>& u = velocity[axis];
      Real sum = u.rows[0][i];
      for (int k = 1; k < u.count; ++k) sum += u.rows[k][i];
      const Real here = points.first[axis] + (axis == 0 ? static_cast<Real>(i) : 0);
      const Real back = here - time_step / static_cast<Real>(u.count) * sum;
      const Real place =
          std::min(std::max(-points.offset[axis], back), points.cells[axis] - points.offset[axis]);
      // Rounds towards -1, which is the first place of the border.
      const Real low = std::min(static_cast<Real>(static_cast<std::ptrdiff_t>(place + 1)) - 1,
                                points.last[axis]);
      share[axis] = place - low;
      const Real away = low - (axis == 0 ? 0 : points.first[axis]);
      from += static_cast<std::ptrdiff_t>(away) * s.strides[axis];
    }
    const auto along_x = [&](const Real* at) { return at[0] + share[0] * (at[1] - at[0]); };
    const auto in_plane = [&](const Real* at) {
      const Real low = along_x(at);
      return low + share[1] * (along_x(at + s.strides[1]) - low);
    };
    const Real* const at = s.at + from;
    if constexpr (dimensions == 2) {
      moved[i] = in_plane(at);
    } else {
      const Real low = in_plane(at);
      moved[i] = low + share[2] * (in_plane(at + s.strides[2]) - low);
    }
  }
}

template <typename Real>
LUGPU_CLONES void subtract_row(std::size_t nx, const Real* q, std::ptrdiff_t to_next, Real* u) {
  for (std::size_t i = 0; i < nx; ++i) u[i] -= q[static_cast<std::ptrdiff_t>(i) + to_next] - q[i];
}

constexpr int kCentres = static_cast<int>(Place::centres);

template <typename Real, int dimensions>
class Loops : public PlainFluid {
 public:
  Loops(const SimulationOptions& options, PlainMethod method)
      : scene_(find_fluid_scene(options.scene)),
        box_{options.size, scene_.bounds, 0},
        cells_per_length_(cells_per_length(options.size)),
        time_step_(options.time_step.value_or(scene_.step / cells_per_length_)),
        project_twice_(options.project_twice),
        rule_{0, options.iterations, true},
        pressure_(method, field_grid(box_, Place::centres, 1, 0)) {
    const double reynolds = options.reynolds.value_or(scene_.reynolds);
    diffusion_ = time_step_ / reynolds * cells_per_length_ * cells_per_length_;
    // The components, then smoke.
    for (int i = 0; i <= dimensions; ++i) {
      const Place place = i < dimensions ? faces(static_cast<std::size_t>(i)) : Place::centres;
      systems_.emplace_back(method, field_grid(box_, place, diffusion_, 1));
      now_.push_back(systems_.back().grid().field());
      next_.push_back(systems_.back().grid().field());
    }
    b_ = q_ = pressure_.grid().field();
    make_phases();
  }

  const std::vector<Phase>& phases() const override { return phases_; }
  std::string method() const override { return "plain"; }
  double time_step() const override { return time_step_; }
  std::size_t iterations() const override { return iterations_; }
  const std::string& trouble() const override { return trouble_; }
  const char* left_name() const override { return "divergence"; }
  std::vector<double> left() override { return std::exchange(left_, {}); }

  std::vector<std::vector<double>> velocity() const override {
    std::vector<std::vector<double>> result;
    for (int axis = 0; axis < dimensions; ++axis) {
      result.push_back(stored(axis));
      for (double& value : result.back()) value /= cells_per_length_;
    }
    return result;
  }
  std::vector<double> smoke() const override { return stored(dimensions); }

 private:
  using Field = typename PlainGrid<Real>::Field;

  const PlainGrid<Real>& grid(int field) const {
    return systems_[static_cast<std::size_t>(field)].grid();
  }
  Field& now(int field) { return now_[static_cast<std::size_t>(field)]; }
  Field& next(int field) { return next_[static_cast<std::size_t>(field)]; }
  std::vector<double> stored(int field) const {
    const auto& [nx, ny, nz] = grid(field).size();
    std::vector<double> values(nx * ny * nz);
    grid(field).store(now_[static_cast<std::size_t>(field)], values.data());
    return values;
  }
  static int place_of(int field) { return field < dimensions ? field : kCentres; }

  // use(y, z) for every row of a field
  template <typename Use>
  void for_rows(int field, const Use& use) const {
    const auto& [nx, ny, nz] = grid(field).size();
    for (std::size_t z = 0; z < nz; ++z) {
      for (std::size_t y = 0; y < ny; ++y) use(y, z);
    }
  }

  void make_phases() {
    const Phase diffusion = {"diffuse", [this] {
                               for (int axis = 0; axis < dimensions; ++axis) diffuse(axis);
                             }};
    const Phase projection = {"project", [this] { project(); }};
    const Phase advection = {"advect", [this] { advect(0, dimensions); }};
    phases_ = {{"force", [this] { add_forces(); }}};
    if (project_twice_) {
      phases_.insert(phases_.end(), {diffusion, projection, advection});
    } else {
      phases_.insert(phases_.end(), {advection, diffusion});
    }
    phases_.push_back(projection);
    phases_.push_back({"smoke", [this] {
                         if (project_twice_) diffuse(dimensions);
                         advect(dimensions, dimensions + 1);
                         left_.push_back(last_left_);
                       }});
  }

  // The source of smoke, and its buoyancy.
  void add_forces() {
    iterations_ = 0;
    const SmokeSource source = smoke_source(box_.cells);
    const Real strength = static_cast<Real>(-std::expm1(-kSmokeRate * time_step_));
    constexpr double kReach = 6.3;  // radii; the share beyond is below the rounding of 1
    std::array<std::size_t, 3> from{}, to{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double last = static_cast<double>(box_.cells[axis]);
      const double reach = kReach * source.radius;
      from[axis] = static_cast<std::size_t>(std::clamp(source.at[axis] - reach, 0.0, last));
      to[axis] =
          static_cast<std::size_t>(std::clamp(std::ceil(source.at[axis] + reach), 0.0, last));
    }
    for (std::size_t z = from[2]; z < to[2]; ++z) {
      for (std::size_t y = from[1]; y < to[1]; ++y) {
        Real* const row = &now(dimensions)[grid(dimensions).place(0, y, z)];
        const double dy = static_cast<double>(y) + 0.5 - source.at[1];
        const double dz = dimensions == 3 ? static_cast<double>(z) + 0.5 - source.at[2] : 0;
        for (std::size_t x = from[0]; x < to[0]; ++x) {
          const double dx = static_cast<double>(x) + 0.5 - source.at[0];
          const Real away =
              static_cast<Real>((dx * dx + dy * dy + dz * dz) / (source.radius * source.radius));
          row[x] += strength * std::exp(-away) * (1 - row[x]);
        }
      }
    }
    const Real lift = static_cast<Real>(scene_.buoyancy * time_step_ * cells_per_length_ / 2);
    const std::size_t above = grid(dimensions).strides()[1];
    for_rows(1, [&](std::size_t y, std::size_t z) {
      Real* const v = &now(1)[grid(1).place(0, y, z)];
      const Real* const s = &now(dimensions)[grid(dimensions).place(0, y, z)];
      for (std::size_t x = 0; x < box_.cells[0]; ++x) v[x] += lift * (s[x] + s[x + above]);
    });
  }

  void diffuse(int field) {
    if (diffusion_ == 0) return;
    next(field) = now(field);
    iterate(systems_[static_cast<std::size_t>(field)], now(field), next(field));
    std::swap(now(field), next(field));
  }

  void iterate(PlainIteration<Real>& system, const Field& b, Field& x) {
    const Iteration iteration = system.solve(b, x, rule_);
    iterations_ += iteration.iterations;
    if (trouble_.empty()) trouble_ = iteration.reason;
  }

  // Every value of the border: what is beyond the walls of a velocity along them is the opposite
  // one, that of the faces at the walls 0, and that of smoke the same. 0 everywhere: what the
  // linear systems expect.
  void set_border(int field, bool zero) {
    const auto factor = [&](int axis) -> Real {
      if (zero || field == axis) return 0;
      return field == dimensions ? 1 : -1;
    };
    Field& f = now(field);
    const std::size_t nx = grid(field).size()[0], ny = grid(field).size()[1];
    const std::size_t nz = grid(field).size()[2], row = grid(field).strides()[1],
                      plane = grid(field).strides()[2];
    for_rows(field, [&](std::size_t y, std::size_t z) {
      Real* const first = &f[grid(field).place(0, y, z)];
      *(first - 1) = factor(0) * first[0];
      first[nx] = factor(0) * first[nx - 1];
    });
    for (std::size_t z = 0; z < nz; ++z) {
      Real* const first = &f[grid(field).place(0, 0, z)] - 1;
      Real* const last = &f[grid(field).place(0, ny - 1, z)] - 1;
      for (std::size_t x = 0; x < row; ++x) {
        *(first + x - row) = factor(1) * first[x];
        last[x + row] = factor(1) * last[x];
      }
    }
    if constexpr (dimensions == 3) {
      for (std::size_t i = 0; i < plane; ++i) {
        f[i] = factor(2) * f[plane + i];
        f[plane * (nz + 1) + i] = factor(2) * f[plane * nz + i];
      }
    }
  }

  // The mean of a component around the points of a row of another field.
  MeanOf<Real> mean_of(int component, int field, std::size_t y, std::size_t z) const {
    const std::array<std::size_t, 3> strides = grid(component).strides();
    MeanOf<Real> mean = {
        {&now_[static_cast<std::size_t>(component)][grid(component).place(0, y, z)]}, 1};
    for (int axis = 0; axis < dimensions; ++axis) {
      const int halves = (place_of(field) == axis) - (component == axis);
      if (halves == 0) continue;
      const auto stride = static_cast<std::ptrdiff_t>(strides[static_cast<std::size_t>(axis)]);
      const auto count = static_cast<std::size_t>(mean.count);
      for (std::size_t i = 0; i < count; ++i) {
        mean.rows[count + i] = mean.rows[i] + halves * stride;
      }
      mean.count *= 2;
    }
    return mean;
  }

  // The fields from `first` up to `end`, brought along by the velocity.
  void advect(int first, int end) {
    for (int field = 0; field < std::max(end, dimensions); ++field) set_border(field, false);
    for (int field = first; field < end; ++field) advect(field);
    for (int field = 0; field < std::max(end, dimensions); ++field) set_border(field, true);
    for (int field = first; field < end; ++field) std::swap(now(field), next(field));
  }

  void advect(int field) {
    const PlainGrid<Real>& of = grid(field);
    Points<Real> points;
    points.nx = of.size()[0];
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const bool across = place_of(field) == static_cast<int>(axis);
      points.offset[axis] = across ? 1 : static_cast<Real>(0.5);
      points.cells[axis] = static_cast<Real>(box_.cells[axis]);
      points.last[axis] = static_cast<Real>(of.size()[axis] - 1);
    }
    RowOf<Real> s;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      s.strides[axis] = static_cast<std::ptrdiff_t>(of.strides()[axis]);
    }
    for_rows(field, [&](std::size_t y, std::size_t z) {
      points.first = {0, static_cast<Real>(y), static_cast<Real>(z)};
      std::array<MeanOf<Real>, dimensions> velocity;
      for (int axis = 0; axis < dimensions; ++axis) {
        velocity[static_cast<std::size_t>(axis)] = mean_of(axis, field, y, z);
      }
      const std::size_t begin = of.place(0, y, z);
      s.at = &now(field)[begin];
      advect_row<Real, dimensions>(points, velocity, static_cast<Real>(time_step_), s,
                                   &next(field)[begin]);
    });
  }

  // b = what flows into the cells; its 2-norm.
  double inflow() {
    double square = 0;
    for_rows(dimensions, [&](std::size_t y, std::size_t z) {
      Real* const b = &b_[grid(dimensions).place(0, y, z)];
      std::fill_n(b, box_.cells[0], Real(0));
      for (int axis = 0; axis < dimensions; ++axis) {
        // Of the same index is the face behind the cell; those at walls are 0 in the border.
        const Real* const behind = &now(axis)[grid(axis).place(0, y, z)];
        const Real* const before = behind - grid(axis).strides()[static_cast<std::size_t>(axis)];
        for (std::size_t x = 0; x < box_.cells[0]; ++x) b[x] += before[x] - behind[x];
      }
      Real sum = 0;
      for (std::size_t x = 0; x < box_.cells[0]; ++x) sum += b[x] * b[x];
      square += static_cast<double>(sum);
    });
    return std::sqrt(square);
  }

  void subtract_gradient(const Field& q) {
    for (int axis = 0; axis < dimensions; ++axis) {
      const std::array<std::size_t, 3> strides = pressure_.grid().strides();
      for_rows(axis, [&](std::size_t y, std::size_t z) {
        subtract_row(grid(axis).size()[0], &q[pressure_.grid().place(0, y, z)],
                     static_cast<std::ptrdiff_t>(strides[static_cast<std::size_t>(axis)]),
                     &now(axis)[grid(axis).place(0, y, z)]);
      });
    }
  }

  // As Projection::project() with a tolerance of 0.
  void project() {
    const double before = inflow();
    iterate(pressure_, b_, q_);
    subtract_gradient(q_);
    const double after = inflow();
    last_left_ = after == 0 ? 0 : after / before;
  }

  const FluidScene& scene_;
  Box box_;
  double cells_per_length_, time_step_, diffusion_ = 0;
  bool project_twice_;
  StoppingRule rule_;
  PlainIteration<Real> pressure_;
  std::vector<PlainIteration<Real>> systems_;
  std::vector<Field> now_, next_;
  Field b_, q_;
  std::vector<Phase> phases_;
  std::size_t iterations_ = 0;
  double last_left_ = 0;  // of the last projection
  std::vector<double> left_;
  std::string trouble_;
};

template <typename Real>
std::unique_ptr<PlainFluid> make(const SimulationOptions& options, PlainMethod method) {
  if (options.size[2] == 1) return std::make_unique<Loops<Real, 2>>(options, method);
  return std::make_unique<Loops<Real, 3>>(options, method);
}

}  // namespace

std::unique_ptr<PlainFluid> make_plain_fluid(const SimulationOptions& options, PlainMethod method) {
  const FluidScene& scene = find_fluid_scene(options.scene);
  const bool fits = scene.has_smoke() && !scene.solids && options.semi_lagrangian &&
                    !options.explicit_diffusion && options.confinement == 0 &&
                    options.tolerance == 0 && std::min(options.size[0], options.size[1]) >= 2;
  if (!fits) throw InputError("The plain loops are for smoke with semi-Lagrangian advection.");
  constexpr double kFields = 25;
  const auto& [nx, ny, nz] = options.size;
  const double cells = static_cast<double>(nx) * static_cast<double>(ny) * static_cast<double>(nz);
  require_half_of_memory(kFields * cells * static_cast<double>(element_size(options.precision)),
                         "A fluid of " + std::to_string(nx * ny * nz) + " cells");
  return options.precision == Precision::double_precision ? make<double>(options, method)
                                                          : make<float>(options, method);
}

}  // namespace lugpu

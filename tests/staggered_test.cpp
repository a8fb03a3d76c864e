// Fields on a staggered grid: advection, divergence and gradient against the host.

#include "simulation/staggered.hpp"

#include <tuple>

#include "base/error.hpp"
#include "matrix/random.hpp"
#include "opencl_fixture.hpp"
#include "operators/product.hpp"
#include "padding.hpp"

namespace lugpu {
namespace {

using Cells = std::array<std::size_t, 3>;
using Bounds = std::array<Boundary, 3>;
using Point = std::array<double, 3>;
constexpr Boundary kNoSlip = Boundary::no_slip, kFreeSlip = Boundary::free_slip,
                   kPeriodic = Boundary::periodic;

// A field of a box on the host.
struct HostField {
  Box box;
  Place place;
  std::vector<double> values;

  std::array<std::size_t, 3> size() const { return field_grid(box, place, 0, 0).size; }
  double offset(std::size_t axis) const { return place == faces(axis) ? 1 : 0.5; }

  // Value (i, j, k), also beyond the ends.
  double at(std::array<long, 3> i) const {
    double sign = 1, along_y = 1, extra = 0;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(box.dimensions()); ++axis) {
      const long cells = static_cast<long>(box.cells[axis]);
      const long last = static_cast<long>(size()[axis]) - 1;
      if (box.bounds[axis] == kPeriodic) {
        i[axis] = (i[axis] % cells + cells) % cells;
      } else if (i[axis] < 0 || i[axis] > last) {
        const bool opposite = box.bounds[axis] == kNoSlip && place != Place::centres;
        (axis == 1 ? along_y : sign) *= place == faces(axis) ? 0 : opposite ? -1 : 1;
        if (opposite && place == Place::faces_x && axis == 1 && i[axis] > last) extra = 2 * box.lid;
        i[axis] = std::clamp(i[axis], 0L, last);
      }
    }
    const auto [nx, ny, nz] = size();
    const auto index = static_cast<std::size_t>(i[0]) +
                       nx * (static_cast<std::size_t>(i[1]) + ny * static_cast<std::size_t>(i[2]));
    return sign * (along_y * values[index] + extra);
  }

  // At a point, in cells.
  double sample(const Point& point) const {
    std::array<long, 3> low = {0, 0, 0};
    Point share = {0, 0, 0};
    const auto dimensions = static_cast<std::size_t>(box.dimensions());
    for (std::size_t axis = 0; axis < dimensions; ++axis) {
      const double g = point[axis] - offset(axis);
      low[axis] = static_cast<long>(std::floor(g));
      share[axis] = g - std::floor(g);
    }
    double sum = 0;
    for (long corner = 0; corner < 1L << dimensions; ++corner) {
      double weight = 1;
      std::array<long, 3> i = low;
      for (std::size_t axis = 0; axis < dimensions; ++axis) {
        const long next = corner >> axis & 1;
        i[axis] += next;
        weight *= next ? share[axis] : 1 - share[axis];
      }
      if (weight != 0) sum += weight * at(i);
    }
    return sum;
  }
};

using HostVelocity = std::vector<HostField>;

Point in_box(const Box& box, Point point) {
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(box.dimensions()); ++axis) {
    const double n = static_cast<double>(box.cells[axis]);
    if (box.bounds[axis] == kPeriodic) point[axis] -= n * std::floor(point[axis] / n);
    point[axis] = std::clamp(point[axis], 0.0, n);
  }
  return point;
}

Point traced(const HostVelocity& u, const Point& from, double time) {
  Point half_way = from, to = from;
  for (std::size_t axis = 0; axis < u.size(); ++axis) {
    half_way[axis] += time / 2 * u[axis].sample(from);
  }
  half_way = in_box(u[0].box, half_way);
  for (std::size_t axis = 0; axis < u.size(); ++axis) {
    to[axis] += time * u[axis].sample(half_way);
  }
  return in_box(u[0].box, to);
}

// Of every value of a field, in cells.
template <typename Use>
void for_points(const HostField& field, Use&& use) {
  const auto [nx, ny, nz] = field.size();
  std::size_t i = 0;
  for (std::size_t z = 0; z < nz; ++z) {
    for (std::size_t y = 0; y < ny; ++y) {
      for (std::size_t x = 0; x < nx; ++x, ++i) {
        use(i, Point{static_cast<double>(x) + field.offset(0),
                     static_cast<double>(y) + field.offset(1),
                     static_cast<double>(z) + field.offset(2)});
      }
    }
  }
}

HostField random_field(const Box& box, Place place, std::uint64_t seed) {
  HostField field{box, place, {}};
  const auto [nx, ny, nz] = field.size();
  field.values = random_matrix(nx * ny * nz, 1, seed).values();
  return field;
}

using Parameters = std::tuple<Cells, Bounds, Precision>;

class StaggeredTest : public testing::TestWithParam<Parameters> {
 protected:
  StaggeredTest()
      : box_{std::get<0>(GetParam()), std::get<1>(GetParam()), 0.75},
        on_(shared_context(), box_, std::get<2>(GetParam())) {
    for (std::size_t axis = 0; axis < on_.dimensions(); ++axis) {
      host_.push_back(random_field(box_, faces(axis), axis + 1));
      u_.push_back(uploaded(host_.back()));
    }
  }

  Surface uploaded(const HostField& field) {
    Surface surface = on_.field(field.place);
    Vectors vectors(shared_context(), on_.layout(field.place), 1);
    vectors.upload(field.values, surface);
    return surface;
  }
  std::vector<double> downloaded(Place place, const Surface& surface) {
    Vectors vectors(shared_context(), on_.layout(place), 1);
    return vectors.download(surface, on_.layout(place).rows * on_.layout(place).columns);
  }
  void expect_near(const std::vector<double>& expected, Place place, const Surface& surface,
                   double factor = 1) {
    const std::vector<double> values = downloaded(place, surface);
    ASSERT_EQ(values.size(), expected.size());
    const double limit = factor * 200 * epsilon(on_.precision());
    for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected[i], limit) << i;
  }
  std::vector<Place> places() const {
    std::vector<Place> all = {Place::centres};
    for (std::size_t axis = 0; axis < on_.dimensions(); ++axis) all.push_back(faces(axis));
    return all;
  }

  Box box_;
  Staggered on_;
  HostVelocity host_;
  Velocity u_;
};

// Single precision rounds points to the other side of a cell now and then, where the field is
// continuous but the limits of the correction jump; so that is compared in double.
TEST_P(StaggeredTest, Advects) {
  for (const double time : {0.4, -3.7, 1e9}) {
    for (const Place place : places()) {
      SCOPED_TRACE(testing::Message() << time << " " << static_cast<int>(place));
      const bool exact = on_.precision() == Precision::double_precision;
      if (time > 10 && !exact) continue;
      const HostField s = random_field(box_, place, 7);
      HostField moved = s;
      for_points(s, [&](std::size_t i, const Point& point) {
        moved.values[i] = s.sample(traced(host_, point, -time));
      });
      const Surface source = uploaded(s);
      Surface on_device = on_.field(place), corrected = on_.field(place);
      if (time == 0.4) {
        HostField by_euler = s;
        for_points(s, [&](std::size_t i, const Point& point) {
          Point from = point;
          for (std::size_t axis = 0; axis < host_.size(); ++axis) {
            from[axis] -= time * host_[axis].sample(point);
          }
          by_euler.values[i] = s.sample(in_box(box_, from));
        });
        on_.advect(u_, time, Staggered::Trace::euler, place, source, on_device);
        expect_near(by_euler.values, place, on_device, 40);
      }
      on_.advect(u_, time, Staggered::Trace::midpoint, place, source, on_device);
      // In cells of far away, digits are lost.
      const double digits_lost = time > 10 ? time : 40;
      if (time < 10) expect_near(moved.values, place, on_device, digits_lost);
      on_.correct(u_, time, place, source, on_device, corrected);
      if (!exact || time > 10) continue;
      std::vector<double> expected(s.values.size());
      for_points(s, [&](std::size_t i, const Point& point) {
        const double back = moved.sample(traced(host_, point, time));
        const double value = moved.values[i] + (s.values[i] - back) / 2;
        const Point from = traced(host_, point, -time);
        double low = INFINITY, high = -INFINITY;
        for (long corner = 0; corner < 1L << on_.dimensions(); ++corner) {
          std::array<long, 3> at = {0, 0, 0};
          bool counts = true;
          for (std::size_t axis = 0; axis < on_.dimensions(); ++axis) {
            const double g = from[axis] - s.offset(axis), share = g - std::floor(g);
            const long next = corner >> axis & 1;
            at[axis] = static_cast<long>(std::floor(g)) + next;
            counts = counts && (next ? share : 1 - share) >= 1.0 / 1024;
          }
          if (!counts) continue;
          low = std::min(low, s.at(at));
          high = std::max(high, s.at(at));
        }
        expected[i] = std::clamp(value, low, high);
      });
      expect_near(expected, place, corrected, 40);
    }
  }
}

TEST_P(StaggeredTest, StaysFiniteWithAnyVelocity) {
  for (const double speed : {1e30, double{INFINITY}, double{NAN}}) {
    const HostField s = random_field(box_, Place::centres, 7);
    Velocity u = on_.velocity();
    Vectors vectors(shared_context(), on_.layout(Place::faces_x), 1);
    vectors.combine(Operation::add, {speed}, u_[0], {0}, u_[0], u[0]);
    const Surface source = uploaded(s);
    Surface moved = on_.field(Place::centres), corrected = on_.field(Place::centres);
    on_.advect(u, 1, Staggered::Trace::midpoint, Place::centres, source, moved);
    on_.correct(u, 1, Place::centres, source, moved, corrected);
    for (const double value : downloaded(Place::centres, moved)) {
      EXPECT_LE(std::abs(value), 1.0001);
    }
  }
}

// What flows into the cells is -A q for the negative gradient of q: so a projection is exact.
TEST_P(StaggeredTest, DivergenceOfTheGradientIsTheMatrixOfTheGrid) {
  for (const bool varies : {false, true}) {
    Grid grid = field_grid(box_, Place::centres, 1, 0);
    const HostField q = random_field(box_, Place::centres, 5);
    if (varies) {
      grid.conductivity = random_field(box_, Place::centres, 6).values;
      for (double& k : grid.conductivity) k = k < 0 ? 0 : k;
    }
    const Surface k = uploaded({box_, Place::centres, varies ? grid.conductivity : q.values});
    Velocity u = on_.velocity();
    Surface b = on_.field(Place::centres);
    on_.subtract_gradient(uploaded(q), varies ? &k : nullptr, u);
    on_.inflow(u, varies ? &k : nullptr, b);
    Matrix x(grid.unknowns(), 1);
    x.values() = q.values;
    std::vector<double> expected = multiply(grid, x).values();
    for (std::size_t i = 0; i < expected.size(); ++i) {
      // The row of an obstacle is that of the identity, but nothing flows there.
      const bool is_solid = varies && grid.conductivity[i] == 0;
      expected[i] = is_solid ? 0 : -expected[i];
    }
    expect_near(expected, Place::centres, b);
  }
}

TEST_P(StaggeredTest, NothingFlowsOutOfTheBox) {
  Surface b = on_.field(Place::centres);
  on_.inflow(u_, nullptr, b);
  double sum = 0;
  for (const double value : downloaded(Place::centres, b)) sum += value;
  const double cells = static_cast<double>(box_.cells[0] * box_.cells[1] * box_.cells[2]);
  EXPECT_NEAR(sum, 0, cells * 20 * epsilon(on_.precision()));
}

TEST(StaggeredSolids, HaveTheirVelocityOnTheFacesOfTheirCells) {
  const std::vector<double> velocities = {1, 2, 3, 0, -4, -5, -6, 0};
  for (const auto& [cells, bounds, precision] :
       {Parameters{{17, 9, 1}, {kPeriodic, kNoSlip, kNoSlip}, Precision::double_precision},
        Parameters{{9, 5, 6}, {kNoSlip, kPeriodic, kFreeSlip}, Precision::single_precision}}) {
    DeviceContext& context = shared_context();
    const Box box{cells, bounds, 0};
    const Staggered on(context, box, precision);
    HostField solid = random_field(box, Place::centres, 1);
    for (double& number : solid.values) number = number < 0 ? 0 : number < 0.5 ? 1 : 2;
    Surface on_device = on.field(Place::centres);
    Vectors(context, on.layout(Place::centres), 1).upload(solid.values, on_device);
    Matrix of_solids(velocities.size(), 1);
    of_solids.values() = velocities;
    const cl::Buffer known = upload(context, of_solids, precision);
    for (std::size_t axis = 0; axis <= on.dimensions(); ++axis) {
      const bool centres = axis == on.dimensions();
      HostField s = random_field(box, centres ? Place::centres : faces(axis), 2);
      s.values = random_in(precision, s.values.size(), 1, 2).values();
      Vectors vectors(context, on.layout(s.place), 1);
      Surface held = vectors.take();
      vectors.upload(s.values, held);
      on.hold(on_device, known, s.place, held);
      expect_zeros_after_columns(vectors, held);
      for_points(s, [&](std::size_t i, const Point& point) {
        std::array<long, 3> cell;
        for (std::size_t a = 0; a < 3; ++a) cell[a] = std::lround(point[a] - s.offset(a));
        double number = solid.at(cell);
        if (!centres && number == 0) {
          ++cell[axis];
          number = solid.at(cell);
        }
        if (number == 0) return;
        s.values[i] = centres ? 0 : velocities[4 * (static_cast<std::size_t>(number) - 1) + axis];
      });
      EXPECT_EQ(vectors.download(held, s.values.size()), s.values) << axis;
    }
  }
}

std::string name(const testing::TestParamInfo<Parameters>& info) {
  const auto& [cells, bounds, precision] = info.param;
  std::string result = name(precision);
  for (const std::size_t n : cells) result += "_" + std::to_string(n);
  for (const Boundary bound : bounds) result += "_" + std::to_string(static_cast<int>(bound));
  return result;
}

INSTANTIATE_TEST_SUITE_P(
    Flat, StaggeredTest,
    testing::Combine(testing::Values(Cells{2, 2, 1}, Cells{5, 3, 1}, Cells{17, 9, 1},
                                     Cells{33, 16, 1}, Cells{64, 5, 1}),
                     testing::Values(Bounds{kNoSlip, kNoSlip, kNoSlip},
                                     Bounds{kFreeSlip, kNoSlip, kNoSlip},
                                     Bounds{kPeriodic, kFreeSlip, kNoSlip},
                                     Bounds{kPeriodic, kPeriodic, kPeriodic}),
                     testing::Values(Precision::single_precision, Precision::double_precision)),
    name);
INSTANTIATE_TEST_SUITE_P(
    Deep, StaggeredTest,
    testing::Combine(testing::Values(Cells{2, 2, 2}, Cells{17, 4, 3}, Cells{9, 33, 6}),
                     testing::Values(Bounds{kNoSlip, kNoSlip, kNoSlip},
                                     Bounds{kPeriodic, kNoSlip, kFreeSlip},
                                     Bounds{kPeriodic, kPeriodic, kPeriodic}),
                     testing::Values(Precision::single_precision, Precision::double_precision)),
    name);

}  // namespace
}  // namespace lugpu

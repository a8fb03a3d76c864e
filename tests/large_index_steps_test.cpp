// Index arithmetic of steps of an elimination that choose the next pivot too.
#include "dense/tiling.hpp"
#include "large_index.hpp"

namespace lugpu {
namespace {

// dense/fused.cl and dense/full_pivoting.cl, cut into work-groups as for the device

class LargeIndexOfSteps : public LargeIndex {
 protected:
  /// As for this device, and on CPUs as for a GPU too.
  std::vector<Tiling> tilings(Pivot pivot) const {
    DenseOptions options;
    options.precision = precision;
    options.storage = Storage::buffer;
    options.pivot = pivot;
    Device device = context.device();
    std::vector<Tiling> cuts = {Tiling::make(device, Size::square(n, 0), options, n)};
    if (device.type == "gpu") return cuts;
    device.type = "gpu";
    cuts.push_back(Tiling::make(device, Size::square(n, 0), options, n));
    return cuts;
  }
  /// A CPU builds what is for GPUs without optimizations, in less time.
  std::string build_options(const Tiling& cut) const {
    const bool quick = context.device().type == "cpu" && cut.tile.lanes > 1;
    return cut.options() + (quick ? " -cl-opt-disable" : "");
  }
  /// Where the pivot of step k is, among all places.
  cl::Buffer places_with(std::size_t k, const PlaceInt& place) {
    std::vector<PlaceInt> places(n);
    places[k] = place;
    return buffer(places);
  }
  PlaceInt place_at(const cl::Buffer& places, std::size_t k) {
    return values_of<PlaceInt>(places, n)[k];
  }
  /// Of the corner.
  PlaceInt in_corner(PlaceInt place) const {
    return {place.row - as_int(n - kCorner), place.column - as_int(n - kCorner)};
  }

  /// One step of dense/fused.cl, which may have several in a launch on CPUs, and the choice of the
  /// next pivot.
  void fused_step(const std::string& prefix, const char* pivot, const Tiling& cut,
                  const Surface& source, const Surface& target, const cl::Buffer& places,
                  std::size_t k, std::size_t first_row, std::size_t first_column) {
    const Candidates candidates(context, cut, precision);
    const cl::Buffer pivots = vector(Matrix(n, 1));
    const auto kernel = [&](const std::string& name) {
      return KernelId{"dense/fused.cl", name.c_str(), precision,
                      Storage::buffer,  Texel::r,     build_options(cut)};
    };
    if (cut.tile.lanes == 1) {
      const std::string steps = prefix + "_steps_" + pivot;
      context.run("test", kernel(steps), {context.device().compute_units}, source, target, places,
                  pivots, candidates.magnitudes, candidates.places, as_int(k), as_int(k + 1),
                  as_int(n), as_int(n), as_int(cut.most_groups), context.zeros(cut.phase_ints()));
    } else {
      const std::string step = prefix + "_step_" + pivot, choose = "choose_pivot";
      const Tiling::Launch launch = cut.launch(first_row, first_column);
      context.run("test", kernel(step), {launch.group_columns * cut.tile.lanes, launch.group_rows},
                  source, target, places, pivots, candidates.magnitudes, candidates.places,
                  as_int(k), as_int(n), as_int(n), as_int(launch.rows));
      const std::size_t count = pivot == std::string("full") ? launch.groups() : launch.group_rows;
      context.run("test", kernel(choose), {Tiling::kChoosers}, candidates.magnitudes,
                  candidates.places, places, as_int(k + 1), as_int(count));
    }
    EXPECT_EQ(vector_of(pivots, n)(k, 0), 4);
  }
};

INSTANTIATE_TEST_SUITE_P(Orders, LargeIndexOfSteps, testing::ValuesIn(large_kinds()),
                         testing::PrintToStringParamName());

TEST_P(LargeIndexOfSteps, FusedLu) {
  constexpr std::size_t kStep = kCorner - 9, kPivot = kCorner - 2;
  const std::size_t k = n - 9;
  Matrix values = integers(kCorner, kCorner, 1);
  values(kPivot, kStep) = 4;
  // Row and column k-1 are copied, column k is not divided yet.
  Matrix reduced = values, expected = before();
  for (std::size_t j = kStep; j < kCorner; ++j) std::swap(reduced(kStep, j), reduced(kPivot, j));
  for (std::size_t j = kStep - 1; j < kCorner; ++j) {
    for (std::size_t i = kStep - 1; i < kCorner; ++i) {
      const bool trails = i > kStep && j > kStep;
      expected(i, j) = reduced(i, j) - (trails ? reduced(i, kStep) / 4 * reduced(kStep, j) : 0);
    }
  }
  const Surface source = square_with(values), target = square();
  for (const Tiling& cut : tilings(Pivot::partial)) {
    write_corner(target, before());
    const cl::Buffer places = places_with(k, {as_int(n - 2), as_int(k)});
    fused_step("lu", "partial", cut, source, target, places, k, k - 1, k - 1);
    EXPECT_TRUE(same(corner(target), expected)) << cut.tile.lanes;
    EXPECT_EQ(in_corner(place_at(places, k + 1)), largest(expected, kStep + 1, kStep + 2));
  }
}

TEST_P(LargeIndexOfSteps, FusedGaussJordan) {
  constexpr std::size_t kStep = kCorner - 9;
  const std::size_t k = n - 9, p = n - 2, q = n - 4;
  Matrix values = integers(n, kCorner, 1);
  values(p, kCorner - 4) = 4;
  values(n - 1, kCorner - 1) = 50;  // the next pivot, reduced by 3 * 3 / 4 at most
  const Surface source = square_with(values), target = square();
  swap_columns(values, kStep, kCorner - 4);
  for (std::size_t j = kStep; j < kCorner; ++j) std::swap(values(k, j), values(p, j));
  Matrix expected = before(n);
  for (std::size_t j = kStep + 1; j < kCorner; ++j) {
    for (std::size_t i = 0; i < n; ++i) {
      const double reduced = values(k, j) / 4;
      expected(i, j) = i == k ? reduced : values(i, j) - values(i, kStep) * reduced;
    }
  }
  for (const Tiling& cut : tilings(Pivot::full)) {
    write_corner(target, before(n));
    const cl::Buffer places = places_with(k, {as_int(p), as_int(q)});
    fused_step("gauss_jordan", "full", cut, source, target, places, k, 0, k + 1);
    // Column k is left with anything, and those before it as they were.
    Matrix actual = corner(target, n);
    std::copy_n(expected.column(kStep), n, actual.column(kStep));
    EXPECT_TRUE(same(actual, expected)) << cut.tile.lanes;
    EXPECT_EQ(in_corner(place_at(places, k + 1)), (PlaceInt{kCorner - 1, kCorner - 1}));
  }
}

// The last whole block of four steps, whose pivots are far from the diagonal.
class LargeIndexOfFullPivoting : public LargeIndexOfSteps {
 protected:
  static constexpr std::size_t kDelay = 4;

  /// Steps k : k + kDelay, of which the last one writes.
  void steps(const Tiling& cut, const Surface& source, const Surface& target,
             const cl::Buffer& places, std::size_t k) {
    const Candidates candidates(context, cut, precision);
    const cl::Buffer pivots = vector(Matrix(n, 1)), l = vector(Matrix(kDelay * (n + 3), 1)),
                     u = vector(Matrix(kDelay * (n + 3), 1));
    KernelId id{"dense/full_pivoting.cl", "full_steps", precision,
                Storage::buffer,          Texel::r,     build_options(cut) + " -DDELAY=4"};
    if (cut.tile.lanes == 1) {
      context.run("test", id, {context.device().compute_units}, source, target, places, pivots, l,
                  u, candidates.magnitudes, candidates.places, as_int(k), as_int(k + kDelay),
                  as_int(n), cl_int{0}, as_int(cut.most_groups), context.zeros(cut.phase_ints()));
      return;
    }
    std::size_t count = 0;
    for (std::size_t step = k; step < k + kDelay; ++step) {
      const bool writes = step + 1 == k + kDelay;
      const Tiling::Launch launch = cut.launch(writes ? k - kDelay : k, writes ? k - kDelay : k);
      id.function = "take_pivot";
      context.run("test", id, {n - k}, source, candidates.magnitudes, candidates.places, places,
                  pivots, l, u, as_int(step), as_int(n), as_int(count));
      id.function = writes ? "write_updates" : "delay_update";
      context.run("test", id, {launch.group_columns * cut.tile.lanes, launch.group_rows}, source,
                  target, places, l, u, candidates.magnitudes, candidates.places, as_int(step),
                  as_int(n), as_int(launch.rows));
      count = launch.groups();
    }
  }

  /// The same on the host, for the corner: rows and columns of pivots have the interchanges of
  /// their own step, and no column is divided. Where the pivots are goes to `places`.
  static Matrix reduced(Matrix a, std::size_t first, std::vector<PlaceInt>& places) {
    for (std::size_t k = first; k < first + kDelay; ++k) {
      const PlaceInt place = largest(a, k, kCorner);
      places.push_back(place);
      for (std::size_t j = first; j < kCorner; ++j) std::swap(a(k, j), a(place.row, j));
      for (std::size_t i = first; i < kCorner; ++i) std::swap(a(i, k), a(i, place.column));
      for (std::size_t j = k + 1; j < kCorner; ++j) {
        for (std::size_t i = k + 1; i < kCorner; ++i) a(i, j) -= a(i, k) / a(k, k) * a(k, j);
      }
    }
    return a;
  }
};

INSTANTIATE_TEST_SUITE_P(Orders, LargeIndexOfFullPivoting, testing::ValuesIn(large_kinds()),
                         testing::PrintToStringParamName());

TEST_P(LargeIndexOfFullPivoting, Steps) {
  const std::size_t k = n / kDelay * kDelay - 8, order = n - k, at = kCorner - order;
  const ExactFactors factors(order, true);
  Matrix block = product(factors.l, factors.u);
  for (std::size_t i = 0; i < order / 2; ++i) {
    swap_rows(block, i, order - 1 - i);
    swap_columns(block, i, order - 1 - i);
  }
  Matrix values = integers(kCorner, kCorner, 1), expected = before();
  put(values, at, at, block);
  std::vector<PlaceInt> pivots;
  const Matrix left = reduced(values, at, pivots);
  // The block before is copied.
  for (std::size_t j = at - kDelay; j < kCorner; ++j) {
    for (std::size_t i = at - kDelay; i < kCorner; ++i) expected(i, j) = left(i, j);
  }
  const Surface source = square_with(values), target = square();
  const cl_int origin = as_int(n - kCorner);
  for (const Tiling& cut : tilings(Pivot::full)) {
    write_corner(target, before());
    const cl::Buffer places = places_with(k, {pivots[0].row + origin, pivots[0].column + origin});
    steps(cut, source, target, places, k);
    EXPECT_TRUE(same(corner(target), expected)) << cut.tile.lanes;
    for (std::size_t r = 0; r < kDelay; ++r) {
      EXPECT_EQ(in_corner(place_at(places, k + r)), pivots[r]) << r;
    }
  }
}

}  // namespace
}  // namespace lugpu

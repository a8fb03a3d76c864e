#include "iterative/multigrid.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "iterative/coarse_grids.hpp"
#include "iterative/norm.hpp"
#include "opencl/transfer.hpp"
#include "operators/conductivity_operator.hpp"

namespace lugpu {
namespace {

// LEAD of grid/cells.clh: elements of a field before its first row.
constexpr std::size_t kLead = 32;
// Grids of at most so many cells are left to one work-group, and those of so many to their inverse.
constexpr std::size_t kSmall = 1024;
constexpr std::size_t kSmallest = 64;
// Cells whose sum a work-group takes (grid/mean.cl).
constexpr std::size_t kChunk = 4096;
// Preconditioned residuals fall; one that is so many times the smallest before it never will again.
constexpr double kGrowth = 1e4;
// Steps before the host looks at the residuals for the first time.
constexpr std::size_t kFirstLook = 4;

// How the rows of a grid are stored as a field.
struct FieldShape {
  std::array<std::size_t, 3> size;
  std::size_t pitch;

  static FieldShape make(const std::array<std::size_t, 3>& size, Precision precision) {
    constexpr std::size_t kRowAlignment = 128;  // as rows of surfaces, so at odd multiples of it
    const std::size_t unit = kRowAlignment / element_size(precision);
    return {size, (ceiling(size[0] + 1, unit) | 1) * unit};
  }
  std::size_t rows() const { return size[1] * size[2]; }
  std::size_t elements() const { return rows() * pitch + 3 * kLead; }
  cl_int4 numbers() const {
    return {{static_cast<cl_int>(size[0]), static_cast<cl_int>(size[1]),
             static_cast<cl_int>(size[2]), static_cast<cl_int>(pitch)}};
  }

  // A number of every cell, and zeros around them.
  std::vector<double> field(const std::vector<double>& values) const {
    std::vector<double> padded(elements());
    for (std::size_t row = 0; row < rows() && !values.empty(); ++row) {
      std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(row * size[0]), size[0],
                  padded.begin() + static_cast<std::ptrdiff_t>(kLead + row * pitch));
    }
    return padded;
  }
};

// The weights of the two steps of Jacobi's method. `interpolating` removes of a constant correction
// what alternates from cell to cell along a halved axis, whose eigenvalue is 2 c / (the sum of all
// c) of D^-1 A; `other` damps the rest.
struct Weights {
  double other = 0.6, interpolating = 1.5;

  static Weights make(const Cells& cells, const Coarsening& how) {
    double all = 0, halved = 0, axes = 0;
    for (int axis = 0; axis < 3; ++axis) {
      all += cells.strength[axis];
      halved += how.axes[axis] ? cells.strength[axis] : 0;
      axes += how.axes[axis] ? 1 : 0;
    }
    if (axes == 0) return {0, 1};  // A is diagonal
    Weights weights;
    weights.interpolating = std::min(1.5, all * axes / (2 * halved));
    weights.other = weights.interpolating > 1.25 ? 0.6 : 2.0 / 3;
    return weights;
  }
  double sum() const { return other + interpolating; }
  double product() const { return other * interpolating; }
};

cl_int4 numbers_of(const std::array<bool, 3>& flags) {
  return {{flags[0], flags[1], flags[2], 0}};
}
cl_int4 numbers_of(const std::array<std::size_t, 3>& sizes) {
  return {{static_cast<cl_int>(sizes[0]), static_cast<cl_int>(sizes[1]),
           static_cast<cl_int>(sizes[2]), 0}};
}

std::vector<double> inverses(std::vector<double> values) {
  for (double& value : values) value = value == 0 ? 0 : 1 / value;
  return values;
}

void require_grid(const Device& device, const Grid& grid, Precision precision, Storage storage,
                  Texel texel) {
  if (storage == Storage::image) {
    throw Unsupported("Multigrid works in buffers alone", {"storage", "buffer"});
  }
  if (texel != Texel::r) throw Unsupported("Multigrid takes one element a texel", {"texel", "r"});
  require_conductivity(grid);
  // Fields of the finest grid: r, z, another and p; the coefficients; at most as much as the finest
  // grid has on the coarse ones; b and x.
  const FieldShape shape = FieldShape::make(grid.size, precision);
  const std::uint64_t bytes = shape.elements() * element_size(precision);
  require_fits(device, shape.rows(), grid.size[0], precision, storage, 2,
               (grid.conductivity.empty() ? 12 : 17) * bytes, texel);
  if (shape.elements() > std::numeric_limits<cl_int>::max() || bytes > device.max_allocation) {
    throw Unsupported("A grid of " + std::to_string(grid.unknowns()) +
                      " unknowns has fields of more than 2^31 elements or more than " +
                      device.name + " allocates at once.");
  }
}

}  // namespace

// The grids on the device, and what takes the mean of floating parts off a vector.
class MultigridCg::Hierarchy {
 public:
  Hierarchy(DeviceContext& context, const Grid& grid, Precision precision)
      : context_(context), precision_(precision) {
    Cells cells = cells_of(grid);
    Coarsening how = coarsening_of(cells);
    add_level(grid, cells, how);
    while (cells.count() > kSmall && how.any()) {
      Cells coarse = coarser(cells, how);
      levels_.back().has_coarse = true;
      connect(levels_.back(), cells, how, coarse);
      cells = std::move(coarse);
      if (cells.count() <= kSmall) break;
      how = coarsening_of(cells);
      add_level(grid, cells, how);
    }
    if (cells.count() <= kSmall) add_small_grids(grid, std::move(cells));
    add_parts(floating_parts(grid));
    p_ = field(levels_.front().shape);
    std::size_t groups = 0;
    for (const Level& level : levels_) groups = std::max(groups, level.cut.groups());
    for (cl::Buffer* sums : {&rr_partials_, &rz_partials_, &curvature_partials_, &no_partials_}) {
      *sums = context_.allocate(groups * element_size(precision));
    }
    ended_ = context_.zeros(1);
  }

  void set_conductivity(const Surface& k);
  // square_of_b: b . b, not used without a look at the residuals.
  Iteration solve(const Surface& b, double square_of_b, Surface& x, const StoppingRule& rule);
  std::vector<double> preconditioned(Vectors& vectors, const Surface& r);

 private:
  // A grid. `coarse` is the shape of the next one, whose r and z are the next level's, or those of
  // the first small grid.
  struct Level {
    FieldShape shape, coarse;
    VectorCut cut, coarse_cut;
    bool uniform = false, has_coarse = false;
    cl_int4 wraps = {}, halve = {}, offset = {};
    std::array<double, 4> constants = {}, before = {}, after = {};
    Weights weights;
    cl::Buffer held, inverse, links[3];
    cl::Buffer ratios;  // of the distances of this grid and of the coarse one
    cl::Buffer r, z, work;
  };

  Level level_of(const Cells& cells, const Coarsening& how);
  void add_level(const Grid& grid, const Cells& cells, const Coarsening& how);
  void connect(Level& level, const Cells& cells, const Coarsening& how, const Cells& coarse);
  void store_coefficients(Level& level, const Cells& cells, const std::vector<double>& held);
  void set_constants(Level& level, const Cells& cells);
  void add_small_grids(const Grid& grid, Cells cells);
  void link_coarse(const Level& fine, const Level& coarse);
  void copy_to_arena(std::size_t small_grid);
  void invert_last();
  void add_parts(const std::vector<std::vector<std::int32_t>>& parts);
  cl::Buffer upload_reals(const std::vector<double>& values) {
    return upload(
        context_,
        View<const double>{values.data(), values.size(), 1, values.size(), Order::columns},
        precision_);
  }
  cl::Buffer upload_ints(const std::vector<cl_int>& values);
  // Zeros.
  cl::Buffer field(const FieldShape& shape);
  VectorCut cut_of(const FieldShape& shape) const {
    return VectorCut::make(context_.device(),
                           {shape.rows(), shape.size[0], precision_, Storage::buffer, Texel::r});
  }
  KernelId kernel(const char* file, const char* function, const std::string& options) const {
    return {file, function, precision_, Storage::buffer, Texel::r, options};
  }
  std::string group_options() const;

  // Runs a kernel that has CELLS and `walk` as its last parameters (grid/cells.clh).
  template <typename... Arguments>
  void run(const char* phase, const Level& level, const VectorCut& cut, const char* file,
           const char* function, const std::string& options, const Arguments&... arguments);
  template <typename... Arguments>
  void run(const char* phase, const Level& level, const char* file, const char* function,
           const Arguments&... arguments) {
    run(phase, level, level.cut, file, function, "", arguments...);
  }

  // The r and z of the grid after level l.
  const cl::Buffer& coarse_r(std::size_t l) const {
    return l + 1 < levels_.size() ? levels_[l + 1].r : top_r_;
  }
  const cl::Buffer& coarse_z(std::size_t l) const {
    return l + 1 < levels_.size() ? levels_[l + 1].z : top_z_;
  }
  void cycle();
  void descend(std::size_t l);
  void ascend(std::size_t l);
  void run_small_cycle(const cl::Buffer& r, const cl::Buffer& z);
  void take_means_off(const cl::Buffer& vector, std::size_t pitch, std::size_t lead);

  // The square of a residual, relative to that of the right-hand side, that is rounding alone.
  double rounding() const {
    constexpr double kRounding = 64;  // in units of the last place
    return std::pow(kRounding * epsilon(precision_), 2);
  }
  void start(const Surface& b, Surface& x, bool blind);
  double sum_on_host(const cl::Buffer& partials);
  void record_square(std::size_t k);
  void step(std::size_t k, const Surface& x);
  void look(Iteration& result, std::size_t count);

  DeviceContext& context_;
  Precision precision_;
  std::vector<Level> levels_;  // the large ones, and the first one if it is small
  // The small grids; where 1 / the diagonal and the links of each are in the arena, and for grids
  // with a conductivity what is copied there.
  cl_int small_count_ = 0, last_is_diagonal_ = 0;
  cl::Buffer top_r_, top_z_, arena_, small_grids_, small_weights_, inverse_, elimination_;
  std::vector<std::array<std::size_t, 4>> places_;
  std::vector<Level> small_;
  // Floating parts.
  bool is_one_part_ = false;  // all cells with a link
  std::size_t chunks_ = 0;
  cl::Buffer part_cells_, part_chunks_, part_sums_;
  // The iteration.
  cl::Buffer p_, rr_partials_, rz_partials_, curvature_partials_, no_partials_, history_,
      rz_history_, ended_;
  std::size_t history_bytes_ = 0;
  double square_of_b_ = 0, limit_ = 0;
};

cl::Buffer MultigridCg::Hierarchy::upload_ints(const std::vector<cl_int>& values) {
  const std::size_t bytes = values.size() * sizeof(cl_int);
  const cl::Buffer buffer = context_.allocate(bytes);
  if (bytes > 0) context_.queue().enqueueWriteBuffer(buffer, CL_TRUE, 0, bytes, values.data());
  return buffer;
}

cl::Buffer MultigridCg::Hierarchy::field(const FieldShape& shape) {
  const std::size_t bytes = shape.elements() * element_size(precision_);
  const cl::Buffer buffer = context_.allocate(bytes);
  context_.fill(buffer, 0, bytes);
  return buffer;
}

// Of kernels of one-dimensional work-groups without texels.
std::string MultigridCg::Hierarchy::group_options() const {
  const Device& device = context_.device();
  const std::size_t most = device.type == "cpu" ? 16 : 256;
  const std::size_t group = std::bit_floor(std::min<std::size_t>(most, device.max_work_group));
  return " -DGROUP_X=" + std::to_string(group) + " -DGROUP_Y=1" +
         (device.type == "cpu" ? " -DLUGPU_CPU" : "");
}

// The constants of a grid without a conductivity of cells of the same size.
void MultigridCg::Hierarchy::set_constants(Level& level, const Cells& cells) {
  level.uniform = true;
  level.constants[3] = cells.rest[0];
  for (int axis = 0; axis < 3; ++axis) {
    const double first = cells.wall_links[axis][0][0], last = cells.wall_links[axis][1][0];
    if (cells.size[axis] == 1) {
      level.constants[3] += first + last;
    } else if (const double c = cells.links[axis][0]; c != 0) {
      level.constants[axis] = c;
      level.before[axis] = 1 - first / c;
      level.after[axis] = 1 - last / c;
    }
  }
}

void MultigridCg::Hierarchy::store_coefficients(Level& level, const Cells& cells,
                                                const std::vector<double>& held) {
  level.held = upload_reals(level.shape.field(held));
  level.inverse = upload_reals(level.shape.field(inverses(diagonal(cells))));
  for (int axis = 0; axis < 3; ++axis) {
    // Kernels read the links along x, zeros, of an axis of one cell too.
    if (axis > 0 && cells.links[axis].empty()) continue;
    level.links[axis] = upload_reals(level.shape.field(cells.links[axis]));
  }
}

// Without what is stored.
MultigridCg::Hierarchy::Level MultigridCg::Hierarchy::level_of(const Cells& cells,
                                                               const Coarsening& how) {
  Level level;
  level.shape = FieldShape::make(cells.size, precision_);
  level.coarse = level.shape;
  level.cut = level.coarse_cut = cut_of(level.shape);
  level.wraps = numbers_of(cells.periodic);
  level.halve = numbers_of(how.axes);
  level.offset = numbers_of(how.offset);
  level.weights = Weights::make(cells, how);
  const cl::Buffer none = context_.zeros(1);
  level.held = cl::Buffer(none);
  level.inverse = cl::Buffer(none);
  for (cl::Buffer& links : level.links) links = cl::Buffer(none);
  return level;
}

void MultigridCg::Hierarchy::add_level(const Grid& grid, const Cells& cells,
                                       const Coarsening& how) {
  Level level = level_of(cells, how);
  if (grid.conductivity.empty() && are_alike(cells)) {
    set_constants(level, cells);
  } else {
    std::vector<double> held = held_at_zero(cells);
    for (std::size_t i = 0; levels_.empty() && grid.shift == 0 && i < held.size(); ++i) {
      if (!grid.conductivity.empty() && grid.conductivity[i] == 0) held[i] = 1;
    }
    store_coefficients(level, cells, held);
    std::copy_n(grid.coefficients.begin(), 3, level.constants.begin());
  }
  level.r = field(level.shape);
  level.z = field(level.shape);
  level.work = field(level.shape);
  levels_.push_back(std::move(level));
}

void MultigridCg::Hierarchy::connect(Level& level, const Cells& cells, const Coarsening& how,
                                     const Cells& coarse) {
  std::vector<double> ratios;
  for (int axis = 0; axis < 3; ++axis) {
    const std::vector<double> along = ratios_of_distances(cells, how, coarse, axis);
    ratios.insert(ratios.end(), along.begin(), along.end());
  }
  level.ratios = upload_reals(ratios);
  level.coarse = FieldShape::make(coarse.size, precision_);
  level.coarse_cut = cut_of(level.coarse);
}

// Their numbers in one buffer, as grid/multigrid_small.cl says.
void MultigridCg::Hierarchy::add_small_grids(const Grid& grid, Cells cells) {
  std::vector<double> arena, weights;
  std::vector<cl_int> grids;
  const auto append = [&](const FieldShape& shape, const std::vector<double>& values) {
    const std::size_t place = arena.size();
    grids.push_back(static_cast<cl_int>(place));
    const std::vector<double> padded = shape.field(values);
    arena.insert(arena.end(), padded.begin(), padded.end());
    return place;
  };
  const FieldShape top = FieldShape::make(cells.size, precision_);
  if (levels_.back().has_coarse) {
    top_r_ = field(top);
    top_z_ = field(top);
  }
  while (true) {
    const Coarsening how = coarsening_of(cells);
    const Weights steps = Weights::make(cells, how);
    const FieldShape shape = FieldShape::make(cells.size, precision_);
    ++small_count_;
    for (const cl_int number : shape.numbers().s) grids.push_back(number);
    for (const bool flag : cells.periodic) grids.push_back(flag);
    for (const bool flag : how.axes) grids.push_back(flag);
    for (const std::size_t offset : how.offset) grids.push_back(static_cast<cl_int>(offset));
    append(shape, held_at_zero(cells));
    places_.push_back({append(shape, inverses(diagonal(cells)))});
    for (int axis = 0; axis < 3; ++axis) {
      places_.back()[axis + 1] = append(shape, cells.links[axis]);
    }
    for (int work = 0; work < 3; ++work) append(shape, {});
    weights.insert(weights.end(), {steps.sum(), steps.product(), steps.other, steps.interpolating});
    if (!grid.conductivity.empty()) {
      const bool is_finest = small_.empty() && !levels_.back().has_coarse;
      small_.push_back(is_finest ? levels_.back() : level_of(cells, how));
      if (!is_finest) store_coefficients(small_.back(), cells, held_at_zero(cells));
    }
    if (cells.count() <= kSmallest || !how.any()) break;
    Cells coarse = coarser(cells, how);
    if (!small_.empty()) connect(small_.back(), cells, how, coarse);
    cells = std::move(coarse);
  }
  const std::size_t last_count = cells.count();
  last_is_diagonal_ = last_count > kSmallest;
  const std::size_t square = last_is_diagonal_ ? 1 : last_count * last_count;
  inverse_ = context_.allocate(square * element_size(precision_));
  elimination_ = context_.allocate((square + 3 * last_count) * element_size(precision_));
  arena_ = upload_reals(arena);
  small_weights_ = upload_reals(weights);
  small_grids_ = upload_ints(grids);
  invert_last();
}

void MultigridCg::Hierarchy::invert_last() {
  if (small_count_ == 0 || last_is_diagonal_) return;
  const KernelId id = kernel("grid/multigrid_small.cl", "invert_last", group_options());
  context_.run("coarse grids", id, {1}, arena_, small_grids_, small_count_, inverse_, elimination_);
}

void MultigridCg::Hierarchy::link_coarse(const Level& fine, const Level& coarse) {
  run("coarse grids", fine, fine.coarse_cut.spread(), "grid/links.cl", "link_coarse_cells", "",
      fine.ratios, coarse.links[0], coarse.links[1], coarse.links[2]);
  run("coarse grids", coarse, coarse.cut.spread(), "grid/links.cl", "invert_diagonal", "",
      coarse.inverse);
}

void MultigridCg::Hierarchy::copy_to_arena(std::size_t small_grid) {
  const Level& level = small_[small_grid];
  const std::size_t element = element_size(precision_), bytes = level.shape.elements() * element;
  const auto copy = [&](const cl::Buffer& field, std::size_t place) {
    context_.queue().enqueueCopyBuffer(field, arena_, 0, place * element, bytes);
  };
  copy(level.inverse, places_[small_grid][0]);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (level.shape.size[axis] > 1) copy(level.links[axis], places_[small_grid][axis + 1]);
  }
}

// The links of all grids, from the finest one on.
void MultigridCg::Hierarchy::set_conductivity(const Surface& k) {
  const Level& finest = levels_.front();
  const std::size_t element = element_size(precision_), pitch = finest.shape.pitch * element;
  context_.queue().enqueueCopyBufferRect(
      cl::Buffer(k.memory()(), true), finest.work, {0, 0, 0}, {kLead * element, 0, 0},
      {finest.shape.size[0] * element, finest.shape.rows(), 1}, k.pitch() * element, 0, pitch, 0);
  run("coarse grids", finest, finest.cut.spread(), "grid/links.cl", "link_cells", "", finest.work,
      finest.held, finest.links[0], finest.links[1], finest.links[2]);
  run("coarse grids", finest, finest.cut.spread(), "grid/links.cl", "invert_diagonal", "",
      finest.inverse);
  const Level* last = &finest;
  for (std::size_t l = 1; l < levels_.size(); ++l) {
    link_coarse(*last, levels_[l]);
    last = &levels_[l];
  }
  for (std::size_t l = 0; l < small_.size(); ++l) {
    if (l > 0 || last->has_coarse) link_coarse(*last, small_[l]);
    copy_to_arena(l);
    last = &small_[l];
  }
  invert_last();
  if (is_one_part_) return;
  std::vector<std::int32_t> all(finest.shape.rows() * finest.shape.size[0]);
  std::iota(all.begin(), all.end(), 0);
  add_parts({all});
  is_one_part_ = true;
}

void MultigridCg::Hierarchy::add_parts(const std::vector<std::vector<std::int32_t>>& parts) {
  std::vector<cl_int> cells, chunks;
  chunks_ = 0;
  for (const std::vector<std::int32_t>& part : parts) {
    const std::size_t first_chunk = chunks_, count = ceiling(part.size(), kChunk);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t begin = cells.size() + i * kChunk;
      const std::size_t end = std::min(begin + kChunk, cells.size() + part.size());
      for (const std::size_t number : {begin, end, first_chunk, first_chunk + count}) {
        chunks.push_back(static_cast<cl_int>(number));
      }
    }
    chunks_ += count;
    cells.insert(cells.end(), part.begin(), part.end());
  }
  part_cells_ = upload_ints(cells);
  part_chunks_ = upload_ints(chunks);
  part_sums_ = context_.allocate(2 * chunks_ * element_size(precision_));
}

template <typename... Arguments>
void MultigridCg::Hierarchy::run(const char* phase, const Level& level, const VectorCut& cut,
                                 const char* file, const char* function, const std::string& options,
                                 const Arguments&... arguments) {
  const KernelId id =
      kernel(file, function, cut.options() + (level.uniform ? " -DUNIFORM" : "") + options);
  with_real(precision_, [&](auto real) {
    using Real4 = std::conditional_t<sizeof(real(0)) == sizeof(double), cl_double4, cl_float4>;
    const auto four = [&](const std::array<double, 4>& c) {
      return Real4{{real(c[0]), real(c[1]), real(c[2]), real(c[3])}};
    };
    context_.run(phase, id, cut.items(), arguments..., level.shape.numbers(), level.wraps,
                 four(level.constants), four(level.before), four(level.after), level.held,
                 level.inverse, level.links[0], level.links[1], level.links[2], level.halve,
                 level.offset, level.coarse.numbers(), static_cast<cl_int>(cut.walk));
  });
}

// z = two steps of Jacobi's method from zero; r(coarse) = the sums of r - A z.
void MultigridCg::Hierarchy::descend(std::size_t l) {
  const Level& level = levels_[l];
  with_real(precision_, [&](auto real) {
    run("smoothing", level, level.cut.spread(), "grid/multigrid_presmooth.cl", "presmooth", "",
        level.r, level.z, real(level.weights.sum()), real(level.weights.product()));
  });
  if (!level.has_coarse) return;
  run("coarse grids", level, level.coarse_cut.spread(), "grid/multigrid.cl", "restrict_residual",
      "", level.r, level.z, coarse_r(l));
}

// z += z(coarse), and two steps of Jacobi's method.
void MultigridCg::Hierarchy::ascend(std::size_t l) {
  const Level& level = levels_[l];
  const std::string halves = " -DHALVE_X=" + std::to_string(level.halve.s[0]) +
                             " -DOFFSET_X=" + std::to_string(level.offset.s[0]);
  with_real(precision_, [&](auto real) {
    run("coarse grids", level, level.cut.spread(), "grid/multigrid_correct.cl", "correct", halves,
        level.r, level.z, coarse_z(l), level.work, real(level.weights.interpolating));
    run("smoothing", level, "grid/multigrid.cl", "smooth", level.r, level.work, level.z,
        l == 0 ? rz_partials_ : no_partials_, real(level.weights.other));
  });
}

void MultigridCg::Hierarchy::run_small_cycle(const cl::Buffer& r, const cl::Buffer& z) {
  context_.run("coarse grids", kernel("grid/multigrid_small.cl", "small_cycle", group_options()),
               {1}, r, z, arena_, small_grids_, small_weights_, inverse_, small_count_,
               last_is_diagonal_);
}

// z = M r on the finest grid, and the partial sums of r . z.
void MultigridCg::Hierarchy::cycle() {
  const Level& finest = levels_.front();
  if (!finest.has_coarse) {
    if (small_count_ > 0) {
      run_small_cycle(finest.r, finest.z);
    } else {
      descend(0);
    }
    run("reduction", finest, "grid/multigrid.cl", "dot_fields", finest.r, finest.z, rz_partials_);
    return;
  }
  for (std::size_t l = 0; l < levels_.size(); ++l) descend(l);
  if (small_count_ > 0) run_small_cycle(top_r_, top_z_);
  for (std::size_t l = levels_.size(); l-- > 0;) {
    if (levels_[l].has_coarse) ascend(l);
  }
}

void MultigridCg::Hierarchy::take_means_off(const cl::Buffer& vector, std::size_t pitch,
                                            std::size_t lead) {
  if (chunks_ == 0) return;
  const Level& finest = levels_.front();
  const std::string options = group_options() + (finest.uniform ? " -DUNIFORM" : "");
  const auto columns = static_cast<cl_int>(finest.shape.size[0]);
  for (const char* function : {"sum_chunks", "subtract_mean"}) {
    const KernelId id = kernel("grid/mean.cl", function, options);
    const std::size_t group = context_.programs().find(id).group_x;
    context_.run("reduction", id, {chunks_ * group}, vector, columns, static_cast<cl_int>(pitch),
                 static_cast<cl_int>(lead), part_cells_, part_chunks_, part_sums_, finest.held,
                 finest.inverse, static_cast<cl_int>(finest.shape.pitch));
  }
}

double MultigridCg::Hierarchy::sum_on_host(const cl::Buffer& partials) {
  double sum = 0;
  with_real(precision_, [&](auto real) {
    std::vector<decltype(real(0))> values(levels_.front().cut.groups());
    context_.read_back("residuals", partials, 0, values.size() * sizeof(values[0]), values.data());
    for (const auto value : values) sum += value;
  });
  return sum;
}

void MultigridCg::Hierarchy::record_square(std::size_t k) {
  const VectorCut& cut = levels_.front().cut;
  context_.run("reduction",
               kernel("grid/multigrid.cl", "record_square",
                      cut.options() + (levels_.front().uniform ? " -DUNIFORM" : "")),
               {1}, rr_partials_, static_cast<cl_int>(cut.groups()), history_,
               static_cast<cl_int>(k));
}

// b and x as r and p; b projected, twice, so that a large mean leaves no more of its rounding than
// a small one; its square, 0 if that is only the rounding.
void MultigridCg::Hierarchy::start(const Surface& b, Surface& x, bool blind) {
  const Level& finest = levels_.front();
  const auto square_of_r = [&] {
    run("reduction", finest, "grid/multigrid.cl", "dot_fields", finest.r, finest.r, rr_partials_);
    return sum_on_host(rr_partials_);
  };
  run("vector", finest, "grid/multigrid.cl", "import_vectors", x, x, b, p_, finest.r);
  if (chunks_ == 0) return;
  const double least = rounding() * square_of_b_;
  for (int pass = 0; pass < 2; ++pass) take_means_off(finest.r, finest.shape.pitch, kLead);
  if (blind) return;
  square_of_b_ = square_of_r();
  if (square_of_b_ <= least) square_of_b_ = 0;
}

void MultigridCg::Hierarchy::step(std::size_t k, const Surface& x) {
  Level& finest = levels_.front();
  const auto number = static_cast<cl_int>(k);
  cycle();
  with_real(precision_, [&](auto real) {
    run("grid", finest, "grid/pcg_direction.cl", "pcg_direction", finest.z, p_, finest.work,
        rz_partials_, curvature_partials_, history_, rz_history_, ended_, real(limit_), number);
    std::swap(p_, finest.work);
    run("grid", finest, "grid/multigrid.cl", "pcg_update", x, x, finest.r, p_, curvature_partials_,
        rr_partials_, history_, rz_history_, ended_, real(limit_), number);
  });
  record_square(k + 1);
  // The rounding of the product has a mean, which no step would take away.
  if (chunks_ > 0) take_means_off(finest.r, finest.shape.pitch, kLead);
}

// Reads r . r before the first step and after the first `count` ones, and whether they came to an
// end.
void MultigridCg::Hierarchy::look(Iteration& result, std::size_t count) {
  const std::size_t known = result.residuals.size();
  cl_int ended = 0;
  context_.checkpoint();
  context_.read_back("residuals", ended_, 0, sizeof ended, &ended);
  with_real(precision_, [&](auto real) {
    std::vector<decltype(real(0))> squares(count + 1 - known);
    double smallest = std::numeric_limits<double>::infinity();
    for (const double residual : result.residuals) {
      smallest = std::min(smallest, residual * residual * square_of_b_);
    }
    context_.read_back("residuals", history_, known * sizeof(squares[0]),
                       squares.size() * sizeof(squares[0]), squares.data());
    for (const auto square : squares) {
      result.residuals.push_back(std::sqrt(square / square_of_b_));
      result.converged = square <= real(limit_);
      smallest = std::min<double>(smallest, square);
      if (!std::isfinite(square)) {
        result.reason = "The residual is not finite";
      } else if (square > kGrowth * kGrowth * smallest) {
        result.reason = "The residual grows again: nothing but rounding errors is left of it";
      } else if (!result.converged && ended != 0 &&
                 result.residuals.size() == static_cast<std::size_t>(ended)) {
        result.reason =
            "The matrix is not positive definite: p . A p <= 0 or r . M r <= 0 in step " +
            std::to_string(ended);
      }
      if (result.converged || !result.reason.empty()) return;
    }
  });
}

Iteration MultigridCg::Hierarchy::solve(const Surface& b, double square_of_b, Surface& x,
                                        const StoppingRule& rule) {
  Iteration result;
  square_of_b_ = rule.blind ? 1 : square_of_b;
  start(b, x, rule.blind);
  // Steps that nobody looks at end where rounding is left, or they would make it grow.
  limit_ = rule.blind ? -rounding() : rule.tolerance * rule.tolerance * square_of_b_;
  if (square_of_b_ == 0 || !std::isfinite(square_of_b_)) {
    result.converged = square_of_b_ == 0;
    result.residuals.push_back(square_of_b_);
    if (result.converged) fill(context_, x, 0);
    if (!result.converged) result.reason = "The right-hand side is not finite";
    return result;
  }
  const Level& finest = levels_.front();
  const std::size_t bytes = (rule.iterations + 1) * element_size(precision_);
  if (history_bytes_ < bytes) {
    history_ = context_.allocate(bytes);
    rz_history_ = context_.allocate(bytes);
    history_bytes_ = bytes;
  }
  context_.fill(ended_, 0, sizeof(cl_int));
  run("grid", finest, "grid/multigrid.cl", "subtract_product", finest.r, p_, rr_partials_);
  if (chunks_ > 0) {  // the rounding of A x has a mean, too
    take_means_off(finest.r, finest.shape.pitch, kLead);
    run("reduction", finest, "grid/multigrid.cl", "dot_fields", finest.r, finest.r, rr_partials_);
  }
  context_.fill(p_, 0, finest.shape.elements() * element_size(precision_));
  record_square(0);
  std::size_t done = 0;
  if (rule.blind) {
    for (; done < rule.iterations; ++done) step(done, x);
    take_means_off(cl::Buffer(x.memory()(), true), x.pitch(), 0);
    return {done, false, {}, ""};
  }
  while (!result.converged && result.reason.empty()) {
    if (done == rule.iterations && result.residuals.size() == done + 1) {
      result.reason =
          "The residual is not below the tolerance after " + std::to_string(done) + " iterations";
      break;
    }
    const std::size_t wanted = std::max(done + 1, kFirstLook);
    for (; done < std::min(wanted, rule.iterations); ++done) step(done, x);
    look(result, done);
  }
  result.iterations = result.residuals.size() - 1;
  take_means_off(cl::Buffer(x.memory()(), true), x.pitch(), 0);
  return result;
}

std::vector<double> MultigridCg::Hierarchy::preconditioned(Vectors& vectors, const Surface& r) {
  const Level& finest = levels_.front();
  Surface unused = vectors.take();
  run("vector", finest, "grid/multigrid.cl", "import_vectors", unused, unused, r, p_, finest.r);
  cycle();
  const Matrix padded = download(context_, finest.z, finest.shape.elements(), 1, precision_);
  std::vector<double> z;
  for (std::size_t row = 0; row < finest.shape.rows(); ++row) {
    const double* first = padded.column(0) + kLead + row * finest.shape.pitch;
    z.insert(z.end(), first, first + finest.shape.size[0]);
  }
  vectors.give_back(std::move(unused));
  return z;
}

MultigridCg::MultigridCg(DeviceContext& context, const Grid& grid, Precision precision,
                         Storage storage, Texel texel)
    : vectors_((require_grid(context.device(), grid, precision, storage, texel), context),
               {grid.size[1] * grid.size[2], grid.size[0], precision, storage, texel}, 1) {
  if (grid.unknowns() > 0) {
    hierarchy_ = std::make_unique<Hierarchy>(context, grid, precision);
  }
}

MultigridCg::~MultigridCg() = default;

void MultigridCg::set_conductivity(const Surface& k) {
  if (hierarchy_) hierarchy_->set_conductivity(k);
}

Iteration MultigridCg::solve(const Surface& b, Surface& x, const StoppingRule& rule) {
  if (!hierarchy_) return {0, true, {0}, ""};
  const ScaledSquare size = rule.blind ? ScaledSquare{} : scaled_square(vectors_, b);
  if (size.scale == 1) return hierarchy_->solve(b, size.square, x, rule);
  Surface scaled = vectors_.take();
  vectors_.combine(Operation::add, {size.scale}, b, {0}, b, scaled);
  scale(vectors_, size.scale, x);
  Iteration result = hierarchy_->solve(scaled, size.square, x, rule);
  vectors_.give_back(std::move(scaled));
  scale(vectors_, 1 / size.scale, x);
  if (result.converged && !std::isfinite(norm(vectors_, x))) {
    result.converged = false;
    result.reason = "The solution is beyond the range of the precision";
  }
  return result;
}

std::vector<double> MultigridCg::preconditioned(const Surface& r) {
  return hierarchy_ ? hierarchy_->preconditioned(vectors_, r) : std::vector<double>{};
}

}  // namespace lugpu

#include "dense/fast_diagonal.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "dense/axis_modes.hpp"
#include "dense/matrix_units.hpp"
#include "dense/proof.hpp"
#include "matrix/random.hpp"
#include "opencl/cpu_tile.hpp"
#include "opencl/transfer.hpp"

namespace lugpu {
namespace {

// Of cpu/fast_diagonal.cl: DEPTH; rows of a work-group along x, a multiple of the tile's; and
// work-groups for each compute unit along the other axes.
constexpr std::size_t kDepth = 128, kBlockRows = 48, kGroups = 4;
// Of gpu/fast_diagonal.cl: TILE, and what sizes of matrices are padded to, a multiple of TILE_DEPTH
// for each precision. Work-items of a work-group: see product.clh of gpu and nvidia.
constexpr std::size_t kTile = 64, kPadding = 16, kItems = 64, kNvidiaItems = 128;
constexpr std::size_t kLocalBytes = 32 << 10;
// Right-hand sides go through the fields in groups of about so many elements.
constexpr std::size_t kElementsAtOnce = std::size_t{1} << 23;

cl_int to_int(std::size_t value) {
  return static_cast<cl_int>(value);
}

// Whether terms cancel, as in dense/eigenvalues.clh, in the device's arithmetic.
template <typename Real>
bool cancel(Real x, Real y, Real z) {
  const Real sum = x + y + z, magnitude = std::abs(x) + std::abs(y) + std::abs(z);
  return !(std::abs(sum) > 4 * std::numeric_limits<Real>::epsilon() * magnitude);
}

void require_normal(double value, Precision precision) {
  const bool is_normal = precision == Precision::double_precision
                             ? std::isnormal(value)
                             : std::isnormal(static_cast<float>(value));
  if (is_normal || value == 0) return;
  throw InputError("The shift or an eigenvalue of the grid is too large or too small for " +
                   std::string(name(precision)) + " precision; scale the equation.");
}

std::string points(const Grid& grid) {
  return std::to_string(grid.size[0]) + " x " + std::to_string(grid.size[1]) + " x " +
         std::to_string(grid.size[2]) + " points";
}

}  // namespace

FastDiagonal::Layout FastDiagonal::Layout::make(const Device& device, const Grid& grid,
                                                Precision precision) {
  Layout layout{};
  layout.on_cpu = device.type == "cpu";
  const std::size_t vector = vector_width(device, precision);
  layout.strip = layout.on_cpu ? 2 * vector : kPadding;
  layout.rows = layout.on_cpu ? cpu_tile_rows(device, precision) : 1;
  layout.half = ceiling((grid.size[0] + 1) / 2, layout.strip) * layout.strip;
  layout.pitch = 2 * layout.half;
  // On a CPU the rows of a tile should not be in the same places of its caches.
  const std::size_t bytes = layout.pitch * element_size(precision);
  if (layout.on_cpu && bytes % 2048 == 0) layout.pitch += layout.strip;
  return layout;
}

// Elements of the matrices of an axis.
std::size_t FastDiagonal::Layout::stored(std::size_t even, std::size_t odd, bool along_x) const {
  const auto padded = [](std::size_t n, std::size_t to) { return ceiling(n, to) * to; };
  if (!on_cpu) {
    const std::size_t e = padded(even, strip), o = padded(odd, strip);
    return e * e + o * o;
  }
  const std::size_t group = along_x ? strip : rows;
  return padded(even, group) * even + padded(odd, group) * odd;
}

// Whether the matrices of the axes and two fields fit, and their places are 32-bit integers.
bool FastDiagonal::fits(const Device& device, const Grid& grid, Precision precision) {
  constexpr std::uint64_t kMost = std::numeric_limits<cl_int>::max();
  const auto& [nx, ny, nz] = grid.size;
  // Sizes one after the other, so that no product overflows.
  if (nx > kMost / 4 || ny > kMost || nz > kMost) return false;
  const Layout layout = Layout::make(device, grid, precision);
  if (layout.pitch * ny > kMost) return false;
  const std::uint64_t field = (ny * nz + layout.rows) * layout.pitch;
  if (field > kMost) return false;
  std::uint64_t elements = 2 * field, largest = field;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::size_t n = grid.size[axis];
    if (axis > 0 && n == 1) continue;
    const std::uint64_t matrix = layout.stored(ceiling(n, 2), n / 2, axis == 0);
    largest = std::max(largest, matrix);
    elements += 2 * matrix;
  }
  const std::uint64_t size = element_size(precision);
  return largest <= device.max_allocation / size && elements <= device.global_memory / size;
}

void FastDiagonal::require_room(const Device& device, const Grid& grid, Precision precision) {
  if (!grid.conductivity.empty()) {
    throw Unsupported(
        "The eigenvectors of a grid with a conductivity are not known in advance; use conjugate "
        "gradients.");
  }
  if (precision == Precision::double_precision && !device.double_precision) {
    throw Unsupported(device.name + " has no double precision", {"precision", "single"});
  }
  if (device.type != "cpu" && device.local_memory < kLocalBytes) {
    throw Unsupported("Fast diagonalization needs 32 KiB of local memory, and " + device.name +
                      " has less; use conjugate gradients.");
  }
  if (!fits(device, grid, precision)) {
    throw Unsupported("Fast diagonalization of " + points(grid) + " (" + name(precision) +
                      ") does not fit on " + device.name + "; use conjugate gradients.");
  }
}

double FastDiagonal::multiply_adds(const Grid& grid) {
  double sum = 0;
  for (const std::size_t n : grid.size) {
    const double even = static_cast<double>((n + 1) / 2), odd = static_cast<double>(n / 2);
    if (n > 1) sum += 2 * (even * even + odd * odd) / static_cast<double>(n);
  }
  return sum * static_cast<double>(grid.unknowns());
}

FastDiagonal::FastDiagonal(DeviceContext& context, const Grid& grid, Precision precision)
    : FastDiagonal(context, grid, precision,
                   context.device().type != "cpu" && context.settings().vendor &&
                       has_matrix_units(context.device(), precision) &&
                       proven(context, std::string("fast-diagonal ") + name(precision),
                              [&] { return solves_test_system(context, precision); })) {}

FastDiagonal::FastDiagonal(DeviceContext& context, const Grid& grid, Precision precision,
                           bool nvidia)
    : context_(context),
      grid_(grid),
      precision_(precision),
      nvidia_(nvidia),
      layout_(Layout::make(context.device(), grid, precision)) {
  if (grid.unknowns() == 0) return;
  require_room(context.device(), grid, precision);
  if (layout_.on_cpu) context.require_long_loops();
  prepare_axes();
}

// Whether the kernels for NVIDIA's matrix units solve a test system right.
bool FastDiagonal::solves_test_system(DeviceContext& context, Precision precision) {
  Grid grid;
  grid.size = {149, 131, 3};
  grid.coefficients = {1, 1, 1};
  FastDiagonal solver(context, grid, precision, true);
  const Matrix b = random_matrix(grid.unknowns(), 1, 1);
  solver.upload(b);
  solver.solve();
  const Matrix x = solver.download(), ax = multiply(grid, x);
  // ||A|| <= 12 and ||inv(A)|| < 1, since Tz alone has eigenvalues above 0.5.
  const double limit = 1e4 * epsilon(precision);
  bool right = true;
  for (std::size_t i = 0; i < grid.unknowns(); ++i) {
    right = right && std::abs(b(i, 0) - ax(i, 0)) <= limit;
  }
  return right;
}

// Of Q' (or Q, back): element (to, from) is that of the sum `to` and its term `from`.
std::vector<double> FastDiagonal::arranged(const Matrix& even, const Matrix& odd, bool back,
                                           bool along_x) const {
  std::vector<double> values(layout_.stored(even.rows(), odd.rows(), along_x));
  double* place = values.data();
  for (const Matrix* modes : {&even, &odd}) {
    const std::size_t n = modes->rows();
    const auto element = [&](std::size_t to, std::size_t from) {
      return to >= n ? 0 : back ? (*modes)(to, from) : (*modes)(from, to);
    };
    if (layout_.on_cpu) {
      // Groups of sums, which alternate.
      const std::size_t group = along_x ? layout_.strip : layout_.rows;
      for (std::size_t first = 0; first < n; first += group) {
        for (std::size_t from = 0; from < n; ++from) {
          for (std::size_t r = 0; r < group; ++r) *place++ = element(first + r, from);
        }
      }
      continue;
    }
    // By rows, which are sums; along x, where the matrix stands on the right, terms.
    const std::size_t padded = ceiling(n, kPadding) * kPadding;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        place[i * padded + j] = along_x ? element(j, i) : element(i, j);
      }
    }
    place += padded * padded;
  }
  return values;
}

void FastDiagonal::prepare_axes() {
  const auto on_device = [&](const std::vector<double>& values) {
    return lugpu::upload(
        context_, View<const double>{values.data(), values.size(), 1, values.size()}, precision_);
  };
  require_normal(grid_.shift, precision_);
  Terms terms;
  for (std::size_t a = 0; a < 3; ++a) {
    Axis& axis = axes_[a];
    axis.size = grid_.size[a];
    axis.even = (axis.size + 1) / 2;
    axis.odd = axis.size / 2;
    const AxisModes even = axis_modes(axis.size, grid_.walls[a], false);
    const AxisModes odd = axis_modes(axis.size, grid_.walls[a], true);
    const double shift = a == 0 ? grid_.shift : 0;
    for (const AxisModes* modes : {&even, &odd}) {
      for (const double eigenvalue : modes->eigenvalues) {
        const double term = grid_.coefficients[a] * eigenvalue;
        require_normal(term, precision_);
        const double sum = cancel(shift, term, 0.0) ? 0 : shift + term;
        require_normal(sum, precision_);
        terms[a].push_back(sum);
      }
    }
    std::vector<double> stored = terms[a];
    if (a == 0) {  // in halves as the fields, with anything but zero in the padding
      stored.assign(layout_.pitch, 1);
      std::copy_n(terms[0].begin(), axis.even, stored.begin());
      std::copy_n(terms[0].begin() + static_cast<std::ptrdiff_t>(axis.even), axis.odd,
                  stored.begin() + static_cast<std::ptrdiff_t>(layout_.half));
    }
    axis.terms = on_device(stored);
    if (a > 0 && axis.size == 1) continue;
    axis.forward = on_device(arranged(even.vectors, odd.vectors, false, a == 0));
    axis.back = on_device(arranged(even.vectors, odd.vectors, true, a == 0));
  }
  double largest = 0;
  for (const std::vector<double>& of_axis : terms) {
    double of_this = 0;
    for (const double term : of_axis) of_this = std::max(of_this, std::abs(term));
    largest += of_this;
  }
  require_normal(largest, precision_);
  zeros_ = precision_ == Precision::double_precision ? count_zeros<double>(terms)
                                                     : count_zeros<float>(terms);
}

// Among the eigenvalues, sums of a term of each axis.
template <typename Real>
std::size_t FastDiagonal::count_zeros(const Terms& terms) const {
  std::array<std::vector<Real>, 3> of;
  bool positive = false, negative = false;
  std::size_t all_zero = 1;  // sums of nothing but zeros
  for (std::size_t a = 0; a < 3; ++a) {
    for (const double term : terms[a]) of[a].push_back(static_cast<Real>(term));
    for (const Real term : of[a]) {
      positive = positive || term > 0;
      negative = negative || term < 0;
    }
    all_zero *= static_cast<std::size_t>(std::count(of[a].begin(), of[a].end(), Real{0}));
  }
  if (!positive || !negative) return all_zero;  // nothing cancels
  std::size_t zeros = 0;
  for (const Real z : of[2]) {
    for (const Real y : of[1]) {
      for (const Real x : of[0]) zeros += cancel(x, y, z);
    }
  }
  return zeros;
}

std::string FastDiagonal::trouble() const {
  if (zeros_ == 0) return "";
  bool only_constant = zeros_ == 1 && grid_.shift == 0;
  for (std::size_t a = 0; a < 3; ++a) {
    only_constant = only_constant && (!is_dirichlet(grid_.walls[a]) || grid_.coefficients[a] == 0);
  }
  if (only_constant) return "";
  return "the matrix is singular in " + std::string(name(precision_)) +
         " precision: " + std::to_string(zeros_) +
         " of its eigenvalues are zero, and the solution has no component "
         "along their eigenvectors";
}

KernelId FastDiagonal::kernel(const char* file, const char* function, bool divide) const {
  KernelId id{file, function, precision_, Storage::buffer};
  if (layout_.on_cpu) {
    id.options =
        cpu_tile_options(context_.device(), precision_) + " -DDEPTH=" + std::to_string(kDepth);
  } else {
    id.texel = Texel::rgba;
    if (nvidia_) id.options = " -DLUGPU_NVIDIA";
  }
  if (divide) id.options += " -DLUGPU_DIVIDE";
  return id;
}

// Fields with room for `nrhs` right-hand sides, or as many as are worth it.
void FastDiagonal::require_fields(std::size_t nrhs) {
  const std::size_t lines = grid_.size[1] * grid_.size[2], one = lines * layout_.pitch;
  const std::size_t wanted = std::clamp<std::size_t>(kElementsAtOnce / one, 1, nrhs);
  if (at_once_ >= wanted) return;
  // A tile along x may reach beyond the last row.
  const std::size_t bytes =
      (wanted * lines + layout_.rows) * layout_.pitch * element_size(precision_);
  at_once_ = 0;
  field_ = cl::Buffer();
  result_ = cl::Buffer();
  field_ = context_.allocate(bytes);
  result_ = context_.allocate(bytes);
  if (layout_.on_cpu) {
    room_ = context_.allocate(kGroups * context_.device().compute_units * kDepth * layout_.strip *
                              element_size(precision_));
  }
  at_once_ = wanted;
}

// result_ = field_ (Q or Q') along x; then they change roles.
void FastDiagonal::along_x(bool back, bool divide, std::size_t nrhs) {
  const Axis& x = axes_[0];
  const cl::Buffer& q = back ? x.back : x.forward;
  const std::size_t rows = grid_.size[1] * grid_.size[2] * nrhs;
  const auto run = [&](const char* file, std::size_t items, std::size_t part, std::size_t even,
                       std::size_t odd) {
    context_.run("solve", kernel(file, "along_x", divide), {items}, field_, result_, to_int(rows),
                 to_int(layout_.pitch), to_int(part), q, to_int(even), to_int(odd),
                 to_int(layout_.half), x.terms, axes_[1].terms, axes_[2].terms);
  };
  if (layout_.on_cpu) {
    const std::size_t wanted = ceiling(rows, kGroups * context_.device().compute_units);
    const std::size_t block =
        std::clamp(ceiling(wanted, layout_.rows) * layout_.rows, layout_.rows, kBlockRows);
    run("cpu/fast_diagonal.cl", 2 * ceiling(rows, block), block, x.even, x.odd);
  } else {
    const auto padded = [](std::size_t n) { return ceiling(n, kPadding) * kPadding; };
    const std::size_t across = ceiling(x.even, kTile);
    run("gpu/fast_diagonal.cl",
        2 * across * ceiling(rows, kTile) * (nvidia_ ? kNvidiaItems : kItems), across,
        padded(x.even), padded(x.odd));
  }
  std::swap(field_, result_);
}

// The same along y (axis 1) or z (2).
void FastDiagonal::along_rows(int axis, bool back, bool divide, std::size_t nrhs) {
  const Axis& along = axes_[static_cast<std::size_t>(axis)];
  const cl::Buffer& q = back ? along.back : along.forward;
  const bool along_z = axis == 2;
  const std::size_t lines = along_z ? grid_.size[1] : 1, width = lines * layout_.pitch;
  const std::size_t planes = grid_.size[2], fields = along_z ? nrhs : nrhs * planes;
  const auto& [x_terms, y_terms, z_terms] =
      std::tie(axes_[0].terms, axes_[1].terms, axes_[2].terms);
  const cl_int z = along_z;
  if (layout_.on_cpu) {
    const std::size_t columns = 2 * layout_.half;
    const std::size_t tasks = fields * 2 * lines * (columns / layout_.strip);
    context_.run("solve", kernel("cpu/fast_diagonal.cl", "along_rows", divide),
                 {std::min(tasks, kGroups * context_.device().compute_units)}, field_, result_,
                 to_int(width), to_int(lines), to_int(layout_.pitch), to_int(columns),
                 to_int(fields), q, to_int(along.even), to_int(along.odd), room_, z, to_int(planes),
                 x_terms, y_terms, z_terms);
  } else {
    const auto padded = [](std::size_t n) { return to_int(ceiling(n, kPadding) * kPadding); };
    const std::size_t across = ceiling(width, kTile), down = ceiling(along.even, kTile);
    context_.run("solve", kernel("gpu/fast_diagonal.cl", "along_rows", divide),
                 {2 * fields * across * down * (nvidia_ ? kNvidiaItems : kItems)}, field_, result_,
                 to_int(width), to_int(layout_.pitch), to_int(across), to_int(down), q,
                 to_int(along.even), to_int(along.odd), padded(along.even), padded(along.odd), z,
                 to_int(planes), x_terms, y_terms, z_terms);
  }
  std::swap(field_, result_);
}

void FastDiagonal::solve(const cl::Buffer& b, const cl::Buffer& x, std::size_t nrhs,
                         std::size_t pitch) {
  if (grid_.unknowns() * nrhs == 0) return;
  require_fields(nrhs);
  const auto& [nx, ny, nz] = grid_.size;
  const bool y = ny > 1, z = nz > 1;
  for (std::size_t first = 0; first < nrhs; first += at_once_) {
    const std::size_t count = std::min(at_once_, nrhs - first);
    const cl_int4 size = {{to_int(nx), to_int(ny), to_int(nz), to_int(count)}};
    const std::size_t rows = ceiling(ny, 2) * ceiling(nz, 2) * count;
    const auto offset = static_cast<cl_ulong>(first * pitch * ny * nz);
    // On a CPU as vectors, if there is one.
    KernelId fold{"dense/fold.cl", "fold", precision_, Storage::buffer};
    Items items{layout_.half, rows};
    if (layout_.on_cpu && 2 * ceiling(nx, 2) >= layout_.strip) {
      fold.options = " -DVECTOR=" + std::to_string(layout_.strip / 2);
      items.x = 1;
    }
    KernelId unfold = fold;
    unfold.function = "unfold";
    const cl_int of_field = to_int(layout_.pitch), half = to_int(layout_.half);
    context_.run("fold", fold, items, b, offset, to_int(pitch), field_, size, to_int(rows),
                 of_field, half);
    along_x(false, !y && !z, count);
    if (y) along_rows(1, false, !z, count);
    if (z) along_rows(2, false, true, count);
    if (z) along_rows(2, true, false, count);
    if (y) along_rows(1, true, false, count);
    along_x(true, false, count);
    context_.run("fold", unfold, items, field_, x, offset, to_int(pitch), size, to_int(rows),
                 of_field, half);
    context_.checkpoint();
  }
}

void FastDiagonal::upload(const MatrixView& b) {
  if (b.rows() != grid_.unknowns()) {
    throw InputError("B has " + std::to_string(b.rows()) + " rows, and the grid has " +
                     std::to_string(grid_.unknowns()) + " unknowns; they must be as many.");
  }
  const std::size_t elements = b.rows() * b.cols();
  if (elements > capacity_ || !x_()) {
    x_ = context_.allocate(elements * element_size(precision_));
    capacity_ = elements;
  }
  nrhs_ = b.cols();
  if (elements > 0) b_ = lugpu::upload(context_, b, precision_);
}

Matrix FastDiagonal::download() {
  return lugpu::download(context_, x_, grid_.unknowns(), nrhs_, precision_);
}

}  // namespace lugpu

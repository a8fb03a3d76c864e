#include "dense/blocked_cpu.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "opencl/cpu_tile.hpp"

namespace lugpu {
namespace {

// Rows and columns of C that a work-group updates: its rows of L, and a strip of U at a time, stay
// in the first-level cache.
constexpr std::size_t kBlockRows = 12, kBlockColumns = 512;
// Rows and columns of a tile of C on its way from one surface to the other.
constexpr std::size_t kTileRows = 48, kTileColumns = 128;
// Strips of columns that a work-group interchanges and solves for.
constexpr std::size_t kStrips = 4;
// The most columns that are solved for along the rows of a triangle, and the rows of a work-group,
// a multiple of every vector.
constexpr std::size_t kFewColumns = 4, kFewRows = 32;
// NOTES, 2 NOTE_INTS and WORK_INTS of cpu/team.clh.
constexpr std::size_t kLaunchInts = 16, kThreadInts = 32, kStepInts = 192;
// One thread has factored so small a matrix before another one wakes up.
constexpr std::size_t kElementsOfOneThread = 144 * 144;
// A launch has at most so many panels, and takes no more once it has so much to do.
constexpr std::size_t kMostPanels = 256;
constexpr std::uint64_t kMultiplyAdds = 4'000'000'000;

}  // namespace

BlockedCpu::BlockedCpu(DeviceContext& context, const Shape& shape) : Blocked(context, shape) {
  context.require_long_loops();
  const std::size_t vector = vector_width(context.device(), shape.precision);
  strip_ = 2 * vector;
  if (shape.nb % strip_ != 0) {
    throw Unsupported("Blocks of " + std::to_string(shape.nb) + " columns are not possible on " +
                      context.device().name + ": they must be a multiple of " +
                      std::to_string(strip_) + ".");
  }
  options_ =
      " -DNB=" + std::to_string(shape.nb) + cpu_tile_options(context.device(), shape.precision);
  const std::size_t size = element_size(shape.precision);
  panel_ = context.allocate(shape.m * shape.nb * size);
  next_ = context.allocate(shape.n > shape.nb ? shape.m * shape.nb * size : 0);
  reserve_block_row(shape.n, shape.nb);
  const std::size_t panels = std::min(ceiling(std::min(shape.m, shape.n), shape.nb), kMostPanels);
  const std::size_t threads = context.device().compute_units;
  // A share is less than four vectors longer than its part of the rows, which is 256 or all.
  packed_ = context.allocate((shape.m + shape.m / 4 + 4 * vector) * strip_ * size);
  noted_rows_ = context.allocate((2 + 2 * threads) * strip_ * size);
  work_ = context.zeros(kLaunchInts + threads * kThreadInts + (2 + panels) * kStepInts);
  if (shape.ping_pong) tiles_ = context.allocate(tile_bytes(context.device(), shape.precision));
}

std::size_t BlockedCpu::block_size(const Shape& shape) {
  // The wider the panels, the fewer the passes over images.
  if (shape.ping_pong) return 192;
  const std::size_t n = std::min(shape.m, shape.n);
  // The larger A is, the more its traffic costs, and wide panels need less of it.
  const std::size_t small = shape.precision == Precision::single_precision ? 2048 : 1024;
  return n < small ? 64 : n < 3072 ? 128 : 192;
}

std::uint64_t BlockedCpu::tile_bytes(const Device& device, Precision precision) {
  return device.compute_units * kTileRows * kTileColumns * element_size(precision);
}

KernelId BlockedCpu::kernel(const char* file, const char* function) const {
  return {file, function, shape_.precision, Storage::buffer, Texel::r, options_};
}

// P A(k:m, k:k+nb) = L U
void BlockedCpu::factor_columns(Surface& a, std::size_t k) {
  const std::size_t width = std::min(shape_.nb, shape_.n - k);
  context_.run("panel", kernel("cpu/lu_blocked.cl", "factor_columns"),
               {context_.device().compute_units}, a, panel_, packed_, noted_rows_, ipiv_, info_,
               static_cast<cl_int>(k), static_cast<cl_int>(shape_.m), static_cast<cl_int>(width),
               static_cast<cl_int>(shape_.pivot != Pivot::none), work_);
  context_.timeline().add_bytes(2 * (shape_.m - k) * width * element_size(shape_.precision));
}

void BlockedCpu::exchange_and_solve(Surface& a, std::size_t k) {
  const std::size_t columns = strip_ * kStrips;
  const std::size_t right = std::min(k + shape_.nb, shape_.n);
  const std::size_t width = std::min(shape_.nb, std::min(shape_.m, shape_.n) - k);
  context_.run("interchange", kernel("cpu/lu_blocked.cl", "exchange_and_solve"),
               {ceiling(k, columns) + ceiling(shape_.n - right, columns)}, a, panel_, block_row_,
               ipiv_, static_cast<cl_int>(k), static_cast<cl_int>(width),
               static_cast<cl_int>(shape_.n), static_cast<cl_int>(columns),
               static_cast<cl_int>(shape_.pivot != Pivot::none));
  context_.timeline().add_bytes(4 * shape_.nb * (shape_.n - right + k) *
                                element_size(shape_.precision));
}

void BlockedCpu::factor_panel(Surface& lu, std::size_t k) {
  factor_columns(lu, k);
  context_.run("panel", kernel("dense/panel_launches.cl", "list_moves"), {shape_.nb}, ipiv_,
               static_cast<cl_int>(k), static_cast<cl_int>(std::min(shape_.nb, shape_.n - k)),
               row_for_, row_goes_to_);
}

void BlockedCpu::update(const PingPong& a, const Surface& lu, std::size_t k) {
  const std::string options = options_ + " -DTILE_ROWS=" + std::to_string(kTileRows) +
                              " -DTILE_COLUMNS=" + std::to_string(kTileColumns);
  context_.run("update", a.src.kernel("cpu/lu_blocked_image.cl", "update", options),
               {context_.device().compute_units}, a.src, a.dst, lu, tiles_, row_goes_to_,
               static_cast<cl_int>(k), static_cast<cl_int>(shape_.n));
}

// The update of the first block.
std::uint64_t BlockedCpu::multiply(Surface& a) {
  const std::size_t nb = shape_.nb;
  if (shape_.m <= nb || shape_.n <= nb) return 0;
  context_.run("update", kernel("cpu/lu_blocked.cl", "update"), {context_.device().compute_units},
               a, panel_, block_row_, cl_int{0}, static_cast<cl_int>(shape_.m),
               static_cast<cl_int>(shape_.n), static_cast<cl_int>(kBlockRows),
               static_cast<cl_int>(kBlockColumns), work_);
  return (shape_.m - nb) * (shape_.n - nb) * nb;
}

// As many panels in a launch as take it some time.
void BlockedCpu::factorize(Surface& a, const Parts&) {
  const std::size_t nb = shape_.nb, pivots = std::min(shape_.m, shape_.n);
  const std::size_t size = element_size(shape_.precision);
  const std::size_t threads =
      shape_.m * shape_.n > kElementsOfOneThread ? context_.device().compute_units : 1;
  for (std::size_t first = 0, last = 0; first < pivots; first = last) {
    std::uint64_t updated = 0;  // elements
    std::uint64_t others = first == 0 ? 2 * shape_.m * std::min(nb, shape_.n) : 0;
    for (; last < pivots && last - first < kMostPanels * nb && updated * nb < kMultiplyAdds;
         last += nb) {
      const std::size_t next = last + nb;
      others += 4 * nb * (shape_.n - std::min(nb, shape_.n - last));
      if (next < pivots) updated += (shape_.m - next) * (shape_.n - next);
    }
    context_.run("update", kernel("cpu/lu_blocked.cl", "factor_panels"), {threads}, a, panel_,
                 next_, block_row_, packed_, noted_rows_, ipiv_, info_, static_cast<cl_int>(first),
                 static_cast<cl_int>(last), static_cast<cl_int>(shape_.m),
                 static_cast<cl_int>(shape_.n), static_cast<cl_int>(strip_ * kStrips),
                 static_cast<cl_int>(kBlockRows), static_cast<cl_int>(kBlockColumns),
                 static_cast<cl_int>(shape_.pivot != Pivot::none), work_);
    context_.timeline().add_bytes((2 * updated + others) * size);
    context_.checkpoint();
  }
}

// A few columns along the rows of the triangle, which hold many more elements than a strip of X.
void BlockedCpu::solve_triangle(const Triangle& t, Surface& x) {
  if (x.columns() > kFewColumns) return Blocked::solve_triangle(t, x);
  const std::size_t n = shape_.n;
  if (!solved_()) {
    solved_ = context_.allocate(n * kFewColumns * element_size(shape_.precision));
    state_ = context_.zeros(2);
  }
  KernelId solve = kernel("cpu/solve_few.cl", "solve_few");
  solve.options +=
      " -DBLOCK=" + std::to_string(kFewRows) + " -DCOLUMNS=" + std::to_string(kFewColumns);
  context_.run("solve", solve, {ceiling(n, kFewRows)}, t.of, x, solved_, state_,
               static_cast<cl_int>(n), static_cast<cl_int>(x.columns()),
               static_cast<cl_int>(t.upper), static_cast<cl_int>(t.unit));
  context_.checkpoint();
}

// The products read the block of X from strips, which is faster.
void BlockedCpu::solve_columns(const Triangle& t, std::size_t k, std::size_t width,
                               const Columns& x) {
  solve_block(t, x, k, width);
  const std::size_t first = t.upper ? 0 : k + width, last = t.upper ? k : x.of.rows();
  if (first == last) return;
  context_.run("solve", kernel("cpu/solve.cl", "subtract_solved"),
               {ceiling(last - first, kBlockRows), ceiling(x.count, kBlockColumns)}, t.of,
               static_cast<cl_int>(t.top), static_cast<cl_int>(t.left), x.of,
               static_cast<cl_int>(x.first), block_row_, static_cast<cl_int>(x.count),
               static_cast<cl_int>(k), static_cast<cl_int>(width), static_cast<cl_int>(first),
               static_cast<cl_int>(last), static_cast<cl_int>(kBlockRows),
               static_cast<cl_int>(kBlockColumns));
}

void BlockedCpu::reserve_block_row(std::size_t columns, std::size_t rows) {
  const std::size_t elements = ceiling(columns, strip_) * strip_ * rows;
  if (elements <= block_row_size_) return;
  block_row_ = context_.allocate(elements * element_size(shape_.precision));
  block_row_size_ = elements;
}

void BlockedCpu::solve_block(const Triangle& t, const Columns& x, std::size_t first,
                             std::size_t rows) {
  reserve_block_row(x.count, rows);
  context_.run("solve", kernel("cpu/solve.cl", "solve_block"), {ceiling(x.count, strip_)}, t.of,
               static_cast<cl_int>(t.top), static_cast<cl_int>(t.left), x.of,
               static_cast<cl_int>(x.first), block_row_, static_cast<cl_int>(first),
               static_cast<cl_int>(rows), static_cast<cl_int>(t.upper),
               static_cast<cl_int>(t.unit));
}

void BlockedCpu::subtract_block(const Triangle& t, const Columns& x, std::size_t k,
                                std::size_t rows, std::size_t first, std::size_t last) {
  context_.run("solve", kernel("cpu/solve.cl", "subtract_block"),
               {ceiling(last - first, kBlockRows), ceiling(x.count, kBlockColumns)}, t.of,
               static_cast<cl_int>(t.top), static_cast<cl_int>(t.left), x.of,
               static_cast<cl_int>(x.first), static_cast<cl_int>(x.count), static_cast<cl_int>(k),
               static_cast<cl_int>(rows), static_cast<cl_int>(first), static_cast<cl_int>(last),
               static_cast<cl_int>(kBlockRows), static_cast<cl_int>(kBlockColumns));
}

}  // namespace lugpu

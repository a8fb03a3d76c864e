#include "dense/blocked_gpu.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <map>
#include <mutex>
#include <type_traits>

#include "base/error.hpp"
#include "dense/matrix_units.hpp"
#include "dense/permutation.hpp"
#include "dense/proof.hpp"
#include "kernels/gpu/local_pivots.h"
#include "kernels/gpu/update_arguments.h"
#include "kernels/nvidia/wgmma_memory.h"
#include "matrix/norms.hpp"
#include "matrix/random.hpp"

namespace lugpu {
namespace {

constexpr std::size_t kPanel = 64;          // NB of the kernels, and STRIP
constexpr std::size_t kNarrow = 32;         // NB of gpu/narrow_panel.cl
constexpr std::size_t kItems = 256;         // of a work-group; half of them for narrow tiles
constexpr std::size_t kTile = 128;          // rows and columns of a tile of C that is not narrow
constexpr std::size_t kRowsProposed = 128;  // GROUP_ROWS of dense/panel_launches.cl
constexpr std::size_t kInner = 8;           // INNER of it
constexpr std::size_t kLocalBytes = 48 << 10;
constexpr std::size_t kBlock = 6 * kPanel;
constexpr std::size_t kWideBlock = 2 * kBlock;
constexpr std::size_t kLeastOfWide = 8192;  // the order from which blocks have more than a panel
constexpr std::size_t kFewColumns = 64;     // of right-hand sides that are solved for one by one
// Work-groups of a panel: gpu/pivot_search.clh and gpu/panel_rows.clh have 16 bits for its rows, of
// which the last number is none, and for steps.
constexpr std::size_t kMostGroups = 0xffff / kItems;
constexpr std::size_t kTestOrder = 601;  // of a test system
constexpr std::size_t kLargeTestOrder = LuNone::kMostWithoutSquares + 65;

// As the device lays it out: nothing but 32-bit integers, one after the other.
static_assert(std::is_trivially_copyable_v<update_arguments> &&
              std::is_standard_layout_v<update_arguments> &&
              alignof(update_arguments) == sizeof(cl_int) &&
              sizeof(update_arguments) == 22 * sizeof(cl_int));

static_assert(kLargeElement == LARGE_ELEMENT);

cl_int to_int(std::size_t value) {
  return static_cast<cl_int>(value);
}

// Of a panel: so many are sure to run at the same time.
std::size_t groups_at_once(const Device& device, bool paired) {
  return std::min<std::size_t>((paired ? 2 : 1) * device.compute_units, kMostGroups);
}

bool suits_wgmma(const Device& device, const Shape& shape) {
  return has_wgmma(device) && !shape.ping_pong && shape.precision == Precision::single_precision;
}

// Whether all of such a matrix may be LuNone's. Wide blocks of panels are faster by wgmma.
bool suits_none(const Device& device, const Shape& shape) {
  return shape.pivot == Pivot::none && !shape.ping_pong && shape.m == shape.n &&
         shape.n <= LuNone::most_order(device, shape.precision) &&
         (shape.n < kLeastOfWide || !suits_wgmma(device, shape));
}

// Whether a panel of such a matrix can be factored in narrow ones.
bool suits_narrow(const Shape& shape) {
  return shape.precision == Precision::double_precision && shape.pivot != Pivot::none;
}

// L and U of a block of such a matrix: see kernels/nvidia/halves_layout.clh.
constexpr std::size_t kChunk = 32;             // values of k
constexpr std::size_t kRowsSplit = 16;         // of a work-group
constexpr std::size_t kLeastSplit = 320;       // columns of a block that are worth it
constexpr std::size_t kColumnsAtOnce = 12288;  // of update_columns()
// Work-groups of a launch whose panel has its multiprocessors to itself, times columns of a block,
// for each multiprocessor: docs/performance.md.
constexpr std::size_t kMostBeside = 3 * kWideBlock;
// Columns of L and rows of U.
std::size_t depth_of_split(const Shape& shape) {
  return shape.updates_others ? shape.n : shape.nb;
}
split_block room_for_split(const Shape& shape) {
  const auto with_a_tile_more = [](std::size_t n) { return to_int(ceiling(n, 16) * 16 + kTile); };
  return {0, 0, with_a_tile_more(shape.m),
          with_a_tile_more(shape.updates_others ? kColumnsAtOnce : shape.n)};
}
int halves_of(const Shape& shape) {
  if (shape.shortcut == Shortcut::half_products) return 1;
  return depth_of_split(shape) >= kLeastSplit ? 2 : 0;
}
std::size_t halves_bytes(const Shape& shape) {
  const split_block room = room_for_split(shape);
  return static_cast<std::size_t>(room.rows + room.columns) *
         (sizeof(cl_float) + depth_of_split(shape) * 2 * sizeof(cl_half));
}

// Of rows of U by halves: columns of a work-group; the triangle of L in so many blocks.
constexpr std::size_t kStripColumns = 64;
std::size_t triangle_bytes(std::size_t blocks, int halves) {
  const std::size_t chunks = kTile / kChunk * blocks * (blocks + 1) / 2;
  return blocks * kTile * sizeof(cl_float) +
         chunks * static_cast<std::size_t>(halves) * kTile * kChunk * sizeof(cl_half);
}

// Which kernel of LuNone it is then.
bool has_squares(const Device& device, const Shape& shape) {
  return suits_none(device, shape) && shape.n > LuNone::kMostWithoutSquares;
}

// m x n in blocks of nb columns, to test the kernels of a shape.
Shape test_shape(const Shape& shape, std::size_t m, std::size_t n, std::size_t nb) {
  Shape test = {m, n, shape.pivot, shape.precision, nb};
  test.shortcut = shape.shortcut;
  test.updates_others = shape.updates_others;
  return test;
}

// Of the elements of P A v - L (U v) and A X - A v for a test system; with half products four to
// eight times what these make of it.
double limit_of_proof(const Shape& shape, bool half_products, std::size_t m, std::size_t n,
                      double norm) {
  if (half_products) return shape.pivot == Pivot::none ? 0x1p-7 : 0x1p-9 * static_cast<double>(n);
  const double eps = shape.precision == Precision::double_precision ? 0x1p-53 : 0x1p-24;
  return 30 * static_cast<double>(m) * norm * eps;
}

}  // namespace

BlockedGpu::BlockedGpu(DeviceContext& context, const Shape& shape) : Blocked(context, shape) {
  if (shape.nb % kPanel != 0 || shape.nb > (shape.ping_pong ? kPanel : kWideBlock)) {
    throw Unsupported("Blocks of " + std::to_string(shape.nb) + " columns are not possible on " +
                      context.device().name + ": they must be " +
                      (shape.ping_pong ? "of 64 on images." : "a multiple of 64 up to 768."));
  }
  if (context.device().local_memory < kLocalBytes) {
    throw Unsupported(
        "lu-blocked needs 48 KiB of local memory, and " + context.device().name + " has less",
        {"method", "lu"});
  }
  const bool nvidia =
      context.settings().vendor && has_matrix_units(context.device(), shape.precision);
  const bool wgmma = nvidia && suits_wgmma(context.device(), shape);
  Proof proof;
  const int halves = wgmma ? halves_of(shape) : 0;
  const bool paired = shape.m > groups_at_once(context.device(), false) * kItems;
  const bool narrow = paired && suits_narrow(shape);
  for (const Kernels kernels :
       {Kernels{true, true, true, halves, paired}, Kernels{true, true, true, halves},
        Kernels{true, true, true}, Kernels{true, true, false, 0, narrow}, Kernels{true, true},
        Kernels{false, true}, Kernels{false, false}}) {
    if (proof.outcome == Proof::Outcome::right) break;
    if ((kernels.nvidia && !nvidia) || (kernels.wgmma && !wgmma)) continue;
    kernels_ = kernels;
    proof = prove(context, shape, kernels);
  }
  const std::string& name = context.device().name;
  switch (proof.outcome) {
    case Proof::Outcome::wrong:
      throw Unsupported("lu-blocked solves a test system wrong on " + name, {"method", "lu"});
    case Proof::Outcome::unsupported:
      throw Unsupported("lu-blocked cannot run on " + name + " (method lu may): " + proof.reason);
    case Proof::Outcome::not_tried:
      throw NotTried("lu-blocked could not be tried on " + name +
                     " (method lu may): " + proof.reason);
    case Proof::Outcome::right:
      kernels_.resident = prefers_resident(context, shape, kernels_);
      allocate();
  }
}

BlockedGpu::BlockedGpu(DeviceContext& context, const Shape& shape, Kernels kernels)
    : Blocked(context, shape), kernels_(kernels) {
  allocate();
}

void BlockedGpu::allocate() {
  const bool narrow = kernels_.paired && suits_narrow(shape_);
  most_narrow_groups_ = narrow ? groups_at_once(context_.device(), true) : 0;
  most_groups_ = groups_at_once(context_.device(), kernels_.paired && !narrow);
  const std::size_t words = element_size(shape_.precision) / 4;
  const std::size_t proposals =
      2 * std::max<std::size_t>({most_groups_, most_narrow_groups_, 64}) * 8;
  panel_message_bytes_ = ((kPanel * kPanel + proposals) * words + TICKET_WORDS) * sizeof(cl_ulong);
  panel_messages_ = context_.allocate(panel_message_bytes_);
  room_ = room_for_split(shape_);
  halves_ = context_.allocate(kernels_.halves > 0 ? halves_bytes(shape_) : 0);
  if (!kernels_.resident) return;
  if (shape_.pivot != Pivot::none) {
    resident_.emplace(context_, std::min(shape_.m, ResidentLu::kMostRows), shape_.n,
                      shape_.precision, kernels_.nvidia);
  } else if (suits_none(context_.device(), shape_)) {
    none_.emplace(context_, shape_.n, shape_.precision, kernels_.nvidia);
  }
}

std::uint64_t BlockedGpu::other_workspace(const Device& device, const Shape& shape) {
  const std::size_t blocks = ceiling(depth_of_split(shape), kTile);
  const std::uint64_t split = updates_faster(device, shape)
                                  ? halves_bytes(shape) + triangle_bytes(blocks, halves_of(shape))
                                  : 0;
  if (suits_none(device, shape)) return split + LuNone::workspace(shape.n, shape.precision);
  if (shape.pivot == Pivot::none) return split;
  return split + ResidentLu::workspace(shape.m, shape.n, shape.precision);
}

Shortcut BlockedGpu::shortcut(const Device& device, const Shape& shape) {
  if (shape.pivot != Pivot::none) {
    const bool small = shape.m <= ResidentLu::kMostRows;
    return shape.ping_pong || small ? Shortcut::none : Shortcut::local_pivots;
  }
  return suits_wgmma(device, shape) && !suits_none(device, shape) ? Shortcut::half_products
                                                                  : Shortcut::none;
}

std::size_t BlockedGpu::block_size(const Shape& shape) {
  const std::size_t n = std::min(shape.m, shape.n);
  if (shape.shortcut != Shortcut::half_products && (shape.ping_pong || n < kLeastOfWide))
    return kPanel;
  return n < 16384 ? kBlock : kWideBlock;
}

bool BlockedGpu::updates_faster(const Device& device, const Shape& shape) {
  return suits_wgmma(device, shape) && halves_of(shape) > 0;
}

BlockedGpu::ProofKey BlockedGpu::key_of(const DeviceContext& context, const Shape& shape,
                                        Kernels kernels) {
  return {context.device().id,
          context.settings().folder,
          shape.precision,
          shape.pivot,
          shape.shortcut,
          shape.updates_others,
          kernels.nvidia,
          kernels.waiting,
          kernels.wgmma,
          kernels.halves,
          kernels.paired,
          kernels.resident,
          kernels.resident && has_squares(context.device(), shape)};
}

BlockedGpu::Proof BlockedGpu::prove(DeviceContext& context, const Shape& shape, Kernels kernels) {
  static std::map<ProofKey, Proof> known;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const ProofKey key = key_of(context, shape, kernels);
  if (const auto found = known.find(key); found != known.end()) return found->second;
  const Proof proof = solve_test_system(context, shape, kernels);
  if (!proof.passing) known[key] = proof;
  return proof;
}

// Several work-groups in a panel, ragged tiles, blocks of three panels; and so many work-groups
// that pivots are chosen in the other way, or that some multiprocessor has two. All columns in
// registers, and the last ones alone; or, in one launch without pivoting, tiles of one block or
// two.
BlockedGpu::Proof BlockedGpu::solve_test_system(DeviceContext& context, const Shape& shape,
                                                Kernels kernels) {
  try {
    std::size_t m = 8500, n = 70;
    if (kernels.paired) m = (groups_at_once(context.device(), false) + 1) * kItems + 70;
    if (kernels.resident && shape.pivot != Pivot::none) {
      m = ResidentLu::kMostRows + 152, n = 300;
    } else if (kernels.resident) {
      m = n = has_squares(context.device(), shape) ? kLargeTestOrder : kPanel + 1;
    }
    const bool right =
        factors_and_solves(context, shape, kernels, kTestOrder, kTestOrder) &&
        factors_and_solves(context, shape, kernels, m, n) &&
        ((!shape.updates_others && kernels.halves == 0) || updates(context, shape, kernels));
    return {right ? Proof::Outcome::right : Proof::Outcome::wrong};
  } catch (const Unsupported& error) {
    return {Proof::Outcome::unsupported, error.what()};
  } catch (const Error& error) {
    return {Proof::Outcome::not_tried, error.what()};
  } catch (const cl::Error& error) {
    return {Proof::Outcome::not_tried, describe(error) + ".", true};
  } catch (const std::bad_alloc&) {
    return {Proof::Outcome::not_tried, "The host does not have enough memory.", true};
  }
}

bool BlockedGpu::prefers_resident(DeviceContext& context, const Shape& shape, Kernels kernels) {
  if (shape.ping_pong || (shape.pivot == Pivot::none && !suits_none(context.device(), shape)))
    return false;
  Kernels resident = kernels;
  resident.resident = true;
  static std::map<ProofKey, bool> known;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const ProofKey key = key_of(context, shape, resident);
  if (const auto found = known.find(key); found != known.end()) return found->second;
  const Proof proof = prove(context, shape, resident);
  const bool preferred =
      proof.outcome == Proof::Outcome::right &&
      seconds_to_factor(context, shape, resident) < seconds_to_factor(context, shape, kernels);
  if (!proof.passing) known[key] = preferred;
  return preferred;
}

// Of the fastest of three factorizations of a random test system.
double BlockedGpu::seconds_to_factor(DeviceContext& context, const Shape& shape, Kernels kernels) {
  using Clock = std::chrono::steady_clock;
  Matrix a = random_matrix(kTestOrder, kTestOrder, 1);
  for (std::size_t i = 0; i < kTestOrder; ++i) a(i, i) += static_cast<double>(kTestOrder);
  const cl::Buffer columns = upload(context, a, shape.precision);
  Surface surface(context, kTestOrder, kTestOrder, shape.precision, Storage::buffer);
  BlockedGpu solver(context, test_shape(shape, kTestOrder, kTestOrder, kPanel), kernels);
  double fastest = INFINITY;
  for (int run = 0; run < 3; ++run) {
    import_columns(context, columns, kTestOrder, surface, 0);
    context.queue().finish();
    const auto start = Clock::now();
    solver.factor(surface);
    context.queue().finish();
    fastest = std::min(fastest, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return fastest;
}

// A X against A v for v of proof_vector(), with the factors of a square A.
bool BlockedGpu::solves(const Surface& lu, const Matrix& a, const std::vector<int>& ipiv,
                        double limit) {
  const std::size_t n = a.rows();
  const std::vector<int> rows = permutation_of(ipiv, n);
  Matrix av(n, 1), pav(n, 1);
  for (std::size_t j = 0; j < n; ++j) {
    const double v = proof_vector(j);
    for (std::size_t i = 0; i < n; ++i) av(i, 0) += a(i, j) * v;
  }
  for (std::size_t i = 0; i < n; ++i) pav(i, 0) = av(static_cast<std::size_t>(rows[i]), 0);
  // Few right-hand sides go another way than many.
  for (const std::size_t columns : {std::size_t{1}, kFewColumns + 1}) {
    Surface b(context_, n, columns, shape_.precision, Storage::buffer);
    fill(context_, b, 0);
    const cl::Buffer column = upload(context_, pav, shape_.precision);
    for (std::size_t j = 0; j < columns; ++j) import_columns(context_, column, 1, b, j);
    solve(lu, b);
    const Matrix x =
        download(context_, export_columns(context_, b, columns - 1, 1), n, 1, shape_.precision);
    Matrix residual = av;
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = 0; i < n; ++i) residual(i, 0) -= a(i, j) * x(j, 0);
    }
    const auto small = [&](double r) { return std::abs(r) <= limit; };
    if (!std::ranges::all_of(residual.values(), small)) return false;
  }
  return true;
}

// A random m x n matrix A: P A v against L (U v), and, if it is square, A X against A v.
bool BlockedGpu::factors_and_solves(DeviceContext& context, const Shape& shape, Kernels kernels,
                                    std::size_t m, std::size_t n) {
  Matrix a = random_matrix(m, n, 1);
  for (std::size_t i = 0; i < n && shape.pivot == Pivot::none; ++i) {
    a(i, i) += static_cast<double>(m);
  }
  Surface surface(context, m, n, shape.precision, Storage::buffer);
  import_columns(context, upload(context, a, shape.precision), n, surface, 0);
  BlockedGpu solver(context, test_shape(shape, m, n, 3 * kPanel), kernels);
  cl_int info = -1;
  std::vector<cl_int> ipiv(n);
  solver.factor(surface);
  context.read_back("proof", solver.info(), 0, sizeof info, &info);
  context.read_back("proof", solver.ipiv(), 0, n * sizeof(cl_int), ipiv.data());
  for (cl_int& row : ipiv) ++row;
  const Matrix lu =
      download(context, export_columns(context, surface, 0, n), m, n, shape.precision);
  const auto products = product_errors(a, lu, ipiv, {});
  const double limit = limit_of_proof(shape, kernels.halves == 1, m, n, norm_max(a));
  const auto small = [&](double error) { return error <= limit; };
  if (info != 0 || !products || !std::ranges::all_of(products->errors, small)) return false;
  return m != n || solver.solves(surface, a, ipiv, limit);
}

// Columns 16 : 216 of random numbers, by a random panel; tiles are ragged on both sides. One block
// of rows of U is solved for by substitution (LARGEST of gpu/rows_of_u.cl).
bool BlockedGpu::updates(DeviceContext& context, const Shape& shape, Kernels kernels) {
  constexpr std::size_t kWidth = kBlock, kFirst = 16, kCount = 200;
  Shape test = test_shape(shape, kTestOrder, kWidth, kPanel);
  test.updates_others = true;
  BlockedGpu solver(context, test, kernels);
  Matrix l = random_matrix(kTestOrder, kWidth, 1);
  for (double& element : l.values()) element /= 16;
  l(kWidth / 2, kWidth / 2 - 5) = 20;
  const Matrix a = random_matrix(kTestOrder, kFirst + kCount, 2);
  const auto surface_of = [&](const Matrix& matrix) {
    Surface surface(context, kTestOrder, matrix.cols(), shape.precision, Storage::buffer);
    import_columns(context, upload(context, matrix, shape.precision), matrix.cols(), surface, 0);
    return surface;
  };
  const Surface panel = surface_of(l);
  Surface columns = surface_of(a);
  const Triangle triangle = {panel, false, true};
  const Columns some = {columns, kFirst, kCount};
  solver.prepare_update(triangle, 0, kWidth);
  solver.update_columns(triangle, 0, kWidth, {&some, 1});
  const Matrix result = download(context, export_columns(context, columns, 0, kFirst + kCount),
                                 kTestOrder, kFirst + kCount, shape.precision);
  double error = 0;
  for (std::size_t j = 0; j < kFirst + kCount; ++j) {
    std::vector<double> expected(kTestOrder);
    for (std::size_t i = 0; i < kTestOrder; ++i) {
      expected[i] = a(i, j);
      for (std::size_t k = 0; k < std::min(i, kWidth) && j >= kFirst; ++k)
        expected[i] -= l(i, k) * expected[k];
      error = std::max(error, std::abs(result(i, j) - expected[i]));
    }
  }
  // Of a product in single that has lost its second halves it would be some 2^-10.
  if (kernels.halves == 2) return error <= 0x1p-14;
  return error <= limit_of_proof(shape, kernels.halves == 1, kTestOrder, kWidth, 1);
}

std::optional<std::string> BlockedGpu::variant() const {
  const char* nvidia = shape_.ping_pong ? "nvidia, portable updates" : "nvidia";
  return std::string(kernels_.nvidia ? nvidia : "portable") + (kernels_.wgmma ? ", wgmma" : "") +
         (kernels_.halves == 1   ? ", half products"
          : kernels_.halves == 2 ? ", halves"
                                 : "") +
         (kernels_.paired ? ", two work-groups a multiprocessor" : "") +
         (kernels_.waiting ? "" : ", panels by launches") +
         (shape_.shortcut == Shortcut::local_pivots ? ", local pivots" : "") +
         (resident_ && resident_from() == 0 ? ", resident" : "") + (none_ ? ", one launch" : "");
}

KernelId BlockedGpu::kernel(const char* file, const char* function) const {
  std::string options = " -DNB=64 -DGROUPS_MAX=" + std::to_string(most_groups_) +
                        " -DPIVOT=" + (shape_.pivot == Pivot::none ? "0" : "1");
  if (kernels_.nvidia) options += " -DLUGPU_NVIDIA";
  if (splits_own()) options += " -DHALVES=" + std::to_string(kernels_.halves);
  KernelId id = {file, function, shape_.precision, Storage::buffer, Texel::rgba, options};
  const std::string name = function;
  const bool updates = name == "update_and_factor";
  if (updates && shape_.shortcut == Shortcut::local_pivots) id.options += " -DLOCAL_PIVOTS";
  const bool narrow = has_narrow_tiles(name);
  if (narrow) id.options += " -DNARROW_TILES";
  if (kernels_.wgmma && (updates || name == "subtract_block" || name == "compute_rows")) {
    id.options += " -DLUGPU_WGMMA";
    const bool halves = updates && splits_own();
    const std::size_t bytes = halves   ? HALVES_LOCAL_BYTES
                              : narrow ? NARROW_WGMMA_LOCAL_BYTES
                                       : WGMMA_LOCAL_BYTES;
    id.patch = Patch{WGMMA_PLACEHOLDER_BYTES, bytes, 2};
  } else if (updates && shape_.precision == Precision::single_precision &&
             compute_capability(context_.device()) > 0) {
    // Two work-groups a multiprocessor instead of one. NVIDIA's compiler obeys only where the size
    // of the work-group is left open.
    id.options += " -DLUGPU_FREE_SIZE -cl-nv-maxrregcount=128";
    id.group = kItems;
  }
  return id;
}

std::size_t BlockedGpu::tiles(const LuUpdate& of) const {
  if (of.empty() || of.k_end >= shape_.m) return 0;
  return ceiling(of.column_end - of.column, kTile) * ceiling(shape_.m - of.k_end, kTile);
}

// Panel `panel` to the other columns left : right_end: its interchanges, and its rows of U in the
// columns up to solve_end.
void BlockedGpu::exchange_and_solve(Surface& a, std::size_t panel, std::size_t left,
                                    std::size_t solve_end, std::size_t right_end) {
  const std::size_t width = std::min(kPanel, std::min(shape_.m, shape_.n) - panel);
  const std::size_t left_strips = shape_.pivot == Pivot::none ? 0 : (panel - left) / kPanel;
  const std::size_t strips = left_strips + ceiling(right_end - panel - width, kPanel);
  // L in halves, as far as columns are still to be updated with it.
  const std::size_t pieces =
      split_.rows > 0 && shape_.pivot != Pivot::none
          ? (split_k_end_ - split_k_) / kChunk * static_cast<std::size_t>(kernels_.halves)
          : 0;
  run_exchange("interchange", a,
               {.n = shape_.n,
                .panel = panel,
                .width = width,
                .left = left,
                .left_strips = left_strips,
                .strips = strips,
                .solve_end = solve_end,
                .pieces = pieces});
}

void BlockedGpu::run_exchange(const char* phase, Surface& a, const Exchange& of) {
  if (of.strips + of.pieces == 0) return;
  context_.run(phase, kernel("gpu/lu_blocked.cl", "exchange_and_solve"),
               {(of.strips + of.pieces) * kItems}, a, to_int(of.n), to_int(of.panel),
               to_int(of.width), to_int(of.left), to_int(of.left_strips), to_int(of.solve_end),
               row_for_, row_goes_to_, to_int(of.strips), split_, halves_);
  context_.timeline().add_bytes(
      4 * of.width *
      (of.strips * kPanel * element_size(shape_.precision) + of.pieces * kChunk * sizeof(cl_half)));
}

// As long as the panel takes longer than the tiles, whose time grows with the columns of a block.
bool BlockedGpu::keeps_panel_alone(std::size_t groups) const {
  return splits_own() && shape_.pivot != Pivot::none &&
         groups * shape_.nb <= kMostBeside * context_.device().compute_units;
}

// In one launch, whose first work-groups, if any, update `next` and factor `width` columns of it.
void BlockedGpu::run_update(Surface& a, const LuUpdate& next, std::size_t width,
                            std::size_t panel_groups, const LuUpdate& near, const LuUpdate& far) {
  const auto region = [](const LuUpdate& of) {
    return update_region{to_int(of.column), to_int(of.column_end), to_int(of.k), to_int(of.k_end)};
  };
  const update_panel panel = {to_int(next.column),  to_int(width),  to_int(next.column_end),
                              to_int(panel_groups), to_int(next.k), to_int(next.k_end)};
  const bool split_near = split_.rows > 0 && near.k == split_k_ && near.k_end == split_k_end_;
  std::size_t groups = panel_groups + tiles(near) + tiles(far);
  update_tickets tickets{};
  if (panel_groups > 0 && groups > panel_groups && keeps_panel_alone(groups)) {
    groups += panel_groups;  // as many may wait, and come too late for any tile
    tickets = {to_int(panel_message_bytes_ / sizeof(cl_ulong) - TICKET_WORDS), to_int(drawn_)};
    drawn_ += groups - panel_groups;
  }
  const update_arguments launch = {to_int(shape_.m), panel,  tickets,   region(near),
                                   region(far),      split_, split_near};
  const auto parts = [&] {
    std::vector<Part> both = parts_of_columns(
        "panel", next.column, next.column + std::max<std::size_t>(width, 1), kPanel);
    both.push_back({"tiles", "tiles"});
    return both;
  };
  if (beside_.empty()) {
    context_.run_in_parts("update", kernel("gpu/lu_blocked.cl", "update_and_factor"),
                          {groups * kItems}, parts, a, launch, panel_messages_, ipiv_, row_for_,
                          row_goes_to_, info_, halves_);
    return;
  }
  const BesideTiles beside = take_beside();
  context_.run_in_parts("update", beside_kernel(), {(groups + beside.count) * kItems}, parts, a,
                        launch, panel_messages_, ipiv_, row_for_, row_goes_to_, info_, halves_,
                        beside.t, beside.x, beside.tiles);
  context_.timeline().add_bytes(2 * kTile * kTile * beside.count * element_size(shape_.precision));
}

KernelId BlockedGpu::beside_kernel() const {
  KernelId id = kernel("gpu/lu_blocked.cl", "update_and_factor");
  id.options += " -DBESIDE";
  return id;
}

bool BlockedGpu::prepare_beside() {
  if (kernels_.halves > 0) return false;
  context_.programs().find(beside_kernel());
  return true;
}

// The next launch's share of what is left; beyond those that are expected, all of a matrix.
BlockedGpu::BesideTiles BlockedGpu::take_beside() {
  std::size_t left = 0;
  for (const Beside& each : beside_) left += each.tiles - each.done;
  const std::size_t share = ceiling(left, std::max<std::size_t>(launches_, 1));
  if (launches_ > 0) --launches_;
  Beside& first = beside_.front();
  const auto& [of, x_first, columns] = first.x;
  const BesideTiles taken = {first.t.of,
                             of,
                             {to_int(first.t.top), to_int(first.t.left), to_int(first.k_end),
                              to_int(of.rows()), to_int(x_first), to_int(x_first + columns),
                              to_int(first.k), to_int(first.k_end), to_int(first.done)},
                             std::min(first.tiles - first.done, share)};
  first.done += taken.count;
  if (first.done == first.tiles) beside_.pop_front();
  return taken;
}

// Columns k : k_end of L below row k_end, and rows k : k_end of U right of column k_end, for the
// updates to come.
void BlockedGpu::split_operands(Surface& a, std::size_t k, std::size_t k_end) {
  if (!splits_own()) return;
  split_ = room_;
  split_.row = split_.column = to_int(k_end);
  split_k_ = k, split_k_end_ = k_end;
  split(a, shape_.m, shape_.n, k, k_end, split_);
}

KernelId BlockedGpu::halves_kernel(const char* file, const char* function) const {
  return {file,
          function,
          Precision::single_precision,
          Storage::buffer,
          Texel::rgba,
          " -DHALVES=" + std::to_string(kernels_.halves)};
}

// Rows block.row : m of columns k : k_end, L, and rows k : k_end of columns block.column : n, U.
void BlockedGpu::split(const Surface& a, std::size_t m, std::size_t n, std::size_t k,
                       std::size_t k_end, const split_block& block) {
  const std::size_t rows = m - static_cast<std::size_t>(block.row);
  const std::size_t columns = n - static_cast<std::size_t>(block.column);
  context_.run("update", halves_kernel("nvidia/split_operands.cl", "split_operands"),
               {(ceiling(rows, kRowsSplit) + ceiling(columns, kRowsSplit)) * kItems}, a, to_int(m),
               to_int(n), to_int(k), to_int(k_end), block, halves_);
  context_.timeline().add_bytes(
      (rows + columns) * (k_end - k) *
      (sizeof(cl_float) + static_cast<std::size_t>(kernels_.halves) * sizeof(cl_half)));
}

std::uint64_t BlockedGpu::multiply(Surface& a) {
  const std::size_t nb = shape_.nb;
  if (shape_.m <= nb || shape_.n <= 2 * nb) return 0;
  split_operands(a, 0, nb);
  run_update(a, {}, 0, 0, {nb, shape_.n, 0, nb}, {});
  return (shape_.m - nb) * (shape_.n - nb) * nb;
}

// Work-group 0's of a panel: without pivoting the rows of U only, with local pivots all that are
// searched.
std::size_t BlockedGpu::first_rows() const {
  if (shape_.pivot == Pivot::none) return kPanel;
  return shape_.shortcut == Shortcut::local_pivots ? LOCAL_PIVOT_ROWS : kItems;
}

// `next` is updated and its first `width` columns, a panel, are factored; meanwhile the others are
// updated.
void BlockedGpu::update_and_factor(Surface& a, const LuUpdate& next, std::size_t width,
                                   const LuUpdate& near, const LuUpdate& far) {
  const std::size_t panel = next.column;
  const std::size_t rows = shape_.m - panel, first = std::min(rows, first_rows());
  const std::size_t groups = 1 + ceiling(rows - first, kItems);
  const bool waiting = kernels_.waiting && groups <= most_groups_;
  if (waiting) {
    run_update(a, next, width, groups, near, far);
  } else {
    // Both are next to one another and get the same k.
    LuUpdate both = near;
    if (next.k < next.k_end) {
      both = next;
      if (!near.empty()) both.column_end = near.column_end;
    }
    run_update(a, next, width, 0, both, far);
  }
  const std::uint64_t elements =
      (shape_.m - panel) * (next.column_end - panel) + kTile * kTile * (tiles(near) + tiles(far));
  context_.timeline().add_bytes(2 * elements * element_size(shape_.precision));
  if (waiting) return;
  if (groups <= most_narrow_groups_) {
    factor_by_narrow(a, panel, width);
  } else {
    factor_by_launches(a, panel, width);
  }
}

// Its left half, what that means for the right one, then this; the interchanges of each half in the
// other take a strip. A panel of at most kNarrow columns has no right half.
void BlockedGpu::factor_by_narrow(Surface& a, std::size_t panel, std::size_t width) {
  const std::size_t end = panel + width, middle = std::min(panel + kNarrow, end);
  factor_narrow(a, panel, panel, middle);
  if (middle == end) return;
  // A(:, middle:end) = P A(:, middle:end), and its rows of U
  run_exchange("panel", a,
               {.n = end, .panel = panel, .width = middle - panel, .strips = 1, .solve_end = end});
  factor_narrow(a, panel, middle, end);
  // A(:, panel:middle) = P A(:, panel:middle)
  run_exchange("panel", a,
               {.n = middle,
                .panel = middle,
                .width = end - middle,
                .left = panel,
                .left_strips = 1,
                .strips = 1});
  list_moves(panel, width);
}

void BlockedGpu::factor_narrow(Surface& a, std::size_t before, std::size_t first, std::size_t end) {
  KernelId id = {"gpu/narrow_panel.cl",
                 "factor_narrow_panel",
                 shape_.precision,
                 Storage::buffer,
                 Texel::rgba,
                 " -DNB=32 -DGROUPS_MAX=" + std::to_string(most_narrow_groups_) +
                     " -DLUGPU_NVIDIA -DLUGPU_FREE_SIZE -cl-nv-maxrregcount=128"};
  id.group = kItems;
  context_.run("panel", id, {ceiling(shape_.m - first, kItems) * kItems}, a, to_int(shape_.m),
               to_int(before), to_int(first), to_int(end - first), panel_messages_, ipiv_, row_for_,
               row_goes_to_, info_);
}

void BlockedGpu::factor_by_launches(Surface& a, std::size_t panel, std::size_t width) {
  const cl_int m = to_int(shape_.m), first = to_int(panel), columns = to_int(width);
  const cl_int pivoted = shape_.pivot != Pivot::none;
  const std::size_t groups = ceiling(shape_.m - panel, kRowsProposed);
  if (groups > proposing_) {
    places_ = context_.allocate(2 * groups * sizeof(cl_int));
    copies_ =
        context_.allocate((2 * (groups + 1) + kInner) * kPanel * element_size(shape_.precision));
    proposing_ = groups;
  }
  for (cl_int j = -1; j < columns; ++j) {
    context_.run("panel", kernel("dense/panel_launches.cl", "eliminate_and_propose"),
                 {groups * kItems}, a, m, first, columns, j, pivoted, to_int(groups), places_,
                 copies_, ipiv_, info_);
  }
  list_moves(panel, width);
}

void BlockedGpu::list_moves(std::size_t panel, std::size_t width) {
  context_.run("panel", kernel("dense/panel_launches.cl", "list_moves"), {kPanel}, ipiv_,
               to_int(panel), to_int(width), row_for_, row_goes_to_);
}

void BlockedGpu::start() {
  split_ = {};
  drawn_ = 0;
  context_.queue().enqueueFillBuffer(info_, cl_int{0}, 0, sizeof(cl_int));
  const bool panels = !none_ && resident_from() > 0;
  if (panels) {
    context_.queue().enqueueFillBuffer(panel_messages_, cl_int{0}, 0, panel_message_bytes_);
  }
}

void BlockedGpu::factor_panel(Surface& lu, std::size_t k) {
  const std::size_t end = std::min(k + kPanel, shape_.n);
  update_and_factor(lu, {k, end}, end - k, {}, {});
}

void BlockedGpu::exchange_and_solve(Surface& lu, std::size_t k) {
  exchange_and_solve(lu, k, 0, shape_.n, shape_.n);
}

void BlockedGpu::update(const PingPong& a, const Surface& lu, std::size_t k) {
  const std::size_t tiles = ceiling(shape_.n - k - kPanel, kTile);
  context_.run("update", a.src.kernel("gpu/lu_blocked_image.cl", "update", " -DNB=64"),
               {tiles * kItems, tiles}, a.src, a.dst, lu, row_goes_to_, to_int(k),
               to_int(shape_.n));
}

// The first row and column that is ResidentLu's: the first of a block, or the end.
std::size_t BlockedGpu::resident_from() const {
  const std::size_t end = std::min(shape_.m, shape_.n);
  if (!resident_) return end;
  const std::size_t most = ResidentLu::kMostRows;
  if (shape_.m <= most) return 0;
  return std::min(ceiling(shape_.m - most, shape_.nb) * shape_.nb, end);
}

// The first part is short, so that the others can follow it soon, and the last one, for which
// everybody waits. ResidentLu may have the last rows, and the columns from there on at once.
std::vector<std::size_t> BlockedGpu::part_ends(std::size_t m, std::size_t n) {
  std::vector<std::size_t> ends;
  if (n > 2 * kPanel && m >= n + ResidentLu::kMostRows) {
    const std::size_t last = (n - 1) / kPanel * kPanel;
    for (std::size_t end = 2 * kPanel; end < last; end += 3 * kPanel) ends.push_back(end);
    ends.push_back(last);
  }
  ends.push_back(n);
  return ends;
}

void BlockedGpu::factorize(Surface& a, const Parts& parts) {
  const std::size_t m = shape_.m, n = shape_.n, end = std::min(m, n), resident = resident_from();
  start();
  if (end == 0) return;
  if (none_) {
    none_->factor(a, ipiv_, info_);
    return;
  }
  // P A(:, 0:64) = L U
  const std::size_t first = std::min(kPanel, resident);
  if (first > 0) update_and_factor(a, {0, first}, first, {}, {});
  // The panel's work-groups would take several times as long for the products of a whole block. A
  // tile for each multiprocessor.
  const std::size_t first_tiles = splits_own() ? context_.device().compute_units : 0;
  const LuPlan plan = {m, n, resident, kPanel, shape_.nb, shape_.pivot != Pivot::none, first_tiles};
  std::size_t part = 0, left = 0;  // and the first column of this part
  for (const LuStep& step : lu_schedule(plan)) {
    if (step.block_ends) split_ = {};  // all columns have the updates of the block before
    const std::size_t after = step.panel_end;
    exchange_and_solve(a, step.panel, left, step.solve_end, step.exchange_end);
    if (part + 1 < parts.ends.size() && after == parts.ends[part]) {
      left = parts.ends[part++];
      parts.enqueued();
    }
    if (step.block_ends && step.solve_end < n) {
      const Triangle l = {a, false, true};
      const std::size_t width = after - step.block;
      if (splits_own() && has_rows_by_halves(width)) {
        split_triangle("interchange", l, step.block, width);
        compute_rows_by_halves("interchange", l, step.block, width, {a, after, n - after});
      } else {
        compute_rows_of_u("interchange", l, step.block, width, {a, after, n - after});
      }
    }
    if (step.block_ends && after < end) split_operands(a, step.block, after);
    if (!step.first.empty()) subtract_halves(a, step.first, split_);
    if (step.next_width > 0) {
      update_and_factor(a, step.next, step.next_width, step.near, step.far);
    } else if (!step.near.empty()) {
      run_update(a, {}, 0, 0, step.near, {});
      context_.timeline().add_bytes(2 * kTile * kTile * tiles(step.near) *
                                    element_size(shape_.precision));
    }
    context_.checkpoint();
  }
  if (resident < end) resident_->factor(a, resident, ipiv_, info_);
}

void BlockedGpu::prepare_update(const Triangle& l, std::size_t k, std::size_t width) {
  const std::size_t row = k + width - l.top, column = k - l.left;
  if (kernels_.halves == 0 || row == l.of.rows()) return;
  split_block block = room_;
  block.row = to_int(row);
  split(l.of, l.of.rows(), 0, column, column + width, block);
  if (has_rows_by_halves(width)) split_triangle("solve", l, k, width);
}

void BlockedGpu::update_columns(const Triangle& l, std::size_t k, std::size_t width,
                                std::span<const Columns> columns) {
  if (kernels_.halves == 0 || k + width - l.top == l.of.rows()) {
    return Blocked::update_columns(l, k, width, columns);
  }
  for (const Columns& a : columns) update_by_halves(l, k, width, a);
}

// With L in halves already.
void BlockedGpu::update_by_halves(const Triangle& l, std::size_t k, std::size_t width,
                                  const Columns& a) {
  if (has_rows_by_halves(width)) {
    compute_rows_by_halves("solve", l, k, width, a);
  } else {
    solve_diagonal(l, k, width, a);
  }
  const std::size_t below = k + width, end = a.first + a.count;
  for (std::size_t first = a.first; first < end; first += kColumnsAtOnce) {
    const std::size_t last = std::min(first + kColumnsAtOnce, end);
    split_block block = room_;
    block.column = to_int(first);
    split(a.of, 0, last, k, below, block);
    block.row = to_int(below);
    subtract_halves(a.of, {first, last, k, below}, block);
  }
}

void BlockedGpu::subtract_halves(const Surface& a, const LuUpdate& of, const split_block& block) {
  KernelId subtract = halves_kernel("nvidia/subtract_halves.cl", "subtract_halves");
  subtract.patch = Patch{WGMMA_PLACEHOLDER_BYTES, HALVES_LOCAL_BYTES, 2};
  const std::size_t rows = a.rows() - of.k_end, columns = of.column_end - of.column;
  context_.run("update", subtract, {ceiling(rows, kTile) * ceiling(columns, kTile) * kItems}, a,
               to_int(of.k_end), to_int(a.rows()), to_int(of.column), to_int(of.column_end),
               to_int((of.k_end - of.k) / kChunk), block, halves_);
  context_.timeline().add_bytes(2 * rows * columns * sizeof(cl_float));
}

// In the launches of the panel's parts, which leave most of the device idle.
void BlockedGpu::factor_beside(Surface& a, const Triangle& l, std::size_t k, std::size_t width,
                               std::span<const Columns> others) {
  const bool by_tiles = std::ranges::all_of(
      others, [&](const Columns& x) { return width % kPanel == 0 && x.first % 16 == 0; });
  if (!by_tiles) return Blocked::factor_beside(a, l, k, width, others);
  const struct Emptied {
    std::deque<Beside>& list;
    ~Emptied() { list.clear(); }
  } emptied{beside_};  // whatever fails
  for (const Columns& x : others) {
    solve_diagonal(l, k, width, x);
    const std::size_t below = x.of.rows() - k - width;
    const std::size_t tiles = ceiling(below, kTile) * ceiling(x.count, kTile);
    if (tiles > 0) beside_.push_back({l, x, k, k + width, tiles});
  }
  launches_ = ceiling(std::min(a.rows(), a.columns()), kPanel);
  factor(a);
  launches_ = 0;
  while (!beside_.empty()) run_update(a, {}, 0, 0, {}, {});
}

std::size_t BlockedGpu::solve_block_size() const {
  return kPanel;
}

// In double two work-groups then share a multiprocessor. compute_rows() takes a strip of columns
// one row of tiles after the other: it is sooner done with a narrow one.
bool BlockedGpu::has_narrow_tiles(const std::string& function) const {
  const bool rows = function == "compute_rows", products = function == "subtract_block";
  if (shape_.precision == Precision::double_precision) {
    return kernels_.nvidia && (rows || products);
  }
  return kernels_.wgmma && rows;
}

std::pair<std::size_t, std::size_t> BlockedGpu::tile_of(const std::string& function) const {
  return has_narrow_tiles(function) ? std::pair(kTile / 2, kItems / 2) : std::pair(kTile, kItems);
}

void BlockedGpu::solve_diagonal(const Triangle& t, std::size_t k, std::size_t width,
                                const Columns& x) {
  if (t.upper || !t.unit) return Blocked::solve_diagonal(t, k, width, x);
  compute_rows_of_u("solve", t, k, width, x);
}

void BlockedGpu::compute_rows_of_u(const char* phase, const Triangle& l, std::size_t k,
                                   std::size_t width, const Columns& a) {
  if (width <= kPanel || width % kPanel != 0 || a.first % 16 != 0) {
    return Blocked::solve_diagonal(l, k, width, a);
  }
  invert_blocks(phase, l, k, width, safe_);
  const auto [columns, items] = tile_of("compute_rows");
  context_.run(phase, kernel("gpu/rows_of_u.cl", "compute_rows"),
               {ceiling(a.count, columns) * items}, l.of, to_int(l.top), to_int(l.left), a.of,
               to_int(a.first), to_int(a.count), to_int(k), to_int(width), inverses_, safe_);
  context_.timeline().add_bytes(4 * width * a.count * element_size(shape_.precision));
}

void BlockedGpu::make_room(cl::Buffer& buffer, std::size_t bytes) {
  if (buffer() == nullptr || buffer.getInfo<CL_MEM_SIZE>() < bytes)
    buffer = context_.allocate(bytes);
}

void BlockedGpu::invert_blocks(const char* phase, const Triangle& l, std::size_t k,
                               std::size_t width, cl::Buffer& safe) {
  const std::size_t blocks = ceiling(width, kTile);
  make_room(inverses_, blocks * kTile * kTile * element_size(shape_.precision));
  make_room(safe, 2 * blocks * sizeof(cl_int));
  context_.run(phase, kernel("gpu/rows_of_u.cl", "invert_blocks"), {2 * blocks * kItems}, l.of,
               to_int(l.top), to_int(l.left), to_int(k), to_int(width), inverses_, safe);
}

bool BlockedGpu::has_rows_by_halves(std::size_t width) const {
  return kernels_.halves > 0 && width > kPanel && width % kPanel == 0 &&
         width <= ROWS_BY_HALVES_BLOCKS * kTile;
}

KernelId BlockedGpu::rows_by_halves_kernel(const char* function) const {
  KernelId id = halves_kernel("nvidia/rows_by_halves.cl", function);
  id.patch = Patch{WGMMA_PLACEHOLDER_BYTES, ROWS_BY_HALVES_LOCAL_BYTES, 2};
  return id;
}

void BlockedGpu::split_triangle(const char* phase, const Triangle& l, std::size_t k,
                                std::size_t width) {
  invert_blocks(phase, l, k, width, triangle_safe_);
  const std::size_t blocks = ceiling(width, kTile);
  make_room(triangle_, triangle_bytes(blocks, kernels_.halves));
  context_.run(phase, rows_by_halves_kernel("split_triangle"),
               {blocks * kTile / kRowsSplit * kItems}, l.of, to_int(l.top), to_int(l.left),
               to_int(k), to_int(width), inverses_, triangle_safe_, triangle_);
}

// In launches of as many columns as there is room for, or nearly.
void BlockedGpu::compute_rows_by_halves(const char* phase, const Triangle& l, std::size_t k,
                                        std::size_t width, const Columns& a) {
  if (a.count == 0) return;
  const std::size_t room = static_cast<std::size_t>(room_.columns) - kTile;
  const std::size_t launches = ceiling(a.count, room), end = a.first + a.count;
  const std::size_t columns = ceiling(a.count, launches * kStripColumns) * kStripColumns;
  for (std::size_t first = a.first; first < end; first += columns) {
    const std::size_t count = std::min(columns, end - first);
    context_.run(phase, rows_by_halves_kernel("compute_rows_by_halves"),
                 {ceiling(count, kStripColumns) * kItems}, l.of, to_int(l.top), to_int(l.left),
                 a.of, to_int(first), to_int(count), to_int(k), to_int(width), triangle_,
                 triangle_safe_, room_, halves_);
  }
  context_.timeline().add_bytes(
      2 * width * a.count *
      (sizeof(cl_float) + static_cast<std::size_t>(kernels_.halves) * sizeof(cl_half)));
}

void BlockedGpu::solve_block(const Triangle& t, const Columns& x, std::size_t first,
                             std::size_t rows) {
  context_.run("solve", kernel("gpu/solve.cl", "solve_block"), {ceiling(x.count, kPanel) * kItems},
               t.of, to_int(t.top), to_int(t.left), x.of, to_int(x.first), to_int(x.count),
               to_int(first), to_int(rows), to_int(t.upper), to_int(t.unit));
}

void BlockedGpu::subtract_block(const Triangle& t, const Columns& x, std::size_t k,
                                std::size_t rows, std::size_t first, std::size_t last) {
  const auto [columns, items] = tile_of("subtract_block");
  context_.run("solve", kernel("gpu/solve.cl", "subtract_block"),
               {ceiling(last - first, kTile) * ceiling(x.count, columns) * items}, t.of,
               to_int(t.top), to_int(t.left), x.of, to_int(x.first), to_int(x.count), to_int(k),
               to_int(rows), to_int(first), to_int(last));
}

void BlockedGpu::solve_triangle(const Triangle& t, Surface& x) {
  if (!solves_in_one_launch(x.columns())) return Blocked::solve_triangle(t, x);
  solve_waiting(t, 0, shape_.n, x);
}

void BlockedGpu::solve_diagonal_for_few(const Triangle& t, std::size_t k, std::size_t width,
                                        Surface& x) {
  if (!solves_in_one_launch(x.columns())) return Blocked::solve_diagonal_for_few(t, k, width, x);
  solve_waiting(t, k, width, x);
}

bool BlockedGpu::solves_in_one_launch(std::size_t columns) const {
  return columns <= kFewColumns && kernels_.waiting;
}

// X(k:k+n, :) = inv(T(k:k+n, k:k+n)) X(k:k+n, :), by work-groups that wait for one another.
void BlockedGpu::solve_waiting(const Triangle& t, std::size_t k, std::size_t n, Surface& x) {
  const std::size_t columns = x.columns();
  if (messages_for_ != std::pair(n, columns)) {
    const std::size_t bytes = 2 * n * columns * element_size(shape_.precision);
    messages_for_ = {0, 0};
    messages_ = context_.allocate(bytes);
    context_.fill(messages_, 0xff, bytes);
    messages_for_ = {n, columns};
    half_ = 0;
  }
  context_.run("solve", kernel("gpu/solve.cl", "solve_waiting"),
               {ceiling(n, kPanel) * columns * kItems}, t.of, to_int(t.top), to_int(t.left), x,
               to_int(k), to_int(n), to_int(columns), to_int(t.upper), to_int(t.unit), messages_,
               half_);
  half_ = 1 - half_;
}

}  // namespace lugpu

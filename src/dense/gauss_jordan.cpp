#include "dense/gauss_jordan.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "dense/permutation.hpp"
#include "dense/substitution.hpp"

namespace lugpu {
namespace {

Surface make_surface(DeviceContext& context, const Size& size, const DenseOptions& options) {
  return Surface(context, size.n, size.n + size.nrhs, options.precision, options.storage,
                 options.texel);
}

bool fits(const Device& device, const Size& size, const DenseOptions& options) {
  try {
    GaussJordan::require_room(device, size, options);
    return true;
  } catch (const Unsupported&) {
    return false;
  }
}

// What the device has besides a system that is there.
Device beside(Device device, const Size& size, const DenseOptions& options) {
  const std::uint64_t pitch =
      Surface::pitch_of(size.n + size.nrhs, options.precision, options.storage);
  const std::uint64_t surfaces = 2 * size.n * pitch * element_size(options.precision);
  device.global_memory -= std::min(surfaces, device.global_memory);
  return device;
}

// The columns first : first + count of the identity.
Matrix identity_columns(std::size_t n, std::size_t first, std::size_t count) {
  Matrix columns(n, count);
  for (std::size_t j = 0; j < count; ++j) columns(first + j, j) = 1;
  return columns;
}

}  // namespace

// Two surfaces, A on its way, the reduced B, X.
void GaussJordan::require_room(const Device& device, const Size& size,
                               const DenseOptions& options) {
  const std::size_t columns = size.n + size.nrhs;
  const std::uint64_t other = piece_bytes(size.n, columns, options.precision) +
                              3 * size.n * size.nrhs * element_size(options.precision) +
                              Pivoting::workspace(size, options);
  require_fits(device, size.n, columns, options.precision, options.storage, 2, other,
               options.texel);
}

GaussJordan::GaussJordan(DeviceContext& context, const Size& size, const DenseOptions& options)
    : DenseFactorization((require_room(context.device(), size, options), context), size, options),
      ab_{make_surface(context, size, options), make_surface(context, size, options)},
      pivoting_(context, size, options) {
  if (options.schedule == Schedule::fused) {
    fused_.emplace(context, size, options, size.n + size.nrhs, Elimination::gauss_jordan);
  }
}

void GaussJordan::take_columns(const cl::Buffer& columns, std::size_t first, std::size_t count) {
  import_columns(context_, columns, count, ab_.src, first);
}

void GaussJordan::factor() {
  if (fused_) {
    fused_->factor(ab_, pivoting_);
    return;
  }
  for (std::size_t k = 0; k < size_.n; ++k) {
    // The columns before k are the identity's and the same in both rows.
    pivoting_.step(ab_, k, k, ab_.src.columns());
    step(k);
    context_.checkpoint();
  }
  context_.queue().finish();
}

// Algorithm 1, step k.
void GaussJordan::step(std::size_t k) {
  const std::size_t n = size_.n;
  const std::size_t columns = ab_.src.columns();
  const std::size_t first = k == 0 ? 0 : k - 1;
  const cl_int row = static_cast<cl_int>(k);
  const cl_int end = static_cast<cl_int>(columns);
  // (1) dst(k, k:end) = src(k, k:end) / src(k, k)
  const std::size_t row_texels = ab_.src.texels(k, columns);
  context_.run("panel", ab_.src.kernel("dense/passes.cl", "normalize_row"), {row_texels}, ab_.src,
               ab_.dst, pivoting_.values(), row, end);
  // (2) src(k, k:end) = dst(k, k:end)
  context_.run("panel", ab_.src.kernel("dense/passes.cl", "copy_row"), {row_texels}, ab_.dst,
               ab_.src, row, row, end);
  // (3) dst(i, k-1:end) = src(i, k-1:end) - src(i, k) src(k, k-1:end) for every row i != k
  const std::size_t texels = ab_.src.texels(first, columns);
  context_.run("update", ab_.src.kernel("dense/passes.cl", "eliminate_column"), {texels, n},
               ab_.src, ab_.dst, row, static_cast<cl_int>(first), static_cast<cl_int>(n), end);
  // Loads and stores: normalization 2 texels and the pivot, copy 2, elimination 3 and the
  // multiplier.
  const std::uint64_t pack = ab_.src.pack();
  context_.timeline().add_bytes(((4 * pack + 1) * row_texels + (3 * pack + 1) * n * texels) *
                                element_size(options_.precision));
  ab_.swap();
}

const cl::Buffer& GaussJordan::solve() {
  const Outcome pivots = outcome();
  solved_ = export_columns(context_, ab_.src, size_.n, size_.nrhs);
  if (!pivots.jpiv.empty()) {
    cl::Buffer x = context_.allocate(size_.n * size_.nrhs * element());
    gather_rows(context_, solved_, x, inverse_permutation(permutation_of(pivots.jpiv, size_.n)),
                size_.nrhs, options_.precision);
    solved_ = std::move(x);
  }
  context_.queue().finish();
  return solved_;
}

cl::Buffer GaussJordan::apply_inverse(const cl::Buffer&, std::size_t, Op) {
  throw Unsupported("gauss-jordan keeps no factors to solve with again", {"method", "lu"});
}

cl::Buffer GaussJordan::factors(std::size_t, std::size_t) {
  throw Unsupported("gauss-jordan keeps no factors", {"method", "lu"});
}

Matrix GaussJordan::inverse(const MatrixView& a) {
  const std::size_t n = size_.n;
  const Device rest = beside(context_.device(), size_, options_);
  std::size_t width = n;
  while (width > 1 && !fits(rest, Size::square(n, width), options_)) width = (width + 1) / 2;
  require_room(rest, Size::square(n, width), options_);
  Matrix inverse(n, n);
  for (std::size_t first = 0; first < n; first += width) {
    const std::size_t count = std::min(width, n - first);
    GaussJordan columns(context_, Size::square(n, count), options_);
    columns.upload(a, identity_columns(n, first, count));
    columns.factor();
    columns.solve();
    columns.download(inverse.view().part(first, count));
  }
  return inverse;
}

}  // namespace lugpu

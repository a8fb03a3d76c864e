#include "dense/gauss_jordan.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "dense/substitution.hpp"

namespace lugpu {
namespace {

Surface make_surface(DeviceContext& context, const Problem& problem) {
  return Surface(context, problem.n, problem.n + problem.nrhs, problem.precision, problem.storage,
                 problem.texel);
}

bool fits(const Device& device, const Problem& problem) {
  try {
    GaussJordan::require_room(device, problem);
    return true;
  } catch (const Unsupported&) {
    return false;
  }
}

// The columns first : first + count of the identity.
Matrix identity_columns(std::size_t n, std::size_t first, std::size_t count) {
  Matrix columns(n, count);
  for (std::size_t j = 0; j < count; ++j) columns(first + j, j) = 1;
  return columns;
}

}  // namespace

// Two surfaces, [A | B] as uploaded and its parts before that, the reduced B, X.
void GaussJordan::require_room(const Device& device, const Problem& problem) {
  if (problem.pivot == Pivot::rook) {
    throw Unsupported("gauss-jordan has no rook pivoting; use --method lu.");
  }
  const std::uint64_t elements = 2 * problem.n * problem.n + 4 * problem.n * problem.nrhs;
  require_fits(device, problem.n, problem.n + problem.nrhs, problem.precision, problem.storage, 2,
               elements * element_size(problem.precision) + Pivoting::workspace(problem),
               problem.texel);
}

GaussJordan::GaussJordan(DeviceContext& context, const Problem& problem)
    : context_(context),
      problem_((require_room(context.device(), problem), problem)),
      ab_{make_surface(context, problem_), make_surface(context, problem_)},
      pivoting_(context, problem),
      x_(context.allocate(problem.n * problem.nrhs * element_size(problem.precision))) {
  if (problem.schedule == Schedule::fused) {
    fused_.emplace(context, problem, problem.n + problem.nrhs, Elimination::gauss_jordan);
  }
}

void GaussJordan::upload(const Matrix& a, const Matrix& b) {
  join(lugpu::upload(context_, a, problem_.precision),
       lugpu::upload(context_, b, problem_.precision));
  reset();
}

// host_ab_ = [a | b]; a may be followed by more than A.
void GaussJordan::join(const cl::Buffer& a, const cl::Buffer& b) {
  const std::size_t a_bytes = problem_.n * problem_.n * element_size(problem_.precision);
  const std::size_t b_bytes = problem_.n * problem_.nrhs * element_size(problem_.precision);
  host_ab_ = context_.allocate(a_bytes + b_bytes);
  if (a_bytes > 0) context_.queue().enqueueCopyBuffer(a, host_ab_, 0, 0, a_bytes);
  if (b_bytes > 0) context_.queue().enqueueCopyBuffer(b, host_ab_, 0, a_bytes, b_bytes);
}

void GaussJordan::reset() {
  import_columns(context_, host_ab_, ab_.src.columns(), ab_.src, 0);
  context_.queue().finish();
}

void GaussJordan::factor() {
  if (fused_) {
    fused_->factor(ab_, pivoting_);
    return;
  }
  for (std::size_t k = 0; k < problem_.n; ++k) {
    // The columns before k are the identity's and the same in both rows.
    pivoting_.step(ab_, k, k, ab_.src.columns());
    step(k);
    context_.checkpoint();
  }
  context_.queue().finish();
}

// Algorithm 1, step k.
void GaussJordan::step(std::size_t k) {
  const std::size_t n = problem_.n;
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
                                element_size(problem_.precision));
  ab_.swap();
}

void GaussJordan::solve() {
  const Outcome pivots = outcome();
  const cl::Buffer reduced = export_columns(context_, ab_.src, problem_.n, problem_.nrhs);
  if (pivots.jpiv.empty()) {
    x_ = reduced;
  } else {
    gather_rows(context_, reduced, x_, inverse_permutation(permutation_of(pivots.jpiv)),
                problem_.nrhs, problem_.precision);
  }
  context_.queue().finish();
}

Matrix GaussJordan::download() {
  return lugpu::download(context_, x_, problem_.n, problem_.nrhs, problem_.precision);
}

std::optional<Matrix> GaussJordan::inverse() {
  const std::size_t n = problem_.n;
  std::size_t width = n;
  Problem part = problem_;
  for (part.nrhs = width; width > 1 && !fits(context_.device(), part); part.nrhs = width) {
    width = (width + 1) / 2;
  }
  Matrix inverse(n, n);
  for (std::size_t first = 0; first < n; first += width) {
    part.nrhs = std::min(width, n - first);
    GaussJordan columns(context_, part);
    columns.join(host_ab_,
                 lugpu::upload(context_, identity_columns(n, first, part.nrhs), part.precision));
    columns.reset();
    columns.factor();
    columns.solve();
    const Matrix x = columns.download();
    std::copy(x.values().begin(), x.values().end(), inverse.column(first));
  }
  return inverse;
}

}  // namespace lugpu

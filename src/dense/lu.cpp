#include "dense/lu.hpp"

#include <numeric>

#include "dense/substitution.hpp"

namespace lugpu {
namespace {

Surface make_surface(DeviceContext& context, const Problem& problem) {
  return Surface(context, problem.n, problem.n, problem.precision, problem.storage, problem.texel);
}

std::vector<int> identity(std::size_t n) {
  std::vector<int> p(n);
  std::iota(p.begin(), p.end(), 0);
  return p;
}

}  // namespace

// Two surfaces, A as uploaded, and B, Y, X.
void Lu::require_room(const Device& device, const Problem& problem) {
  const std::uint64_t elements = problem.n * (problem.n + 3 * problem.nrhs);
  require_fits(device, problem.n, problem.n, problem.precision, problem.storage, 2,
               elements * element_size(problem.precision) + Pivoting::workspace(problem) +
                   FullPivoting::workspace(problem),
               problem.texel);
}

Lu::Lu(DeviceContext& context, const Problem& problem)
    : context_(context),
      problem_((require_room(context.device(), problem), problem)),
      a_{make_surface(context, problem_), make_surface(context, problem_)},
      pivoting_(context, problem) {
  const std::size_t bytes = problem.n * problem.nrhs * element_size(problem.precision);
  if (problem.schedule == Schedule::fused) {
    if (problem.pivot == Pivot::full) {
      full_.emplace(context, problem);
    } else {
      fused_.emplace(context, problem, problem.n, Elimination::lu);
    }
  }
  y_ = context.allocate(bytes);
  x_ = context.allocate(bytes);
}

void Lu::upload(const Matrix& a, const Matrix& b) {
  host_a_ = lugpu::upload(context_, a, problem_.precision);
  host_b_ = lugpu::upload(context_, b, problem_.precision);
  reset();
}

void Lu::reset() {
  import_columns(context_, host_a_, problem_.n, a_.src, 0);
  context_.queue().finish();
}

void Lu::factor() {
  if (full_) return full_->factor(a_, pivoting_);
  if (fused_) return fused_->factor(a_, pivoting_);
  for (std::size_t k = 0; k < problem_.n; ++k) {
    pivoting_.step(a_, k, 0, problem_.n);
    step(k);
    context_.checkpoint();
  }
  context_.queue().finish();
}

// Algorithm 3, step k. The last step, k = n-1, has no trailing matrix: it brings the last pivot to
// both surfaces.
void Lu::step(std::size_t k) {
  const std::size_t n = problem_.n;
  const cl_int column = static_cast<cl_int>(k);
  const cl_int end = static_cast<cl_int>(n);
  // (1) dst(k, k:n) = src(k, k:n)
  const std::size_t row_texels = a_.src.texels(k, n);
  context_.run("panel", a_.src.kernel("dense/passes.cl", "copy_row"), {row_texels}, a_.src, a_.dst,
               column, column, end);
  // (2) dst(k+1:n, k) = src(k+1:n, k) / src(k, k)
  context_.run("panel", a_.src.kernel("dense/passes.cl", "normalize_column"), {n - k}, a_.src,
               a_.dst, pivoting_.values(), column, end);
  // (3) src(k+1:n, k) = dst(k+1:n, k)
  context_.run("panel", a_.src.kernel("dense/passes.cl", "copy_column"), {n - k}, a_.dst, a_.src,
               column, column, end);
  // (4) dst(k+1:n, k+1:n) = src(k+1:n, k+1:n) - src(k+1:n, k) src(k, k+1:n)
  const std::size_t trailing_texels = a_.src.texels(k + 1, n);
  context_.run("update", a_.src.kernel("dense/passes.cl", "update_trailing"),
               {trailing_texels, n - k - 1}, a_.src, a_.dst, column, end);
  // Loads and stores: copies 2 texels, normalization 2 and the pivot, update 3 and the multiplier.
  const std::uint64_t m = n - k;
  const std::uint64_t pack = a_.src.pack();
  context_.timeline().add_bytes((2 * pack * row_texels + (2 * pack + 1) * m + 2 * pack * m +
                                 (3 * pack + 1) * (m - 1) * trailing_texels) *
                                element_size(problem_.precision));
  a_.swap();
}

void Lu::solve() {
  const std::size_t n = problem_.n;
  const Outcome pivots = outcome();
  // L U (inv(Q) X) = P B
  const std::vector<int> rows = pivots.ipiv.empty() ? identity(n) : permutation_of(pivots.ipiv);
  gather_rows(context_, host_b_, y_, rows, problem_.nrhs, problem_.precision);
  forward_substitution(context_, a_.src, y_, problem_.nrhs);
  back_substitution(context_, a_.src, y_, problem_.nrhs);
  const std::vector<int> columns = pivots.jpiv.empty() ? identity(n) : permutation_of(pivots.jpiv);
  gather_rows(context_, y_, x_, inverse_permutation(columns), problem_.nrhs, problem_.precision);
  context_.queue().finish();
}

Matrix Lu::download() {
  return lugpu::download(context_, x_, problem_.n, problem_.nrhs, problem_.precision);
}

// P A Q = L U, so that inv(A) = Q inv(U) inv(L) P and inv(A') = P' inv(L') inv(U') Q'.
void Lu::apply_inverse(Matrix& x, Op op) {
  const Outcome pivots = outcome();
  const std::vector<int> p = permutation_of(pivots.ipiv), q = permutation_of(pivots.jpiv);
  const std::vector<int>& before = op == Op::none ? p : q;
  const std::vector<int>& after = op == Op::none ? q : p;
  if (!before.empty()) permute_rows(x, before);
  const cl::Buffer y = lugpu::upload(context_, x, problem_.precision);
  forward_substitution(context_, a_.src, y, x.cols(), op);
  back_substitution(context_, a_.src, y, x.cols(), op);
  x = lugpu::download(context_, y, x.rows(), x.cols(), problem_.precision);
  if (!after.empty()) permute_rows(x, inverse_permutation(after));
}

std::optional<Matrix> Lu::lu() {
  const cl::Buffer lu = export_columns(context_, a_.src, 0, problem_.n);
  return lugpu::download(context_, lu, problem_.n, problem_.n, problem_.precision);
}

}  // namespace lugpu

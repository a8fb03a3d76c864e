#include "dense/lu_blocked.hpp"

#include <numeric>

#include "base/error.hpp"
#include "dense/substitution.hpp"

namespace lugpu {
namespace {

Shape shape_of(const Problem& problem) {
  Shape shape = {problem.n, problem.n, problem.pivot, problem.precision, problem.nb};
  shape.ping_pong = problem.storage == Storage::image;
  return shape;
}

PingPong make_images(DeviceContext& context, const Problem& problem) {
  const auto make = [&] {
    return Surface(context, problem.n, problem.n, problem.precision, Storage::image, problem.texel);
  };
  return {make(), make()};
}

}  // namespace

// L and U, or A in place; A as uploaded, the transposed factors, and B, P B, X twice, padded. Two
// images.
void LuBlocked::require_room(const Device& device, const Problem& problem) {
  if (problem.storage == Storage::buffer && problem.texel == Texel::rgba) {
    throw Unsupported("lu-blocked works in place on single elements of buffers; use --texel r.");
  }
  if (exchanges_columns(problem.pivot)) {
    throw Unsupported(std::string("lu-blocked has no ") + name(problem.pivot) +
                      " pivoting; use --method lu.");
  }
  const std::size_t n = problem.n;
  const std::uint64_t size = element_size(problem.precision);
  const std::uint64_t other =
      n * (2 * n + 4 * (problem.nrhs + 32)) * size + Blocked::workspace(device, shape_of(problem));
  require_fits(device, n, n, problem.precision, Storage::buffer, 1, other);
  if (problem.storage == Storage::buffer) return;
  const std::uint64_t lu = n * (n + 64) * size;
  require_fits(device, n, n, problem.precision, Storage::image, 2, lu + other, problem.texel);
}

LuBlocked::LuBlocked(DeviceContext& context, const Problem& problem)
    : context_(context),
      problem_((require_room(context.device(), problem), problem)),
      lu_(context, problem.n, problem.n, problem.precision, Storage::buffer),
      blocked_(Blocked::make(context, shape_of(problem))),
      x_(context, problem.n, problem.nrhs, problem.precision, Storage::buffer),
      pb_(context.allocate(problem.n * problem.nrhs * element_size(problem.precision))) {
  if (problem.storage == Storage::image) images_ = make_images(context, problem);
  fill(context, x_, 0);
}

std::size_t LuBlocked::block_size(const Device& device, const Problem& problem) {
  return Blocked::block_size(device, shape_of(problem));
}

void LuBlocked::upload(const Matrix& a, const Matrix& b) {
  host_a_ = lugpu::upload(context_, a, problem_.precision);
  host_b_ = lugpu::upload(context_, b, problem_.precision);
  reset();
}

void LuBlocked::reset() {
  import_columns(context_, host_a_, problem_.n, images_ ? images_->src : lu_, 0);
  context_.queue().finish();
}

void LuBlocked::factor() {
  if (images_) {
    blocked_->factor(*images_, lu_);
  } else {
    blocked_->factor(lu_);
  }
  context_.queue().finish();
}

Outcome LuBlocked::outcome() {
  Outcome outcome;
  cl_int info = 0;
  context_.read_back("outcome", blocked_->info(), 0, sizeof info, &info);
  outcome.info = info;
  outcome.pivots = export_diagonal(context_, lu_);
  outcome.ipiv = ipiv("outcome");
  return outcome;
}

std::vector<int> LuBlocked::ipiv(const char* phase) {
  std::vector<int> ipiv;
  if (problem_.pivot == Pivot::none || problem_.n == 0) return ipiv;
  ipiv.resize(problem_.n);
  context_.read_back(phase, blocked_->ipiv(), 0, problem_.n * sizeof(cl_int), ipiv.data());
  for (int& row : ipiv) ++row;
  return ipiv;
}

std::vector<int> LuBlocked::row_order() {
  std::vector<int> rows(problem_.n);
  std::iota(rows.begin(), rows.end(), 0);
  const std::vector<int> pivots = ipiv("solve");
  return pivots.empty() ? rows : permutation_of(pivots);
}

void LuBlocked::solve() {
  gather_rows(context_, host_b_, pb_, row_order(), problem_.nrhs, problem_.precision);
  import_columns(context_, pb_, problem_.nrhs, x_, 0);
  blocked_->solve(lu_, x_);
  context_.queue().finish();
}

Matrix LuBlocked::download() {
  const cl::Buffer x = export_columns(context_, x_, 0, problem_.nrhs);
  return lugpu::download(context_, x, problem_.n, problem_.nrhs, problem_.precision);
}

// P A = L U, so that inv(A) = inv(L U) P and inv(A') = P' inv((L U)').
void LuBlocked::apply_inverse(Matrix& x, Op op) {
  const std::vector<int> rows = row_order();
  if (op == Op::none) permute_rows(x, rows);
  if (!columns_ || columns_->columns() != x.cols()) {
    columns_.emplace(context_, x.rows(), x.cols(), problem_.precision, Storage::buffer);
    fill(context_, *columns_, 0);
  }
  import_columns(context_, lugpu::upload(context_, x, problem_.precision), x.cols(), *columns_, 0);
  blocked_->solve(lu_, *columns_, op);
  const cl::Buffer columns = export_columns(context_, *columns_, 0, x.cols());
  x = lugpu::download(context_, columns, x.rows(), x.cols(), problem_.precision);
  if (op == Op::transpose) permute_rows(x, inverse_permutation(rows));
}

std::optional<Matrix> LuBlocked::lu() {
  const cl::Buffer lu = export_columns(context_, lu_, 0, problem_.n);
  return lugpu::download(context_, lu, problem_.n, problem_.n, problem_.precision);
}

std::uint64_t LuBlocked::multiply() {
  if (images_) return 0;
  const std::uint64_t multiply_adds = blocked_->multiply(lu_);
  context_.queue().finish();
  return multiply_adds;
}

}  // namespace lugpu

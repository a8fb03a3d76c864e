#include "solvers/lu_blocked.hpp"

#include <numeric>

#include "error.hpp"
#include "solvers/substitution.hpp"

namespace lugpu {
namespace {

Shape shape_of(const Problem& problem) {
  return {problem.n, problem.n, problem.pivot, problem.precision, problem.nb};
}

}  // namespace

// A, A as uploaded, and B, P B, X, padded.
void LuBlocked::require_room(const Device& device, const Problem& problem) {
  if (problem.storage == Storage::image || problem.texel == Texel::rgba) {
    throw Unsupported(
        "lu-blocked works in place on single elements of buffers; use --storage buffer --texel r.");
  }
  const std::uint64_t elements = problem.n * (problem.n + 3 * (problem.nrhs + 32));
  require_fits(device, problem.n, problem.n, problem.precision, problem.storage, 1,
               elements * element_size(problem.precision) + Blocked::workspace(shape_of(problem)));
}

LuBlocked::LuBlocked(DeviceContext& context, const Problem& problem)
    : context_(context),
      problem_((require_room(context.device(), problem), problem)),
      a_(context, problem.n, problem.n, problem.precision, problem.storage, problem.texel),
      blocked_(Blocked::make(context, shape_of(problem))),
      x_(context, problem.n, problem.nrhs, problem.precision, Storage::buffer),
      pb_(context.allocate(problem.n * problem.nrhs * element_size(problem.precision))) {
  fill(context, x_, 0);
}

std::size_t LuBlocked::block_size(const Device& device, const Problem& problem) {
  return Blocked::block_size(device, problem.n);
}

void LuBlocked::upload(const Matrix& a, const Matrix& b) {
  host_a_ = lugpu::upload(context_, a, problem_.precision);
  host_b_ = lugpu::upload(context_, b, problem_.precision);
  reset();
}

void LuBlocked::reset() {
  import_columns(context_, host_a_, problem_.n, a_, 0);
  context_.queue().finish();
}

void LuBlocked::factor() {
  blocked_->factor(a_);
  context_.queue().finish();
}

Outcome LuBlocked::outcome() {
  Outcome outcome;
  cl_int info = 0;
  context_.read_back("outcome", blocked_->info(), 0, sizeof info, &info);
  outcome.info = info;
  outcome.pivots = export_diagonal(context_, a_);
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

void LuBlocked::solve() {
  const std::size_t n = problem_.n;
  const std::vector<int> pivots = ipiv("solve");
  std::vector<int> rows(n);
  std::iota(rows.begin(), rows.end(), 0);
  if (!pivots.empty()) rows = permutation_of(pivots);
  gather_rows(context_, host_b_, pb_, rows, problem_.nrhs, problem_.precision);
  import_columns(context_, pb_, problem_.nrhs, x_, 0);
  blocked_->solve(a_, x_);
  context_.queue().finish();
}

Matrix LuBlocked::download() {
  const cl::Buffer x = export_columns(context_, x_, 0, problem_.nrhs);
  return lugpu::download(context_, x, problem_.n, problem_.nrhs, problem_.precision);
}

std::optional<Matrix> LuBlocked::lu() {
  const cl::Buffer lu = export_columns(context_, a_, 0, problem_.n);
  return lugpu::download(context_, lu, problem_.n, problem_.n, problem_.precision);
}

}  // namespace lugpu

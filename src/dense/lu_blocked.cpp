#include "dense/lu_blocked.hpp"

#include "base/error.hpp"
#include "dense/permutation.hpp"
#include "dense/pivot_rules.hpp"
#include "dense/substitution.hpp"

namespace lugpu {
namespace {

Shape shape_of(const Size& size, const DenseOptions& options) {
  Shape shape = {size.rows, size.n, options.pivot, options.precision, options.nb};
  shape.ping_pong = options.storage == Storage::image;
  shape.shortcut = options.shortcut;
  return shape;
}

PingPong make_images(DeviceContext& context, const Size& size, const DenseOptions& options) {
  const auto make = [&] {
    return Surface(context, size.n, size.n, options.precision, Storage::image, options.texel);
  };
  return {make(), make()};
}

// Besides L and U: A on its way, and B, P B, X twice, padded.
std::uint64_t other_bytes(const Device& device, const Size& size, const DenseOptions& options) {
  return piece_bytes(size.rows, size.n + size.nrhs, options.precision) +
         size.rows * 4 * (size.nrhs + 32) * element_size(options.precision) +
         Blocked::workspace(device, shape_of(size, options));
}

}  // namespace

// L and U, or A in place. Two images.
void LuBlocked::require_room(const Device& device, const Size& size, const DenseOptions& options) {
  if (options.storage == Storage::buffer && options.texel == Texel::rgba) {
    throw Unsupported("lu-blocked works in place on single elements of buffers", {"texel", "r"});
  }
  const std::uint64_t other = other_bytes(device, size, options);
  require_fits(device, size.rows, size.n, options.precision, Storage::buffer, 1, other);
  if (options.storage == Storage::buffer) return;
  const std::uint64_t lu = size.rows * (size.n + 64) * element_size(options.precision);
  require_fits(device, size.n, size.n, options.precision, Storage::image, 2, lu + other,
               options.texel);
}

LuBlocked::LuBlocked(DeviceContext& context, const Size& size, const DenseOptions& options)
    : DenseFactorization((require_room(context.device(), size, options), context), size, options),
      lu_(context, size.rows, size.n, options.precision, Storage::buffer),
      blocked_(Blocked::make(context, shape_of(size, options))) {
  if (options.storage == Storage::image) images_ = make_images(context, size, options);
}

std::size_t LuBlocked::block_size(const Device& device, const Size& size,
                                  const DenseOptions& options) {
  return Blocked::block_size(device, shape_of(size, options));
}

Shortcut LuBlocked::shortcut(const Device& device, const Size& size, const DenseOptions& options) {
  return Blocked::shortcut(device, shape_of(size, options));
}

void LuBlocked::take_matrix(const cl::Buffer& columns, std::size_t first, std::size_t count) {
  import_columns(context_, columns, count, target(), first);
}

void LuBlocked::take_rows(const cl::Buffer& rows, std::size_t first, std::size_t count) {
  import_rows(context_, rows, count, size_.n, target(), first);
}

void LuBlocked::factor() {
  info_.reset();
  set_ipiv(std::nullopt);
  if (images_) {
    blocked_->factor(*images_, lu_);
  } else {
    blocked_->factor(lu_);
  }
  context_.queue().finish();
}

Outcome LuBlocked::outcome() {
  Outcome outcome;
  outcome.info = info();
  outcome.pivots = export_diagonal(context_, lu_);
  outcome.ipiv = ipiv();
  return outcome;
}

int LuBlocked::info() {
  if (!info_) {
    cl_int info = 0;
    context_.read_back("outcome", blocked_->info(), 0, sizeof info, &info);
    info_ = info;
  }
  return *info_;
}

const std::vector<int>& LuBlocked::ipiv() {
  if (ipiv_) return *ipiv_;
  std::vector<int> rows(exchanges_rows(options_.pivot) ? size_.pivots() : 0);
  if (!rows.empty()) {
    context_.read_back("outcome", blocked_->ipiv(), 0, rows.size() * sizeof(cl_int), rows.data());
  }
  for (int& row : rows) ++row;
  ipiv_ = std::move(rows);
  return *ipiv_;
}

// The orders stay on the device for the solutions to come.
cl::Buffer LuBlocked::permuted(const cl::Buffer& b, Op op, std::size_t columns) {
  cl::Buffer& order = op == Op::none ? order_ : inverse_order_;
  if (!order()) {
    std::vector<int> rows = permutation_of(ipiv(), size_.n);
    if (op == Op::transpose) rows = inverse_permutation(rows);
    const std::size_t bytes = rows.size() * sizeof(cl_int);
    order = context_.allocate(bytes);
    context_.queue().enqueueWriteBuffer(order, CL_TRUE, 0, bytes, rows.data());
  }
  cl::Buffer moved = context_.allocate(size_.n * columns * element());
  gather_rows(context_, b, moved, order, size_.n, columns, options_.precision);
  return moved;
}

void LuBlocked::set_ipiv(std::optional<std::vector<int>> ipiv) {
  ipiv_ = std::move(ipiv);
  order_ = inverse_order_ = cl::Buffer();
}

// P A = L U, so that inv(A) = inv(L U) P and inv(A') = P' inv((L U)').
cl::Buffer LuBlocked::apply_inverse(const cl::Buffer& b, std::size_t columns, Op op) {
  if (op == Op::transpose && !can_transpose()) {
    throw Unsupported("The transposed factors do not fit on " + context_.device().name + ".");
  }
  const bool moves = !ipiv().empty();
  if (!columns_ || columns_->columns() != columns) {
    columns_.emplace(context_, size_.n, columns, options_.precision, Storage::buffer);
    fill(context_, *columns_, 0);
  }
  import_columns(context_, moves && op == Op::none ? permuted(b, op, columns) : b, columns,
                 *columns_, 0);
  blocked_->solve(lu_, *columns_, op);
  cl::Buffer x = export_columns(context_, *columns_, 0, columns);
  return moves && op == Op::transpose ? permuted(x, op, columns) : x;
}

// It is kept beside the factors.
bool LuBlocked::can_transpose() const {
  try {
    require_fits(context_.device(), size_.rows, size_.n, options_.precision, Storage::buffer, 2,
                 other_bytes(context_.device(), size_, options_));
    return true;
  } catch (const Unsupported&) {
    return false;
  }
}

cl::Buffer LuBlocked::factors(std::size_t first, std::size_t count) {
  return export_columns(context_, lu_, first, count);
}

std::uint64_t LuBlocked::multiply() {
  if (images_) return 0;
  const std::uint64_t multiply_adds = blocked_->multiply(lu_);
  context_.queue().finish();
  return multiply_adds;
}

}  // namespace lugpu

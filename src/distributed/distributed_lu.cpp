#include "distributed/distributed_lu.hpp"

#include <map>

#include "base/error.hpp"
#include "dense/permutation.hpp"
#include "dense/substitution.hpp"

namespace lugpu {
namespace {

constexpr std::size_t kMultiple = 64;  // of columns of a block, as the kernels of Blocked have them

Shape panel_shape(const BlockColumns& dealt, const DenseOptions& options) {
  return {dealt.n, std::min(dealt.nb, dealt.n), options.pivot, options.precision};
}

// As many devices as there are block columns.
BlockColumns deal(const Device& device, const Size& size, const DenseOptions& options) {
  BlockColumns dealt = {size.n, options.nb, 1};
  if (dealt.nb == 0) {
    dealt.nb = Blocked::block_size(device, {size.n, size.n, options.pivot, options.precision});
  }
  dealt.devices = std::clamp<std::size_t>(dealt.blocks(), 1, 1 + options.others.size());
  return dealt;
}

std::vector<DeviceContext*> devices_of(DeviceContext& context, const BlockColumns& dealt,
                                       const DenseOptions& options) {
  std::vector<DeviceContext*> devices = {&context};
  devices.insert(devices.end(), options.others.begin(), options.others.end());
  devices.resize(dealt.devices);
  return devices;
}

std::uint64_t panel_bytes(const BlockColumns& dealt, Precision precision) {
  return dealt.n * Surface::pitch_of(dealt.nb, precision, Storage::buffer) *
         element_size(precision);
}

// Besides its columns: two panels, rows that move, columns on their way, X.
std::uint64_t other_bytes(const Device& device, const BlockColumns& dealt, std::size_t columns,
                          const Size& size, const DenseOptions& options) {
  const std::uint64_t element = element_size(options.precision);
  return 2 * panel_bytes(dealt, options.precision) + 2 * dealt.nb * (columns + 64) * element +
         2 * piece_bytes(size.n, size.n + size.nrhs, options.precision) +
         size.n * 4 * (size.nrhs + 32) * element +
         Blocked::workspace(device, panel_shape(dealt, options));
}

}  // namespace

DistributedLu::Member::Member(DeviceContext& its_context, const BlockColumns& dealt,
                              std::size_t index, const DenseOptions& options)
    : context(its_context),
      a(context, dealt.n, dealt.columns_before(dealt.blocks(), index), options.precision,
        Storage::buffer),
      panels{Surface(context, dealt.n, dealt.nb, options.precision, Storage::buffer),
             Surface(context, dealt.n, dealt.nb, options.precision, Storage::buffer)},
      moved(context, 2 * dealt.nb, a.columns(), options.precision, Storage::buffer),
      from(context.allocate(2 * dealt.nb * sizeof(cl_int))),
      to(context.allocate(2 * dealt.nb * sizeof(cl_int))),
      blocked(Blocked::make(context, panel_shape(dealt, options))) {}

void DistributedLu::require_room(const Device& device, const Size& size,
                                 const DenseOptions& options) {
  if (options.storage == Storage::image) {
    throw Unsupported("Several devices share matrices in buffers alone", {"storage", "buffer"});
  }
  if (options.texel == Texel::rgba) {
    throw Unsupported("Several devices share matrices of single elements alone", {"texel", "r"});
  }
  const BlockColumns dealt = deal(device, size, options);
  if (dealt.nb % kMultiple != 0 || size.rows != size.n) {
    throw Unsupported("Several devices share square matrices in blocks of a multiple of " +
                      std::to_string(kMultiple) + " columns.");
  }
  std::map<void*, std::uint64_t> taken;  // by the shares before, of the memory of each device
  for (std::size_t d = 0; d < dealt.devices; ++d) {
    const Device& each = d == 0 ? device : options.others[d - 1]->device();
    if (kind_of(each) != kind_of(device)) {
      throw Unsupported("Devices share a matrix in equal parts: " + device.name + " and " +
                        each.name + " are not of one kind.");
    }
    const std::size_t columns = dealt.columns_before(dealt.blocks(), d);
    std::uint64_t& other = taken[each.id];
    other += other_bytes(each, dealt, columns, size, options);
    require_fits(each, size.n, columns, options.precision, Storage::buffer, 1, other);
    other += size.n * Surface::pitch_of(columns, options.precision, Storage::buffer) *
             element_size(options.precision);
  }
}

DistributedLu::DistributedLu(DeviceContext& context, const Size& size, const DenseOptions& options)
    : DenseFactorization((require_room(context.device(), size, options), context), size, options),
      dealt_(deal(context.device(), size, options)),
      transport_(devices_of(context, dealt_, options), panel_bytes(dealt_, options.precision)),
      idle_(dealt_.devices) {
  for (DeviceContext* device : devices_of(context, dealt_, options)) {
    members_.push_back(std::make_unique<Member>(*device, dealt_, members_.size(), options));
  }
}

// Kernels and copies that are under way may use what is released now.
DistributedLu::~DistributedLu() {
  for (const auto& member : members_) clFinish(member->context.queue()());
}

void DistributedLu::finish() const {
  for (const auto& member : members_) member->context.queue().finish();
}

template <typename Action>
void DistributedLu::for_blocks(std::size_t first, std::size_t count, const Action& action) const {
  for (std::size_t start = 0; start < count;) {
    const std::size_t j = (first + start) / dealt_.nb, inside = first + start - dealt_.first(j);
    const std::size_t here = std::min(count - start, dealt_.width(j) - inside);
    action(j, start, inside, here);
    start += here;
  }
}

void DistributedLu::upload(const MatrixView& a, const MatrixView& b) {
  for (std::size_t j = 0; j < dealt_.blocks(); ++j) {
    Member& member = owner(j);
    const MatrixView block = a.part(dealt_.first(j), dealt_.width(j));
    upload_columns(member.context, {&block, 1}, options_.precision,
                   [&](const cl::Buffer& piece, std::size_t first, std::size_t count) {
                     import_columns(member.context, piece, count, member.a,
                                    dealt_.place(j) + first);
                   });
  }
  upload_columns(context_, {&b, 1}, options_.precision,
                 [&](const cl::Buffer& piece, std::size_t first, std::size_t count) {
                   take_columns(piece, size_.n + first, count);
                 });
  finish();
}

// From the first device, by way of the host.
void DistributedLu::take_matrix(const cl::Buffer& columns, std::size_t first, std::size_t count) {
  const std::size_t column = size_.n * element();
  std::vector<char> host;
  for_blocks(first, count,
             [&](std::size_t j, std::size_t start, std::size_t inside, std::size_t here) {
               DeviceContext& context = owner(j).context;
               const cl::Buffer& piece = context.scratch(here * column);
               host.resize(here * column);
               context_.queue().enqueueReadBuffer(columns, CL_TRUE, start * column, host.size(),
                                                  host.data());
               context.queue().enqueueWriteBuffer(piece, CL_TRUE, 0, host.size(), host.data());
               import_columns(context, piece, here, owner(j).a, dealt_.place(j) + inside);
             });
}

cl::Buffer DistributedLu::factors(std::size_t first, std::size_t count) {
  const std::size_t column = size_.n * element();
  cl::Buffer all = context_.allocate(count * column);
  std::vector<char> host;
  for_blocks(
      first, count, [&](std::size_t j, std::size_t start, std::size_t inside, std::size_t here) {
        Member& member = owner(j);
        const cl::Buffer part =
            export_columns(member.context, member.a, dealt_.place(j) + inside, here);
        host.resize(here * column);
        member.context.queue().enqueueReadBuffer(part, CL_TRUE, 0, host.size(), host.data());
        context_.queue().enqueueWriteBuffer(all, CL_TRUE, start * column, host.size(), host.data());
      });
  return all;
}

Surface DistributedLu::panel(const Member& member, std::size_t j) const {
  return member.panels[j % 2].part(dealt_.n - dealt_.first(j), dealt_.width(j));
}

// Between A(row:n, k:k+nb), k = first(j), and a panel.
void DistributedLu::copy_columns(Member& member, std::size_t j, std::size_t row,
                                 const Surface& panel, Direction direction) {
  const cl::CommandQueue& queue = member.context.queue();
  const cl::Buffer a(member.a.memory()(), true), p(panel.memory()(), true);
  const std::size_t a_pitch = member.a.pitch() * element(), p_pitch = panel.pitch() * element();
  const cl::array<cl::size_type, 3> in_a = {dealt_.place(j) * element(), row, 0};
  const cl::array<cl::size_type, 3> in_panel = {0, 0, 0};
  const cl::array<cl::size_type, 3> region = {panel.columns() * element(), panel.rows(), 1};
  if (direction == Direction::to_panel) {
    queue.enqueueCopyBufferRect(a, p, in_a, in_panel, region, a_pitch, 0, p_pitch, 0);
  } else {
    queue.enqueueCopyBufferRect(p, a, in_panel, in_a, region, p_pitch, 0, a_pitch, 0);
  }
}

// P A(k:n, k:k+nb) = L U, with k = first(j)
void DistributedLu::factor_panel(std::size_t j) {
  Member& member = owner(j);
  Surface surface = panel(member, j);
  copy_columns(member, j, dealt_.first(j), surface, Direction::to_panel);
  member.blocked->factor(surface);
  member.context.queue().enqueueMarkerWithWaitList(nullptr, &factored_);
  copy_columns(member, j, dealt_.first(j), surface, Direction::from_panel);
}

// The factored panel and its pivots to the host and to the devices that do not have them.
void DistributedLu::publish_panel(std::size_t j) {
  for (const auto& member : members_) member->context.queue().flush();
  const std::size_t from = dealt_.owner(j), top = dealt_.first(j);
  Member& member = owner(j);
  cl_int info = 0;
  transport_.read(from, factored_, member.blocked->info(), {&info, 1});
  if (info_ == 0 && info != 0) info_ = info > 0 ? info + static_cast<int>(top) : info;
  if (options_.pivot != Pivot::none) {
    std::vector<int> ipiv(dealt_.width(j));
    transport_.read(from, factored_, member.blocked->ipiv(), ipiv);
    moves_[j] = row_moves(ipiv, top, dealt_.n);
    for (const int row : ipiv) ipiv_.push_back(static_cast<int>(top) + row + 1);
  }
  std::vector<cl::Memory> panels;
  for (const auto& each : members_) panels.push_back(each->panels[j % 2].memory());
  const Surface sent = panel(member, j);
  transport_.send(from, factored_, panels, idle_, sent.rows() * sent.pitch() * element());
}

// Rows of A(:, first:end) move, in the device's columns. Where these end is padding, or a pack
// does.
void DistributedLu::interchange(Member& member, const RowMoves& moves, std::size_t first,
                                std::size_t end) {
  if (first >= end) return;
  const Surface a = member.a.with_texel(Texel::rgba);
  const std::size_t packs = a.texels(first, end);
  const auto run = [&](const char* function, const cl::Buffer& rows) {
    member.context.run("interchange", a.kernel("dense/move_rows.cl", function),
                       {packs, moves.from.size()}, a, member.moved, rows,
                       static_cast<cl_int>(first / a.pack()), static_cast<cl_int>(packs));
  };
  run("take_rows", member.from);
  run("put_rows", member.to);
}

// With k = first(j) and R = k+nb : n, for the device's columns first : end, right of the panel:
//   A(k:n, :) = P A(k:n, :)
//   U(k:k+nb, :) = inv(L(k:k+nb, k:k+nb)) A(k:k+nb, :)
//   A(R, :) -= L(R, k:k+nb) U(k:k+nb, :)
void DistributedLu::update(Member& member, std::size_t j, std::size_t first, std::size_t end) {
  if (first >= end) return;
  interchange(member, moves_[j], first, end);
  const std::size_t k = dealt_.first(j);
  member.blocked->solve_columns({panel(member, j), false, true, k, k}, k, dealt_.width(j),
                                {member.a, first, end - first});
}

// Before panel j is used, on every device.
void DistributedLu::begin_step(std::size_t j) {
  for (std::size_t d = 0; d < members_.size(); ++d) {
    Member& member = *members_[d];
    member.context.queue().enqueueMarkerWithWaitList(nullptr, &idle_[d]);
    const RowMoves& moves = moves_[j];
    const std::size_t bytes = moves.from.size() * sizeof(cl_int);
    if (bytes == 0) continue;
    member.context.queue().enqueueWriteBuffer(member.from, CL_FALSE, 0, bytes, moves.from.data());
    member.context.queue().enqueueWriteBuffer(member.to, CL_FALSE, 0, bytes, moves.to.data());
  }
}

void DistributedLu::factor() {
  finish();
  info_ = 0;
  ipiv_.clear();
  moves_.assign(dealt_.blocks(), {});
  const std::size_t blocks = dealt_.blocks();
  if (blocks == 0) return;
  for (std::size_t d = 0; d < members_.size(); ++d) {
    members_[d]->context.queue().enqueueMarkerWithWaitList(nullptr, &idle_[d]);
  }
  factor_panel(0);
  publish_panel(0);
  for (std::size_t j = 0; j < blocks; ++j) {
    const std::size_t next = j + 1;
    begin_step(j);
    if (next < blocks) {
      const std::size_t place = dealt_.place(next);
      update(owner(next), j, place, place + dealt_.width(next));
      factor_panel(next);
    }
    for (std::size_t d = 0; d < members_.size(); ++d) {
      const bool has_next = next < blocks && dealt_.owner(next) == d;
      interchange(*members_[d], moves_[j], 0, dealt_.columns_before(j, d));
      update(*members_[d], j, dealt_.columns_before(next + has_next, d),
             dealt_.columns_before(blocks, d));
    }
    if (next < blocks) publish_panel(next);
    context_.checkpoint();
  }
  finish();
}

Outcome DistributedLu::outcome() {
  Outcome outcome;
  outcome.info = info_;
  outcome.ipiv = ipiv_;
  for (std::size_t j = 0; j < dealt_.blocks(); ++j) {
    Member& member = owner(j);
    const Surface diagonal = member.panels[0].part(dealt_.width(j), dealt_.width(j));
    copy_columns(member, j, dealt_.first(j), diagonal, Direction::to_panel);
    const std::vector<double> pivots = export_diagonal(member.context, diagonal);
    outcome.pivots.insert(outcome.pivots.end(), pivots.begin(), pivots.end());
  }
  return outcome;
}

// X to the owner of block column j.
void DistributedLu::bring_x(std::size_t j) {
  const std::size_t to = dealt_.owner(j);
  if (to == holder_) return;
  const Surface &here = *members_[holder_]->x, &there = *members_[to]->x;
  std::vector<char> host(here.rows() * here.pitch() * element());
  members_[holder_]->context.read_back("solve", cl::Buffer(here.memory()(), true), 0, host.size(),
                                       host.data());
  members_[to]->context.queue().enqueueWriteBuffer(cl::Buffer(there.memory()(), true), CL_TRUE, 0,
                                                   host.size(), host.data());
  holder_ = to;
}

// A(:, k:k+nb)'
Surface DistributedLu::transposed(Member& member, std::size_t j) {
  const Surface columns = member.panels[0].part(dealt_.n, dealt_.width(j));
  copy_columns(member, j, 0, columns, Direction::to_panel);
  return transpose(member.context, columns);
}

// X = inv(T) X by block columns of L or U; or, with the transpose, by the block rows of T = L' or
// U' that these are.
void DistributedLu::solve_triangle(bool upper, Op op) {
  const std::size_t blocks = dealt_.blocks();
  for (std::size_t step = 0; step < blocks; ++step) {
    const std::size_t j = upper ? blocks - 1 - step : step, k = dealt_.first(j);
    bring_x(j);
    Member& member = owner(j);
    const Blocked::Columns x = {*member.x, 0, member.x->columns()};
    if (op == Op::none) {
      const std::size_t left = k - dealt_.place(j);
      member.blocked->solve_columns({member.a, upper, !upper, 0, left}, k, dealt_.width(j), x);
    } else {
      const Surface rows = transposed(member, j);
      member.blocked->solve_rows({rows, upper, upper, k, 0}, k, dealt_.width(j), x);
    }
    member.context.checkpoint();
  }
}

cl::Buffer DistributedLu::permuted(const cl::Buffer& b, const std::vector<int>& order,
                                   std::size_t columns) {
  cl::Buffer moved = context_.allocate(size_.n * columns * element());
  gather_rows(context_, b, moved, order, columns, options_.precision);
  return moved;
}

// P A = L U, so that inv(A) = inv(U) inv(L) P and inv(A') = P' inv(L') inv(U').
cl::Buffer DistributedLu::apply_inverse(const cl::Buffer& b, std::size_t columns, Op op) {
  for (const auto& member : members_) {
    if (member->x && member->x->columns() == columns) continue;
    member->x.emplace(member->context, size_.n, columns, options_.precision, Storage::buffer);
    fill(member->context, *member->x, 0);
  }
  const bool moves = !ipiv_.empty();
  const std::vector<int> rows = permutation_of(ipiv_, size_.n);
  import_columns(context_, moves && op == Op::none ? permuted(b, rows, columns) : b, columns,
                 *members_.front()->x, 0);
  holder_ = 0;
  solve_triangle(false, op);
  solve_triangle(true, op);
  cl::Buffer x = export_columns(context_, *members_.front()->x, 0, columns);
  return moves && op == Op::transpose ? permuted(x, inverse_permutation(rows), columns) : x;
}

std::optional<std::string> DistributedLu::variant() const {
  const std::optional<std::string> kernels = members_.front()->blocked->variant();
  const std::string devices =
      std::to_string(dealt_.devices) + (dealt_.devices == 1 ? " device" : " devices");
  return kernels ? *kernels + ", " + devices : devices;
}

}  // namespace lugpu

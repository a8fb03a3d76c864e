#include "distributed/distributed_lu.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/error.hpp"
#include "dense/permutation.hpp"
#include "dense/substitution.hpp"
#include "distributed/deal.hpp"

namespace lugpu {
namespace {

Team team_of(DeviceContext& context, const DenseOptions& options) {
  Team team = {&context};
  team.insert(team.end(), options.others.begin(), options.others.end());
  return team;
}

// Of the transport's own rooms for a panel on its way: there are none if panels go by way of their
// home, or nowhere.
std::size_t room_bytes(const BlockColumns& dealt, Precision precision) {
  if (dealt.windows() > 1 || dealt.devices == 1) return 0;
  return dealt.n * Surface::pitch_of(dealt.nb, precision, Storage::buffer) *
         element_size(precision);
}

std::string counted(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

}  // namespace

Shape DistributedLu::panel_shape(const BlockColumns& dealt, const DenseOptions& options) {
  const std::size_t nb = std::min(dealt.nb, dealt.n);
  Shape shape = {dealt.n, nb, options.pivot, options.precision};
  shape.updates_others = true;
  return shape;
}

DistributedLu::Member::Member(DeviceContext& its_context, const BlockColumns& dealt,
                              const DenseOptions& options)
    : context(its_context),
      moves(context, options.precision, dealt.n, dealt.nb),
      info(context.allocate(dealt.blocks() * sizeof(cl_int))),
      mark(context.allocate(2 * sizeof(cl_int))),
      blocked(Blocked::make(context, panel_shape(dealt, options))),
      // Where several share, others would wait for a panel that comes as late as the last product
      // beside it.
      beside(dealt.devices == 1 && blocked->prepare_beside()),
      columns(context.handle(), context.queue()) {
  for (std::size_t slot = 0; slot < dealt.panels; ++slot) {
    panels.emplace_back(context, dealt.n, dealt.nb, options.precision, Storage::buffer);
  }
}

std::size_t DistributedLu::windows(const Device& device, const Size& size,
                                   const DenseOptions& options) {
  if (options.storage == Storage::image) {
    throw Unsupported("Matrices are shared or held in parts in buffers alone",
                      {"storage", "buffer"});
  }
  if (options.texel == Texel::rgba) {
    throw Unsupported("Matrices are shared or held in parts as single elements alone",
                      {"texel", "r"});
  }
  return deal(device, size, options).windows();
}

void DistributedLu::require_room(const Device& device, const Size& size,
                                 const DenseOptions& options) {
  windows(device, size, options);
}

DistributedLu::DistributedLu(DeviceContext& context, const Size& size, const DenseOptions& options)
    : DistributedLu((require_room(context.device(), size, options), context), size, options,
                    deal(context.device(), size, options)) {}

DistributedLu::DistributedLu(DeviceContext& context, const Size& size, const DenseOptions& options,
                             const BlockColumns& dealt)
    : DenseFactorization(context, size, options),
      dealt_(dealt),
      processes_(options.crew ? options.crew->processes() : one_process()),
      per_process_(1 + options.others.size()),
      first_(processes_.rank() * per_process_) {
  if (!options.crew || options.crew->follows()) {
    make_members();
    return;
  }
  system_ = options.crew->next_system();
  announce({.kind = Task::Kind::build,
            .team = options.crew->number_of(team_of(context, options)),
            .size = size,
            .dealt = dealt_,
            .pivot = options.pivot,
            .precision = options.precision});
  agree(processes_, [&] { make_members(); });
}

// Those that have block columns.
void DistributedLu::make_members() {
  Team team = team_of(context_, options_);
  team.resize(std::min(dealt_.devices - std::min(first_, dealt_.devices), team.size()));
  transport_.emplace(context_, team, room_bytes(dealt_, options_.precision), processes_);
  for (DeviceContext* device : team) {
    members_.push_back(std::make_unique<Member>(*device, dealt_, options_));
  }
  idle_.resize(members_.size());
  if (dealt_.windows() > 1) {
    home_.emplace(context_, dealt_, options_.precision);
  } else {
    allocate_slabs();
  }
}

// Kernels and copies that are under way may use what is released now.
DistributedLu::~DistributedLu() {
  if (leads()) announce({.kind = Task::Kind::release});
  for (const auto& member : members_) clFinish(member->context.queue()());
}

void DistributedLu::announce(Task task) const {
  if (processes_.size() == 1) return;
  task.system = system_;
  options_.crew->announce(task);
}

void DistributedLu::together(const std::function<void()>& action) {
  if (processes_.size() == 1) return action();
  {
    const Deadline::Postponed postponed(context_.deadline());
    end_all_if_fails(processes_, action);
    processes_.barrier();
  }
  context_.checkpoint();
}

void DistributedLu::obey(const Task& task) {
  const std::size_t j = task.first / dealt_.nb, inside = task.first - dealt_.first(j);
  std::vector<char> host;
  switch (task.kind) {
    case Task::Kind::take:
      if (!owns(j)) return;
      host.resize(task.count * size_.n * element());
      processes_.move(host.data(), host.size(), 0, processes_.rank());
      return put(j, inside, task.count, host);
    case Task::Kind::factors:
      if (!owns(j)) return;
      return processes_.move(get(j, inside, task.count), task.count * size_.n * element(),
                             processes_.rank(), 0);
    case Task::Kind::factor:
      return together([&] { factor_blocks(); });
    case Task::Kind::outcome:
      return together([&] { diagonal(); });
    case Task::Kind::apply_inverse:
      return together([&] {
        make_x(task.count);
        solve_triangle(false, task.op);
        solve_triangle(true, task.op);
      });
    default:
      return;
  }
}

// As wide as the first window, the widest, needs them.
void DistributedLu::allocate_slabs() {
  const auto make = [&](Member& member, std::size_t rows, std::size_t columns) {
    return Surface(member.context, rows, columns, options_.precision, Storage::buffer);
  };
  for (std::size_t d = 0; d < members_.size(); ++d) {
    Member& member = *members_[d];
    member.slabs.clear();
    const std::size_t end = std::min(dealt_.window, dealt_.blocks());
    for (const BlockColumns::Columns& columns : dealt_.on_device(first_ + d, 0, end)) {
      member.slabs.push_back(make(member, dealt_.n, columns.end));
    }
    const std::size_t widest = member.slabs.empty() ? 0 : member.slabs.front().columns();
    const std::size_t left = goes_in_parts(0) ? dealt_.width(0) : 0;  // see interchange_left()
    member.moved = make(member, 2 * dealt_.nb, std::max(widest, left));
  }
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

// Columns first : first + count of block column j, from its owner, to their home.
void DistributedLu::take_columns_of(std::size_t j, const cl::Buffer& columns, std::size_t first,
                                    std::size_t count) {
  Member& member = owner(j);
  if (!home_) {
    return import_columns(member.context, columns, count, slab(j), dealt_.place(j) + first);
  }
  transport_->finish();  // of a factorization that has failed
  const Surface& panel = member.panels[0];
  import_columns(member.context, columns, count, member.panels[0], first);
  member.context.queue().finish();
  transport_->store(
      dealt_.owner(j), {},
      {panel, first, count, 0, dealt_.n, home_->row(j, 0) + first * element(), home_->pitch()});
  transport_->finish();
}

void DistributedLu::upload(const MatrixView& a, const MatrixView& b) {
  for (std::size_t j = 0; j < dealt_.blocks(); ++j) {
    const MatrixView block = a.part(dealt_.first(j), dealt_.width(j));
    // Those of other processes by way of the first device, which converts them.
    upload_columns(owns(j) ? owner(j).context : context_, {&block, 1}, options_.precision,
                   [&](const cl::Buffer& piece, std::size_t first, std::size_t count) {
                     if (owns(j)) return take_columns_of(j, piece, first, count);
                     take_matrix(piece, dealt_.first(j) + first, count);
                   });
  }
  upload_columns(context_, {&b, 1}, options_.precision,
                 [&](const cl::Buffer& piece, std::size_t first, std::size_t count) {
                   take_columns(piece, size_.n + first, count);
                 });
  finish();
}

void DistributedLu::put(std::size_t j, std::size_t first, std::size_t count,
                        const std::vector<char>& host) {
  DeviceContext& context = owner(j).context;
  const cl::Buffer& piece = context.scratch(host.size());
  context.queue().enqueueWriteBuffer(piece, CL_TRUE, 0, host.size(), host.data());
  take_columns_of(j, piece, first, count);
}

// From the first device, by way of the host.
void DistributedLu::take_matrix(const cl::Buffer& columns, std::size_t first, std::size_t count) {
  const std::size_t column = size_.n * element();
  std::vector<char> host;
  for_blocks(first, count,
             [&](std::size_t j, std::size_t start, std::size_t inside, std::size_t here) {
               host.resize(here * column);
               context_.queue().enqueueReadBuffer(columns, CL_TRUE, start * column, host.size(),
                                                  host.data());
               if (owns(j)) return put(j, inside, here, host);
               announce({.kind = Task::Kind::take, .first = first + start, .count = here});
               processes_.move(host.data(), host.size(), 0, process_of(dealt_.owner(j)));
             });
}

// L as it is stored lacks the interchanges of later panels.
char* DistributedLu::get(std::size_t j, std::size_t first, std::size_t count) {
  Member& member = reader(j);
  DeviceContext& context = member.context;
  const std::size_t bytes = count * size_.n * element();
  mark_idle();
  cl::Buffer part = export_columns(context, in_panel(j, 0, dealt_.n, 0), first, count);
  if (!ipiv_.empty()) {
    std::vector<int> later = ipiv_;
    const std::size_t end = dealt_.first(j) + dealt_.width(j);
    std::iota(later.begin(), later.begin() + static_cast<std::ptrdiff_t>(end), 1);
    cl::Buffer moved = context.allocate(bytes);
    gather_rows(context, part, moved, permutation_of(later, size_.n), count, options_.precision);
    part = std::move(moved);
  }
  void* const host = member.columns.room(bytes);
  context.queue().enqueueReadBuffer(part, CL_TRUE, 0, bytes, host);
  return static_cast<char*>(host);
}

void DistributedLu::take_block(std::size_t j, const MatrixView& columns) {
  DeviceContext& context = owner(j).context;
  upload_columns(context, {&columns, 1}, options_.precision,
                 [&](const cl::Buffer& piece, std::size_t first, std::size_t count) {
                   take_columns_of(j, piece, first, count);
                 });
  context.queue().finish();
}

void DistributedLu::give_block(std::size_t j, std::vector<char>& columns) {
  const char* const host = get(j, 0, dealt_.width(j));
  columns.assign(host, host + dealt_.width(j) * size_.n * element());
}

// The reverse of get(): L goes back to where its rows were when its panel had been factored.
void DistributedLu::adopt_factors(const std::vector<int>& ipiv) {
  info_ = 0;
  ipiv_ = ipiv;
  panel_ipiv_.resize(size_.n);
  for (std::size_t j = 0; j < dealt_.blocks(); ++j) {
    const std::size_t top = dealt_.first(j), width = dealt_.width(j);
    std::vector<int> later = ipiv, back(size_.n);
    for (std::size_t k = top; k < top + width; ++k) {
      require_inside(ipiv[k] - 1, k, size_.n);
      panel_ipiv_[k] = ipiv[k] - 1 - static_cast<int>(top);
    }
    for (const auto& member : members_) {
      write_ipiv(*member, top, width);
      member->moves.list_panel(top, width);
    }
    if (!owns(j)) continue;
    std::iota(later.begin(), later.begin() + static_cast<std::ptrdiff_t>(top + width), 1);
    const std::vector<int> order = permutation_of(later, size_.n);
    for (std::size_t i = 0; i < order.size(); ++i) back[order[i]] = static_cast<int>(i);
    DeviceContext& context = owner(j).context;
    mark_idle();
    const cl::Buffer part = export_columns(context, in_panel(j, 0, size_.n, 0), 0, width);
    const cl::Buffer moved = context.allocate(width * size_.n * element());
    gather_rows(context, part, moved, back, width, options_.precision);
    take_columns_of(j, moved, 0, width);
  }
  finish();
}

cl::Buffer DistributedLu::factors(std::size_t first, std::size_t count) {
  const std::size_t column = size_.n * element();
  cl::Buffer all = context_.allocate(count * column);
  for_blocks(
      first, count, [&](std::size_t j, std::size_t start, std::size_t inside, std::size_t here) {
        char* host;
        if (home_ || owns(j)) {
          host = get(j, inside, here);
        } else {
          host = static_cast<char*>(members_.front()->columns.room(here * column));
          announce({.kind = Task::Kind::factors, .first = first + start, .count = here});
          processes_.move(host, here * column, process_of(dealt_.owner(j)), 0);
        }
        context_.queue().enqueueWriteBuffer(all, CL_TRUE, start * column, here * column, host);
      });
  return all;
}

// That of the first panel that has one.
void DistributedLu::read_info() {
  std::vector<int> info(dealt_.blocks());
  if (info.empty()) return;
  for (std::size_t d = 0; d < dealt_.devices; ++d) {
    std::vector<int> own(info.size());
    if (is_here(d)) transport_->read(d - first_, {}, member(d).info, 0, own);
    processes_.broadcast(own.data(), own.size() * sizeof own[0], process_of(d));
    for (std::size_t j = d; j < info.size(); j += dealt_.devices) info[j] = own[j];
  }
  for (std::size_t j = 0; j < info.size() && info_ == 0; ++j) {
    if (info[j] != 0) info_ = static_cast<int>(dealt_.first(j)) + info[j];
  }
}

// As getrf has them.
void DistributedLu::read_ipiv() {
  if (panel_ipiv_.empty()) return;
  if (alone()) {
    transport_->read(0, {}, members_.front()->moves.ipiv(), 0, panel_ipiv_);
  }
  for (std::size_t k = 0; k < panel_ipiv_.size(); ++k) {
    const int row = static_cast<int>(k / dealt_.nb * dealt_.nb) + panel_ipiv_[k];
    require_inside(row, k, dealt_.n);
    ipiv_.push_back(row + 1);
  }
}

std::vector<double> DistributedLu::diagonal() {
  std::vector<double> all;
  for (std::size_t j = 0; j < dealt_.blocks(); ++j) {
    std::vector<double> pivots(dealt_.width(j));
    if (home_ || owns(j)) {
      mark_idle();
      const Surface block = in_panel(j, dealt_.first(j), dealt_.width(j), 0);
      pivots = export_diagonal(reader(j).context, block);
    }
    processes_.move(pivots.data(), pivots.size() * sizeof pivots[0], process_of(dealt_.owner(j)),
                    0);
    all.insert(all.end(), pivots.begin(), pivots.end());
  }
  return all;
}

Outcome DistributedLu::outcome() {
  Outcome outcome;
  outcome.info = info_;
  outcome.ipiv = ipiv_;
  announce({.kind = Task::Kind::outcome});
  together([&] { outcome.pivots = diagonal(); });
  return outcome;
}

std::optional<std::string> DistributedLu::variant() const {
  const std::optional<std::string> kernels = members_.front()->blocked->variant();
  std::string text = (kernels ? *kernels + ", " : "") + counted(dealt_.devices, "device");
  const std::size_t local = ceiling(std::min(dealt_.window, dealt_.blocks()), dealt_.devices);
  if (local > dealt_.slab) text += ", " + counted(ceiling(local, dealt_.slab), "buffer");
  if (home_) text += ", " + counted(dealt_.windows(), "window");
  if (processes_.size() > 1) text += " of " + std::to_string(processes_.size()) + " processes";
  return text;
}

}  // namespace lugpu

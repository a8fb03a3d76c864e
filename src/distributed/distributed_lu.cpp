#include "distributed/distributed_lu.hpp"

#include <algorithm>
#include <list>
#include <numeric>
#include <utility>

#include "base/error.hpp"
#include "dense/permutation.hpp"
#include "dense/substitution.hpp"
#include "distributed/deal.hpp"

namespace lugpu {
namespace {

Shape panel_shape(const BlockColumns& dealt, const DenseOptions& options) {
  const std::size_t nb = std::min(dealt.nb, dealt.n);
  Shape shape = {dealt.n, nb, options.pivot, options.precision};
  shape.updates_others = true;
  return shape;
}

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

// X(R, :) -= T(R, K) X(K, :), K = k : k+width, R all rows below or, if T is upper, above.
void subtract_rows(DeviceContext& context, const Blocked::Triangle& t, std::size_t k,
                   std::size_t width, Surface& x) {
  const std::size_t first = t.upper ? 0 : k + width, last = t.upper ? k : x.rows();
  if (first >= last) return;
  const auto to_int = [](std::size_t value) { return static_cast<cl_int>(value); };
  constexpr std::size_t kLanes = 16;  // of subtract_rows.cl
  context.run("solve", x.kernel("dense/subtract_rows.cl", "subtract_rows", rows_option(context)),
              {(last - first) * (by_rows(context) ? 1 : kLanes), x.columns()}, t.of, x,
              to_int(t.top), to_int(t.left), to_int(k), to_int(width), to_int(first), to_int(last));
}

// Of right-hand sides, which are solved for more accurately: X is nothing beside A then.
constexpr std::size_t kFewColumns = 8;

// In windows, what has become rows of U of a block column in so many steps goes home in one copy.
constexpr std::size_t kSteps = 4;

// Rows are many if they are more than the columns of so many blocks: see product_ends().
constexpr std::size_t kManyBlocks = 20;

std::string counted(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

}  // namespace

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

Surface DistributedLu::panel(const Member& member, std::size_t j) const {
  return member.panels[slot(j)].part(dealt_.n - dealt_.first(j), dealt_.width(j));
}

std::vector<std::size_t> DistributedLu::part_ends(std::size_t j) const {
  return Blocked::part_ends(context_.device(), dealt_.n - dealt_.first(j), dealt_.width(j));
}

std::vector<std::size_t> DistributedLu::sent_ends(std::size_t j) const {
  if (home_ || dealt_.devices == 1) return {dealt_.width(j)};
  return part_ends(j);
}

// While the last two parts are on their way, and then: each product reads and writes all of the
// columns. But with many rows kernels fill the time of all devices, and faster products are worth
// more than an early start.
std::vector<std::size_t> DistributedLu::product_ends(std::size_t j) const {
  const bool many = dealt_.n - dealt_.first(j) > kManyBlocks * dealt_.nb;
  if (many && Blocked::updates_faster(context_.device(), panel_shape(dealt_, options_))) return {};
  const std::vector<std::size_t> parts = part_ends(j);
  if (parts.size() < 3) return {parts.back()};
  return {parts[parts.size() - 3], parts.back()};
}

// Between rows of block column j from `row` on, in its slab, and a panel.
void DistributedLu::copy_columns(std::size_t j, std::size_t row, const Surface& panel,
                                 Direction direction) {
  const Surface a = slab(j).with_texel(Texel::rgba);
  const std::size_t packs = a.texels(0, panel.columns());
  const auto copy = [&](const Surface& from, std::size_t from_row, std::size_t from_first,
                        const Surface& to, std::size_t to_row, std::size_t to_first) {
    run_on_rows(owner(j).context, "panel", a, "copy_columns", packs, panel.rows(), from, to,
                static_cast<cl_int>(from_row), static_cast<cl_int>(from_first),
                static_cast<cl_int>(to_row), static_cast<cl_int>(to_first));
  };
  const std::size_t first = dealt_.place(j) / a.pack();
  if (direction == Direction::to_panel) {
    copy(a, row, first, panel, 0, 0);
  } else {
    copy(panel, 0, 0, a, row, first);
  }
  owner(j).context.timeline().add_bytes(2 * panel.rows() * panel.columns() * element());
}

// Block column j without the rows above panel j, to its owner's panels[slot] once what was there
// has left.
void DistributedLu::copy_to_panel(std::size_t j, std::size_t slot) {
  Member& member = owner(j);
  const std::size_t top = dealt_.first(j);
  if (leaving_[slot]()) {
    const std::vector<cl::Event> left = {leaving_[slot]};
    member.context.queue().enqueueBarrierWithWaitList(&left);
  }
  copy_columns(j, top, member.panels[slot].part(dealt_.n - top, dealt_.width(j)),
               Direction::to_panel);
}

// P A(k:n, k:k+nb) = L U, with k = first(j), in panels[slot(j)] once what was there has left; and
// the update by panel j - 1 of other columns of its device, whose rows have moved
void DistributedLu::factor_panel(std::size_t j, const std::vector<Blocked::Columns>& others) {
  Member& member = owner(j);
  Surface surface = panel(member, j);
  copy_to_panel(j, slot(j));
  if (home_ && turnover_[j].uses == 0) replace(j);
  // The event of a copy tells when what is before it is done, see done_so_far().
  const auto copy = [&](const cl::Buffer& from, const cl::Buffer& to, std::size_t first,
                        std::size_t place, std::size_t count) {
    cl::Event done;
    member.context.queue().enqueueCopyBuffer(from, to, first * sizeof(cl_int),
                                             place * sizeof(cl_int), count * sizeof(cl_int),
                                             nullptr, &done);
    return done;
  };
  std::size_t copied = 0;
  const auto copy_ipiv = [&](std::size_t end) {
    const std::size_t first = std::exchange(copied, end);
    return copy(member.blocked->ipiv(), member.moves.ipiv(), first, dealt_.first(j) + first,
                end - first);
  };
  const std::vector<std::size_t> ends = sent_ends(j);
  parts_factored_.clear();
  if (others.empty()) {
    member.blocked->factor(surface, ends, [&] {
      const std::size_t end = ends[parts_factored_.size()];
      parts_factored_.push_back(pivoting() ? copy_ipiv(end) : done_so_far(member));
    });
  } else {
    const std::size_t k = dealt_.first(j - 1);
    const Surface before = panel(member, j - 1);
    member.blocked->factor_beside(surface, {before, false, true, k, k}, k, dealt_.width(j - 1),
                                  others);
  }
  if (pivoting()) copy_ipiv(dealt_.width(j));
  factored_ = copy(member.blocked->info(), member.info, 0, j, 1);
}

// The factored panel and its pivots to the host and to the devices that do not have them; if it
// goes in parts, meanwhile the products of product_ends(). Of a device that works alone the host
// waits for the panel before.
void DistributedLu::publish_panel(std::size_t j) {
  for (const auto& member : members_) member->context.queue().flush();
  const std::vector<std::size_t> ends = sent_ends(j), products = product_ends(j);
  std::size_t product = 0;
  for (std::size_t part = 0, first = 0; part < ends.size(); first = ends[part++]) {
    const std::size_t end = ends[part];
    const cl::Event ready = end == dealt_.width(j) ? factored_
                            : owns(j)              ? parts_factored_[part]
                                                   : cl::Event();
    if (!alone()) share_ipiv(j, first, end, ready);
    leaving_[slot(j)] = at_home_[j] = send_columns(j, first, end, ready, [&] {
      if (first > 0) interchange_left(j, first, end);
    });
    if (!goes_in_parts(j) || product == products.size()) continue;
    if (end == products[product]) update_next(j, product++, end);
  }
  if (!alone()) return;
  if (factored_before_()) factored_before_.wait();
  factored_before_ = factored_;
}

// The interchanges of panel j as a list, for interchange(), and L and U in its slab.
void DistributedLu::complete_panel(std::size_t j) {
  const std::size_t top = dealt_.first(j);
  for (const auto& member : members_) {
    if (pivoting()) member->moves.list_panel(top, dealt_.width(j));
  }
  if (owns(j) && (!home_ || turnover_[j].uses > 0)) {
    copy_columns(j, top, panel(owner(j), j), Direction::from_panel);
  }
}

// ipiv of columns first : end of panel j, once it is `ready`, from their owner to the host and the
// other devices.
void DistributedLu::share_ipiv(std::size_t j, std::size_t first, std::size_t end,
                               const cl::Event& ready) {
  if (!pivoting()) return;
  const std::size_t device = dealt_.owner(j), k = dealt_.first(j) + first;
  const std::span of_part = std::span(panel_ipiv_).subspan(k, end - first);
  if (owns(j)) transport_->read(device - first_, ready, owner(j).moves.ipiv(), k, of_part);
  processes_.broadcast(of_part.data(), of_part.size_bytes(), process_of(device));
  for (std::size_t d = 0; d < members_.size(); ++d) {
    if (first_ + d != device) write_ipiv(*members_[d], k, end - first);
  }
}

// ipiv of columns k : k+count of A.
void DistributedLu::write_ipiv(Member& member, std::size_t k, std::size_t count) {
  member.context.queue().enqueueWriteBuffer(member.moves.ipiv(), CL_FALSE, k * sizeof(cl_int),
                                            count * sizeof(cl_int), &panel_ipiv_[k]);
}

// Columns first : end of panel j, once `ready`, from its owner to the others; if that is all of it,
// with padding.
cl::Event DistributedLu::send_columns(std::size_t j, std::size_t first, std::size_t end,
                                      const cl::Event& ready,
                                      const std::function<void()>& meanwhile) {
  const std::size_t device = dealt_.owner(j), top = dealt_.first(j);
  const std::size_t pitch =
      Surface::pitch_of(dealt_.nb, options_.precision, Storage::buffer) * element();
  const bool whole = first == 0 && end == dealt_.width(j);
  std::vector<PanelTransport::Strip> strips;
  for (const auto& each : members_) {
    strips.push_back({each->panels[slot(j)].memory(), first * element(), pitch});
  }
  return transport_->send({process_of(device), device % per_process_}, ready, strips, idle_,
                          dealt_.n - top, first * element(),
                          whole ? pitch : (end - first) * element(),
                          home_ ? home_->row(j, top) : nullptr, meanwhile);
}

// In columns 0 : first of panel j, on all devices, the interchanges of columns first : end.
void DistributedLu::interchange_left(std::size_t j, std::size_t first, std::size_t end) {
  if (!pivoting()) return;
  for (const auto& member : members_) {
    const RowMoves& moves = member->moves;
    moves.move(panel(*member, j), 0, first, *member->moved,
               moves.list_part(dealt_.first(j) + first, end - first, first, 0));
  }
}

// In the columns of the next panel, the interchanges of the columns of panel j up to `end` that
// have had no product, and that.
void DistributedLu::update_next(std::size_t j, std::size_t product, std::size_t end) {
  if (j + 1 == dealt_.blocks() || !owns(j + 1)) return;
  Member& member = owner(j + 1);
  const std::size_t first = product > 0 ? product_ends(j)[product - 1] : 0;
  if (pivoting()) {
    const std::size_t top = dealt_.first(j), place = dealt_.place(j + 1);
    member.moves.move(slab(j + 1), place, place + dealt_.width(j + 1), *member.moved,
                      member.moves.list_part(top + first, end - first, top + first, top));
  }
  subtract_from_next(j, product);
}

// The product itself, at once, not when L has been split: everybody waits for the next panel.
void DistributedLu::subtract_from_next(std::size_t j, std::size_t product) {
  Member& member = owner(j + 1);
  const std::vector<std::size_t> ends = product_ends(j);
  const std::size_t k = dealt_.first(j), first = product > 0 ? ends[product - 1] : 0;
  const Surface l = panel(member, j);
  member.blocked->solve_columns({l, false, true, k, k}, k + first, ends[product] - first,
                                {slab(j + 1), dealt_.place(j + 1), dealt_.width(j + 1)});
}

// Rows row : end of block column j from home to its slab, once what was there has left.
void DistributedLu::load(std::size_t j, std::size_t row, std::size_t end, const cl::Event& left) {
  if (row == end) return;
  transport_->load(dealt_.owner(j), left,
                   {slab(j), dealt_.place(j), dealt_.width(j), row, end - row, home_->row(j, row),
                    home_->pitch()});
}

// When all that has been enqueued to a device is done. With NVIDIA's driver other queues and the
// host see the event of a kernel or a marker only when no copy between host and device is under
// way, that of a copy on the device at once.
cl::Event DistributedLu::done_so_far(Member& member) {
  cl::Event done;
  member.context.queue().enqueueCopyBuffer(member.mark, member.mark, 0, sizeof(cl_int),
                                           sizeof(cl_int), nullptr, &done);
  member.context.queue().flush();
  return done;
}

std::vector<cl::Event> DistributedLu::done_so_far() {
  std::vector<cl::Event> done;
  for (const auto& member : members_) done.push_back(done_so_far(*member));
  return done;
}

// Rows of block column j up to `end` that are not at home yet, all rows of U, go there after
// `done`.
void DistributedLu::store_above(std::size_t j, std::size_t end, const cl::Event& done) {
  Turnover& rows = turnover_[j];
  if (rows.stored == end) return;
  const std::size_t row = std::exchange(rows.stored, end);
  rows.left = transport_->store(dealt_.owner(j), done,
                                {slab(j), dealt_.place(j), dealt_.width(j), row, end - row,
                                 home_->row(j, row), home_->pitch()});
}

// In their place come those of the next window's block column, if there is one.
void DistributedLu::load_above(std::size_t j) {
  Turnover& rows = turnover_[j];
  const std::size_t row = std::exchange(rows.replaced, rows.stored), next = j + dealt_.window;
  if (next < dealt_.blocks()) load(next, row, rows.stored, rows.left);
}

// After step j, in block columns from : end of the window. Each has its turn in every kSteps-th
// step, so that there are few copies; others come half of that later, when its rows have left.
void DistributedLu::turn_over(std::size_t j, std::size_t from, std::size_t end,
                              std::span<const cl::Event> updated) {
  for (std::size_t i = from; i < end; ++i) {
    const std::size_t turn = (i / dealt_.devices + j) % kSteps;
    if (turn == kSteps / 2) load_above(i);
    if (turn == 0) store_above(i, dealt_.first(j + 1), updated[dealt_.owner(i)]);
  }
}

// Block column j has left for panel j, but for its last rows of U, which go home.
void DistributedLu::replace(std::size_t j) {
  const std::size_t top = dealt_.first(j), next = j + dealt_.window;
  const cl::Event left = done_so_far(owner(j));
  load_above(j);
  if (next < dealt_.blocks()) load(next, top, dealt_.n, left);
  store_above(j, top, left);
  load_above(j);
}

// A panel left of the window to all devices: from home, or on the only one from its place there.
// When it has come.
std::vector<cl::Event> DistributedLu::fetch_panel(std::size_t j, std::size_t slot) {
  if (turnover_[j].uses > 0) {
    copy_to_panel(j, slot);
    if (--turnover_[j].uses == 0) replace(j);
    return {};
  }
  std::vector<cl::Memory> panels;
  for (const auto& each : members_) panels.push_back(each->panels[slot].memory());
  const std::size_t top = dealt_.first(j);
  return transport_->send_from_host(home_->row(j, top), panels, idle_,
                                    (dealt_.n - top) * home_->pitch(),
                                    {at_home_[j], leaving_[slot]});
}

// With k = first(j) and R = k+nb : n, for block columns from : to that are device d's, right of
// panel j:
//   A(k:n, :) = P A(k:n, :)
//   U(k:k+nb, :) = inv(L(k:k+nb, k:k+nb)) A(k:k+nb, :)
//   A(R, :) -= L(R, k:k+nb) U(k:k+nb, :)
void DistributedLu::update(std::size_t d, std::size_t j, std::size_t from, std::size_t to) {
  Member& member = *members_[d];
  const std::vector<Blocked::Columns> columns = interchange(d, j, from, to);
  if (columns.empty()) return;
  const std::size_t k = dealt_.first(j);
  const Surface l = panel(member, j);
  const Blocked::Triangle triangle = {l, false, true, k, k};
  if (member.prepared != j) member.blocked->prepare_update(triangle, k, dealt_.width(j));
  member.prepared = j;
  member.blocked->update_columns(triangle, k, dealt_.width(j), columns);
}

// The first line of it; returns where the columns are.
std::vector<Blocked::Columns> DistributedLu::interchange(std::size_t d, std::size_t j,
                                                         std::size_t from, std::size_t to) {
  Member& member = *members_[d];
  std::vector<Blocked::Columns> columns;
  for (const auto& [slab, first, end] : dealt_.on_device(first_ + d, from, to)) {
    Surface& a = member.slabs[slab];
    if (pivoting()) {
      member.moves.move(a, first, end, *member.moved,
                        member.moves.of_panel(dealt_.first(j), dealt_.width(j)));
    }
    columns.push_back({a, first, end - first});
  }
  return columns;
}

// Panels that nothing enqueued later uses may be overwritten after what has been enqueued.
void DistributedLu::mark_idle() {
  idle_ = done_so_far();
}

void DistributedLu::factor() {
  announce({.kind = Task::Kind::factor});
  together([&] { factor_blocks(); });
}

void DistributedLu::factor_blocks() {
  // The host waits for every step or the one before, and must have the next work ready.
  std::list<Deadline::Followed> followed;
  for (const auto& member : members_) followed.emplace_back(member->context.deadline());
  finish();
  transport_->finish();
  info_ = 0;
  ipiv_.clear();
  panel_ipiv_.assign(pivoting() ? dealt_.n : 0, 0);
  factored_ = factored_before_ = cl::Event();
  leaving_.assign(dealt_.panels, {});
  at_home_.assign(dealt_.blocks(), {});
  turnover_.assign(dealt_.blocks(), {});
  first_slot_ = 0;
  transport_->begin();
  if (home_) {
    factor_windows();
  } else if (dealt_.blocks() > 0) {
    factor_first_panel();
    factor_window(0, dealt_.blocks());
  }
  finish();
  transport_->finish();
  read_info();
  read_ipiv();
  if (!home_) return;
  for (const auto& member : members_) {
    member->slabs.clear();
    member->moved.reset();
  }
}

// A single device does not wait for all of the first window: it has a quarter of it factored, then
// half of it, then all. Panels of one part stay in their slab, too, until they have been applied to
// the others.
void DistributedLu::factor_windows() {
  allocate_slabs();
  const std::size_t window = dealt_.window;
  std::vector<std::size_t> ends = {window};
  if (dealt_.devices == 1) ends = {ceiling(window, 4), ceiling(window, 2), window};
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  for (std::size_t j = 0; j < window; ++j) {
    turnover_[j].uses = std::ranges::count_if(ends, [j](std::size_t end) { return end > j; }) - 1;
  }
  std::vector<std::vector<cl::Event>> come;
  const auto load_columns = [&](std::size_t from, std::size_t to) {
    for (std::size_t j = from; j < to; ++j) load(j, 0, dealt_.n, {});
    return transport_->coming();
  };
  transport_->join(load_columns(0, 1));
  std::size_t begin = 1;
  for (const std::size_t end : ends) come.push_back(load_columns(std::exchange(begin, end), end));
  factor_first_panel();
  begin = 0;
  for (std::size_t part = 0; part < ends.size(); ++part) {
    transport_->join(come[part]);
    factor_window(std::exchange(begin, ends[part]), ends[part]);
  }
  while (begin < dealt_.blocks()) {
    const std::size_t end = std::min(begin + window, dealt_.blocks());
    transport_->join(transport_->coming());
    factor_window(std::exchange(begin, end), end);
  }
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

void DistributedLu::factor_first_panel() {
  mark_idle();
  if (owns(0)) factor_panel(0);
  publish_panel(0);
}

// Block columns begin : end: all panels before, of which the first is there or on its way, then
// their own.
void DistributedLu::factor_window(std::size_t begin, std::size_t end) {
  for (const auto& member : members_) member->prepared.reset();
  for (std::size_t j = 0; j < end; ++j) {
    const std::size_t next = j + 1;
    const bool factors_next = next >= begin && next < end, last = home_ && next + 1 == end;
    // In windows the end of the step before tells that; nothing comes to an only device in core.
    if (home_ ? j == 0 : !alone()) mark_idle();
    const std::size_t from = std::max(next + factors_next, begin);
    std::size_t done = members_.size();  // the device that has no more to do
    const std::vector<std::size_t> products = product_ends(j);
    // The next panel's columns have their products already, or get them now; beside its launches
    // (Member::beside) only one device computes others, where nothing comes in parts.
    const bool ahead = goes_in_parts(j) && !products.empty();
    if (j >= begin && !ahead) complete_panel(j);
    if (end == 1) fetch_first(end);
    if (factors_next && owns(next)) {
      const std::size_t d = dealt_.owner(next) - first_;
      if (products.empty()) {
        update(d, j, next, next + 1);
      } else if (!ahead) {
        interchange(d, j, next, next + 1);
        for (std::size_t i = 0; i < products.size(); ++i) subtract_from_next(j, i);
      }
      // Panel 0 of the next window: to a third buffer before the rows that come for block column
      // `next`, otherwise later to that of panel j, which has no more to do.
      if (last && dealt_.panels > 2) fetch_first(end);
      if (last && dealt_.panels == 2) mark_idle();
      if (owner(next).beside) {
        factor_panel(next, interchange(d, j, from, end));
        done = d;
      } else {
        factor_panel(next);
      }
    }
    if (j >= begin && ahead) complete_panel(j);
    for (std::size_t d = 0; d < members_.size(); ++d) {
      if (d != done) update(d, j, from, end);
    }
    const std::vector<cl::Event> updated = home_ ? done_so_far() : std::vector<cl::Event>();
    if (next < begin) transport_->join(fetch_panel(next, slot(next)));
    if (last && dealt_.panels == 2) fetch_first(end);
    if (factors_next) publish_panel(next);
    if (home_) {
      turn_over(j, from, end, updated);
      // Left of the window no panel keeps the host from enqueuing all steps.
      for (const cl::Event& before : idle_) {
        if (next < begin && before()) before.wait();
      }
      idle_ = updated;
    }
    context_.checkpoint();
  }
  first_slot_ = slot(end);
}

// Panel 0 for the window after the one that ends before block column `end`, whose last panel is
// still to be factored, at work or done. That window waits for it.
void DistributedLu::fetch_first(std::size_t end) {
  if (end < dealt_.blocks()) fetch_panel(0, slot(end));
}

// Rows row : row+rows of block column j as stored, in panels[slot] of the device that reads it.
// What comes from home waits for idle_.
Surface DistributedLu::in_panel(std::size_t j, std::size_t row, std::size_t rows,
                                std::size_t slot) {
  const Surface panel = reader(j).panels[slot].part(rows, dealt_.width(j));
  if (home_) {
    transport_->join(transport_->send_from_host(home_->row(j, row), {&panel.memory(), 1}, idle_,
                                                rows * home_->pitch(), {}));
  } else {
    copy_columns(j, row, panel, Direction::to_panel);
  }
  return panel;
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

// X to the device that reads block column j, without what rows are padded with: of a few columns
// that is most of it.
void DistributedLu::bring_x(std::size_t j) {
  const std::size_t to = home_ ? 0 : dealt_.owner(j), from = std::exchange(holder_, to);
  if (from == to || !(is_here(from) || is_here(to))) return;
  const std::size_t columns = members_.front()->x->columns();
  const std::size_t bytes = size_.n * columns * element();
  Staging& staging = member(is_here(from) ? from : to).context.staging();
  char* const host = static_cast<char*>(staging.room(bytes));
  if (is_here(from)) {
    DeviceContext& context = member(from).context;
    context.read_back("solve", export_columns(context, *member(from).x, 0, columns), 0, bytes,
                      host);
  }
  processes_.move(host, bytes, process_of(from), process_of(to));
  if (is_here(to)) {
    DeviceContext& context = member(to).context;
    const cl::Buffer& there = context.scratch(bytes);
    context.queue().enqueueWriteBuffer(there, CL_TRUE, 0, bytes, host);
    import_columns(context, there, columns, *member(to).x, 0);
  }
}

// The rows of block column j that are L's or, with `upper`, U's: from home in a panel.
DistributedLu::Part DistributedLu::bring(std::size_t j, bool upper, std::size_t slot) {
  const std::size_t k = dealt_.first(j);
  if (!home_) return {slab(j), 0, k - dealt_.place(j)};
  const std::size_t top = upper ? 0 : k, end = upper ? k + dealt_.width(j) : dealt_.n;
  return {in_panel(j, top, end - top, slot), top, k};
}

// Their transpose.
DistributedLu::Part DistributedLu::transposed(std::size_t j, bool upper, const Part& part) {
  const std::size_t k = dealt_.first(j);
  const std::size_t top = upper ? 0 : k, end = upper ? k + dealt_.width(j) : dealt_.n;
  const Surface columns = home_ ? part.of : in_panel(j, top, end - top, 0);
  return {transpose(reader(j).context, columns), k, top};
}

// X = inv(T) X by block columns of L or U; or, with the transpose, by the block rows of T = L' or
// U' that these are.
void DistributedLu::solve_triangle(bool upper, Op op) {
  const std::size_t blocks = dealt_.blocks();
  if (blocks == 0) return;
  const bool of_u = upper == (op == Op::none);
  const auto block = [&](std::size_t step) { return upper ? blocks - 1 - step : step; };
  const auto reads = [&](std::size_t step) { return home_ || owns(block(step)); };
  mark_idle();
  std::optional<Part> part;
  if (reads(0)) part = bring(block(0), of_u, 0);
  for (std::size_t step = 0; step < blocks; ++step) {
    mark_idle();
    bring_x(block(step));
    if (reads(step)) solve_block(block(step), upper, op, *part);
    if (step + 1 < blocks && reads(step + 1)) {
      part = bring(block(step + 1), of_u, (step + 1) % 2);
    }
    context_.checkpoint();
  }
}

// With L stored as each panel left it, inv(L) P is the product of all inv(L_j) P_j: X takes the
// interchanges of a panel before its part of L, and with the transpose the inverse ones after it.
void DistributedLu::solve_block(std::size_t j, bool upper, Op op, const Part& part) {
  Member& member = reader(j);
  const std::size_t k = dealt_.first(j), columns = member.x->columns();
  const RowMoves::List moves = member.moves.of_panel(k, dealt_.width(j));
  const Blocked::Columns x = {*member.x, 0, columns};
  if (op == Op::none) {
    if (!upper && pivoting()) member.moves.move(*member.x, 0, columns, *member.moved_x, moves);
    const Blocked::Triangle t = {part.of, upper, !upper, part.top, part.left};
    if (columns > kFewColumns) return member.blocked->solve_columns(t, k, dealt_.width(j), x);
    member.blocked->solve_diagonal_for_few(t, k, dealt_.width(j), *member.x);
    subtract_rows(member.context, t, k, dealt_.width(j), *member.x);
    return;
  }
  const Part rows = transposed(j, !upper, part);
  member.blocked->solve_rows({rows.of, upper, upper, rows.top, rows.left}, k, dealt_.width(j), x);
  if (upper && pivoting()) member.moves.move(*member.x, 0, columns, *member.moved_x, moves, true);
}

void DistributedLu::make_x(std::size_t columns) {
  for (std::size_t d = 0; d < (home_ ? 1 : members_.size()); ++d) {
    Member& member = *members_[d];
    if (member.x && member.x->columns() == columns) continue;
    const auto make = [&](std::size_t rows) {
      return Surface(member.context, rows, columns, options_.precision, Storage::buffer);
    };
    member.x = make(size_.n);
    member.moved_x = make(2 * dealt_.nb);
    fill(member.context, *member.x, 0);
  }
  holder_ = 0;
}

// P A = L U, so that inv(A) = inv(U) inv(L) P and inv(A') = P' inv(L') inv(U').
cl::Buffer DistributedLu::apply_inverse(const cl::Buffer& b, std::size_t columns, Op op) {
  announce({.kind = Task::Kind::apply_inverse, .count = columns, .op = op});
  together([&] {
    make_x(columns);
    import_columns(context_, b, columns, *members_.front()->x, 0);
    solve_triangle(false, op);
    solve_triangle(true, op);
  });
  return export_columns(context_, *members_.front()->x, 0, columns);
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

// Panels, their ways to other devices, and updates; factor() in core.
#include <list>
#include <utility>

#include "distributed/distributed_lu.hpp"

namespace lugpu {
namespace {

// Rows are many if they are more than the columns of so many blocks: see product_ends().
constexpr std::size_t kManyBlocks = 20;

}  // namespace

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

}  // namespace lugpu

// factor() where the matrix is at home in the host's memory: what comes and goes, and when.
#include <algorithm>
#include <utility>

#include "distributed/distributed_lu.hpp"

namespace lugpu {
namespace {

// In windows, what has become rows of U of a block column in so many steps goes home in one copy.
constexpr std::size_t kSteps = 4;

}  // namespace

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

}  // namespace lugpu

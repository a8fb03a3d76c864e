// Solutions by block columns of L and U, on devices or at home.
#include <utility>

#include "distributed/distributed_lu.hpp"

namespace lugpu {
namespace {

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

}  // namespace

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

}  // namespace lugpu

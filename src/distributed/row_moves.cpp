#include "distributed/row_moves.hpp"

namespace lugpu {
namespace {

// A list of `width` interchanges: rows that move and where they go.
constexpr std::size_t list_size(std::size_t width) {
  return 4 * width;
}

cl_int to_int(std::size_t value) {
  return static_cast<cl_int>(value);
}

}  // namespace

bool by_rows(const DeviceContext& context) {
  return context.device().type == "cpu";
}

const char* rows_option(const DeviceContext& context) {
  return by_rows(context) ? " -DLUGPU_BY_ROWS" : "";
}

RowMoves::RowMoves(DeviceContext& context, Precision precision, std::size_t n, std::size_t nb)
    : context_(context),
      precision_(precision),
      ipiv_(context.allocate(n * sizeof(cl_int))),
      panels_(context.allocate(list_size(n) * sizeof(cl_int))),
      part_(context.allocate(list_size(nb) * sizeof(cl_int))) {}

std::uint64_t RowMoves::bytes(std::size_t n, std::size_t nb) {
  return (n + list_size(n) + list_size(nb)) * sizeof(cl_int);
}

RowMoves::List RowMoves::of_panel(std::size_t k, std::size_t width) const {
  return {panels_, list_size(k), 2 * width};
}

void RowMoves::list_panel(std::size_t k, std::size_t width) const {
  enqueue_list(of_panel(k, width), k, k, k);
}

RowMoves::List RowMoves::list_part(std::size_t k, std::size_t width, std::size_t at,
                                   std::size_t top) const {
  const List list = {part_, 0, 2 * width};
  enqueue_list(list, k, at, top);
  return list;
}

void RowMoves::enqueue_list(const List& list, std::size_t k, std::size_t at,
                            std::size_t top) const {
  const std::size_t width = list.count / 2;
  context_.run("interchange",
               {"dense/move_rows.cl", "list_row_moves", precision_, Storage::buffer, Texel::rgba,
                rows_option(context_)},
               {width}, ipiv_, to_int(k), to_int(width), to_int(at), to_int(top), list.rows,
               to_int(list.start));
}

void RowMoves::move(const Surface& columns, std::size_t first, std::size_t end,
                    const Surface& moved, const List& list, bool back) const {
  const Surface a = columns.with_texel(Texel::rgba);
  const std::size_t packs = a.texels(first, end), count = list.count;
  const std::size_t from = list.start + (back ? count : 0), to = list.start + (back ? 0 : count);
  const auto run = [&](const char* function) {
    run_on_rows(context_, "interchange", a, function, packs, count, a, moved, list.rows,
                to_int(from), to_int(to), to_int(a.rows()), to_int(first / a.pack()));
  };
  run("take_rows");
  run("put_rows");
  // At most.
  context_.timeline().add_bytes(4 * count * (end - first) * element_size(a.precision()));
}

}  // namespace lugpu

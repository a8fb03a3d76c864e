#include "dense/pivoting.hpp"

#include "dense/permutation.hpp"
#include "dense/pivot_rules.hpp"

namespace lugpu {
namespace {

// The full search cuts every column into this many slices, so that it keeps a GPU busy.
constexpr std::size_t kSlices = 16;

constexpr std::size_t kSearchGroup = 256;  // one work-group of SEARCHERS, dense/pivot_search.clh

}  // namespace

Pivoting::Pivoting(DeviceContext& context, const Size& size, const DenseOptions& options)
    : context_(context), size_(size), options_(options) {
  const std::size_t n = size.n;
  values_ = context.allocate(n * element_size(options.precision));
  places_ = context.allocate(n * sizeof(cl_int2));
  if (rule_of(options.pivot).search == Search::matrix) {
    magnitudes_ = context.allocate(kSlices * n * element_size(options.precision));
    rows_ = context.allocate(kSlices * n * sizeof(cl_int));
  }
  // The sizes of A's rows, which follow the interchanges.
  if (rule_of(options.pivot).search == Search::scaled) {
    magnitudes_ = context.allocate(n * element_size(options.precision));
  }
}

std::uint64_t Pivoting::workspace(const Size& size, const DenseOptions& options) {
  const std::uint64_t element = element_size(options.precision);
  const std::uint64_t candidates = rule_of(options.pivot).search == Search::matrix
                                       ? kSlices * (element + sizeof(cl_int))
                                   : rule_of(options.pivot).search == Search::scaled ? element
                                                                                     : 0;
  return size.n * (element + sizeof(cl_int2) + candidates);
}

void Pivoting::step(PingPong& surfaces, std::size_t k, std::size_t first, std::size_t end) {
  if (rule_of(options_.pivot).search == Search::nothing) return;
  search(surfaces.src, k);
  cl_int2 place;
  context_.read_back("pivot_search", places_, k * sizeof(place), sizeof(place), &place);
  const int row = place.s[0];
  const int column = place.s[1];
  require_inside(row, k, size_.n);
  require_inside(column, k, size_.n);

  const std::uint64_t m = size_.n - k;
  // Of a rook's walk, the column and the row that it takes at least.
  const Search kind = rule_of(options_.pivot).search;
  const std::uint64_t searched = kind == Search::matrix
                                     ? m * surfaces.src.pack() * surfaces.src.texels(k, size_.n)
                                 : kind == Search::walk ? 2 * m
                                                        : m;
  context_.timeline().add_bytes(searched * element_size(options_.precision));
  const int step = static_cast<int>(k);
  if (row != step) interchange_rows(surfaces, step, row, first, end);
  if (column != step) interchange_columns(surfaces, step, column);
}

void Pivoting::search(const Surface& source, std::size_t k) {
  const cl_int step = static_cast<cl_int>(k);
  const cl_int n = static_cast<cl_int>(size_.n);
  if (rule_of(options_.pivot).search == Search::scaled) {
    if (k == 0) {
      context_.run("pivot_search", source.kernel("dense/passes.cl", "measure_rows"), {size_.n},
                   source, magnitudes_, n);
    }
    context_.run("pivot_search", source.kernel("dense/passes.cl", rule_of(options_.pivot).find),
                 {kSearchGroup}, source, magnitudes_, places_, step, n);
    return;
  }
  if (const char* find = rule_of(options_.pivot).find) {
    context_.run("pivot_search", source.kernel("dense/passes.cl", find), {kSearchGroup}, source,
                 places_, step, n);
    return;
  }
  context_.run("pivot_search", source.kernel("dense/passes.cl", "search_each_column"),
               {source.texels(k, size_.n), kSlices}, source, magnitudes_, rows_, step, n);
  context_.run("pivot_search", source.kernel("dense/passes.cl", "search_candidates"),
               {kSearchGroup}, magnitudes_, rows_, places_, step, n, static_cast<cl_int>(kSlices));
}

void Pivoting::interchange_rows(PingPong& surfaces, int a, int b, std::size_t first,
                                std::size_t end) {
  const cl_int from = static_cast<cl_int>(first);
  const cl_int to = static_cast<cl_int>(end);
  const std::size_t texels = surfaces.src.texels(first, end);
  context_.run("interchange", surfaces.src.kernel("dense/passes.cl", "exchange_rows"), {texels},
               surfaces.src, surfaces.dst, a, b, from, to);
  context_.run("interchange", surfaces.src.kernel("dense/passes.cl", "copy_rows"), {texels},
               surfaces.dst, surfaces.src, a, b, from, to);
  // Each kernel loads and stores two texels.
  context_.timeline().add_bytes(8 * surfaces.src.pack() * texels *
                                element_size(options_.precision));
}

void Pivoting::interchange_columns(PingPong& surfaces, int a, int b) {
  const cl_int n = static_cast<cl_int>(size_.n);
  context_.run("interchange", surfaces.src.kernel("dense/passes.cl", "exchange_columns"), {size_.n},
               surfaces.src, surfaces.dst, a, b, n);
  context_.run("interchange", surfaces.src.kernel("dense/passes.cl", "copy_columns"), {size_.n},
               surfaces.dst, surfaces.src, a, b, n);
  context_.timeline().add_bytes(8 * surfaces.src.pack() * size_.n *
                                element_size(options_.precision));
}

Outcome Pivoting::outcome() {
  Outcome outcome;
  outcome.pivots = download(context_, values_, size_.n, 1, options_.precision).values();
  for (std::size_t k = 0; k < size_.n && outcome.info == 0; ++k) {
    if (outcome.pivots[k] == 0) outcome.info = static_cast<int>(k) + 1;
  }
  if (!exchanges_rows(options_.pivot) || size_.n == 0) return outcome;

  std::vector<cl_int2> places(size_.n);
  context_.queue().enqueueReadBuffer(places_, CL_TRUE, 0, places.size() * sizeof(cl_int2),
                                     places.data());
  for (const cl_int2& place : places) {
    outcome.ipiv.push_back(place.s[0] + 1);
    if (exchanges_columns(options_.pivot)) outcome.jpiv.push_back(place.s[1] + 1);
  }
  return outcome;
}

}  // namespace lugpu

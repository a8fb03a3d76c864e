#include "iterative/colours.hpp"

#include <numeric>

namespace lugpu {
namespace {

// Calls action(column) for the entries of row i.
template <typename Action>
void each_column(const Sparse& a, std::size_t i, const Action& action) {
  for (std::int64_t k = a.row_begin()[i]; k < a.row_begin()[i + 1]; ++k) {
    action(static_cast<std::size_t>(a.columns()[static_cast<std::size_t>(k)]));
  }
}

// The colour of every unknown.
std::vector<std::size_t> greedy(const Sparse& a, std::size_t& count) {
  const Sparse transposed = a.transposed();
  std::vector<std::size_t> colour(a.rows());
  std::vector<std::size_t> seen_by;  // for each colour, the last row with a neighbour of it, plus 1
  for (std::size_t i = 0; i < a.rows(); ++i) {
    const auto see = [&](std::size_t j) {
      if (j < i) seen_by[colour[j]] = i + 1;
    };
    each_column(a, i, see);
    each_column(transposed, i, see);
    std::size_t first = 0;
    while (first < seen_by.size() && seen_by[first] == i + 1) ++first;
    if (first == seen_by.size()) seen_by.push_back(0);
    colour[i] = first;
  }
  count = seen_by.size();
  return colour;
}

}  // namespace

Colours colours(const Sparse& a) {
  std::size_t count = 0;
  const std::vector<std::size_t> colour = greedy(a, count);
  Colours result;
  result.begins.assign(count + 1, 0);
  for (const std::size_t c : colour) ++result.begins[c + 1];
  std::partial_sum(result.begins.begin(), result.begins.end(), result.begins.begin());
  std::vector<std::size_t> next = result.begins;
  result.order.resize(a.rows());
  for (std::size_t i = 0; i < a.rows(); ++i) {
    result.order[next[colour[i]]++] = static_cast<std::int32_t>(i);
  }
  return result;
}

Sparse reordered(const Sparse& a, const std::vector<std::int32_t>& order) {
  std::vector<std::int32_t> place(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    place[static_cast<std::size_t>(order[k])] = static_cast<std::int32_t>(k);
  }
  std::vector<Triplet> triplets;
  triplets.reserve(a.values().size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    const auto i = static_cast<std::size_t>(order[k]);
    for (std::int64_t at = a.row_begin()[i]; at < a.row_begin()[i + 1]; ++at) {
      const auto entry = static_cast<std::size_t>(at);
      const auto column = static_cast<std::size_t>(a.columns()[entry]);
      triplets.push_back({static_cast<std::int32_t>(k), place[column], a.values()[entry]});
    }
  }
  return Sparse(a.rows(), a.cols(), std::move(triplets));
}

}  // namespace lugpu

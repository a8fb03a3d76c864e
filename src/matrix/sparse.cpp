#include "matrix/sparse.hpp"

#include <algorithm>
#include <numeric>

namespace lugpu {
namespace {

// Stable counting sort of `count` entries by row: calls put(k, place) for every entry k in order,
// where row_of(k) is its row, and returns where each row begins. Both see k ascend from 0.
template <typename RowOf, typename Put>
std::vector<std::int64_t> sort_by_row(std::size_t rows, std::size_t count, const RowOf& row_of,
                                      const Put& put) {
  // Counts are two places ahead: their sums are the beginnings one place ahead, and each of these
  // has become the beginning of the next row once its entries are placed.
  std::vector<std::int64_t> begin(rows + 2, 0);
  for (std::size_t k = 0; k < count; ++k) ++begin[row_of(k) + 2];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  for (std::size_t k = 0; k < count; ++k) {
    put(k, static_cast<std::size_t>(begin[row_of(k) + 1]++));
  }
  begin.pop_back();
  return begin;
}

// Calls action(i, j, value) for every entry, row after row.
template <typename Action>
void for_each_entry(const Sparse& a, const Action& action) {
  for (std::size_t i = 0; i < a.rows(); ++i) {
    const auto end = static_cast<std::size_t>(a.row_begin()[i + 1]);
    for (auto k = static_cast<std::size_t>(a.row_begin()[i]); k < end; ++k) {
      action(i, static_cast<std::size_t>(a.columns()[k]), a.values()[k]);
    }
  }
}

// Whether a(i, j) = a(j, i) for all i and j. Rows are taken in order, so the entries right of the
// diagonal in row j meet their mirror images, column j of the later rows, from left to right: one
// place in each row tells which come next.
bool is_symmetric(const Sparse& a) {
  if (a.rows() != a.cols()) return false;
  std::vector<std::int64_t> next(a.row_begin().begin(), a.row_begin().end() - 1);
  bool symmetric = true;
  // Passes the entries of row j left of column i; they have no image below, so they must be zero.
  const auto pass = [&](std::size_t j, std::size_t i) {
    for (; next[j] < a.row_begin()[j + 1]; ++next[j]) {
      const auto k = static_cast<std::size_t>(next[j]);
      const auto column = static_cast<std::size_t>(a.columns()[k]);
      if (column >= i) return column == i;
      symmetric = symmetric && (column <= j || a.values()[k] == 0.0);
    }
    return false;
  };
  for_each_entry(a, [&](std::size_t i, std::size_t j, double value) {
    if (j >= i || !symmetric) return;
    const double image = pass(j, i) ? a.values()[static_cast<std::size_t>(next[j]++)] : 0.0;
    symmetric = symmetric && value == image;
  });
  for (std::size_t j = 0; j < a.rows() && symmetric; ++j) pass(j, a.cols());
  return symmetric;
}

}  // namespace

struct Sparse::Entries {
  std::vector<std::int64_t> row_begin;
  std::vector<std::int32_t> columns;
  std::vector<double> values;

  explicit Entries(std::size_t count) : columns(count), values(count) {}

  bool columns_ascend() const {
    for (std::size_t i = 0; i + 1 < row_begin.size(); ++i) {
      if (!std::is_sorted(columns.begin() + row_begin[i], columns.begin() + row_begin[i + 1])) {
        return false;
      }
    }
    return true;
  }

  // The transpose of a matrix with `cols` columns, which its arrays stand for.
  static Entries transposed(std::size_t cols, std::span<const std::int64_t> row_begin,
                            std::span<const std::int32_t> columns, std::span<const double> values) {
    Entries t(columns.size());
    std::size_t row = 0;
    t.row_begin = sort_by_row(
        cols, columns.size(), [&](std::size_t k) { return static_cast<std::size_t>(columns[k]); },
        [&](std::size_t k, std::size_t place) {
          while (row_begin[row + 1] <= static_cast<std::int64_t>(k)) ++row;
          t.columns[place] = static_cast<std::int32_t>(row);
          t.values[place] = values[k];
        });
    return t;
  }

  // Adds up the entries of one place, which are neighbours, and closes the gaps.
  void add_duplicates() {
    std::size_t to = 0;
    std::int64_t begin = 0;
    for (std::size_t i = 0; i + 1 < row_begin.size(); ++i) {
      const std::size_t first = to;
      const std::int64_t end = row_begin[i + 1];
      for (auto k = static_cast<std::size_t>(begin); k < static_cast<std::size_t>(end); ++k) {
        if (to > first && columns[to - 1] == columns[k]) {
          values[to - 1] += values[k];
          continue;
        }
        columns[to] = columns[k];
        values[to++] = values[k];
      }
      begin = end;
      row_begin[i + 1] = static_cast<std::int64_t>(to);
    }
    columns.resize(to);
    values.resize(to);
  }
};

void Sparse::hold(std::shared_ptr<const Entries> entries) {
  entries_ = std::move(entries);
  row_begin_ = entries_->row_begin;
  columns_ = entries_->columns;
  values_ = entries_->values;
}

Sparse::Sparse(std::size_t rows, std::size_t cols, std::vector<Triplet> triplets)
    : rows_(rows), cols_(cols) {
  const auto entries = std::make_shared<Entries>(triplets.size());
  entries->row_begin = sort_by_row(
      rows, triplets.size(),
      [&](std::size_t k) { return static_cast<std::size_t>(triplets[k].row); },
      [&](std::size_t k, std::size_t place) {
        entries->columns[place] = triplets[k].column;
        entries->values[place] = triplets[k].value;
      });
  std::vector<Triplet>().swap(triplets);
  if (!entries->columns_ascend()) {  // A transpose has its rows in order.
    *entries = Entries::transposed(cols, entries->row_begin, entries->columns, entries->values);
    *entries = Entries::transposed(rows, entries->row_begin, entries->columns, entries->values);
  }
  entries->add_duplicates();
  hold(entries);
}

Sparse Sparse::transposed() const {
  Sparse t;
  t.rows_ = cols_;
  t.cols_ = rows_;
  t.hold(std::make_shared<Entries>(Entries::transposed(cols_, row_begin_, columns_, values_)));
  return t;
}

Matrix dense(const Sparse& a) {
  Matrix full(a.rows(), a.cols());
  for_each_entry(a, [&](std::size_t i, std::size_t j, double value) {
    full(i, j) += value;  // 0 + -0 = 0
  });
  return full;
}

SparsityFacts facts(const Sparse& a) {
  SparsityFacts facts;
  const std::size_t order = std::min(a.rows(), a.cols());
  std::size_t nonzero = 0, positive = 0;         // elements of the diagonal
  std::vector<bool> found(a.rows() + a.cols());  // the offsets j - i, rows() ahead
  for_each_entry(a, [&](std::size_t i, std::size_t j, double value) {
    if (i >= j) facts.lower_bandwidth = std::max(facts.lower_bandwidth, i - j);
    if (j >= i) facts.upper_bandwidth = std::max(facts.upper_bandwidth, j - i);
    found[a.rows() + j - i] = true;
    nonzero += i == j && value != 0.0 ? 1 : 0;
    positive += i == j && value > 0.0 ? 1 : 0;
  });
  facts.diagonals = static_cast<std::size_t>(std::count(found.begin(), found.end(), true));
  facts.missing_diagonal = order - nonzero;
  facts.positive_diagonal = positive == order;
  facts.symmetric = is_symmetric(a);
  return facts;
}

}  // namespace lugpu

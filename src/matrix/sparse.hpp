// Sparse real matrices on the host, in compressed sparse rows, and what their pattern tells. Source
// of the format: T. A. Davis, "Direct Methods for Sparse Linear Systems", SIAM, 2006, chapter 2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "matrix/matrix.hpp"

namespace lugpu {

/// A value and its place, counted from 0: what a sparse matrix is put together from.
struct Triplet {
  std::int32_t row;
  std::int32_t column;
  double value;
};

/// m x n matrix of doubles in compressed sparse rows (CSR), m and n at most 2^31 - 1; copies share
/// their entries. Entry k is
/// values()[k] in column columns()[k], 0-based; row i has the entries from row_begin()[i] up to
/// row_begin()[i + 1], whose columns ascend without duplicates. Elements that are not entries are
/// zero; an entry may be zero too.
class Sparse {
 public:
  /// 0 x 0.
  Sparse() = default;
  /// The sum of the triplets: those of one place are added in the order given, zeros stay entries.
  /// The places must be inside rows x cols; they are not checked. Takes O(triplets + rows + cols)
  /// time and, next to the triplets, 12 bytes each and 8 for each row; columns in disorder take no
  /// more, but 8 bytes for each column. Throws std::bad_alloc.
  Sparse(std::size_t rows, std::size_t cols, std::vector<Triplet> triplets);
  /// The arrays of somebody else, which must outlive this matrix and its copies, and stay as they
  /// are. They must be what row_begin(), columns() and values() give; that is not checked.
  Sparse(std::size_t rows, std::size_t cols, std::span<const std::int64_t> row_begin,
         std::span<const std::int32_t> columns, std::span<const double> values)
      : rows_(rows), cols_(cols), row_begin_(row_begin), columns_(columns), values_(values) {}

  std::size_t rows() const { return rows_; }
  std::size_t cols() const { return cols_; }

  /// rows() + 1 places in columns() and values(), ascending from 0 to the number of entries.
  std::span<const std::int64_t> row_begin() const { return row_begin_; }
  /// One for each entry.
  std::span<const std::int32_t> columns() const { return columns_; }
  std::span<const double> values() const { return values_; }

  /// The n x m transpose, in O(entries + m + n) time. Throws std::bad_alloc.
  Sparse transposed() const;

 private:
  struct Entries;  // memory of this matrix and its copies

  void hold(std::shared_ptr<const Entries> entries);

  static constexpr std::int64_t kNoRows[] = {0};

  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
  std::shared_ptr<const Entries> entries_;  // null if they are somebody else's
  std::span<const std::int64_t> row_begin_ = kNoRows;
  std::span<const std::int32_t> columns_;
  std::span<const double> values_;
};

/// The same matrix with its zeros, all of them positive. Takes 8 * rows * cols bytes; throws
/// std::bad_alloc.
Matrix dense(const Sparse& a);

/// What the entries of a matrix tell about it. Entries that are zero count as entries, except where
/// the values matter: in the last three.
struct SparsityFacts {
  std::size_t lower_bandwidth = 0;   ///< largest i - j of an entry (i, j); 0 if none is positive
  std::size_t upper_bandwidth = 0;   ///< largest j - i
  std::size_t diagonals = 0;         ///< how many values j - i has
  std::size_t missing_diagonal = 0;  ///< i < min(m, n) for which a(i, i) is no entry or is zero
  bool symmetric = false;            ///< A = A' without any rounding; an empty matrix too
  bool positive_diagonal = false;    ///< a(i, i) > 0 for all i < min(m, n)
};

/// In O(entries + rows + cols) time and memory. Throws std::bad_alloc.
SparsityFacts facts(const Sparse& a);

}  // namespace lugpu

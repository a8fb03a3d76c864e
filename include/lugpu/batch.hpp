// Many small systems at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lugpu/solve.hpp"

namespace lugpu {

/// `size()` matrices of one shape in memory that somebody else owns: members of one array, the same
/// distance apart, or views of any places. T: float or double, const where it is only read.
template <typename T>
class Batch {
 public:
  Batch() = default;
  /// Member i is `first` moved by i * stride elements.
  Batch(View<T> first, std::size_t count, std::size_t stride)
      : first_(first), count_(count), stride_(stride) {}
  /// The views, which must stay where they are; all have the shape of the first one.
  explicit Batch(std::span<const View<T>> members)
      : first_(members.empty() ? View<T>{} : members[0]),
        count_(members.size()),
        members_(members.data()) {}

  std::size_t size() const { return count_; }
  std::size_t rows() const { return first_.rows; }
  std::size_t columns() const { return first_.columns; }
  View<T> operator[](std::size_t i) const {
    if (members_) return members_[i];
    View<T> member = first_;
    if (member.data) member.data += i * stride_;
    return member;
  }

 private:
  View<T> first_;
  std::size_t count_ = 0, stride_ = 0;
  const View<T>* members_ = nullptr;  // null: by stride_
};

/// The largest order of the members of a batch.
inline constexpr std::size_t kMostBatchOrder = 512;

/// How a batch is solved.
struct BatchOptions {
  Pivot pivot = Pivot::partial;  ///< none, partial or full
  bool inverse = false;          ///< compute the inverses too
  bool check = true;             ///< compute solve_ratio: without it, members are `unchecked`
};

/// The solutions of a batch of `count` systems. T: float or double.
template <typename T>
struct BatchSolution {
  std::size_t count = 0, n = 0, nrhs = 0;
  /// The solutions one after the other, each n x nrhs, column after column; NaN where a member has
  /// none (singular).
  std::vector<T> x;
  /// The inverses likewise, each n x n, with BatchOptions::inverse; else empty.
  std::vector<T> inverse;
  std::vector<int> info;       ///< of each member: 0, or k > 0: pivot k (1-based) is exactly zero
  std::vector<Status> status;  ///< of each member
  /// ||B - A X||_1 / (||A||_1 ||X||_1 eps) of each member, LAPACK's dget02; NaN for a singular
  /// member and for one with a NaN; empty without BatchOptions::check.
  std::vector<double> solve_ratio;
  std::map<std::string, double> phases_s;  ///< seconds: upload, factor, solve, inverse, check

  /// How many members have this status.
  std::size_t members(Status wanted) const {
    return static_cast<std::size_t>(std::count(status.begin(), status.end(), wanted));
  }
  /// X of member i, n x nrhs.
  View<const T> view(std::size_t i) const { return {x.data() + i * n * nrhs, n, nrhs, n}; }
};

/// Solves A X = B for every member. a: n x n each, n at most kMostBatchOrder; b: n x nrhs each, as
/// many; neither is changed. A member's answer has the same bits whatever the others are. A member
/// that is singular or fails its check says so in `status`, the others are solved. Throws Error:
/// bad_input for shapes, unsupported for what the device cannot do, failure for errors of OpenCL.
template <typename T>
BatchSolution<T> solve_batch(const Context& context, const Batch<const T>& a,
                             const Batch<const T>& b, const BatchOptions& options = {});

extern template LUGPU_API BatchSolution<float> solve_batch(const Context&,
                                                           const Batch<const float>&,
                                                           const Batch<const float>&,
                                                           const BatchOptions&);
extern template LUGPU_API BatchSolution<double> solve_batch(const Context&,
                                                            const Batch<const double>&,
                                                            const Batch<const double>&,
                                                            const BatchOptions&);

/// P A Q = L U of every member of a batch, on the device. Cheap to copy; all copies are the same.
/// Threads may share it, as they may share its Context. T: float or double.
template <typename T>
class LUGPU_API BatchFactorization {
 public:
  std::size_t size() const;  ///< members
  std::size_t n() const;
  /// Of each member: 0, or k > 0: its k-th pivot (1-based) is exactly zero, as LAPACK's getrf has
  /// it.
  const std::vector<int>& info() const;
  /// n of each member, one member after the other: row k was interchanged with row ipiv[k-1],
  /// 1-based, as dgetrf's; empty without pivoting.
  const std::vector<int>& ipiv() const;
  /// Likewise the columns, as dgetc2's; empty unless the pivoting is full.
  const std::vector<int>& jpiv() const;

  /// B becomes X with A X = B in every member, NaN in one whose info is not 0. b: n x nrhs each.
  void solve(const Batch<T>& b) const;
  /// L (unit, below the diagonal) and U. lu: n x n each.
  void factors(const Batch<T>& lu) const;
  /// inv(A), NaN of a member whose info is not 0. inverse: n x n each.
  void inverse(const Batch<T>& inverse) const;

  class LUGPU_LOCAL Implementation;
  explicit BatchFactorization(std::shared_ptr<Implementation> implementation);

 private:
  std::shared_ptr<Implementation> implementation_;
};

extern template class BatchFactorization<float>;
extern template class BatchFactorization<double>;

/// Factors every member of a, n x n, n at most kMostBatchOrder, which is not changed. pivot: none,
/// partial or full. Throws as solve_batch().
template <typename T>
BatchFactorization<T> factorize_batch(const Context& context, const Batch<const T>& a,
                                      Pivot pivot = Pivot::partial);

extern template LUGPU_API BatchFactorization<float> factorize_batch(const Context&,
                                                                    const Batch<const float>&,
                                                                    Pivot);
extern template LUGPU_API BatchFactorization<double> factorize_batch(const Context&,
                                                                     const Batch<const double>&,
                                                                     Pivot);

}  // namespace lugpu

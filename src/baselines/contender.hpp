// What the benchmark times: a rival here, a method of lugpu by way of bench/.
#pragma once

#include <optional>
#include <string>

#include "dense/factorization.hpp"
#include "solve/problem.hpp"

namespace lugpu {

/// One problem, allocated once and solved any number of times:
///   upload, then (reset, factor, solve) as often as wanted, then download.
/// factor() and solve() return when they are done.
class Contender {
 public:
  virtual ~Contender() = default;

  /// a: n x n, b: n x nrhs, which must stay as they are until the last solve(). Throws InputError
  /// if a value overflows the precision.
  virtual void upload(const MatrixView& a, const MatrixView& b) = 0;
  /// Seconds for which later calls have waited for what upload() left to come meanwhile.
  virtual double waited_for_upload() const { return 0; }
  /// A and B as they were uploaded, again.
  virtual void reset() = 0;
  /// Factors A (or reduces [A | B]).
  virtual void factor() = 0;
  /// Of the last factor().
  virtual Outcome outcome() = 0;
  /// Its info alone.
  virtual int info() { return outcome().info; }
  /// X from the factors; only after a factor() with info = 0. With Refine::mixed it may factor anew
  /// in double, so that outcome() changes.
  virtual void solve() = 0;
  /// X, n x nrhs.
  virtual Matrix download() = 0;

  /// What a contender does once for a problem, after upload(), so that no timed run has to: loading
  /// code, or trying which of several routines is the fastest. Leaves A and B as reset() does.
  virtual void prepare() {}
  /// The routine that factor() calls, where there are several. Absent where there is one.
  virtual std::optional<std::string> variant() const { return std::nullopt; }
  /// Of the last solve(). Absent for a contender that does not refine.
  virtual std::optional<Refinement> refinement() const { return std::nullopt; }
  /// reset() and factor(), timed by the clock of the device: seconds. Absent, and nothing is done,
  /// if the contender cannot ask for that.
  virtual std::optional<double> profiled_factor() { return std::nullopt; }
  /// One of the matrix products that factor() spends its time on, alone: the same kernels, order
  /// and block size. Only after a factor(); the factors are lost. Returns its multiply-adds when it
  /// is done; 0, and nothing runs, if the method is not made of products or the matrix too small.
  virtual std::uint64_t multiply() { return 0; }

  /// inv(A) by the factors, good until the next reset(); empty if there is no such call.
  virtual ApplyInverse apply_inverse() { return {}; }
  /// The factors that factor() left, n x n: unit lower L below the diagonal, U on and above it.
  /// Valid for info > 0 too. Absent if there are none.
  virtual std::optional<Matrix> lu() { return std::nullopt; }
  /// max |u_ij| of these factors over `a_max`, without all of them on the host at a time. Absent if
  /// that cannot be had.
  virtual std::optional<double> growth(double /*a_max*/) { return std::nullopt; }
  /// inv(A), n x n, computed now; only after a factor() with info = 0. Absent if there is lu().
  virtual std::optional<Matrix> inverse() { return std::nullopt; }
};

}  // namespace lugpu

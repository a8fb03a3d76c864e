// What every solver of A X = B is: the problem, the outcome, the steps that are timed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "matrix/matrix.hpp"
#include "opencl/element.hpp"

namespace lugpu {

/// Which element becomes the pivot of step k: the diagonal one, the largest of its column, one that
/// is the largest of both its row and its column (Neal and Poole, A geometric analysis of Gaussian
/// elimination II, Linear Algebra Appl. 173, 1992), the largest of the trailing matrix.
enum class Pivot { none, partial, rook, full };

/// The names on the command line and in records.
constexpr const char* name(Pivot pivot) {
  switch (pivot) {
    case Pivot::none:
      return "none";
    case Pivot::partial:
      return "partial";
    case Pivot::rook:
      return "rook";
    case Pivot::full:
      break;
  }
  return "full";
}

/// Whether columns are interchanged too: P A Q = L U.
constexpr bool exchanges_columns(Pivot pivot) {
  return pivot == Pivot::rook || pivot == Pivot::full;
}

/// How X is improved: not at all; in the precision of the factors; or from factors in single
/// precision to the accuracy of double.
enum class Refine { none, fixed, mixed };

/// What --precision chooses.
struct Arithmetic {
  Arithmetic(Precision of_factors, Refine refinement = Refine::none)
      : precision(of_factors), refine(refinement) {}
  bool operator==(const Arithmetic&) const = default;

  Precision precision;
  Refine refine;
};

/// A matrix or its transpose.
enum class Op { none, transpose };

/// X = inv(A) X, or inv(A') X; x: n rows and any number of columns.
using ApplyInverse = std::function<void(Matrix& x, Op op)>;

/// How an elimination step is cut into launches: one for each pass of the LU-GPU paper, with the
/// pivot read back; or one for all of them, with the pivots kept on the device.
enum class Schedule { paper, fused };

constexpr const char* name(Schedule schedule) {
  return schedule == Schedule::paper ? "paper" : "fused";
}

/// A X = B: A is n x n, B and X are n x nrhs.
struct Problem {
  std::size_t n = 0;
  std::size_t nrhs = 0;
  Pivot pivot = Pivot::partial;
  Precision precision = Precision::double_precision;  ///< of the factors; single for Refine::mixed
  Storage storage = Storage::buffer;  ///< this and the rest: meaningless on the host
  Texel texel = Texel::r;
  Schedule schedule = Schedule::paper;
  std::size_t nb = 0;        ///< columns of a block; 0 for the fastest, or a method without blocks
  bool perturb = false;      ///< with the fused schedule: a pivot below getc2's smin becomes smin
  bool equilibrate = false;  ///< whether R A C is factored in place of A where that helps
  Refine refine = Refine::none;
};

/// The precision that X is to have.
constexpr Precision working_precision(const Problem& problem) {
  return problem.refine == Refine::mixed ? Precision::double_precision : problem.precision;
}

/// The name of the arithmetic, on the command line and in records: single, double or mixed.
constexpr const char* precision_name(const Problem& problem) {
  return problem.refine == Refine::mixed ? "mixed" : name(problem.precision);
}

/// How a refinement went.
struct Refinement {
  int steps = 0;          ///< corrections of X
  int gmres_steps = 0;    ///< of these, steps of GMRES
  bool converged = true;  ///< false: X stays less accurate than asked for, unless `fallback`
  std::string fallback;   ///< why A was factored in double after all; empty if it was not
  bool residuals_on_device = false;  ///< else they are computed on the host
};

/// How a factorization ended.
struct Outcome {
  int info = 0;           ///< 0, or k > 0: the k-th pivot (1-based) is exactly zero, as LAPACK's
  std::vector<int> ipiv;  ///< row k was interchanged with row ipiv[k-1], 1-based, as dgetrf's;
                          ///< empty without pivoting
  std::vector<int> jpiv;  ///< likewise the columns, as dgetc2's; only with rook and full pivoting
  std::vector<double> pivots;  ///< the n pivots: U's diagonal
};

/// One problem, allocated once and solved any number of times:
///   upload, then (reset, factor, solve) as often as wanted, then download.
/// factor() and solve() return when they are done.
class Solver {
 public:
  virtual ~Solver() = default;

  /// a: n x n, b: n x nrhs. `a` must stay as it is until the last solve(), which may go back to it
  /// to refine X. Throws InputError if a value overflows the precision.
  virtual void upload(const Matrix& a, const Matrix& b) = 0;
  /// A and B as they were uploaded, again.
  virtual void reset() = 0;
  /// Factors A (or reduces [A | B]).
  virtual void factor() = 0;
  /// Of the last factor().
  virtual Outcome outcome() = 0;
  /// X from the factors; only after a factor() with info = 0. With Refine::mixed it may factor anew
  /// in double, so that outcome() changes.
  virtual void solve() = 0;
  /// X, n x nrhs.
  virtual Matrix download() = 0;

  /// What a solver does once for a problem, after upload(), so that no timed run has to: loading
  /// code, or trying which of several routines is the fastest. Leaves A and B as reset() does.
  virtual void prepare() {}
  /// The routine that factor() calls, where there are several. Absent where there is one.
  virtual std::optional<std::string> variant() const { return std::nullopt; }
  /// Of the last solve(). Absent for a solver that does not refine.
  virtual std::optional<Refinement> refinement() const { return std::nullopt; }
  /// reset() and factor(), timed by the clock of the device: seconds. Absent, and nothing is done,
  /// if the solver cannot ask for that.
  virtual std::optional<double> profiled_factor() { return std::nullopt; }
  /// One of the matrix products that factor() spends its time on, alone: the same kernels, order
  /// and block size. Only after a factor(); the factors are lost. Returns its multiply-adds when it
  /// is done; 0, and nothing runs, if the method is not made of products or the matrix too small.
  virtual std::uint64_t multiply() { return 0; }

  /// X = inv(A) X, or inv(A') X, by the factors that factor() left (LAPACK's getrs); only after a
  /// factor() with info = 0. x: n rows and any number of columns; its values are rounded to the
  /// precision. Throws InputError if one overflows it, and Unsupported if the method keeps no
  /// factors (Method::keeps_factors).
  virtual void apply_inverse(Matrix& x, Op op);

  /// The factors that factor() left, n x n: unit lower L below the diagonal, U on and above it.
  /// Valid for info > 0 too. Absent if the method has none.
  virtual std::optional<Matrix> lu() { return std::nullopt; }
  /// inv(A), n x n, computed now; only after a factor() with info = 0. Absent if the method has
  /// lu().
  virtual std::optional<Matrix> inverse() { return std::nullopt; }
};

/// By the factors of `solver`, which must outlive it, for any finite x: columns are scaled by
/// powers of two to the size of A's elements, so that neither they nor the products leave the range
/// of single precision unless the condition number does.
ApplyInverse inverse_by(Solver& solver, const Matrix& a);

/// Throws Error (failure) unless k <= place < n: the row or column, 0-based, where a device found
/// pivot k of n.
void require_inside(int place, std::size_t k, std::size_t n);

/// Row interchanges as a permutation: for ipiv (1-based, applied from first to last) the vector p,
/// 0-based, with (P B)(i, :) = B(p[i], :). Throws as require_inside.
std::vector<int> permutation_of(const std::vector<int>& ipiv);

/// The inverse permutation.
std::vector<int> inverse_permutation(const std::vector<int>& p);

/// X(i, :) = X(p[i], :)
void permute_rows(Matrix& x, const std::vector<int>& p);

}  // namespace lugpu

// A X = B.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lugpu/device.hpp"
#include "lugpu/options.hpp"
#include "lugpu/view.hpp"

namespace lugpu {

/// What an X was checked against; residuals in double with the matrix as it was given. A value that
/// does not apply is absent.
struct LUGPU_API Checks {
  std::optional<double> factor_ratio;   ///< ||P A Q - L U||_1 / (n ||A||_1 eps), LAPACK's dget01
  bool factor_ratio_estimated = false;  ///< by a lower bound of the numerator, for large n
  std::optional<double> solve_ratio;    ///< ||B - A X||_1 / (||A||_1 ||X||_1 eps), LAPACK's dget02
  std::optional<double> hpl_residual;   ///< HPL's scaled residual
  std::optional<double> growth;         ///< max |U| / max |A|
  std::optional<double> rcond;          ///< absent where the factors cannot support it
  std::optional<double> rcond_at_most;  ///< what is known of it nevertheless
  /// ||B - A X||_2 / ||B||_2, the largest over columns; of sparse matrices only.
  std::optional<double> residual;
  std::vector<double> berr;  ///< componentwise backward errors, one for each right-hand side
  std::vector<double> ferr;  ///< bounds on max |x - exact| / max |exact|, infinite where nothing is
                             ///< known; empty for a method that keeps no factors
  int info = 0;              ///< LAPACK's: k > 0 means that the k-th pivot is exactly zero

  /// One sentence that names the first ratio that is not under its limit, or empty if all pass.
  std::string failure() const;
  /// How many decimal digits of the largest element of every column of X are certainly correct, by
  /// ferr, at most as many as X has; absent if not even one is.
  std::optional<int> digits(Precision precision_of_x) const;
};

/// The arithmetic of factors, the least exact first.
enum class FactorArithmetic {
  half_products,  ///< single, but for the products of updates: of factors rounded to half precision
  local_pivots,   ///< single, each pivot the largest of the next rows alone
  single_precision,
  double_precision,
};

/// Factors that did not lead to X.
struct Attempt {
  FactorArithmetic factors;
  std::string failure;  ///< a clause
};

/// How a refinement went.
struct Refinement {
  int steps = 0;          ///< corrections of X
  bool converged = true;  ///< false: X stays less accurate than asked for, unless `fallback`
  std::string fallback;   ///< why A was factored in double after all; empty if it was not
  bool residuals_on_device = false;  ///< else they are computed on the host
  FactorArithmetic factors = FactorArithmetic::double_precision;  ///< that X is from
  std::vector<Attempt> given_up;                                  ///< before those, in order
};

/// mantissa * 2^exponent, which neither overflows nor underflows; 1 <= |mantissa| < 2, or 0, or not
/// finite.
struct LUGPU_API Determinant {
  double mantissa = 1;
  std::int64_t exponent = 0;

  void multiply(double factor);
};

/// Scales A to R A C, R = diag(r) and C = diag(c), by powers of two.
struct Scaling {
  std::vector<double> r, c;  ///< n powers of two each; empty where that side is not scaled
  double rowcnd = 1;         ///< smallest over largest r: rows need scaling below 0.1
  double colcnd = 1;         ///< likewise of c
  double amax = 0;           ///< max |a_ij|

  bool helps() const { return !r.empty() || !c.empty(); }
};

enum class Status {
  ok,         ///< every check passed
  unchecked,  ///< solved; Options::check was false
  failed,     ///< a check failed
  singular,   ///< the elimination met a pivot that is exactly zero: there is no X
};

/// Something that the user should know; `remedy` may help.
struct Warning {
  std::string reason;  ///< a sentence without its full stop
  std::optional<Remedy> remedy;
};

/// What became of a system, besides X.
struct Diagnosis {
  Status status = Status::ok;
  std::optional<Warning> reason;  ///< why the status is failed or singular
  std::vector<Warning> warnings;
};

/// How a system was solved and how good X is.
struct Report {
  std::string method;  ///< the method that ran
  std::string why;     ///< of sparse matrices: why "auto" chose it, a clause
  Pivot pivot = Pivot::partial;
  Precision precision = Precision::double_precision;  ///< of the factors
  Diagnosis diagnosis;
  Checks checks;
  std::optional<Refinement> refinement;    ///< with Options::refine
  std::optional<Scaling> equilibration;    ///< with Options::equilibrate, or where mixed precision
                                           ///< needs it
  std::optional<Determinant> determinant;  ///< with Options::determinant
  std::size_t iterations = 0;              ///< of an iterative method
  std::vector<double> residuals;           ///< ||b - A x||_2 / ||b||_2 as it saw them on its way
  std::map<std::string, double> phases_s;  ///< seconds: setup, upload, factor, solve, download
  /// Of the factorization: kernel_launches, readbacks, bytes_counted (loads and stores as the
  /// kernels make them).
  std::map<std::string, std::uint64_t> counters;
};

/// X and its report. T: float or double.
template <typename T>
struct Solution : Report {
  std::vector<T> x;        ///< n x nrhs, column after column; empty if there is none (singular)
  std::vector<T> inverse;  ///< n x n, with Options::inverse; empty if there is none
  std::size_t n = 0, nrhs = 0;

  Status status() const { return diagnosis.status; }
  View<const T> view() const { return {x.data(), x.empty() ? 0 : n, nrhs, n}; }
};

/// Solves A X = B. a: n x n, b: n x nrhs; neither is changed. An X that fails its checks is
/// returned with Status::failed, and none for a singular A. Throws Error: bad_input for shapes, an
/// overflow of single precision or options that contradict one another, unsupported for what the
/// device cannot do, failure for errors of OpenCL.
template <typename T>
Solution<T> solve(const Context& context, View<const T> a, View<const T> b,
                  const Options& options = {});

extern template LUGPU_API Solution<float> solve(const Context&, View<const float>,
                                                View<const float>, const Options&);
extern template LUGPU_API Solution<double> solve(const Context&, View<const double>,
                                                 View<const double>, const Options&);

}  // namespace lugpu

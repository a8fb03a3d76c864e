// A X = B on a device: upload, factor, solve, check, judge.
#pragma once

#include <functional>

#include "accuracy/checks.hpp"
#include "solve/methods.hpp"

namespace lugpu {

/// A as it is factored: as given, or R A C.
class FactoredSystem {
 public:
  /// A, n x n, and B, n x nrhs, which must outlive this. advice: whether advice() is wanted; it is
  /// there also where mixed precision needs it.
  FactoredSystem(const MatrixView& a, const MatrixView& b, const Problem& problem, bool advice);
  /// Factored as given.
  FactoredSystem(const MatrixView& a, const MatrixView& b);

  const MatrixView& a() const { return a_; }
  const MatrixView& b() const { return b_; }
  MatrixView factored_a() const { return applied_.helps() ? MatrixView(scaled_a_) : a_; }
  MatrixView factored_b() const { return applied_.helps() ? MatrixView(scaled_b_) : b_; }
  /// max |element| of a() and of factored_a().
  double largest_given() const { return largest_given_; }
  double largest() const { return largest_; }
  /// How A should be scaled, and how it is.
  const Scaling& advice() const { return advice_; }
  const Scaling& applied() const { return applied_; }
  /// Whether applied() is an equilibration: asked for, or what mixed precision needs.
  bool is_equilibrated() const { return is_equilibrated_; }

 private:
  MatrixView a_, b_;
  Scaling advice_, applied_;
  Matrix scaled_a_, scaled_b_;  // where that helps
  bool is_equilibrated_ = false;
  double largest_given_ = 0, largest_ = 0;
};

/// The determinant of A from that of the scaled matrix.
Determinant determinant_of(const Outcome& outcome, const Scaling& scaling);

/// Sets checks.growth, rcond and rcond_at_most, which take n^2 operations with the factors.
/// inverse: of factored_a(); empty if there is none.
void check_factors(const FactoredSystem& system, double growth, double factors_eps,
                   const ApplyInverse& inverse, Checks& checks);

/// As check_solution of checks.hpp, with the matrix as it was given. inverse: of factored_a().
void check_solution(const FactoredSystem& system, const MatrixView& x, double eps,
                    double factors_eps, const ApplyInverse& inverse, Checks& checks);

/// Builds every kernel of the method by solving a small system, since some drivers compile at the
/// first launch. Seconds.
double build_kernels(DeviceContext& context, const Method& method, const Problem& problem);

/// See lugpu/solve.hpp.
template <typename T>
Solution<T> solve(DeviceContext& context, const Plan& plan, View<const T> a, View<const T> b);
/// The same, A and B in any precision each.
template <typename T>
Solution<T> solve(DeviceContext& context, const Plan& plan, const MatrixView& a,
                  const MatrixView& b);

/// What a timeline has counted, as Report::counters.
void set_counters(const Timeline& timeline, std::map<std::string, std::uint64_t>& counters);

/// Wall-clock seconds of an action.
double timed(const std::function<void()>& action);

}  // namespace lugpu

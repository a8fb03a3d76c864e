#include "baselines/gbtrf.hpp"

#include <lapacke.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.hpp"
#include "baselines/columns.hpp"
#include "matrix/rounded.hpp"

namespace lugpu {
namespace {

// How many diagonals there are.
struct Band {
  std::size_t lower, upper;
};

Band band_of(const StructuredMatrix& a) {
  if (a.grid) return {bandwidth(*a.grid), bandwidth(*a.grid)};
  const SparsityFacts known = facts(*a.stored);
  return {known.lower_bandwidth, known.upper_bandwidth};
}

template <typename Real>
class Gbtrf : public PreparedSolver {
 public:
  Gbtrf(const Sparse& a, const Band& band, double tolerance)
      : a_(a),
        tolerance_(tolerance),
        n_(static_cast<lapack_int>(a.rows())),
        lower_(static_cast<lapack_int>(band.lower)),
        upper_(static_cast<lapack_int>(band.upper)),
        ld_(2 * lower_ + upper_ + 1),
        lu_(static_cast<std::size_t>(ld_) * a.rows()),
        ipiv_(a.rows()) {
    const std::vector<Real> diagonal = filled(a);
    if (n_ > 0) factor(diagonal);
  }

  void upload(const Matrix& b, const Matrix& x) override {
    b_ = b;
    rounded_b_ = rounded<Real>(b);
    x_ = rounded<Real>(x);
  }

  Iteration solve() override {
    if (x_.empty()) return direct_solution({}, a_, b_, b_, tolerance_);
    if (pivots_.obstacle.empty()) substitute();
    return direct_solution(pivots_, a_, b_, pivots_.doubtful ? download() : Matrix(), tolerance_);
  }

  Matrix download() override {
    Matrix x(static_cast<std::size_t>(n_), b_.cols());
    std::copy(x_.begin(), x_.end(), x.values().begin());
    return x;
  }

 private:
  // a(i, j) is in row lower + upper + i - j of column j, below room for the fill-in. Returns the
  // magnitudes of the diagonal.
  std::vector<Real> filled(const Sparse& a) {
    std::vector<Real> diagonal(a.rows());
    for (std::size_t i = 0; i < a.rows(); ++i) {
      const auto end = static_cast<std::size_t>(a.row_begin()[i + 1]);
      for (auto k = static_cast<std::size_t>(a.row_begin()[i]); k < end; ++k) {
        const auto j = static_cast<std::size_t>(a.columns()[k]);
        if (overflows<Real>(a.values()[k])) refuse_overflow<Real>(a.values()[k]);
        const Real value = static_cast<Real>(a.values()[k]);
        lu_[top() + i - j + j * static_cast<std::size_t>(ld_)] = value;
        if (i == j) diagonal[i] = std::abs(value);
      }
    }
    return diagonal;
  }

  void factor(const std::vector<Real>& diagonal) {
    lapack_int info = 0;
    if constexpr (std::is_same_v<Real, double>) {
      info = LAPACKE_dgbtrf_work(LAPACK_COL_MAJOR, n_, n_, lower_, upper_, lu_.data(), ld_,
                                 ipiv_.data());
    } else {
      info = LAPACKE_sgbtrf_work(LAPACK_COL_MAJOR, n_, n_, lower_, upper_, lu_.data(), ld_,
                                 ipiv_.data());
    }
    if (info != 0) {
      pivots_.obstacle = "The matrix is singular: pivot " + std::to_string(info) + " is zero";
      return;
    }
    const double limit = doubtful_pivot(diagonal.size(), epsilon(kPrecision<Real>));
    for (std::size_t k = 0; k < diagonal.size(); ++k) {
      const double pivot = std::abs(lu_[top() + k * static_cast<std::size_t>(ld_)]);
      if (!(pivot > limit * static_cast<double>(diagonal[k]))) pivots_.doubtful = true;
    }
  }

  void substitute() {
    x_ = rounded_b_;
    const auto nrhs = static_cast<lapack_int>(b_.cols());
    if constexpr (std::is_same_v<Real, double>) {
      LAPACKE_dgbtrs_work(LAPACK_COL_MAJOR, 'N', n_, lower_, upper_, nrhs, lu_.data(), ld_,
                          ipiv_.data(), x_.data(), n_);
    } else {
      LAPACKE_sgbtrs_work(LAPACK_COL_MAJOR, 'N', n_, lower_, upper_, nrhs, lu_.data(), ld_,
                          ipiv_.data(), x_.data(), n_);
    }
  }

  std::size_t top() const {
    return static_cast<std::size_t>(lower_) + static_cast<std::size_t>(upper_);
  }

  Sparse a_;
  double tolerance_;
  lapack_int n_, lower_, upper_, ld_;
  std::vector<Real> lu_;
  std::vector<lapack_int> ipiv_;
  Pivots pivots_;
  Matrix b_;
  std::vector<Real> rounded_b_, x_;
};

}  // namespace

void require_gbtrf(const StructuredMatrix& a, Precision precision) {
  const Band band = band_of(a);
  const double n = static_cast<double>(a.order());
  const double rows = static_cast<double>(2 * band.lower + band.upper + 1);
  require_half_of_memory(n * rows * static_cast<double>(element_size(precision)),
                         "The band of a matrix of order " + std::to_string(a.order()));
  constexpr double kLargest = std::numeric_limits<lapack_int>::max();
  if (n > kLargest || rows > kLargest) {
    throw Unsupported("LAPACK counts in 32 bits, and the order of this matrix is " +
                      std::to_string(a.order()) + ".");
  }
}

std::unique_ptr<PreparedSolver> make_gbtrf(const StructuredMatrix& a, const Sparse& stored,
                                           Precision precision, const StoppingRule& rule) {
  require_gbtrf(a, precision);
  const Band band = band_of(a);
  if (precision == Precision::double_precision) {
    return std::make_unique<Gbtrf<double>>(stored, band, rule.tolerance);
  }
  return std::make_unique<Gbtrf<float>>(stored, band, rule.tolerance);
}

}  // namespace lugpu

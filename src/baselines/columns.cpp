#include "baselines/columns.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/error.hpp"
#include "base/host_memory.hpp"

namespace lugpu {
namespace {

// The largest ||b - A x||_2 / ||b||_2 of a column; NaN if there is one.
double residual_of(const Sparse& a, const Matrix& b, const Matrix& x) {
  double largest = 0;
  for (std::size_t j = 0; j < b.cols(); ++j) {
    double residual = 0, norm = 0;
    for (std::size_t i = 0; i < b.rows(); ++i) {
      double r = b(i, j);
      for (auto k = a.row_begin()[i]; k < a.row_begin()[i + 1]; ++k) {
        const auto place = static_cast<std::size_t>(k);
        r -= a.values()[place] * x(static_cast<std::size_t>(a.columns()[place]), j);
      }
      residual += r * r;
      norm += b(i, j) * b(i, j);
    }
    const double relative = residual == 0 ? 0 : std::sqrt(residual / norm);
    if (std::isnan(relative)) return relative;
    largest = std::max(largest, relative);
  }
  return largest;
}

}  // namespace

Iteration direct_solution(const Pivots& pivots, const Sparse& a, const Matrix& b, const Matrix& x,
                          double tolerance) {
  Iteration result;
  result.reason = pivots.obstacle;
  if (pivots.doubtful) {
    const double residual = residual_of(a, b, x);
    if (!(residual <= tolerance)) {
      char text[32];
      std::snprintf(text, sizeof text, "%.2g", residual);
      result.reason =
          "The matrix is singular to working precision, and the residual is " + std::string(text);
    }
  }
  result.converged = result.reason.empty();
  return result;
}

std::size_t most_entries(const StructuredMatrix& a) {
  return a.grid ? 7 * a.order() : a.stored->values().size();
}

void require_symmetric(const StructuredMatrix& a, const std::string& rival) {
  if (a.grid) return;
  const SparsityFacts known = facts(*a.stored);
  if (known.symmetric && known.positive_diagonal) return;
  throw Unsupported(rival + " needs a symmetric matrix with a positive diagonal.");
}

void require_half_of_memory(double bytes, const std::string& what) {
  if (bytes > static_cast<double>(host_memory()) / 2) {
    throw Unsupported(what + " takes " + std::to_string(static_cast<std::uint64_t>(bytes / 1e6)) +
                      " MB, more than half of this machine's memory; choose a smaller system.");
  }
}

}  // namespace lugpu

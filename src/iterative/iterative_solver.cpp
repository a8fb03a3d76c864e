#include "iterative/iterative_solver.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "iterative/cg.hpp"
#include "iterative/colours.hpp"
#include "iterative/relaxation.hpp"
#include "operators/stored_operator.hpp"

namespace lugpu {
namespace {

std::vector<double> diagonal(const Sparse& a) {
  std::vector<double> values(a.rows());
  for (std::size_t i = 0; i < a.rows(); ++i) {
    const auto begin = a.columns().begin() + a.row_begin()[i];
    const auto end = a.columns().begin() + a.row_begin()[i + 1];
    const auto found = std::lower_bound(begin, end, static_cast<std::int32_t>(i));
    if (found != end && *found == static_cast<std::int32_t>(i)) {
      values[i] = a.values()[static_cast<std::size_t>(found - a.columns().begin())];
    }
  }
  return values;
}

std::vector<double> diagonal(const MatrixView& a) {
  std::vector<double> values(a.rows());
  for (std::size_t i = 0; i < a.rows(); ++i) values[i] = a(i, i);
  return values;
}

bool is_symmetric(const MatrixView& a) {
  return a.visit([](const auto& view) {
    for (std::size_t j = 0; j < view.columns; ++j) {
      for (std::size_t i = 0; i < j; ++i) {
        if (view(i, j) != view(j, i)) return false;
      }
    }
    return true;
  });
}

void require_square(std::size_t rows, std::size_t cols) {
  if (rows == cols) return;
  throw InputError("A matrix of " + std::to_string(rows) + " x " + std::to_string(cols) +
                   " is not square.");
}

// Throws InputError if the method cannot work on a matrix of which this is known.
void require_suitable(IterativeMethod method, bool symmetric, const std::vector<double>& diagonal) {
  const Remedy remedy{"method", "auto"};
  const bool is_cg = method == IterativeMethod::cg;
  if (is_cg && !symmetric) {
    throw InputError("The matrix is not symmetric, as conjugate gradients need it", remedy);
  }
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    const std::string element = "a(" + std::to_string(i + 1) + ", " + std::to_string(i + 1) + ")";
    if (is_cg && !(diagonal[i] > 0)) {
      throw InputError("The matrix is not positive definite, as conjugate gradients need it: " +
                           element + " is not positive",
                       remedy);
    }
    if (diagonal[i] == 0) {
      throw InputError("The method divides by the diagonal, and " + element + " is zero", remedy);
    }
  }
}

Surface inverse(DeviceContext& context, const VectorLayout& layout, std::vector<double> diagonal) {
  for (double& value : diagonal) value = 1 / value;
  Vectors vectors(context, layout, 1);
  Surface result = vectors.take();
  vectors.upload(diagonal, result);
  return result;
}

// Conjugate gradients or Jacobi's method with any operator.
std::unique_ptr<DeviceSolver> with_operator(DeviceContext& context,
                                            std::shared_ptr<const Operator> a,
                                            const std::vector<double>& diagonal,
                                            const VectorLayout& layout, IterativeMethod method,
                                            const StoppingRule& rule) {
  const std::size_t n = diagonal.size();
  if (method == IterativeMethod::cg) {
    return std::make_unique<IterativeSolver>(context, n, layout,
                                             [=](Vectors& vectors, const Surface& b, Surface& x) {
                                               return conjugate_gradients(*a, vectors, b, x, rule);
                                             });
  }
  const Surface inverses = inverse(context, layout, diagonal);
  return std::make_unique<IterativeSolver>(context, n, layout,
                                           [=](Vectors& vectors, const Surface& b, Surface& x) {
                                             return jacobi(*a, inverses, vectors, b, x, rule);
                                           });
}

std::unique_ptr<DeviceSolver> by_colours(DeviceContext& context, const Sparse& a,
                                         const std::vector<double>& diagonal,
                                         const VectorLayout& layout, const StoppingRule& rule) {
  const Colours chosen = colours(a);
  std::vector<double> in_order(diagonal.size());
  for (std::size_t k = 0; k < in_order.size(); ++k) {
    in_order[k] = diagonal[static_cast<std::size_t>(chosen.order[k])];
  }
  const auto on_device = std::make_shared<SparseOperator>(
      context, reordered(a, chosen.order), layout.precision, layout.storage, layout.texel);
  const Surface inverses = inverse(context, layout, in_order);
  const auto solve = [=, begins = chosen.begins](Vectors& vectors, const Surface& b, Surface& x) {
    return gauss_seidel(*on_device, begins, inverses, vectors, b, x, rule);
  };
  return std::make_unique<IterativeSolver>(context, a.rows(), layout, solve, chosen.order);
}

}  // namespace

IterativeSolver::IterativeSolver(DeviceContext& context, std::size_t n, const VectorLayout& layout,
                                 Solve solve, std::vector<std::int32_t> order)
    : n_(n), vectors_(context, layout, 1), solve_(std::move(solve)), order_(std::move(order)) {}

Surface IterativeSolver::uploaded(const Matrix& from, std::size_t column) {
  std::vector<double> values(from.column(column), from.column(column) + n_);
  for (std::size_t k = 0; k < order_.size(); ++k) {
    values[k] = from(static_cast<std::size_t>(order_[k]), column);
  }
  Surface to = vectors_.take();
  vectors_.upload(values, to);
  return to;
}

void IterativeSolver::upload(const Matrix& b, const Matrix& x) {
  if (b.rows() != n_ || x.rows() != n_ || b.cols() != x.cols()) {
    throw InputError("The right-hand sides are " + std::to_string(b.rows()) + " x " +
                     std::to_string(b.cols()) + " and their start " + std::to_string(x.rows()) +
                     " x " + std::to_string(x.cols()) + ", for a matrix of order " +
                     std::to_string(n_) + ".");
  }
  systems_.clear();
  for (std::size_t j = 0; j < b.cols(); ++j) {
    systems_.push_back({uploaded(b, j), uploaded(x, j), vectors_.take()});
  }
  vectors_.context().queue().finish();
}

Iteration IterativeSolver::solve() {
  Iteration all;
  all.converged = true;
  for (System& system : systems_) {
    vectors_.combine(Operation::add, {}, system.start, {0}, system.start, system.x);
    Iteration one = solve_(vectors_, system.b, system.x);
    const bool first_to_fail = all.converged && !one.converged;
    const bool longest = all.converged && one.iterations >= all.iterations;
    if (first_to_fail || longest) all = std::move(one);
  }
  vectors_.context().queue().finish();
  return all;
}

Iteration IterativeSolver::solve(const Surface& b, Surface& x) {
  const VectorLayout& own = vectors_.layout();
  if (own.storage == Storage::image) {
    throw Unsupported("Vectors that are on the device are buffers", {"storage", "buffer"});
  }
  require_vectors(b, x, n_, b.columns(), own.precision);
  if (order_.empty() && b.rows() == own.rows && b.columns() == own.columns) {
    Surface mine = x.with_texel(own.texel);
    const Iteration result = solve_(vectors_, b.with_texel(own.texel), mine);
    x = mine.with_texel(x.texel());
    return result;
  }
  Vectors theirs(vectors_.context(), {b.rows(), b.columns(), own.precision, own.storage, b.texel()},
                 1);
  Matrix b_values(n_, 1), x_values(n_, 1);
  b_values.values() = theirs.download(b, n_);
  x_values.values() = theirs.download(x, n_);
  upload(b_values, x_values);
  const Iteration result = solve();
  theirs.upload(download().values(), x);
  return result;
}

Matrix IterativeSolver::download() {
  Matrix result(n_, systems_.size());
  for (std::size_t j = 0; j < systems_.size(); ++j) {
    const std::vector<double> values = vectors_.download(systems_[j].x, n_);
    for (std::size_t k = 0; k < n_; ++k) {
      result(order_.empty() ? k : static_cast<std::size_t>(order_[k]), j) = values[k];
    }
  }
  return result;
}

std::unique_ptr<DeviceSolver> iterative_solver(DeviceContext& context, const Sparse& a,
                                               Precision precision, Storage storage, Texel texel,
                                               IterativeMethod method, const StoppingRule& rule) {
  require_square(a.rows(), a.cols());
  const SparsityFacts known = facts(a);
  const std::vector<double> values = diagonal(a);
  require_suitable(method, known.symmetric, values);
  const VectorLayout layout = VectorLayout::of_length(a.rows(), precision, storage, texel);
  if (method == IterativeMethod::gauss_seidel) return by_colours(context, a, values, layout, rule);
  return with_operator(context, stored_operator(context, a, known, precision, storage, texel),
                       values, layout, method, rule);
}

std::unique_ptr<DeviceSolver> iterative_solver(DeviceContext& context, const MatrixView& a,
                                               DenseOperator::Order order, Precision precision,
                                               Storage storage, Texel texel, IterativeMethod method,
                                               const StoppingRule& rule) {
  require_square(a.rows(), a.cols());
  const std::vector<double> values = diagonal(a);
  require_suitable(method, method != IterativeMethod::cg || is_symmetric(a), values);
  const bool by_columns = method == IterativeMethod::gauss_seidel;
  const auto on_device = std::make_shared<DenseOperator>(
      context, a, by_columns ? DenseOperator::Order::columns : order, precision, storage, texel);
  if (!by_columns) {
    return with_operator(context, on_device, values, on_device->layout(), method, rule);
  }
  const auto solve = [=](Vectors& vectors, const Surface& b, Surface& x) {
    return gauss_seidel(*on_device, vectors, b, x, rule);
  };
  return std::make_unique<IterativeSolver>(context, a.rows(), on_device->layout(), solve);
}

}  // namespace lugpu

// Iterative methods as solvers of one matrix.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "iterative/prepared_solver.hpp"
#include "matrix/sparse.hpp"
#include "operators/dense_operator.hpp"

namespace lugpu {

/// Any iteration on vectors of the device, one right-hand side after the other.
class IterativeSolver : public DeviceSolver {
 public:
  /// Solves A x = b from x, which becomes the result. Uses scalars(0).
  using Solve = std::function<Iteration(Vectors&, const Surface& b, Surface& x)>;

  /// For vectors of n elements; order: unknown order[k] is element k of a vector, in their own
  /// order if it is empty. context must outlive this.
  IterativeSolver(DeviceContext& context, std::size_t n, const VectorLayout& layout, Solve solve,
                  std::vector<std::int32_t> order = {});

  /// Throws InputError if b or x has not n rows, or x has another number of columns than b.
  void upload(const Matrix& b, const Matrix& x) override;
  Iteration solve() override;
  Matrix download() override;
  /// By way of the host if the unknowns are stored in another order than on the grid.
  Iteration solve(const Surface& b, Surface& x) override;

 private:
  struct System {
    Surface b, start, x;
  };
  Surface uploaded(const Matrix& from, std::size_t column);

  std::size_t n_;
  Vectors vectors_;
  Solve solve_;
  std::vector<std::int32_t> order_;
  std::vector<System> systems_;
};

enum class IterativeMethod { jacobi, gauss_seidel, cg };

/// For a square sparse matrix, in the device format that suits it (stored_operator()); Gauss-Seidel
/// by colours (colours.hpp). Throws InputError if the matrix is not square or the method cannot
/// work on it: conjugate gradients on a matrix that is not symmetric or has an element of its
/// diagonal that is not positive, the others on a zero in the diagonal; also if a value overflows
/// the precision. Throws Unsupported if the device cannot hold it.
std::unique_ptr<DeviceSolver> iterative_solver(DeviceContext& context, const Sparse& a,
                                               Precision precision, Storage storage, Texel texel,
                                               IterativeMethod method, const StoppingRule& rule);

/// For a square dense matrix, stored in this order; Gauss-Seidel by columns, always stored so.
/// Throws as above.
std::unique_ptr<DeviceSolver> iterative_solver(DeviceContext& context, const MatrixView& a,
                                               DenseOperator::Order order, Precision precision,
                                               Storage storage, Texel texel, IterativeMethod method,
                                               const StoppingRule& rule);

}  // namespace lugpu

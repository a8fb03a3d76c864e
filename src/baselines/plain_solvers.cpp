#include "baselines/plain_solvers.hpp"

#include <string>
#include <utility>

#include "base/error.hpp"
#include "baselines/columns.hpp"
#include "matrix/rounded.hpp"

namespace lugpu {
namespace {

template <typename Real>
class PlainSolver : public PreparedSolver {
 public:
  PlainSolver(PlainMethod method, const Grid& grid, const StoppingRule& rule)
      : unknowns_(grid.unknowns()), iteration_(method, grid), rule_(rule) {}

  void upload(const Matrix& b, const Matrix& x) override {
    b_ = fields(b);
    start_ = fields(x);
    x_ = start_;
  }

  Iteration solve() override {
    return solve_columns(b_.size(), [&](std::size_t j) {
      x_[j] = start_[j];
      return iteration_.solve(b_[j], x_[j], rule_);
    });
  }

  Matrix download() override {
    Matrix x(unknowns_, x_.size());
    for (std::size_t j = 0; j < x_.size(); ++j) iteration_.grid().store(x_[j], x.column(j));
    return x;
  }

 private:
  using Field = typename PlainIteration<Real>::Field;

  std::vector<Field> fields(const Matrix& columns) const {
    const std::vector<Real> values = rounded<Real>(columns);
    std::vector<Field> result(columns.cols(), iteration_.grid().field());
    for (std::size_t j = 0; j < columns.cols(); ++j) {
      iteration_.grid().load(values.data() + j * columns.rows(), result[j]);
    }
    return result;
  }

  std::size_t unknowns_;
  PlainIteration<Real> iteration_;
  StoppingRule rule_;
  std::vector<Field> b_, start_, x_;
};

}  // namespace

void require_plain(PlainMethod method, const StructuredMatrix& a, Precision precision) {
  if (!a.grid) throw Unsupported("The plain loops are for grids.");
  const Grid& grid = *a.grid;
  constexpr double kFields = 11;  // b, the start, x; r, p, q; the coefficients; A's columns before
  require_half_of_memory(
      kFields * static_cast<double>(grid.unknowns()) * static_cast<double>(element_size(precision)),
      "A grid of " + std::to_string(grid.unknowns()) + " points");
  if (method != PlainMethod::gauss_seidel) return;
  for (int axis = 0; axis < 3; ++axis) {
    if (grid.walls[axis] == Wall::periodic && grid.size[axis] % 2 == 1 && grid.size[axis] > 1 &&
        grid.coefficients[axis] != 0) {
      throw Unsupported("A periodic axis of " + std::to_string(grid.size[axis]) +
                        " points has neighbours of the same colour; use an even number of them.");
    }
  }
}

std::unique_ptr<PreparedSolver> make_plain(PlainMethod method, const StructuredMatrix& a,
                                           Precision precision, const StoppingRule& rule) {
  require_plain(method, a, precision);
  if (precision == Precision::double_precision) {
    return std::make_unique<PlainSolver<double>>(method, *a.grid, rule);
  }
  return std::make_unique<PlainSolver<float>>(method, *a.grid, rule);
}

}  // namespace lugpu

#include "solve/structured_methods.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "iterative/cg.hpp"
#include "iterative/relaxation.hpp"
#include "solve/methods.hpp"

namespace lugpu {
namespace {

using IterativeMethod = Iteration (*)(const GridOperator&, Vectors&, const Surface&, Surface&,
                                      const StoppingRule&);

// An iterative method on a grid: the right-hand sides one after the other.
class GridSolver : public PreparedSolver {
 public:
  GridSolver(DeviceContext& context, const Grid& grid, const StructuredOptions& options,
             IterativeMethod method)
      : a_(grid),
        vectors_(context, a_.layout(options.precision, options.storage, Texel::r), 4),
        rule_(options.rule),
        method_(method) {}

  void upload(const Matrix& b, const Matrix& x) override {
    b_ = on_device(b);
    start_ = on_device(x);
  }

  Iteration solve() override {
    Iteration slowest;
    for (Surface& x : x_) vectors_.give_back(std::move(x));
    x_.clear();
    for (std::size_t j = 0; j < b_.size(); ++j) {
      Surface x = vectors_.take();
      vectors_.combine(Operation::add, {1}, start_[j], {0}, start_[j], x);
      Iteration iteration = method_(a_, vectors_, b_[j], x, rule_);
      x_.push_back(std::move(x));
      if (j == 0 || is_worse(iteration, slowest)) slowest = std::move(iteration);
    }
    vectors_.context().queue().finish();
    return slowest;
  }

  Matrix download() override {
    Matrix x(a_.grid().unknowns(), x_.size());
    for (std::size_t j = 0; j < x_.size(); ++j) {
      const std::vector<double> column = vectors_.download(x_[j], x.rows());
      std::copy(column.begin(), column.end(), x.column(j));
    }
    return x;
  }

 private:
  std::vector<Surface> on_device(const Matrix& columns) {
    std::vector<Surface> vectors;
    for (std::size_t j = 0; j < columns.cols(); ++j) {
      vectors.push_back(vectors_.take());
      const double* column = columns.column(j);
      vectors_.upload({column, column + columns.rows()}, vectors.back());
    }
    vectors_.context().queue().finish();
    return vectors;
  }

  GridOperator a_;
  Vectors vectors_;
  StoppingRule rule_;
  IterativeMethod method_;
  std::vector<Surface> b_, start_, x_;
};

// lu-blocked with its factors kept.
class FactoredSolver : public PreparedSolver {
 public:
  FactoredSolver(DeviceContext& context, const Method& method, const Matrix& a, std::size_t nrhs,
                 const StructuredOptions& options)
      : context_(context), precision_(options.precision) {
    DenseOptions dense;
    dense.precision = options.precision;
    dense.storage = options.storage;
    const Size size = Size::square(a.rows(), nrhs);
    if (method.block_size) dense.nb = method.block_size(context.device(), size, dense);
    method.require_room(context.device(), size, dense);
    factors_ = method.make(context, size, dense);
    factors_->upload(a, Matrix(a.rows(), nrhs));
    factors_->factor();
    context.queue().finish();
    info_ = factors_->outcome().info;
  }

  void upload(const Matrix& b, const Matrix&) override {
    columns_ = b.cols();
    rows_ = b.rows();
    b_ = lugpu::upload(context_, b.view(), precision_);
    context_.queue().finish();
  }

  Iteration solve() override {
    if (info_ > 0) {
      return {0, false, {}, "The matrix is singular: pivot " + std::to_string(info_) + " is zero"};
    }
    x_ = factors_->apply_inverse(b_, columns_, Op::none);
    context_.queue().finish();
    return {0, true, {}, ""};
  }

  Matrix download() override {
    if (info_ > 0) return Matrix(rows_, columns_);
    return lugpu::download(context_, x_, rows_, columns_, precision_);
  }

 private:
  DeviceContext& context_;
  Precision precision_;
  std::unique_ptr<DenseFactorization> factors_;
  std::size_t rows_ = 0, columns_ = 0;
  int info_ = 0;
  cl::Buffer b_, x_;
};

void require_grid(const StructuredMatrix& a, const char* method) {
  if (!a.grid) throw Unsupported(std::string(method) + " takes no stored matrices");
}

template <IterativeMethod method>
std::unique_ptr<PreparedSolver> on_grid(DeviceContext& context, const StructuredMatrix& a,
                                        const StructuredOptions& options) {
  return std::make_unique<GridSolver>(context, *a.grid, options, method);
}

Matrix dense(const StructuredMatrix& a) {
  return a.grid ? dense(sparse(*a.grid)) : dense(*a.stored);
}

// The largest order that is factored as a dense matrix: 2 GiB in double.
constexpr std::size_t kLargestDense = 16384;

}  // namespace

std::span<const StructuredMethod> structured_methods() {
  static const StructuredMethod table[] = {
      {"lu-blocked", "the dense blocked LU decomposition, its factors kept", true, 0, 0,
       [](const StructuredMatrix& a, const StructuredOptions&) {
         if (a.order() <= kLargestDense) return;
         throw Unsupported("lu-blocked makes the matrix dense, which is done up to order " +
                           std::to_string(kLargestDense) + " only");
       },
       [](DeviceContext& context, const StructuredMatrix& a,
          const StructuredOptions& options) -> std::unique_ptr<PreparedSolver> {
         return std::make_unique<FactoredSolver>(context, find_method("lu-blocked"), dense(a), 1,
                                                 options);
       }},
      {"cg", "the method of conjugate gradients, for symmetric positive definite matrices", false,
       10, 8, [](const StructuredMatrix& a, const StructuredOptions&) { require_grid(a, "cg"); },
       on_grid<conjugate_gradients>},
      {"gauss-seidel", "the method of Gauss and Seidel, by colours", false, 3, 3,
       [](const StructuredMatrix& a, const StructuredOptions&) { require_grid(a, "gauss-seidel"); },
       on_grid<gauss_seidel>},
      {"jacobi", "Jacobi's method", false, 3, 3,
       [](const StructuredMatrix& a, const StructuredOptions&) { require_grid(a, "jacobi"); },
       on_grid<jacobi>},
  };
  return table;
}

const StructuredMethod* structured_method(const std::string& name) {
  for (const StructuredMethod& method : structured_methods()) {
    if (name == method.name) return &method;
  }
  return nullptr;
}

}  // namespace lugpu

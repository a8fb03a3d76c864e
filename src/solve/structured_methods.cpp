#include "solve/structured_methods.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "dense/banded_lu.hpp"
#include "dense/fast_diagonal.hpp"
#include "iterative/cg.hpp"
#include "iterative/coarse_grids.hpp"
#include "iterative/iterative_solver.hpp"
#include "iterative/multigrid.hpp"
#include "iterative/relaxation.hpp"
#include "operators/conductivity_operator.hpp"
#include "solve/methods.hpp"

namespace lugpu {
namespace {

// What a direct method that did its work says of its steps: nothing.
Iteration done() {
  return {0, true, {}, ""};
}

Iteration singular(int info) {
  return {0, false, {}, "The matrix is singular: pivot " + std::to_string(info) + " is zero", info};
}

// lu-blocked with its factors kept.
class FactoredSolver : public DeviceSolver {
 public:
  FactoredSolver(DeviceContext& context, const Method& method, const Matrix& a,
                 const StructuredOptions& options)
      : context_(context), precision_(options.precision) {
    DenseOptions dense;
    dense.precision = options.precision;
    dense.storage = options.storage;
    const Size size = Size::square(a.rows(), 1);
    dense.nb = method.block_size(context.device(), size, dense);
    method.require_room(context.device(), size, dense);
    factors_ = method.make(context, size, dense);
    factors_->upload(a, Matrix(a.rows(), 1));
    factors_->factor();
    info_ = factors_->outcome().info;
  }

  void upload(const Matrix& b, const Matrix&) override {
    rows_ = b.rows();
    columns_ = b.cols();
    b_ = lugpu::upload(context_, b.view(), precision_);
    context_.queue().finish();
  }
  Iteration solve() override {
    if (info_ > 0) return singular(info_);
    x_ = factors_->apply_inverse(b_, columns_, Op::none);
    context_.queue().finish();
    return done();
  }
  Matrix download() override {
    if (info_ > 0) return Matrix(rows_, columns_);
    return lugpu::download(context_, x_, rows_, columns_, precision_);
  }
  Iteration solve(const Surface& b, Surface& x) override {
    require_vectors(b, x, factors_->size().n, b.columns(), precision_);
    if (info_ > 0) return singular(info_);
    const cl::Buffer result = factors_->apply_inverse(export_rows(context_, b), 1, Op::none);
    import_rows(context_, result, x.rows(), x.columns(), x, 0);
    return done();
  }

 private:
  DeviceContext& context_;
  Precision precision_;
  std::unique_ptr<DenseFactorization> factors_;
  std::size_t rows_ = 0, columns_ = 0;
  int info_ = 0;
  cl::Buffer b_, x_;
};

// Another number of right-hand sides than expected has a BandedLu of its own.
class BandedSolver : public DeviceSolver {
 public:
  BandedSolver(DeviceContext& context, Sparse a, const StructuredOptions& options)
      : context_(context), a_(std::move(a)), precision_(options.precision) {
    const SparsityFacts band = facts(a_);
    size_ = {a_.rows(), band.lower_bandwidth, band.upper_bandwidth, options.nrhs};
    factor();
  }

  void upload(const Matrix& b, const Matrix&) override {
    require_columns(b.cols());
    lu_->upload_rhs(b.view());
    context_.queue().finish();
  }
  Iteration solve() override {
    if (info_ > 0) return singular(info_);
    lu_->solve();
    context_.queue().finish();
    return done();
  }
  Matrix download() override {
    Matrix x(size_.n, size_.nrhs);
    if (info_ == 0) lu_->download(x.view());
    return x;
  }
  Iteration solve(const Surface& b, Surface& x) override {
    require_vectors(b, x, size_.n, b.columns(), precision_);
    require_columns(1);
    if (info_ > 0) return singular(info_);
    cl::Buffer values = export_rows(context_, b);
    lu_->solve(values);
    import_rows(context_, values, x.rows(), x.columns(), x, 0);
    return done();
  }

 private:
  void require_columns(std::size_t nrhs) {
    if (nrhs == size_.nrhs) return;
    size_.nrhs = nrhs;
    factor();
  }
  void factor() {
    lu_.reset();
    lu_ = BandedLu::make(context_, size_, precision_);
    lu_->upload(a_);
    lu_->factor();
    info_ = lu_->outcome().info;
  }

  DeviceContext& context_;
  Sparse a_;
  Precision precision_;
  BandSize size_;
  std::unique_ptr<BandedLu> lu_;
  int info_ = 0;
};

class FastDiagonalSolver : public DeviceSolver {
 public:
  FastDiagonalSolver(DeviceContext& context, const Grid& grid, const StructuredOptions& options)
      : context_(context), solver_(context, grid, options.precision) {}

  void upload(const Matrix& b, const Matrix&) override {
    solver_.upload(b.view());
    context_.queue().finish();
  }
  Iteration solve() override {
    solver_.solve();
    context_.queue().finish();
    return outcome();
  }
  Matrix download() override { return solver_.download(); }
  Iteration solve(const Surface& b, Surface& x) override {
    const Grid& grid = solver_.grid();
    require_vectors(b, x, grid.unknowns(), grid.size[0], solver_.precision());
    const auto memory = [](const Surface& s) { return cl::Buffer(s.memory()(), true); };
    solver_.solve(memory(b), memory(x), 1, b.pitch());
    return outcome();
  }

 private:
  Iteration outcome() const {
    const std::string trouble = solver_.trouble();
    return {0, trouble.empty(), {}, trouble};
  }

  DeviceContext& context_;
  FastDiagonal solver_;
};

using GridMethod = Iteration (*)(const GridOperator&, Vectors&, const Surface&, Surface&,
                                 const StoppingRule&);

// An iterative method: with its own kernels where the matrix is that of a grid whose coefficients
// do not vary, otherwise with the stored matrix.
template <GridMethod on_grid, IterativeMethod method>
std::unique_ptr<DeviceSolver> iterative(DeviceContext& context, const StructuredMatrix& a,
                                        const StructuredOptions& options) {
  const auto& [precision, storage, rule, nrhs] = options;
  if (a.stored || !a.grid->conductivity.empty()) {
    return iterative_solver(context, a.stored ? *a.stored : sparse(*a.grid), precision, storage,
                            kVectorTexel, method, rule);
  }
  const auto of_grid = std::make_shared<GridOperator>(*a.grid);
  const auto solve = [of_grid, last = rule](Vectors& vectors, const Surface& b, Surface& x) {
    return on_grid(*of_grid, vectors, b, x, last);
  };
  return std::make_unique<IterativeSolver>(
      context, a.order(), of_grid->layout(precision, storage, kVectorTexel), solve);
}

std::unique_ptr<DeviceSolver> multigrid_cg(DeviceContext& context, const StructuredMatrix& a,
                                           const StructuredOptions& options) {
  const auto& [precision, storage, rule, nrhs] = options;
  const auto multigrid =
      std::make_shared<MultigridCg>(context, *a.grid, precision, storage, Texel::r);
  const auto solve = [multigrid, last = rule](Vectors&, const Surface& b, Surface& x) {
    return multigrid->solve(b, x, last);
  };
  return std::make_unique<IterativeSolver>(context, a.order(), multigrid->layout(), solve);
}

VectorLayout layout_on(const Grid& grid, const StructuredOptions& options) {
  return {grid.size[1] * grid.size[2], grid.size[0], options.precision, options.storage};
}

class VaryingCg : public VaryingSolver {
 public:
  VaryingCg(DeviceContext& context, const Grid& grid, const StructuredOptions& options)
      : grid_(grid), rule_(options.rule), vectors_(context, layout_on(grid, options), 1) {}

  void set_conductivity(const Surface& k) override { operator_.emplace(grid_, k); }
  Iteration solve(const Surface& b, Surface& x) override {
    return conjugate_gradients(*operator_, vectors_, b, x, rule_);
  }

 private:
  Grid grid_;
  StoppingRule rule_;
  Vectors vectors_;
  std::optional<ConductivityOperator> operator_;
};

// Jacobi's method (one colour) and that of Gauss and Seidel with red and black points.
template <std::size_t colours>
class VaryingRelaxation : public VaryingSolver {
 public:
  VaryingRelaxation(DeviceContext& context, const Grid& grid, const StructuredOptions& options)
      : grid_(grid),
        rule_(options.rule),
        vectors_(context, layout_on(grid, options), 1),
        zeros_(vectors_.take()) {
    if (colours == 2) require_two_colours(grid);
    vectors_.upload({}, zeros_);
    std::vector<double> factors(grid.unknowns());
    for (std::size_t colour = 0; colour < colours; ++colour) {
      for (std::size_t i = 0; i < factors.size(); ++i) {
        const std::size_t row = i / grid.size[0];
        const std::size_t at = i % grid.size[0] + row % grid.size[1] + row / grid.size[1];
        factors[i] = at % colours == colour ? 1 : 0;
      }
      points_.push_back(vectors_.take());
      vectors_.upload(factors, points_.back());
      inverses_.push_back(vectors_.take());
    }
  }

  void set_conductivity(const Surface& k) override {
    operator_.emplace(grid_, k);
    for (std::size_t colour = 0; colour < colours; ++colour) {
      operator_->divide_by_diagonal(vectors_, zeros_, points_[colour], inverses_[colour]);
    }
  }
  Iteration solve(const Surface& b, Surface& x) override {
    if constexpr (colours == 1) {
      return jacobi(*operator_, inverses_[0], vectors_, b, x, rule_);
    } else {
      return gauss_seidel(*operator_, inverses_, vectors_, b, x, rule_);
    }
  }

 private:
  Grid grid_;
  StoppingRule rule_;
  Vectors vectors_;
  Surface zeros_;
  std::vector<Surface> points_, inverses_;  // of the colours
  std::optional<ConductivityOperator> operator_;
};

Grid with_conductivity(Grid grid) {
  grid.conductivity.assign(grid.unknowns(), 1.0);
  return grid;
}

class VaryingMultigridCg : public VaryingSolver {
 public:
  VaryingMultigridCg(DeviceContext& context, const Grid& grid, const StructuredOptions& options)
      : rule_(options.rule),
        multigrid_(context, with_conductivity(grid), options.precision, options.storage, Texel::r) {
  }

  void set_conductivity(const Surface& k) override { multigrid_.set_conductivity(k); }
  Iteration solve(const Surface& b, Surface& x) override { return multigrid_.solve(b, x, rule_); }

 private:
  StoppingRule rule_;
  MultigridCg multigrid_;
};

template <typename Solver>
std::unique_ptr<VaryingSolver> varying(DeviceContext& context, const Grid& grid,
                                       const StructuredOptions& options) {
  return std::make_unique<Solver>(context, grid, options);
}

void require_grid(const StructuredMatrix& a, const char* method) {
  if (a.grid) return;
  throw Unsupported(std::string(method) + " is for the grids of `lugpu bench --problem`",
                    {"method", "auto"});
}

void require_buffers(const StructuredOptions& options, const char* method) {
  if (options.storage == Storage::buffer) return;
  throw Unsupported(std::string(method) + " works on buffers", {"storage", "buffer"});
}

void require_symmetric(const StructuredMatrix& a, const StructuredOptions&) {
  if (a.grid) return;
  const SparsityFacts known = facts(*a.stored);
  if (known.symmetric && known.positive_diagonal) return;
  throw Unsupported(known.symmetric
                        ? "cg needs a positive definite matrix, and one with an element of its "
                          "diagonal that is not positive is none"
                        : "cg needs a symmetric matrix",
                    {"method", "auto"});
}

void require_diagonal(const StructuredMatrix& a, const StructuredOptions&) {
  if (a.grid || facts(*a.stored).missing_diagonal == 0) return;
  throw Unsupported("the method divides by the diagonal, which has a zero", {"method", "auto"});
}

// Of dense products along each axis, there and back.
Work work_of_fast_diagonal(const StructuredMatrix& a) {
  return {0, FastDiagonal::multiply_adds(*a.grid), true};
}

// Of a band without interchanges, from which the last columns are left out. Of a grid without
// obstacles, whose last axis with neighbours has the farthest ones.
Work work_of_band(const StructuredMatrix& a) {
  const SparsityFacts band = a.grid ? SparsityFacts() : facts(*a.stored);
  const auto lower = static_cast<double>(a.grid ? bandwidth(*a.grid) : band.lower_bandwidth);
  const auto upper = static_cast<double>(a.grid ? bandwidth(*a.grid) : band.upper_bandwidth);
  const double steps = static_cast<double>(a.order()) - std::max(lower, upper);
  return {steps * lower * upper, steps * (lower + upper)};
}

Work work_of_dense(const StructuredMatrix& a) {
  const auto n = static_cast<double>(a.order());
  return {n * (n - 1) * (2 * n - 1) / 6, n * (n - 1), true};
}

// The matrix of a grid for direct methods. Where nothing holds a part of the grid and A is singular
// with its constants, A + d e e' for its first unknown, d as large as the diagonal there: of b
// whose sum is 0 there, the solution is one of A x = b, zero at that unknown.
Sparse grounded(const Grid& grid) {
  std::vector<Triplet> entries;
  const Sparse a = sparse(grid);
  const std::vector<std::vector<std::int32_t>> parts = floating_parts(grid);
  if (parts.empty()) return a;
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::int64_t k = a.row_begin()[i]; k < a.row_begin()[i + 1]; ++k) {
      const auto at = static_cast<std::size_t>(k);
      entries.push_back({static_cast<std::int32_t>(i), a.columns()[at], a.values()[at]});
    }
  }
  const std::vector<double> on_diagonal = diagonal(grid);
  for (const std::vector<std::int32_t>& part : parts) {
    const double there = on_diagonal[static_cast<std::size_t>(part[0])];
    entries.push_back({part[0], part[0], there == 0 ? 1 : there});
  }
  return Sparse(a.rows(), a.cols(), std::move(entries));
}

// The largest order that is factored as a dense matrix: 2 GiB in double.
constexpr std::size_t kLargestDense = 16384;

}  // namespace

std::span<const StructuredMethod> structured_methods() {
  static const StructuredMethod table[] = {
      {"fast-diagonal", "direct, by the known eigenvectors of a grid", true, 0, 0,
       work_of_fast_diagonal,
       [](const StructuredMatrix& a, const StructuredOptions& options) {
         require_grid(a, "fast-diagonal");
         require_buffers(options, "fast-diagonal");
         if (a.grid->conductivity.empty()) return;
         throw Unsupported("the eigenvectors are known where the coefficients do not vary",
                           {"method", "multigrid-cg"});
       },
       [](DeviceContext& context, const StructuredMatrix& a,
          const StructuredOptions& options) -> std::unique_ptr<DeviceSolver> {
         FastDiagonal::require_room(context.device(), *a.grid, options.precision);
         return std::make_unique<FastDiagonalSolver>(context, *a.grid, options);
       }},
      {"banded", "LU decomposition of the band, as LAPACK's gbtrf", true, 0, 0, work_of_band,
       [](const StructuredMatrix&, const StructuredOptions& options) {
         require_buffers(options, "banded");
       },
       [](DeviceContext& context, const StructuredMatrix& a,
          const StructuredOptions& options) -> std::unique_ptr<DeviceSolver> {
         return std::make_unique<BandedSolver>(context, a.grid ? grounded(*a.grid) : *a.stored,
                                               options);
       }},
      {"lu-blocked", "LU decomposition of the dense matrix, its factors kept", true, 0, 0,
       work_of_dense,
       [](const StructuredMatrix& a, const StructuredOptions&) {
         if (a.order() <= kLargestDense) return;
         throw Unsupported("lu-blocked makes the matrix dense, which is done up to order " +
                           std::to_string(kLargestDense));
       },
       [](DeviceContext& context, const StructuredMatrix& a,
          const StructuredOptions& options) -> std::unique_ptr<DeviceSolver> {
         const Matrix full = dense(a.grid ? grounded(*a.grid) : *a.stored);
         return std::make_unique<FactoredSolver>(context, find_method("lu-blocked"), full, options);
       }},
      {"multigrid-cg", "conjugate gradients, preconditioned by multigrid on a grid", false, 0, 0,
       nullptr,
       [](const StructuredMatrix& a, const StructuredOptions& options) {
         require_grid(a, "multigrid-cg");
         require_buffers(options, "multigrid-cg");
       },
       multigrid_cg, varying<VaryingMultigridCg>},
      {"cg", "conjugate gradients, for symmetric positive definite matrices", false, 10, 8, nullptr,
       require_symmetric, iterative<conjugate_gradients, IterativeMethod::cg>, varying<VaryingCg>},
      {"gauss-seidel", "Gauss and Seidel's method, by colours", false, 3, 3, nullptr,
       require_diagonal, iterative<gauss_seidel, IterativeMethod::gauss_seidel>,
       varying<VaryingRelaxation<2>>},
      {"jacobi", "Jacobi's method", false, 3, 3, nullptr, require_diagonal,
       iterative<jacobi, IterativeMethod::jacobi>, varying<VaryingRelaxation<1>>},
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

#include "baselines/viennacl_cg.hpp"

#include "base/error.hpp"
#include "baselines/viennacl.hpp"

#ifdef LUGPU_VIENNACL

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <vector>
#include <viennacl/compressed_matrix.hpp>
#include <viennacl/linalg/amg.hpp>
#include <viennacl/linalg/cg.hpp>
#include <viennacl/vector.hpp>

#include "baselines/columns.hpp"
#include "baselines/viennacl_context.hpp"
#include "matrix/rounded.hpp"
#include "opencl/surface.hpp"

namespace lugpu {
namespace {

namespace linalg = viennacl::linalg;

// What an iteration's monitor knows.
struct Watch {
  double first = 0;   // ||b - A x|| / ||b|| before the first step
  double latest = 0;  // ||r|| / ||b|| as the preconditioner met it
  double norm_of_b = 0;
  double tolerance = 0;
  Iteration iteration;

  // Whether it is over.
  bool look(double relative) {
    iteration.residuals.push_back(relative);
    ++iteration.iterations;
    iteration.converged = relative <= tolerance;
    if (!std::isfinite(relative)) iteration.reason = "The residual is not finite";
    return iteration.converged || !iteration.reason.empty();
  }
};

// The preconditioner, and the norm of what it is applied to: the residual.
template <typename Real>
class Amg {
 public:
  using Matrix = viennacl::compressed_matrix<Real>;

  Amg(const Matrix& a, const viennacl::context& context) : hierarchy_(a, tag(context)) {
    std::srand(1);  // its aggregates are random
    hierarchy_.setup();
  }
  void watch(Watch& watch) const { watch_ = &watch; }
  template <typename Vector>
  void apply(Vector& residual) const {
    watch_->latest = static_cast<double>(Real(linalg::norm_2(residual))) / watch_->norm_of_b;
    hierarchy_.apply(residual);
  }

 private:
  static linalg::amg_tag tag(const viennacl::context& context) {
    linalg::amg_tag tag;
    tag.set_coarsening_method(linalg::AMG_COARSENING_METHOD_MIS2_AGGREGATION);
    tag.set_interpolation_method(linalg::AMG_INTERPOLATION_METHOD_SMOOTHED_AGGREGATION);
    tag.set_jacobi_weight(0.67);
    // The device's setup corrupts memory on PoCL.
    tag.set_setup_context(viennacl::context(viennacl::MAIN_MEMORY));
    tag.set_target_context(context);
    return tag;
  }

  linalg::amg_precond<Matrix> hierarchy_;
  mutable Watch* watch_ = nullptr;
};

template <typename Real>
class ViennaClCg : public PreparedSolver {
 public:
  ViennaClCg(ViennaClPreconditioner preconditioner, viennacl::ocl::context& context,
             const Sparse& a, const StoppingRule& rule)
      : n_(a.rows()), rule_(rule), context_(context), a_(viennacl::context(context)) {
    if (n_ == 0) return;
    write(a);
    if (preconditioner == ViennaClPreconditioner::amg) {
      if (a.values().size() <= n_) {  // ViennaCL would never end
        throw Unsupported("ViennaCL's multigrid needs points with neighbours.");
      }
      amg_.emplace(a_, viennacl::context(context_));
    }
    finish();
  }

  void upload(const lugpu::Matrix& b, const lugpu::Matrix& x) override {
    b_ = vectors(b);
    start_ = vectors(x);
    from_zero_.assign(x.cols(), true);
    for (std::size_t j = 0; j < x.cols(); ++j) {
      from_zero_[j] = std::all_of(x.column(j), x.column(j) + n_, [](double v) { return v == 0; });
    }
    x_ = start_;
    finish();
  }

  Iteration solve() override {
    return solve_columns(b_.size(), [&](std::size_t j) { return solve(j); });
  }

  lugpu::Matrix download() override {
    lugpu::Matrix x(n_, x_.size());
    std::vector<Real> values(n_);
    for (std::size_t j = 0; j < x_.size() && n_ > 0; ++j) {
      viennacl::fast_copy(x_[j], values);
      std::copy(values.begin(), values.end(), x.column(j));
    }
    return x;
  }

 private:
  using Vector = viennacl::vector<Real>;

  void finish() { context_.get_queue().finish(); }

  void write(const Sparse& a) {
    const std::vector<cl_uint> begin(a.row_begin().begin(), a.row_begin().end());
    const std::vector<cl_uint> columns(a.columns().begin(), a.columns().end());
    std::vector<Real> values(a.values().size());
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (overflows<Real>(a.values()[k])) refuse_overflow<Real>(a.values()[k]);
      values[k] = static_cast<Real>(a.values()[k]);
    }
    a_.set(begin.data(), columns.data(), values.data(), n_, n_, values.size());
  }

  std::vector<Vector> vectors(const lugpu::Matrix& columns) {
    const std::vector<Real> values = rounded<Real>(columns);
    std::vector<Vector> result;
    for (std::size_t j = 0; j < columns.cols(); ++j) {
      result.emplace_back(n_, viennacl::context(context_));
      const auto begin = values.begin() + static_cast<std::ptrdiff_t>(j * n_);
      if (n_ > 0) {
        viennacl::fast_copy(begin, begin + static_cast<std::ptrdiff_t>(n_), result[j].begin());
      }
    }
    return result;
  }

  static double norm(const Vector& x) { return static_cast<double>(Real(linalg::norm_2(x))); }

  // x = start + A^-1 (b - A start)
  Iteration solve(std::size_t j) {
    Watch watch;
    watch.norm_of_b = n_ > 0 ? norm(b_[j]) : 0;
    watch.tolerance = rule_.tolerance;
    Vector r = b_[j];
    if (!from_zero_[j]) {
      r = linalg::prod(a_, start_[j]);
      r = b_[j] - r;
    }
    const double norm_of_r = n_ > 0 ? norm(r) : 0;
    watch.first = norm_of_r == 0 ? 0 : norm_of_r / watch.norm_of_b;
    const bool over = watch.look(watch.first);
    watch.iteration.iterations = 0;
    if (!over) {
      x_[j] = solve(r, watch);
      x_[j] += start_[j];
      if (!watch.iteration.converged && watch.iteration.reason.empty()) {
        watch.iteration.reason =
            watch.iteration.iterations == rule_.iterations
                ? "The residual is not below the tolerance after " +
                      std::to_string(rule_.iterations) + " iterations"
                : "The matrix or its preconditioner is not positive definite: r . z <= 0";
      }
    } else {
      x_[j] = start_[j];
    }
    finish();
    return watch.iteration;
  }

  Vector solve(const Vector& r, Watch& watch) {
    const std::size_t most = std::numeric_limits<unsigned>::max();
    linalg::cg_solver<Vector> solver(
        linalg::cg_tag(0, static_cast<unsigned>(std::min(rule_.iterations, most))));
    if (!amg_) {
      solver.set_monitor(look_at_estimate, &watch);
      return solver(a_, r);
    }
    amg_->watch(watch);
    solver.set_monitor(look_at_latest, &watch);
    return solver(a_, r, *amg_);
  }

  // estimate: ||r|| over that before the first step
  static bool look_at_estimate(const Vector&, Real estimate, void* watch) {
    auto& known = *static_cast<Watch*>(watch);
    return known.look(static_cast<double>(estimate) * known.first);
  }
  static bool look_at_latest(const Vector&, Real, void* watch) {
    auto& known = *static_cast<Watch*>(watch);
    return known.look(known.latest);
  }

  std::size_t n_;
  StoppingRule rule_;
  viennacl::ocl::context& context_;
  viennacl::compressed_matrix<Real> a_;
  std::optional<Amg<Real>> amg_;
  std::vector<Vector> b_, start_, x_;
  std::vector<bool> from_zero_;
};

}  // namespace

void require_viennacl_cg(ViennaClPreconditioner preconditioner, const Device& device,
                         const StructuredMatrix& a, Precision precision) {
  require_symmetric(a, "ViennaCL's method of conjugate gradients");
  const std::uint64_t n = a.order(), element = element_size(precision);
  const std::uint64_t entries_of_row = n == 0 ? 0 : (most_entries(a) + n - 1) / n;
  // A of a hierarchy is about three times that of the finest grid, with its products.
  const std::uint64_t matrices = preconditioner == ViennaClPreconditioner::amg ? 4 : 1;
  constexpr std::uint64_t kVectors = 9;
  require_fits(device, n, entries_of_row, precision, Storage::buffer, matrices,
               matrices * n * (entries_of_row + 1) * sizeof(cl_uint) + kVectors * n * element);
  // It would allocate the size modulo 2^32.
  if (n * entries_of_row * element > std::numeric_limits<cl_uint>::max()) {
    throw Unsupported(
        "ViennaCL's arrays must be smaller than 4 GiB, and that of a matrix of order " +
        std::to_string(n) + " may not be.");
  }
}

std::unique_ptr<PreparedSolver> make_viennacl_cg(ViennaClPreconditioner preconditioner,
                                                 DeviceContext& context, const StructuredMatrix& a,
                                                 const Sparse& stored, Precision precision,
                                                 const StoppingRule& rule) {
  require_viennacl_cg(preconditioner, context.device(), a, precision);
  viennacl::ocl::context& known = context_of(context);
  try {
    if (precision == Precision::double_precision) {
      return std::make_unique<ViennaClCg<double>>(preconditioner, known, stored, rule);
    }
    return std::make_unique<ViennaClCg<float>>(preconditioner, known, stored, rule);
  } catch (const linalg::amg_coarse_problem_too_large_exception& error) {
    throw Unsupported("ViennaCL's multigrid cannot coarsen this matrix below " +
                      std::to_string(error.coarse_points()) +
                      " points, as those without neighbours stay what they are.");
  }
}

}  // namespace lugpu

#else

namespace lugpu {

void require_viennacl_cg(ViennaClPreconditioner /*preconditioner*/, const Device& device,
                         const StructuredMatrix& /*a*/, Precision /*precision*/) {
  require_viennacl(device, Problem());
}

std::unique_ptr<PreparedSolver> make_viennacl_cg(ViennaClPreconditioner /*preconditioner*/,
                                                 DeviceContext& context,
                                                 const StructuredMatrix& /*a*/,
                                                 const Sparse& /*stored*/, Precision /*precision*/,
                                                 const StoppingRule& /*rule*/) {
  require_viennacl(context.device(), Problem());
  return nullptr;
}

}  // namespace lugpu

#endif

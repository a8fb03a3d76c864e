// LAPACK's dsgesv: A X = B in double by factors in single and iterative refinement.
#include <algorithm>
#include <limits>
#include <memory>

#include "accuracy/refine.hpp"
#include "base/error.hpp"
#include "lapack/call.hpp"
#include "lapack/next.hpp"
#include "matrix/norms.hpp"
#include "matrix/rounded.hpp"

extern "C" {
void dgetrf_(const int* m, const int* n, double* a, const int* lda, int* ipiv, int* info);
void dgetrs_(const char* trans, const int* n, const int* nrhs, const double* a, const int* lda,
             const int* ipiv, double* b, const int* ldb, int* info);
}

namespace lugpu::lapack {
namespace {

// dsgesv's: the most refinements, and why they were abandoned (ITER).
constexpr int kMostIterations = 30;
constexpr int kOverflow = -2, kSingular = -3, kNoConvergence = -kMostIterations - 1;

// A and its factors in single, and what refines X by them: on the device where that has room for A
// in double, otherwise on the host.
struct System {
  std::unique_ptr<DoubleMatrix> in_double;
  Factors factors;
  std::unique_ptr<RefinedColumns> columns;  // only if the factors have no zero pivot
  double norm_inf = 0;
};

// Throws InputError if A overflows single precision.
void load(DeviceLapack& device, View<const double> a, View<const double> b, System& system) {
  system.in_double = device.in_double(a, b.columns);
  if (system.in_double) {
    const double largest = system.in_double->largest();
    if (largest > std::numeric_limits<float>::max()) refuse_overflow<float>(largest);
    system.norm_inf = system.in_double->norm_inf();
    system.factors = device.factor(*system.in_double);
  } else {
    system.norm_inf = norm_inf(a);
    system.factors = device.factor<float>(a);
  }
  if (system.factors.info != 0) return;
  DenseFactorization& lu = *system.factors.lu;
  system.columns = system.in_double
                       ? device_columns(*system.in_double, b, lu)
                       : host_columns(host_residual(a), widened(b), inverse_by(lu, norm_max(a)));
}

// X and the pivots, or why there is none: ITER of dsgesv.
int refine(DeviceLapack& device, View<const double> a, View<const double> b, View<double> x,
           int* ipiv) {
  try {
    System system;
    load(device, a, b, system);
    if (system.factors.info != 0) return kSingular;
    const Refinement refinement = solve_mixed(*system.columns, system.norm_inf, MixedRules::lapack);
    if (!refinement.converged) return kNoConvergence;
    const Matrix solution = system.columns->solution();
    copy<double>(solution.view(), x);
    std::copy(system.factors.ipiv.begin(), system.factors.ipiv.end(), ipiv);
    return refinement.steps;
  } catch (const InputError&) {  // of a value that has no single precision
    return kOverflow;
  }
}

}  // namespace
}  // namespace lugpu::lapack

using namespace lugpu::lapack;

extern "C" void dsgesv_(const int* n, const int* nrhs, double* a, const int* lda, int* ipiv,
                        const double* b, const int* ldb, double* x, const int* ldx, double* work,
                        float* swork, int* iter, int* info) {
  const auto host = [&] {
    using Dsgesv = decltype(dsgesv_);
    static Dsgesv* const next_dsgesv = next<double, Dsgesv>("sgesv");
    next_dsgesv(n, nrhs, a, lda, ipiv, b, ldb, x, ldx, work, swork, iter, info);
  };
  const int least = std::max(1, *n);
  *iter = 0;
  *info = check(
      host,
      {{1, *n >= 0}, {2, *nrhs >= 0}, {4, *lda >= least}, {7, *ldb >= least}, {9, *ldx >= least}});
  if (*info != 0 || *n == 0) return;
  Call call('d', "sgesv", {"n", *n}, {"nrhs", *nrhs});
  const lugpu::View<const double> system_a = view<const double>(a, *n, *n, *lda);
  const lugpu::View<const double> system_b = view(b, *n, *nrhs, *ldb);
  const lugpu::View<double> solution = view(x, *n, *nrhs, *ldx);
  if (!call.on_device(*n, [&](DeviceLapack& device) {
        *iter = refine(device, system_a, system_b, solution, ipiv);
        return Place::device;
      })) {
    return host();
  }
  if (*iter >= 0) return;
  // In double, then.
  dgetrf_(n, n, a, lda, ipiv, info);
  if (*info != 0) return;
  copy(system_b, solution);
  dgetrs_("N", n, nrhs, a, lda, ipiv, x, ldx, info);
}

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

// B - A X by the gemm of the library behind this one, as its own dsgesv has it.
Residual residual_of(View<const double> a) {
  return [a](const Matrix& x, const Matrix& b) {
    using Gemm = void(const char*, const char*, const int*, const int*, const int*, const double*,
                      const double*, const int*, const double*, const int*, const double*, double*,
                      const int*, std::size_t, std::size_t);
    static Gemm* const gemm = next<double, Gemm>("gemm");
    Matrix r = b;
    const auto to_int = [](std::size_t size) { return static_cast<int>(size); };
    const int n = to_int(a.rows), nrhs = to_int(x.cols()), lda = to_int(a.ld), ld = x.ld();
    const double one = 1, minus_one = -1;
    gemm("N", "N", &n, &nrhs, &n, &minus_one, a.data, &lda, x.values().data(), &ld, &one,
         r.values().data(), &ld, 1, 1);
    return r;
  };
}

// A and its factors in single, and what refines X by them: on the device where that has room for A
// in double, otherwise on the host.
struct System {
  std::unique_ptr<DoubleMatrix> in_double;
  Factors factors;
  std::unique_ptr<RefinedColumns> columns;  // only if the factors have no zero pivot
  double norm_inf = 0, largest = 0;         // of A
};

std::unique_ptr<RefinedColumns> on_host(View<const double> a, View<const double> b,
                                        const System& system) {
  return host_columns(residual_of(a), widened(b), inverse_by(*system.factors.lu, system.largest));
}

// Throws InputError if A overflows single precision.
void load(DeviceLapack& device, View<const double> a, View<const double> b, System& system) {
  system.in_double = device.in_double(a, b.columns);
  if (system.in_double) {
    system.largest = system.in_double->largest();
    if (system.largest > std::numeric_limits<float>::max()) refuse_overflow<float>(system.largest);
    system.norm_inf = system.in_double->norm_inf();
    system.factors = device.factor(*system.in_double);
  } else {
    system.norm_inf = norm_inf(a);
    system.largest = norm_max(a);
    system.factors = device.factor<float>(a);
  }
  if (system.factors.info != 0) return;
  DenseFactorization& lu = *system.factors.lu;
  system.columns =
      system.in_double ? device_columns(*system.in_double, b, lu) : on_host(a, b, system);
}

// Whether X is as good as dsgesv promises, by the residual that its callers see: the device's
// differs by rounding, which for small n is as much as is allowed.
bool is_refined(View<const double> a, View<const double> b, const Matrix& x, double norm_inf) {
  const Matrix r = residual_of(a)(x, widened(b));
  const double tolerance = mixed_tolerance(norm_inf, a.rows, MixedRules::lapack);
  for (std::size_t j = 0; j < x.cols(); ++j) {
    if (!(column_norm_max(r, j) <= column_norm_max(x, j) * tolerance)) return false;
  }
  return true;
}

// X and the pivots, or why there is none: ITER of dsgesv.
int refine(DeviceLapack& device, View<const double> a, View<const double> b, View<double> x,
           int* ipiv) {
  try {
    System system;
    load(device, a, b, system);
    if (system.factors.info != 0) return kSingular;
    Refinement refinement = solve_mixed(*system.columns, system.norm_inf, MixedRules::lapack);
    if (system.in_double && refinement.converged &&
        !is_refined(a, b, system.columns->solution(), system.norm_inf)) {
      system.columns = on_host(a, b, system);
      refinement = solve_mixed(*system.columns, system.norm_inf, MixedRules::lapack);
    }
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

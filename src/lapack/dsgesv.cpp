// LAPACK's dsgesv: A X = B in double by factors in single and iterative refinement.
#include <algorithm>
#include <utility>

#include "accuracy/refine.hpp"
#include "base/error.hpp"
#include "lapack/call.hpp"
#include "lapack/next.hpp"
#include "matrix/norms.hpp"

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

// B - A X by the next LAPACK's BLAS.
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

// X and the pivots, or why there is none: ITER of dsgesv.
int refine(DeviceLapack& device, View<const double> a, View<const double> b, View<double> x,
           int* ipiv) {
  try {
    Factors factors = device.factor<float>(a);
    if (factors.info != 0) return kSingular;
    Matrix solution;
    const Refinement refinement = solve_mixed(
        residual_of(a), norm_inf(a), widened(b), solution,
        [&](Matrix& r, Op op) { factors.lu->apply_inverse(r, op); }, MixedRules::lapack);
    if (!refinement.converged) return kNoConvergence;
    copy<double>(std::as_const(solution).view(), x);
    std::copy(factors.ipiv.begin(), factors.ipiv.end(), ipiv);
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

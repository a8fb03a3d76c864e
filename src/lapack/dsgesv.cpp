// LAPACK's dsgesv: A X = B in double by factors in single and iterative refinement.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "lapack/call.hpp"
#include "lapack/columns.hpp"
#include "lapack/next.hpp"

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

// The system: a and b are only read; r and single_x have the shape of x.
struct System {
  Columns<const double> a, b;
  Columns<double> x, r;
  Columns<float> single_a, single_x;
};

// to = from, rounded. False, with nothing written to the column, if an element overflows single
// precision (LAPACK's dlag2s).
bool narrow(Columns<const double> from, Columns<float> to) {
  constexpr double largest = std::numeric_limits<float>::max();
  for (std::size_t j = 0; j < to.columns; ++j) {
    const double *first = from.column(j), *last = first + to.rows;
    if (std::any_of(first, last, [](double value) { return std::abs(value) > largest; })) {
      return false;
    }
    std::transform(first, last, to.column(j),
                   [](double value) { return static_cast<float>(value); });
  }
  return true;
}

// The largest sum of the magnitudes of a row.
double infinity_norm(Columns<const double> a) {
  std::vector<double> sums(a.rows);
  for (std::size_t j = 0; j < a.columns; ++j) {
    for (std::size_t i = 0; i < a.rows; ++i) sums[i] += std::abs(a.column(j)[i]);
  }
  return *std::max_element(sums.begin(), sums.end());
}

// R = B - A X
void residual(const System& s) {
  using Gemm = void(const char*, const char*, const int*, const int*, const int*, const double*,
                    const double*, const int*, const double*, const int*, const double*, double*,
                    const int*, std::size_t, std::size_t);
  static Gemm* const gemm = next<double, Gemm>("gemm");
  const auto to_int = [](std::size_t size) { return static_cast<int>(size); };
  const int n = to_int(s.a.rows), nrhs = to_int(s.x.columns);
  const int lda = to_int(s.a.ld), ldx = to_int(s.x.ld), ldr = to_int(s.r.ld);
  const double one = 1, minus_one = -1;
  copy(s.b, s.r);
  gemm("N", "N", &n, &nrhs, &n, &minus_one, s.a.data, &lda, s.x.data, &ldx, &one, s.r.data, &ldr, 1,
       1);
}

// Whether every column of R is small: normi(r) <= normi(x) sqrt(n) eps normi(A). Not so for NaN.
bool is_refined(const System& s, double norm_a) {
  const std::size_t n = s.a.rows;
  const double limit = norm_a * 0x1p-53 * std::sqrt(static_cast<double>(n));
  for (std::size_t j = 0; j < s.x.columns; ++j) {
    const double *x = s.x.column(j), *r = s.r.column(j);
    double norm_x = 0;
    for (std::size_t i = 0; i < n; ++i) norm_x = std::max(norm_x, std::abs(x[i]));
    const auto small = [&](double value) { return std::abs(value) <= norm_x * limit; };
    if (!std::all_of(r, r + n, small)) return false;
  }
  return true;
}

// X and the pivots, or why there is none: ITER of dsgesv. Unlike solve_mixed(), LAPACK corrects all
// columns until the last is done, gives none up before, and ends where R overflows single
// precision.
int refine(DeviceLapack& device, const System& s, int* ipiv) {
  const double norm_a = infinity_norm(s.a);
  if (!narrow(s.b, s.single_x) || !narrow(s.a, s.single_a)) return kOverflow;
  Factors factors = device.factor<float>(s.single_a);
  if (factors.info != 0) return kSingular;
  device.solve(factors, Op::none, s.single_x);
  for (std::size_t j = 0; j < s.x.columns; ++j) {
    std::copy_n(s.single_x.column(j), s.x.rows, s.x.column(j));
  }
  for (int iteration = 0; iteration <= kMostIterations; ++iteration) {
    residual(s);
    if (is_refined(s, norm_a)) {
      std::copy(factors.ipiv.begin(), factors.ipiv.end(), ipiv);
      return iteration;
    }
    if (iteration == kMostIterations) break;
    // X += inv(A) R, in single
    if (!narrow(s.r, s.single_x)) return kOverflow;
    device.solve(factors, Op::none, s.single_x);
    for (std::size_t j = 0; j < s.x.columns; ++j) {
      for (std::size_t i = 0; i < s.x.rows; ++i) s.x.column(j)[i] += s.single_x.column(j)[i];
    }
  }
  return kNoConvergence;
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
  float* const single_x = swork + static_cast<std::size_t>(*n) * *n;
  const System system{columns<const double>(a, *n, *n, *lda),
                      columns(b, *n, *nrhs, *ldb),
                      columns(x, *n, *nrhs, *ldx),
                      columns(work, *n, *nrhs, *n),
                      columns(swork, *n, *n, *n),
                      columns(single_x, *n, *nrhs, *n)};
  if (!call.on_device(*n, [&](DeviceLapack& device) {
        *iter = refine(device, system, ipiv);
        return Place::device;
      })) {
    return host();
  }
  if (*iter >= 0) return;
  // In double, then.
  dgetrf_(n, n, a, lda, ipiv, info);
  if (*info != 0) return;
  copy(system.b, system.x);
  dgetrs_("N", n, nrhs, a, lda, ipiv, x, ldx, info);
}

// LAPACK's general systems: getrf, getrs, getri, gesv, single and double, under their Fortran
// names. Arguments, results and INFO are LAPACK's; documented at
// https://netlib.org/lapack/explore-html.
#include <algorithm>
#include <cstddef>
#include <optional>

#include "lapack/call.hpp"
#include "lapack/next.hpp"
#include "lapack/say.hpp"
#include "lapack/trans.hpp"

namespace lugpu::lapack {

const char* const kLibrary = "lugpu_lapack";
static constexpr const char* kLapacks[] = {"liblapack.so.3", "libopenblas.so.0"};
const std::span<const char* const> kFiles = kLapacks;

namespace {

template <typename Real>
void getrf(const int* m, const int* n, Real* a, const int* lda, int* ipiv, int* info) {
  const auto host = [&] {
    using Getrf = void(const int*, const int*, Real*, const int*, int*, int*);
    static Getrf* const next_getrf = next<Real, Getrf>("getrf");
    next_getrf(m, n, a, lda, ipiv, info);
  };
  *info = check(host, {{1, *m >= 0}, {2, *n >= 0}, {4, *lda >= std::max(1, *m)}});
  if (*info != 0 || *m == 0 || *n == 0) return;
  Call call(kPrefix<Real>, "getrf", {"m", *m}, {"n", *n});
  if (call.on_device(std::min(*m, *n), [&](DeviceLapack& device) {
        *info = device.getrf(view(a, *m, *n, *lda), ipiv);
        return Place::device;
      })) {
    return;
  }
  host();
}

template <typename Real>
void getrs(const char* trans, const int* n, const int* nrhs, const Real* a, const int* lda,
           const int* ipiv, Real* b, const int* ldb, int* info) {
  const auto host = [&] {
    using Getrs = void(const char*, const int*, const int*, const Real*, const int*, const int*,
                       Real*, const int*, int*, std::size_t);
    static Getrs* const next_getrs = next<Real, Getrs>("getrs");
    next_getrs(trans, n, nrhs, a, lda, ipiv, b, ldb, info, 1);
  };
  const std::optional<Op> op = op_of(*trans);
  const int least = std::max(1, *n);
  *info = check(
      host,
      {{1, op.has_value()}, {2, *n >= 0}, {3, *nrhs >= 0}, {5, *lda >= least}, {8, *ldb >= least}});
  if (*info != 0 || *n == 0 || *nrhs == 0) return;
  Call call(kPrefix<Real>, "getrs", {"n", *n}, {"nrhs", *nrhs});
  if (call.on_device(*n, [&](DeviceLapack& device) {
        return device.getrs(*op, view(a, *n, *n, *lda), ipiv, view(b, *n, *nrhs, *ldb))
                   ? Place::cache
                   : Place::device;
      })) {
    return;
  }
  host();
}

// The first zero on the diagonal, 1-based, or 0.
template <typename Real>
int first_zero(View<const Real> u) {
  for (std::size_t k = 0; k < u.columns; ++k) {
    if (u.column(k)[k] == 0) return static_cast<int>(k) + 1;
  }
  return 0;
}

template <typename Real>
void getri(const int* n, Real* a, const int* lda, const int* ipiv, Real* work, const int* lwork,
           int* info) {
  const auto host = [&] {
    using Getri = void(const int*, Real*, const int*, const int*, Real*, const int*, int*);
    static Getri* const next_getri = next<Real, Getri>("getri");
    next_getri(n, a, lda, ipiv, work, lwork, info);
  };
  const bool query = *lwork == -1;
  const int least = std::max(1, *n);
  *info = check(host, {{1, *n >= 0}, {3, *lda >= least}, {6, query || *lwork >= least}});
  if (*info != 0) return;
  // The workspace is the host's: the device needs none.
  if (query || *n == 0) return host();
  Call call(kPrefix<Real>, "getri", {"n", *n});
  const View<Real> lu = view(a, *n, *n, *lda);
  *info = first_zero<Real>(lu);
  if (*info > 0) return call.on_host("U is singular");
  if (call.on_device(*n, [&](DeviceLapack& device) {
        return device.getri(lu, ipiv) ? Place::cache : Place::device;
      })) {
    work[0] = static_cast<Real>(*n);
    return;
  }
  host();
}

template <typename Real>
void gesv(const int* n, const int* nrhs, Real* a, const int* lda, int* ipiv, Real* b,
          const int* ldb, int* info) {
  const auto host = [&] {
    using Gesv = void(const int*, const int*, Real*, const int*, int*, Real*, const int*, int*);
    static Gesv* const next_gesv = next<Real, Gesv>("gesv");
    next_gesv(n, nrhs, a, lda, ipiv, b, ldb, info);
  };
  const int least = std::max(1, *n);
  *info = check(host, {{1, *n >= 0}, {2, *nrhs >= 0}, {4, *lda >= least}, {7, *ldb >= least}});
  if (*info != 0 || *n == 0) return;
  Call call(kPrefix<Real>, "gesv", {"n", *n}, {"nrhs", *nrhs});
  if (call.on_device(*n, [&](DeviceLapack& device) {
        *info = device.gesv(view(a, *n, *n, *lda), ipiv, view(b, *n, *nrhs, *ldb));
        return Place::device;
      })) {
    return;
  }
  host();
}

// LAPACK checks no argument of getc2 and gesc2.
template <typename Real>
void getc2(const int* n, Real* a, const int* lda, int* ipiv, int* jpiv, int* info) {
  *info = 0;
  if (*n <= 0) return;
  Call call(kPrefix<Real>, "getc2", {"n", *n});
  if (call.on_device(*n, [&](DeviceLapack& device) {
        *info = device.getc2(view(a, *n, *n, *lda), ipiv, jpiv);
        return Place::device;
      })) {
    return;
  }
  using Getc2 = void(const int*, Real*, const int*, int*, int*, int*);
  static Getc2* const host = next<Real, Getc2>("getc2");
  host(n, a, lda, ipiv, jpiv, info);
}

// n^2 operations with factors on the host: the host's.
template <typename Real>
void gesc2(const int* n, const Real* a, const int* lda, Real* rhs, const int* ipiv, const int* jpiv,
           Real* scale) {
  Call call(kPrefix<Real>, "gesc2", {"n", *n});
  call.on_host("gesc2 always does");
  using Gesc2 = void(const int*, const Real*, const int*, Real*, const int*, const int*, Real*);
  static Gesc2* const host = next<Real, Gesc2>("gesc2");
  host(n, a, lda, rhs, ipiv, jpiv, scale);
}

}  // namespace
}  // namespace lugpu::lapack

namespace lapack = lugpu::lapack;

// Fortran passes the length of TRANS behind the other arguments, C programs often do not: so it is
// not declared, and nothing is read or written where it must not be.
extern "C" {

void sgetrf_(const int* m, const int* n, float* a, const int* lda, int* ipiv, int* info) {
  lapack::getrf(m, n, a, lda, ipiv, info);
}
void dgetrf_(const int* m, const int* n, double* a, const int* lda, int* ipiv, int* info) {
  lapack::getrf(m, n, a, lda, ipiv, info);
}

void sgetrs_(const char* trans, const int* n, const int* nrhs, const float* a, const int* lda,
             const int* ipiv, float* b, const int* ldb, int* info) {
  lapack::getrs(trans, n, nrhs, a, lda, ipiv, b, ldb, info);
}
void dgetrs_(const char* trans, const int* n, const int* nrhs, const double* a, const int* lda,
             const int* ipiv, double* b, const int* ldb, int* info) {
  lapack::getrs(trans, n, nrhs, a, lda, ipiv, b, ldb, info);
}

void sgetri_(const int* n, float* a, const int* lda, const int* ipiv, float* work, const int* lwork,
             int* info) {
  lapack::getri(n, a, lda, ipiv, work, lwork, info);
}
void dgetri_(const int* n, double* a, const int* lda, const int* ipiv, double* work,
             const int* lwork, int* info) {
  lapack::getri(n, a, lda, ipiv, work, lwork, info);
}

void sgesv_(const int* n, const int* nrhs, float* a, const int* lda, int* ipiv, float* b,
            const int* ldb, int* info) {
  lapack::gesv(n, nrhs, a, lda, ipiv, b, ldb, info);
}
void dgesv_(const int* n, const int* nrhs, double* a, const int* lda, int* ipiv, double* b,
            const int* ldb, int* info) {
  lapack::gesv(n, nrhs, a, lda, ipiv, b, ldb, info);
}

void sgetc2_(const int* n, float* a, const int* lda, int* ipiv, int* jpiv, int* info) {
  lapack::getc2(n, a, lda, ipiv, jpiv, info);
}
void dgetc2_(const int* n, double* a, const int* lda, int* ipiv, int* jpiv, int* info) {
  lapack::getc2(n, a, lda, ipiv, jpiv, info);
}

void sgesc2_(const int* n, const float* a, const int* lda, float* rhs, const int* ipiv,
             const int* jpiv, float* scale) {
  lapack::gesc2(n, a, lda, rhs, ipiv, jpiv, scale);
}
void dgesc2_(const int* n, const double* a, const int* lda, double* rhs, const int* ipiv,
             const int* jpiv, double* scale) {
  lapack::gesc2(n, a, lda, rhs, ipiv, jpiv, scale);
}
}

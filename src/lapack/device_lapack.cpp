#include "lapack/device_lapack.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/parallel.hpp"
#include "dense/lu.hpp"
#include "dense/substitution.hpp"
#include "solve/methods.hpp"

namespace lugpu::lapack {
namespace {

template <typename Real>
constexpr Precision kPrecision = sizeof(Real) == sizeof(double) ? Precision::double_precision
                                                                : Precision::single_precision;

// A hash of the bits of factors. A step is a bijection of the state and of the word, so a single
// changed element always changes the result, and other changes do but for one chance in 2^64.
class Fingerprint {
 public:
  void add(const void* data, std::size_t bytes) {
    const auto* position = static_cast<const char*>(data);
    for (; bytes >= sizeof(Words); bytes -= sizeof(Words), position += sizeof(Words)) {
      Words words;
      std::memcpy(&words, position, sizeof words);
      add(words);
    }
    Words rest{};
    std::memcpy(&rest, position, bytes);
    add(rest);
  }
  std::uint64_t value() const {
    std::uint64_t state = 0;
    for (const std::uint64_t lane : lanes_) state = step(state, lane);
    return state;
  }

 private:
  using Words = std::array<std::uint64_t, 4>;

  static std::uint64_t step(std::uint64_t state, std::uint64_t word) {
    state = (state ^ word) * 0x9e3779b97f4a7c15;
    return state ^ state >> 32;
  }
  void add(const Words& words) {
    for (std::size_t i = 0; i < words.size(); ++i) lanes_[i] = step(lanes_[i], words[i]);
  }

  Words lanes_{1, 2, 3, 4};
};

// Of the columns' own, and of ipiv.
std::uint64_t fingerprint_of(const std::vector<std::uint64_t>& columns, const int* ipiv) {
  Fingerprint fingerprint;
  fingerprint.add(columns.data(), columns.size() * sizeof columns[0]);
  fingerprint.add(ipiv, columns.size() * sizeof(int));
  return fingerprint.value();
}

template <typename Real>
std::uint64_t fingerprint_of_column(const Real* column, std::size_t rows) {
  Fingerprint fingerprint;
  fingerprint.add(column, rows * sizeof(Real));
  return fingerprint.value();
}

}  // namespace

// A buffer of rows x columns elements, column-major. Some columns travel while the next are copied.
template <typename Real>
cl::Buffer DeviceLapack::upload(Columns<const Real> host) {
  constexpr std::size_t kPieceBytes = 32 << 20;
  const std::size_t rows = host.rows, column_bytes = rows * sizeof(Real);
  const std::size_t piece = std::max<std::size_t>(kPieceBytes / column_bytes, 1);
  cl::Buffer buffer = context_.allocate(host.columns * column_bytes);
  Real* const staged = static_cast<Real*>(staging_.room(host.columns * column_bytes));
  for (std::size_t first = 0; first < host.columns; first += piece) {
    const std::size_t columns = std::min(piece, host.columns - first);
    copy(Columns<const Real>{host.column(first), rows, columns, host.ld},
         Columns<Real>{staged + first * rows, rows, columns, rows});
    context_.queue().enqueueWriteBuffer(buffer, CL_FALSE, first * column_bytes,
                                        columns * column_bytes, staged + first * rows);
  }
  context_.queue().finish();
  return buffer;
}

// The first `count` elements of a buffer, in host memory until the next transfer.
template <typename Real>
const Real* DeviceLapack::staged(const cl::Buffer& buffer, std::size_t count) {
  void* const data = staging_.room(count * sizeof(Real));
  context_.read_back("export", buffer, 0, count * sizeof(Real), data);
  return static_cast<const Real*>(data);
}

template <typename Real>
Factors DeviceLapack::factor(Columns<const Real> a) {
  const Shape shape{a.rows, a.columns, Pivot::partial, kPrecision<Real>};
  // A as uploaded and in transit, and the caller's A, where the device's memory is the host's.
  const std::size_t others = context_.device().type == "cpu" ? 3 : 2;
  require_fits(
      context_.device(), a.rows, a.columns, shape.precision, Storage::buffer, 1,
      others * a.rows * a.columns * sizeof(Real) + Blocked::workspace(context_.device(), shape));
  Factors factors{Surface(context_, a.rows, a.columns, shape.precision, Storage::buffer),
                  Blocked::make(context_, shape), std::vector<int>(std::min(a.rows, a.columns))};
  import_columns(context_, upload(a), a.columns, factors.lu, 0);
  factors.blocked->factor(factors.lu);
  context_.read_back("outcome", factors.blocked->info(), 0, sizeof(int), &factors.info);
  context_.read_back("outcome", factors.blocked->ipiv(), 0, factors.ipiv.size() * sizeof(int),
                     factors.ipiv.data());
  for (int& row : factors.ipiv) ++row;
  return factors;
}

// inv(A) B = inv(U) inv(L) P B,  inv(A') B = P' inv(L') inv(U') B; column-major, n x nrhs.
template <typename Real>
cl::Buffer DeviceLapack::solved(Factors& factors, Op op, Columns<const Real> b) {
  Surface x(context_, b.rows, b.columns, kPrecision<Real>, Storage::buffer);
  fill(context_, x, 0);
  const std::vector<int> rows = permutation_of(factors.ipiv);
  const cl::Buffer moved = context_.allocate(b.rows * b.columns * sizeof(Real));
  const cl::Buffer given = upload(b);
  if (op == Op::none) gather_rows(context_, given, moved, rows, b.columns, kPrecision<Real>);
  import_columns(context_, op == Op::none ? moved : given, b.columns, x, 0);
  factors.blocked->solve(factors.lu, x, op);
  const cl::Buffer result = export_columns(context_, x, 0, b.columns);
  if (op == Op::none) return result;
  gather_rows(context_, result, moved, inverse_permutation(rows), b.columns, kPrecision<Real>);
  return moved;
}

template <typename Real>
void DeviceLapack::solve(Factors& factors, Op op, Columns<Real> b) {
  if (b.columns == 0) return;
  const Real* const x = staged<Real>(solved<Real>(factors, op, b), b.rows * b.columns);
  copy(Columns<const Real>{x, b.rows, b.columns, b.rows}, b);
}

template <typename Real>
int DeviceLapack::getrf(Columns<Real> a, int* ipiv) {
  return gesv(a, ipiv, Columns<Real>{nullptr, a.rows, 0, a.rows});
}

template <typename Real>
int DeviceLapack::gesv(Columns<Real> a, int* ipiv, Columns<Real> b) {
  forget();
  Factors factors = factor<Real>(a);
  std::vector<Real> x(factors.info == 0 ? b.rows * b.columns : 0);
  if (!x.empty()) {
    context_.read_back("export", solved<Real>(factors, Op::none, b), 0, x.size() * sizeof(Real),
                       x.data());
  }
  const Real* const lu =
      staged<Real>(export_columns(context_, factors.lu, 0, a.columns), a.rows * a.columns);
  std::vector<std::uint64_t> fingerprints(a.columns);
  // Nothing can fail any more.
  in_parallel(a.columns, a.rows * sizeof(Real), [&](std::size_t j) {
    std::copy_n(lu + j * a.rows, a.rows, a.column(j));
    fingerprints[j] = fingerprint_of_column(a.column(j), a.rows);
  });
  if (!x.empty()) copy(Columns<const Real>{x.data(), b.rows, b.columns, b.rows}, b);
  std::copy(factors.ipiv.begin(), factors.ipiv.end(), ipiv);
  const int info = factors.info;
  if (a.rows == a.columns) {
    factors.fingerprint = fingerprint_of(fingerprints, ipiv);
    kept_ = std::move(factors);
  }
  return info;
}

// kept_ becomes the given factors. Returns whether it held them already.
template <typename Real>
bool DeviceLapack::keep(Columns<const Real> lu, const int* ipiv) {
  const std::size_t n = lu.rows;
  std::vector<std::uint64_t> fingerprints(n);
  in_parallel(n, n * sizeof(Real),
              [&](std::size_t j) { fingerprints[j] = fingerprint_of_column(lu.column(j), n); });
  const std::uint64_t fingerprint = fingerprint_of(fingerprints, ipiv);
  if (kept_ && kept_->lu.precision() == kPrecision<Real> && kept_->lu.rows() == n &&
      kept_->fingerprint == fingerprint) {
    return true;
  }
  forget();
  Factors factors{Surface(context_, n, n, kPrecision<Real>, Storage::buffer),
                  Blocked::make(context_, {n, n, Pivot::partial, kPrecision<Real>}),
                  std::vector<int>(ipiv, ipiv + n), 0, fingerprint};
  import_columns(context_, upload(lu), n, factors.lu, 0);
  kept_ = std::move(factors);
  return false;
}

template <typename Real>
bool DeviceLapack::getrs(Op op, Columns<const Real> lu, const int* ipiv, Columns<Real> b) {
  const bool there = keep(lu, ipiv);
  solve(*kept_, op, b);
  return there;
}

// From A' Y = I with Y = inv(A)', that is U' L' Z = I with Z = P Y: so the residual that is small
// is that of LAPACK's getri, inv(A) A - I. Row i of Z is column p(i) of inv(A).
template <typename Real>
bool DeviceLapack::getri(Columns<Real> lu, const int* ipiv) {
  const bool there = keep<Real>(lu, ipiv);
  const std::size_t n = lu.rows;
  Surface z(context_, n, n, kPrecision<Real>, Storage::buffer);
  fill(context_, z, 0);
  context_.run("solve", z.kernel("common/transfer.cl", "set_diagonal"), {n}, z,
               static_cast<cl_int>(n));
  kept_->blocked->solve(kept_->lu, z, Op::transpose);
  const std::vector<int> p = permutation_of(kept_->ipiv);
  const Real* const rows = staged<Real>(cl::Buffer(z.memory()(), true), n * z.pitch());
  in_parallel(n, n * sizeof(Real),
              [&](std::size_t i) { std::copy_n(rows + i * z.pitch(), n, lu.column(p[i])); });
  // Nobody has the factors any more.
  forget();
  return there;
}

template <typename Real>
int DeviceLapack::getc2(Columns<Real> a, int* ipiv, int* jpiv) {
  const std::size_t n = a.rows;
  Problem problem{.n = n, .pivot = Pivot::full, .precision = kPrecision<Real>};
  problem.schedule = Schedule::fused;
  problem.perturb = true;
  Lu solver(context_, completed(problem, find_method("lu"), context_.device(), std::nullopt, 0));
  Matrix lu(n, n);
  for (std::size_t j = 0; j < n; ++j) std::copy_n(a.column(j), n, lu.column(j));
  solver.upload(lu, Matrix(n, 0));
  solver.factor();
  const Outcome outcome = solver.outcome();
  lu = *solver.lu();
  int info = 0;
  for (std::size_t k = 0; k < n; ++k) {
    // The factors have the pivots that were found, the outcome those that were divided by.
    if (std::abs(lu(k, k)) < std::abs(outcome.pivots[k])) info = static_cast<int>(k) + 1;
    lu(k, k) = outcome.pivots[k];
  }
  for (std::size_t j = 0; j < n; ++j) {
    std::transform(lu.column(j), lu.column(j) + n, a.column(j),
                   [](double value) { return static_cast<Real>(value); });
  }
  std::copy(outcome.ipiv.begin(), outcome.ipiv.end(), ipiv);
  std::copy(outcome.jpiv.begin(), outcome.jpiv.end(), jpiv);
  return info;
}

template Factors DeviceLapack::factor(Columns<const float>);
template Factors DeviceLapack::factor(Columns<const double>);
template void DeviceLapack::solve(Factors&, Op, Columns<float>);
template void DeviceLapack::solve(Factors&, Op, Columns<double>);
template int DeviceLapack::getrf(Columns<float>, int*);
template int DeviceLapack::getrf(Columns<double>, int*);
template int DeviceLapack::gesv(Columns<float>, int*, Columns<float>);
template int DeviceLapack::gesv(Columns<double>, int*, Columns<double>);
template bool DeviceLapack::getrs(Op, Columns<const float>, const int*, Columns<float>);
template bool DeviceLapack::getrs(Op, Columns<const double>, const int*, Columns<double>);
template bool DeviceLapack::getri(Columns<float>, const int*);
template bool DeviceLapack::getri(Columns<double>, const int*);
template int DeviceLapack::getc2(Columns<float>, int*, int*);
template int DeviceLapack::getc2(Columns<double>, int*, int*);

}  // namespace lugpu::lapack

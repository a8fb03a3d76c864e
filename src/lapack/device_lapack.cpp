#include "lapack/device_lapack.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/parallel.hpp"
#include "dense/lu.hpp"
#include "dense/lu_blocked.hpp"
#include "dense/permutation.hpp"
#include "solve/methods.hpp"
#include "solve/system_solver.hpp"

namespace lugpu::lapack {
namespace {

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

const Method& blocked() {
  return find_method("lu-blocked");
}

}  // namespace

template <typename Real>
void copy(View<const Real> from, View<Real> to) {
  in_parallel(to.columns, to.rows * sizeof(Real),
              [&](std::size_t j) { std::copy_n(from.column(j), to.rows, to.column(j)); });
}
template void copy(View<const double>, View<double>);

DeviceLapack::DeviceLapack(const std::vector<Device>& devices) : context_(devices.front()) {
  for (std::size_t d = 1; d < devices.size(); ++d) {
    others_.push_back(std::make_unique<DeviceContext>(devices[d]));
  }
}

// The first `count` elements of a buffer, in host memory until the next transfer.
template <typename Real>
const Real* DeviceLapack::staged(const cl::Buffer& buffer, std::size_t count) {
  void* const data = context_.staging().room(count * sizeof(Real));
  context_.read_back("export", buffer, 0, count * sizeof(Real), data);
  return static_cast<const Real*>(data);
}

// All of L and U, likewise. Where devices share them, none has room for them.
template <typename Real>
const Real* DeviceLapack::staged_factors(Factors& factors) {
  const auto [rows, n, nrhs] = factors.lu->size();
  if (!shares(rows, n)) return staged<Real>(factors.lu->factors(0, n), rows * n);
  constexpr std::size_t kColumns = 256;
  auto* const all = static_cast<Real*>(context_.staging().room(n * n * sizeof(Real)));
  for (std::size_t first = 0; first < n; first += kColumns) {
    const std::size_t count = std::min(kColumns, n - first);
    context_.read_back("export", factors.lu->factors(first, count), 0, n * count * sizeof(Real),
                       all + first * n);
  }
  return all;
}

// lu-blocked, on all devices if they share such matrices. Throws Unsupported where it does not fit.
template <typename Real>
Problem DeviceLapack::problem_of(std::size_t rows, std::size_t columns) {
  Problem problem;
  problem.size = {rows, columns, 0};
  DenseOptions& options = problem.dense;
  options.precision = kPrecision<Real>;
  if (shares(rows, columns)) {
    for (const auto& other : others_) options.others.push_back(other.get());
  } else {
    // The factors on their way back, and the caller's A, where the device's memory is the host's.
    const std::size_t others = context_.device().type == "cpu" ? 2 : 1;
    require_fits(context_.device(), rows, columns, options.precision, Storage::buffer, 1,
                 others * rows * columns * sizeof(Real));
  }
  options.nb = blocked().block_size(context_.device(), problem.size, options);
  return problem;
}

// Of what has been uploaded.
Factors DeviceLapack::factored(std::unique_ptr<DenseFactorization> lu) {
  Factors factors;
  factors.lu = std::move(lu);
  factors.lu->factor();
  Outcome outcome = factors.lu->outcome();
  factors.ipiv = std::move(outcome.ipiv);
  factors.info = outcome.info;
  return factors;
}

template <typename Real>
Factors DeviceLapack::factor(const MatrixView& a) {
  const Problem problem = problem_of<Real>(a.rows(), a.cols());
  auto lu = blocked().make(context_, problem.size, problem.dense);
  lu->upload(a, View<const Real>{nullptr, a.rows(), 0, a.rows()});
  return factored(std::move(lu));
}

std::unique_ptr<DoubleMatrix> DeviceLapack::in_double(const MatrixView& a, std::size_t nrhs) {
  if (shares(a.rows(), a.cols())) return nullptr;
  Problem problem = problem_of<float>(a.rows(), a.cols());
  problem.size.nrhs = nrhs;
  problem.solve.refine = Refine::mixed;
  if (!has_room_for_double(context_.device(), blocked(), problem)) return nullptr;
  return std::make_unique<DoubleMatrix>(context_, a);
}

Factors DeviceLapack::factor(const DoubleMatrix& a) {
  const Problem problem = problem_of<float>(a.n(), a.n());
  auto lu = blocked().make(context_, problem.size, problem.dense);
  a.give_columns(Precision::single_precision,
                 [&](const cl::Buffer& piece, std::size_t first, std::size_t count) {
                   lu->take_columns(piece, first, count);
                 });
  return factored(std::move(lu));
}

template <typename Real>
void DeviceLapack::solve(Factors& factors, Op op, View<Real> b) {
  if (b.columns == 0) return;
  const cl::Buffer x = factors.lu->apply_inverse(
      lugpu::upload(context_, View<const Real>(b), kPrecision<Real>), b.columns, op);
  copy({staged<Real>(x, b.rows * b.columns), b.rows, b.columns, b.rows}, b);
}

template <typename Real>
int DeviceLapack::getrf(View<Real> a, int* ipiv) {
  return gesv(a, ipiv, View<Real>{nullptr, a.rows, 0, a.rows});
}

template <typename Real>
int DeviceLapack::gesv(View<Real> a, int* ipiv, View<Real> b) {
  forget();
  Factors factors = factor<Real>(View<const Real>(a));
  std::vector<Real> x(factors.info == 0 ? b.rows * b.columns : 0);
  if (!x.empty()) {
    copy<Real>(b, {x.data(), b.rows, b.columns, b.rows});
    solve<Real>(factors, Op::none, {x.data(), b.rows, b.columns, b.rows});
  }
  const Real* const lu = staged_factors<Real>(factors);
  std::vector<std::uint64_t> fingerprints(a.columns);
  // Nothing can fail any more.
  in_parallel(a.columns, a.rows * sizeof(Real), [&](std::size_t j) {
    std::copy_n(lu + j * a.rows, a.rows, a.column(j));
    fingerprints[j] = fingerprint_of_column(a.column(j), a.rows);
  });
  if (!x.empty()) copy<Real>({x.data(), b.rows, b.columns, b.rows}, b);
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
bool DeviceLapack::keep(View<const Real> lu, const int* ipiv) {
  const std::size_t n = lu.rows;
  std::vector<std::uint64_t> fingerprints(n);
  in_parallel(n, n * sizeof(Real),
              [&](std::size_t j) { fingerprints[j] = fingerprint_of_column(lu.column(j), n); });
  const std::uint64_t fingerprint = fingerprint_of(fingerprints, ipiv);
  if (kept_ && kept_->lu->options().precision == kPrecision<Real> && kept_->lu->size().n == n &&
      kept_->fingerprint == fingerprint) {
    return true;
  }
  forget();
  const std::vector<int> pivots(ipiv, ipiv + n);
  kept_ =
      Factors{adopt_factors(context_, problem_of<Real>(n, n), lu, pivots), pivots, 0, fingerprint};
  return false;
}

template <typename Real>
bool DeviceLapack::getrs(Op op, View<const Real> lu, const int* ipiv, View<Real> b) {
  const bool there = keep(lu, ipiv);
  solve(*kept_, op, b);
  return there;
}

// As below, some rows of inv(A) at a time.
template <typename Real>
void DeviceLapack::invert_shared(View<Real> inverse) {
  constexpr std::size_t kRows = 256;
  const std::size_t n = inverse.rows;
  std::vector<Real> rows(n * n);
  for (std::size_t first = 0; first < n; first += kRows) {
    const View<Real> part{rows.data() + first * n, n, std::min(kRows, n - first), n};
    for (std::size_t i = 0; i < part.columns; ++i) part(first + i, i) = 1;
    solve(*kept_, Op::transpose, part);
  }
  in_parallel(n, n * sizeof(Real), [&](std::size_t j) {
    for (std::size_t i = 0; i < n; ++i) inverse(i, j) = rows[i * n + j];
  });
}

// From A' Y = I with Y = inv(A)', that is U' L' Z = I with Z = P Y: so the residual that is small
// is that of LAPACK's getri, inv(A) A - I. Row i of Z is column p(i) of inv(A).
template <typename Real>
bool DeviceLapack::getri(View<Real> lu, const int* ipiv) {
  const bool there = keep<Real>(lu, ipiv);
  const std::size_t n = lu.rows;
  auto* const whole = dynamic_cast<LuBlocked*>(kept_->lu.get());
  if (!whole) {
    invert_shared(lu);
    forget();
    return there;
  }
  Surface z(context_, n, n, kPrecision<Real>, Storage::buffer);
  fill(context_, z, 0);
  context_.run("solve", z.kernel("common/transfer.cl", "set_diagonal"), {n}, z,
               static_cast<cl_int>(n));
  whole->solve_triangles(z, Op::transpose);
  const std::vector<int> p = permutation_of(kept_->ipiv, n);
  const Real* const rows = staged<Real>(cl::Buffer(z.memory()(), true), n * z.pitch());
  in_parallel(n, n * sizeof(Real),
              [&](std::size_t i) { std::copy_n(rows + i * z.pitch(), n, lu.column(p[i])); });
  // Nobody has the factors any more.
  forget();
  return there;
}

template <typename Real>
int DeviceLapack::getc2(View<Real> a, int* ipiv, int* jpiv) {
  const std::size_t n = a.rows;
  Problem problem;
  problem.size = Size::square(n, 0);
  problem.dense.pivot = Pivot::full;
  problem.dense.precision = kPrecision<Real>;
  problem.dense.perturb = true;
  const Device& device = context_.device();
  Lu solver(context_, problem.size,
            completed(problem, find_method("lu"), device, std::nullopt, 0, {}).dense);
  solver.upload(View<const Real>(a), View<const Real>{nullptr, n, 0, n});
  solver.factor();
  const Outcome outcome = solver.outcome();
  std::vector<Real> values(n * n);
  const View<Real> lu{values.data(), n, n, n};
  solver.download_factors(0, lu);
  int info = 0;
  for (std::size_t k = 0; k < n; ++k) {
    // The factors have the pivots that were found, the outcome those that were divided by.
    if (std::abs(lu(k, k)) < std::abs(outcome.pivots[k])) info = static_cast<int>(k) + 1;
    lu(k, k) = static_cast<Real>(outcome.pivots[k]);
  }
  copy<Real>(lu, a);
  std::copy(outcome.ipiv.begin(), outcome.ipiv.end(), ipiv);
  std::copy(outcome.jpiv.begin(), outcome.jpiv.end(), jpiv);
  return info;
}

template Factors DeviceLapack::factor<float>(const MatrixView&);
template int DeviceLapack::getrf(View<float>, int*);
template int DeviceLapack::getrf(View<double>, int*);
template int DeviceLapack::gesv(View<float>, int*, View<float>);
template int DeviceLapack::gesv(View<double>, int*, View<double>);
template bool DeviceLapack::getrs(Op, View<const float>, const int*, View<float>);
template bool DeviceLapack::getrs(Op, View<const double>, const int*, View<double>);
template bool DeviceLapack::getri(View<float>, const int*);
template bool DeviceLapack::getri(View<double>, const int*);
template int DeviceLapack::getc2(View<float>, int*, int*);
template int DeviceLapack::getc2(View<double>, int*, int*);

}  // namespace lugpu::lapack

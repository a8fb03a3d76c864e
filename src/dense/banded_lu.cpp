#include "dense/banded_lu.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "dense/banded_cpu.hpp"
#include "dense/banded_gpu.hpp"
#include "matrix/rounded.hpp"

namespace lugpu {
namespace {

// Entries that are sent at a time.
constexpr std::size_t kEntries = 1 << 20;

// In double, which does not overflow.
void require_room(const DeviceContext& context, const BandSize& size, Precision precision,
                  std::size_t band, std::uint64_t workspace) {
  const Device& device = context.device();
  if (precision == Precision::double_precision && !device.double_precision) {
    throw Unsupported(device.name + " has no double precision", {"precision", "single"});
  }
  constexpr std::size_t kMost = 1 << 30;
  const auto element = static_cast<double>(element_size(precision));
  const double right = static_cast<double>(size.n) * static_cast<double>(size.nrhs);
  const double largest = element * std::max(static_cast<double>(band), right);
  const double all =
      element * (static_cast<double>(band) + static_cast<double>(workspace) + 3 * right) +
      8 * static_cast<double>(size.n);
  if (size.n > kMost || size.nrhs > kMost || largest > static_cast<double>(device.max_allocation) ||
      all > static_cast<double>(device.global_memory)) {
    throw Unsupported("A band of " + std::to_string(size.lower) + " + 1 + " +
                      std::to_string(size.upper) + " diagonals of order " + std::to_string(size.n) +
                      " does not fit into the memory of " + device.name);
  }
}

}  // namespace

BandSize clipped(const BandSize& size) {
  const std::size_t most = std::max<std::size_t>(size.n, 1) - 1;
  return {size.n, std::min(size.lower, most), std::min(size.upper, most), size.nrhs};
}

std::unique_ptr<BandedLu> BandedLu::make(DeviceContext& context, const BandSize& size,
                                         Precision precision) {
  if (context.device().type == "cpu") return std::make_unique<BandedCpu>(context, size, precision);
  return std::make_unique<BandedGpu>(context, size, precision);
}

BandedLu::BandedLu(DeviceContext& context, const BandSize& size, Precision precision,
                   const Layout& layout, std::uint64_t workspace)
    : context_(context), size_(size), precision_(precision), layout_(layout) {
  require_room(context, clipped(size), precision, layout.elements, workspace);
  a_ = context.allocate(layout.elements * element());
  ipiv_ = context.allocate(size.n * sizeof(cl_int));
  info_ = context.zeros(1);
  b_ = context.allocate(size.n * size.nrhs * element());
  x_ = context.allocate(size.n * size.nrhs * element());
}

// The rows, columns and values of the entries, a number of them at a time.
template <typename Real>
void BandedLu::place_entries(const Sparse& a) {
  const std::size_t count = std::min(a.values().size(), kEntries);
  std::vector<cl_int> places(2 * count);
  std::vector<Real> values(count);
  const cl::Buffer on_places = context_.allocate(2 * count * sizeof(cl_int));
  const cl::Buffer on_values = context_.allocate(count * sizeof(Real));
  std::size_t filled = 0;
  const auto send = [&] {
    if (filled == 0) return;
    context_.queue().enqueueWriteBuffer(on_places, CL_TRUE, 0, 2 * filled * sizeof(cl_int),
                                        places.data());
    context_.queue().enqueueWriteBuffer(on_values, CL_TRUE, 0, filled * sizeof(Real),
                                        values.data());
    context_.run(
        "upload", {"dense/banded_transfer.cl", "place_entries", precision_, Storage::buffer},
        {filled}, a_, on_places, on_values, static_cast<cl_int>(filled),
        static_cast<cl_ulong>(layout_.row_stride), static_cast<cl_ulong>(layout_.column_stride));
    filled = 0;
  };
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::int64_t k = a.row_begin()[i]; k < a.row_begin()[i + 1]; ++k) {
      const std::size_t j = a.columns()[k];
      if (i > j + size_.lower || j > i + size_.upper) {
        throw InputError("The entry in row " + std::to_string(i + 1) + " and column " +
                         std::to_string(j + 1) + " is outside the band.");
      }
      if (overflows<Real>(a.values()[k])) refuse_overflow<Real>(a.values()[k]);
      places[2 * filled] = static_cast<cl_int>(i);
      places[2 * filled + 1] = static_cast<cl_int>(j);
      values[filled] = static_cast<Real>(a.values()[k]);
      if (++filled == count) send();
    }
  }
  send();
}

void BandedLu::upload(const Sparse& a) {
  if (a.rows() != size_.n || a.cols() != size_.n) {
    throw InputError("The matrix is " + std::to_string(a.rows()) + " x " +
                     std::to_string(a.cols()) + ", but the band has the order " +
                     std::to_string(size_.n) + ".");
  }
  if (layout_.elements == 0) return;
  context_.fill(a_, 0, layout_.elements * element());
  if (precision_ == Precision::double_precision) {
    place_entries<double>(a);
  } else {
    place_entries<float>(a);
  }
}

void BandedLu::factor() {
  if (size_.n > 0) factorize();
}

Outcome BandedLu::outcome() {
  Outcome outcome;
  outcome.ipiv.resize(size_.n);
  if (size_.n == 0) return outcome;
  context_.read_back("outcome", info_, 0, sizeof(cl_int), &outcome.info);
  context_.read_back("outcome", ipiv_, 0, size_.n * sizeof(cl_int), outcome.ipiv.data());
  for (int& row : outcome.ipiv) ++row;
  return outcome;
}

void BandedLu::upload_rhs(const MatrixView& b) {
  if (b.rows() != size_.n || b.cols() != size_.nrhs) {
    throw InputError("The right-hand sides are " + std::to_string(b.rows()) + " x " +
                     std::to_string(b.cols()) + ", not " + std::to_string(size_.n) + " x " +
                     std::to_string(size_.nrhs) + ".");
  }
  b_ = lugpu::upload(context_, b, precision_);
}

void BandedLu::solve() {
  const std::size_t bytes = size_.n * size_.nrhs * element();
  if (bytes == 0) return;
  context_.queue().enqueueCopyBuffer(b_, x_, 0, 0, bytes);
  substitute(x_);
}

template <typename Real>
Matrix BandedLu::read_factors() {
  const std::size_t n = size_.n, diagonal = size_.lower + size_.upper;
  Matrix factors(diagonal + size_.lower + 1, n);
  if (n == 0) return factors;
  std::vector<Real> band(layout_.elements);
  context_.read_back("download", a_, 0, band.size() * sizeof(Real), band.data());
  const std::vector<int> ipiv = outcome().ipiv;
  const auto at = [&](std::size_t i, std::size_t j) -> Real& {
    return band[i * layout_.row_stride + j * layout_.column_stride];
  };
  // Takes back what later pivots of a block did to earlier columns of L.
  for (std::size_t j = n; j-- > 0;) {
    const std::size_t row = ipiv[j] - 1;
    for (std::size_t q = j / layout_.nb * layout_.nb; q < j; ++q) std::swap(at(j, q), at(row, q));
  }
  const BandSize kept = clipped(size_);
  for (std::size_t j = 0; j < n; ++j) {
    const std::size_t above = std::min(kept.lower + kept.upper, j);
    for (std::size_t i = j - above; i < std::min(j + kept.lower + 1, n); ++i) {
      factors(diagonal + i - j, j) = at(i, j);
    }
  }
  return factors;
}

Matrix BandedLu::factors() {
  return precision_ == Precision::double_precision ? read_factors<double>() : read_factors<float>();
}

}  // namespace lugpu

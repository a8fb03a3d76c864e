#include "baselines/viennacl.hpp"

#include "base/error.hpp"

#ifdef LUGPU_VIENNACL

#include <algorithm>
#include <limits>
#include <string>
#include <vector>
#include <viennacl/linalg/lu.hpp>
#include <viennacl/matrix.hpp>
#include <viennacl/version.hpp>

#include "baselines/viennacl_context.hpp"
#include "matrix/rounded.hpp"
#include "opencl/surface.hpp"

namespace lugpu {
namespace {

std::uint64_t padded(std::uint64_t length) {
  constexpr std::uint64_t multiple = viennacl::dense_padding_size;
  return (length + multiple - 1) / multiple * multiple;
}

template <typename Real>
class ViennaCl : public Contender {
 public:
  ViennaCl(DeviceContext& device, const Problem& problem)
      : n_(problem.size.n),
        nrhs_(problem.size.nrhs),
        context_((require_viennacl(device.device(), problem), context_of(device))),
        a_(n_, n_, context_),
        b_(n_, nrhs_, context_),
        lu_(n_, n_, context_),
        x_(n_, nrhs_, context_) {}

  void upload(const MatrixView& a, const MatrixView& b) override {
    write(a, a_);
    write(b, b_);
    reset();
  }
  void reset() override {
    copy(a_, lu_);
    copy(b_, x_);
    finish();
  }
  void prepare() override {
    factor();
    if (outcome().info == 0) solve();
    reset();
  }
  void factor() override {
    if (n_ > 0) viennacl::linalg::lu_factorize(lu_);
    finish();
  }
  Outcome outcome() override {
    Outcome outcome;
    const Matrix lu = read(lu_);
    for (std::size_t k = 0; k < n_; ++k) {
      outcome.pivots.push_back(lu(k, k));
      if (outcome.info == 0 && lu(k, k) == 0) outcome.info = static_cast<int>(k) + 1;
    }
    return outcome;
  }
  void solve() override {
    if (n_ > 0 && nrhs_ > 0) viennacl::linalg::lu_substitute(lu_, x_);
    finish();
  }
  Matrix download() override { return read(x_); }
  std::optional<Matrix> lu() override { return read(lu_); }

 private:
  // Columns of a padded length, a padded number of them; the padding is zero.
  using Dense = viennacl::matrix<Real, viennacl::column_major>;

  void finish() { context_.get_queue().finish(); }

  static std::size_t bytes(const Dense& matrix) { return matrix.internal_size() * sizeof(Real); }

  static void copy(const Dense& source, Dense& target) {
    if (bytes(source) == 0) return;
    viennacl::backend::memory_copy(source.handle(), target.handle(), 0, 0, bytes(source));
  }

  static void write(const MatrixView& source, Dense& target) {
    if (bytes(target) == 0) return;
    const std::vector<Real> values = rounded<Real>(source);
    std::vector<Real> columns(target.internal_size());
    for (std::size_t j = 0; j < source.cols(); ++j) {
      std::copy_n(values.data() + j * source.rows(), source.rows(),
                  columns.data() + j * target.internal_size1());
    }
    viennacl::backend::memory_write(target.handle(), 0, bytes(target), columns.data());
  }

  static Matrix read(const Dense& source) {
    Matrix target(source.size1(), source.size2());
    if (bytes(source) == 0) return target;
    std::vector<Real> columns(source.internal_size());
    viennacl::backend::memory_read(source.handle(), 0, bytes(source), columns.data());
    for (std::size_t j = 0; j < target.cols(); ++j) {
      std::copy_n(columns.data() + j * source.internal_size1(), target.rows(), target.column(j));
    }
    return target;
  }

  std::size_t n_, nrhs_;
  viennacl::ocl::context& context_;
  Dense a_, b_;   // as uploaded
  Dense lu_, x_;  // overwritten
};

}  // namespace

void require_viennacl(const Device& device, const Problem& problem) {
  const std::uint64_t n = padded(problem.size.n), nrhs = padded(problem.size.nrhs);
  const std::uint64_t element = element_size(problem.dense.precision);
  require_fits(device, n, n, problem.dense.precision, Storage::buffer, 2, 2 * n * nrhs * element);
  // It would allocate the size modulo 2^32.
  if (n * std::max(n, nrhs) * element > std::numeric_limits<cl_uint>::max()) {
    throw Unsupported("ViennaCL's matrices must be smaller than 4 GiB, and one of order " +
                      std::to_string(problem.size.n) + " is not.");
  }
}

std::unique_ptr<Contender> make_viennacl(DeviceContext& context, const Problem& problem) {
  if (problem.dense.precision == Precision::double_precision) {
    return std::make_unique<ViennaCl<double>>(context, problem);
  }
  return std::make_unique<ViennaCl<float>>(context, problem);
}

std::optional<RivalLibrary> viennacl_library() {
  return RivalLibrary{std::to_string(VIENNACL_MAJOR_VERSION) + "." +
                          std::to_string(VIENNACL_MINOR_VERSION) + "." +
                          std::to_string(VIENNACL_PATCH_VERSION),
                      ""};
}

}  // namespace lugpu

#else

namespace lugpu {

void require_viennacl(const Device& /*device*/, const Problem& /*problem*/) {
  throw Unsupported(
      "lugpu was built without ViennaCL; install its headers (Debian: libviennacl-dev), configure "
      "and build again.");
}

std::unique_ptr<Contender> make_viennacl(DeviceContext& context, const Problem& problem) {
  require_viennacl(context.device(), problem);
  return nullptr;
}

std::optional<RivalLibrary> viennacl_library() {
  return std::nullopt;
}

}  // namespace lugpu

#endif

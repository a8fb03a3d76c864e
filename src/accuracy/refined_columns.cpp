#include "accuracy/refined_columns.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "matrix/norms.hpp"

namespace lugpu {
namespace {

class HostColumns : public RefinedColumns {
 public:
  HostColumns(Residual residual, Matrix b, ApplyInverse inverse)
      : RefinedColumns(std::move(residual), std::move(inverse)), b_(std::move(b)) {}

  std::size_t rows() const override { return b_.rows(); }
  std::size_t count() const override { return b_.cols(); }

  std::vector<Sizes> begin() override {
    x_ = Matrix(rows(), count());
    r_ = before_ = b_;
    std::vector<Sizes> sizes;
    for (std::size_t j = 0; j < count(); ++j) sizes.push_back({0, column_norm_max(r_, j)});
    return sizes;
  }

  std::vector<Sizes> correct(const Columns& which) override {
    Matrix now = chosen(r_, which);
    inverse()(now, Op::none);
    for (std::size_t c = 0; c < which.size(); ++c) {
      set_column(before_, which[c], x_, which[c]);
      const double* x = x_.column(which[c]);
      for (std::size_t i = 0; i < rows(); ++i) now(i, c) += x[i];
      set_column(x_, which[c], now, c);
    }
    const Matrix r = residual()(now, chosen(b_, which));
    std::vector<Sizes> sizes;
    for (std::size_t c = 0; c < which.size(); ++c) {
      set_column(r_, which[c], r, c);
      sizes.push_back({column_norm_max(now, c), column_norm_max(r, c)});
    }
    return sizes;
  }

  void undo(const Columns& which) override {
    for (const std::size_t j : which) set_column(x_, j, before_, j);
  }

  Matrix x(std::size_t j) override { return chosen(x_, {j}); }
  Matrix b(std::size_t j) override { return chosen(b_, {j}); }
  void set_x(std::size_t j, const Matrix& x) override { set_column(x_, j, x, 0); }
  Matrix solution() override { return x_; }

 private:
  const Matrix b_;
  Matrix x_, r_, before_;
};

// Column of dense/mixed.cl.
struct ColumnRecord {
  double x, r, scale, scale_too;
};

class DeviceColumns : public RefinedColumns {
 public:
  DeviceColumns(const DoubleMatrix& a, const MatrixView& b, DenseFactorization& factors)
      : RefinedColumns(device_residual(a), inverse_by(factors, a.largest())),
        a_(a),
        factors_(factors),
        context_(a.context()),
        count_(b.cols()),
        target_(order_for_factors(a.largest())),
        b_(double_columns(context_, a.n(), count_)),
        x_(double_columns(context_, a.n(), count_)),
        before_(double_columns(context_, a.n(), count_)),
        r_(double_columns(context_, a.n(), count_)),
        records_(context_.allocate(count_ * sizeof(ColumnRecord))),
        which_(context_.allocate(count_ * sizeof(cl_int))),
        rounded_(context_.allocate(rows() * count_ * sizeof(float))) {
    upload_columns_of(context_, b, b_);
    context_.queue().finish();
  }

  std::size_t rows() const override { return a_.n(); }
  std::size_t count() const override { return count_; }

  std::vector<Sizes> begin() override {
    Columns all(count_);
    std::iota(all.begin(), all.end(), std::size_t{0});
    fill(context_, x_, 0);
    choose(all);
    run("copy_chosen", b_, r_, which_);
    return measure(all);
  }

  std::vector<Sizes> correct(const Columns& which) override {
    choose(which);
    run("round_residuals", r_, records_, which_, rounded_);
    const cl::Buffer d = factors_.apply_inverse(rounded_, which.size(), Op::none);
    run("add_corrections", x_, before_, records_, which_, d);
    a_.subtract_product(x_, b_, r_, which_, which.size());
    return measure(which);
  }

  void undo(const Columns& which) override {
    if (which.empty()) return;
    choose(which);
    run("copy_chosen", before_, x_, which_);
  }

  Matrix x(std::size_t j) override { return read_columns(context_, x_, j, 1); }
  Matrix b(std::size_t j) override { return read_columns(context_, b_, j, 1); }
  void set_x(std::size_t j, const Matrix& x) override {
    const std::size_t bytes = rows() * sizeof(double);
    context_.queue().enqueueWriteBuffer(cl::Buffer(x_.memory()(), true), CL_TRUE,
                                        j * x_.pitch() * sizeof(double), bytes, x.values().data());
  }
  Matrix solution() override { return read_columns(context_, x_, 0, count_); }

 private:
  // The device hears of the columns only where they change.
  void choose(const Columns& which) {
    if (which == chosen_) return;
    const std::vector<cl_int> numbers(which.begin(), which.end());
    context_.queue().enqueueWriteBuffer(which_, CL_TRUE, 0, numbers.size() * sizeof(cl_int),
                                        numbers.data());
    chosen_ = which;
  }

  // For the chosen columns.
  template <typename... Arguments>
  void run(const char* function, const Arguments&... arguments) {
    context_.run("refine", b_.kernel("dense/mixed.cl", function), {rows(), chosen_.size()},
                 arguments..., static_cast<cl_int>(rows()));
  }

  std::vector<Sizes> measure(const Columns& which) {
    constexpr std::size_t kGroup = 256;
    std::vector<Sizes> sizes;
    if (which.empty() || rows() == 0) return std::vector<Sizes>(which.size(), Sizes{0, 0});
    context_.run("refine", b_.kernel("dense/mixed.cl", "measure_columns"), {which.size() * kGroup},
                 x_, r_, records_, which_, static_cast<cl_int>(rows()),
                 static_cast<cl_int>(target_));
    std::vector<ColumnRecord> records(count_);
    context_.read_back("refine", records_, 0, count_ * sizeof(ColumnRecord), records.data());
    for (const std::size_t j : which) sizes.push_back({records[j].x, records[j].r});
    context_.checkpoint();
    return sizes;
  }

  const DoubleMatrix& a_;
  DenseFactorization& factors_;
  DeviceContext& context_;
  const std::size_t count_;
  const int target_;  // binary order to which R is brought
  Surface b_, x_, before_, r_;
  cl::Buffer records_, which_;  // which_: the numbers that are in chosen_
  Columns chosen_;
  cl::Buffer rounded_;  // R, for the factors
};

}  // namespace

Matrix chosen(const Matrix& x, const Columns& which) {
  Matrix part(x.rows(), which.size());
  for (std::size_t c = 0; c < which.size(); ++c) set_column(part, c, x, which[c]);
  return part;
}

void set_column(Matrix& x, std::size_t j, const Matrix& from, std::size_t c) {
  std::copy(from.column(c), from.column(c) + x.rows(), x.column(j));
}

std::unique_ptr<RefinedColumns> host_columns(Residual residual, Matrix b, ApplyInverse inverse) {
  return std::make_unique<HostColumns>(std::move(residual), std::move(b), std::move(inverse));
}

std::unique_ptr<RefinedColumns> device_columns(const DoubleMatrix& a, const MatrixView& b,
                                               DenseFactorization& factors) {
  return std::make_unique<DeviceColumns>(a, b, factors);
}

// X, B, R and X before in double, and three columns of GMRES; in single R, P R, X twice.
std::uint64_t device_columns_bytes(std::size_t n, std::size_t nrhs) {
  const std::uint64_t pitch = n + 32;
  return pitch * (sizeof(double) * (4 * nrhs + 3) + sizeof(float) * 5 * nrhs) +
         piece_bytes(n, nrhs, Precision::double_precision) +
         nrhs * (sizeof(ColumnRecord) + sizeof(cl_int));
}

}  // namespace lugpu

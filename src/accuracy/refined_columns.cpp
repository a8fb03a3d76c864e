#include "accuracy/refined_columns.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "matrix/norms.hpp"

namespace lugpu {
namespace {

// A correction that adds less than this, relatively, to those before it adds but rounding errors.
constexpr double kLeastNew = 1e-10;

// Directions of GCR that are kept of each of `count` columns.
constexpr std::size_t kMostKept = 8;  // MOST_KEPT of dense/mixed.cl
std::size_t directions_kept(std::size_t count) {
  constexpr std::size_t kOfAll = 32;
  return std::clamp<std::size_t>(kOfAll / std::max<std::size_t>(count, 1), 2, kMostKept);
}

using Vector = std::vector<double>;

double dot(const Vector& x, const Vector& y) {
  return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
}

// y += alpha x
void add(double alpha, const Vector& x, Vector& y) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += alpha * x[i];
}

// 2^shift (x - y)
Vector scaled_difference(const double* x, const double* y, std::size_t n, int shift) {
  Vector d(n);
  for (std::size_t i = 0; i < n; ++i) d[i] = std::ldexp(x[i] - y[i], shift);
  return d;
}

// 2^shift X(:, j)
Vector scaled_column(const Matrix& x, std::size_t j, int shift) {
  Vector column(x.column(j), x.column(j) + x.rows());
  for (double& value : column) value = std::ldexp(value, shift);
  return column;
}

class HostColumns : public RefinedColumns {
 public:
  HostColumns(Residual residual, Matrix b, ApplyInverse inverse)
      : residual_(std::move(residual)), inverse_(std::move(inverse)), b_(std::move(b)) {}

  std::size_t rows() const override { return b_.rows(); }
  std::size_t count() const override { return b_.cols(); }

  void begin() override {
    x_ = x_before_ = Matrix(rows(), count());
    r_ = r_before_ = b_;
    directions_.assign(count(), {});
    measure(all_columns(count()));
  }

  void correct(const Columns& which) override {
    Matrix d = chosen(r_, which);
    inverse_(d, Op::none);
    for (std::size_t c = 0; c < which.size(); ++c) {
      set_column(x_before_, which[c], x_, which[c]);
      set_column(r_before_, which[c], r_, which[c]);
      for (std::size_t i = 0; i < rows(); ++i) x_(i, which[c]) += d(i, c);
    }
    const Matrix r = residual_(chosen(x_, which), chosen(b_, which));
    for (std::size_t c = 0; c < which.size(); ++c) set_column(r_, which[c], r, c);
    measure(which);
  }

  void minimize_residual(double tolerance) override {
    for (const auto& [j, size_of] : sizes_) {
      if (size_of.r <= size_of.x * tolerance) continue;
      // Scaled, so that no square over- or underflows.
      const double size = column_norm_max(r_before_, j);
      const int shift = size > 0 && std::isfinite(size) ? -std::ilogb(size) : 0;
      add_direction(j, shift);
      const Vector before = scaled_column(r_before_, j, shift);
      set_column(x_, j, x_before_, j);
      set_column(r_, j, r_before_, j);
      for (const auto& [p, q] : directions_[j]) {
        const double left = dot(q, before);
        for (std::size_t i = 0; i < rows(); ++i) {
          x_(i, j) += std::ldexp(left * p[i], -shift);
          r_(i, j) -= std::ldexp(left * q[i], -shift);
        }
      }
    }
  }

  std::vector<Sizes> sizes(const Columns& which) override {
    std::vector<Sizes> sizes;
    for (const std::size_t j : which) sizes.push_back(sizes_.at(j));
    return sizes;
  }

  Matrix solution() override { return x_; }

 private:
  void measure(const Columns& which) {
    sizes_.clear();
    for (const std::size_t j : which) {
      sizes_[j] = {column_norm_max(x_, j), column_norm_max(r_, j)};
    }
  }

  // q = A p and ||q||_2 = 1; those of a column are orthogonal.
  struct Direction {
    Vector p, q;
  };

  // That of the last correction of column j, unless it brings nothing new.
  void add_direction(std::size_t j, int shift) {
    std::vector<Direction>& kept = directions_[j];
    if (kept.size() == directions_kept(count())) kept.erase(kept.begin());
    Vector p = scaled_difference(x_.column(j), x_before_.column(j), rows(), shift);
    Vector q = scaled_difference(r_before_.column(j), r_.column(j), rows(), shift);
    const double whole = std::sqrt(dot(q, q));
    for (const Direction& earlier : kept) {
      const double along = dot(earlier.q, q);
      add(-along, earlier.p, p);
      add(-along, earlier.q, q);
    }
    const double norm = std::sqrt(dot(q, q));
    if (!(norm > kLeastNew * whole) || !std::isfinite(norm)) return;
    for (double& value : p) value /= norm;
    for (double& value : q) value /= norm;
    kept.push_back({std::move(p), std::move(q)});
  }

  const Residual residual_;
  const ApplyInverse inverse_;
  const Matrix b_;
  Matrix x_, r_, x_before_, r_before_;
  std::map<std::size_t, Sizes> sizes_;              // of the columns that were corrected last
  std::vector<std::vector<Direction>> directions_;  // of each column, the oldest first
};

// Column of dense/mixed.cl.
struct ColumnRecord {
  double x, r, scale, scale_too;
};

// PART_ITEMS, PART_ROWS, SUMS and MORE_SUMS of dense/mixed.cl.
constexpr std::size_t kPartItems = 128, kPartRows = 512;
constexpr std::size_t kSums = 1 + 2 * kMostKept, kMoreSums = 2;

std::size_t parts_of_column(std::size_t n) {
  return (n + kPartRows - 1) / kPartRows;
}

class DeviceColumns : public RefinedColumns {
 public:
  DeviceColumns(const DoubleMatrix& a, const MatrixView& b, DenseFactorization& factors)
      : a_(a),
        factors_(factors),
        context_(a.context()),
        count_(b.cols()),
        kept_(directions_kept(count_)),
        target_(order_for_factors(a.largest())),
        b_(double_columns(context_, a.n(), count_)),
        x_(double_columns(context_, a.n(), count_)),
        r_(double_columns(context_, a.n(), count_)),
        x_before_(double_columns(context_, a.n(), count_)),
        r_before_(double_columns(context_, a.n(), count_)),
        p_(double_columns(context_, a.n(), count_ * kept_)),
        q_(double_columns(context_, a.n(), count_ * kept_)),
        records_(context_.allocate(count_ * sizeof(ColumnRecord))),
        which_(context_.allocate(count_ * sizeof(cl_int))),
        sums_(context_.allocate(parts_of_column(rows()) * count_ * kSums * sizeof(double))),
        more_sums_(
            context_.allocate(parts_of_column(rows()) * count_ * kMoreSums * sizeof(double))),
        records_on_host_(context_.handle(), context_.queue()),
        rounded_(context_.allocate(rows() * count_ * sizeof(float))) {
    upload_columns_of(context_, b, b_);
    context_.queue().finish();
  }
  // What is on its way to records_on_host_ may still come.
  ~DeviceColumns() override {
    if (measured_()) clWaitForEvents(1, &measured_());
  }

  std::size_t rows() const override { return a_.n(); }
  std::size_t count() const override { return count_; }

  void begin() override {
    for (Surface* surface : {&x_, &x_before_, &p_, &q_}) fill(context_, *surface, 0);
    choose(all_columns(count_));
    for (const Surface* surface : {&r_, &r_before_}) run("copy_chosen", b_, *surface, which_);
    corrections_ = 0;
    measure();
  }

  void correct(const Columns& which) override {
    choose(which);
    run("round_residuals", r_, records_, which_, rounded_);
    const cl::Buffer d = factors_.apply_inverse(rounded_, which.size(), Op::none);
    run("add_corrections", x_, r_, x_before_, r_before_, records_, which_, d);
    ++corrections_;
    a_.subtract_product(x_, b_, r_, which_, which.size());
    measure();
  }

  void minimize_residual(double tolerance) override {
    if (chosen_.empty() || rows() == 0) return;
    const auto run = [&](const char* function, const auto&... arguments) {
      context_.run("refine", mixed_kernel(context_.device(), function),
                   {parts_of_column(rows()) * kPartItems, chosen_.size()}, arguments...);
    };
    const auto n = static_cast<cl_int>(rows()), kept = static_cast<cl_int>(kept_);
    const auto used = static_cast<cl_int>(std::min(corrections_, kept_));
    const auto slot = static_cast<cl_int>((corrections_ - 1) % kept_);
    run("project_correction", r_, r_before_, q_, records_, which_, sums_, n, kept, used, slot,
        tolerance);
    run("subtract_directions", x_, r_, x_before_, r_before_, p_, q_, records_, which_, sums_,
        more_sums_, n, kept, used, slot, tolerance);
    run("combine_directions", x_, r_, x_before_, r_before_, p_, q_, records_, which_, sums_,
        more_sums_, n, kept, used, slot, tolerance, kLeastNew);
  }

  std::vector<Sizes> sizes(const Columns& which) override {
    if (measured_()) measured_.wait();
    context_.checkpoint();
    std::vector<Sizes> sizes;
    for (const std::size_t j : which) {
      sizes.push_back(rows() > 0 ? Sizes{host_records_[j].x, host_records_[j].r} : Sizes{0, 0});
    }
    return sizes;
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
    context_.run("refine", mixed_kernel(context_.device(), function), {rows(), chosen_.size()},
                 arguments..., static_cast<cl_int>(rows()));
  }

  // The sizes of the chosen columns, on their way to the host while the device goes on.
  void measure() {
    if (chosen_.empty() || rows() == 0) return;
    context_.run("refine", mixed_kernel(context_.device(), "measure_columns"),
                 {chosen_.size() * items_of_column(context_.device())}, x_, r_, records_, which_,
                 static_cast<cl_int>(rows()), static_cast<cl_int>(target_));
    const std::size_t bytes = count_ * sizeof(ColumnRecord);
    host_records_ = static_cast<ColumnRecord*>(records_on_host_.room(bytes));
    measured_ = context_.read_later("refine", records_, 0, bytes, host_records_);
  }

  const DoubleMatrix& a_;
  DenseFactorization& factors_;
  DeviceContext& context_;
  const std::size_t count_, kept_;
  const int target_;  // binary order to which R is brought
  Surface b_, x_, r_, x_before_, r_before_;
  Surface p_, q_;                // directions: kept_ of each column
  std::size_t corrections_ = 0;  // so far
  cl::Buffer records_, which_;   // which_: the numbers that are in chosen_
  Columns chosen_;
  cl::Buffer sums_, more_sums_;  // of minimize_residual()
  Staging records_on_host_;
  ColumnRecord* host_records_ = nullptr;
  cl::Event measured_;  // when they are there
  cl::Buffer rounded_;  // R, for the factors
};

}  // namespace

Columns all_columns(std::size_t count) {
  Columns all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

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

// X, B, R, X and R before and the directions in double; in single R, P R, X twice.
std::uint64_t device_columns_bytes(std::size_t n, std::size_t nrhs) {
  const std::uint64_t pitch = n + 32;
  return pitch * nrhs * (sizeof(double) * (5 + 2 * directions_kept(nrhs)) + sizeof(float) * 5) +
         piece_bytes(n, nrhs, Precision::double_precision) +
         nrhs * (sizeof(ColumnRecord) + sizeof(cl_int) +
                 parts_of_column(n) * (kSums + kMoreSums) * sizeof(double));
}

}  // namespace lugpu

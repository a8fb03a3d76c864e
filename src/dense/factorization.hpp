// What every dense method is: A and B on the device, the elimination, X.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>

#include "dense/options.hpp"
#include "matrix/matrix.hpp"
#include "opencl/transfer.hpp"

namespace lugpu {

/// X = inv(A) X, or inv(A') X; x: n rows and any number of columns.
using ApplyInverse = std::function<void(Matrix& x, Op op)>;

/// One system A X = B of a fixed size: upload, factor, then solve and download. Its device memory
/// is allocated once; it may be used again and again. Buffers are column-major in the precision of
/// the factors.
class DenseFactorization {
 public:
  virtual ~DenseFactorization() = default;
  DenseFactorization(const DenseFactorization&) = delete;
  DenseFactorization& operator=(const DenseFactorization&) = delete;

  const Size& size() const { return size_; }
  const DenseOptions& options() const { return options_; }

  /// A, rows x n, and B, rows x nrhs. Throws InputError if a value overflows the precision.
  virtual void upload(const MatrixView& a, const MatrixView& b);
  /// Columns first : first + count of [A | B] from a buffer of them. `first` is a multiple of the
  /// elements of an RGBA texel.
  virtual void take_columns(const cl::Buffer& columns, std::size_t first, std::size_t count);

  /// Factors A (or reduces [A | B]); returns when that is done.
  virtual void factor() = 0;
  /// Of the last factor().
  virtual Outcome outcome() = 0;
  /// Its info alone.
  virtual int info() { return outcome().info; }
  /// X, n x nrhs, of the system that was uploaded; only after a factor() with info = 0. Returns
  /// when it is there; the buffer is good until the next call.
  virtual const cl::Buffer& solve();
  template <typename T>
  void download(View<T> x) {
    lugpu::download(context_, solved_, options_.precision, x);
  }

  /// Whether apply_inverse() and factors() are there.
  virtual bool keeps_factors() const { return true; }
  /// inv(A) B or inv(A') B for n x columns elements, by the factors (LAPACK's getrs); only after a
  /// factor() with info = 0. It may be enqueued only. Throws Unsupported if the device has no room
  /// for what the transpose needs.
  virtual cl::Buffer apply_inverse(const cl::Buffer& b, std::size_t columns, Op op) = 0;
  /// The same for a host matrix. Throws InputError if a value overflows the precision.
  void apply_inverse(Matrix& x, Op op);
  /// Whether there is room for apply_inverse with the transpose.
  virtual bool can_transpose() const { return true; }
  /// Gives back the memory that apply_inverse with the transpose has kept for the next one.
  virtual void drop_transpose() {}

  /// The columns first : first + count of the factors that factor() left, rows x count: unit lower
  /// L below the diagonal, U on and above it. Valid for info > 0 too.
  virtual cl::Buffer factors(std::size_t first, std::size_t count) = 0;
  /// The same on the host. lu: rows x any number of columns, which begin with column `first`.
  template <typename T>
  void download_factors(std::size_t first, View<T> lu) {
    constexpr std::size_t kColumns = 256;
    for (std::size_t j = 0; j < lu.columns; j += kColumns) {
      const std::size_t count = std::min(kColumns, lu.columns - j);
      lugpu::download(context_, factors(first + j, count), options_.precision, lu.part(j, count));
    }
  }
  /// inv(A) of a method that keeps no factors; a: as uploaded.
  virtual Matrix inverse(const MatrixView& a);

  /// Which kernels run, where there is a choice.
  virtual std::optional<std::string> variant() const { return std::nullopt; }

 protected:
  DenseFactorization(DeviceContext& context, const Size& size, const DenseOptions& options)
      : context_(context), size_(size), options_(options) {}

  std::size_t element() const { return element_size(options_.precision); }
  /// The part of take_columns() that is of A.
  virtual void take_matrix(const cl::Buffer& columns, std::size_t first, std::size_t count) = 0;
  /// Rows first : first + count of A, by rows; only for a method that takes_rows().
  virtual void take_rows(const cl::Buffer& rows, std::size_t first, std::size_t count);
  virtual bool takes_rows() const { return false; }

  DeviceContext& context_;
  const Size size_;
  const DenseOptions options_;
  cl::Buffer b_;       // B as uploaded, of a method that keeps its factors
  cl::Buffer solved_;  // X, by solve()

 private:
  /// Columns first : first + count of B, after `skip` others in the buffer.
  void take_right_hand_sides(const cl::Buffer& columns, std::size_t skip, std::size_t first,
                             std::size_t count);
};

/// The binary order to which what the factors of A are applied to is scaled: that of A's elements.
/// largest: max |a_ij|.
int order_for_factors(double largest);

/// By the factors of `factorization`, which must outlive it, for any finite x: columns are scaled
/// by powers of two to the size of A's elements, so that neither they nor the products leave the
/// range of single precision unless the condition number does. largest: max |a_ij|.
ApplyInverse inverse_by(DenseFactorization& factorization, double largest);

}  // namespace lugpu

// Blocked right-looking LU: P A = L U with no or partial pivoting (LAPACK's getrf), and the
// solution with its factors (getrs). In place on a buffer: two launches a panel; the next panel is
// factored while the rest is updated (look-ahead). Or from one surface to another, for images,
// which no kernel can both read and write. One class for CPUs, one for GPUs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dense/factorization.hpp"
#include "opencl/transfer.hpp"

namespace lugpu {

/// What is to be factored: m x n, any m and n.
struct Shape {
  std::size_t m = 0, n = 0;
  Pivot pivot = Pivot::partial;  ///< none or partial
  Precision precision = Precision::double_precision;
  std::size_t nb = 0;      ///< columns of a block; 0 for the fastest
  bool ping_pong = false;  ///< to be factored from one surface to another, not in place; m = n
  Shortcut shortcut = Shortcut::none;  ///< only that of Blocked::shortcut()
  bool updates_others = false;         ///< a panel, whose L is for update_columns()
};

/// Factors and solves; for one shape and precision.
class Blocked {
 public:
  /// For the class of the context's device. Throws Unsupported for a block size that its kernels
  /// cannot work with, or a device without the local memory that they need.
  static std::unique_ptr<Blocked> make(DeviceContext& context, const Shape& shape);

  /// The fastest number of columns of a block for a shape, as measured.
  static std::size_t block_size(const Device& device, const Shape& shape);
  /// For which the device has kernels that are worth while.
  static Shortcut shortcut(const Device& device, const Shape& shape);
  /// Bytes of device memory besides the surfaces, at most: panels, a block row of U, pivots, tiles.
  static std::uint64_t workspace(const Device& device, const Shape& shape);

  virtual ~Blocked() = default;

  /// Enqueues the factorization of `a`, m x n or smaller. L (unit, below the diagonal) and U
  /// overwrite it.
  void factor(Surface& a);
  /// The same in the parts whose last columns are before ends[0], ends[1], ..., as part_ends() has
  /// them: once one that is not the last has been enqueued, calls `enqueued`, which may enqueue
  /// what reads it. The interchanges of a part in the columns before it are left to the caller.
  void factor(Surface& a, std::span<const std::size_t> ends, const std::function<void()>& enqueued);
  /// The parts in which an m x n panel, for a shape with updates_others, is best factored for
  /// others that wait for it; the last one ends with n.
  static std::vector<std::size_t> part_ends(const Device& device, std::size_t m, std::size_t n);
  /// Enqueues the factorization of the n x n matrix in a.src, for a shape with ping_pong; the
  /// surfaces of the pair may be images, of any texels, and are overwritten. L and U go to `lu`, an
  /// n x n buffer of single elements. A step reads and writes every element of the trailing matrix
  /// once.
  void factor(PingPong& a, Surface& lu);
  /// Enqueues X = inv(L U) X or X = inv((L U)') X for the n x n factors `lu`: LAPACK's getrs
  /// without the interchanges. x: n rows, any number of columns, a buffer whose padding holds
  /// finite numbers; its memory may be different afterwards. The first solution with the transpose
  /// keeps the transpose of `lu` on the device for those to come, until the next factor().
  void solve(const Surface& lu, Surface& x, Op op = Op::none);
  /// Gives back the memory of the transpose.
  void drop_transpose() { transposed_.reset(); }
  /// A triangle of a matrix T, with the diagonal of that or (unit) with ones. `of` may be a part of
  /// T: its first element is T(top, left).
  struct Triangle {
    const Surface& of;
    bool upper, unit;
    std::size_t top = 0, left = 0;
  };
  /// Columns first : first + count of a surface of single elements; slow unless first is a multiple
  /// of 16.
  struct Columns {
    Surface& of;
    std::size_t first, count;
  };
  /// Enqueues the part of X = inv(T) X that is of columns k : k+width of T, in columns of a buffer
  /// with all rows of X: with K = k : k+width
  ///   X(K, :) = inv(T(K, K)) X(K, :)
  ///   X(R, :) -= T(R, K) X(K, :), R all rows below, or, if T is upper, above
  /// For a factored panel and columns A right of it, these are the block row of U and the update,
  /// U12 = inv(L11) A12, A22 -= L21 U12.
  virtual void solve_columns(const Triangle& t, std::size_t k, std::size_t width, const Columns& x);
  /// Its first line alone.
  virtual void solve_diagonal(const Triangle& t, std::size_t k, std::size_t width,
                              const Columns& x);
  /// The same for all columns of X, a few, where rounding may differ from that of many.
  virtual void solve_diagonal_for_few(const Triangle& t, std::size_t k, std::size_t width,
                                      Surface& x);
  /// Enqueues what update_columns() with the same l, k and width needs first, once for all columns:
  /// it stays until the next prepare_update() or factor_beside().
  virtual void prepare_update(const Triangle&, std::size_t /*k*/, std::size_t /*width*/) {}
  /// Enqueues solve_columns(l, k, width, a) for each a of `columns`, right of a factored panel L,
  /// for a shape with updates_others; first columns are multiples of 16 and width one of 32.
  /// Products may be computed in another way; an element gets the same bits whatever the columns
  /// beside it. prepare_update() comes first.
  virtual void update_columns(const Triangle& l, std::size_t k, std::size_t width,
                              std::span<const Columns> columns);
  /// Whether its products are faster than those of solve_columns(), for such a shape, unless their
  /// kernels turn out not to be proven.
  static bool updates_faster(const Device& device, const Shape& shape);
  /// Enqueues factor(a) and update_columns(l, k, width, others), whose products may be computed
  /// meanwhile, as solve_columns() does.
  virtual void factor_beside(Surface& a, const Triangle& l, std::size_t k, std::size_t width,
                             std::span<const Columns> others);
  /// Whether that is faster than factor() and update_columns(), and gives the same bits; builds
  /// what it needs, so that the first time takes no longer than the others.
  virtual bool prepare_beside() { return false; }
  /// Enqueues the part of X = inv(T) X that is of rows K of T, the others being done:
  ///   X(K, :) -= T(K, R) X(R, :), R all rows above, or, if T is upper, below
  ///   X(K, :) = inv(T(K, K)) X(K, :)
  void solve_rows(const Triangle& t, std::size_t k, std::size_t width, const Columns& x);
  /// Enqueues the update of the first block alone, C -= L U with whatever a factorization has left
  /// in `a` and beside it, to learn how fast that is. Returns its multiply-adds; 0, and nothing
  /// runs, for a matrix without columns to update.
  virtual std::uint64_t multiply(Surface& a) = 0;
  /// Which kernels run, where there is a choice.
  virtual std::optional<std::string> variant() const { return std::nullopt; }

  /// min(m, n) ints: row k was interchanged with row ipiv(k), 0-based, in this order.
  const cl::Buffer& ipiv() const { return ipiv_; }
  /// One int: k > 0 if the k-th pivot (1-based) is the first that is exactly zero; kLargeElement if
  /// local pivots have left an element of L above 256; otherwise 0.
  const cl::Buffer& info() const { return info_; }

 protected:
  Blocked(DeviceContext& context, const Shape& shape);

  /// As factor() says.
  struct Parts {
    std::span<const std::size_t> ends;
    const std::function<void()>& enqueued;
  };
  virtual void factorize(Surface& a, const Parts& parts) = 0;
  /// X = inv(T) X, by blocks of solve_block_size() rows.
  virtual void solve_triangle(const Triangle& t, Surface& x);
  /// x(first:first+rows, :) = inv(T(first:first+rows, first:first+rows)) x(first:first+rows, :)
  virtual void solve_block(const Triangle& t, const Columns& x, std::size_t first,
                           std::size_t rows) = 0;
  /// x(first:last, :) -= T(first:last, k:k+rows) x(k:k+rows, :)
  virtual void subtract_block(const Triangle& t, const Columns& x, std::size_t k, std::size_t rows,
                              std::size_t first, std::size_t last) = 0;
  /// NB of the kernels that solve.
  virtual std::size_t solve_block_size() const = 0;

  // The steps of factor(a, lu), each enqueued. Before the first panel:
  virtual void start() = 0;
  // P lu(k:n, k:k+nb) = L U; P goes to ipiv, and to row_for_ and row_goes_to_.
  virtual void factor_panel(Surface& lu, std::size_t k) = 0;
  // lu(k:k+nb, k+nb:n) = inv(L11) (P lu)(k:k+nb, k+nb:n); lu(k:n, 0:k) = P lu(k:n, 0:k)
  virtual void exchange_and_solve(Surface& lu, std::size_t k) = 0;
  // a.dst(k+nb:n, k+nb:n) = (P a.src)(k+nb:n, k+nb:n) - L21 U12, with L and U of lu
  virtual void update(const PingPong& a, const Surface& lu, std::size_t k) = 0;

  DeviceContext& context_;
  Shape shape_;  // of what is factored, at most that of the constructor
  cl::Buffer ipiv_, info_;
  // A panel's interchanges: row_for_(j) becomes row k + j, row k + j goes to row_goes_to_(j).
  cl::Buffer row_for_, row_goes_to_;

 private:
  std::optional<Surface> transposed_;  // the factors, see solve()
};

}  // namespace lugpu

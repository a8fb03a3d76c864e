// Fast diagonalization: a direct solver for the matrices of grids without conductivity.
#pragma once

#include <array>
#include <string>

#include "matrix/grid.hpp"
#include "opencl/context.hpp"

namespace lugpu {

/// Solves A X = B for
///   A = shift I + cx I x I x Tx + cy I x Ty x I + cz Tz x I x I
/// by the eigenvectors Q of Tx, Ty and Tz, which are known:
///   X = Q (Q' B / eigenvalues), Q = Qz x Qy x Qx,
/// in two dense products along each axis of more than one point, of which symmetry halves the
/// operations: fields are sums and differences of opposite points (kernels/dense/fold.cl).
/// Eigenvalues that are zero, or sums of terms that cancel to less than eight units round-off of
/// their magnitudes, are left out: X has no component along their eigenvectors. So for a singular A
/// it is the least-squares solution of least 2-norm; with Neumann or periodic walls everywhere and
/// no shift, the one whose mean is zero.
/// Source: R. E. Lynch, J. R. Rice, D. H. Thomas, "Direct Solution of Partial Difference Equations
/// by Tensor Product Methods", Numerische Mathematik 6, 1964.
class FastDiagonal {
 public:
  /// Throws as require_room; InputError if the shift or a term of the eigenvalues is neither zero
  /// nor a normal number of the precision; std::bad_alloc.
  FastDiagonal(DeviceContext& context, const Grid& grid, Precision precision);

  /// Throws Unsupported, with the reason, if the grid has a conductivity or its eigenvectors and
  /// two fields do not fit on the device.
  static void require_room(const Device& device, const Grid& grid, Precision precision);

  /// Multiply-adds of the products for one right-hand side.
  static double multiply_adds(const Grid& grid);

  const Grid& grid() const { return grid_; }
  Precision precision() const { return precision_; }

  /// How many eigenvalues were zero, or as good as zero in this precision.
  std::size_t zero_eigenvalues() const { return zeros_; }
  /// Why X may not solve A X = B, a sentence without its full stop; empty if it does, and for the
  /// one zero eigenvalue of a grid with Neumann or periodic walls everywhere and no shift.
  std::string trouble() const;

  /// Enqueues X = A^-1 B. b, x: for each right-hand side and each (y, z) a row of nx elements,
  /// `pitch` elements from row to row; they may be the same buffer. What is between rows stays as
  /// it is. Throws cl::Error; NotTried if kernels do not build.
  void solve(const cl::Buffer& b, const cl::Buffer& x, std::size_t nrhs, std::size_t pitch);

  /// B, unknowns x nrhs. Throws InputError if it has other rows or a value overflows the precision.
  void upload(const MatrixView& b);
  /// Enqueues X = A^-1 B for what was uploaded; may be called again.
  void solve() { solve(b_, x_, nrhs_, grid_.size[0]); }
  /// X, unknowns x nrhs, once the device has it.
  Matrix download();

 private:
  /// Eigenvectors of an axis: Q' and Q as the kernels need them, for the even and odd halves.
  struct Axis {
    std::size_t size = 1, even = 1, odd = 0;
    cl::Buffer forward, back;
    cl::Buffer terms;  // coefficient times eigenvalues; along x with the shift; in halves as fields
  };
  /// How fields and matrices are stored.
  struct Layout {
    bool on_cpu;
    std::size_t strip;  ///< columns of a register tile, or rows and columns of a padded matrix
    std::size_t rows;   ///< of a register tile
    std::size_t half;   ///< elements of a row of a field where its odd half begins
    std::size_t pitch;  ///< elements of a row
    static Layout make(const Device& device, const Grid& grid, Precision precision);
    std::size_t stored(std::size_t even, std::size_t odd, bool along_x) const;
  };
  using Terms = std::array<std::vector<double>, 3>;

  FastDiagonal(DeviceContext& context, const Grid& grid, Precision precision, bool nvidia);
  static bool solves_test_system(DeviceContext& context, Precision precision);
  static bool fits(const Device& device, const Grid& grid, Precision precision);

  void prepare_axes();
  std::vector<double> arranged(const Matrix& even, const Matrix& odd, bool back,
                               bool along_x) const;
  template <typename Real>
  std::size_t count_zeros(const Terms& terms) const;
  KernelId kernel(const char* file, const char* function, bool divide) const;
  void require_fields(std::size_t nrhs);
  void along_x(bool back, bool divide, std::size_t nrhs);
  void along_rows(int axis, bool back, bool divide, std::size_t nrhs);

  DeviceContext& context_;
  Grid grid_;
  Precision precision_;
  bool nvidia_;
  Layout layout_;
  std::array<Axis, 3> axes_;
  std::size_t zeros_ = 0;
  std::size_t at_once_ = 0;    // right-hand sides that the fields have room for
  cl::Buffer field_, result_;  // a product reads the one and writes the other
  cl::Buffer room_;            // of cpu/fast_diagonal.cl, for each work-group
  cl::Buffer b_, x_;
  std::size_t nrhs_ = 0, capacity_ = 0;
};

}  // namespace lugpu

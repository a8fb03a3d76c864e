// What can be chosen.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "lugpu/export.hpp"

namespace lugpu {

/// Which element becomes the pivot of step k: the diagonal one, the largest of its column, one that
/// is the largest of both its row and its column (Neal and Poole, A geometric analysis of Gaussian
/// elimination II, Linear Algebra Appl. 173, 1992), the largest of the trailing matrix; `scaled`:
/// the largest of its column relative to the largest element that its row of A had (implicit
/// scaling; Golub and Van Loan, Matrix Computations, 3.5.2).
enum class Pivot { none, partial, scaled, rook, full };

/// Its name in options of programs and in records, e.g. "partial".
LUGPU_API const char* name(Pivot pivot);
/// All of them.
LUGPU_API std::vector<std::string> pivot_names();
/// The pivoting of this name; absent if there is none.
LUGPU_API std::optional<Pivot> pivot_named(const std::string& name);

enum class Precision { single_precision, double_precision };

/// Where matrices are on the device: 2D images or buffers.
enum class Storage { image, buffer };

/// One element per texel, or as many as an RGBA texel of 16 bytes holds: 4 floats or 2 doubles.
enum class Texel { r, rgba };

/// How an elimination step is cut into launches: one for all passes, with the pivots kept on the
/// device; or one for each pass of the LU-GPU paper, with the pivot read back.
enum class Schedule { fused, paper };

/// How X is improved: not at all; in the precision of the factors (LAPACK's gerfs); or from factors
/// in single precision to the accuracy of double (dsgesv, with GMRES).
enum class Refine { none, fixed, mixed };

/// A matrix or its transpose.
enum class Op { none, transpose };

/// How a system is solved. As constructed: the fastest method with partial pivoting, in the
/// precision of the data.
struct Options {
  std::string method = "auto";  ///< "lu", "lu-blocked", "gauss-jordan"; of sparse matrices "cg",
                                ///< "banded" and others too; "auto": the fastest
  Pivot pivot = Pivot::partial;
  /// Of the factors; absent: that of A, or single where the device has no doubles. Meaningless with
  /// Refine::mixed.
  std::optional<Precision> precision = {};
  Refine refine = Refine::none;
  bool equilibrate = false;             ///< scale rows and columns of A where that helps
  bool determinant = false;             ///< compute the determinant too
  bool inverse = false;                 ///< compute the inverse too
  bool check = true;                    ///< compute the checks, the condition and error bounds:
                                        ///< without them a Solution is `unchecked`
  std::optional<Storage> storage = {};  ///< this and the rest: absent or 0 for the fastest
  std::optional<Texel> texel = {};
  Schedule schedule = Schedule::fused;
  std::size_t nb = 0;                ///< columns of a block
  double tolerance = 1e-10;          ///< of iterative methods: of ||b - A x||_2 / ||b||_2
  std::size_t iterations = 100'000;  ///< of iterative methods, at most
};

}  // namespace lugpu

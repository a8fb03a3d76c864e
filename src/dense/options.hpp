// What a dense method is asked for.
#pragma once

#include <cstdint>
#include <vector>

#include "lugpu/options.hpp"
#include "opencl/element.hpp"

namespace lugpu {

/// A: rows x n, B: rows x nrhs. rows = n but for LAPACK's getrf.
struct Size {
  std::size_t rows = 0, n = 0, nrhs = 0;

  static Size square(std::size_t n, std::size_t nrhs) { return {n, n, nrhs}; }
  std::size_t pivots() const { return rows < n ? rows : n; }
};

/// What makes factors in single cheaper, and less exact: for refinement.
enum class Shortcut {
  none,
  half_products,  ///< the products of updates are of operands scaled and rounded to half precision
  local_pivots,   ///< with partial pivoting: a pivot is the largest of the next rows alone
};

class Crew;
class DeviceContext;

/// How A is factored; storage and the rest are meaningless on the host.
struct DenseOptions {
  Pivot pivot = Pivot::partial;
  Precision precision = Precision::double_precision;
  Storage storage = Storage::buffer;
  Texel texel = Texel::r;
  Schedule schedule = Schedule::fused;
  std::size_t nb = 0;  ///< columns of a block; 0 for a method without blocks
  Shortcut shortcut = Shortcut::none;
  bool perturb = false;  ///< with the fused schedule: a pivot below getc2's smin becomes smin
  /// Devices that share A and the work with the one at hand, in contexts of their own.
  std::vector<DeviceContext*> others = {};
  /// Processes that share them too, each with as many devices (src/distributed); null: this one.
  Crew* crew = nullptr;

  /// Whether A is shared.
  bool shared() const { return crew || !others.empty(); }
};

/// Outcome::info of local pivots that have left an element of L above 256.
constexpr int kLargeElement = -2;

/// How a factorization ended.
struct Outcome {
  int info = 0;  ///< 0, or k > 0: the k-th pivot (1-based) is exactly zero, as LAPACK's; or
                 ///< kLargeElement
  std::vector<int> ipiv;  ///< row k was interchanged with row ipiv[k-1], 1-based, as dgetrf's;
                          ///< empty without pivoting
  std::vector<int> jpiv;  ///< likewise the columns, as dgetc2's; only with rook and full pivoting
  std::vector<double> pivots;  ///< the pivots: U's diagonal
};

}  // namespace lugpu

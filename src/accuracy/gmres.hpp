// GMRES over the corrections of refinement.
#pragma once

#include <vector>

#include "accuracy/refined_columns.hpp"

namespace lugpu {

/// The x of least ||b - A x||_2 over all corrections so far of one column: flexible GMRES (Saad,
/// SIAM J. Sci. Comput. 14, 1993), so that inverses may be as inexact as single precision makes
/// them, inside refinement (Carson and Higham, SIAM J. Sci. Comput. 39, 2017), in the form of GCR
/// (Eisenstat, Elman and Schultz, SIAM J. Numer. Anal. 20, 1983), whose products with A are
/// differences of residuals. Vectors are on the host, n x 1.
class Gmres {
 public:
  explicit Gmres(Iterate start);

  /// Takes the correction from best().x to this x in. False if that adds nothing to the others, or
  /// is not finite: best() stays, then.
  bool add(Iterate corrected);

  /// Its r follows from those of the iterates, so it is b - A x up to rounding.
  const Iterate& best() const { return best_; }
  /// best().x and what inv(A) is to be applied to for the next correction: best().r if the last one
  /// shrank that; otherwise the same would come again, and it is the last A d, less its part in the
  /// span of the others, in the size of best().r (Jiranek and Rozloznik, Numer. Algorithms 53,
  /// 2010).
  Iterate next() const;
  /// Whether a cycle of ten corrections, after which the others begin from best() alone, has not
  /// halved ||best().r||_2.
  bool stalls() const { return directions_.size() == kCycle && 2 * size_ > size_before_; }

 private:
  static constexpr std::size_t kCycle = 10;

  Iterate best_;
  std::vector<Iterate> directions_;  // of the cycle: d and A d, these orthonormal
  double size_, size_before_;        // ||best_.r||_2, now and before the cycle
  bool shrank_ = true;               // size_, in the last add()
};

}  // namespace lugpu

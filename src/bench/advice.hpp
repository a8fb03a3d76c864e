// Which pivoting and precision a matrix needs: the cheapest run that is backward stable.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/measure.hpp"

namespace lugpu {

/// A case for every pivoting in every precision that the device has and in mixed precision, each by
/// automatic_method(), which for mixed must keep factors; the one to be preferred comes first,
/// partial pivoting before none, double before mixed. matrix: the name of A, n x n, for the
/// records.
std::vector<Case> advice_cases(const Device& device, std::size_t n, std::size_t nrhs,
                               const std::string& matrix);

/// ||A x - b||_inf / (||A||_inf ||x||_inf + ||b||_inf) (Rigal and Gaches, J. ACM 14, 1967), which
/// is about eps for a backward stable solver: hpl_residual without its scale. Absent without an X.
std::optional<double> backward_error(const Result& result);

struct Advice {
  std::optional<std::size_t> best;  ///< the result that is recommended; absent if none can be
  std::string sentence;             ///< what to do and why
  bool singular = false;            ///< in the highest precision, every pivoting met a zero pivot
};

/// From the results of advice_cases(). A run is backward stable if its checks passed and its growth
/// is at most max(n, 10): on random matrices it is about n^(2/3) with partial and n^(1/2) with full
/// pivoting (Trefethen and Schreiber, SIAM J. Matrix Anal. Appl. 11, 1990), and much more is an
/// accident that another right-hand side may show; mixed precision must not have fallen back to
/// double. Of those the first, unless another's total time is clearly less, in the precisions that
/// leave X two correct digits, rcond >= 100 eps; where none does, in the highest, which mixed has
/// too.
Advice advise(const std::vector<Result>& results);

}  // namespace lugpu

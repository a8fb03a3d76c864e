// Which pivoting and precision a matrix needs: judged by backward error and guaranteed digits
// first, and by time only where noise cannot change the verdict.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/measure.hpp"

namespace lugpu {

/// A case for every pivoting in every precision that the device has and in mixed precision, each by
/// automatic_method(), which for mixed must keep factors; the preferred ones first, partial
/// pivoting before none, double before mixed. matrix: the name of A, n x n, for the records.
std::vector<Case> advice_cases(const Device& device, std::size_t n, std::size_t nrhs,
                               const std::string& matrix, const PathRecords& records);

/// ||A x - b||_inf / (||A||_inf ||x||_inf + ||b||_inf) (Rigal and Gaches, J. ACM 14, 1967), which
/// is about eps for a backward stable solver: hpl_residual without its scale. Absent without an X.
std::optional<double> backward_error(const Result& result);

struct Advice {
  /// The result that is recommended; absent if none can be.
  std::optional<std::size_t> best = std::nullopt;
  std::string sentence = {};  ///< what to do and why
  bool singular = false;      ///< in the highest precision, every pivoting met a zero pivot
  bool finished = true;       ///< whether any run finished
  /// The decimal digits of X that a run had to guarantee, of a sparse system those of the residual;
  /// absent if undecided.
  std::optional<int> wanted = std::nullopt;
};

/// From the results of advice_cases(): the same advice from every repetition of the runs.
///
/// A run can be recommended if it is backward stable: its checks passed, its growth is at most
/// max(n, 10) -- on random matrices it is about n^(2/3) with partial and n^(1/2) with full pivoting
/// (Trefethen and Schreiber, SIAM J. Matrix Anal. Appl. 11, 1990), and much more is an accident
/// that another right-hand side may show -- mixed precision did not fall back to double, and
/// without pivoting the backward error is at most 4 times that of the best pivoting in the same
/// precision.
///
/// Of those, it must guarantee `digits` decimal digits of X, or where that is absent as many as the
/// safest run: in double before mixed before single, with partial before rook before full pivoting,
/// none last. Where that guarantees none, the run that guarantees most.
///
/// The remaining runs are considered in that order, but single precision with partial pivoting
/// first if `digits` are given: it takes half the memory and half the work of double. A run later
/// in the order is taken if it is more than 8 times as fast and saves more than 0.1 s. Single
/// precision or no pivoting make a run about twice as fast, and noise of 60 % turns a ratio of 2
/// into 8 at most: only a device on which double is slow exceeds that.
Advice advise(const std::vector<Result>& results, std::optional<int> digits);

/// Checks::digits() of X: how many decimal digits are guaranteed. Absent if none is.
std::optional<int> guaranteed_digits(const Result& result);

}  // namespace lugpu

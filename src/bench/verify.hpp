// Every kernel path of a device on small systems of LAPACK's matrix types: finds a driver that
// miscompiles before it costs anyone a day.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/sweep.hpp"

namespace lugpu {

/// What became of one path: a method with a pivoting, an arithmetic, a storage, texels and a
/// schedule.
struct Verdict {
  Case path;                           ///< the first system that it was given
  std::string name;                    ///< path_name()
  RunStatus status = RunStatus::ok;    ///< unsupported: no system; unknown: none was wrong, but
                                       ///< not all could be tried; failed, error: at least one
  std::string reason;                  ///< why it is not ok, of the first system; empty for ok
  std::size_t systems = 0, wrong = 0;  ///< that were given to it, and were not solved correctly
  double largest_ratio = 0;  ///< of factor_ratio and solve_ratio over the systems that were right
};

/// What became of one system of a path.
struct Finding {
  RunStatus status = RunStatus::ok;  ///< unknown: not reached, or it could not be tried
  std::string reason;                ///< why it is not ok
  double largest_ratio = 0;          ///< factor_ratio or solve_ratio, if it is ok
  nlohmann::json record;             ///< the result, if it is failed or an error
};

struct Verification {
  std::vector<Verdict> paths;         ///< in the order in which they were met
  std::vector<nlohmann::json> wrong;  ///< the records of the systems that were not solved correctly

  void add(const Case& what, const Finding& finding);
  bool passed() const { return wrong.empty(); }
  /// The names of the paths that solved a system wrong or failed while they ran.
  std::vector<std::string> failed_paths() const;
  /// The paths without a verdict.
  std::vector<const Verdict*> unknown_paths() const;
};

/// The systems for every path of a device. The matrices are the eleven types of LAPACK's
/// TESTING/LIN (dlatb4 and, for single precision, slatb4), and `permuted`, whose pivots a search
/// must not miss. Without pivoting only those that need none: types 1 to 3, whose
/// elimination subtracts nothing but zeros from what is divided; `dominant` for type 4; and the
/// info of type 5, whose first pivot is zero before anything is computed. n: 1, 2, 3, 10; for those
/// of which every element counts, instead of 10, more than the widths of texels, tiles and blocks;
/// `thorough`: LAPACK's orders and more block sizes as well. In mixed precision lu-blocked alone:
/// what it adds to the factors is the same for all.
std::vector<Case> verification_cases(const Device& device, bool thorough);

/// Which of the parts a case belongs to, the longest first. The parts share hardly any programs, so
/// they can be verified side by side.
std::size_t verification_part(const Case& what);
constexpr std::size_t kVerificationParts = 8;

/// Runs the cases on the one device of `contexts` and judges by LAPACK's ratios; singular types by
/// info, which must be exact. begun(i): called before any work on case i; found(i, finding): after
/// it. A path is given up once a system of it could not be tried, at the latest after the one that
/// follows: kernels that do not build take long to say so.
void verify(const std::vector<Case>& cases, std::vector<DeviceContext>& contexts,
            const std::function<void(std::size_t)>& begun,
            const std::function<void(std::size_t, const Finding&)>& found);

/// One path as in the JSON's `paths` (docs/lugpu.schema.json).
nlohmann::json to_json(const Verdict& verdict);

}  // namespace lugpu

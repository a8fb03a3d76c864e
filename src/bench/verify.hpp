// Every kernel path of a device on small systems of LAPACK's matrix types: finds a driver that
// miscompiles before it costs anyone a day.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/sweep.hpp"

namespace lugpu {

/// What became of one path: a method with a pivoting, a precision, a storage, texels and a
/// schedule.
struct Verdict {
  Case path;                           ///< the first system that it was given
  std::string name;                    ///< path_name()
  Status status = Status::ok;          ///< unsupported: no system; failed, error: at least one
  std::string reason;                  ///< why it is not ok, of the first system; empty for ok
  std::size_t systems = 0, wrong = 0;  ///< that were given to it, and were not solved right
  double largest_ratio = 0;  ///< of factor_ratio and solve_ratio over the systems that were right
};

struct Verification {
  std::vector<Verdict> paths;  ///< in the order in which they were met
  std::vector<Result> wrong;   ///< the systems that were not solved right, with the reason

  bool passed() const { return wrong.empty(); }
  /// The names of the paths that failed or could not run.
  std::vector<std::string> failed_paths() const;
};

/// The systems for every path of a device. The matrices are the eleven types of LAPACK's
/// TESTING/LIN (dlatb4 and, for single precision, slatb4), and `permuted`, whose pivots a search
/// must not miss. Without pivoting only those that need none: types 1 to 3, whose
/// elimination subtracts nothing but zeros from what is divided; `dominant` for type 4; and the
/// info of type 5, whose first pivot is zero before anything is computed. n: 1, 2, 3 and around the
/// widths of texels, tiles and blocks; `thorough`: LAPACK's orders and more block sizes as well.
std::vector<Case> verification_cases(const Device& device, bool thorough);

/// Runs the cases on the one device of `contexts` and judges by LAPACK's ratios; singular types by
/// info, which must be exact. `begun`: called before each case.
Verification verify(const std::vector<Case>& cases, std::vector<DeviceContext>& contexts,
                    const std::function<void(const Case&)>& begun);

/// One path as in the JSON's `paths` (docs/lugpu.schema.json).
nlohmann::json to_json(const Verdict& verdict);

}  // namespace lugpu

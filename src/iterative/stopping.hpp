// When an iteration ends, and how it went.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace lugpu {

struct StoppingRule {
  double tolerance = 1e-6;        ///< of ||b - A x||_2 / ||b||_2
  std::size_t iterations = 1000;  ///< at most
  /// All iterations are done without a look at the residuals, so that the host waits for nothing.
  /// Vectors whose squares overflow or underflow are not scaled then.
  bool blind = false;

  bool operator==(const StoppingRule&) const = default;
};

struct Iteration {
  std::size_t iterations = 0;
  bool converged = false;  ///< by the residuals that the method itself carries along
  /// ||b - A x||_2 / ||b||_2 before the first step and after each one, as the method carries them
  /// along; of a method that looks at them now and then, those.
  std::vector<double> residuals;
  std::string reason;  ///< why it ended without converging, a sentence without its full stop
  int info = 0;        ///< of an elimination: k > 0 means that the k-th pivot is exactly zero
};

/// How far the true residual, computed anew, may be above the tolerance that the method's own one
/// is below.
inline constexpr double kResidualSlack = 1.01;

/// How many steps are enqueued before the host looks at the residuals again, after `done` of them.
constexpr std::size_t steps_until_look(std::size_t done) {
  return done < 32 ? 8 : done < 256 ? done / 4 : 64;
}

}  // namespace lugpu

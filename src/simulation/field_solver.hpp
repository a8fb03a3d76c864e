// A linear system for a field that stays on the device.
#pragma once

#include <memory>
#include <string>

#include "solve/structured_methods.hpp"

namespace lugpu {

/// A x = b with the matrix of a grid, solved at every step. Counts the steps of the method.
class FieldSolver {
 public:
  /// Throws as the method's require() and make().
  FieldSolver(DeviceContext& context, const StructuredMethod& method, const StoppingRule& rule,
              Precision precision, Grid grid);

  /// b, x: buffers of ny nz rows and nx columns. x: the start of iterative methods, and the result.
  /// Returns why the system was not solved to the tolerance, a sentence without its full stop;
  /// empty if it was, and for a tolerance of 0, where all iterations are done blindly.
  std::string solve(const Surface& b, Surface& x);

  /// Of the last solve().
  std::size_t iterations() const { return iterations_; }

 private:
  std::unique_ptr<Grid> grid_;
  std::unique_ptr<DeviceSolver> solver_;
  std::size_t iterations_ = 0;
};

}  // namespace lugpu

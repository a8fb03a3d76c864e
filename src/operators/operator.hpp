// A matrix on a device, however it is stored.
#pragma once

#include <string>

#include "operators/vectors.hpp"

namespace lugpu {

/// A square matrix times vectors of its layout ("A x op y" of Krueger and Westermann 2003, section
/// 3.2).
class Operator {
 public:
  virtual ~Operator() = default;

  /// result = A x; result is not x.
  void apply(Vectors& vectors, const Surface& x, Surface& result) const {
    product(vectors, "", x, x, result);
  }
  /// result = A x op y; result is neither x nor y.
  void apply(Vectors& vectors, const Surface& x, Operation operation, const Surface& y,
             Surface& result) const {
    product(vectors, option(operation), x, y, result);
  }

 private:
  /// operation: the build option of the kernel; empty for A x, where y does not matter.
  virtual void product(Vectors& vectors, const std::string& operation, const Surface& x,
                       const Surface& y, Surface& result) const = 0;
};

}  // namespace lugpu

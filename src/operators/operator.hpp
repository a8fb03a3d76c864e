// A matrix on a device, however it is stored.
#pragma once

#include <string>

#include "operators/vectors.hpp"

namespace lugpu {

/// Where a product leaves x . A x beside A x (common/curvature.clh).
struct Curvature {
  cl::Buffer partials;  ///< of each work-group its part: Vectors::cut().groups() elements
  cl::Buffer over;      ///< one int; once it is not 0, nothing need be done
};

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
  /// result = A x, with x . A x; result is not x.
  void apply(Vectors& vectors, const Surface& x, Surface& result,
             const Curvature& curvature) const {
    product_with_curvature(vectors, x, result, curvature);
  }

 private:
  /// In two passes, for operators without one of their own.
  virtual void product_with_curvature(Vectors& vectors, const Surface& x, Surface& result,
                                      const Curvature& curvature) const {
    product(vectors, "", x, x, result);
    vectors.partial_sums(x, result, curvature.partials);
  }
  /// operation: the build option of the kernel; empty for A x, where y does not matter.
  virtual void product(Vectors& vectors, const std::string& operation, const Surface& x,
                       const Surface& y, Surface& result) const = 0;
};

}  // namespace lugpu

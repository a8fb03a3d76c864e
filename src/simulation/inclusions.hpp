// The microscopic level of a dilute bubbly flow: the dense system of the bubbles of one cell.
#pragma once

#include <string>

#include "operators/vectors.hpp"
#include "solve/methods.hpp"

namespace lugpu {

/// m circular bubbles without mass in the unit square of a liquid at rest at infinity, each with
/// the impulse pi R^2 density W upwards (Russo and Smereka, Kinetic Theory for Bubbly Flow, SIAM J.
/// Appl. Math. 56, 327-371, 1996). A bubble i of velocity v_i has on its surface the potential
/// phi = q~ + v_i . (x - c_i) with
///   q~(x) + K q~(x) = -2 v_i . (x - c_i),
/// K the double layer of the other bubbles less its value at the centre c_i, and v_i = -W -
/// (integral of q~ normal) / (pi R^2) by the impulse. With q = q~ / R, whose first harmonic on
/// every circle has the other sign, this is
///   A q = b,  A = I + K (I - 2 F),  b = 2 W . normal;  mean of v_i = B q - W,
/// F: the first harmonic, B q = 2 / (m k) sum of q normal; trapezoidal rule with k points on each
/// circle. Off the diagonal the rows of A fall off with the square of the distance: A is diagonally
/// dominant where the bubbles are well apart (LU-GPU, section 6.2), so needs no pivoting.
class Inclusions {
 public:
  /// bubbles: m, at least 1; points: k, a multiple of 16. method: of methods(); empty: the fastest.
  /// Throws InputError for other numbers or methods, Unsupported as the method.
  Inclusions(DeviceContext& context, std::size_t bubbles, std::size_t points,
             const std::string& method, Precision precision);

  std::size_t order() const { return bubbles_ * points_; }
  Precision precision() const { return plan_.problem.dense.precision; }
  const char* method() const { return plan_.method->name; }
  /// Another method from the next solve() on; throws as the constructor.
  void use(const std::string& method);

  /// On the device: one element, the radius of the next system.
  const cl::Buffer& radius() const { return radius_; }
  /// On the device: x and y of each centre, for a test's own; place() has a sample for each cell.
  const cl::Buffer& centres() const { return centres_; }
  void place(std::size_t cell);

  /// Builds [A | b] for centres() and radius(), order() + 1 columns of order() elements.
  void build(double rise_speed);
  const cl::Buffer& system() const { return system_; }
  /// q, by the method; where a pivot is zero it is not finite.
  void solve();
  const cl::Buffer& q() const { return q_; }

  /// Where velocity() leaves what it computes: elements of buffers with `columns` columns, and one
  /// int, the number of a cell whose system is not solved to the tolerance, and 1.
  struct Cells {
    const Surface &u, &v, &residual, &rhs;
    const cl::Buffer& trouble;
    std::size_t columns;
  };
  /// (u, v) = the mean velocity of the bubbles; residual = ||b - A q||_2, rhs = ||b||_2.
  void velocity(const Cells& cells, std::size_t cell, double rise_speed, double tolerance);

 private:
  DeviceContext& context_;
  std::size_t bubbles_, points_;
  Plan plan_;
  std::unique_ptr<DenseFactorization> factors_;
  cl::Buffer normals_, centres_, radius_, at_, system_, residual_, q_;
};

}  // namespace lugpu

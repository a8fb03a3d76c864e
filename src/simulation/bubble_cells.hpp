// A dilute bubbly flow on two levels (LU-GPU, section 6.2). Macroscopic: the number density n of
// bubbles on a coarse periodic grid,
//   n_t + div(n (u(n) + V)) = 0,
// by upwind differences; V: a steady stream of the liquid. Microscopic: in every cell the mean
// velocity u of its bubbles, from the dense system of a sample of them (Inclusions), whose void
// fraction is n times 5 %. At each step only cells are computed anew whose density has changed.
#pragma once

#include <string>
#include <vector>

#include "simulation/inclusions.hpp"
#include "simulation/monitor.hpp"
#include "simulation/physics.hpp"

namespace lugpu {

class BubbleCells : public Physics {
 public:
  /// options.size: cells; options.inclusions: bubbles of a sample, of 32 points each. method: of
  /// methods(), without pivoting. Throws InputError for options that do not fit; Unsupported for
  /// what the method or the device cannot do. context must outlive this.
  BubbleCells(DeviceContext& context, const SimulationOptions& options);

  const std::vector<Phase>& phases() const override { return phases_; }
  std::string method() const override { return inclusions_.method(); }
  double time_step() const override { return time_step_; }
  /// Dense systems solved in the last time step: a direct method takes one step for each.
  std::size_t iterations() const override { return systems_; }
  const char* left_name() const override { return "residual"; }
  /// Of all systems of a step together.
  std::vector<double> left() override { return monitor_.take(); }
  Drawn drawn() override;

  /// n of every cell, row after row, on the host.
  std::vector<double> density();
  /// u and v of every cell.
  std::vector<std::vector<double>> velocity();

 private:
  void prepare() override;
  /// Adds bubbles along the way.
  void push_along(const std::array<double, 3>& from, const std::array<double, 3>& to) override;
  void start();
  void select();
  void solve_cells();
  void advect();
  template <typename... Arguments>
  void run(const char* phase, const char* function, const Arguments&... arguments);

  DeviceContext& context_;
  std::size_t columns_, rows_;
  VectorLayout layout_;
  double h_, time_step_;
  Inclusions inclusions_;
  Vectors vectors_;
  Surface n_, n_new_, u_, v_, stream_, residual_, rhs_;
  cl::Buffer solved_;  // the density that u and v belong to
  cl::Buffer list_, failed_;
  Monitor monitor_;
  std::vector<Phase> phases_;
  std::vector<int> cells_;  // to be computed anew
  std::size_t systems_ = 0;
};

}  // namespace lugpu

// Simulations that go on step by step on a device.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>

#include "lugpu/options.hpp"

namespace lugpu {

/// What is simulated and how. What is absent is chosen by the scene. Lengths are in units of the
/// longest side of the domain, which is 1.
struct SimulationOptions {
  std::array<std::size_t, 3> size = {256, 256, 1};  ///< cells along x, y, z; 1 along z in 2D
  std::string scene = "";                           ///< e.g. "smoke"; empty: the first one
  /// Of the linear systems, e.g. "fast-diagonal", "multigrid-cg", "cg", "jacobi"; where they are
  /// dense, "lu-blocked", "lu" or "gauss-jordan"; "explicit" for a scheme without any; empty: the
  /// fastest for this scene.
  std::string method = "";
  /// What may be left of the residual of a linear system or of the divergence, relative to what was
  /// there before (2-norms). 0: an iterative method does all its iterations, whatever is left.
  /// Absent: what is within reach of the precision, 1e-3 in single and 1e-6 in double.
  std::optional<double> tolerance = {};
  std::size_t iterations = 10'000;  ///< of an iterative method for one system, at most
  Precision precision = Precision::single_precision;
  std::optional<double> time_step = {};

  // Fluids.
  std::optional<double> reynolds =
      {};                           ///< speed x length / viscosity of the scene; inf: no viscosity
  bool explicit_diffusion = false;  ///< as in Krueger and Westermann 2003
  /// Diffuses, projects, advects and projects, and diffuses smoke too (J. Stam, "Real-Time Fluid
  /// Dynamics for Games", 2003): five linear systems a step in 2D, six in 3D.
  bool project_twice = false;
  bool semi_lagrangian = false;  ///< advection of first order, instead of MacCormack's
  double confinement = 0;        ///< strength of the vorticity confinement

  // Bubbles.
  std::optional<double> density_ratio = {};  ///< of the liquid and the gas; absent: 1000
  std::size_t inclusions = 16;  ///< of the scene "cells": bubbles of a cell, 32 unknowns each
};

}  // namespace lugpu

// Simulations that go on step by step on a device.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lugpu/device.hpp"
#include "lugpu/options.hpp"
#include "lugpu/picture.hpp"

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

/// The scenes of every simulation, by its name: "wave", "fluid", "bubbles". The first one of each
/// is what an empty SimulationOptions::scene means.
LUGPU_API std::map<std::string, std::vector<std::string>> simulation_scenes();

/// What a picture shows: the height of the water; the density of the smoke (0 to 1) or,
/// in scenes without any, the vorticity (1 / time; in 3D along z); the share of liquid in a cell (0
/// to 1), or the number density of bubbles, 1 at a void fraction of 5 %.
struct Field {
  std::array<std::size_t, 3> size = {};  ///< cells along x, y, z
  /// Of cell (x, y, z) at x + size[0] * (y + size[1] * z); y upwards. Those of solid cells mean
  /// nothing.
  std::vector<double> values;
  double low = 0, high = 0;  ///< the values at both ends of the picture's colours
};

/// A velocity (u, v) at a place (x, y).
struct ProfilePoint {
  double x, y, u, v;
};

/// A simulation on a device, which stays open with it. Cheap to copy; all copies are the same.
/// Threads may share it, as they may share its Context. Calls throw Error (failure) if OpenCL
/// fails.
class LUGPU_API Simulation {
 public:
  /// physics: "wave", "fluid" or "bubbles". Throws Error: bad_input for names that there are not
  /// and options that do not fit, unsupported for what the method or the device cannot do,
  /// not_tried and failure as solve().
  Simulation(const Context& context, const std::string& physics,
             const SimulationOptions& options = {});

  /// So many time steps; waits for the device. Many in one call are faster than one in each. What
  /// goes wrong in a linear system ends nothing: see trouble().
  void step(std::size_t count = 1);
  /// What the mouse does before the next step: a push from one place to another, in widths and
  /// heights of the picture from its lower left corner (0 to 1). It adds velocity and smoke, or
  /// presses the water down, or adds bubbles. In 3D it is in the middle along z.
  void push(double from_x, double from_y, double to_x, double to_y);

  /// Of the linear systems, as SimulationOptions::method; never empty.
  std::string method() const;
  /// Of one step, in the scene's units of time.
  double time_step() const;
  /// Steps of the method in the last time step, all its systems together; 0 for direct methods on
  /// grids where nothing was iterated.
  std::size_t iterations() const;
  /// What first went wrong: a linear system was not solved to the tolerance, or numbers are not
  /// finite. A sentence without its full stop; empty: nothing.
  std::string trouble() const;

  /// What left() is of: "divergence" or "residual".
  std::string left_name() const;
  /// What was left of the divergence, or of the residual, in every step since the last call: its
  /// 2-norm relative to what it was before the linear system was solved.
  std::vector<double> left();
  /// Whether the scene is steady: nothing has changed since the last call any more. False in the
  /// first call, and in scenes that have no end.
  bool is_over();

  /// What is drawn, on the host.
  Field field();
  /// The same in colours: of the longer side, 256 to 1024 pixels or little more. In 3D a pixel
  /// shows the mean along z; solid cells are grey, what is not finite magenta.
  Picture picture();
  /// The velocity along the centre lines of a fluid in 2D, from wall to wall: first the points of
  /// the line x = width / 2 upwards, then of y = height / 2 to the right; ny + 2 and nx + 2 of
  /// them. Throws Error (unsupported) for other simulations.
  std::vector<ProfilePoint> profile();

 private:
  class LUGPU_LOCAL Implementation;
  std::shared_ptr<Implementation> implementation_;
};

}  // namespace lugpu

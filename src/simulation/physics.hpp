// A simulation that goes on step by step on a device, and what is common to all of them.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lugpu/simulation.hpp"
#include "solve/structured_methods.hpp"

namespace lugpu {

/// When an iteration of these options ends.
StoppingRule rule_of(const SimulationOptions& options);

/// A part of a time step.
struct Phase {
  const char* name;  ///< e.g. "advect"
  std::function<void()> run;
};

/// The colours that a field is drawn with (picture.hpp).
enum class ColourMap {
  sequential,  ///< from dark to bright: an amount
  diverging,   ///< white at the middle: a deviation in both directions
};

/// A field that is drawn: buffers of ny nz rows and nx columns. Row y = 0 is the lowest of the
/// picture; a field in 3D is drawn by its means along z.
struct Drawn {
  const Surface* field;
  std::array<std::size_t, 3> size;
  double low, high;  ///< the values at both ends of the colours
  ColourMap colours;
  const Surface* solid = nullptr;  ///< 1 in cells that are drawn grey, as large; null: none
};

/// What goes on in time steps, on a device or on the host. Lengths are in units of the longest side
/// of the domain, which is 1.
class TimeStepper {
 public:
  virtual ~TimeStepper() = default;

  /// One time step: all of phases(), one after the other. They enqueue their work, and read back
  /// what an iteration needs to know when it may end, but no field.
  void step() {
    for (const Phase& phase : phases()) phase.run();
  }
  virtual const std::vector<Phase>& phases() const = 0;

  /// Of the linear systems: of structured_methods() or methods(), or "explicit".
  virtual std::string method() const = 0;
  /// Of one step, in the scene's units of time.
  virtual double time_step() const = 0;
  /// Steps of the linear solver in the last time step, all its systems together.
  virtual std::size_t iterations() const = 0;
  /// What first went wrong in a step: a linear system was not solved to the tolerance, or a number
  /// is not finite. A sentence without its full stop; empty: nothing.
  virtual const std::string& trouble() const = 0;

  /// What `left` is, e.g. "divergence" or "residual".
  virtual const char* left_name() const = 0;
  /// What is left of the divergence, or of the residual, after each step since the last call,
  /// relative to what it was before the linear system was solved (2-norms). Waits for the device.
  virtual std::vector<double> left() = 0;
};

/// A simulation on a device.
class Physics : public TimeStepper {
 public:
  const std::string& trouble() const override { return trouble_; }

  /// Enqueues what it takes.
  virtual Drawn drawn() = 0;
  /// What the mouse does before the next step: a push from one place of the picture to another, in
  /// its width and height (0 to 1, y upwards). It adds velocity and dye, or moves the water.
  void push(double from_x, double from_y, double to_x, double to_y);
  /// Whether the scene comes to an end by itself, a steady state.
  virtual bool ends() const { return false; }
  /// Whether it has: nothing has changed since the last call any more.
  virtual bool is_over() { return false; }
  /// The velocity along the centre lines: upwards, then to the right. Throws Unsupported if there
  /// is none.
  virtual std::vector<ProfilePoint> profile();

  /// Another method or rule from the next step on; what went wrong is forgotten. Throws as the
  /// row's make(), and stays as it was then.
  void change(const std::string& method, const StoppingRule& rule);

 protected:
  explicit Physics(const SimulationOptions& options) : options_(options) {}

  /// Makes what depends on the method and the rule of the options. Throws as the row's make().
  virtual void prepare() = 0;
  /// A push along a line between points within the domain, in cells.
  virtual void push_along(const std::array<double, 3>& from, const std::array<double, 3>& to) = 0;
  /// What went wrong, unless something did before; empty: nothing.
  void note(const std::string& trouble);

  SimulationOptions options_;

 private:
  std::string trouble_;
};

/// Throws InputError unless the value is positive and finite. what: e.g. "The time step".
void require_positive(const char* what, double value);

/// One row of the table of simulations.
struct SimulationKind {
  const char* name;         ///< as on the command line, e.g. "wave"
  const char* description;  ///< one line
  std::vector<std::string> scenes;
  /// Throws InputError for what does not fit the physics, Unsupported for what the method or the
  /// device cannot do.
  std::unique_ptr<Physics> (*make)(DeviceContext& context, const SimulationOptions& options);
};

std::span<const SimulationKind> simulations();

/// Throws InputError that lists the simulations if there is no such one.
const SimulationKind& find_simulation(const std::string& name);

}  // namespace lugpu

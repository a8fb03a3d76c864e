#include "lugpu/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "library/context.hpp"
#include "simulation/physics.hpp"
#include "simulation/picture.hpp"

namespace lugpu {
namespace {

void require_rule(const SimulationOptions& options) {
  if (options.tolerance && !(*options.tolerance >= 0)) {
    throw InputError("The tolerance must not be negative.");
  }
  if (options.iterations == 0) throw InputError("A method needs at least one iteration.");
}

}  // namespace

std::map<std::string, std::vector<std::string>> simulation_scenes() {
  std::map<std::string, std::vector<std::string>> scenes;
  for (const SimulationKind& kind : simulations()) scenes[kind.name] = kind.scenes;
  return scenes;
}

class Simulation::Implementation {
 public:
  Implementation(Context context, const std::string& physics, const SimulationOptions& options)
      : context_(std::move(context)),
        physics_(context_.implementation().call([&](DeviceContext& device) {
          if (context_.device_count() > 1) {
            throw Unsupported("Simulations work on one device alone.");
          }
          require_rule(options);
          return find_simulation(physics).make(device, options);
        })) {}
  // Device memory goes as it came: one call at a time.
  ~Implementation() {
    try {
      context_.implementation().call([&](DeviceContext&) { physics_.reset(); });
    } catch (const Error&) {
      static_cast<void>(physics_.release());  // a forked process: it is its parent's
    }
  }
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;

  template <typename Action>
  auto call(const Action& action) {
    return context_.implementation().call(
        [&](DeviceContext& device) { return action(device, *physics_); });
  }

  // What each step left, and what went wrong first.
  std::vector<double> left;
  std::string trouble;

 private:
  Context context_;
  std::unique_ptr<Physics> physics_;
};

Simulation::Simulation(const Context& context, const std::string& physics,
                       const SimulationOptions& options)
    : implementation_(std::make_shared<Implementation>(context, physics, options)) {}

void Simulation::step(std::size_t count) {
  implementation_->call([&](DeviceContext&, Physics& physics) {
    for (std::size_t i = 0; i < count; ++i) physics.step();
    std::vector<double>& left = implementation_->left;
    std::string& trouble = implementation_->trouble;
    const std::vector<double> now = physics.left();  // waits
    left.insert(left.end(), now.begin(), now.end());
    if (trouble.empty()) trouble = physics.trouble();
    const auto is_finite = [](double value) { return std::isfinite(value); };
    if (trouble.empty() && !std::all_of(now.begin(), now.end(), is_finite)) {
      trouble = "The numbers are not finite any more";
    }
  });
}

void Simulation::push(double from_x, double from_y, double to_x, double to_y) {
  implementation_->call(
      [&](DeviceContext&, Physics& physics) { physics.push(from_x, from_y, to_x, to_y); });
}

std::string Simulation::method() const {
  return implementation_->call([&](DeviceContext&, Physics& physics) { return physics.method(); });
}

double Simulation::time_step() const {
  return implementation_->call(
      [&](DeviceContext&, Physics& physics) { return physics.time_step(); });
}

std::size_t Simulation::iterations() const {
  return implementation_->call(
      [&](DeviceContext&, Physics& physics) { return physics.iterations(); });
}

std::string Simulation::trouble() const {
  return implementation_->call([&](DeviceContext&, Physics&) { return implementation_->trouble; });
}

std::string Simulation::left_name() const {
  return implementation_->call(
      [&](DeviceContext&, Physics& physics) { return std::string(physics.left_name()); });
}

std::vector<double> Simulation::left() {
  return implementation_->call(
      [&](DeviceContext&, Physics&) { return std::exchange(implementation_->left, {}); });
}

bool Simulation::is_over() {
  return implementation_->call([&](DeviceContext&, Physics& physics) { return physics.is_over(); });
}

Field Simulation::field() {
  return implementation_->call([&](DeviceContext& device, Physics& physics) {
    const Drawn drawn = physics.drawn();
    const Surface& field = *drawn.field;
    Vectors vectors(
        device, {field.rows(), field.columns(), field.precision(), field.storage(), field.texel()},
        1);
    return Field{drawn.size, vectors.download(field, field.rows() * field.columns()), drawn.low,
                 drawn.high};
  });
}

Picture Simulation::picture() {
  return implementation_->call(
      [&](DeviceContext& device, Physics& physics) { return paint(device, physics.drawn()); });
}

std::vector<ProfilePoint> Simulation::profile() {
  return implementation_->call([&](DeviceContext&, Physics& physics) { return physics.profile(); });
}

}  // namespace lugpu

#include "simulation.hpp"

#include <pybind11/stl.h>

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "contexts.hpp"
#include "lugpu/simulation.hpp"

namespace lugpu::python {
namespace {

// What `call()` returns, while other threads of Python go on.
template <typename Call>
auto released(Call&& call) {
  const py::gil_scoped_release release;
  return call();
}

template <typename T>
py::array_t<T> flat(std::vector<T> elements) {
  const auto size = py::ssize_t(elements.size());
  return array_of(std::move(elements), {size});
}

SimulationOptions options_of(const std::array<std::size_t, 3>& size, const std::string& scene,
                             const std::string& method, std::optional<double> tolerance,
                             std::optional<std::size_t> iterations, bool double_precision,
                             std::optional<double> time_step, std::optional<double> reynolds,
                             bool explicit_diffusion, bool project_twice, bool semi_lagrangian,
                             double confinement, std::optional<double> density_ratio,
                             std::size_t inclusions) {
  SimulationOptions options;
  options.size = size;
  options.scene = scene;
  options.method = method;
  options.tolerance = tolerance;
  if (iterations) options.iterations = *iterations;
  if (double_precision) options.precision = Precision::double_precision;
  options.time_step = time_step;
  options.reynolds = reynolds;
  options.explicit_diffusion = explicit_diffusion;
  options.project_twice = project_twice;
  options.semi_lagrangian = semi_lagrangian;
  options.confinement = confinement;
  options.density_ratio = density_ratio;
  options.inclusions = inclusions;
  return options;
}

// Arrays are flat; a field and a picture come after their shapes.
class OneSimulation {
 public:
  OneSimulation(const std::string& physics, const SimulationOptions& options,
                const std::string& device)
      : simulation_(released([&] { return Simulation(context(device), physics, options); })) {}

  void step(std::size_t count) {
    released([&] { simulation_->step(count); });
  }
  void push(double from_x, double from_y, double to_x, double to_y) {
    released([&] { simulation_->push(from_x, from_y, to_x, to_y); });
  }
  std::string method() const {
    return released([&] { return simulation_->method(); });
  }
  double time_step() const {
    return released([&] { return simulation_->time_step(); });
  }
  std::size_t iterations() const {
    return released([&] { return simulation_->iterations(); });
  }
  std::string trouble() const {
    return released([&] { return simulation_->trouble(); });
  }
  std::string left_name() const {
    return released([&] { return simulation_->left_name(); });
  }
  bool is_over() {
    return released([&] { return simulation_->is_over(); });
  }

  py::array_t<double> left() {
    return flat(released([&] { return simulation_->left(); }));
  }
  py::tuple field() {
    Field field = released([&] { return simulation_->field(); });
    const auto [nx, ny, nz] = field.size;
    return py::make_tuple(py::make_tuple(nz, ny, nx), flat(std::move(field.values)));
  }
  py::tuple picture() {
    Picture picture = released([&] { return simulation_->picture(); });
    return py::make_tuple(py::make_tuple(picture.height, picture.width, 3),
                          flat(std::move(picture.rgb)));
  }
  py::array_t<double> profile() {
    std::vector<double> values;
    for (const auto& [x, y, u, v] : released([&] { return simulation_->profile(); })) {
      values.insert(values.end(), {x, y, u, v});
    }
    return flat(std::move(values));
  }

 private:
  OnDevice<Simulation> simulation_;
};

}  // namespace

void add_simulation(py::module_& module) {
  module.def("simulation_scenes", &simulation_scenes);
  py::class_<SimulationOptions>(module, "SimulationOptions")
      .def(py::init(&options_of), py::kw_only(), py::arg("size"), py::arg("scene"),
           py::arg("method"), py::arg("tolerance"), py::arg("iterations"),
           py::arg("double_precision"), py::arg("time_step"), py::arg("reynolds"),
           py::arg("explicit_diffusion"), py::arg("project_twice"), py::arg("semi_lagrangian"),
           py::arg("confinement"), py::arg("density_ratio"), py::arg("inclusions"));
  py::class_<OneSimulation>(module, "Simulation")
      .def(py::init<const std::string&, const SimulationOptions&, const std::string&>(),
           py::arg("physics"), py::arg("options"), py::arg("device"))
      .def("step", &OneSimulation::step, py::arg("count"))
      .def("push", &OneSimulation::push, py::arg("from_x"), py::arg("from_y"), py::arg("to_x"),
           py::arg("to_y"))
      .def("method", &OneSimulation::method)
      .def("time_step", &OneSimulation::time_step)
      .def("iterations", &OneSimulation::iterations)
      .def("trouble", &OneSimulation::trouble)
      .def("left_name", &OneSimulation::left_name)
      .def("left", &OneSimulation::left)
      .def("is_over", &OneSimulation::is_over)
      .def("field", &OneSimulation::field)
      .def("picture", &OneSimulation::picture)
      .def("profile", &OneSimulation::profile);
}

}  // namespace lugpu::python

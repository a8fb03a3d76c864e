// lugpu._core: the library's calls on arrays that the Python files have checked and converted.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "contexts.hpp"
#include "lugpu/lugpu.hpp"
#include "simulation.hpp"

namespace lugpu::python {
namespace {

template <typename Enum>
using Names = std::vector<std::pair<Enum, const char*>>;

const Names<Precision> kPrecisions = {{Precision::single_precision, "single"},
                                      {Precision::double_precision, "double"}};
const Names<FactorArithmetic> kFactors = {{FactorArithmetic::half_products, "half-products"},
                                          {FactorArithmetic::local_pivots, "local-pivots"},
                                          {FactorArithmetic::single_precision, "single"},
                                          {FactorArithmetic::double_precision, "double"}};
const Names<Status> kStatuses = {{Status::ok, "ok"},
                                 {Status::unchecked, "unchecked"},
                                 {Status::failed, "failed"},
                                 {Status::singular, "singular"}};
const Names<ErrorKind> kErrorKinds = {{ErrorKind::failure, "failure"},
                                      {ErrorKind::bad_input, "bad_input"},
                                      {ErrorKind::unsupported, "unsupported"},
                                      {ErrorKind::not_tried, "not_tried"},
                                      {ErrorKind::no_device, "no_device"}};

template <typename Enum>
const char* name(const Names<Enum>& names, Enum value) {
  for (const auto& [each, text] : names) {
    if (each == value) return text;
  }
  return "";
}

template <typename Enum>
Enum value(const Names<Enum>& names, const std::string& text) {
  for (const auto& [each, known] : names) {
    if (text == known) return each;
  }
  throw py::value_error(text);
}

Pivot pivot_of(const std::string& name) {
  const std::optional<Pivot> pivot = pivot_named(name);
  if (!pivot) throw py::value_error(name);
  return *pivot;
}

py::object plain(const std::optional<Remedy>& remedy) {
  if (!remedy) return py::none();
  return py::make_tuple(remedy->option, remedy->value);
}

py::tuple plain(const Warning& warning) {
  return py::make_tuple(warning.reason, plain(warning.remedy));
}

py::dict plain(const Device& device) {
  using namespace py::literals;
  return py::dict(
      "index"_a = device.index, "platform"_a = device.platform,
      "platform_version"_a = device.platform_version, "name"_a = device.name,
      "driver_version"_a = device.driver_version, "device_version"_a = device.device_version,
      "type"_a = device.type, "compute_units"_a = device.compute_units,
      "clock_mhz"_a = device.clock_mhz, "global_memory"_a = device.global_memory,
      "max_allocation"_a = device.max_allocation, "local_memory"_a = device.local_memory,
      "max_work_group"_a = device.max_work_group, "double_precision"_a = device.double_precision,
      "images"_a = device.images);
}

py::dict plain(const Checks& checks, Precision precision_of_x) {
  using namespace py::literals;
  return py::dict("factor_ratio"_a = checks.factor_ratio, "solve_ratio"_a = checks.solve_ratio,
                  "hpl_residual"_a = checks.hpl_residual, "growth"_a = checks.growth,
                  "rcond"_a = checks.rcond, "rcond_at_most"_a = checks.rcond_at_most,
                  "residual"_a = checks.residual, "berr"_a = checks.berr, "ferr"_a = checks.ferr,
                  "info"_a = checks.info, "digits"_a = checks.digits(precision_of_x));
}

py::object plain(const std::optional<Refinement>& refinement) {
  using namespace py::literals;
  if (!refinement) return py::none();
  py::list given_up;
  for (const auto& [factors, failure] : refinement->given_up) {
    given_up.append(py::make_tuple(name(kFactors, factors), failure));
  }
  return py::dict("steps"_a = refinement->steps, "converged"_a = refinement->converged,
                  "fallback"_a = refinement->fallback,
                  "factors"_a = name(kFactors, refinement->factors), "given_up"_a = given_up);
}

py::object plain(const std::optional<Scaling>& scaling) {
  using namespace py::literals;
  if (!scaling) return py::none();
  return py::dict("r"_a = scaling->r, "c"_a = scaling->c, "rowcnd"_a = scaling->rowcnd,
                  "colcnd"_a = scaling->colcnd, "amax"_a = scaling->amax);
}

py::dict plain(const Report& report, Precision precision_of_x) {
  using namespace py::literals;
  const Diagnosis& diagnosis = report.diagnosis;
  py::list warnings;
  for (const Warning& warning : diagnosis.warnings) warnings.append(plain(warning));
  return py::dict(
      "method"_a = report.method, "why"_a = report.why, "pivot"_a = name(report.pivot),
      "precision"_a = name(kPrecisions, report.precision),
      "status"_a = name(kStatuses, diagnosis.status),
      "reason"_a = diagnosis.reason ? py::object(plain(*diagnosis.reason)) : py::none(),
      "warnings"_a = warnings, "checks"_a = plain(report.checks, precision_of_x),
      "refinement"_a = plain(report.refinement), "equilibration"_a = plain(report.equilibration),
      "iterations"_a = report.iterations,
      "residuals"_a = array_of(report.residuals, {py::ssize_t(report.residuals.size())}),
      "phases_s"_a = report.phases_s);
}

std::vector<py::ssize_t> shape_of(const py::array& array) {
  return {array.shape(), array.shape() + array.ndim()};
}

Options options_of(const std::string& method, const std::string& pivot,
                   const std::optional<std::string>& precision, bool refine, bool equilibrate,
                   bool check, double tolerance, std::size_t iterations) {
  Options options;
  options.method = method;
  options.pivot = pivot_of(pivot);
  options.refine = refine ? Refine::fixed : Refine::none;
  if (precision == "mixed") {
    options.refine = Refine::mixed;
  } else if (precision) {
    options.precision = value(kPrecisions, *precision);
  }
  options.equilibrate = equilibrate;
  options.check = check;
  options.tolerance = tolerance;
  options.iterations = iterations;
  return options;
}

// X, of the shape of B, and the report; X is None where there is none.
template <typename T>
py::tuple answer(Solution<T> solution, const py::array& b, const Options& options) {
  const py::dict report = plain(
      solution, options.refine == Refine::mixed ? Precision::double_precision : solution.precision);
  if (solution.status() == Status::singular) return py::make_tuple(py::none(), report);
  return py::make_tuple(array_of(std::move(solution.x), shape_of(b)), report);
}

template <typename T>
py::tuple solve_as(const py::array& a, const py::array& b, const std::string& device,
                   const Options& options) {
  const View<const T> matrix = view_of<T>(a), rhs = view_of<T>(b);
  Solution<T> solution = [&] {
    const py::gil_scoped_release release;
    return solve<T>(context(device), matrix, rhs, options);
  }();
  return answer(std::move(solution), b, options);
}

py::tuple solve_dense(const py::array& a, const py::array& b, const std::string& device,
                      const Options& options) {
  return py::isinstance<py::array_t<float>>(a) ? solve_as<float>(a, b, device, options)
                                               : solve_as<double>(a, b, device, options);
}

template <typename T>
using Contiguous = py::array_t<T, py::array::c_style>;

// The arrays of compressed sparse rows. The library reads nothing behind the last row's end, but
// it cannot know how long they are.
py::tuple solve_sparse(const Contiguous<std::int64_t>& row_begin,
                       const Contiguous<std::int32_t>& columns, const Contiguous<double>& values,
                       const py::array& b, const std::optional<py::array>& start,
                       const std::string& device, const Options& options) {
  const py::ssize_t ends = row_begin.size();
  if (ends == 0 || row_begin.at(ends - 1) > std::min(columns.size(), values.size())) {
    throw py::value_error("indptr ends behind the end of indices or data");
  }
  const SparseView matrix = {std::size_t(ends - 1), row_begin.data(), columns.data(),
                             values.data()};
  const View<const double> rhs = view_of<double>(b);
  const View<const double> first = start ? view_of<double>(*start) : View<const double>{};
  Solution<double> solution = [&] {
    const py::gil_scoped_release release;
    return solve(context(device), matrix, rhs, first, options);
  }();
  return answer(std::move(solution), b, options);
}

// X, info, solve_ratio (empty without checks), the status and the phases of a batch.
template <typename T>
py::tuple solve_batch_as(const Contiguous<T>& a, const Contiguous<T>& b, const std::string& device,
                         const std::string& pivot, bool check) {
  const Batch<const T> matrices = batch_of<T>(a), sides = batch_of<T>(b);
  BatchOptions options;
  options.pivot = pivot_of(pivot);
  options.check = check;
  BatchSolution<T> solution = [&] {
    const py::gil_scoped_release release;
    return solve_batch<T>(context(device), matrices, sides, options);
  }();
  py::list status;
  for (const Status of_member : solution.status) status.append(name(kStatuses, of_member));
  const auto count = py::ssize_t(solution.count), ratios = py::ssize_t(solution.solve_ratio.size());
  return py::make_tuple(
      array_of(std::move(solution.x), shape_of(b)), array_of(std::move(solution.info), {count}),
      array_of(std::move(solution.solve_ratio), {ratios}), status, solution.phases_s);
}

py::tuple solve_batch_of(const py::array& a, const py::array& b, const std::string& device,
                         const std::string& pivot, bool check) {
  return py::isinstance<py::array_t<float>>(a) ? solve_batch_as<float>(a, b, device, pivot, check)
                                               : solve_batch_as<double>(a, b, device, pivot, check);
}

// The factors of a batch on the device, and arrays of them: by members, piv as SciPy's.
template <typename T>
class BatchFactors {
 public:
  BatchFactors(const Contiguous<T>& a, const std::string& pivot, const std::string& device)
      : factors_([&, matrices = batch_of<T>(a)] {
          const py::gil_scoped_release release;
          return factorize_batch<T>(context(device), matrices, pivot_of(pivot));
        }()) {}

  py::array_t<int> info() const {
    std::vector<int> info = factors_->info();
    const auto count = py::ssize_t(info.size());
    return array_of(std::move(info), {count});
  }

  py::array_t<int> piv() const {
    const auto count = py::ssize_t(factors_->size()), n = py::ssize_t(factors_->n());
    py::array_t<int> rows({count, n});
    for (py::ssize_t i = 0; i < count * n; ++i) {
      const bool moved = !factors_->ipiv().empty();
      rows.mutable_data()[i] = moved ? factors_->ipiv()[std::size_t(i)] - 1 : int(i % n);
    }
    return rows;
  }

  // b becomes X.
  void solve(Contiguous<T>& b) const {
    const Batch<T> batch = writable_batch_of<T>(b);
    const py::gil_scoped_release release;
    factors_->solve(batch);
  }

  py::array lu() const {
    Contiguous<T> array({factors_->size(), factors_->n(), factors_->n()});
    const Batch<T> batch = writable_batch_of<T>(array);
    const py::gil_scoped_release release;
    factors_->factors(batch);
    return array;
  }

 private:
  OnDevice<BatchFactorization<T>> factors_;
};

template <typename T>
void add_batch_factors(py::module_& module, const char* python_name) {
  py::class_<BatchFactors<T>>(module, python_name)
      .def(py::init<const Contiguous<T>&, const std::string&, const std::string&>(), py::arg("a"),
           py::arg("pivot"), py::arg("device"))
      .def("info", &BatchFactors<T>::info)
      .def("piv", &BatchFactors<T>::piv)
      .def("lu", &BatchFactors<T>::lu)
      .def("solve", &BatchFactors<T>::solve, py::arg("b").noconvert());
}

// Factors on the device. piv: as SciPy's, 0-based.
template <typename T>
class Factors {
 public:
  Factors(const py::array& a, const std::string& pivot, const std::string& device)
      : factors_([&, matrix = view_of<T>(a)] {
          Options options;
          options.pivot = pivot_of(pivot);
          const py::gil_scoped_release release;
          return factorize<T>(context(device), matrix, options);
        }()) {}

  Factors(const py::array& lu, const py::array_t<int>& piv, const std::string& device)
      : factors_([&, matrix = view_of<T>(lu)] {
          std::vector<int> ipiv(piv.data(), piv.data() + piv.size());
          for (int& row : ipiv) ++row;
          const py::gil_scoped_release release;
          return adopt<T>(context(device), matrix, ipiv);
        }()) {}

  int info() const { return factors_->info(); }

  py::array_t<int> piv() const {
    std::vector<int> rows = factors_->ipiv();
    if (rows.empty()) {
      for (std::size_t k = 0; k < factors_->n(); ++k) rows.push_back(int(k) + 1);
    }
    for (int& row : rows) --row;
    const auto n = py::ssize_t(rows.size());
    return array_of(std::move(rows), {n});
  }

  // b becomes op(A)^-1 b.
  void solve(py::array& b, bool transpose) const {
    const View<T> view = writable_view_of<T>(b);
    const py::gil_scoped_release release;
    factors_->solve(view, transpose ? Op::transpose : Op::none);
  }

  py::array lu() const {
    return filled([&](View<T> view) { factors_->factors(view); });
  }
  py::array inverse() const {
    return filled([&](View<T> view) { factors_->inverse(view); });
  }

  std::pair<double, std::int64_t> determinant() const {
    const py::gil_scoped_release release;
    const Determinant determinant = factors_->determinant();
    return {determinant.mantissa, determinant.exponent};
  }

  std::optional<double> rcond() const {
    const py::gil_scoped_release release;
    return factors_->rcond();
  }

 private:
  // An n x n array that `fill` writes.
  template <typename Fill>
  py::array filled(Fill&& fill) const {
    const std::size_t n = factors_->n();
    py::array_t<T, py::array::f_style> array({n, n});
    const View<T> view = {array.mutable_data(), n, n, n};
    const py::gil_scoped_release release;
    fill(view);
    return array;
  }

  OnDevice<Factorization<T>> factors_;
};

template <typename T>
void add_factors(py::module_& module, const char* python_name) {
  py::class_<Factors<T>>(module, python_name)
      .def(py::init<const py::array&, const std::string&, const std::string&>(), py::arg("a"),
           py::arg("pivot"), py::arg("device"))
      .def(py::init<const py::array&, const py::array_t<int>&, const std::string&>(), py::arg("lu"),
           py::arg("piv"), py::arg("device"))
      .def("info", &Factors<T>::info)
      .def("piv", &Factors<T>::piv)
      .def("lu", &Factors<T>::lu)
      .def("solve", &Factors<T>::solve, py::arg("b"), py::arg("transpose"))
      .def("inverse", &Factors<T>::inverse)
      .def("determinant", &Factors<T>::determinant)
      .def("rcond", &Factors<T>::rcond);
}

py::list devices() {
  const std::vector<Device> found = [] {
    const py::gil_scoped_release release;
    require_not_forked();
    return list_devices();
  }();
  py::list list;
  for (const Device& device : found) list.append(plain(device));
  return list;
}

// lugpu::Error becomes what lugpu._errors makes of it.
void translate(std::exception_ptr thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    const py::object made = py::module_::import("lugpu._errors")
                                .attr("error_of")(name(kErrorKinds, error.kind()), error.reason(),
                                                  plain(error.remedy()));
    PyErr_SetObject(py::type::of(made).ptr(), made.ptr());
  }
}

PYBIND11_MODULE(_core, module) {
  module.def("pivot_names", &pivot_names);
  py::register_local_exception_translator(translate);
  module.def("devices", devices);
  module.def(
      "is_view",
      [](const py::array& array) {
        return straight_view<double>(array) || straight_view<float>(array);
      },
      py::arg("array"));
  py::class_<Options>(module, "Options")
      .def(py::init(&options_of), py::kw_only(), py::arg("method"), py::arg("pivot"),
           py::arg("precision"), py::arg("refine"), py::arg("equilibrate"), py::arg("check"),
           py::arg("tolerance"), py::arg("iterations"));
  module.def("solve", solve_dense, py::arg("a"), py::arg("b"), py::arg("device"),
             py::arg("options"));
  module.def("solve_sparse", solve_sparse, py::arg("row_begin"), py::arg("columns"),
             py::arg("values"), py::arg("b"), py::arg("start"), py::arg("device"),
             py::arg("options"));
  module.def("solve_batch", solve_batch_of, py::arg("a"), py::arg("b"), py::arg("device"),
             py::arg("pivot"), py::arg("check"));
  add_batch_factors<float>(module, "BatchFactorsSingle");
  add_batch_factors<double>(module, "BatchFactorsDouble");
  add_factors<float>(module, "FactorsSingle");
  add_factors<double>(module, "FactorsDouble");
  add_simulation(module);
}

}  // namespace
}  // namespace lugpu::python

#include "simulation/inclusions.hpp"

#include <cmath>
#include <numbers>
#include <utility>

#include "base/error.hpp"

namespace lugpu {
namespace {

constexpr std::size_t kMultiple = 16;  // vector registers hold points of one circle
constexpr std::size_t kMostBubbles = 4096;

Plan plan_of(const Device& device, const std::string& method, std::size_t order,
             Precision precision) {
  Options options;
  options.method = method.empty() ? "auto" : method;
  options.pivot = Pivot::none;
  options.precision = precision;
  const Plan plan = make_plan(options, device, Size::square(order, 1), precision, {});
  require_possible(device, *plan.method, plan.problem);
  return plan;
}

std::size_t checked(std::size_t bubbles, std::size_t points) {
  if (bubbles == 0 || bubbles > kMostBubbles) {
    throw InputError("A cell has from 1 to " + std::to_string(kMostBubbles) + " bubbles.");
  }
  if (points == 0 || points % kMultiple > 0) {
    throw InputError("The points on a bubble are a multiple of " + std::to_string(kMultiple) + ".");
  }
  return bubbles;
}

Matrix unit_circle(std::size_t points) {
  Matrix normals(2 * points, 1);
  for (std::size_t i = 0; i < points; ++i) {
    const double angle =
        2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(points);
    normals(2 * i, 0) = std::cos(angle);
    normals(2 * i + 1, 0) = std::sin(angle);
  }
  return normals;
}

}  // namespace

Inclusions::Inclusions(DeviceContext& context, std::size_t bubbles, std::size_t points,
                       const std::string& method, Precision precision)
    : context_(context),
      bubbles_(checked(bubbles, points)),
      points_(points),
      plan_(plan_of(context.device(), method, bubbles * points, precision)),
      factors_(plan_.method->make(context, plan_.problem.size, plan_.problem.dense)),
      normals_(upload(context, unit_circle(points), precision)) {
  const std::size_t n = order(), element = element_size(precision);
  centres_ = context.allocate(2 * bubbles * element);
  radius_ = context.allocate(element);
  at_ = context.allocate(4 * n * element);
  system_ = context.allocate(n * (n + 1) * element);
  residual_ = context.allocate(n * element);
  context.queue().finish();
}

void Inclusions::use(const std::string& method) {
  const Plan plan = plan_of(context_.device(), method, order(), precision());
  factors_.reset();  // makes room
  factors_ = plan.method->make(context_, plan.problem.size, plan.problem.dense);
  plan_ = plan;
}

void Inclusions::place(std::size_t cell) {
  const auto side = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(bubbles_))));
  context_.run("place",
               {"simulation/bubble_matrix.cl", "place_bubbles", precision(), Storage::buffer,
                Texel::r, " -DGROUP_X=64 -DGROUP_Y=1"},
               {bubbles_}, centres_, static_cast<cl_int>(bubbles_), static_cast<cl_int>(side),
               static_cast<cl_int>(cell));
}

void Inclusions::build(double rise_speed) {
  const cl_int n = static_cast<cl_int>(order()), k = static_cast<cl_int>(points_);
  context_.run("place",
               {"simulation/bubble_matrix.cl", "place_points", precision(), Storage::buffer,
                Texel::r, " -DGROUP_X=64 -DGROUP_Y=1"},
               {order()}, centres_, normals_, radius_, at_, n, k);
  // On CPUs a work-item takes a whole column.
  const bool on_cpu = context_.device().type == "cpu";
  const std::string wide = " -DGROUP_X=1 -DGROUP_Y=16 -DLUGPU_WIDE -DVECTOR=" +
                           std::to_string(vector_width(context_.device(), precision()));
  const KernelId kernel = {"simulation/bubble_matrix.cl",
                           "bubble_matrix",
                           precision(),
                           Storage::buffer,
                           Texel::r,
                           on_cpu ? wide : " -DGROUP_X=64 -DGROUP_Y=4"};
  with_real(precision(), [&](auto real) {
    context_.run("matrix", kernel, {on_cpu ? 1 : order(), order() + 1}, at_, normals_, radius_,
                 system_, n, k, real(rise_speed));
  });
}

void Inclusions::solve() {
  factors_->take_columns(system_, 0, order() + 1);
  factors_->factor();
  q_ = cl::Buffer(factors_->solve());
}

void Inclusions::velocity(const Cells& cells, std::size_t cell, double rise_speed,
                          double tolerance) {
  const bool on_cpu = context_.device().type == "cpu";
  const std::size_t chunk = on_cpu ? 64 : 1;
  const cl_int n = static_cast<cl_int>(order());
  const std::string options = (on_cpu ? " -DGROUP_X=1" : " -DGROUP_X=32") +
                              std::string(" -DCHUNK=") + std::to_string(chunk);
  context_.run("check",
               {"simulation/bubble_velocity.cl", "bubble_residual", precision(), Storage::buffer,
                Texel::r, options},
               {ceiling(order(), chunk)}, system_, q_, residual_, n);
  const std::size_t b_bytes = order() * element_size(precision());
  context_.queue().enqueueCopyBuffer(system_, at_, order() * b_bytes, 0, b_bytes);
  with_real(precision(), [&](auto real) {
    context_.run("velocity",
                 {"simulation/bubble_velocity.cl", "bubble_velocity", precision(), Storage::buffer,
                  Texel::r, options},
                 {64}, q_, normals_, at_, residual_, cells.u, cells.v, cells.residual, cells.rhs,
                 cells.trouble, n, static_cast<cl_int>(points_), static_cast<cl_int>(cell),
                 static_cast<cl_int>(cells.columns), real(rise_speed), real(tolerance));
  });
}

}  // namespace lugpu

#include "simulation/bubble_cells.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/error.hpp"

namespace lugpu {
namespace {

constexpr std::size_t kPoints = 32;   // on each bubble
constexpr double kDilute = 0.05;      // void fraction where the density is 1
constexpr double kRise = 1;           // speed of a bubble by itself
constexpr double kStream = 0.5;       // largest speed of the liquid along an axis
constexpr double kThreshold = 0.02;   // a change of the density that is noticeable
constexpr double kPushRadius = 0.04;  // of the domain's longest side
constexpr std::size_t kMostCells = 1u << 20;

// The fastest that any bubble is taken to be; neighbours change the speed by a few per cent.
constexpr double kFastest = 1.5 * kRise + 2 * kStream;

std::size_t checked_side(std::size_t side) {
  if (side >= 2) return side;
  throw InputError("A bubbly flow needs at least 2 cells along x and y.");
}

const SimulationOptions& checked(const SimulationOptions& options) {
  if (options.size[2] != 1) throw InputError("The bubbly flow of cells has two dimensions.");
  if (checked_side(options.size[0]) * checked_side(options.size[1]) > kMostCells) {
    throw Unsupported("more than 2^20 cells of a bubbly flow, each with a dense system");
  }
  return options;
}

// A cloud in the lower left of the middle, about a sixth of the domain.
double cloud(double x, double y, double width, double height) {
  const double dx = (x / width - 0.5) / 0.22, dy = (y / height - 0.4) / 0.22;
  return std::max(0.0, 1 - dx * dx - dy * dy);
}

}  // namespace

BubbleCells::BubbleCells(DeviceContext& context, const SimulationOptions& options)
    : Physics(options),
      context_(context),
      columns_(checked(options).size[0]),
      rows_(options.size[1]),
      layout_{rows_, columns_, options.precision, Storage::buffer, Texel::r},
      h_(1 / static_cast<double>(std::max(columns_, rows_))),
      time_step_(options.time_step.value_or(h_ / kFastest / 2)),
      inclusions_(context, options.inclusions, kPoints, options.method, options.precision),
      vectors_(context, layout_, 1),
      n_(vectors_.take()),
      n_new_(vectors_.take()),
      u_(vectors_.take()),
      v_(vectors_.take()),
      stream_(vectors_.take()),
      residual_(vectors_.take()),
      rhs_(vectors_.take()),
      solved_(context.allocate(rows_ * columns_ * element_size(options.precision))),
      list_(context.zeros(1 + rows_ * columns_)),
      failed_(context.zeros(1)),
      monitor_(context, layout_) {
  if (!(time_step_ > 0 && time_step_ <= h_ / kFastest)) {
    throw InputError("The time step of this bubbly flow must be positive and at most " +
                     std::to_string(h_ / kFastest) + ", for a bubble to stay in the next cell.");
  }
  start();
  phases_ = {{"select", [this] { select(); }},
             {"cells", [this] { solve_cells(); }},
             {"advect", [this] { advect(); }}};
}

// Without neighbours bubbles rise with speed kRise.
void BubbleCells::start() {
  const double width = static_cast<double>(columns_), height = static_cast<double>(rows_);
  std::vector<double> density(rows_ * columns_), stream(density.size());
  for (std::size_t i = 0; i < density.size(); ++i) {
    const double x = static_cast<double>(i % columns_), y = static_cast<double>(i / columns_);
    density[i] = cloud(x + 0.5, y + 0.5, width, height);
    const double turn = 2 * std::numbers::pi;
    stream[i] = kStream / turn * std::min(width, height) * h_ * std::sin(turn * x / width) *
                std::cos(turn * y / height);
  }
  const std::vector<double> none(density.size(), 0.0), rise(density.size(), kRise);
  vectors_.upload(density, n_);
  vectors_.upload(stream, stream_);
  vectors_.upload(none, u_);
  vectors_.upload(rise, v_);
  context_.fill(solved_, 0, density.size() * element_size(layout_.precision));
  context_.queue().finish();
}

template <typename... Arguments>
void BubbleCells::run(const char* phase, const char* function, const Arguments&... arguments) {
  context_.run(phase, n_.kernel("simulation/bubble_density.cl", function), {columns_, rows_},
               arguments...);
}

// The list of cells is the only thing that is read back.
void BubbleCells::select() {
  context_.fill(list_, 0, sizeof(cl_int));
  with_real(layout_.precision, [&](auto real) {
    run("select", "select_cells", n_, solved_, residual_, rhs_, list_,
        static_cast<cl_int>(columns_), static_cast<cl_int>(rows_), real(kThreshold));
  });
  cl_int count = 0;
  context_.read_back("select", list_, 0, sizeof count, &count);
  cells_.resize(static_cast<std::size_t>(count));
  systems_ = cells_.size();
  if (count == 0) return;
  context_.read_back("select", list_, sizeof count, cells_.size() * sizeof(cl_int), cells_.data());
}

void BubbleCells::solve_cells() {
  for (const int cell : cells_) {
    const auto which = static_cast<std::size_t>(cell);
    with_real(layout_.precision, [&](auto real) {
      context_.run("place", n_.kernel("simulation/bubble_density.cl", "bubble_radius"), {64},
                   solved_, inclusions_.radius(), cl_int{cell}, real(kDilute),
                   static_cast<cl_int>(inclusions_.order() / kPoints));
    });
    inclusions_.place(which);
    inclusions_.build(kRise);
    inclusions_.solve();
    inclusions_.velocity({u_, v_, residual_, rhs_, failed_, columns_}, which, kRise,
                         rule_of(options_).tolerance);
  }
  monitor_.before(rhs_);
  monitor_.after(residual_);
  if (cells_.empty() || !trouble().empty()) return;
  cl_int failed = 0;
  context_.read_back("velocity", failed_, 0, sizeof failed, &failed);
  if (failed == 0) return;
  const auto cell = static_cast<std::size_t>(failed - 1);
  note("The system of cell (" + std::to_string(cell % columns_) + ", " +
       std::to_string(cell / columns_) + ") was not solved to the tolerance");
}

void BubbleCells::advect() {
  with_real(layout_.precision, [&](auto real) {
    run("advect", "advect_density", n_, u_, v_, stream_, n_new_, static_cast<cl_int>(columns_),
        static_cast<cl_int>(rows_), real(h_), real(time_step_));
  });
  std::swap(n_, n_new_);
}

Drawn BubbleCells::drawn() {
  return {&n_, {columns_, rows_, 1}, 0, 1, ColourMap::sequential};
}

void BubbleCells::push_along(const std::array<double, 3>& from, const std::array<double, 3>& to) {
  with_real(layout_.precision, [&](auto real) {
    run("push", "add_bubbles", n_, n_new_, static_cast<cl_int>(columns_),
        static_cast<cl_int>(rows_), real(from[0]), real(from[1]), real(to[0]), real(to[1]),
        real(kPushRadius / h_));
  });
  std::swap(n_, n_new_);
}

void BubbleCells::prepare() {
  inclusions_.use(options_.method);
}

std::vector<double> BubbleCells::density() {
  return vectors_.download(n_, rows_ * columns_);
}

std::vector<std::vector<double>> BubbleCells::velocity() {
  return {vectors_.download(u_, rows_ * columns_), vectors_.download(v_, rows_ * columns_)};
}

}  // namespace lugpu

#include "dense/resident_full.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "dense/matrix_units.hpp"
#include "dense/pivot_rules.hpp"
#include "dense/proof.hpp"
#include "matrix/random.hpp"

namespace lugpu {
namespace {

constexpr std::size_t kColumns = 8;                   // of a work-group
constexpr std::size_t kMostGroups = 128;              // MOST_GROUPS of gpu/resident_exchange.clh
constexpr std::size_t kProposals = 32 * kMostGroups;  // PROPOSALS: 64-bit words

/// The work-items of a work-group, each with a row.
std::size_t items_for(std::size_t n) {
  return n <= 256 ? 256 : n <= 512 ? 512 : 1024;
}

std::size_t most_order(const Device& device) {
  return std::min<std::size_t>(device.compute_units, kMostGroups) * kColumns;
}

std::uint64_t message_bytes(std::size_t n, Precision precision) {
  return kProposals * sizeof(cl_ulong) + std::uint64_t{n} * items_for(n) * element_size(precision);
}

/// A random n x n matrix: P A Q v against L (U v) for one v.
bool solves_test_system(DeviceContext& context, const DenseOptions& options, std::size_t n) {
  const Size size = Size::square(n, 0);
  const Matrix a = random_matrix(n, n, 1);
  const auto surface = [&] {
    return Surface(context, n, n, options.precision, options.storage, options.texel);
  };
  PingPong surfaces = {surface(), surface()};
  import_columns(context, upload(context, a, options.precision), n, surfaces.src, 0);
  Pivoting pivoting(context, size, options);
  if (!ResidentFull(context, size, options).factor(surfaces, pivoting)) return false;
  const Outcome outcome = pivoting.outcome();
  if (outcome.info != 0) return false;
  const Matrix lu =
      download(context, export_columns(context, surfaces.src, 0, n), n, n, options.precision);
  const auto products = product_errors(a, lu, outcome.ipiv, outcome.jpiv);
  const double eps = options.precision == Precision::double_precision ? 0x1p-53 : 0x1p-24;
  const double limit = 30 * static_cast<double>(n) * eps;
  return products && std::ranges::all_of(products->errors, [&](double e) { return e <= limit; });
}

}  // namespace

bool ResidentFull::fits(const Device& device, const Size& size, const DenseOptions& options) {
  const Search search = rule_of(options.pivot).search;
  return device.type == "gpu" && options.schedule == Schedule::fused && !options.perturb &&
         (search == Search::matrix || search == Search::walk) && size.n > 0 &&
         size.n <= most_order(device) && items_for(size.n) <= device.max_work_group;
}

// The largest system with as many work-items in a work-group.
bool ResidentFull::suits(DeviceContext& context, const Size& size, const DenseOptions& options) {
  if (!fits(context.device(), size, options)) return false;
  const std::size_t items = items_for(size.n);
  const std::string kernels =
      std::string("resident ") + (context.settings().vendor ? "" : "portable ") +
      name(options.precision) + " " + name(options.storage) + " " + name(options.texel) + " " +
      name(options.pivot) + " " + std::to_string(items);
  return proven(context, kernels, [&] {
    return solves_test_system(context, options, std::min(items, most_order(context.device())));
  });
}

std::uint64_t ResidentFull::workspace(const Device& device, const Size& size,
                                      const DenseOptions& options) {
  if (!fits(device, size, options)) return 0;
  return message_bytes(size.n, options.precision) + size.n * sizeof(cl_int2) + sizeof(cl_int);
}

ResidentFull::ResidentFull(DeviceContext& context, const Size& size, const DenseOptions& options)
    : context_(context),
      size_(size),
      options_(options),
      messages_(context.allocate(message_bytes(size.n, options.precision))),
      slots_(context.allocate(size.n * sizeof(cl_int2))),
      status_(context.zeros(1)) {}

bool ResidentFull::factor(PingPong& surfaces, Pivoting& pivoting) {
  const std::size_t n = size_.n, items = items_for(n);
  const cl_int order = static_cast<cl_int>(n);
  std::string build_options = " -DITEMS=" + std::to_string(items);
  if (rule_of(options_.pivot).search == Search::walk) build_options += " -DLUGPU_ROOK";
  if (context_.settings().vendor && has_matrix_units(context_.device(), options_.precision)) {
    build_options += " -DLUGPU_NVIDIA";
  }
  const auto kernel = [&](const char* function) {
    return surfaces.src.kernel("gpu/resident_full.cl", function, build_options);
  };
  context_.fill(messages_, 0xff, message_bytes(n, options_.precision));
  context_.fill(status_, 0, sizeof(cl_int));
  context_.run("panel", kernel("factor_columns"), {ceiling(n, kColumns) * items}, surfaces.src,
               surfaces.dst, order, messages_, pivoting.places(), pivoting.values(), slots_,
               status_);
  context_.run("interchange", kernel("place_factors"), {ceiling(n, surfaces.src.pack()), n},
               surfaces.dst, surfaces.src, order, messages_, pivoting.values(), slots_, status_);
  // Both load and store each element once.
  context_.timeline().add_bytes(4 * std::uint64_t{n} * n * element_size(options_.precision));
  cl_int status = 0;
  context_.read_back("panel", status_, 0, sizeof status, &status);
  return status == 0;
}

}  // namespace lugpu

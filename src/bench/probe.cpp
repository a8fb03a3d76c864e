#include "bench/probe.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "base/error.hpp"
#include "bench/method_contender.hpp"
#include "bench/statistics.hpp"
#include "bench/wording.hpp"
#include "matrix/generate.hpp"
#include "opencl/opencl.hpp"
#include "opencl/transfer.hpp"
#include "solve/memory.hpp"
#include "solve/solve.hpp"

namespace lugpu {
namespace {

constexpr int kRuns = 5;

// Device seconds of what `enqueue` enqueues.
template <typename Enqueue>
double device_time(DeviceContext& context, Enqueue&& enqueue) {
  context.set_profiling(true);
  context.timeline().clear();
  enqueue();
  context.queue().finish();
  const double seconds = context.timeline().span();
  context.set_profiling(false);
  context.timeline().clear();
  return seconds;
}

// The best of a few runs, after one that warms up.
template <typename Enqueue>
double best_time(DeviceContext& context, Enqueue&& enqueue) {
  enqueue();
  double best = device_time(context, enqueue);
  for (int run = 1; run < kRuns; ++run) best = std::min(best, device_time(context, enqueue));
  return best;
}

// Of common/ceilings.cl: at least 32 bytes, so that a GPU has as many chains as its latency needs.
std::size_t chains(const DeviceContext& context, Precision precision) {
  return std::max(vector_width(context.device(), precision), 32 / element_size(precision));
}

KernelId ceiling_kernel(const DeviceContext& context, const char* function, Precision precision) {
  const std::string options = " -DVECTOR=" + std::to_string(chains(context, precision)) +
                              (context.device().type == "cpu" ? " -DLUGPU_CPU" : "");
  return {"common/ceilings.cl", function, precision, Storage::buffer, Texel::r, options};
}

// Of each of two buffers, between which copy_rate() copies.
std::uint64_t bytes_to_copy(const Device& device) {
  constexpr std::uint64_t kGpuBytes = std::uint64_t{1} << 32;
  constexpr std::uint64_t kCpuBytes = std::uint64_t{1} << 27;
  const std::uint64_t wanted = device.type == "cpu" ? kCpuBytes : kGpuBytes;
  return std::min({wanted, device.max_allocation, device.global_memory / 4});
}

double copy_rate(DeviceContext& context) {
  const Device& device = context.device();
  // A piece of a work-item: a vector register of a CPU, or four times four floats.
  const std::size_t piece =
      device.type == "cpu" ? 4 * chains(context, Precision::single_precision) : 16;
  const std::uint64_t bytes = bytes_to_copy(device) / piece * piece;
  const cl::Buffer source = context.allocate(bytes);
  const cl::Buffer target = context.allocate(bytes);
  context.queue().enqueueFillBuffer(source, cl_float{1.5f}, 0, bytes);
  const KernelId kernel = ceiling_kernel(context, "copy_bytes", Precision::single_precision);
  const double seconds = best_time(context, [&] {
    const std::uint64_t pieces = bytes / piece;
    context.run("copy", kernel, {device.type == "cpu" ? pieces : ceiling(pieces, 4)}, source,
                target, static_cast<cl_ulong>(pieces));
  });
  return 2 * static_cast<double>(bytes) / seconds;
}

double multiply_add_rate(DeviceContext& context, Precision precision) {
  const std::size_t vector = chains(context, precision), independent = 8 * vector;  // multiply_add
  // Of each chain; fewer on a device that would take seconds for them.
  constexpr cl_int kMost = 1024;
  constexpr double kLongEnough = 0.02;
  cl_int count = 16;
  const std::size_t items = context.device().compute_units * std::size_t{2048};
  const cl::Buffer result = context.allocate(items * vector * element_size(precision));
  const KernelId kernel = ceiling_kernel(context, "multiply_add", precision);
  const auto enqueue = [&] { context.run("multiply-add", kernel, {items}, result, count); };
  while (count < kMost && device_time(context, enqueue) < kLongEnough) count *= 4;
  const double seconds = best_time(context, enqueue);
  return static_cast<double>(items * independent) * count / seconds;
}

// Of the first row of methods(), the fastest one. On a GPU as deep as those of large matrices: the
// shallower ones of this order are no ceiling for a matrix in windows.
std::optional<double> products_rate(DeviceContext& context, Precision precision) {
  std::optional<double> rate;
  try {
    const Device& device = context.device();
    const Method& method = methods().front();
    Problem problem;
    problem.size = Size::square(device.type == "cpu" ? 1024 : 4096, 1);
    problem.dense.precision = precision;
    problem.dense.storage = automatic_storage(device);
    const std::size_t nb = device.type == "cpu" ? 0 : 768;
    problem = completed(problem, method, device, std::nullopt, nb, {});
    require_possible(device, method, problem);
    const Matrix a = random_matrix(problem.size.n, problem.size.n, 1);
    const Matrix b(problem.size.n, 1);
    MethodContender contender(context, method, problem, 1);
    contender.upload(a, b);
    contender.factor();
    const std::uint64_t multiply_adds = contender.multiply();  // builds and warms up
    if (multiply_adds == 0) return std::nullopt;
    double best = INFINITY;
    for (int run = 0; run < kRuns; ++run) {
      best = std::min(best, timed([&] { contender.multiply(); }));
    }
    rate = static_cast<double>(multiply_adds) / best;
  } catch (const std::exception&) {
    // Its cases say why it cannot run; the other methods do not need it.
  }
  context.timeline().clear();
  return rate;
}

}  // namespace

double host_bytes_of_ceilings(const Device& device) {
  const MemoryNeed buffers{.device = 2 * static_cast<double>(bytes_to_copy(device))};
  return kBytesOfProcess + all_on_host(device, buffers);
}

Ceilings measure_ceilings(DeviceContext& context, const std::set<Precision>& precisions) {
  Ceilings ceilings;
  ceilings.copy_bytes_per_s = copy_rate(context);
  for (const Precision precision : precisions) {
    if (precision == Precision::double_precision && !context.device().double_precision) continue;
    ceilings.multiply_adds_per_s[precision] = multiply_add_rate(context, precision);
    if (const auto rate = products_rate(context, precision)) {
      ceilings.products_per_s[precision] = *rate;
    }
  }
  return ceilings;
}

std::vector<double> time_updates(DeviceContext& context, std::size_t n, Precision precision,
                                 Storage storage, UpdateVariant variant, int runs) {
  PingPong surfaces{Surface(context, n, n, precision, storage),
                    Surface(context, n, n, precision, storage)};
  // Small elements stay small without the division by the pivot.
  Matrix a = random_matrix(n, n, 1);
  for (double& value : a.values()) value *= 1e-3;
  const cl::Buffer host = upload(context, a, precision);
  const bool by_launch = variant == UpdateVariant::launch_index;
  const std::string options = by_launch                                ? " -DLUGPU_LAUNCH_INDEX"
                              : variant == UpdateVariant::fixed_places ? " -DLUGPU_FIXED_PLACES"
                                                                       : "";
  std::vector<double> times;
  for (int run = 0; run <= runs; ++run) {
    import_columns(context, host, n, surfaces.src, 0);
    import_columns(context, host, n, surfaces.dst, 0);
    context.queue().finish();
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t k = 0; k + 1 < n; ++k) {
      const std::size_t offset = by_launch ? k + 1 : 0;
      context.run("update", surfaces.src.kernel("dense/passes.cl", "update_trailing", options),
                  {n - k - 1, n - k - 1, offset, offset}, surfaces.src, surfaces.dst,
                  static_cast<cl_int>(k), static_cast<cl_int>(n));
      surfaces.swap();
    }
    context.queue().finish();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    if (run > 0) times.push_back(seconds.count());  // the first run warms up
  }
  context.timeline().clear();
  return times;
}

std::string impossible(const std::function<void()>& action) {
  try {
    action();
  } catch (const Unsupported& error) {
    return words(error);
  } catch (const cl::Error& error) {
    if (!is_out_of_memory(error.err())) throw;
    return describe(error) + ".";
  } catch (const std::bad_alloc&) {
    return "The host does not have enough memory.";
  }
  return "";
}

}  // namespace lugpu

// Measures cases: prepare, upload, warm up, time, check.
#pragma once

#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "base/other_load.hpp"
#include "baselines/baselines.hpp"
#include "bench/energy.hpp"
#include "bench/result.hpp"
#include "bench/samples.hpp"
#include "opencl/context.hpp"
#include "solve/solve.hpp"

namespace lugpu {

/// Up to this order the host multiplies the factors to check them, which takes two work matrices,
/// and solves with them for the condition; for more that would take it longer than a device takes
/// to factor.
constexpr std::size_t kMostOrderOfProduct = 20000;

/// The samples that an earlier run of a case took before it was stopped.
struct EarlierSamples {
  std::vector<double> times_s;      ///< those that it kept, at least one
  std::size_t count;                ///< of all that it took
  std::optional<int> threads;       ///< with which they were taken, on the host,
  std::vector<int> threads_to_try;  ///< of these
};

/// How long and how often.
struct Effort {
  int warmup = 1;                ///< untimed factorizations first
  int runs = 5;                  ///< timed factorizations, at least; 0 for the profiled one alone
  double min_time_s = 0.2;       ///< and at least this long in all; see kMostSamples
  double max_time_s = INFINITY;  ///< and at most this long, though it be fewer, but one at least
  std::optional<double> noise =
      std::nullopt;                ///< and until uncertainty() is at most this, though it be more
  double noise_time_s = INFINITY;  ///< but for that no longer than this in all
  double timeout_s = 20;  ///< for the whole case; fewer runs, or `skipped`, where it is not enough
  double turn_s = 0.02;   ///< a sweep changes cases after this long and at least one sample
  bool build_first = true;    ///< every kernel, so that nothing timed waits for a compiler
  bool check_factors = true;  ///< factor_ratio too: 2 n^3 on the host, or an inverse on the device
  std::size_t most_order_of_product = kMostOrderOfProduct;  ///< smaller in tests
  bool time_products = false;                               ///< Contender::multiply() too
  bool trace = false;                                       ///< Result::commands and parts too
};

/// A X = B by a method on a device or by a baseline, in pieces, so that the samples of several
/// cases can be taken in turn: other load on the machine then affects all of them equally.
/// problem.size.n and nrhs must be those of a (n x n) and b (n x nrhs), which must outlive the
/// measurement. A breakdown or a failed check is a status of the result. Every piece throws
/// TimedOut when the case has used up its time, Unsupported, InputError (a value overflows the
/// precision) and cl::Error; after that the measurement must not be used.
class Measurement {
 public:
  /// Builds the kernels, uploads, warms up. Of a case with threads to try, finds the fastest.
  Measurement(DeviceContext& context, const Method& method, const Case& what, const Matrix& a,
              const Matrix& b, const Effort& effort);
  /// context: the device for a rival on a device, null on the host. A library cannot be stopped: a
  /// case that would take longer than the timeout, by a cubic estimate from a smaller system, is
  /// `skipped`. Throws Unsupported as DeviceRival::require, and what the library's solver throws.
  Measurement(const Baseline& baseline, DeviceContext* context, const Case& what, const Matrix& a,
              const Matrix& b, const Effort& effort);

  /// Takes over the samples of an earlier run, and its number of threads, before the first
  /// sample().
  void resume(const EarlierSamples& earlier);

  /// The case as it is sampled: with the number of the host's threads that is the fastest.
  const Case& what() const { return result_.what; }
  /// Whether the effort asks for one more timed factorization.
  bool wants_sample() const;
  /// One timed factorization; its seconds.
  double sample();
  /// One more factorization with the device's own times, then solves and checks. Only once, as the
  /// last piece.
  Result finish();

 private:
  class Turn;

  void warm_up();
  void find_threads();
  void conclude();

  DeviceContext* context_;          // null on the host
  const Method* method_ = nullptr;  // null for a baseline
  FactoredSystem system_;
  Effort effort_;
  std::unique_ptr<Contender> contender_;  // null for a baseline that is skipped
  Result result_;
  Samples samples_{effort_};
  std::optional<OtherLoad> other_load_;  // since the first sample
  EnergyCounter energy_;                 // the same
  double joules_ = 0;                    // of all samples that it took itself,
  int taken_ = 0;                        // so many
  double used_s_ = 0;                    // of the timeout
  int pace_ = 1;                         // Deadline::pace()
};

/// The pieces of one case, one after the other.
Result measure(DeviceContext& context, const Method& method, const Case& what, const Matrix& a,
               const Matrix& b, const Effort& effort);

}  // namespace lugpu

// The benchmark of batches: lugpu's and all rivals, those of CUDA by the libraries of
// cuda_stub.cpp.
#include "bench/batch_bench.hpp"

#include <cstdlib>

#include "base/error.hpp"
#include "opencl_fixture.hpp"

namespace lugpu {
namespace {

BatchCase case_of(Pivot pivot, Precision precision, std::size_t n) {
  BatchCase what;
  what.implementation = "lugpu";
  what.routine = kBatchRoutine;
  what.pivot = pivot;
  what.precision = precision;
  what.size = {19, n};
  what.nrhs = 2;
  what.matrix = pivot == Pivot::none ? "dominant" : "random";
  what.seed = 3;
  return what;
}

Effort little() {
  Effort effort;
  effort.runs = 2;
  effort.min_time_s = 0;
  return effort;
}

template <typename T>
void expect_measured(const BatchCase& what,
                     const std::function<std::unique_ptr<BatchContender<T>>()>& make) {
  const BatchSystem<T> system(what);
  const BatchResult result = measure_batch<T>(what, system, make, little());
  EXPECT_EQ(result.status, RunStatus::ok) << result.reason;
  EXPECT_EQ(result.times_s.size(), 2U);
  ASSERT_TRUE(result.solve_ratio);
  EXPECT_LT(*result.solve_ratio, 30);
  EXPECT_GT(*result.solve_ratio, 0);
}

TEST(BatchBench, MeasuresBatchesOfEveryPivoting) {
  for (const Pivot pivot : {Pivot::none, Pivot::partial, Pivot::full}) {
    const BatchCase single = case_of(pivot, Precision::single_precision, 9);
    expect_measured<float>(single, [&] { return make_batch_lu<float>(shared_context(), single); });
    if (!shared_context().device().double_precision) continue;
    const BatchCase both = case_of(pivot, Precision::double_precision, 9);
    expect_measured<double>(both, [&] { return make_batch_lu<double>(shared_context(), both); });
  }
}

TEST(BatchBench, MeasuresEveryRival) {
  const Device& device = shared_context().device();
  setenv("LUGPU_CUDA_STUB", device.name.c_str(), 1);
  for (const BatchRival& rival : batch_rivals()) {
    SCOPED_TRACE(rival.name);
    for (const std::size_t n : {1, 5, 32}) {
      const BatchSize size{19, n};
      rival.require(device, size, Precision::double_precision);
      expect_measured<float>(case_of(rival.pivot, Precision::single_precision, n),
                             [&] { return rival.make_single(device, size); });
      expect_measured<double>(case_of(rival.pivot, Precision::double_precision, n),
                              [&] { return rival.make_double(device, size); });
    }
  }
  EXPECT_THROW(
      find_batch_rival("matinv-batched").require(device, {10, 33}, Precision::single_precision),
      Error);
  unsetenv("LUGPU_CUDA_STUB");
  EXPECT_THROW(
      find_batch_rival("getrf-batched").require(device, {10, 3}, Precision::single_precision),
      Error);
}

// Factors that are wrong in one member of the batch.
class WrongContender : public BatchContender<double> {
 public:
  void upload(const Batch<const double>&) override {}
  void reset() override {}
  void factor() override {}
  void solve(const Batch<const double>& b, const Batch<double>& x) override {
    for (std::size_t i = 0; i < b.size(); ++i) {
      for (std::size_t j = 0; j < b.columns(); ++j) {
        for (std::size_t k = 0; k < b.rows(); ++k) {
          x[i](k, j) = b[i](k, j) / (i == 7 ? 1.001 : 1.0);
        }
      }
    }
  }
};

TEST(BatchBench, ChecksEveryMember) {
  BatchCase what = case_of(Pivot::partial, Precision::double_precision, 4);
  BatchSystem<double> system(what);
  std::fill(system.a.begin(), system.a.end(), 0);
  for (std::size_t m = 0; m < what.size.count; ++m) {
    for (std::size_t i = 0; i < 4; ++i) system.a[m * 16 + i * 5] = 1;
  }
  const BatchResult result = measure_batch<double>(
      what, system, [] { return std::make_unique<WrongContender>(); }, little());
  EXPECT_EQ(result.status, RunStatus::failed);
  EXPECT_EQ(result.failed, 1U);
  EXPECT_TRUE(to_json(result)["median_s"].is_null());
}

TEST(BatchBench, SaysWhatDidNotRun) {
  const BatchCase what = case_of(Pivot::partial, Precision::single_precision, 4);
  const BatchResult result = measure_batch<float>(
      what, BatchSystem<float>(what),
      []() -> std::unique_ptr<BatchContender<float>> { throw Unsupported("Not here."); }, little());
  EXPECT_EQ(result.status, RunStatus::unsupported);
  EXPECT_EQ(result.reason, "Not here.");
}

}  // namespace
}  // namespace lugpu

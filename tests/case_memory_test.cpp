#include "bench/case_memory.hpp"

#include <malloc.h>

#include <fstream>
#include <sstream>

#include "base/error.hpp"
#include "base/host_memory.hpp"
#include "bench/sweep.hpp"
#include "opencl_fixture.hpp"

namespace lugpu {
namespace {

void expect_mentions(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    EXPECT_NE(text.find(part), std::string::npos) << '"' << part << "\" in: " << text;
  }
}

struct Kind {
  const char* routine;
  Pivot pivot = Pivot::partial;
  Arithmetic arithmetic = Precision::double_precision;
  Storage storage = Storage::buffer;
  std::size_t n = 1200;
  std::size_t nrhs = 1;
};

void PrintTo(const Kind& kind, std::ostream* out) {
  std::string text = kind.routine;
  std::replace(text.begin(), text.end(), '-', '_');
  const bool mixed = kind.arithmetic.refine == Refine::mixed;
  *out << text << '_' << name(kind.pivot) << '_'
       << (mixed ? "mixed" : name(kind.arithmetic.precision)) << '_' << name(kind.storage)
       << (kind.nrhs > 1 ? "_columns" : "");
}

bool is_method(const std::string& routine) {
  return std::ranges::any_of(methods(), [&](const Method& m) { return routine == m.name; });
}

/// One run, and no more work than a result needs.
constexpr Effort kEffort = {
    .warmup = 0, .runs = 1, .min_time_s = 0, .timeout_s = 600, .time_products = true};

SweepPlan plan_of(const Kind& kind) {
  SweepPlan plan;
  plan.sizes = {kind.n};
  (is_method(kind.routine) ? plan.methods : plan.baselines) = {kind.routine};
  plan.pivots = {kind.pivot};
  plan.precisions = {kind.arithmetic};
  plan.storages = {kind.storage};
  plan.nrhs = kind.nrhs;
  plan.effort = kEffort;
  return plan;
}

Case case_of(const Kind& kind, const Device& device) {
  return cases_of(plan_of(kind), {device}).at(0);
}

/// Null for a rival on the host.
const Device* device_of(const Case& what, const Device& device) {
  return what.device ? &device : nullptr;
}

std::vector<Kind> kinds() {
  constexpr Precision kSingle = Precision::single_precision, kDouble = Precision::double_precision;
  const Arithmetic mixed(kSingle, Refine::mixed);
  return {{.routine = "lu-blocked", .arithmetic = kDouble},
          {.routine = "lu-blocked", .arithmetic = kSingle},
          {.routine = "lu-blocked", .arithmetic = mixed, .n = 2600},
          {.routine = "lu-blocked", .arithmetic = kSingle, .storage = Storage::image},
          {.routine = "lu-blocked", .arithmetic = kDouble, .nrhs = 1200},
          {.routine = "lu", .pivot = Pivot::full, .arithmetic = kSingle, .storage = Storage::image},
          {.routine = "lu", .arithmetic = mixed, .n = 2000},
          {.routine = "gauss-jordan", .arithmetic = kDouble},
          {.routine = "gauss-jordan", .arithmetic = kSingle},
          {.routine = "getrf", .arithmetic = kDouble},
          {.routine = "getrf", .arithmetic = kSingle},
          {.routine = "getc2", .pivot = Pivot::full, .arithmetic = kSingle}};
}

/// The most bytes that the process had since forget_peak().
double peak() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    double kilobytes = 0;
    if (std::sscanf(line.c_str(), "VmHWM: %lf kB", &kilobytes) == 1) return 1024 * kilobytes;
  }
  return 0;
}

void forget_peak() {
  std::ofstream("/proc/self/clear_refs") << 5;
}

Result run(const Kind& kind, std::vector<DeviceContext>& contexts) {
  Result result;
  const SweepPlan plan = plan_of(kind);
  run_sweep(plan, cases_of(plan, {contexts[0].device()}), contexts,
            {.wanted = [](const Case&) { return true; },
             .working = [](const Case&) {},
             .done = [&](const Result& one, std::size_t) { result = one; }});
  return result;
}

/// Within a fifth of what was predicted.
bool is_near(double bytes, double expected) {
  return std::abs(bytes / expected - 1) <= 0.2;
}

class CaseMemoryTest : public testing::TestWithParam<Kind> {};

/// What the process has more than before. The first run, of a smaller system, compiles the kernels.
TEST_P(CaseMemoryTest, PeakIsWhatIsPredicted) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer takes memory of its own";
#endif
  const Device& device = shared_context().device();
  if (device.type != "cpu") GTEST_SKIP() << "the memory of a device of its own is not the host's";
  mallopt(M_MMAP_THRESHOLD, 1 << 20);  // what is free is given back, as of large systems
  std::vector<DeviceContext> contexts;
  contexts.emplace_back(device);
  Kind small = GetParam();
  small.n = 300;
  const Result first = run(small, contexts);
  ASSERT_STREQ(name(first.status), "ok") << first.reason;
  const Case what = case_of(GetParam(), device);
  const double expected =
      memory_alone(device_of(what, device), what, kEffort).host - kBytesOfProcess;
  // PoCL's threads release a buffer when they come to it, which can be before or after the peak.
  double taken = 0;
  for (int attempt = 0; attempt < 3 && !is_near(taken, expected); ++attempt) {
    malloc_trim(0);
    const double before = resident_memory();
    forget_peak();
    if (peak() > 1.05 * before) GTEST_SKIP() << "Linux does not forget the peak here";
    run(GetParam(), contexts);
    taken = peak() - before;
  }
  EXPECT_PRED2(is_near, taken, expected);
}

/// The largest n that is named fits, and the next one does not.
TEST_P(CaseMemoryTest, LargestOrderIsThat) {
  constexpr double kHost = 3e9;
  Device device = shared_context().device();
  device.image_max_width = device.image_max_height = 20000;  // PoCL's depend on its memory
  Case what = case_of(GetParam(), device);
  const Device* const own = device_of(what, device);
  const std::size_t largest = largest_order(own, what, kEffort, kHost);
  EXPECT_GT(largest, 3000u);
  EXPECT_LT(largest, 20000u);
  what.problem.size = Size::square(largest, what.problem.size.nrhs);
  EXPECT_NO_THROW(require_possible(own, what, kEffort, kHost));
  what.problem.size = Size::square(largest + 1, what.problem.size.nrhs);
  try {
    require_possible(own, what, kEffort, kHost);
    ADD_FAILURE() << largest + 1 << " is said to fit";
  } catch (const Unsupported& error) {
    expect_mentions(error.what(), {"order " + std::to_string(largest + 1), " 3 GB are there",
                                   "the largest n that fits is " + std::to_string(largest) + "."});
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, CaseMemoryTest, testing::ValuesIn(kinds()),
                         testing::PrintToStringParamName());

/// A GPU that exists by name alone.
Device gpu(double bytes) {
  Device device;
  device.name = "Ada";
  device.type = "gpu";
  device.index = 0;
  device.compute_units = 100;
  device.double_precision = true;
  device.global_memory = static_cast<std::uint64_t>(bytes);
  device.max_allocation = device.global_memory;
  return device;
}

TEST(CaseMemory, OfADeviceOfItsOwn) {
  const Device device = gpu(40e9);
  const Case what = case_of({.routine = "lu-blocked", .n = 10000}, device);
  const MemoryNeed need = memory_alone(&device, what, kEffort);
  // A; L and U, and their product: on the host. A, a copy, the transpose; A on its way.
  EXPECT_NEAR(need.host / 0.8e9, 3, 0.3);
  EXPECT_NEAR(need.device / 0.8e9, 3, 0.3);
  EXPECT_NO_THROW(require_possible(&device, what, kEffort, 3e9));
  EXPECT_THROW(require_possible(&device, what, kEffort, 2e9), Unsupported);
}

TEST(CaseMemory, WithoutRoomForIt) {
  Device device = gpu(2.2e9);  // for A twice, but not three times
  const Case what = case_of({.routine = "lu-blocked", .n = 10000}, device);
  EXPECT_EQ(bytes_of_copy(device, find_method("lu-blocked"), what.problem), 0);
  device = gpu(3.2e9);
  EXPECT_NEAR(bytes_of_copy(device, find_method("lu-blocked"), what.problem), 0.8e9, 1e6);
}

TEST(CaseMemory, OutOfCoreTheFactorsAreOnTheHost) {
  const Device device = gpu(1e9);
  const Case what = case_of({.routine = "lu-blocked", .n = 24000}, device);
  ASSERT_GT(what.windows.value_or(1), 1u);
  const MemoryNeed need = memory_alone(&device, what, kEffort);
  const double matrix = 24000. * 24000 * 8;
  EXPECT_NEAR(need.host / matrix, 3,
              0.2);  // A, L and U, and these for the check, without a product
  EXPECT_LE(need.device, 1e9);
}

/// That of the device is named too.
TEST(CaseMemory, TheDeviceLimitsTheLargestOrder) {
  const Device device = gpu(1e9);
  const Case what = case_of({.routine = "lu", .n = 10000}, device);
  const std::size_t largest = largest_order(&device, what, kEffort, 1e15);
  EXPECT_NEAR(static_cast<double>(largest), 7500, 500);  // two surfaces and a piece
  try {
    require_possible(&device, what, kEffort, 1e15);
    ADD_FAILURE() << "it is said to fit";
  } catch (const Unsupported& error) {
    expect_mentions(error.what(), {"does not fit on Ada",
                                   "the largest n that fits is " + std::to_string(largest) + "."});
  }
}

/// What runs at no n says why, and no n.
TEST(CaseMemory, ThereNeedNotBeALargestOrder) {
  Device device = gpu(1e9);
  device.double_precision = false;
  const Case what = case_of({.routine = "lu", .n = 100}, device);
  EXPECT_EQ(largest_order(&device, what, kEffort, 1e15), 0u);
  try {
    require_possible(&device, what, kEffort, 1e15);
    ADD_FAILURE() << "it is said to run";
  } catch (const Unsupported& error) {
    EXPECT_EQ(std::string(error.what()).find("largest n"), std::string::npos) << error.what();
  }
}

TEST(MemoryInTurn, CountsSystemsOnceAndChecksOfOne) {
  const Device device = gpu(40e9);
  const Case what = case_of({.routine = "lu-blocked", .n = 5000}, device);
  const auto [held, checks] = memory_of_case(&device, what, kEffort);
  MemoryInTurn two(kEffort);
  two.add(what, &device, 1e15);
  const MemoryNeed alone = two.need();
  two.add(what, &device, 1e15);
  EXPECT_DOUBLE_EQ(two.need().host, alone.host + held.host);
  EXPECT_DOUBLE_EQ(two.need().device, alone.device + held.device);
  Case other = what;
  other.matrix = "dominant";
  two.add(other, &device, 1e15);
  EXPECT_DOUBLE_EQ(two.need().host, alone.host + 2 * held.host + 5000. * 5001 * 8);
}

TEST(MemoryInTurn, HasRoomForWhatFits) {
  const Device device = gpu(40e9);
  const Kind rival = {.routine = "getrf", .n = 5000};
  const Case what = case_of(rival, device);
  const auto [held, checks] = memory_of_case(nullptr, what, kEffort);
  const double alone = memory_alone(nullptr, what, kEffort).host;
  MemoryInTurn together(kEffort);
  EXPECT_TRUE(together.has_room_for(what, nullptr, 0));
  together.add(what, nullptr, alone);
  EXPECT_TRUE(together.has_room_for(what, nullptr, alone + held.host));
  EXPECT_FALSE(together.has_room_for(what, nullptr, 0.99 * (alone + held.host)));
  EXPECT_FALSE(
      together.has_room_for(case_of({.routine = "getrf", .n = 4999}, device), nullptr, 1e15));
  // What is refused takes nothing.
  const Case large = case_of({.routine = "gauss-jordan", .n = 5000}, gpu(1e8));
  const Device small = gpu(1e8);
  EXPECT_TRUE(together.has_room_for(large, &small, alone));
}

TEST(MemoryInTurn, OnTheSmallestDevice) {
  const Device device = gpu(2e9);
  const Case what = case_of({.routine = "lu-blocked", .n = 5000}, device);
  const auto [held, checks] = memory_of_case(&device, what, kEffort);
  MemoryInTurn together(kEffort);
  std::size_t count = 0;
  for (; together.has_room_for(what, &device, 1e15); ++count) together.add(what, &device, 1e15);
  const double most = 0.9 * 2e9;
  EXPECT_LE(together.need().device, most);
  EXPECT_GT(together.need().device + held.device, most);
  EXPECT_GT(count, 1u);
}

}  // namespace
}  // namespace lugpu

#include <chrono>
#include <future>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "contenders.hpp"
#include "dense/lu.hpp"
#include "dense/lu_blocked.hpp"
#include "opencl/transfer.hpp"
#include "opencl_fixture.hpp"

namespace lugpu {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

using Surfaces = SurfaceKindTest;
INSTANTIATE_TEST_SUITE_P(Kinds, Surfaces, testing::ValuesIn(all_kinds()),
                         testing::PrintToStringParamName());

TEST_P(Surfaces, RoundTripIsExact) {
  const std::pair<std::size_t, std::size_t> shapes[] = {
      {0, 0}, {0, 3}, {3, 0},   {1, 1},   {1, 65},  {65, 1},  {1, 7},    {7, 1},    {3, 5},
      {5, 3}, {4, 4}, {63, 65}, {64, 64}, {65, 63}, {130, 7}, {17, 129}, {129, 130}};
  for (const auto& [rows, columns] : shapes) {
    const Matrix values = random_in(precision, rows, columns, rows + columns);
    const Surface surface = surface_of(context, GetParam(), values);
    EXPECT_TRUE(equal(contents(context, surface), values));
  }
}

TEST_P(Surfaces, ColumnsOfOneImportAreThoseOfAnotherExport) {
  const Matrix values = random_in(precision, 65, 67, 1);
  const Surface surface = surface_of(context, GetParam(), values);
  const std::pair<std::size_t, std::size_t> parts[] = {{0, 67}, {0, 1}, {66, 1}, {1, 65}, {3, 64}};
  for (const auto& [first, count] : parts) {
    const cl::Buffer columns = export_columns(context, surface, first, count);
    const Matrix part = download(context, columns, 65, count, precision);
    for (std::size_t j = 0; j < count; ++j) {
      for (std::size_t i = 0; i < 65; ++i) ASSERT_EQ(part(i, j), values(i, first + j));
    }
  }
}

// Whole texels are written: what the last one has beyond the part becomes zero.
TEST_P(Surfaces, ImportAtAnOffsetLeavesOtherColumnsAlone) {
  const std::size_t pack = elements_per_texel(precision, texel);
  const std::pair<std::size_t, std::size_t> parts[] = {{0, 1},  {4, 8},  {8, 3},  {4, 60},
                                                       {4, 64}, {64, 6}, {68, 2}, {68, 0}};
  for (const auto& [first, count] : parts) {
    Matrix expected = random_in(precision, 66, 70, 1);
    Surface surface = surface_of(context, GetParam(), expected);
    const Matrix part = random_in(precision, 66, count, 2);
    import_columns(context, upload(context, part, precision), count, surface, first);
    std::copy(part.values().begin(), part.values().end(), expected.column(first));
    const std::size_t texels_end = (first + count + pack - 1) / pack * pack;
    for (std::size_t j = first + count; j < std::min<std::size_t>(texels_end, 70); ++j) {
      std::fill_n(expected.column(j), 66, 0);
    }
    EXPECT_TRUE(equal(contents(context, surface), expected)) << first << ", " << count;
  }
}

template <typename Real>
Matrix special_values(bool denormals) {
  using limits = std::numeric_limits<Real>;
  const Real values[] = {0,
                         Real{-0.0},
                         limits::max(),
                         limits::lowest(),
                         limits::min(),
                         -limits::min(),
                         limits::infinity(),
                         -limits::infinity(),
                         limits::quiet_NaN(),
                         -limits::quiet_NaN(),
                         1 + limits::epsilon(),
                         denormals ? limits::denorm_min() : 0,
                         denormals ? -limits::denorm_min() : 0,
                         denormals ? limits::min() - limits::denorm_min() : 0,
                         denormals ? limits::min() / 3 : 0};
  Matrix a(std::size(values), 1);
  std::copy(std::begin(values), std::end(values), a.values().begin());
  return a;
}

// A double in an image travels as two integers: none of its bits may be interpreted as part of a
// number.
TEST_P(Surfaces, SpecialValuesSurvive) {
  const cl_device_fp_config singles =
      handle_of(context.device()).getInfo<CL_DEVICE_SINGLE_FP_CONFIG>();
  const Matrix values = precision == Precision::double_precision
                            ? special_values<double>(true)
                            : special_values<float>((singles & CL_FP_DENORM) != 0);
  const Surface surface = surface_of(context, GetParam(), values);
  EXPECT_TRUE(equal(contents(context, surface), values));
}

TEST_P(Surfaces, EveryBitOfAnElementIsKept) {
  const bool doubles = precision == Precision::double_precision;
  const int bits = doubles ? 64 : 32;
  Matrix values(static_cast<std::size_t>(bits), 1);
  for (int bit = 0; bit < bits; ++bit) {
    // One bit changed in 1.0: normal numbers, except for NaN or infinity from the exponent.
    const std::uint64_t flip = std::uint64_t{1} << bit;
    values.values()[bit] = doubles ? std::bit_cast<double>(std::bit_cast<std::uint64_t>(1.0) ^ flip)
                                   : std::bit_cast<float>(std::bit_cast<std::uint32_t>(1.0f) ^
                                                          static_cast<std::uint32_t>(flip));
  }
  const Surface surface = surface_of(context, GetParam(), values);
  EXPECT_TRUE(equal(contents(context, surface), values));
}

TEST(Upload, RoundsToSingleToTheNearest) {
  DeviceContext& context = shared_context();
  const Matrix values = matrix({{0.1, 1 + 0x1p-24, 1 + 0x1.8p-23, -0x1p-160}});
  const Matrix expected = matrix({{0.1f, 1, 1 + 0x1p-22, -0.0}});
  const cl::Buffer buffer = upload(context, values, Precision::single_precision);
  EXPECT_TRUE(equal(download(context, buffer, 1, 4, Precision::single_precision), expected));
}

TEST(Upload, RefusesWhatOverflowsSingle) {
  DeviceContext& context = shared_context();
  for (const double value : {1e300, -1e300, 3.5e38}) {
    const Matrix a = matrix({{1, value}});
    EXPECT_THROW(upload(context, a, Precision::single_precision), InputError) << value;
  }
  const Matrix largest = matrix({{std::numeric_limits<float>::max()}});
  const cl::Buffer buffer = upload(context, largest, Precision::single_precision);
  EXPECT_TRUE(equal(download(context, buffer, 1, 1, Precision::single_precision), largest));
}

// 1e300 in full has 301 digits.
TEST(Upload, ErrorIsAShortSentence) {
  try {
    upload(shared_context(), matrix({{1e300}}), Precision::single_precision);
    FAIL() << "nothing was thrown";
  } catch (const InputError& error) {
    const std::string sentence = error.what();
    EXPECT_LT(sentence.size(), 200u) << sentence;
    ASSERT_TRUE(error.remedy()) << sentence;
    EXPECT_EQ(error.remedy()->option + " " + error.remedy()->value, "precision double");
  }
}

/// A fictitious device with room for anything reasonable.
Device roomy_device() {
  Device device;
  device.name = "Testcard";
  device.global_memory = 64 * kGiB;
  device.max_allocation = 16 * kGiB;
  device.max_work_group = 1024;
  device.double_precision = true;
  device.images = true;
  device.image_max_width = 16384;
  device.image_max_height = 8192;
  device.image_float = true;
  device.image_uint32 = true;
  return device;
}

std::string refusal(const Device& device, std::size_t rows, std::size_t columns,
                    const SurfaceKind& kind, std::size_t count = 2, std::uint64_t other = 0) {
  try {
    require_fits(device, rows, columns, kind.precision, kind.storage, count, other, kind.texel);
  } catch (const Unsupported& error) {
    return error.what();
  }
  return "";
}

constexpr SurfaceKind kSingleBuffer = {Precision::single_precision, Storage::buffer};
constexpr SurfaceKind kDoubleBuffer = {Precision::double_precision, Storage::buffer};
constexpr SurfaceKind kSingleImage = {Precision::single_precision, Storage::image};
constexpr SurfaceKind kDoubleImage = {Precision::double_precision, Storage::image};

TEST(RequireFits, AcceptsWhatFits) {
  const Device device = roomy_device();
  for (const SurfaceKind& kind : all_kinds()) {
    EXPECT_EQ(refusal(device, 0, 0, kind), "");
    EXPECT_EQ(refusal(device, 4096, 4097, kind), "");
  }
}

TEST(RequireFits, NamesTheMissingFeature) {
  Device device = roomy_device();
  device.double_precision = false;
  EXPECT_NE(refusal(device, 1, 1, kDoubleBuffer).find("precision \"single\""), std::string::npos);
  EXPECT_NE(refusal(device, 1, 1, kDoubleImage).find("precision \"single\""), std::string::npos);
  EXPECT_EQ(refusal(device, 1, 1, kSingleImage), "");

  device = roomy_device();
  device.images = false;
  EXPECT_NE(refusal(device, 1, 1, kSingleImage).find("storage \"buffer\""), std::string::npos);
  EXPECT_EQ(refusal(device, 1, 1, kDoubleBuffer), "");

  device = roomy_device();
  device.image_float = false;
  EXPECT_NE(refusal(device, 1, 1, kSingleImage).find("CL_FLOAT"), std::string::npos);
  EXPECT_EQ(refusal(device, 1, 1, kDoubleImage), "");

  device = roomy_device();
  device.image_uint32 = false;
  EXPECT_NE(refusal(device, 1, 1, kDoubleImage).find("CL_UNSIGNED_INT32"), std::string::npos);
  EXPECT_EQ(refusal(device, 1, 1, kSingleImage), "");
}

TEST(RequireFits, ImagesEndAtTheirLimits) {
  Device device = roomy_device();
  device.image_max_width = 100;
  device.image_max_height = 50;
  EXPECT_EQ(refusal(device, 50, 100, kSingleImage), "");
  EXPECT_NE(refusal(device, 50, 101, kSingleImage), "");
  EXPECT_NE(refusal(device, 51, 100, kSingleImage), "");
  // A double is two texels wide.
  EXPECT_EQ(refusal(device, 50, 50, kDoubleImage), "");
  EXPECT_NE(refusal(device, 50, 51, kDoubleImage).find("102 x 50"), std::string::npos);
  EXPECT_EQ(refusal(device, 51, 101, kDoubleBuffer), "");
  // A packed texel holds 4 floats or 2 doubles.
  const SurfaceKind singles = {Precision::single_precision, Storage::image, Texel::rgba};
  const SurfaceKind doubles = {Precision::double_precision, Storage::image, Texel::rgba};
  EXPECT_EQ(refusal(device, 50, 400, singles), "");
  EXPECT_NE(refusal(device, 50, 401, singles).find("101 x 50"), std::string::npos);
  EXPECT_EQ(refusal(device, 50, 200, doubles), "");
  EXPECT_NE(refusal(device, 50, 201, doubles), "");
}

TEST(RequireFits, OneSurfaceIsAtMostOneAllocation) {
  Device device = roomy_device();
  // 96 floats are 3 times 128 bytes, which takes no padding.
  device.max_allocation = 64 * 96 * 4;
  EXPECT_EQ(refusal(device, 64, 96, kSingleBuffer), "");
  EXPECT_NE(refusal(device, 65, 96, kSingleBuffer).find("largest allocation"), std::string::npos);
  EXPECT_NE(refusal(device, 64, 97, kSingleBuffer), "");
  EXPECT_NE(refusal(device, 64, 96, kDoubleBuffer), "");
  EXPECT_EQ(refusal(device, 64, 96, kSingleImage), "");
  EXPECT_NE(refusal(device, 65, 96, kSingleImage), "");
}

TEST(RequireFits, EverythingTogetherIsAtMostTheMemory) {
  Device device = roomy_device();
  const std::uint64_t surface = 64 * 48 * 8;
  device.global_memory = 3 * surface;
  EXPECT_EQ(refusal(device, 64, 48, kDoubleBuffer, 2, surface), "");
  EXPECT_EQ(refusal(device, 64, 48, kDoubleBuffer, 3, 0), "");
  EXPECT_NE(refusal(device, 64, 48, kDoubleBuffer, 3, 1).find("memory"), std::string::npos);
  EXPECT_NE(refusal(device, 64, 48, kDoubleBuffer, 2, surface + 1), "");
}

// 2^31 x 2^31 doubles are 2^65 bytes.
TEST(RequireFits, BytesThatOverflow64BitsDoNotFit) {
  const Device device = roomy_device();
  const std::size_t n = std::size_t{1} << 31;
  EXPECT_NE(refusal(device, n, n, kDoubleBuffer), "");
  EXPECT_NE(refusal(device, n, n, kSingleBuffer), "");
}

TEST(RequireFits, ASurfaceThatDoesNotFitIsNotAllocated) {
  Device small = shared_context().device();
  small.max_allocation = 1000;
  DeviceContext context(small);
  EXPECT_NO_THROW(Surface(context, 5, 5, Precision::single_precision, Storage::buffer));
  EXPECT_THROW(Surface(context, 100, 100, Precision::single_precision, Storage::buffer),
               Unsupported);
}

TEST(LargestOrder, IsTheLastThatFits) {
  Device narrow = roomy_device();
  narrow.image_max_width = 1000;
  Device tight = roomy_device();
  tight.max_allocation = 1'000'003;
  Device poor = roomy_device();
  poor.global_memory = 100'000'019;
  for (const Device& device : {roomy_device(), narrow, tight, poor, shared_context().device()}) {
    for (const SurfaceKind& kind : kinds_with(Texel::r)) {
      for (const Method& method : methods()) {
        SCOPED_TRACE(std::string(method.name) + " " + name(kind));
        const DenseOptions options{Pivot::partial, kind.precision, kind.storage};
        const std::size_t n = largest_order(device, method, options);
        if (n > 0) {
          EXPECT_NO_THROW(method.require_room(device, Size::square(n, 1), options));
        }
        EXPECT_THROW(method.require_room(device, Size::square(n + 1, 1), options), Unsupported);
      }
    }
  }
}

TEST(LargestOrder, ByHand) {
  const Device device = roomy_device();
  const auto order = [&](const char* method, Precision precision, Storage storage) {
    return largest_order(device, find_method(method), {Pivot::partial, precision, storage});
  };
  EXPECT_EQ(order("lu", Precision::single_precision, Storage::image), 8192u);
  EXPECT_EQ(order("lu", Precision::double_precision, Storage::image), 8192u);
  // 16 GiB are 2^31 doubles; rows are padded to 46352, and 46330 of them are more than 2^31.
  const std::size_t in_one_buffer = largest_order(
      [&](std::size_t n) { LuBlocked::require_room(device, Size::square(n, 1), {}); });
  EXPECT_EQ(in_one_buffer, 46329u);
  EXPECT_GT(order("lu-blocked", Precision::double_precision, Storage::buffer), 46329u);
}

TEST(LargestOrder, IsZeroWithoutTheFeature) {
  Device device = roomy_device();
  device.double_precision = false;
  device.images = false;
  const Method& lu = find_method("lu");
  EXPECT_EQ(largest_order(device, lu, {Pivot::partial, Precision::double_precision}), 0u);
  EXPECT_EQ(
      largest_order(device, lu, {Pivot::partial, Precision::single_precision, Storage::image}), 0u);
  EXPECT_GT(largest_order(device, lu, {Pivot::partial, Precision::single_precision}), 0u);
}

// lugpu's own description of the device decides what the program refuses.
TEST(Device, SaysWhatTheDriverHas) {
  const Device& device = shared_context().device();
  EXPECT_EQ(device.double_precision, missing_on(handle_of(device), kDoubleBuffer).empty());
  EXPECT_EQ(device.images && device.image_float,
            missing_on(handle_of(device), kSingleImage).empty());
  if (device.double_precision) {
    EXPECT_EQ(device.images && device.image_uint32,
              missing_on(handle_of(device), kDoubleImage).empty());
  }
}

// On a GPU more bytes than an int counts, which NVIDIA's own fill does not survive.
TEST(Fill, FillsAllBytesAndNoMore) {
  DeviceContext& context = shared_context();
  const Device& device = context.device();
  constexpr std::size_t kBeyond = 7;
  const std::size_t many = device.type == "cpu" ? kGiB / 2 : 2 * kGiB;
  if (many + kGiB > std::min(device.max_allocation, device.global_memory)) {
    GTEST_SKIP() << device.name << " has too little memory.";
  }
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{1001}, many + 3}) {
    const cl::Buffer buffer = context.allocate(bytes + kBeyond);
    context.fill(buffer, 1, bytes + kBeyond);
    context.fill(buffer, 2, bytes);
    std::vector<cl_uchar> found(bytes + kBeyond), expected(bytes + kBeyond, 2);
    std::fill_n(expected.end() - kBeyond, kBeyond, 1);
    context.read_back("test", buffer, 0, found.size(), found.data());
    EXPECT_TRUE(found == expected) << bytes;
  }
}

TEST(Deadline, InThePastStopsAtTheNextCheckpoint) {
  DeviceContext context(shared_context().device());
  EXPECT_NO_THROW(context.checkpoint());
  context.deadline().set(-1);
  EXPECT_THROW(context.checkpoint(), TimedOut);
  context.deadline().set(0);
  EXPECT_THROW(context.checkpoint(), TimedOut);
}

// The waits become rare while steps are fast; a new deadline is looked at again from the first.
TEST(Deadline, IsSeenAfterManyFastSteps) {
  DeviceContext context(shared_context().device());
  context.deadline().set(std::numeric_limits<double>::infinity());
  for (int step = 0; step < 10000; ++step) ASSERT_NO_THROW(context.checkpoint());
  context.deadline().set(-1);
  EXPECT_THROW(context.checkpoint(), TimedOut);
}

// checkpoint() looks at the clock, but does not wait for the queue, where a command waits for the
// host.
TEST(Deadline, DoesNotWaitWhereTheCallerFollows) {
  DeviceContext context(shared_context().device());
  cl::UserEvent released(context.handle());
  const std::vector<cl::Event> waits = {released};
  context.queue().enqueueBarrierWithWaitList(&waits);
  auto checkpoints = std::async(std::launch::async, [&] {
    const Deadline::Followed followed(context.deadline());
    for (int step = 0; step < 100; ++step) context.checkpoint();
    context.deadline().set(-1);
    EXPECT_THROW(context.checkpoint(), TimedOut);
  });
  const bool waited = checkpoints.wait_for(std::chrono::seconds(30)) != std::future_status::ready;
  released.setStatus(CL_COMPLETE);
  EXPECT_FALSE(waited);
  EXPECT_NO_THROW(checkpoints.get());
  EXPECT_THROW(context.checkpoint(), TimedOut);
}

TEST(Deadline, StopsAFactorizationThatCanBeRepeated) {
  DeviceContext context(shared_context().device());
  const Problem problem =
      problem_of(20, 1, Pivot::partial, Precision::single_precision, Storage::buffer);
  const Matrix a = generate("random", 20, 1), b = random_matrix(20, 1, 1);
  MethodContender solver(context, find_method("lu"), problem, 1);
  solver.upload(a, b);
  solver.factor();
  const Matrix lu = *solver.lu();
  solver.reset();
  context.deadline().set(-1);
  EXPECT_THROW(solver.factor(), TimedOut);
  context.deadline().set(1e10);
  solver.reset();
  solver.factor();
  EXPECT_TRUE(equal(*solver.lu(), lu));
}

}  // namespace
}  // namespace lugpu

// LU over several devices: the same bits as on one, and right. A device is named several times.
#include <array>
#include <limits>
#include <numeric>
#include <random>

#include "base/error.hpp"
#include "distributed/deal.hpp"
#include "distributed/distributed_lu.hpp"
#include "factors.hpp"
#include "formats/formats.hpp"

namespace lugpu {
namespace {

struct DistributedKind {
  Precision precision;
  Pivot pivot;
};

void PrintTo(const DistributedKind& kind, std::ostream* out) {
  *out << name(kind.precision) << "_" << name(kind.pivot);
}

/// Contexts of one device, with queues and memory of their own.
class Contexts {
 public:
  explicit Contexts(Device device, KernelSettings settings = {})
      : device_(std::move(device)), settings_(std::move(settings)) {}
  std::vector<DeviceContext*> first(std::size_t count) {
    while (all_.size() < count) {
      all_.push_back(std::make_unique<DeviceContext>(device_, settings_));
    }
    std::vector<DeviceContext*> some;
    for (std::size_t d = 0; d < count; ++d) some.push_back(all_[d].get());
    return some;
  }

 private:
  Device device_;
  KernelSettings settings_;
  std::vector<std::unique_ptr<DeviceContext>> all_;
};

std::vector<DeviceContext*> contexts(std::size_t count) {
  static Contexts all(shared_context().device());
  return all.first(count);
}

/// For the class for GPUs on any device, with one compute unit, so that no work-group waits for
/// another.
std::vector<DeviceContext*> contexts_as_of_gpus(std::size_t count) {
  Device device = context_of_one_unit().device();
  device.type = "gpu";
  static Contexts all(device, context_of_one_unit().settings());
  return all.first(count);
}

/// In as many windows and buffers as these many block columns make, of one device each.
struct Parts {
  std::size_t devices, window, slab, panels = 2;
};

std::ostream& operator<<(std::ostream& out, const Parts& parts) {
  return out << parts.devices << " devices, windows of " << parts.window << ", buffers of "
             << parts.slab << ", " << parts.panels << " panels";
}

constexpr std::size_t kAll = 1000;

BlockColumns dealt_in(const Parts& parts, std::size_t n, std::size_t nb) {
  const std::size_t devices = std::clamp<std::size_t>(ceiling(n, nb), 1, parts.devices);
  return {n, nb, devices, parts.window * devices, parts.slab, parts.panels};
}

TEST(BlockColumns, AreDealtCyclically) {
  const BlockColumns dealt = {300, 64, 3, 6, 2};  // 5 blocks, the last of 44 columns
  EXPECT_EQ(dealt.blocks(), 5u);
  EXPECT_EQ(dealt.windows(), 1u);
  EXPECT_EQ(dealt.width(3), 64u);
  EXPECT_EQ(dealt.width(4), 44u);
  EXPECT_EQ(dealt.owner(4), 1u);
  EXPECT_EQ(dealt.place(4), 64u);
  using All = std::vector<BlockColumns::Columns>;
  EXPECT_EQ(dealt.on_device(0, 0, 5), (All{{0, 0, 128}}));
  EXPECT_EQ(dealt.on_device(1, 0, 5), (All{{0, 0, 64 + 44}}));
  EXPECT_EQ(dealt.on_device(1, 2, 5), (All{{0, 64, 64 + 44}}));
  EXPECT_EQ(dealt.on_device(2, 0, 5), (All{{0, 0, 64}}));
  EXPECT_EQ(dealt.on_device(2, 3, 5), All{});
}

// 11 blocks on 2 devices, 6 at a time: 0 2 4 | 6 8 10 and 1 3 5 | 7 9, two to a buffer.
TEST(BlockColumns, AreInWindowsAndSlabs) {
  const BlockColumns dealt = {10 * 64 + 1, 64, 2, 6, 2};
  EXPECT_EQ(dealt.windows(), 2u);
  EXPECT_EQ(dealt.slab_of(4), 1u);
  EXPECT_EQ(dealt.place(4), 0u);
  EXPECT_EQ(dealt.slab_of(9), 0u);
  EXPECT_EQ(dealt.place(9), 64u);
  using All = std::vector<BlockColumns::Columns>;
  EXPECT_EQ(dealt.on_device(0, 0, 6), (All{{0, 0, 128}, {1, 0, 64}}));
  EXPECT_EQ(dealt.on_device(0, 6, 11), (All{{0, 0, 128}, {1, 0, 1}}));
  EXPECT_EQ(dealt.on_device(1, 6, 11), (All{{0, 0, 128}}));
  EXPECT_EQ(dealt.on_device(1, 8, 11), (All{{0, 64, 128}}));
  EXPECT_EQ(dealt.on_device(0, 9, 11), (All{{1, 0, 1}}));
}

// As the memory of a device shrinks: one buffer, several, more and more windows, none.
TEST(Deal, TakesAsFewPartsAsTheDeviceAllows) {
  Device device = shared_context().device();
  DenseOptions options;
  options.nb = 64;
  const Size size = Size::square(2000, 1);
  const std::size_t matrix = 2000 * 2000 * sizeof(double);
  device.global_memory = 3 * matrix;
  device.max_allocation = 2 * matrix;
  BlockColumns dealt = deal(device, size, options);
  EXPECT_EQ(dealt.windows(), 1u);
  EXPECT_EQ(dealt.on_device(0, 0, dealt.blocks()).size(), 1u);
  device.max_allocation = matrix / 4;
  dealt = deal(device, size, options);
  EXPECT_EQ(dealt.windows(), 1u);
  EXPECT_GE(dealt.on_device(0, 0, dealt.blocks()).size(), 4u);
  EXPECT_LE(2000 * 8 * dealt.slab * 64, device.max_allocation);
  std::size_t windows = 1;
  for (device.global_memory = matrix; device.global_memory > matrix / 2;
       device.global_memory -= matrix / 20) {
    const std::size_t more = deal(device, size, options).windows();
    EXPECT_GE(more, windows);
    windows = more;
  }
  EXPECT_GE(windows, 3u);
  device.global_memory = matrix / 20;
  EXPECT_THROW(deal(device, size, options), Unsupported);
  device.global_memory = 3 * matrix;
  device.max_allocation = 2000 * 64 * 8;  // rows are padded
  EXPECT_THROW(deal(device, size, options), Unsupported);
  device.max_allocation = 1;
  EXPECT_EQ(deal(device, Size::square(0, 0), options).blocks(), 0u);
}

// A device that is named twice has half of its memory for each share.
TEST(Deal, SharesOfOneDeviceShareItsMemory) {
  Device device = shared_context().device();
  device.global_memory = 60'000'000;
  DeviceContext first(device), second(device);
  DenseOptions options;
  options.nb = 64;
  EXPECT_EQ(deal(device, Size::square(2000, 1), options).windows(), 1u);
  options.others = {&second};
  const BlockColumns dealt = deal(device, Size::square(2000, 1), options);
  EXPECT_EQ(dealt.devices, 2u);
  EXPECT_GT(dealt.windows(), 1u);
  EXPECT_EQ(dealt.window % 2, 0u);
}

// Panels of the fastest width would leave no room for a window.
TEST(Deal, NarrowBlocksWhereMemoryIsScarce) {
  Device device = shared_context().device();
  device.type = "cpu";
  const Size size = Size::square(4096, 1);
  EXPECT_EQ(distributed_block_size(device, size, {}), 192u);
  device.global_memory = 4096 * 4096 * sizeof(double) / 4;
  EXPECT_LT(distributed_block_size(device, size, {}), 192u);
  EXPECT_GT(deal(device, size, {}).windows(), 1u);
}

// As wide as needs no more windows than blocks of 384 columns.
TEST(Deal, WideBlocksInWindowsOfAGpu) {
  Device device = shared_context().device();
  device.type = "gpu";
  const Size size = Size::square(16384, 1);
  const auto windows = [&](std::size_t nb) {
    DenseOptions options;
    options.nb = nb;
    return deal(device, size, options).windows();
  };
  for (const std::size_t mib : {512, 700, 1000, 1500, 4000}) {
    SCOPED_TRACE(mib);
    device.global_memory = device.max_allocation = mib << 20;
    const std::size_t nb = distributed_block_size(device, size, {});
    EXPECT_EQ(windows(nb), windows(384));
    if (nb < 768) {
      EXPECT_GT(windows(nb + 64), windows(384));
    }
  }
  EXPECT_EQ(distributed_block_size(device, size, {}), 768u);
}

// In more windows: their copies hide behind products at the larger orders alone.
TEST(Deal, WiderBlocksInWindowsOfALargeMatrix) {
  Device device = shared_context().device();
  device.type = "gpu";
  DenseOptions options;
  for (const auto& [precision, n, hide] : {std::tuple(Precision::single_precision, 32768, false),
                                           std::tuple(Precision::single_precision, 49152, true),
                                           std::tuple(Precision::double_precision, 16384, false),
                                           std::tuple(Precision::double_precision, 32768, true)}) {
    SCOPED_TRACE(testing::Message() << name(precision) << ", " << n);
    const Size size = Size::square(n, 1);
    options.precision = precision;
    device.global_memory = device.max_allocation = size.n * size.n * element_size(precision) / 4;
    const auto windows = [&](std::size_t nb) {
      options.nb = nb;
      return deal(device, size, options).windows();
    };
    EXPECT_GT(windows(768), windows(384));
    EXPECT_EQ(windows(distributed_block_size(device, size, options)) > windows(384), hide);
  }
}

// A third copy of a panel where it does not take more windows.
TEST(Deal, PanelsInWindows) {
  Device device = shared_context().device();
  device.type = "gpu";
  const std::size_t n = 16384;
  DenseOptions options;
  options.nb = 512;
  std::vector<bool> thirds;
  for (std::size_t mib = 400; mib <= 1000; mib += 50) {
    SCOPED_TRACE(mib);
    device.global_memory = device.max_allocation = mib << 20;
    const BlockColumns dealt = deal(device, Size::square(n, 1), options);
    device.global_memory -= n * options.nb * sizeof(double);
    const BlockColumns less = deal(device, Size::square(n, 1), options);
    EXPECT_EQ(dealt.panels, less.windows() == dealt.windows() ? 3u : 2u);
    thirds.push_back(dealt.panels == 3);
  }
  EXPECT_TRUE(std::ranges::count(thirds, true) > 0 && std::ranges::count(thirds, false) > 0);
  device.global_memory = std::uint64_t{8} << 30;
  EXPECT_EQ(deal(device, Size::square(n, 1), options).panels, 2u);
}

TEST(Deal, WiderBlocksWhereGpusShareMuch) {
  Device device = shared_context().device();
  device.type = "gpu";
  device.global_memory = device.max_allocation = std::uint64_t{64} << 30;
  DeviceContext other(device);
  DenseOptions alone, shared;
  shared.others = {&other};
  for (const std::size_t n : {16384, 32768}) {
    EXPECT_EQ(distributed_block_size(device, Size::square(n, 1), alone), 768u);
    EXPECT_EQ(distributed_block_size(device, Size::square(n, 1), shared), n < 32768 ? 768u : 896u);
  }
}

TEST(Deal, WideBlocksInWindowsOfACpu) {
  Device device = shared_context().device();
  device.type = "cpu";
  const Size size = Size::square(8192, 1);
  DenseOptions options;
  options.precision = Precision::single_precision;
  EXPECT_EQ(distributed_block_size(device, size, options), 192u);
  device.global_memory = 8192 * 8192 * sizeof(float) / 4;
  EXPECT_EQ(distributed_block_size(device, size, options), 256u);
}

// What rows 0 : n hold after the moves of a list, if none moves twice.
std::vector<int> after_moves(DeviceContext& context, const RowMoves::List& list, std::size_t n) {
  std::vector<int> rows(2 * list.count), before(n);
  context.queue().enqueueReadBuffer(list.rows, CL_TRUE, list.start * sizeof(cl_int),
                                    rows.size() * sizeof(cl_int), rows.data());
  std::iota(before.begin(), before.end(), 0);
  std::vector<int> after = before;
  for (std::size_t i = 0; i < list.count; ++i) {
    const std::size_t from = rows.at(i), to = rows.at(list.count + i);
    if (from == to) continue;
    EXPECT_EQ(after.at(to), before.at(to)) << "row " << to << " moves twice";
    after.at(to) = before.at(from);
  }
  return after;
}

// Of all of a panel, and of its columns from the third one on, in A and in the panel itself.
TEST(RowMoves, AreThoseOfAllInterchangesTogether) {
  constexpr std::size_t kN = 1500, kPlace = 5;
  DeviceContext& context = shared_context();
  const RowMoves moves(context, Precision::single_precision, kN, 1100);
  for (const auto& [width, top, before] : std::vector<std::array<std::size_t, 3>>{{1, 37, 0},
                                                                                  {3, 37, 0},
                                                                                  {64, 37, 2},
                                                                                  {65, 0, 2},
                                                                                  {65, 37, 0},
                                                                                  {200, 37, 2},
                                                                                  {1100, 37, 2},
                                                                                  {200, 0, 0}}) {
    SCOPED_TRACE(testing::Message() << width << " columns after " << before << ", row " << top);
    std::mt19937 random(static_cast<unsigned>(width + before));
    std::vector<int> ipiv, expected(kN);
    std::iota(expected.begin(), expected.end(), 0);
    for (std::size_t i = 0; i < width; ++i) {
      const std::size_t rows = i % 3 == 0 ? kN - top : before + width;  // some are in the panel
      std::uniform_int_distribution<std::size_t> row(before + i, rows - 1);
      ipiv.push_back(static_cast<int>(row(random)));
      std::swap(expected[top + before + i], expected[top + ipiv.back()]);
    }
    const auto write = [&](std::size_t place) {
      context.queue().enqueueWriteBuffer(moves.ipiv(), CL_TRUE, place * sizeof(cl_int),
                                         width * sizeof(cl_int), ipiv.data());
    };
    write(kPlace);
    const RowMoves::List part = moves.list_part(kPlace, width, top + before, top);
    EXPECT_EQ(after_moves(context, part, kN), expected);
    if (before > 0) continue;
    write(top);
    moves.list_panel(top, width);
    EXPECT_EQ(after_moves(context, moves.of_panel(top, width), kN), expected);
  }
}

class DistributedTest : public testing::TestWithParam<DistributedKind> {
 protected:
  void SetUp() override {
    const std::string missing =
        missing_on(handle_of(shared_context().device()), {precision, Storage::buffer});
    if (!missing.empty()) GTEST_SKIP() << missing;
  }

  DistributedLu make(std::size_t devices, std::size_t n, std::size_t nrhs = 0,
                     std::size_t nb = 64) const {
    return make(contexts(devices), n, nrhs, nb);
  }
  DistributedLu make(std::vector<DeviceContext*> devices, std::size_t n, std::size_t nrhs,
                     std::size_t nb) const {
    DenseOptions options = {pivot, precision};
    options.nb = nb;
    options.others.assign(devices.begin() + 1, devices.end());
    return DistributedLu(*devices.front(), Size::square(n, nrhs), options);
  }

  DistributedLu make(const Parts& parts, std::size_t n, std::size_t nrhs = 0,
                     std::size_t nb = 64) const {
    return make(contexts(parts.devices), parts, n, nrhs, nb);
  }
  DistributedLu make(const std::vector<DeviceContext*>& devices, const Parts& parts, std::size_t n,
                     std::size_t nrhs, std::size_t nb) const {
    DenseOptions options = {pivot, precision};
    options.others.assign(devices.begin() + 1, devices.end());
    return DistributedLu(*devices.front(), Size::square(n, nrhs), options, dealt_in(parts, n, nb));
  }

  LuFactors factor(DistributedLu lu, const Matrix& a) const {
    lu.upload(a, Matrix(a.rows(), 0));
    lu.factor();
    return factors_of(lu);
  }
  LuFactors factor(std::size_t devices, const Matrix& a, std::size_t nb = 64) const {
    return factor(make(devices, a.rows(), 0, nb), a);
  }
  LuFactors factor(const Parts& parts, const Matrix& a, std::size_t nb = 64) const {
    return factor(make(parts, a.rows(), 0, nb), a);
  }

  LuFactors factors_of(DistributedLu& lu) const {
    const Outcome outcome = lu.outcome();
    LuFactors factors{Matrix(lu.size().n, lu.size().n), outcome.ipiv, outcome.info};
    lu.download_factors(0, factors.lu.view());
    for (std::size_t k = 0; k < lu.size().n; ++k) {
      EXPECT_TRUE(same_bits(outcome.pivots[k], factors.lu(k, k))) << k;
      if (pivot == Pivot::none) factors.ipiv.push_back(static_cast<int>(k) + 1);
    }
    return factors;
  }

  /// As the device has it.
  Matrix rounded_to(Matrix a) const {
    if (precision == Precision::single_precision) {
      for (double& value : a.values()) value = static_cast<float>(value);
    }
    return a;
  }
  Matrix harmless(std::size_t n) const { return harmless_for(pivot, precision, n, n, n); }

  const Precision precision = GetParam().precision;
  const Pivot pivot = GetParam().pivot;
};

TEST_P(DistributedTest, TheSameBitsOnAnyNumberOfDevices) {
  for (const std::size_t n : {1, 2, 3, 5, 63, 64, 65, 127, 128, 129, 191, 193, 257, 320, 333}) {
    const Matrix a = harmless(n);
    const LuFactors one = factor(1, a);
    SCOPED_TRACE(n);
    expect_right(a, one, pivot, precision);
    for (const std::size_t devices : {2, 3, 4}) {
      SCOPED_TRACE(devices);
      const LuFactors several = factor(devices, a);
      EXPECT_TRUE(equal(several.lu, one.lu));
      EXPECT_EQ(several.ipiv, one.ipiv);
      EXPECT_EQ(several.info, one.info);
    }
  }
}

TEST_P(DistributedTest, LargerMatricesAndBlocks) {
  for (const auto& [n, nb] :
       std::vector<std::pair<std::size_t, std::size_t>>{{1100, 0}, {1000, 192}}) {
    const Matrix a = harmless(n);
    const LuFactors one = factor(1, a, nb);
    SCOPED_TRACE(n);
    expect_right(a, one, pivot, precision);
    const LuFactors several = factor(3, a, nb);
    EXPECT_TRUE(equal(several.lu, one.lu));
    EXPECT_EQ(several.ipiv, one.ipiv);
  }
}

void expect_equal(const LuFactors& factors, const LuFactors& one) {
  EXPECT_TRUE(equal(factors.lu, one.lu));
  EXPECT_EQ(factors.ipiv, one.ipiv);
  EXPECT_EQ(factors.info, one.info);
}

TEST_P(DistributedTest, TheSameBitsInAnyWindowsAndBuffers) {
  for (const std::size_t n : {1, 2, 63, 64, 65, 127, 128, 129, 193, 257, 320, 333}) {
    const Matrix a = harmless(n);
    const LuFactors one = factor(1, a);
    for (const Parts& parts : {Parts{1, kAll, 1},
                               {1, kAll, 2},
                               {1, 1, 1},
                               {1, 1, 1, 3},
                               {1, 2, 1},
                               {1, 2, 2, 3},
                               {1, 3, 2, 3},
                               {1, 5, 2},
                               {2, kAll, 1},
                               {2, 1, 1},
                               {2, 2, 1, 3},
                               {3, 1, 1, 3},
                               {3, 2, 2},
                               {4, 1, 1}}) {
      SCOPED_TRACE(testing::Message() << n << ": " << parts);
      expect_equal(factor(parts, a), one);
    }
  }
}

TEST_P(DistributedTest, LargerMatricesInWindows) {
  for (const auto& [n, nb] : std::vector<std::pair<std::size_t, std::size_t>>{
           {767, 64}, {1000, 192}, {1500, 64}, {1500, 384}, {2000, 768}}) {
    const Matrix a = harmless(n);
    const LuFactors one = factor(1, a, nb);
    expect_right(a, one, pivot, precision);
    for (const Parts& parts : {Parts{1, 3, 2, 3}, Parts{1, 9, 4}, Parts{1, 10, 4, 3},
                               Parts{2, 2, 1}, Parts{3, 6, 2, 3}}) {
      SCOPED_TRACE(testing::Message() << n << ", " << nb << ": " << parts);
      expect_equal(factor(parts, a, nb), one);
    }
  }
}

// Of files, and one that is made of them: blocks on the diagonal, and beside it what couples them.
TEST_P(DistributedTest, RealMatrices) {
  if (pivot == Pivot::none) GTEST_SKIP() << "they need interchanges";
  const std::string folder = LUGPU_SOURCE_DIR "/tests/data/good/";
  const Matrix west = read_matrix(folder + "west0067.mtx"),
               bfwa = read_matrix(folder + "bfwa62.mtx");
  Matrix both(258, 258);
  for (std::size_t j = 0; j < 258; ++j) {
    for (std::size_t i = 0; i < 258; ++i) {
      const std::size_t block = j / 129, row = i % 129, column = j % 129;
      if (i / 129 != block) continue;
      const bool first = row < 67 && column < 67, second = row >= 67 && column >= 67;
      both(i, j) = first ? west(row, column) : second ? bfwa(row - 67, column - 67) : 0;
    }
    both(257 - j, j) += 0.5;
  }
  for (const Matrix& a : {west, both}) {
    const LuFactors one = factor(1, rounded_to(a));
    SCOPED_TRACE(a.rows());
    expect_right(rounded_to(a), one, pivot, precision);
    for (const std::size_t devices : {2, 3, 4}) expect_equal(factor(devices, rounded_to(a)), one);
    for (const Parts& parts : {Parts{1, 1, 1}, Parts{1, 2, 1}, Parts{2, 1, 1}}) {
      expect_equal(factor(parts, rounded_to(a)), one);
    }
  }
}

// The first panel, or two, in four parts, of which the next one gets two products; ResidentLu may
// have the last columns of the other panels, which are whole. The last block column is a device's
// only one, and narrower than what interchange_left() has. On GPUs also with so many rows that the
// next panel's columns wait for all parts, if products in halves are faster.
TEST_P(DistributedTest, PanelsInParts) {
  const bool quick = shared_context().device().type == "cpu";
  if (quick && (pivot == Pivot::none || precision != Precision::single_precision)) {
    GTEST_SKIP() << "PoCL takes a minute";
  }
  const std::size_t n = quick ? 2500 : 3000, nb = 448;
  const Matrix a = harmless(n);
  const LuFactors many = factor(make(contexts_as_of_gpus(ceiling(n, nb)), n, 0, nb), a);
  expect_right(a, many, pivot, precision);
  if (quick) return;
  for (const std::size_t devices : {1, 2, 3}) {
    SCOPED_TRACE(devices);
    expect_equal(factor(make(contexts_as_of_gpus(devices), n, 0, nb), a), many);
  }
  if (precision != Precision::single_precision) return;
  const std::size_t rows = 7100, narrow = 320;
  const Matrix tall = harmless(rows);
  const LuFactors one = factor(make(contexts_as_of_gpus(1), rows, 0, narrow), tall);
  expect_right(tall, one, pivot, precision);
  for (const Parts& parts : {Parts{2, kAll, kAll}, {3, kAll, 2}, {1, 6, 2}, {2, 8, 2}}) {
    SCOPED_TRACE(parts);
    expect_equal(factor(make(contexts_as_of_gpus(parts.devices), parts, rows, 0, narrow), tall),
                 one);
  }
}

TEST_P(DistributedTest, AsOnGpus) {
  if (shared_context().device().type == "cpu" && precision != Precision::single_precision) {
    GTEST_SKIP() << "PoCL takes a minute";
  }
  for (const std::size_t n : {130, 333, 770}) {
    const Matrix a = harmless(n), b = random_in(precision, n, 3, 3);
    LuFactors one;
    for (const std::size_t devices : {1, 2, 3}) {
      DistributedLu lu = make(contexts_as_of_gpus(devices), n, 3, n < 770 ? 128 : 384);
      lu.upload(a, b);
      lu.factor();
      const LuFactors factors = factors_of(lu);
      if (devices == 1) one = factors;
      expect_right(a, factors, pivot, precision);
      EXPECT_TRUE(equal(factors.lu, one.lu)) << devices;
      lu.solve();
      Matrix x(n, 3);
      lu.download(x.view());
      EXPECT_LT(solve_ratio(a, x, b, epsilon(precision)), kSolveRatioLimit);
    }
  }
  // The products of a panel beside the next one, in several buffers and windows.
  const Matrix a = harmless(600);
  const LuFactors one = factor(make(contexts_as_of_gpus(2), 600, 0, 128), a);
  for (const Parts& parts : {Parts{1, kAll, 2}, {1, 4, 1}, {1, 3, 2}}) {
    SCOPED_TRACE(testing::Message() << parts);
    expect_equal(factor(make(contexts_as_of_gpus(1), parts, 600, 0, 128), a), one);
  }
}

// By rows, and from a buffer of the first device as benchmarks have it.
TEST_P(DistributedTest, TakesTheMatrixInOtherWays) {
  const std::size_t n = 200;
  const Matrix a = harmless(n);
  const LuFactors one = factor(1, a);
  DistributedLu lu = make(3, n);
  std::vector<double> rows(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) rows[i * n + j] = a(i, j);
  }
  lu.upload(View<const double>{rows.data(), n, n, n, Order::rows}, Matrix(n, 0));
  lu.factor();
  EXPECT_TRUE(equal(factors_of(lu).lu, one.lu));
  lu.take_columns(upload(*contexts(1).front(), a, precision), 0, n);
  lu.factor();
  EXPECT_TRUE(equal(factors_of(lu).lu, one.lu));
  for (const std::size_t first : {0, 50}) {
    DistributedLu windows = make(Parts{2, 1, 1}, n);
    const std::size_t columns = first == 0 ? n : 50;
    for (std::size_t j = 0; j < n; j += columns) {
      windows.take_columns(upload(*contexts(1).front(), a.view().part(j, columns), precision), j,
                           columns);
    }
    windows.factor();
    EXPECT_TRUE(equal(factors_of(windows).lu, one.lu));
  }
}

TEST_P(DistributedTest, FactorsAgainAndAgain) {
  for (const Parts& parts :
       {Parts{2, kAll, kAll}, {2, 1, 1}, {1, kAll, kAll}, {1, 3, 2}, {1, 3, 2, 3}}) {
    SCOPED_TRACE(parts);
    DistributedLu lu = make(parts, 300);
    for (const std::size_t seed : {1, 2, 3}) {
      const Matrix a = harmless_for(pivot, precision, 300, 300, seed);
      lu.upload(a, Matrix(300, 0));
      lu.factor();
      EXPECT_TRUE(equal(factors_of(lu).lu, factor(1, a).lu)) << seed;
    }
  }
}

TEST_P(DistributedTest, FactorsAgainAfterATimeLimit) {
  const Matrix a = harmless(300);
  const LuFactors one = factor(1, a);
  for (const Parts& parts : {Parts{2, kAll, kAll}, {2, 1, 1}, {1, 3, 2}}) {
    SCOPED_TRACE(parts);
    const std::vector<DeviceContext*> devices = contexts(parts.devices);
    DistributedLu lu = make(devices, parts, 300, 0, 64);
    lu.upload(a, Matrix(300, 0));
    devices.front()->deadline().set(-1);
    EXPECT_THROW(lu.factor(), TimedOut);
    devices.front()->deadline().set(std::numeric_limits<double>::infinity());
    lu.upload(a, Matrix(300, 0));
    lu.factor();
    expect_equal(factors_of(lu), one);
  }
}

// Places of pivots that no getrf returns: beyond the last row, and above the diagonal.
TEST_P(DistributedTest, TakesNoPivotsOutsideTheMatrix) {
  DistributedLu lu = make({1, kAll, kAll}, 130);
  std::vector<int> ipiv(130);
  std::iota(ipiv.begin(), ipiv.end(), 1);
  lu.adopt_factors(ipiv);
  for (const int place : {131, 99}) {
    ipiv[99] = place;
    EXPECT_THROW(lu.adopt_factors(ipiv), Error) << place;
  }
}

TEST_P(DistributedTest, Solves) {
  for (const std::size_t n : {1, 64, 130, 333}) {
    for (const std::size_t nrhs : {1, 8, 9, 70}) {
      const Matrix a = harmless(n), b = random_in(precision, n, nrhs, 3);
      Matrix at(n, n), first, first_transposed;
      for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t i = 0; i < n; ++i) at(i, j) = a(j, i);
      }
      for (const Parts& parts :
           {Parts{1, kAll, kAll}, {2, kAll, kAll}, {3, kAll, 1}, {1, 1, 1}, {1, 4, 3}, {2, 2, 2}}) {
        SCOPED_TRACE(testing::Message() << n << ", " << nrhs << ": " << parts);
        DistributedLu lu = make(parts, n, nrhs);
        lu.upload(a, b);
        lu.factor();
        lu.solve();
        Matrix x(n, nrhs), xt = b;
        lu.download(x.view());
        lu.apply_inverse(xt, Op::transpose);
        if (first.values().empty()) {
          EXPECT_LT(solve_ratio(a, x, b, epsilon(precision)), kSolveRatioLimit);
          EXPECT_LT(solve_ratio(at, xt, b, epsilon(precision)), kSolveRatioLimit);
          first = x;
          first_transposed = xt;
        }
        EXPECT_TRUE(equal(x, first));
        EXPECT_TRUE(equal(xt, first_transposed));
      }
    }
  }
}

// L has a row of 1, u, u, ... with a u so small that 1 + u is 1, and X is one of ones but for its
// last row, -(1 + (n - 2) u): added to 1 one after the other, the small ones would be lost.
TEST_P(DistributedTest, FewRightHandSidesAreSummedInParts) {
  constexpr std::size_t kN = 200;
  const double eps = epsilon(precision), u = eps / 2;
  Matrix a(kN, kN), b(kN, 1), x(kN, 1);
  for (std::size_t i = 0; i + 1 < kN; ++i) {
    a(i, i) = b(i, 0) = 1;
    a(kN - 1, i) = i == 0 ? 1 : u;
  }
  a(kN - 1, kN - 1) = 1;
  DistributedLu lu = make(2, kN, 1);
  lu.upload(a, b);
  lu.factor();
  lu.solve();
  lu.download(x.view());
  EXPECT_NEAR(x(kN - 1, 0), -1 - static_cast<double>(kN - 2) * u, 8 * eps);
}

TEST_P(DistributedTest, InfoIsTheFirstZeroPivot) {
  for (const std::size_t zero : {0, 63, 64, 129}) {
    SCOPED_TRACE(zero);
    Matrix a = diagonal(200, 4);
    a(zero, zero) = a(199, 199) = 0;
    EXPECT_EQ(factor(3, a).info, static_cast<int>(zero) + 1);
    EXPECT_EQ(factor(Parts{2, 1, 1}, a).info, static_cast<int>(zero) + 1);
  }
}

TEST_P(DistributedTest, RefusesWhatItCannotDo) {
  EXPECT_THROW(make(2, 100, 0, 50), Unsupported);
  DenseOptions options = {pivot, precision};
  options.nb = 64;
  options.others = {contexts(2)[1]};
  const Size size = Size::square(1000, 1);
  Device device = contexts(1)[0]->device();
  EXPECT_NO_THROW(DistributedLu::require_room(device, size, options));
  device.name += " of another kind";
  EXPECT_THROW(DistributedLu::require_room(device, size, options), Unsupported);
  device = contexts(1)[0]->device();
  options.storage = Storage::image;
  EXPECT_THROW(DistributedLu::require_room(device, size, options), Unsupported);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, DistributedTest,
    testing::Values(DistributedKind{Precision::single_precision, Pivot::none},
                    DistributedKind{Precision::single_precision, Pivot::partial},
                    DistributedKind{Precision::double_precision, Pivot::none},
                    DistributedKind{Precision::double_precision, Pivot::partial}),
    testing::PrintToStringParamName());

}  // namespace
}  // namespace lugpu

// kernels/nvidia/split_operands.cl, subtract_halves.cl and halves_rows.clh, with NVIDIA's
// instructions emulated (tests/wgmma/): that numbers keep their digits, and are where the others
// look for them.
#include <numeric>

#include "emulated_wgmma.hpp"
#include "kernels/gpu/update_arguments.h"
#include "matrix/random.hpp"

namespace lugpu {
namespace {

constexpr int kMostDepth = 1088,
              kEnd = 64 + kMostDepth;        // the last `depth` columns before are of L
constexpr int kDepths[] = {64, kMostDepth};  // a work-item of split_operands() holds 1024
constexpr int kRows = 149, kColumns = 139;   // to be updated
constexpr int kHeight = kEnd + kRows, kWidth = kEnd + kColumns, kPitch = kWidth / 4 * 4 + 4;
constexpr int kRoom = 288;  // rows of L, and columns of U

std::size_t place(int i, int j) {
  return static_cast<std::size_t>(i) * kPitch + static_cast<std::size_t>(j);
}

/// Random, rows and columns scaled by powers of two up to 2^40 and down to 2^-40.
std::vector<float> scaled_matrix() {
  const Matrix a = random_matrix(kHeight, kPitch, 1);
  std::vector<float> values(a.values().size());
  for (int i = 0; i < kHeight; ++i) {
    for (int j = 0; j < kPitch; ++j) {
      const double x = a(static_cast<std::size_t>(i), static_cast<std::size_t>(j));
      const int row = i < kEnd ? 0 : i % 81 - 40, column = j < kEnd ? 0 : j * 7 % 81 - 40;
      values[place(i, j)] = static_cast<float>(std::ldexp(x, row + column));
    }
  }
  return values;
}

/// The kernels with `halves` halves in a number, for `depth` columns of L.
class Halves {
 public:
  Halves(int halves, int depth) : halves_(halves), depth_(depth) {
    const fs::path kernels =
        emulated_kernels(folder_, "nvidia/subtract_halves.cl", "HALVES_LOCAL_BYTES");
    context.emplace(shared_context().device(), KernelSettings{kernels.string()});
    split = context->zeros(halves_bytes() / sizeof(cl_int));
  }
  std::size_t halves_bytes() const {
    return 2 * kRoom * (sizeof(float) + static_cast<std::size_t>(depth_ * halves_) * 2);
  }
  std::size_t pieces() const { return static_cast<std::size_t>(depth_ / 32 * halves_); }
  cl::Buffer upload(const std::vector<float>& a) {
    const std::size_t bytes = a.size() * sizeof(float);
    const cl::Buffer buffer = context->allocate(bytes);
    context->queue().enqueueWriteBuffer(buffer, CL_TRUE, 0, bytes, a.data());
    return buffer;
  }
  void split_operands(const cl::Buffer& a) {
    context->run("test", id("nvidia/split_operands.cl", "split_operands"),
                 {(ceiling(kRows, 16) + ceiling(kColumns, 16)) * 256}, a, kPitch, kHeight, kWidth,
                 kEnd - depth_, kEnd, kBlock, split);
  }
  KernelId id(const char* file, const char* function) const {
    return {file,
            function,
            Precision::single_precision,
            Storage::buffer,
            Texel::rgba,
            " -DHALVES=" + std::to_string(halves_)};
  }
  template <typename T>
  std::vector<T> contents(const cl::Buffer& buffer, std::size_t bytes) {
    std::vector<T> values(bytes / sizeof(T));
    context->read_back("test", buffer, 0, bytes, values.data());
    return values;
  }

  static constexpr split_block kBlock = {kEnd, kEnd, kRoom, kRoom};
  std::optional<DeviceContext> context;
  cl::Buffer split;

 private:
  int halves_, depth_;
  Folder folder_;
};

/// Largest error of the update over sum |l| |u|; `touched`: elements outside that changed.
double largest_error(int halves, int depth, int& touched) {
  Halves kernels(halves, depth);
  const std::vector<float> a = scaled_matrix();
  const cl::Buffer buffer = kernels.upload(a);
  kernels.split_operands(buffer);
  kernels.context->run("test", kernels.id("nvidia/subtract_halves.cl", "subtract_halves"),
                       {4 * 256}, buffer, kPitch, kEnd, kHeight, kEnd, kWidth, depth / 32,
                       Halves::kBlock, kernels.split);
  const auto result = kernels.contents<float>(buffer, a.size() * sizeof(float));
  double largest = 0;
  for (int i = 0; i < kHeight; ++i) {
    for (int j = 0; j < kPitch; ++j) {
      const double now = result[place(i, j)], before = a[place(i, j)];
      if (i < kEnd || j < kEnd || j >= kWidth) {
        touched += now != before;
        continue;
      }
      double sum = before, weight = std::abs(before);
      for (int k = kEnd - depth; k < kEnd; ++k) {
        const double product = static_cast<double>(a[place(i, k)]) * a[place(k, j)];
        sum -= product;
        weight += std::abs(product);
      }
      largest = std::max(largest, std::abs(now - sum) / weight);
    }
  }
  return largest;
}

bool has_room() {
  return shared_context().device().local_memory >= (std::size_t{100} << 10);
}

TEST(HalvesTile, UpdatesItsRegionAlone) {
  if (!has_room()) GTEST_SKIP() << "the device has too little local memory";
  int touched = 0;
  for (const int depth : kDepths) {
    EXPECT_LE(largest_error(2, depth, touched), 0x1p-20) << depth;
    const double of_one = largest_error(1, depth, touched);
    EXPECT_LE(of_one, 0x1p-9) << depth;
    EXPECT_GE(of_one, depth == 64 ? 0x1p-14 : 0x1p-15) << depth;  // rounded indeed
  }
  EXPECT_EQ(touched, 0);
}

// L in halves with the interchanges is what becomes of L with them.
TEST(HalvesTile, ExchangesRows) {
  if (!has_room()) GTEST_SKIP() << "the device has too little local memory";
  Halves kernels(2, kDepths[0]);
  std::vector<float> a = scaled_matrix();
  kernels.split_operands(kernels.upload(a));
  // A panel of 20 columns, 40 rows below the first of L.
  constexpr int kPanel = kEnd + 40, kWide = 20;
  std::vector<cl_int> rows(kHeight), goes_to(kWide);
  std::iota(rows.begin(), rows.end(), 0);
  const std::array<int, kWide> pivots = {5,   1,  100, 3,  9,  108, 6,  7,  8,  9,
                                         100, 11, 12,  13, 60, 15,  16, 61, 62, 19};
  for (int j = 0; j < kWide; ++j)
    std::swap(rows[kPanel + j], rows[static_cast<std::size_t>(kPanel + pivots[j])]);
  for (int i = 0; i < kHeight; ++i) {
    const int row = rows[static_cast<std::size_t>(i)];
    if (row >= kPanel && row < kPanel + kWide) goes_to[static_cast<std::size_t>(row - kPanel)] = i;
  }
  const auto ints = [&](const cl_int* from) {
    const cl::Buffer buffer = kernels.context->allocate(kWide * sizeof(cl_int));
    kernels.context->queue().enqueueWriteBuffer(buffer, CL_TRUE, 0, kWide * sizeof(cl_int), from);
    return buffer;
  };
  kernels.context->run("test", kernels.id("nvidia/exchange_rows.cl", "exchange_rows"),
                       {kernels.pieces() * 256}, kPanel, kWide, ints(rows.data() + kPanel),
                       ints(goes_to.data()), Halves::kBlock, kernels.split);
  const auto exchanged = kernels.contents<cl_uchar>(kernels.split, kernels.halves_bytes());

  std::vector<float> moved = a;
  for (int i = 0; i < kHeight; ++i) {
    for (int j = 0; j < kEnd; ++j)
      moved[place(i, j)] = a[place(rows[static_cast<std::size_t>(i)], j)];
  }
  kernels.split_operands(kernels.upload(moved));
  EXPECT_EQ(kernels.contents<cl_uchar>(kernels.split, kernels.halves_bytes()), exchanged);
}

}  // namespace
}  // namespace lugpu

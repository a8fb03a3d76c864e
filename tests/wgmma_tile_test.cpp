// kernels/nvidia/wgmma_tile.clh with NVIDIA's instructions emulated: that every element is where
// the others look for it. tests/wgmma/ has the emulation.
#include "kernel_files.hpp"
#include "kernels/nvidia/wgmma_memory.h"
#include "matrix/random.hpp"
#include "opencl_fixture.hpp"

namespace lugpu {
namespace {

TEST(WgmmaTile, UpdatesItsRegionAlone) {
  constexpr std::size_t kLocalBytes = WGMMA_LOCAL_BYTES + 4096;
  if (shared_context().device().local_memory < kLocalBytes)
    GTEST_SKIP() << "the device has too little local memory";
  Folder folder;
  const fs::path kernels = folder.path() / "kernels";
  const fs::path emulation = fs::path(LUGPU_SOURCE_DIR) / "tests/wgmma";
  fs::copy(fs::path(LUGPU_SOURCE_DIR) / "kernels", kernels, fs::copy_options::recursive);
  fs::copy(emulation, kernels / "nvidia",
           fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  DeviceContext context(shared_context().device(), {kernels.string()});

  const struct {
    int rows, columns, k_first, k_end;
    bool narrow;
  } cases[] = {{150, 139, 0, 128, false}, {128, 128, 64, 128, false}, {3, 1, 32, 128, false},
               {150, 139, 0, 128, true},  {128, 64, 64, 128, true},   {3, 1, 32, 128, true}};
  for (const auto& [rows, columns, k_first, k_end, narrow] : cases) {
    const int row = 133, row_end = row + rows, column = 144, column_end = column + columns;
    const int pitch = column_end / 4 * 4 + 20, height = row_end + 3;
    const Matrix a =
        random_matrix(static_cast<std::size_t>(height), static_cast<std::size_t>(pitch), 1);
    const auto at = [&](int i, int j) {
      return static_cast<float>(a(static_cast<std::size_t>(i), static_cast<std::size_t>(j)));
    };
    std::vector<float> result(a.values().size());
    const auto place = [&](int i, int j) -> float& {
      return result[static_cast<std::size_t>(i) * static_cast<std::size_t>(pitch) +
                    static_cast<std::size_t>(j)];
    };
    for (int i = 0; i < height; ++i) {
      for (int j = 0; j < pitch; ++j) place(i, j) = at(i, j);
    }
    const std::size_t bytes = result.size() * sizeof(float);
    const cl::Buffer buffer = context.allocate(bytes);
    context.queue().enqueueWriteBuffer(buffer, CL_TRUE, 0, bytes, result.data());
    const std::size_t width = narrow ? 64 : 128;
    const std::size_t tiles = ceiling(static_cast<std::size_t>(rows), std::size_t{128}) *
                              ceiling(static_cast<std::size_t>(columns), width);
    context.run("test",
                {"nvidia/update_tiles.cl", "update_tiles", Precision::single_precision,
                 Storage::buffer, Texel::rgba, narrow ? " -DNARROW_TILES" : ""},
                {tiles * 2 * width}, buffer, pitch, row, row_end, column, column_end, k_first,
                k_end);
    context.queue().enqueueReadBuffer(buffer, CL_TRUE, 0, bytes, result.data());

    double largest = 0;
    int touched = 0;
    for (int i = 0; i < height; ++i) {
      for (int j = 0; j < pitch; ++j) {
        if (i < row || i >= row_end || j < column || j >= column_end) {
          touched += place(i, j) != at(i, j);
          continue;
        }
        double sum = at(i, j), weight = std::abs(sum);
        for (int k = k_first; k < k_end; ++k) {
          const double product = static_cast<double>(at(i, k)) * at(k, j);
          sum -= product;
          weight += std::abs(product);
        }
        largest = std::max(largest, std::abs(place(i, j) - sum) / weight);
      }
    }
    EXPECT_LE(largest, 0x1p-20) << rows << " x " << columns << (narrow ? ", narrow" : "");
    EXPECT_EQ(touched, 0) << rows << " x " << columns << (narrow ? ", narrow" : "");
  }
}

}  // namespace
}  // namespace lugpu

// How the fused schedules cut a step into work-groups.
#include "dense/tiling.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace lugpu {
namespace {

/// Every tiling that some device and problem of this size has.
std::vector<Tiling> tilings(std::size_t n, std::size_t end) {
  std::vector<Tiling> all;
  for (const char* type : {"cpu", "gpu"}) {
    Device device;
    device.type = type;
    for (const cl_uint units : {1u, 3u, 132u}) {
      device.compute_units = units;
      for (const Pivot pivot : {Pivot::none, Pivot::partial, Pivot::full}) {
        for (const Precision precision :
             {Precision::single_precision, Precision::double_precision}) {
          for (const Storage storage : {Storage::buffer, Storage::image}) {
            for (const Texel texel : {Texel::r, Texel::rgba}) {
              all.push_back(Tiling::make(device, Size::square(n, 0),
                                         {pivot, precision, storage, texel}, end));
            }
          }
        }
      }
    }
  }
  return all;
}

/// How many of `parts` parts of `size` from `start` on have each of first : end, as in
/// dense/tiling.clh.
std::vector<int> covered(std::size_t start, std::size_t size, std::size_t parts, std::size_t first,
                         std::size_t end) {
  std::vector<int> times(end, 0);
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t from = std::max(start + part * size, first);
    const std::size_t to = std::min(start + (part + 1) * size, end);
    for (std::size_t i = from; i < to; ++i) ++times[i];
  }
  times.erase(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(first));
  return times;
}

// A step has row and column first : n; or all rows, for Gauss-Jordan.
void covers_all(const Tiling& tiling, std::size_t first_row, std::size_t first_column) {
  const Tiling::Launch launch = tiling.launch(first_row, first_column);
  const std::size_t line = 128 / tiling.texel_bytes;
  const std::size_t texels = (tiling.end + tiling.pack - 1) / tiling.pack;
  const std::size_t first_texel = std::min(first_column / tiling.pack, texels);
  const std::vector<int> rows =
      covered(first_row / 8 * 8, launch.rows, launch.group_rows, first_row, tiling.n);
  const std::vector<int> columns = covered(first_texel / line * line, tiling.tile.columns,
                                           launch.group_columns, first_texel, texels);
  const auto once = [](int times) { return times == 1; };
  EXPECT_TRUE(std::all_of(rows.begin(), rows.end(), once));
  EXPECT_TRUE(std::all_of(columns.begin(), columns.end(), once));
  EXPECT_EQ(launch.rows % tiling.tile.rows, 0u);
  EXPECT_GE(launch.group_columns, 1u);  // the first work-group records the pivot
  EXPECT_LE(tiling.most_groups > 0 ? launch.groups() : launch.group_rows, tiling.most_candidates());
}

TEST(Tiling, EveryElementIsCoveredOnce) {
  for (const std::size_t n :
       {1,  2,  3,   5,   7,   8,   9,   15,  16,  17,  31,  32,   33,   63,
        64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025}) {
    for (const std::size_t end : {n, n + 1, n + 5}) {
      for (const Tiling& tiling : tilings(n, end)) {
        for (const std::size_t first : {0, 1, 6, 7, 8, 9, 31, 32, 33, 511, 513}) {
          if (first >= n) continue;
          SCOPED_TRACE(std::to_string(n) + " x " + std::to_string(end) + " from " +
                       std::to_string(first) + tiling.options());
          covers_all(tiling, first, first);  // LU
          covers_all(tiling, 0, first + 1);  // Gauss-Jordan
          if (HasFailure()) return;
        }
      }
    }
  }
}

// Whole tiles of rows, few enough work-groups where each has a candidate.
TEST(Tiling, WorkGroupsAreAboutAsManyAsWanted) {
  for (const Tiling& tiling : tilings(4096, 4096)) {
    const Tiling::Launch launch = tiling.launch(0, 0);
    if (tiling.most_groups == 0) {
      EXPECT_EQ(launch.rows, tiling.tile.rows);
    } else {
      EXPECT_LE(launch.groups(), tiling.most_groups + launch.group_columns);
      EXPECT_GT(2 * launch.groups(),
                std::min(tiling.most_groups, 4096 / tiling.tile.rows * launch.group_columns));
    }
  }
}

// The launches of several steps follow one another to the end, and a small matrix needs one.
TEST(Tiling, LaunchesOfSeveralSteps) {
  for (const std::size_t n : {1, 64, 1000, 4096, 20000}) {
    SCOPED_TRACE(n);
    for (const Tiling& tiling : tilings(n, n + 1)) {
      std::size_t launches = 0, last = 0;
      for (std::size_t first = 0; first < n; first = last, ++launches) {
        last = tiling.last_of_launch(first);
        ASSERT_GT(last, first);
        ASSERT_LE(last, n);
      }
      EXPECT_EQ(launches == 1, n <= 1000);
    }
  }
}

}  // namespace
}  // namespace lugpu

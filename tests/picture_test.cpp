// The colours of fields against the same sums on the host.
#include "simulation/picture.hpp"

#include <cmath>

#include "opencl_fixture.hpp"

namespace lugpu {
namespace {

using Rgb = std::array<int, 3>;
constexpr Rgb kWhite = {255, 255, 255}, kMagenta = {255, 0, 255}, kGrey = {128, 128, 128};

Rgb pixel(const Picture& picture, std::size_t x, std::size_t y) {
  const std::uint8_t* at = &picture.rgb[3 * (y * picture.width + x)];
  return {at[0], at[1], at[2]};
}

class PictureTest : public SurfaceKindTest {
 protected:
  Surface field(const Matrix& values) { return surface_of(context, GetParam(), values); }
};

TEST(PictureScale, HasWholeFactors) {
  for (const std::size_t n : {1, 2, 17, 255, 256, 257, 1023, 1024, 1025, 5000}) {
    const PictureScale scale = PictureScale::of(n, 3);
    EXPECT_TRUE(scale.magnify == 1 || scale.reduce == 1) << n;
    EXPECT_GE(std::max(scale.width, scale.height), 256u) << n;
    EXPECT_LE(scale.width, 1024u) << n;
  }
}

TEST_P(PictureTest, DivergingHasWhiteInTheMiddleAndYUpwards) {
  const Surface values = field(matrix({{-1, 0, 1}, {0, NAN, INFINITY}}));
  const Picture picture = paint(context, {&values, {3, 2, 1}, -1, 1, ColourMap::diverging});
  ASSERT_EQ(picture.width, 258u);
  ASSERT_EQ(picture.height, 172u);
  EXPECT_EQ(pixel(picture, 86, 171), kWhite);
  EXPECT_EQ(pixel(picture, 171, 86), kWhite);
  EXPECT_EQ(pixel(picture, 0, 85), kWhite);
  EXPECT_EQ(pixel(picture, 86, 0), kMagenta);
  EXPECT_EQ(pixel(picture, 257, 85), kMagenta);
  const Rgb low = pixel(picture, 85, 171), high = pixel(picture, 257, 171);
  EXPECT_GT(low[2], 2 * low[0]);
  EXPECT_GT(high[0], 2 * high[2]);
}

TEST_P(PictureTest, SequentialGrowsLighter) {
  Matrix ramp(1, 300);
  for (std::size_t i = 0; i < 300; ++i) ramp(0, i) = static_cast<double>(i) - 20;
  const Surface values = field(ramp);
  const Picture picture = paint(context, {&values, {300, 1, 1}, 0, 250, ColourMap::sequential});
  double before = -1;
  for (std::size_t x = 0; x < picture.width; ++x) {
    const Rgb rgb = pixel(picture, x, 0);
    const double light = 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];
    EXPECT_GE(light, before - 1.5) << x;
    before = std::max(before, light);
  }
  EXPECT_EQ(pixel(picture, 0, 0), pixel(picture, 20, 0));
  EXPECT_EQ(pixel(picture, 299, 0), pixel(picture, 270, 0));
  EXPECT_GT(before, 200);
}

TEST_P(PictureTest, WhatIsBeyondTheScaleHasTheColoursOfItsEnds) {
  const Surface values = field(matrix({{-3, -1, 1, 1.5, 4}}));
  for (const ColourMap map : {ColourMap::diverging, ColourMap::sequential}) {
    const Picture picture = paint(context, {&values, {5, 1, 1}, -1, 1, map});
    const std::size_t each = picture.width / 5;
    EXPECT_EQ(pixel(picture, 0, 0), pixel(picture, each, 0));
    EXPECT_EQ(pixel(picture, 3 * each, 0), pixel(picture, 2 * each, 0));
    EXPECT_EQ(pixel(picture, 4 * each, 0), pixel(picture, 2 * each, 0));
    EXPECT_NE(pixel(picture, 0, 0), pixel(picture, 2 * each, 0));
  }
}

TEST_P(PictureTest, MeansAlongZAndOverBlocksSkipSolids) {
  Matrix deep(2, 1030), wall(2, 1030);  // two layers of one row
  for (std::size_t i = 0; i < 1030; ++i) {
    deep(0, i) = i % 2 == 0 ? 3 : -1;
    deep(1, i) = i % 2 == 0 ? -3 : 1;
    if (i >= 10) continue;
    wall(0, i) = wall(1, i) = 1;
  }
  wall(0, 20) = 1;  // leaves -3 and 0 in the block of 4
  const Surface values = field(deep), solid = field(wall);
  const Picture picture =
      paint(context, {&values, {1030, 1, 2}, -1, 1, ColourMap::diverging, &solid});
  ASSERT_EQ(picture.width, 515u);
  ASSERT_EQ(picture.height, 1u);
  for (std::size_t x = 0; x < 5; ++x) EXPECT_EQ(pixel(picture, x, 0), kGrey);
  for (std::size_t x = 5; x < 515; ++x) {
    EXPECT_EQ(pixel(picture, x, 0) == kWhite, x != 10) << x;
  }
  EXPECT_GT(pixel(picture, 10, 0)[2], 2 * pixel(picture, 10, 0)[0]);  // -1
}

INSTANTIATE_TEST_SUITE_P(Kinds, PictureTest,
                         testing::Values(SurfaceKind{Precision::single_precision, Storage::buffer},
                                         SurfaceKind{Precision::double_precision, Storage::buffer}),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace lugpu

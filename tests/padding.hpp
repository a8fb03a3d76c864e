// What vectors on a device hold beyond their last column.
#pragma once

#include <algorithm>

#include "opencl_fixture.hpp"
#include "operators/vectors.hpp"

namespace lugpu {

/// In the texels, or the vectors of a CPU, that hold the last columns of a vector of `all`.
inline void expect_zeros_after_columns(const Vectors& all, const Surface& vector) {
  const std::size_t columns = all.layout().columns;
  const std::size_t pack = std::max(vector.pack(), all.cut().vector);
  const std::size_t end = (columns + pack - 1) / pack * pack;
  const Matrix stored = contents(all.context(), vector.part(vector.rows(), end));
  for (std::size_t j = columns; j < end; ++j) {
    for (std::size_t i = 0; i < stored.rows(); ++i) ASSERT_EQ(stored(i, j), 0) << i << " " << j;
  }
}

}  // namespace lugpu

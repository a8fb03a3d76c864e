// Matrices on their way to the device and back, through memory that the driver has pinned, as on a
// GPU, and without it, as on a CPU: the same elements, rounded once.
#include "opencl/transfer.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "base/error.hpp"
#include "opencl/context.hpp"

namespace lugpu {
namespace {

class TransferTest : public testing::TestWithParam<const char*> {
 protected:
  static Device device() {
    Device device = choose_device();
    device.type = GetParam();
    return device;
  }
  DeviceContext context_{device()};
};
INSTANTIATE_TEST_SUITE_P(, TransferTest, testing::Values("cpu", "gpu"),
                         [](const auto& type) { return std::string(type.param); });

// Element (i, j) of every matrix here: no float.
double element(std::size_t i, std::size_t j) {
  return 0.1 + 3.0 * i - 7.0 * j;
}

template <typename T>
std::vector<T> stored(Order order, std::size_t rows, std::size_t columns, std::size_t ld) {
  std::vector<T> values(ld * (order == Order::columns ? columns : rows), T{-1});
  for (std::size_t j = 0; j < columns; ++j) {
    for (std::size_t i = 0; i < rows; ++i)
      values[order == Order::columns ? j * ld + i : i * ld + j] = static_cast<T>(element(i, j));
  }
  return values;
}

// What arrives of elements that were Ts, through the precision.
template <typename T>
double arrived(std::size_t i, std::size_t j, Precision precision) {
  const T value = static_cast<T>(element(i, j));
  return precision == Precision::single_precision ? static_cast<float>(value) : value;
}

template <typename T>
void expect_arrival(DeviceContext& context, Order order, std::size_t rows, std::size_t columns,
                    std::size_t padding, Precision precision) {
  const std::size_t ld = (order == Order::columns ? rows : columns) + padding;
  const std::vector<T> values = stored<T>(order, rows, columns, ld);
  const View<const T> view{values.data(), rows, columns, ld, order};
  const std::size_t first = columns / 3;  // of the second part
  const MatrixView parts[] = {MatrixView(view).part(0, first),
                              MatrixView(view).part(first, columns - first)};
  for (const bool in_parts : {false, true}) {
    const cl::Buffer buffer =
        in_parts ? upload(context, parts, precision) : upload(context, MatrixView(view), precision);
    const Matrix back = download(context, buffer, rows, columns, precision);
    std::size_t wrong = 0;
    for (std::size_t j = 0; j < columns; ++j) {
      for (std::size_t i = 0; i < rows; ++i) wrong += back(i, j) != arrived<T>(i, j, precision);
    }
    EXPECT_EQ(wrong, 0) << (in_parts ? "in parts" : "as a whole");
  }
}

// From one piece to more than there are rooms for.
TEST_P(TransferTest, BringsEveryElement) {
  const std::pair<std::size_t, std::size_t> shapes[] = {{3, 2},       {1, 300001},  {300001, 1},
                                                        {1021, 2503}, {2503, 1021}, {70001, 43},
                                                        {43, 120001}, {300001, 21}};
  for (const auto& [rows, columns] : shapes) {
    for (const Order order : {Order::columns, Order::rows}) {
      for (const Precision precision : {Precision::single_precision, Precision::double_precision}) {
        SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns) +
                     (order == Order::rows ? " by rows " : " by columns ") + name(precision));
        expect_arrival<double>(context_, order, rows, columns, 0, precision);
        expect_arrival<double>(context_, order, rows, columns, 3, precision);
        expect_arrival<float>(context_, order, rows, columns, 0, precision);
      }
    }
  }
}

TEST_P(TransferTest, BringsRows) {
  const std::size_t rows = 2501, columns = 1023;
  const std::vector<double> values = stored<double>(Order::rows, rows, columns, columns + 5);
  const View<const double> view{values.data(), rows, columns, columns + 5, Order::rows};
  const cl::Buffer whole = context_.allocate(rows * columns * sizeof(float));
  std::size_t next = 0;
  upload_rows(context_, view, Precision::single_precision,
              [&](const cl::Buffer& piece, std::size_t first, std::size_t count) {
                EXPECT_EQ(first, next);
                next = first + count;
                context_.queue().enqueueCopyBuffer(piece, whole, 0, first * columns * sizeof(float),
                                                   count * columns * sizeof(float));
              });
  EXPECT_EQ(next, rows);
  const Matrix back = download(context_, whole, columns, rows, Precision::single_precision);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j)
      wrong += back(j, i) != arrived<double>(i, j, Precision::single_precision);
  }
  EXPECT_EQ(wrong, 0);
}

// In the last piece, when others have arrived; the next matrix is not disturbed.
TEST_P(TransferTest, RefusesWhatOverflows) {
  for (const Order order : {Order::columns, Order::rows}) {
    std::vector<double> values =
        stored<double>(order, 2503, 1021, order == Order::columns ? 2503 : 1021);
    values.back() = 1e300;
    const View<const double> view{values.data(), 2503, 1021,
                                  order == Order::columns ? std::size_t{2503} : 1021, order};
    try {
      upload(context_, MatrixView(view), Precision::single_precision);
      FAIL() << "nothing was thrown";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("1e+300"), std::string::npos) << error.what();
    }
    expect_arrival<double>(context_, order, 2503, 1021, 0, Precision::single_precision);
  }
}

// What uses the pieces fails while others travel and are filled.
TEST_P(TransferTest, StartsAgainAfterAFailure) {
  const std::vector<double> values = stored<double>(Order::columns, 2503, 1021, 2503);
  const MatrixView view(View<const double>{values.data(), 2503, 1021, 2503, Order::columns});
  int pieces = 0;
  EXPECT_THROW(upload_columns(context_, {&view, 1}, Precision::double_precision,
                              [&](const cl::Buffer&, std::size_t, std::size_t) {
                                if (++pieces == 4) throw std::runtime_error("no more");
                              }),
               std::runtime_error);
  EXPECT_EQ(pieces, 4);
  expect_arrival<double>(context_, Order::columns, 2503, 1021, 0, Precision::double_precision);
}

}  // namespace
}  // namespace lugpu

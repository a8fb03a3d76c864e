// What self-tests go by: product_errors().

#include "dense/proof.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace lugpu {
namespace {

// A = (1 2; 6 4; 3 8): P A = L U with rows 1 and 2, then 2 and 3 interchanged, and with columns
// left as they are.
Matrix tall() {
  Matrix a(3, 2);
  a(0, 0) = 1, a(0, 1) = 2, a(1, 0) = 6, a(1, 1) = 4, a(2, 0) = 3, a(2, 1) = 8;
  return a;
}
Matrix factors_of_tall() {
  Matrix lu(3, 2);
  lu(0, 0) = 6, lu(0, 1) = 4, lu(1, 0) = 0.5, lu(1, 1) = 6, lu(2, 0) = 1.0 / 6;
  lu(2, 1) = (2 - 4.0 / 6) / 6;
  return lu;
}

double largest_error(const ProductErrors& products) {
  return *std::ranges::max_element(products.errors);
}

TEST(ProductErrors, RightFactorsHaveNone) {
  const auto products = product_errors(tall(), factors_of_tall(), {2, 3}, {});
  ASSERT_TRUE(products);
  EXPECT_LT(largest_error(*products), 1e-15);
  // |L| (|U| |v|), v = (2, 1.5)
  EXPECT_DOUBLE_EQ(products->bounds[0], 18);
  EXPECT_DOUBLE_EQ(products->bounds[1], 0.5 * 18 + 9);
}

TEST(ProductErrors, WrongElementsAndInterchangesShow) {
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 2; ++j) {
      Matrix lu = factors_of_tall();
      lu(i, j) += 0x1p-10;
      EXPECT_GT(largest_error(*product_errors(tall(), lu, {2, 3}, {})), 1e-4) << i << ", " << j;
    }
  }
  EXPECT_GT(largest_error(*product_errors(tall(), factors_of_tall(), {2, 2}, {})), 1e-4);
  EXPECT_GT(largest_error(*product_errors(tall(), factors_of_tall(), {2, 3}, {2, 2})), 1e-4);
}

TEST(ProductErrors, ColumnsMoveToo) {
  Matrix a(3, 2);
  for (std::size_t i = 0; i < 3; ++i) a(i, 0) = tall()(i, 1), a(i, 1) = tall()(i, 0);
  const auto products = product_errors(a, factors_of_tall(), {2, 3}, {2, 2});
  ASSERT_TRUE(products);
  EXPECT_LT(largest_error(*products), 1e-15);
}

TEST(ProductErrors, InterchangesThatCannotBeAreNone) {
  EXPECT_FALSE(product_errors(tall(), factors_of_tall(), {2, 4}, {}));
  EXPECT_FALSE(product_errors(tall(), factors_of_tall(), {0, 3}, {}));
  EXPECT_FALSE(product_errors(tall(), factors_of_tall(), {2, 1}, {}));
  EXPECT_FALSE(product_errors(tall(), factors_of_tall(), {2, 3}, {3, 2}));
}

}  // namespace
}  // namespace lugpu

// Matrices of grids on the host: the product, the stored matrix and its diagonal are three ways to
// the same thing; small cases by hand.
#include "matrix/grid.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "operators/product.hpp"

namespace lugpu {
namespace {

Grid random_grid(std::array<std::size_t, 3> size, std::array<Wall, 3> walls, bool obstacles) {
  Grid grid{size, walls, {1, 0.5, 2}, 0.25};
  std::mt19937 random(1);
  grid.conductivity.resize(grid.unknowns());
  for (double& k : grid.conductivity) {
    k = obstacles && random() % 4 == 0 ? 0 : 1 + static_cast<double>(random() % 8);
  }
  return grid;
}

TEST(Grids, ProductStoredMatrixAndDiagonalAgree) {
  const std::array<Wall, 4> kinds = {Wall::dirichlet, Wall::neumann, Wall::periodic,
                                     Wall::dirichlet_half};
  for (const std::array<std::size_t, 3> size : {std::array<std::size_t, 3>{7, 5, 3}, {2, 1, 4}}) {
    for (std::size_t turn = 0; turn < 4; ++turn) {
      const std::array<Wall, 3> walls = {kinds[turn], kinds[(turn + 1) % 4], kinds[(turn + 2) % 4]};
      for (const bool varies : {false, true}) {
        Grid grid = random_grid(size, walls, true);
        if (!varies) grid.conductivity.clear();
        Matrix x(grid.unknowns(), 2);
        for (std::size_t i = 0; i < x.values().size(); ++i) {
          x.values()[i] = static_cast<double>(i * i % 13) - 6;
        }
        const Sparse stored = sparse(grid);
        EXPECT_TRUE(facts(stored).symmetric);
        const Matrix expected = multiply(stored, Op::none, x), product = multiply(grid, x);
        const std::vector<double> on_diagonal = diagonal(grid);
        for (std::size_t i = 0; i < product.values().size(); ++i) {
          EXPECT_NEAR(product.values()[i], expected.values()[i], 1e-12);
        }
        const Matrix full = dense(stored);
        // A periodic axis of one point is its own neighbour, and that of two has one neighbour.
        for (std::size_t i = 0; i < grid.unknowns(); ++i) {
          EXPECT_NEAR(on_diagonal[i], full(i, i), 1e-12);
        }
      }
    }
  }
}

// Beyond it stands -u: the mean at the wall is zero.
TEST(Grids, WallAtHalfAPointByHand) {
  const Grid grid{
      {2, 1, 1}, {Wall::dirichlet_half, Wall::neumann, Wall::neumann}, {10, 0, 0}, 1, {}};
  const Matrix a = dense(sparse(grid));
  EXPECT_EQ(a(0, 0), 31);
  EXPECT_EQ(a(0, 1), -10);
  EXPECT_EQ(a(1, 1), 31);
}

TEST(Grids, ConductivityByHand) {
  // Between 1 and 3: 2 * 1 * 3 / 4 = 1.5. Dirichlet walls: 1 on the left, 3 on the right.
  const Grid grid{{2, 1, 1}, {Wall::dirichlet, Wall::neumann, Wall::neumann}, {1, 0, 0}, 0, {1, 3}};
  const Matrix a = dense(sparse(grid));
  EXPECT_EQ(a(0, 0), 2.5);
  EXPECT_EQ(a(0, 1), -1.5);
  EXPECT_EQ(a(1, 0), -1.5);
  EXPECT_EQ(a(1, 1), 4.5);
}

TEST(Grids, NothingFlowsIntoAnObstacle) {
  const Grid grid{
      {3, 1, 1}, {Wall::dirichlet, Wall::neumann, Wall::neumann}, {1, 0, 0}, 0, {2, 0, 2}};
  const Matrix a = dense(sparse(grid));
  EXPECT_EQ(a(0, 0), 2);
  EXPECT_EQ(a(0, 1), 0);
  EXPECT_EQ(a(1, 1), 1);
  EXPECT_EQ(a(2, 1), 0);
}

}  // namespace
}  // namespace lugpu

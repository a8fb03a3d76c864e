// Iterative methods on stored matrices, sparse, banded and dense, against LAPACK and the host.

#include <lapacke.h>

#include <limits>
#include <memory>
#include <random>
#include <set>

#include "base/error.hpp"
#include "formats/formats.hpp"
#include "iterative/cg.hpp"
#include "iterative/colours.hpp"
#include "iterative/iterative_solver.hpp"
#include "matrix/grid.hpp"
#include "opencl_fixture.hpp"
#include "operators/banded_operator.hpp"
#include "operators/product.hpp"
#include "operators/sparse_operator.hpp"
#include "operators/stored_operator.hpp"

namespace lugpu {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Around registers, texels, blocks, slices and rows of the vectors.
const std::size_t kSizes[] = {0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 65, 257, 509};

std::int32_t integer(std::size_t i) {
  return static_cast<std::int32_t>(i);
}

// Some entries a row at random and what makes the diagonal dominate them; row and column 0 full if
// `hub`.
Sparse dominant(std::size_t n, bool symmetric, bool hub = false) {
  std::mt19937 generator(static_cast<unsigned>(n));
  const auto value = [&] { return static_cast<double>(generator() % 2048) / 1024.0 - 1.0; };
  std::vector<Triplet> triplets;
  std::vector<double> sums(n, 1.0);
  const auto add = [&](std::size_t i, std::size_t j, double v) {
    if (i == j) return;
    triplets.push_back({integer(i), integer(j), v});
    sums[i] += 1.25 * std::abs(v);
    if (!symmetric) return;
    triplets.push_back({integer(j), integer(i), v});
    sums[j] += 1.25 * std::abs(v);
  };
  for (std::size_t i = 0; i < n; ++i) {
    for (int k = 0; k < 3; ++k) add(i, generator() % n, value());
    if (hub && i > 0) add(0, i, value());
    if (hub && i > 0 && !symmetric) add(i, 0, value());
  }
  for (std::size_t i = 0; i < n; ++i) triplets.push_back({integer(i), integer(i), sums[i]});
  return Sparse(n, n, triplets);
}

Matrix by_lapack(const Sparse& a, Matrix b) {
  if (a.rows() == 0) return b;
  Matrix lu = dense(a);
  std::vector<lapack_int> ipiv(a.rows());
  EXPECT_EQ(LAPACKE_dgesv(LAPACK_COL_MAJOR, lu.ld(), static_cast<int>(b.cols()), lu.values().data(),
                          lu.ld(), ipiv.data(), b.values().data(), b.ld()),
            0);
  return b;
}

double norm(const std::vector<double>& x) {
  double sum = 0;
  for (const double value : x) sum += value * value;
  return std::sqrt(sum);
}

// ||x - y|| / ||y||
double distance(const Matrix& x, const Matrix& y) {
  std::vector<double> difference = x.values();
  for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= y.values()[i];
  return norm(y.values()) > 0 ? norm(difference) / norm(y.values()) : norm(difference);
}

double true_residual(const Sparse& a, const Matrix& x, const Matrix& b) {
  return norm(residual(a, x, b).values()) / norm(b.values());
}

Sparse laplacian(std::array<std::size_t, 3> size) {
  return sparse(Grid{size, {}, {1, 1, size[2] > 1 ? 1.0 : 0.0}, 0, {}});
}

class IterativeSparse : public SurfaceKindTest {
 protected:
  using Method = IterativeMethod;
  const bool is_double = precision == Precision::double_precision;
  const double tight = is_double ? 1e-13 : 1e-6;

  std::unique_ptr<PreparedSolver> solver(const Sparse& a, Method method, StoppingRule rule) {
    return iterative_solver(context, a, precision, storage, texel, method, rule);
  }
  std::unique_ptr<PreparedSolver> solver(const Matrix& a, DenseOperator::Order order, Method method,
                                         StoppingRule rule) {
    return iterative_solver(context, a, order, precision, storage, texel, method, rule);
  }
  Matrix random(std::size_t rows, std::size_t columns, std::uint64_t seed) {
    return random_in(precision, rows, columns, seed);
  }

  struct Solved {
    Iteration iteration;
    Matrix x;
  };
  Solved solve(PreparedSolver& solver, const Matrix& b, const Matrix& start) {
    solver.upload(b, start);
    Solved solved;
    solved.iteration = solver.solve();
    solved.x = solver.download();
    return solved;
  }
  Solved solve(PreparedSolver& solver, const Matrix& b) {
    return solve(solver, b, Matrix(b.rows(), b.cols()));
  }
  // Conjugate gradients with one operator.
  template <typename A>
  Solved solve_by_cg(const A& a, const VectorLayout& layout, const Matrix& b, StoppingRule rule,
                     const Matrix& start) {
    IterativeSolver adapter(context, b.rows(), layout,
                            [&](Vectors& vectors, const Surface& on_b, Surface& x) {
                              return conjugate_gradients(a, vectors, on_b, x, rule);
                            });
    return solve(adapter, b, start);
  }

  // The systems are well conditioned, so that errors are about as small as residuals.
  void expect_solution(PreparedSolver& solver, const Sparse& a, const Matrix& b) {
    const Solved solved = solve(solver, b);
    EXPECT_TRUE(solved.iteration.converged) << solved.iteration.reason;
    EXPECT_EQ(solved.iteration.reason, "");
    EXPECT_LT(distance(solved.x, by_lapack(a, b)), 30 * tight);
  }
};
INSTANTIATE_TEST_SUITE_P(Kinds, IterativeSparse, testing::ValuesIn(pairwise_kinds()),
                         testing::PrintToStringParamName());

TEST(DenseProduct, OfVectorsOfSeveralRows) {
  constexpr std::size_t kN = 4100;  // 4096 elements are one row
  constexpr Precision kSingle = Precision::single_precision;
  Matrix a(kN, kN);
  for (std::size_t i = 0; i < kN; ++i) a(i, i) = 2, a(i, (i + 7) % kN) = 1;
  const Matrix x = random_in(kSingle, kN, 1, 1);
  const DenseOperator product(shared_context(), a, DenseOperator::Order::columns, kSingle,
                              Storage::buffer, Texel::r);
  Vectors vectors(shared_context(), product.layout(), 1);
  Surface on_device = vectors.take(), result = vectors.take();
  vectors.upload(x.values(), on_device);
  product.apply(vectors, on_device, result);
  const std::vector<double> is = vectors.download(result, kN);
  for (std::size_t i = 0; i < kN; ++i) {
    ASSERT_NEAR(is[i], 2 * x(i, 0) + x((i + 7) % kN, 0), 4 * epsilon(kSingle)) << i;
  }
}

TEST_P(IterativeSparse, CgSolvesWhatLapackSolves) {
  for (const std::size_t n : kSizes) {
    SCOPED_TRACE(n);
    const Sparse a = dominant(n, true, n % 2 == 1);
    const Matrix b = random(n, 1, 1), full = dense(a);
    const StoppingRule rule{tight, 200};
    expect_solution(*solver(a, Method::cg, rule), a, b);
    for (const auto order : {DenseOperator::Order::columns, DenseOperator::Order::diagonals}) {
      expect_solution(*solver(full, order, Method::cg, rule), a, b);
    }
  }
}

TEST_P(IterativeSparse, RelaxationSolvesWhatLapackSolves) {
  for (const std::size_t n : kSizes) {
    SCOPED_TRACE(n);
    const Sparse a = dominant(n, false, n % 2 == 1);
    const Matrix b = random(n, 1, 2), full = dense(a);
    for (const Method method : {Method::jacobi, Method::gauss_seidel}) {
      const StoppingRule rule{tight, 500};
      expect_solution(*solver(a, method, rule), a, b);
      expect_solution(*solver(full, DenseOperator::Order::columns, method, rule), a, b);
      expect_solution(*solver(full, DenseOperator::Order::diagonals, method, rule), a, b);
    }
  }
}

// `sweeps` of x(i) += (b(i) - A(i, :) x) / a(i, i) for the rows in `order`, one after the other, or
// all from the x before.
Matrix swept(const Matrix& a, const Matrix& b, Matrix x, const std::vector<std::int32_t>& order,
             bool at_once, int sweeps) {
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    Matrix next = x;
    for (const std::int32_t row : order) {
      const auto i = static_cast<std::size_t>(row);
      double r = b(i, 0);
      for (std::size_t j = 0; j < a.cols(); ++j) r -= a(i, j) * (at_once ? x : next)(j, 0);
      next(i, 0) += r / a(i, i);
    }
    x = next;
  }
  return x;
}

TEST_P(IterativeSparse, SweepsAreThoseOfTheHost) {
  for (const std::size_t n : kSizes) {
    if (n == 0 || n > 300) continue;
    SCOPED_TRACE(n);
    const Sparse a = dominant(n, false, n % 2 == 1);
    const Matrix b = random(n, 1, 3), start = random(n, 1, 4), full = dense(a);
    std::vector<std::int32_t> rows(n);
    for (std::size_t i = 0; i < n; ++i) rows[i] = integer(i);
    const StoppingRule two{0, 2};
    const double most = 100 * epsilon(precision);
    const auto sweep = [&](PreparedSolver& prepared) { return solve(prepared, b, start).x; };
    const Matrix jacobi = swept(full, b, start, rows, true, 2);
    EXPECT_LT(distance(sweep(*solver(a, Method::jacobi, two)), jacobi), most);
    const Matrix coloured = swept(full, b, start, colours(a).order, false, 2);
    EXPECT_LT(distance(sweep(*solver(a, Method::gauss_seidel, two)), coloured), most);
    const Matrix in_order = swept(full, b, start, rows, false, 2);
    EXPECT_LT(
        distance(sweep(*solver(full, DenseOperator::Order::columns, Method::gauss_seidel, two)),
                 in_order),
        most);
  }
}

TEST_P(IterativeSparse, CgTakesAsManyStepsAsItsTheorySays) {
  struct Known {
    std::array<std::size_t, 3> size;
    std::size_t steps;
  };
  for (const Known& known : {Known{{64, 64, 1}, 101}, {{128, 128, 1}, 204}, {{32, 32, 32}, 64}}) {
    const Sparse a = laplacian(known.size);
    const std::size_t n = a.rows();
    const Matrix b = filled(n, 1, 1), start(n, 1);
    const StoppingRule rule{1e-6, 1000};
    const SparseOperator slices(context, a, precision, storage, texel);
    const BandedOperator bands(context, a, precision, storage, texel);
    for (const Solved& solved : {solve_by_cg(slices, slices.layout(), b, rule, start),
                                 solve_by_cg(bands, bands.layout(), b, rule, start)}) {
      EXPECT_TRUE(solved.iteration.converged);
      // Rounding takes some directions again.
      EXPECT_NEAR(solved.iteration.iterations, known.steps, is_double ? 1 : known.steps / 5);
      EXPECT_EQ(solved.iteration.residuals.size(), solved.iteration.iterations + 1);
      EXPECT_EQ(solved.iteration.residuals.front(), 1);
      EXPECT_LT(true_residual(a, solved.x, b), is_double ? 1.001e-6 : 1e-3);
    }
  }
}

// x, which is one step behind in the kernels, belongs to the last residual.
TEST_P(IterativeSparse, CgDoesAsManyStepsAsAllowed) {
  const Sparse a = laplacian({33, 31, 1});
  const Matrix b = filled(a.rows(), 1, 1);
  for (const std::size_t steps : {0, 1, 2, 7, 8, 9, 40}) {
    const Solved solved = solve(*solver(a, Method::cg, {1e-6, steps}), b);
    EXPECT_FALSE(solved.iteration.converged);
    EXPECT_NE(solved.iteration.reason, "");
    EXPECT_EQ(solved.iteration.iterations, steps);
    const double is = true_residual(a, solved.x, b);
    EXPECT_NEAR(solved.iteration.residuals.back(), is, 1e-3 * is) << steps;
  }
}

TEST_P(IterativeSparse, CgStartsFromAGuess) {
  const Sparse a = laplacian({33, 33, 1});
  const Matrix b = filled(a.rows(), 1, 1);
  const Solved first = solve(*solver(a, Method::cg, {1e-5, 500}), b);
  const Solved again = solve(*solver(a, Method::cg, {2e-5, 500}), b, first.x);
  EXPECT_TRUE(again.iteration.converged);
  EXPECT_LE(again.iteration.iterations, 1);
  EXPECT_LT(again.iteration.residuals.front(), 1e-4);
}

TEST_P(IterativeSparse, SolutionOfZeroIsZero) {
  const Sparse a = dominant(37, true);
  for (const Method method : {Method::cg, Method::jacobi, Method::gauss_seidel}) {
    const Solved solved = solve(*solver(a, method, {1e-6, 10}), Matrix(37, 1), filled(37, 1, 3));
    EXPECT_TRUE(solved.iteration.converged);
    EXPECT_EQ(solved.iteration.iterations, 0);
    EXPECT_EQ(norm(solved.x.values()), 0);
  }
}

// Squares of the right-hand side leave the range of the precision.
TEST_P(IterativeSparse, RightSidesOfAnySize) {
  const GridOperator grid(Grid{{33, 31, 1}, {}, {1, 1, 0}, 0.125, {}});
  const Sparse a = sparse(grid.grid());
  const std::size_t n = a.rows();
  const std::unique_ptr<Operator> stored =
      stored_operator(context, a, facts(a), precision, storage, texel);
  const VectorLayout flat = VectorLayout::of_length(n, precision, storage, texel);
  const VectorLayout rows = grid.layout(precision, storage, texel);
  const StoppingRule rule{is_double ? 1e-10 : 1e-5, 300};
  const Matrix b = random(n, 1, 5), start = random(n, 1, 6);
  const Solved usual = solve_by_cg(*stored, flat, b, rule, start);
  ASSERT_TRUE(usual.iteration.converged);
  const double far = is_double ? std::ldexp(1, 900) : std::ldexp(1, 84);
  for (const double factor : {far, 1 / far}) {
    Matrix scaled_b = b, scaled_start = start, expected = usual.x;
    for (Matrix* m : {&scaled_b, &scaled_start, &expected}) {
      for (double& value : m->values()) value *= factor;
    }
    for (const Solved& solved : {solve_by_cg(*stored, flat, scaled_b, rule, scaled_start),
                                 solve_by_cg(grid, rows, scaled_b, rule, scaled_start)}) {
      EXPECT_TRUE(solved.iteration.converged) << solved.iteration.reason;
      EXPECT_NEAR(solved.iteration.iterations, usual.iteration.iterations, 2);
      Matrix x = solved.x;
      for (double& value : x.values()) value /= factor;
      EXPECT_LT(distance(x, usual.x), 100 * rule.tolerance);
    }
    for (const Method method : {Method::jacobi, Method::gauss_seidel}) {
      const Solved solved = solve(*solver(a, method, {1e-3, 2000}), scaled_b, scaled_start);
      EXPECT_TRUE(solved.iteration.converged) << solved.iteration.reason;
    }
  }
}

TEST_P(IterativeSparse, CgSaysThatAMatrixIsNotPositiveDefinite) {
  // Eigenvalues 3 and -1; b has a part of both.
  const Sparse a(2, 2, {{0, 0, 1}, {0, 1, 2}, {1, 0, 2}, {1, 1, 1}});
  const Matrix b = matrix({{1}, {-0.5}});
  const Solved solved = solve(*solver(a, Method::cg, {1e-6, 50}), b);
  EXPECT_FALSE(solved.iteration.converged);
  EXPECT_NE(solved.iteration.reason.find("not positive definite"), std::string::npos)
      << solved.iteration.reason;
  EXPECT_EQ(solved.iteration.residuals.size(), solved.iteration.iterations + 1);
  // In a later step: x belongs to the last residual.
  std::vector<Triplet> triplets;
  for (std::int32_t i = 0; i < 300; ++i) {
    triplets.push_back({i, i, 1.0 + i});
    if (i % 100 == 99) triplets.push_back({i, i - 1, 200.0});
    if (i % 100 == 99) triplets.push_back({i - 1, i, 200.0});
  }
  const Sparse later(300, 300, triplets);
  const Matrix ones = filled(300, 1, 1);
  const Solved broken = solve(*solver(later, Method::cg, {1e-12, 500}), ones);
  EXPECT_NE(broken.iteration.reason.find("not positive definite"), std::string::npos)
      << broken.iteration.reason;
  EXPECT_GT(broken.iteration.iterations, 1);
  EXPECT_LT(broken.iteration.iterations, 400);
  const double is = true_residual(later, broken.x, ones);
  EXPECT_NEAR(broken.iteration.residuals.back(), is, 1e-2 * is);
}

// Steps after the solution is as exact as it gets: p . A p underflows in the end.
TEST_P(IterativeSparse, StepsBeyondTheSolutionDoNoHarm) {
  const Sparse a = dominant(64, true);
  const Matrix b = random(64, 1, 12);
  const Solved solved = solve(*solver(a, Method::cg, {0, 5000}), b);
  EXPECT_EQ(solved.iteration.reason.find("not positive definite"), std::string::npos);
  EXPECT_LT(solved.iteration.residuals.back(), epsilon(precision));
  EXPECT_LT(distance(solved.x, by_lapack(a, b)), 30 * tight);
}

TEST_P(IterativeSparse, NumbersThatAreNotFiniteEndIt) {
  const Sparse a = dominant(67, true);
  for (const Method method : {Method::cg, Method::jacobi, Method::gauss_seidel}) {
    for (const double poison : {kNaN, kInfinity}) {
      Matrix b = filled(67, 1, 1), start(67, 1);
      b(66, 0) = poison;
      const Iteration of_b = solve(*solver(a, method, {1e-6, 100}), b).iteration;
      EXPECT_FALSE(of_b.converged);
      EXPECT_NE(of_b.reason.find("not finite"), std::string::npos) << of_b.reason;
      start(3, 0) = poison;
      const Iteration of_x =
          solve(*solver(a, method, {1e-6, 100}), filled(67, 1, 1), start).iteration;
      EXPECT_FALSE(of_x.converged);
      EXPECT_NE(of_x.reason.find("not finite"), std::string::npos) << of_x.reason;
    }
  }
  // p . A p overflows, the residual does not.
  const double huge = is_double ? 1e300 : 1e37;
  const Sparse large(2, 2, {{0, 0, huge}, {1, 1, huge}});
  const double b = is_double ? 1e60 : 1e6;
  const Iteration of_a = solve(*solver(large, Method::cg, {1e-6, 9}), filled(2, 1, b)).iteration;
  EXPECT_FALSE(of_a.converged);
  EXPECT_NE(of_a.reason.find("not finite"), std::string::npos) << of_a.reason;
}

TEST_P(IterativeSparse, DivergingSweepsEndWithAReason) {
  Sparse a(40, 40, {});
  std::vector<Triplet> triplets;
  for (std::int32_t i = 0; i < 40; ++i) {
    triplets.push_back({i, i, 1});
    triplets.push_back({i, (i + 1) % 40, 3});
  }
  a = Sparse(40, 40, triplets);
  const Matrix full = dense(a), b = random(40, 1, 7);
  const auto columns = DenseOperator::Order::columns;
  const StoppingRule rule{1e-6, 100000};
  for (const Method method : {Method::jacobi, Method::gauss_seidel}) {
    for (const Iteration& one : {solve(*solver(a, method, rule), b).iteration,
                                 solve(*solver(full, columns, method, rule), b).iteration}) {
      EXPECT_FALSE(one.converged);
      EXPECT_NE(one.reason.find("diverge"), std::string::npos) << one.reason;
      EXPECT_LT(one.iterations, 1000);
    }
  }
}

TEST_P(IterativeSparse, UnsuitableMatricesAreRefusedBeforehand) {
  const Sparse wide(2, 3, {{0, 0, 1}, {1, 1, 1}});
  const Sparse unsymmetric(2, 2, {{0, 0, 1}, {0, 1, 1}, {1, 1, 1}});
  const Sparse negative(2, 2, {{0, 0, 1}, {1, 1, -1}});
  const Sparse zero(3, 3, {{0, 0, 1}, {1, 1, 0}, {2, 2, 1}, {1, 2, 1}, {2, 1, 1}});
  const Sparse missing(3, 3, {{0, 0, 1}, {2, 2, 1}, {1, 2, 1}, {2, 1, 1}});
  const auto expect_refused = [&](const Sparse& a, Method method) {
    const auto order = DenseOperator::Order::diagonals;
    EXPECT_THROW(solver(a, method, {1e-6, 10}), InputError);
    EXPECT_THROW(solver(dense(a), order, method, {1e-6, 10}), InputError);
  };
  for (const Method method : {Method::cg, Method::jacobi, Method::gauss_seidel}) {
    for (const Sparse& a : {wide, zero, missing}) expect_refused(a, method);
  }
  for (const Sparse& a : {unsymmetric, negative}) expect_refused(a, Method::cg);
  EXPECT_NO_THROW(solver(negative, Method::gauss_seidel, {1e-6, 10}));
  const std::unique_ptr<PreparedSolver> two = solver(unsymmetric, Method::jacobi, {1e-6, 10});
  EXPECT_THROW(two->upload(Matrix(3, 1), Matrix(3, 1)), InputError);
  EXPECT_THROW(two->upload(Matrix(2, 2), Matrix(2, 1)), InputError);
}

Sparse from_file(const std::string& name) {
  return std::get<Sparse>(read_dense_or_sparse(LUGPU_SOURCE_DIR "/tests/data/good/" + name));
}

// LFAT5 is positive definite with a condition of 1e8; the other two are not symmetric.
TEST_P(IterativeSparse, MatricesOfThePublicCollections) {
  if (!is_double) GTEST_SKIP() << "LFAT5 is too ill-conditioned for single precision";
  const Sparse beam = from_file("LFAT5.mtx");
  const Matrix b = filled(beam.rows(), 1, 1), exact = by_lapack(beam, b);
  const StoppingRule rule{1e-8, 2000};
  for (const Method method : {Method::cg, Method::jacobi, Method::gauss_seidel}) {
    const Solved solved = solve(*solver(beam, method, rule), b);
    EXPECT_TRUE(solved.iteration.converged) << solved.iteration.reason;
    EXPECT_LT(true_residual(beam, solved.x, b), 2e-8);
    EXPECT_LT(distance(solved.x, exact), 1e-8);
  }
  for (const char* name : {"bfwa62.mtx", "cage5.mtx"}) {
    const Sparse a = from_file(name);
    EXPECT_THROW(solver(a, Method::cg, rule), InputError);
    const Iteration one = solve(*solver(a, Method::jacobi, rule), filled(a.rows(), 1, 1)).iteration;
    EXPECT_NE(one.reason.find("diverge"), std::string::npos) << one.reason;
  }
  const Sparse cage = from_file("cage5.mtx");
  const Matrix ones = filled(cage.rows(), 1, 1);
  EXPECT_LT(
      distance(solve(*solver(cage, Method::gauss_seidel, rule), ones).x, by_lapack(cage, ones)),
      1e-6);
}

TEST_P(IterativeSparse, SeveralRightSidesOneAfterTheOther) {
  const Sparse a = dominant(131, true);
  const Matrix b = random(131, 3, 8);
  for (const Method method : {Method::cg, Method::jacobi, Method::gauss_seidel}) {
    const std::unique_ptr<PreparedSolver> prepared = solver(a, method, {tight, 300});
    Solved solved = solve(*prepared, b);
    EXPECT_TRUE(solved.iteration.converged);
    EXPECT_LT(distance(solved.x, by_lapack(a, b)), 30 * tight);
    EXPECT_EQ(prepared->solve().residuals, solved.iteration.residuals);
    EXPECT_EQ(prepared->download().values(), solved.x.values());
    EXPECT_EQ(solve(*prepared, Matrix(131, 0)).x.cols(), 0);
  }
  // The first column is done at once, and the second one is the first that does not converge.
  Matrix two(131, 3);
  for (std::size_t i = 0; i < 131; ++i) two(i, 1) = two(i, 2) = b(i, 0);
  const Iteration one = solve(*solver(a, Method::cg, {tight, 2}), two).iteration;
  EXPECT_FALSE(one.converged);
  EXPECT_EQ(one.iterations, 2);
}

TEST_P(IterativeSparse, DenseMatricesTimesVectors) {
  for (const std::size_t n :
       {0, 1, 2, 3, 5, 15, 16, 17, 31, 32, 33, 67, 127, 128, 129, 521, 1031}) {
    SCOPED_TRACE(n);
    const Matrix a = random(n, n, 9), x = random(n, 1, 10), y = random(n, 1, 11);
    const Matrix exact = multiply(MatrixView(a), Op::none, x);
    const Matrix sizes = residual_sizes(MatrixView(a), x, Matrix(n, 1));
    for (const auto order : {DenseOperator::Order::columns, DenseOperator::Order::diagonals}) {
      const DenseOperator on_device(context, a, order, precision, storage, texel);
      Vectors all(context, on_device.layout(), 1);
      const std::size_t padded = all.layout().rows * all.layout().columns;
      Surface on_x = all.take(), on_y = all.take(), result = all.take();
      all.upload(x.values(), on_x);
      all.upload(y.values(), on_y);
      all.upload(std::vector<double>(padded, 1.0), result);
      on_device.apply(all, on_x, result);
      const std::vector<double> ax = all.download(result, padded);
      on_device.apply(all, on_x, Operation::subtract, on_y, result);
      const std::vector<double> less = all.download(result, padded);
      const Curvature curvature{context.allocate(all.cut().groups() * element_size(precision)),
                                context.zeros(1)};
      on_device.apply(all, on_x, result, curvature);
      EXPECT_EQ(all.download(result, padded), ax);
      for (std::size_t i = 0; i < padded; ++i) {
        const double unit = static_cast<double>(n + 2) * epsilon(precision);
        const double most = i < n ? unit * (sizes(i, 0) + 1) : 0;
        ASSERT_NEAR(ax[i], i < n ? exact(i, 0) : 0, most) << i;
        ASSERT_NEAR(less[i], i < n ? exact(i, 0) - y(i, 0) : 0, most) << i;
      }
    }
  }
}

TEST_P(IterativeSparse, DenseMatricesSpreadNan) {
  const Matrix a = filled(70, 70, 1);
  Matrix x = filled(70, 1, 1);
  x(69, 0) = kNaN;
  for (const auto order : {DenseOperator::Order::columns, DenseOperator::Order::diagonals}) {
    const DenseOperator on_device(context, a, order, precision, storage, texel);
    Vectors all(context, on_device.layout(), 1);
    Surface on_x = all.take(), result = all.take();
    all.upload(x.values(), on_x);
    on_device.apply(all, on_x, result);
    const std::size_t padded = all.layout().rows * all.layout().columns;
    const std::vector<double> is = all.download(result, padded);
    for (std::size_t i = 0; i < padded; ++i) ASSERT_EQ(std::isnan(is[i]), i < 70) << i;
  }
}

void expect_proper(const Sparse& a, std::size_t most) {
  const Colours chosen = colours(a);
  const std::size_t n = a.rows(), count = chosen.begins.size() - 1;
  EXPECT_LE(count, most);
  ASSERT_EQ(chosen.begins.back(), n);
  EXPECT_EQ(std::set<std::int32_t>(chosen.order.begin(), chosen.order.end()).size(), n);
  std::vector<std::size_t> colour(n);
  for (std::size_t c = 0; c < count; ++c) {
    ASSERT_LT(chosen.begins[c], chosen.begins[c + 1]);
    for (std::size_t k = chosen.begins[c]; k < chosen.begins[c + 1]; ++k) {
      colour[static_cast<std::size_t>(chosen.order[k])] = c;
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::int64_t k = a.row_begin()[i]; k < a.row_begin()[i + 1]; ++k) {
      const auto j = static_cast<std::size_t>(a.columns()[static_cast<std::size_t>(k)]);
      ASSERT_TRUE(i == j || colour[i] != colour[j]) << i << ", " << j;
    }
  }
}

TEST(ColoursOfSparseMatrices, AreProperAndFew) {
  expect_proper(Sparse(), 0);
  expect_proper(Sparse(5, 5, {}), 1);
  expect_proper(laplacian({17, 12, 1}), 2);
  expect_proper(laplacian({6, 5, 4}), 2);
  expect_proper(Sparse(3, 3, {{0, 2, 1}}), 2);
  expect_proper(dominant(509, false), 16);
  expect_proper(dominant(509, true, true), 16);
  std::vector<Triplet> all;
  for (std::int32_t i = 0; i < 49; ++i) all.push_back({i / 7, i % 7, 1});
  expect_proper(Sparse(7, 7, all), 7);
}

TEST(ColoursOfSparseMatrices, ReorderingMovesRowsAndColumns) {
  const Sparse a(3, 3, {{0, 0, 1}, {0, 2, 2}, {1, 1, 3}, {2, 1, 4}});
  const Matrix moved = dense(reordered(a, {2, 0, 1}));
  EXPECT_TRUE(equal(moved, matrix({{0, 0, 4}, {2, 1, 0}, {0, 0, 3}})));
}

TEST(FormatsOfSparseMatrices, DiagonalsWhereTheyAreFullEnough) {
  Device cpu, gpu;
  cpu.type = "cpu";
  gpu.type = "gpu";
  // Every k-th element of one diagonal.
  const auto suits = [](std::int32_t k, const Device& device, Precision precision) {
    std::vector<Triplet> triplets;
    for (std::int32_t i = 0; i < 1000; i += k) triplets.push_back({i, i, 1});
    const Sparse a(1000, 1000, triplets);
    return suits_diagonals(a, facts(a), device, precision);
  };
  constexpr Precision kSingle = Precision::single_precision, kDouble = Precision::double_precision;
  EXPECT_TRUE(suits(4, cpu, kDouble));
  EXPECT_FALSE(suits(5, cpu, kSingle));
  EXPECT_TRUE(suits(2, gpu, kSingle));
  EXPECT_FALSE(suits(2, gpu, kDouble));
  EXPECT_TRUE(suits(1, gpu, kDouble));
  const Sparse grid = laplacian({64, 64, 1}), scattered = dominant(509, true);
  EXPECT_TRUE(suits_diagonals(grid, facts(grid), gpu, kDouble));
  EXPECT_FALSE(suits_diagonals(scattered, facts(scattered), cpu, kDouble));
}

}  // namespace
}  // namespace lugpu

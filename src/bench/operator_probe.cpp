#include "bench/operator_probe.hpp"

#include <algorithm>
#include <chrono>
#include <functional>

#include "iterative/cg.hpp"
#include "iterative/relaxation.hpp"
#include "matrix/random.hpp"
#include "operators/banded_operator.hpp"
#include "operators/dense_operator.hpp"

namespace lugpu {
namespace {

// Enqueues `count` operations, or does them.
using Repeat = std::function<void(int count)>;

double seconds(DeviceContext& context, const Repeat& repeat, int count) {
  context.queue().finish();
  const auto start = std::chrono::steady_clock::now();
  repeat(count);
  context.queue().finish();
  context.timeline().clear();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Seconds of one operation, of every run; so many at once, up to `most`, that a run takes
// milliseconds. What comes with any number of them is subtracted.
std::vector<double> sampled(DeviceContext& context, int runs, int most, const Repeat& repeat) {
  constexpr double kLongEnough = 0.01;
  repeat(1);
  int count = 4;
  while (2 * count <= most && seconds(context, repeat, count) < kLongEnough) count *= 2;
  std::vector<double> times;
  while (times.size() < static_cast<std::size_t>(runs)) {
    const double few = seconds(context, repeat, count / 4), many = seconds(context, repeat, count);
    times.push_back((many > few ? many - few : many) / (many > few ? count - count / 4 : count));
  }
  return times;
}

constexpr std::size_t kSmallestGrid = 16;  // on which conjugate gradients take several steps
constexpr std::size_t kLargestFull = 64;   // n of a full matrix of order n^2

// Ones on ten diagonals around the main one, as far as they fit.
Sparse ten_diagonals(std::size_t order) {
  const auto n = static_cast<std::int32_t>(order);
  std::vector<Triplet> triplets;
  for (std::int32_t i = 0; i < n; ++i) {
    for (std::int32_t j = std::max(i - 5, 0); j < std::min(i + 5, n); ++j) {
      triplets.push_back({i, j, 1});
    }
  }
  return Sparse(order, order, std::move(triplets));
}

// Products of stored matrices of this order with a vector, each with the words of a row.
template <typename Add>
void add_stored_products(DeviceContext& context, std::size_t order, Precision precision,
                         Storage storage, const Add& add) {
  const DenseOperator full(context, random_matrix(order, order, 1), DenseOperator::Order::columns,
                           precision, storage, kVectorTexel);
  const BandedOperator banded(context, ten_diagonals(order), precision, storage, kVectorTexel);
  Vectors vectors(context, full.layout(), 1);
  Surface x = vectors.take(), y = vectors.take();
  vectors.upload(std::vector<double>(order, 1.0), x);
  const auto add_product = [&](const char* name, double words, const Operator& a) {
    add(name, words, [&](int count) {
      for (int i = 0; i < count; ++i) a.apply(vectors, x, y);
    });
  };
  add_product("full product", static_cast<double>(order), full);
  add_product("ten diagonals", 12, banded);
}

}  // namespace

std::vector<OperatorTime> time_operators(DeviceContext& context, std::size_t n, Precision precision,
                                         Storage storage, int runs) {
  Grid grid;
  grid.size = {n, n, 1};
  grid.coefficients = {1, 1, 0};
  const GridOperator a(grid);
  Vectors vectors(context, a.layout(precision, storage, kVectorTexel), 1);
  const double word = static_cast<double>(grid.unknowns() * element_size(precision));
  Surface x = vectors.take(), b = vectors.take(), y = vectors.take();
  vectors.upload({}, x);
  vectors.upload(std::vector<double>(grid.unknowns(), 1.0), b);

  // Conjugate gradients find the solution after some n steps, and the rest would do nothing.
  const int most = static_cast<int>(std::min<std::size_t>(n, 256));
  std::vector<OperatorTime> times;
  const auto add = [&](const char* name, double words, const Repeat& repeat) {
    times.push_back({name, words * word, sampled(context, runs, most, repeat)});
  };
  // The operation `count` times.
  const auto each = [](const std::function<void()>& operation) {
    return [operation](int count) {
      for (int i = 0; i < count; ++i) operation();
    };
  };
  // `count` steps of a method that never converges.
  const auto steps = [&](Iteration (*method)(const GridOperator&, Vectors&, const Surface&,
                                             Surface&, const StoppingRule&)) {
    return [&, method](int count) {
      method(a, vectors, b, x, {0, static_cast<std::size_t>(count)});
    };
  };
  add("add", 3, each([&] { vectors.combine(Operation::add, {2}, x, {3}, b, y); }));
  add("multiply", 3, each([&] { vectors.combine(Operation::multiply, {}, x, {}, b, y); }));
  add("sum", 1, each([&] { vectors.reduce(Reduction::sum, b, b, 0); }));
  add("dot", 2, each([&] { vectors.reduce(Reduction::dot, x, b, 0); }));
  add("grid product", 2, each([&] { a.apply(vectors, b, y); }));
  add("jacobi", 3, steps(jacobi));
  add("gauss-seidel", 3, steps(gauss_seidel));
  if (n >= kSmallestGrid) add("cg", 10, steps(conjugate_gradients));
  if (n <= kLargestFull) add_stored_products(context, n * n, precision, storage, add);
  return times;
}

}  // namespace lugpu

#include "accuracy/batch_checks.hpp"

#include <array>
#include <cmath>

#include "accuracy/checks.hpp"
#include "base/parallel.hpp"
#include "matrix/norms.hpp"

namespace lugpu {
namespace {

using Column = std::array<double, kMostBatchOrder>;

// Calls use(i, j, a_ij) for all elements in the order of memory.
template <typename T, typename Use>
void for_elements(const View<const T>& a, const Use& use) {
  if (a.order == Order::columns) {
    for (std::size_t j = 0; j < a.columns; ++j) {
      const T* column = a.data + j * a.ld;
      for (std::size_t i = 0; i < a.rows; ++i) use(i, j, static_cast<double>(column[i]));
    }
    return;
  }
  for (std::size_t i = 0; i < a.rows; ++i) {
    const T* row = a.data + i * a.ld;
    for (std::size_t j = 0; j < a.columns; ++j) use(i, j, static_cast<double>(row[j]));
  }
}

template <typename T>
double norm_1_of(const View<const T>& a) {
  Column sums{};
  for_elements(a, [&](std::size_t, std::size_t j, double value) { sums[j] += std::abs(value); });
  double norm = 0;
  for (std::size_t j = 0; j < a.columns; ++j) norm = larger(sums[j], norm);
  return norm;
}

template <typename T>
double ratio_of(const View<const T>& a, const View<const T>& b, const View<const T>& x) {
  const double norm = norm_1_of(a);
  double ratio = 0;
  for (std::size_t c = 0; c < b.columns; ++c) {
    Column own, residual;
    double size = 0, sum = 0;
    for (std::size_t i = 0; i < b.rows; ++i) {
      own[i] = x(i, c);
      residual[i] = b(i, c);
      size += std::abs(own[i]);
    }
    for_elements(
        a, [&](std::size_t i, std::size_t j, double value) { residual[i] -= value * own[j]; });
    for (std::size_t i = 0; i < b.rows; ++i) sum += std::abs(residual[i]);
    ratio = larger(relative(sum, norm * size), ratio);
  }
  return ratio;
}

}  // namespace

template <typename T>
std::vector<double> solve_ratios(const Batch<const T>& a, const Batch<const T>& b,
                                 const Batch<const T>& x, double eps) {
  std::vector<double> ratios(a.size());
  in_parallel(a.size(), a.rows() * a.columns() * (1 + b.columns()) * sizeof(T),
              [&](std::size_t i) { ratios[i] = ratio_of(a[i], b[i], x[i]) / eps; });
  return ratios;
}

template std::vector<double> solve_ratios(const Batch<const float>&, const Batch<const float>&,
                                          const Batch<const float>&, double);
template std::vector<double> solve_ratios(const Batch<const double>&, const Batch<const double>&,
                                          const Batch<const double>&, double);

}  // namespace lugpu

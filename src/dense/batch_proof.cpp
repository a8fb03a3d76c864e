#include "dense/batch_proof.hpp"

#include <cmath>

#include "dense/proof.hpp"
#include "matrix/random.hpp"

namespace lugpu {
namespace {

// Of a member A and its factors; multipliers of pivoted ones are at most 1.
bool is_right(const Matrix& a, const Matrix& lu, const std::vector<int>& ipiv,
              const std::vector<int>& jpiv, double eps) {
  const std::size_t n = a.rows();
  const auto products = product_errors(a, lu, ipiv, jpiv);
  if (!products) return false;
  for (std::size_t i = 0; i < n; ++i) {
    const double limit = static_cast<double>(n) * eps * products->bounds[i];
    if (!(products->errors[i] <= limit)) return false;
    for (std::size_t j = 0; j < i && !ipiv.empty(); ++j) {
      if (!(std::abs(lu(i, j)) <= 1 + 4 * eps)) return false;
    }
  }
  return true;
}

template <typename T>
bool factors_right_in(BatchLu& lu) {
  const std::size_t n = lu.size().n, count = lu.size().count;
  std::vector<T> values(count * n * n);
  std::vector<Matrix> members;
  for (std::size_t m = 0; m < count; ++m) {
    Matrix& a = members.emplace_back(random_matrix(n, n, m + 1));
    for (std::size_t j = 0; j < n; ++j) {
      if (lu.pivot() == Pivot::none) a(j, j) += static_cast<double>(n);
      for (std::size_t i = 0; i < n; ++i) {
        values[(m * n + j) * n + i] = static_cast<T>(a(i, j));
        a(i, j) = static_cast<double>(values[(m * n + j) * n + i]);
      }
    }
  }
  lu.upload(Batch<const T>({values.data(), n, n, n}, count, n * n));
  lu.factor();
  lu.download_factors(Batch<T>({values.data(), n, n, n}, count, n * n));
  const std::vector<int> info = lu.info(), ipiv = lu.ipiv(), jpiv = lu.jpiv();
  const auto of_member = [&](const std::vector<int>& places, std::size_t m) {
    const auto first = places.begin() + static_cast<std::ptrdiff_t>(m * n);
    return places.empty() ? places
                          : std::vector<int>(first, first + static_cast<std::ptrdiff_t>(n));
  };
  for (std::size_t m = 0; m < count; ++m) {
    Matrix factors(n, n);
    for (std::size_t e = 0; e < n * n; ++e) factors(e % n, e / n) = values[m * n * n + e];
    if (info[m] != 0 || !is_right(members[m], factors, of_member(ipiv, m), of_member(jpiv, m),
                                  epsilon(lu.precision())))
      return false;
  }
  return true;
}

}  // namespace

bool factors_right(BatchLu& lu) {
  return lu.precision() == Precision::double_precision ? factors_right_in<double>(lu)
                                                       : factors_right_in<float>(lu);
}

}  // namespace lugpu

#include "dense/batch_proof.hpp"

#include <cmath>

#include "matrix/random.hpp"

namespace lugpu {
namespace {

// Of one member: its factors, and where its rows and columns went (1-based), if they did.
struct Factored {
  Matrix a, lu;
  const int *ipiv, *jpiv;
};

bool is_right(const Factored& member, double eps) {
  const std::size_t n = member.a.rows();
  const auto swapped = [](Matrix& v, std::size_t k, const int* places) {
    const auto other = static_cast<std::size_t>(places[k]);
    if (other < 1 || other > v.rows()) return false;
    std::swap(v(k, 0), v(other - 1, 0));
    return true;
  };
  Matrix v(n, 1), qv(n, 1), paqv(n, 1), uv(n, 1), luv(n, 1), largest(n, 1), bound(n, 1);
  for (std::size_t j = 0; j < n; ++j) qv(j, 0) = v(j, 0) = 1 + 1.0 / static_cast<double>(j + 1);
  for (std::size_t k = n; member.jpiv && k-- > 0;) {
    if (!swapped(qv, k, member.jpiv)) return false;
  }
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) paqv(i, 0) += member.a(i, j) * qv(j, 0);
    for (std::size_t i = 0; i <= j; ++i) {
      uv(i, 0) += member.lu(i, j) * v(j, 0);
      largest(i, 0) += std::abs(member.lu(i, j) * v(j, 0));
    }
  }
  for (std::size_t k = 0; member.ipiv && k < n; ++k) {
    if (!swapped(paqv, k, member.ipiv)) return false;
  }
  luv = uv, bound = largest;
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = j + 1; i < n; ++i) {
      const double l = member.lu(i, j);
      if (member.ipiv && !(std::abs(l) <= 1 + 4 * eps)) return false;
      luv(i, 0) += l * uv(j, 0), bound(i, 0) += std::abs(l) * largest(j, 0);
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    const double error = std::abs(paqv(i, 0) - luv(i, 0));
    if (!(error <= static_cast<double>(n) * eps * bound(i, 0))) return false;
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
  for (std::size_t m = 0; m < count; ++m) {
    Factored member{members[m], Matrix(n, n), ipiv.empty() ? nullptr : &ipiv[m * n],
                    jpiv.empty() ? nullptr : &jpiv[m * n]};
    for (std::size_t e = 0; e < n * n; ++e) member.lu(e % n, e / n) = values[m * n * n + e];
    if (info[m] != 0 || !is_right(member, epsilon(lu.precision()))) return false;
  }
  return true;
}

}  // namespace

bool factors_right(BatchLu& lu) {
  return lu.precision() == Precision::double_precision ? factors_right_in<double>(lu)
                                                       : factors_right_in<float>(lu);
}

}  // namespace lugpu

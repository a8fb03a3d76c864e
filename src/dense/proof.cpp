#include "dense/proof.hpp"

#include <cmath>
#include <map>
#include <mutex>
#include <tuple>

#include "base/error.hpp"
#include "dense/permutation.hpp"

namespace lugpu {

bool proven(const DeviceContext& context, const std::string& kernels,
            const std::function<bool()>& comes_out_right) {
  using Key = std::tuple<void*, std::string, std::string>;
  static std::map<Key, bool> known;
  static std::mutex mutex;
  const Key key = {context.device().id, context.settings().folder, kernels};
  {
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(key); found != known.end()) return found->second;
  }
  bool right = false;
  try {
    right = comes_out_right();
  } catch (const Error&) {
  } catch (const cl::Error&) {
    return false;  // this time
  }
  const std::lock_guard lock(mutex);
  return known[key] = right;
}

std::optional<ProductErrors> product_errors(const Matrix& a, const Matrix& lu,
                                            const std::vector<int>& ipiv,
                                            const std::vector<int>& jpiv) {
  const std::size_t m = a.rows(), n = a.cols();
  std::vector<int> rows, columns;
  try {
    rows = permutation_of(ipiv, m), columns = permutation_of(jpiv, n);
  } catch (const Error&) {
    return std::nullopt;
  }
  std::vector<double> differences(m), bounds(m), uv(n), size_of_uv(n);
  for (std::size_t j = 0; j < n; ++j) {
    const double v = proof_vector(j);
    const double* column = a.column(static_cast<std::size_t>(columns[j]));
    for (std::size_t i = 0; i < m; ++i) differences[i] += column[rows[i]] * v;
    for (std::size_t i = 0; i <= j; ++i) {
      uv[i] += lu(i, j) * v;
      size_of_uv[i] += std::abs(lu(i, j) * v);
    }
  }
  for (std::size_t j = 0; j < n; ++j) {
    differences[j] -= uv[j], bounds[j] += size_of_uv[j];
    for (std::size_t i = j + 1; i < m; ++i) {
      differences[i] -= lu(i, j) * uv[j];
      bounds[i] += std::abs(lu(i, j)) * size_of_uv[j];
    }
  }
  for (double& difference : differences) difference = std::abs(difference);
  return ProductErrors{std::move(differences), std::move(bounds)};
}

}  // namespace lugpu

// Kernels that a device must show to be right before they are used.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "matrix/matrix.hpp"
#include "opencl/context.hpp"

namespace lugpu {

/// Whether a test system comes out right on the context's device: asked once in a process for each
/// device, folder of kernels and `kernels`, a name for those that are tried. An error of the
/// compiler is a no: there are other kernels. So is one of the device, as when its memory is full,
/// but the next call asks again.
bool proven(const DeviceContext& context, const std::string& kernels,
            const std::function<bool()>& comes_out_right);

/// v(j), 0-based, of the vector v with which proofs multiply: 1 + 1 / (j + 1).
constexpr double proof_vector(std::size_t j) {
  return 1 + 1.0 / static_cast<double>(j + 1);
}

/// |P A Q v - L (U v)| and |L| (|U| |v|), a multiple of which bounds it (Higham, Accuracy and
/// Stability, theorem 9.3), element by element, for v of proof_vector().
struct ProductErrors {
  std::vector<double> errors, bounds;
};

/// Of the factors L and U, in `lu`, of a test matrix A, m x n with m >= n. ipiv and jpiv: with
/// which row and column each was exchanged, as LAPACK counts them; empty: none was. Nothing if one
/// cannot be right.
std::optional<ProductErrors> product_errors(const Matrix& a, const Matrix& lu,
                                            const std::vector<int>& ipiv,
                                            const std::vector<int>& jpiv);

}  // namespace lugpu

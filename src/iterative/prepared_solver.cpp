#include "iterative/prepared_solver.hpp"

#include <string>

#include "base/error.hpp"

namespace lugpu {

void DeviceSolver::require_vectors(const Surface& b, const Surface& x, std::size_t n,
                                   std::size_t columns, Precision precision) {
  for (const Surface* vector : {&b, &x}) {
    if (vector->rows() * vector->columns() != n || vector->columns() != columns) {
      throw InputError("A vector of " + std::to_string(vector->rows()) + " x " +
                       std::to_string(vector->columns()) + " elements is not one of the " +
                       std::to_string(n) + " unknowns.");
    }
    if (vector->storage() != Storage::buffer || vector->precision() != precision) {
      throw InputError("Vectors on the device must be buffers in " + std::string(name(precision)) +
                       " precision.");
    }
  }
}

}  // namespace lugpu

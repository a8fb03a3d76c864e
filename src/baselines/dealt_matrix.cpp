#include "baselines/dealt_matrix.hpp"

#include <set>

#include "base/error.hpp"

namespace lugpu {

std::vector<int> devices_that_share(const std::string& library, const Device& device,
                                    const Problem& problem) {
  std::set<int> different = {device.index};
  for (const DeviceContext* other : problem.dense.others) different.insert(other->device().index);
  const std::size_t count = 1 + problem.dense.others.size();
  if (different.size() < count) {
    throw Unsupported(library + " takes each device once; name " + std::to_string(count) +
                      " different ones.");
  }
  if (problem.dense.crew) throw Unsupported(library + " runs in one process.");
  return cuda_indices(kind_of(device), count);
}

void require_dealt_matrices(const std::string& library, const Device& device,
                            const Problem& problem) {
  const std::size_t count = devices_that_share(library, device, problem).size();
  const double bytes = 2.0 * static_cast<double>(problem.size.n) *
                       static_cast<double>(problem.size.n + problem.size.nrhs) *
                       static_cast<double>(element_size(problem.dense.precision));
  if (bytes > static_cast<double>(count) * static_cast<double>(device.global_memory)) {
    throw Unsupported(library + "'s matrices of order " + std::to_string(problem.size.n) +
                      " do not fit into the memory of " + std::to_string(count) + " devices " +
                      kind_of(device) + ".");
  }
}

}  // namespace lugpu

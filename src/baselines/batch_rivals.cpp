#include "baselines/batch_rivals.hpp"

#include "base/error.hpp"
#include "baselines/cublas_batched.hpp"
#include "baselines/lapack_loop.hpp"

namespace lugpu {
namespace {

void require_nothing(const Device&, const BatchSize&, Precision) {}

template <typename T, template <typename> class Routine>
std::unique_ptr<BatchContender<T>> make_loop(const Device& device, const BatchSize& size) {
  return std::make_unique<LapackLoop<T, Routine>>(device, size);
}

}  // namespace

std::span<const BatchRival> batch_rivals() {
  static const BatchRival table[] = {
      {"getrf", "openblas", "LAPACK's getrf one by one, on all cores", Pivot::partial, false,
       require_nothing, make_loop<float, GetrfOfMember>, make_loop<double, GetrfOfMember>},
      {"getc2", "lapack", "LAPACK's getc2 one by one, on all cores", Pivot::full, false,
       require_nothing, make_loop<float, Getc2OfMember>, make_loop<double, Getc2OfMember>},
      {"getrf-batched", "cublas", "NVIDIA's getrfBatched on the GPU", Pivot::partial, true,
       require_cublas, make_cublas_getrf<float>, make_cublas_getrf<double>},
      {"matinv-batched", "cublas", "NVIDIA's matinvBatched on the GPU, inverses up to n = 32",
       Pivot::partial, true, require_cublas_inverse, make_cublas_inverse<float>,
       make_cublas_inverse<double>},
  };
  return table;
}

const BatchRival& find_batch_rival(const std::string& name) {
  std::string known;
  for (const BatchRival& rival : batch_rivals()) {
    if (name == rival.name) return rival;
    known += (known.empty() ? "" : ", ") + std::string(rival.name);
  }
  throw InputError("There is no rival \"" + name + "\" for batches; there are: " + known + ".");
}

}  // namespace lugpu

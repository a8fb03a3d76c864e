#include "dense/finish.hpp"

#include "dense/pivot_rules.hpp"

namespace lugpu {

void finish_lu(DeviceContext& context, const Size& size, const DenseOptions& options,
               PingPong& surfaces, Pivoting& pivoting, std::size_t block) {
  const std::size_t n = size.n;
  const cl_int order = static_cast<cl_int>(n);
  const cl_int pivoted = options.pivot != Pivot::none;
  context.run("interchange", surfaces.src.kernel("dense/passes.cl", "finish_lower"), {n},
              surfaces.src, surfaces.dst, pivoting.places(), pivoting.values(), order, pivoted,
              static_cast<cl_int>(block));
  const std::uint64_t pass =
      2 * static_cast<std::uint64_t>(n) * n * element_size(options.precision);
  context.timeline().add_bytes(pass);
  surfaces.swap();
  if (!exchanges_columns(options.pivot)) return;
  const std::size_t pack = elements_per_texel(options.precision, options.texel);
  context.run("interchange", surfaces.src.kernel("dense/passes.cl", "finish_upper"),
              {ceiling(n, pack)}, surfaces.src, surfaces.dst, pivoting.places(), order,
              static_cast<cl_int>(block));
  context.timeline().add_bytes(pass);
  surfaces.swap();
}

}  // namespace lugpu

#include "lugpu/solve.hpp"

#include "library/context.hpp"
#include "solve/solve.hpp"

namespace lugpu {

template <typename T>
Solution<T> solve(const Context& context, View<const T> a, View<const T> b,
                  const Options& options) {
  return context.implementation().call([&](DeviceContext& device) {
    require_view(a, "A");
    require_view(b, "B");
    const Plan plan =
        make_plan(options, device.device(), Size::square(a.rows, b.columns), kPrecision<T>,
                  context.implementation().records(), context.implementation().others());
    return solve(device, plan, a, b);
  });
}

template Solution<float> solve(const Context&, View<const float>, View<const float>,
                               const Options&);
template Solution<double> solve(const Context&, View<const double>, View<const double>,
                                const Options&);

}  // namespace lugpu

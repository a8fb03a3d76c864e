#include "operators/vectors.hpp"

#include <algorithm>
#include <bit>

#include "base/error.hpp"
#include "opencl/transfer.hpp"

namespace lugpu {

std::string definition(const char* name, std::size_t value) {
  return std::string(" -D") + name + "=" + std::to_string(value);
}

VectorLayout VectorLayout::of_length(std::size_t n, Precision precision, Storage storage,
                                     Texel texel) {
  const std::size_t columns = std::bit_ceil(std::clamp<std::size_t>(n, 32, 4096));
  return {ceiling(n, columns), columns, precision, storage, texel};
}

VectorCut VectorCut::make(const Device& device, const VectorLayout& layout) {
  // CPUs cut rows in steps of four, so that there are few kernels to build. GPUs take tiles, for
  // products with the matrix of a grid share what they load in both directions.
  constexpr std::size_t kRowOfTile = 32, kShortRowOfTile = 8;
  const bool on_cpu = device.type == "cpu";
  const std::size_t group = std::bit_floor(std::min<std::size_t>(256, device.max_work_group));
  VectorCut cut;
  cut.on_cpu = on_cpu;
  const bool is_wide = on_cpu && layout.storage == Storage::buffer;
  cut.vector = is_wide ? vector_width(device, layout.precision) : 0;
  const std::size_t texels = ceiling(
      layout.columns, is_wide ? cut.vector : elements_per_texel(layout.precision, layout.texel));
  if (on_cpu) {
    cut.group_x = std::min<std::size_t>(16, group);
    while (cut.group_x < texels && 4 * cut.group_x <= group) cut.group_x *= 4;
  } else {
    cut.group_x = std::min(texels > kShortRowOfTile ? kRowOfTile : kShortRowOfTile, group);
  }
  cut.group_y = on_cpu ? 1 : group / cut.group_x;
  cut.groups_x = std::max<std::size_t>(1, ceiling(texels, cut.group_x));
  cut.strips = ceiling(std::max<std::size_t>(layout.rows, 1), cut.group_y);
  const std::size_t wanted = device.compute_units * std::size_t{on_cpu ? 4u : 8u};
  cut.groups_y = std::clamp<std::size_t>(wanted / cut.groups_x, 1, cut.strips);
  cut.walk = ceiling(cut.strips, cut.groups_y);
  // Loops of a GPU are unrolled by powers of two.
  if (!on_cpu) cut.walk = std::bit_ceil(cut.walk);
  cut.groups_y = ceiling(cut.strips, cut.walk);
  return cut;
}

VectorCut VectorCut::spread(std::size_t texels) const {
  constexpr std::size_t kMostGroups = 32768;  // along one dimension of NVIDIA's
  VectorCut cut = *this;
  if (on_cpu) return cut;
  cut.groups_y = std::min(ceiling(strips, texels), kMostGroups);
  cut.walk = ceiling(strips, cut.groups_y);
  return cut;
}

std::string VectorCut::options() const {
  return definition("GROUP_X", group_x) + definition("GROUP_Y", group_y) +
         (on_cpu ? " -DLUGPU_CPU" : "") +
         (vector > 0 ? " -DLUGPU_WIDE" + definition("VECTOR", vector) : "");
}

std::string option(Operation operation) {
  switch (operation) {
    case Operation::add:
      return " -DOPERATOR=+";
    case Operation::subtract:
      return " -DOPERATOR=-";
    default:
      return " -DOPERATOR=*";
  }
}

Vectors::Vectors(DeviceContext& context, const VectorLayout& layout, std::size_t scalars)
    : context_(context),
      layout_(layout),
      cut_(VectorCut::make(context.device(), layout)),
      scalars_(context.allocate(scalars * element_size(layout.precision))),
      partials_(context.allocate(cut_.groups() * element_size(layout.precision))),
      arrived_(context.zeros(1)) {}

Surface Vectors::take() {
  if (pool_.empty()) {
    return Surface(context_, layout_.rows, layout_.columns, layout_.precision, layout_.storage,
                   layout_.texel);
  }
  Surface vector = std::move(pool_.back());
  pool_.pop_back();
  return vector;
}

cl::Buffer Vectors::take_room(std::size_t bytes) {
  const auto found = rooms_.find(bytes);
  if (found == rooms_.end()) return context_.allocate(bytes);
  cl::Buffer room = std::move(found->second);
  rooms_.erase(found);
  return room;
}

Vectors& Vectors::companion(const VectorLayout& layout) {
  if (!companion_ || companion_->layout() != layout) {
    companion_ = std::make_unique<Vectors>(context_, layout, 1);
  }
  return *companion_;
}

void Vectors::upload(const std::vector<double>& values, Surface& to) {
  const std::size_t rows = layout_.rows, columns = layout_.columns;
  if (values.size() > rows * columns) throw InputError("The vector is too long.");
  std::vector<double> padded;
  const double* first = values.data();
  if (values.size() < rows * columns) {
    padded = values;
    padded.resize(rows * columns);
    first = padded.data();
  }
  upload_rows(context_, View<const double>{first, rows, columns, columns, Order::rows},
              layout_.precision, [&](const cl::Buffer& piece, std::size_t row, std::size_t count) {
                import_rows(context_, piece, count, columns, to, row);
              });
}

std::vector<double> Vectors::download(const Surface& from, std::size_t count) {
  const cl::Buffer rows = export_rows(context_, from);
  const std::size_t size = layout_.rows * layout_.columns;
  return lugpu::download(context_, rows, std::min(count, size), 1, layout_.precision).values();
}

void Vectors::combine(Operation operation, Factor alpha, const Surface& x, Factor beta,
                      const Surface& y, Surface& result) {
  const VectorCut cut = cut_.spread();
  with_real(layout_.precision, [&](auto real) {
    context_.run("vector",
                 x.kernel("common/vectors.cl", "combine", cut.options() + option(operation)),
                 cut.items(), x, y, result, real(alpha.value), real(beta.value), scalars_,
                 cl_int{alpha.place}, cl_int{beta.place}, static_cast<cl_int>(layout_.rows),
                 static_cast<cl_int>(layout_.columns), static_cast<cl_int>(cut.walk));
  });
}

template <typename... Arguments>
void Vectors::run_reduction(const char* function, Reduction reduction, const Surface& x,
                            const Arguments&... arguments) {
  const std::string options =
      cut_.options() + definition("REDUCTION", static_cast<std::size_t>(reduction));
  context_.run("reduction", x.kernel("common/vectors.cl", function, options), cut_.items(), x,
               arguments..., static_cast<cl_int>(layout_.rows),
               static_cast<cl_int>(layout_.columns), static_cast<cl_int>(cut_.walk));
}

void Vectors::reduce(Reduction reduction, const Surface& x, const Surface& y, std::size_t place) {
  run_reduction("reduce", reduction, x, y, partials_, arrived_, scalars_,
                static_cast<cl_int>(place));
}

void Vectors::partial_sums(const Surface& x, const Surface& y, const cl::Buffer& partials) {
  run_reduction("reduce_groups", Reduction::dot, x, y, partials);
}

double Vectors::scalar(std::size_t place) {
  double value = 0;
  with_real(layout_.precision, [&](auto real) {
    auto number = real(0);
    context_.read_back("scalar", scalars_, place * sizeof number, sizeof number, &number);
    value = number;
  });
  return value;
}

void Vectors::set_scalar(std::size_t place, double value) {
  with_real(layout_.precision, [&](auto real) {
    const auto number = real(value);
    context_.queue().enqueueWriteBuffer(scalars_, CL_TRUE, place * sizeof number, sizeof number,
                                        &number);
  });
}

}  // namespace lugpu

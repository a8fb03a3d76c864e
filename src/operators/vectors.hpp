// Vectors on a device as 2D surfaces, and the operations on them: those of "Linear Algebra
// Operators for GPU Implementation of Numerical Algorithms" (Krueger, Westermann 2003), sections
// 3.1 and 3.3. Their results stay on the device.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "opencl/surface.hpp"

namespace lugpu {

/// How the vectors of one length are stored: row after row of a surface, the last row filled up
/// with zeros.
struct VectorLayout {
  std::size_t rows, columns;
  Precision precision;
  Storage storage;
  Texel texel = Texel::r;

  bool operator==(const VectorLayout&) const = default;

  /// For vectors of n elements without a shape of their own: rows of a power of two, at least 32,
  /// at most 4096 elements. Images, which OpenCL lets end at 16384 rows, hold 2^26 elements.
  static VectorLayout of_length(std::size_t n, Precision precision, Storage storage, Texel texel);
};

/// The texels with which operations on vectors and grids are fastest, on every device: packed ones
/// take 16 bytes an access and the integer arithmetic once for two or four elements. All devices
/// with images have them; the buffers of a CPU are read by vectors whatever their texels are.
constexpr Texel kVectorTexel = Texel::rgba;

/// How a launch over a vector is cut into work-groups: a work-item takes one texel of `walk` rows.
/// There are so few work-groups that partial sums, one for each, are soon summed.
struct VectorCut {
  std::size_t group_x, group_y;    ///< work-items of a work-group
  std::size_t groups_x, groups_y;  ///< work-groups
  std::size_t strips;              ///< of group_y rows
  std::size_t walk;
  bool on_cpu;
  std::size_t vector;  ///< elements that a CPU's work-item takes at once from a buffer; else 0

  static VectorCut make(const Device& device, const VectorLayout& layout);

  /// For kernels that leave no partial sums: on GPUs a work-item takes so many texels, or more if
  /// there were too many work-groups.
  VectorCut spread(std::size_t texels = 1) const;

  std::size_t groups() const { return groups_x * groups_y; }
  Items items() const { return {groups_x * group_x, groups_y * group_y}; }
  /// Build options of kernels that include common/vectors.clh.
  std::string options() const;
};

/// " -DNAME=VALUE", a build option.
std::string definition(const char* name, std::size_t value);

/// alpha x op beta y, element by element.
enum class Operation { add, subtract, multiply };
/// Of all elements of a vector; `dot` of two. A NaN among them stays.
enum class Reduction { sum, product, largest, smallest, magnitude, dot };

/// A factor of a vector: `value`, times scalars(place) if a place is given.
struct Factor {
  double value = 1;
  int place = -1;
};

/// The vectors of one layout on a device, scalars for them, and a pool of those not in use.
class Vectors {
 public:
  /// scalars: how many. Throws Unsupported if the device has no such surfaces.
  Vectors(DeviceContext& context, const VectorLayout& layout, std::size_t scalars);

  const VectorLayout& layout() const { return layout_; }
  const VectorCut& cut() const { return cut_; }
  DeviceContext& context() const { return context_; }
  const cl::Buffer& scalars() const { return scalars_; }

  /// A vector, uninitialized: one that was given back, or a new one.
  Surface take();
  void give_back(Surface vector) { pool_.push_back(std::move(vector)); }
  /// A buffer of so many bytes, uninitialized: one that was given back, or a new one.
  cl::Buffer take_room(std::size_t bytes);
  void give_back_room(cl::Buffer room, std::size_t bytes) {
    rooms_.emplace(bytes, std::move(room));
  }
  /// Vectors of another layout, which last as long as these.
  Vectors& companion(const VectorLayout& layout);

  /// values: at most rows * columns; zeros follow them. Throws InputError if one overflows the
  /// precision.
  void upload(const std::vector<double>& values, Surface& to);
  /// The first `count` elements.
  std::vector<double> download(const Surface& from, std::size_t count);

  /// result = alpha x op beta y. result is neither x nor y.
  void combine(Operation operation, Factor alpha, const Surface& x, Factor beta, const Surface& y,
               Surface& result);
  /// scalars(place) = the reduction of x, or of x and y for dot.
  void reduce(Reduction reduction, const Surface& x, const Surface& y, std::size_t place);
  /// partials(group) = the work-group's part of x . y; partials: cut().groups() elements.
  void partial_sums(const Surface& x, const Surface& y, const cl::Buffer& partials);
  /// Waits for scalars(place) and reads it.
  double scalar(std::size_t place);
  void set_scalar(std::size_t place, double value);

 private:
  template <typename... Arguments>
  void run_reduction(const char* function, Reduction reduction, const Surface& x,
                     const Arguments&... arguments);

  DeviceContext& context_;
  VectorLayout layout_;
  VectorCut cut_;
  cl::Buffer scalars_, partials_, arrived_;
  std::vector<Surface> pool_;
  std::multimap<std::size_t, cl::Buffer> rooms_;  // by their bytes
  std::unique_ptr<Vectors> companion_;
};

/// Calls `use` with what converts a double to the type that kernels of the precision call real.
template <typename Use>
void with_real(Precision precision, Use&& use) {
  if (precision == Precision::double_precision) {
    use([](double value) { return value; });
  } else {
    use([](double value) { return static_cast<float>(value); });
  }
}

/// "+", "-" or "*" as a build option of the kernels.
std::string option(Operation operation);

}  // namespace lugpu

#include "operators/sparse_operator.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "opencl/transfer.hpp"

namespace lugpu {
namespace {

constexpr cl_int kPadding = -1;  // the place of sums(0)

// Entries of a long row that a work-group adds up.
constexpr std::size_t kPart = 4096;

// The matrix as the kernels take it: slots of slices, and the parts of long rows.
struct Stored {
  std::vector<cl_int> begins = {0}, starts, places, part_begins = {0}, part_places;
  std::vector<double> values, part_values;

  std::size_t parts() const { return part_begins.size() - 1; }
};

// Rows longer than this are cut into parts, for a slice is as long as its longest row: one hub
// would pad its neighbours to many times their entries. So slices take at most this much for each
// row.
std::size_t longest_row(const Sparse& a) {
  return 4 * ceiling(a.values().size(), std::max<std::size_t>(a.rows(), 1)) + 8;
}

class Storing {
 public:
  Storing(const Sparse& a, const Slices& slices, std::size_t pitch)
      : a_(a), slices_(slices), pitch_(pitch), longest_(longest_row(a)) {}

  Stored stored() && {
    for (std::size_t s = 0; s < slices_.count; ++s) add_slice(s);
    return std::move(stored_);
  }

 private:
  std::size_t entries(std::size_t row) const {
    if (row >= a_.rows()) return 0;
    return static_cast<std::size_t>(a_.row_begin()[row + 1] - a_.row_begin()[row]);
  }
  std::size_t slots(std::size_t row) const {
    const std::size_t count = entries(row);
    return count <= longest_ ? count : ceiling(count, kPart);
  }
  cl_int place(std::size_t entry) const {
    const auto column = static_cast<std::size_t>(a_.columns()[entry]);
    const std::size_t row = column >> slices_.shift;
    return static_cast<cl_int>(row * pitch_ + column - (row << slices_.shift));
  }

  void add_slice(std::size_t slice) {
    const std::size_t rows = slices_.rows(), first = slice * rows;
    std::size_t length = 0;
    for (std::size_t i = 0; i < rows; ++i) length = std::max(length, slots(first + i));
    stored_.values.resize(stored_.values.size() + length * rows, 0.0);
    stored_.begins.push_back(checked(stored_.values.size() / rows));
    places_.assign(length * rows, kPadding);
    for (std::size_t i = 0; i < rows; ++i) add_row(first + i, i);
    for (std::size_t k = 0; k < length; ++k) add_places(places_.data() + k * rows);
  }

  // Of a slot: the first alone if the others follow it.
  void add_places(const cl_int* places) {
    const auto rows = static_cast<cl_int>(slices_.rows());
    bool in_line = places[0] >= 0;
    for (cl_int i = 1; i < rows && in_line; ++i) in_line = places[i] == places[0] + i;
    if (in_line) return stored_.starts.push_back(places[0]);
    stored_.starts.push_back(-1 - checked(stored_.places.size() / slices_.rows()));
    stored_.places.insert(stored_.places.end(), places, places + rows);
  }

  // Row i, which begins at `to` of the slice under way.
  void add_row(std::size_t i, std::size_t to) {
    const std::size_t count = entries(i), rows = slices_.rows();
    if (count == 0) return;
    const auto begin = static_cast<std::size_t>(a_.row_begin()[i]);
    if (count > longest_) return add_parts(begin, begin + count, to);
    for (std::size_t k = begin; k < begin + count; ++k, to += rows) {
      set(to, a_.values()[k], place(k));
    }
  }

  void add_parts(std::size_t begin, std::size_t end, std::size_t to) {
    for (std::size_t first = begin; first < end; first += kPart, to += slices_.rows()) {
      const std::size_t stop = std::min(first + kPart, end);
      for (std::size_t k = first; k < stop; ++k) {
        stored_.part_values.push_back(a_.values()[k]);
        stored_.part_places.push_back(place(k));
      }
      stored_.part_begins.push_back(checked(stored_.part_values.size()));
      set(to, 1, kPadding - checked(stored_.parts()));
    }
  }

  void set(std::size_t to, double value, cl_int place) {
    stored_.values[stored_.values.size() - places_.size() + to] = value;
    places_[to] = place;
  }

  static cl_int checked(std::size_t count) {
    if (count <= std::numeric_limits<cl_int>::max()) return static_cast<cl_int>(count);
    throw Unsupported("The sparse matrix has too many entries for a device.");
  }

  const Sparse& a_;
  const Slices& slices_;
  std::size_t pitch_, longest_;
  Stored stored_;
  std::vector<cl_int> places_;  // of the slice under way
};

// Elements from row to row of a vector; images have none between.
std::size_t pitch_of(DeviceContext& context, const VectorLayout& layout) {
  return Surface(context, 1, layout.columns, layout.precision, layout.storage, layout.texel)
      .pitch();
}

}  // namespace

SparseOperator::SparseOperator(DeviceContext& context, const Sparse& a, Precision precision,
                               Storage storage, Texel texel)
    : layout_(VectorLayout::of_length(a.rows(), precision, storage, texel)),
      slices_(Slices::make(context.device(), layout_)) {
  require_square(a);
  const Stored stored = Storing(a, slices_, pitch_of(context, layout_)).stored();
  begins_ = upload_integers(context, stored.begins);
  starts_ = upload_integers(context, stored.starts);
  values_ = upload_slots(context, stored.values, slices_, precision);
  places_ = upload_integers(context, stored.places);
  parts_ = stored.parts();
  part_begins_ = upload_integers(context, stored.part_begins);
  const std::size_t size = stored.part_values.size();
  part_values_ =
      upload(context, View<const double>{stored.part_values.data(), size, 1, size, Order::columns},
             precision);
  part_places_ = upload_integers(context, stored.part_places);
  sums_ = upload(context, Matrix(1 + parts_, 1), precision);
}

void SparseOperator::sum_parts(Vectors& vectors, const Surface& x) const {
  if (parts_ == 0) return;
  const VectorCut& cut = vectors.cut();
  vectors.context().run("product", x.kernel("sparse/sell.cl", "sum_parts", slices_.options(cut)),
                        {parts_ * cut.group_x, cut.group_y}, x, part_begins_, part_values_,
                        part_places_, sums_, static_cast<cl_int>(slices_.shift));
}

template <typename... More>
void SparseOperator::run(Vectors& vectors, const std::string& options, const Surface& x,
                         const Surface& y, Surface& result, const More&... more) const {
  // More arguments take the curvature, a partial sum of each work-group.
  const VectorCut cut = sizeof...(more) > 0 ? vectors.cut() : vectors.cut().spread();
  sum_parts(vectors, x);
  vectors.context().run(
      "product", x.kernel("sparse/sell.cl", "apply", slices_.options(cut) + options), cut.items(),
      x, y, result, begins_, starts_, values_, places_, sums_, static_cast<cl_int>(layout_.rows),
      static_cast<cl_int>(slices_.shift), static_cast<cl_int>(cut.walk), more...);
}

void SparseOperator::product(Vectors& vectors, const std::string& operation, const Surface& x,
                             const Surface& y, Surface& result) const {
  run(vectors, operation, x, y, result);
}

void SparseOperator::product_with_curvature(Vectors& vectors, const Surface& x, Surface& result,
                                            const Curvature& curvature) const {
  run(vectors, " -DCURVATURE", x, x, result, curvature.partials, curvature.over);
}

void SparseOperator::relax(Vectors& vectors, const Surface& inverse_diagonal, const Surface& b,
                           std::size_t first, std::size_t end, Surface& x, Surface& scratch) const {
  const VectorCut& cut = vectors.cut();
  const bool in_place = x.storage() == Storage::buffer;
  const std::size_t pack = slices_.pack;
  const std::size_t groups = ceiling(ceiling(end, pack) - first / pack, cut.group_x * cut.group_y);
  const Items items{groups * cut.group_x, cut.group_y};
  const auto from = static_cast<cl_int>(first), to = static_cast<cl_int>(end);
  const auto shift = static_cast<cl_int>(slices_.shift);
  const auto kernel = [&](const char* function) {
    return x.kernel("sparse/gauss_seidel.cl", function, slices_.options(cut));
  };
  sum_parts(vectors, x);
  vectors.context().run("sweep", kernel("relax_colour"), items, x, in_place ? x : scratch, b,
                        inverse_diagonal, begins_, starts_, values_, places_, sums_, from, to,
                        shift);
  if (in_place) return;
  vectors.context().run("sweep", kernel("copy_texels"), items, scratch, x, from, to, shift);
}

}  // namespace lugpu

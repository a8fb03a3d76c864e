#include "operators/banded_operator.hpp"

namespace lugpu {
namespace {

// What is stored where A has no entry; an entry of this value is stored as +0.
constexpr double kAbsent = -0.0;

// The diagonals with entries, ascending.
struct Diagonals {
  std::vector<cl_int> offsets;
  std::vector<std::size_t> numbers;  // of column - row + n, where it has entries

  explicit Diagonals(const Sparse& a) : numbers(2 * a.rows()) {
    each_entry(a, [&](std::size_t row, std::size_t column, double) {
      numbers[column + a.rows() - row] = 1;
    });
    for (std::size_t shifted = 0; shifted < numbers.size(); ++shifted) {
      if (numbers[shifted] == 0) continue;
      numbers[shifted] = offsets.size();
      offsets.push_back(static_cast<cl_int>(shifted) - static_cast<cl_int>(a.rows()));
    }
  }

  template <typename Use>
  static void each_entry(const Sparse& a, Use&& use) {
    for (std::size_t row = 0; row < a.rows(); ++row) {
      for (std::int64_t k = a.row_begin()[row]; k < a.row_begin()[row + 1]; ++k) {
        const auto entry = static_cast<std::size_t>(k);
        use(row, static_cast<std::size_t>(a.columns()[entry]), a.values()[entry]);
      }
    }
  }
};

std::vector<double> stored(const Sparse& a, const Diagonals& diagonals, const Slices& slices) {
  const std::size_t rows = slices.rows(), count = diagonals.offsets.size();
  std::vector<double> values(slices.count * count * rows, kAbsent);
  Diagonals::each_entry(a, [&](std::size_t row, std::size_t column, double value) {
    const std::size_t d = diagonals.numbers[column + a.rows() - row];
    values[(row / rows * count + d) * rows + row % rows] = value == 0 ? 0.0 : value;
  });
  return values;
}

}  // namespace

BandedOperator::BandedOperator(DeviceContext& context, const Sparse& a, Precision precision,
                               Storage storage, Texel texel)
    : n_(a.rows()),
      layout_(VectorLayout::of_length(a.rows(), precision, storage, texel)),
      slices_(Slices::make(context.device(), layout_)) {
  require_square(a);
  const Diagonals diagonals(a);
  diagonals_ = diagonals.offsets.size();
  offsets_ = upload_integers(context, diagonals.offsets);
  values_ = upload_slots(context, stored(a, diagonals, slices_), slices_, precision);
}

template <typename... More>
void BandedOperator::run(Vectors& vectors, const std::string& options, const Surface& x,
                         const Surface& y, Surface& result, const More&... more) const {
  // More arguments take the curvature, a partial sum of each work-group.
  const VectorCut cut = sizeof...(more) > 0 ? vectors.cut() : vectors.cut().spread();
  vectors.context().run(
      "product", x.kernel("sparse/banded.cl", "apply", slices_.options(cut) + options), cut.items(),
      x, y, result, values_, offsets_, static_cast<cl_int>(diagonals_), static_cast<cl_int>(n_),
      static_cast<cl_int>(layout_.rows), static_cast<cl_int>(slices_.shift),
      static_cast<cl_int>(cut.walk), more...);
}

void BandedOperator::product(Vectors& vectors, const std::string& operation, const Surface& x,
                             const Surface& y, Surface& result) const {
  run(vectors, operation, x, y, result);
}

void BandedOperator::product_with_curvature(Vectors& vectors, const Surface& x, Surface& result,
                                            const Curvature& curvature) const {
  run(vectors, " -DCURVATURE", x, x, result, curvature.partials, curvature.over);
}

}  // namespace lugpu

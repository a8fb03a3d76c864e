// LU with full and rook pivoting, all columns in registers, against the same elimination on the
// host. On a CPU, whose work-groups need not run at the same time, one work-group of 8 columns.
#include "dense/resident_full.hpp"

#include "accuracy/checks.hpp"
#include "factors.hpp"

namespace lugpu {
namespace {

struct Case {
  SurfaceKind kind;
  Pivot pivot;
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << name(c.kind) << (c.pivot == Pivot::full ? "_full" : "_rook");
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const SurfaceKind& kind : all_kinds()) {
    for (const Pivot pivot : {Pivot::full, Pivot::rook}) cases.push_back({kind, pivot});
  }
  return cases;
}

struct Result {
  Matrix lu;
  Outcome outcome;
  bool finished;
};

/// As LAPACK's factors: P A Q = L U.
struct Reference {
  Matrix lu;
  std::vector<int> ipiv, jpiv;  // 1-based
};

/// Where |a(i, j)| is largest for i and j in the ranges: the first column, and there the first row.
/// NaN counts as 0; the first place if there is nothing else.
cl_int2 largest(const Matrix& a, std::size_t row, std::size_t row_end, std::size_t column,
                std::size_t column_end) {
  cl_int2 place = {{static_cast<cl_int>(row), static_cast<cl_int>(column)}};
  double most = 0;
  for (std::size_t j = column; j < column_end; ++j) {
    for (std::size_t i = row; i < row_end; ++i) {
      if (!(std::abs(a(i, j)) > most)) continue;
      most = std::abs(a(i, j));
      place = {{static_cast<cl_int>(i), static_cast<cl_int>(j)}};
    }
  }
  return place;
}

cl_int2 place_of_pivot(const Matrix& a, std::size_t k, Pivot pivot) {
  const std::size_t n = a.rows();
  if (pivot == Pivot::full) return largest(a, k, n, k, n);
  const auto magnitude = [&](cl_int2 place) {
    const double x =
        std::abs(a(static_cast<std::size_t>(place.s[0]), static_cast<std::size_t>(place.s[1])));
    return x > 0 ? x : 0;
  };
  cl_int2 place = largest(a, k, n, k, k + 1);
  for (bool in_column = false;; in_column = !in_column) {
    const auto i = static_cast<std::size_t>(place.s[0]), j = static_cast<std::size_t>(place.s[1]);
    const cl_int2 next = in_column ? largest(a, k, n, j, j + 1) : largest(a, i, i + 1, k, n);
    if (magnitude(next) <= magnitude(place)) return place;
    place = next;
  }
}

/// In double precision.
Reference factor_on_host(Matrix a, Pivot pivot) {
  const std::size_t n = a.rows();
  Reference reference;
  for (std::size_t k = 0; k < n; ++k) {
    const cl_int2 place = place_of_pivot(a, k, pivot);
    const auto p = static_cast<std::size_t>(place.s[0]), q = static_cast<std::size_t>(place.s[1]);
    reference.ipiv.push_back(place.s[0] + 1);
    reference.jpiv.push_back(place.s[1] + 1);
    for (std::size_t j = 0; j < n && p != k; ++j) std::swap(a(k, j), a(p, j));
    for (std::size_t i = 0; i < n && q != k; ++i) std::swap(a(i, k), a(i, q));
    for (std::size_t i = k + 1; i < n; ++i) a(i, k) = a(k, k) == 0 ? 0 : a(i, k) / a(k, k);
    for (std::size_t j = k + 1; j < n; ++j) {
      for (std::size_t i = k + 1; i < n; ++i) a(i, j) = std::fma(-a(i, k), a(k, j), a(i, j));
    }
  }
  reference.lu = a;
  return reference;
}

class ResidentFullTest : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const std::string missing = missing_on(handle_of(context.device()), GetParam().kind);
    if (!missing.empty()) GTEST_SKIP() << context.device().name << ": " << missing;
    if (context.device().max_work_group < 256) GTEST_SKIP() << "work-groups are too small";
  }

  /// All that fit; on a CPU, those of one work-group.
  bool fits(std::size_t n) const {
    const Device& device = context.device();
    return device.type == "gpu" ? ResidentFull::fits(device, Size::square(n, 0), options) : n <= 8;
  }

  Result factor(const Matrix& a) {
    const Size size = Size::square(a.rows(), 0);
    PingPong surfaces = {surface_of(context, GetParam().kind, a),
                         surface_of(context, GetParam().kind, filled(size.n, size.n, NAN))};
    Pivoting pivoting(context, size, options);
    const bool finished = ResidentFull(context, size, options).factor(surfaces, pivoting);
    return {contents(context, surfaces.src), pivoting.outcome(), finished};
  }

  /// A matrix whose pivots no rounding decides.
  void expect_exactly(const Matrix& a) {
    if (!fits(a.rows())) return;
    SCOPED_TRACE(a.rows());
    const Result result = factor(a);
    const Reference expected = factor_on_host(a, pivot);
    ASSERT_TRUE(result.finished);
    EXPECT_EQ(result.outcome.ipiv, expected.ipiv);
    EXPECT_EQ(result.outcome.jpiv, expected.jpiv);
    EXPECT_TRUE(equal(result.lu, expected.lu));
  }

  Matrix random(std::size_t n) const {
    return rounded_to(GetParam().kind.precision, random_in(GetParam().kind.precision, n, n, n));
  }

  DeviceContext& context = context_of_one_unit();
  const Pivot pivot = GetParam().pivot;
  const DenseOptions options = {GetParam().pivot, GetParam().kind.precision,
                                GetParam().kind.storage, GetParam().kind.texel};
};

TEST_P(ResidentFullTest, PivotsAndFactorsOfRandomMatrices) {
  for (const std::size_t n : {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 50, 65, 132, 255, 256, 257, 520}) {
    if (!fits(n)) continue;
    SCOPED_TRACE(n);
    const Matrix a = random(n);
    const Result result = factor(a);
    const Reference expected = factor_on_host(a, pivot);
    ASSERT_TRUE(result.finished);
    EXPECT_EQ(result.outcome.info, 0);
    const double eps = epsilon(options.precision);
    EXPECT_LT(lu_factor_ratio(a, result.lu, result.outcome.ipiv, result.outcome.jpiv, eps),
              kFactorRatioLimit);
    for (std::size_t k = 0; k < n; ++k) EXPECT_EQ(result.outcome.pivots[k], result.lu(k, k));
    if (options.precision == Precision::single_precision) continue;  // rounding may decide
    EXPECT_EQ(result.outcome.ipiv, expected.ipiv);
    EXPECT_EQ(result.outcome.jpiv, expected.jpiv);
  }
}

TEST_P(ResidentFullTest, TheFirstOfEqualPivotsIsTaken) {
  for (const std::size_t n : {2, 5, 8, 9, 17, 40, 300}) {
    Matrix a(n, n);  // a permutation with signs: no rounding
    for (std::size_t i = 0; i < n; ++i) a(i, (i + n / 2) % n) = i % 2 == 0 ? 1 : -1;
    expect_exactly(a);
    Matrix upper(n, n);  // many ties in every row and column
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = 0; i <= j; ++i) upper(i, j) = (i + j) % 3 == 0 ? -2 : i == j ? 2 : 0;
    }
    expect_exactly(upper);
  }
}

TEST_P(ResidentFullTest, ZerosLeaveTheDiagonal) {
  for (const std::size_t n : {1, 3, 8, 9, 40}) {
    expect_exactly(Matrix(n, n));
    Matrix a(n, n);  // of rank 1 or 2
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = 0; i < n; ++i) a(i, j) = i == 2 && j == 1 ? 8 : (i + 1) % 2;
    }
    expect_exactly(a);
  }
  EXPECT_EQ(factor(Matrix(7, 7)).outcome.info, 1);
  EXPECT_EQ(factor(filled(8, 8, -4)).outcome.info, 2);
}

TEST_P(ResidentFullTest, NaNIsNeverAPivotWhereThereIsANumber) {
  for (const std::size_t n : {4, 8, 20, 140}) {
    if (!fits(n)) continue;
    SCOPED_TRACE(n);
    Matrix a = diagonal(n, 4);
    a(n - 2, 0) = 9;
    a(0, n - 1) = a(1, 0) = NAN;
    const Result result = factor(a);
    ASSERT_TRUE(result.finished);
    EXPECT_EQ(result.outcome.ipiv[0], static_cast<int>(n) - 1);
    EXPECT_EQ(result.outcome.jpiv[0], 1);
  }
}

// A NaN with all bits set is what an element that has not arrived looks like.
TEST_P(ResidentFullTest, NoNaNIsWaitedForForEver) {
  Matrix a = random(8);
  a(3, 0) = a(5, 6) = options.precision == Precision::single_precision
                          ? static_cast<double>(std::bit_cast<float>(0xffffffffu))
                          : std::bit_cast<double>(~std::uint64_t{0});
  const Result result = factor(a);
  EXPECT_TRUE(result.finished);
  EXPECT_TRUE(std::isnan(result.lu(7, 7)));
}

INSTANTIATE_TEST_SUITE_P(All, ResidentFullTest, testing::ValuesIn(all_cases()),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace lugpu

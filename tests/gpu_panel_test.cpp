// The factorization of a panel on a GPU, by one work-group, by two of which one waits for the
// other, of a narrow panel by the like, and by a launch a column, on any device. A CPU builds it
// without optimizations: PoCL needs a quarter of an hour for them.
#include <numeric>

#include "dense/matrix_units.hpp"
#include "dense/options.hpp"
#include "factors.hpp"
#include "kernels/gpu/local_pivots.h"
#include "kernels/gpu/update_arguments.h"

namespace lugpu {
namespace {

constexpr std::size_t kItems = 256, kPanel = 64, kNarrow = 32;
constexpr std::size_t kRowsProposed = 128;  // GROUP_ROWS of dense/panel_launches.cl
constexpr std::size_t kInner = 8;           // INNER of it
constexpr std::size_t kRowsOfLocal = LOCAL_PIVOT_ROWS;

enum class Way { waiting, local, narrow, launches };

struct PanelKind {
  Precision precision;
  Pivot pivot;
  Way way = Way::waiting;
};

void PrintTo(const PanelKind& kind, std::ostream* out) {
  *out << name(kind.precision) << "_" << name(kind.pivot)
       << (kind.way == Way::launches ? "_launches"
           : kind.way == Way::narrow ? "_narrow"
           : kind.way == Way::local  ? "_local"
                                     : "");
}

/// A CPU's threads may be interrupted where others wait for them.
DeviceContext& context_for_panels() {
  const Device& device = shared_context().device();
  static DeviceContext context(
      device, {.options = device.type == "gpu" ? "" : " -cl-opt-disable -DSPIN_LIMIT=0x7fffffff"});
  return context;
}

class GpuPanelTest : public testing::TestWithParam<PanelKind> {
 protected:
  void SetUp() override {
    const std::string missing =
        missing_on(handle_of(context.device()), {precision, Storage::buffer});
    if (!missing.empty()) GTEST_SKIP() << context.device().name << ": " << missing;
  }

  std::size_t groups(std::size_t m) const {
    if (way == Way::launches) return ceiling(m, kRowsProposed);
    const std::size_t first = pivot == Pivot::none ? kPanel
                              : way == Way::local  ? kRowsOfLocal
                                                   : kItems;
    return 1 + ceiling(m - std::min(m, first), kItems);
  }

  /// Of a matrix of at most `most` columns and, left of them, `before` of L, whose products come
  /// first. Checks the lists of rows too.
  LuFactors factor(const Matrix& a, std::size_t before = 0) {
    const std::size_t m = a.rows(), width = std::min(m, a.cols() - before);
    const Surface surface = surface_of(context, {precision, Storage::buffer}, a);
    const cl::Buffer ipiv = context.zeros(kPanel), row_for = context.zeros(kPanel),
                     goes_to = context.zeros(kPanel), info = context.zeros(1);
    if (way == Way::launches) {
      factor_by_launches(surface, width, ipiv, row_for, goes_to, info);
    } else {
      factor_at_once(surface, before, width, ipiv, row_for, goes_to, info);
    }
    LuFactors factors{contents(context, surface), integers(ipiv, before + width), 0};
    context.read_back("test", info, 0, sizeof(cl_int), &factors.info);
    if (before == 0)
      expect_moves(factors.ipiv, integers(row_for, width), integers(goes_to, width), m);
    for (int& row : factors.ipiv) ++row;
    return factors;
  }

  void factor_at_once(const Surface& a, std::size_t before, std::size_t width,
                      const cl::Buffer& ipiv, const cl::Buffer& row_for, const cl::Buffer& goes_to,
                      const cl::Buffer& info) {
    const std::size_t message_bytes = (kPanel * kPanel + 2 * 64 * 8) * 2 * sizeof(cl_ulong);
    const cl::Buffer messages = context.allocate(message_bytes);
    context.fill(messages, 0, message_bytes);
    const auto columns = static_cast<cl_int>(width);
    if (way == Way::narrow) {
      context.run("test", kernel("gpu/narrow_panel.cl", "factor_narrow_panel"),
                  {groups(a.rows() - before) * kItems}, a, static_cast<cl_int>(a.rows()), cl_int{0},
                  static_cast<cl_int>(before), columns, messages, ipiv, row_for, goes_to, info);
      return;
    }
    const update_arguments launch = {
        static_cast<cl_int>(a.rows()),
        {0, columns, columns, static_cast<cl_int>(groups(a.rows())), 0, 0},
        {},
        {},
        {},
        {},
        0};
    context.run("test", kernel("gpu/lu_blocked.cl", "update_and_factor"),
                {groups(a.rows()) * kItems}, a, launch, messages, ipiv, row_for, goes_to, info,
                context.zeros(1));
  }

  void factor_by_launches(const Surface& a, std::size_t width, const cl::Buffer& ipiv,
                          const cl::Buffer& row_for, const cl::Buffer& goes_to,
                          const cl::Buffer& info) {
    const std::size_t count = groups(a.rows());
    const auto columns = static_cast<cl_int>(width);
    const cl::Buffer places = context.zeros(2 * count);
    const cl::Buffer copies =
        context.allocate((2 * (count + 1) + kInner) * kPanel * element_size(precision));
    for (cl_int j = -1; j < columns; ++j) {
      context.run("test", kernel("dense/panel_launches.cl", "eliminate_and_propose"),
                  {count * kItems}, a, static_cast<cl_int>(a.rows()), cl_int{0}, columns, j,
                  cl_int{pivot == Pivot::partial}, static_cast<cl_int>(count), places, copies, ipiv,
                  info);
    }
    context.run("test", kernel("dense/panel_launches.cl", "list_moves"), {kPanel}, ipiv, cl_int{0},
                columns, row_for, goes_to);
  }

  KernelId kernel(const char* file, const char* function) const {
    return {file,
            function,
            precision,
            Storage::buffer,
            Texel::rgba,
            " -DNB=" + std::to_string(most) +
                " -DGROUPS_MAX=64 -DPIVOT=" + (pivot == Pivot::partial ? "1" : "0") +
                (way == Way::local ? " -DLOCAL_PIVOTS" : "") +
                (by_warps() ? " -DLUGPU_NVIDIA" : "")};
  }

  /// Whether it is gpu/panel_local.clh.
  bool by_warps() const {
    return way == Way::local && has_matrix_units(context.device(), precision);
  }

  std::vector<int> integers(const cl::Buffer& buffer, std::size_t count) {
    std::vector<int> values(count);
    context.read_back("test", buffer, 0, count * sizeof(cl_int), values.data());
    return values;
  }

  /// What the interchanges make of all rows, against the lists.
  static void expect_moves(const std::vector<int>& ipiv, const std::vector<int>& row_for,
                           const std::vector<int>& goes_to, std::size_t m) {
    std::vector<int> order(m);
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t k = 0; k < ipiv.size(); ++k) {
      ASSERT_LT(static_cast<std::size_t>(ipiv[k]), m);
      std::swap(order[k], order[static_cast<std::size_t>(ipiv[k])]);
    }
    for (std::size_t k = 0; k < ipiv.size(); ++k) {
      EXPECT_EQ(row_for[k], order[k]);
      EXPECT_EQ(order[static_cast<std::size_t>(goes_to[k])], static_cast<int>(k));
    }
  }

  void is_right(std::size_t m, std::size_t n) {
    SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n));
    const Matrix a = harmless_for(pivot, precision, m, n, m + n);
    expect_right(a, factor(a), pivot, precision);
  }

  DeviceContext& context = context_for_panels();
  const Precision precision = GetParam().precision;
  const Pivot pivot = GetParam().pivot;
  const Way way = GetParam().way;
  const std::size_t most = way == Way::narrow ? kNarrow : kPanel;
};

TEST_P(GpuPanelTest, EveryShapeAroundTheEdges) {
  for (const std::size_t m : {1, 3, 4, 7, 8, 9, 31, 32, 63, 64, 65, 255, 256}) {
    for (const std::size_t n : {1, 3, 4, 5, 7, 8, 9, 16, 31, 32, 63, 64}) {
      if (n <= std::min(m, most) && groups(m) == 1) is_right(m, n);
    }
  }
}

TEST_P(GpuPanelTest, ManyWorkGroups) {
  if (way != Way::launches) GTEST_SKIP() << "they would wait for one another";
  is_right(129, 64);
  is_right(300, 19);
  is_right(20 * kRowsProposed, 64);
}

TEST_P(GpuPanelTest, TwoWorkGroups) {
  if (way == Way::launches) GTEST_SKIP() << "none waits for another";
  if (context.device().compute_units < 2) GTEST_SKIP() << "one work-group runs at a time";
  if (pivot == Pivot::partial && way != Way::local && context.device().type == "cpu") {
    GTEST_SKIP() << "work-items wait for one of their work-group, which a CPU may run after them";
  }
  is_right(257, 19);
  is_right(320, most);
}

// The largest elements are in rows of either work-group that are not searched.
TEST_P(GpuPanelTest, LocalPivotsAreOfTheFirstRows) {
  if (way != Way::local) GTEST_SKIP() << "all rows are searched";
  if (context.device().compute_units < 2) GTEST_SKIP() << "one work-group runs at a time";
  for (const std::size_t width : {1, 7, 8, 9, 63, 64}) {
    SCOPED_TRACE(width);
    Matrix a = random_in(precision, kItems + 60, width, width);
    for (std::size_t j = 0; j < width; ++j) a(kRowsOfLocal + 2 * j, j) = 4;
    Matrix first(kRowsOfLocal, width);
    for (std::size_t j = 0; j < width; ++j) std::copy_n(a.column(j), kRowsOfLocal, first.column(j));
    const LuFactors factors = factor(a);
    EXPECT_LT(factor_error(a, factors, epsilon(precision)), kFactorRatioLimit);
    EXPECT_EQ(factors.ipiv, getrf_pivots(first, precision));
  }
}

TEST_P(GpuPanelTest, LargeElementsBesideLocalPivotsAreTold) {
  if (way != Way::local) GTEST_SKIP() << "no element of L is larger than 1";
  if (context.device().compute_units < 2) GTEST_SKIP() << "one work-group runs at a time";
  for (const std::size_t column : {0, 9, 63}) {
    SCOPED_TRACE(column);
    Matrix a = random_in(precision, kRowsOfLocal + 70, kPanel, column);
    EXPECT_EQ(factor(a).info, 0);
    a(kRowsOfLocal + 69, column) = 1e6;
    EXPECT_EQ(factor(a).info, kLargeElement);
  }
}

// Columns C of [L C] right of 32 of L, whose rows of U are there.
TEST_P(GpuPanelTest, ProductsOfTheColumnsBefore) {
  if (way != Way::narrow) GTEST_SKIP() << "the launch has tiles of all columns for that";
  for (const auto& [m, n] : {std::pair{33, 1}, {60, 28}, {200, 19}, {288, 32}}) {
    SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n));
    const auto rows = static_cast<std::size_t>(m) - kNarrow, columns = static_cast<std::size_t>(n);
    const Matrix a = random_in(precision, rows + kNarrow, kNarrow + columns, rows);
    Matrix c(rows, columns), lu(rows, columns);
    for (std::size_t j = 0; j < columns; ++j) {
      for (std::size_t i = 0; i < rows; ++i) {
        c(i, j) = a(kNarrow + i, kNarrow + j);
        for (std::size_t k = 0; k < kNarrow; ++k) c(i, j) -= a(kNarrow + i, k) * a(k, kNarrow + j);
      }
    }
    const LuFactors whole = factor(a, kNarrow);
    LuFactors factors{lu, {}, whole.info};
    for (std::size_t j = 0; j < columns; ++j) {
      factors.ipiv.push_back(whole.ipiv[kNarrow + j] - static_cast<int>(kNarrow));
      for (std::size_t i = 0; i < rows; ++i) factors.lu(i, j) = whole.lu(kNarrow + i, kNarrow + j);
    }
    expect_right(c, factors, pivot, precision);
  }
}

// NaN is taken only where there is nothing else, and the first of equal ones.
TEST_P(GpuPanelTest, ChoosesAsGetrf) {
  if (pivot == Pivot::none) GTEST_SKIP() << "without pivoting";
  if (by_warps()) GTEST_SKIP() << "of equal ones it takes any";
  const std::size_t m = 128;
  for (const std::size_t column : std::vector<std::size_t>{0, 1, 7, 8, 31, most - 2, most - 1}) {
    SCOPED_TRACE(column);
    Matrix a(m, most);
    for (std::size_t j = 0; j < most; ++j) a(j, j) = 4;
    a(column, column) = NAN;
    a(m - 1, column) = 9;
    EXPECT_EQ(factor(a).ipiv[column], static_cast<int>(m));
    a(column, column) = 2;
    a(70, column) = -9;
    EXPECT_EQ(factor(a).ipiv[column], 71);
    a(100, column) = 9;
    EXPECT_EQ(factor(a).ipiv[column], 71);
    a(m - 1, column) = INFINITY;
    EXPECT_EQ(factor(a).ipiv[column], static_cast<int>(m));
  }
}

TEST_P(GpuPanelTest, InfoIsTheFirstZeroPivot) {
  for (const std::size_t zero : std::vector<std::size_t>{0, 1, 7, 8, most - 24, most - 1}) {
    SCOPED_TRACE(zero);
    Matrix a(most, most);
    for (std::size_t j = 0; j < most; ++j) {
      for (std::size_t i = 0; i <= j; ++i) a(i, j) = i == j ? 4 : 0.5;
    }
    a(zero, zero) = 0;
    EXPECT_EQ(factor(a).info, static_cast<int>(zero) + 1);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, GpuPanelTest,
    testing::Values(PanelKind{Precision::single_precision, Pivot::none},
                    PanelKind{Precision::single_precision, Pivot::partial},
                    PanelKind{Precision::double_precision, Pivot::none},
                    PanelKind{Precision::double_precision, Pivot::partial},
                    PanelKind{Precision::single_precision, Pivot::partial, Way::local},
                    PanelKind{Precision::single_precision, Pivot::partial, Way::narrow},
                    PanelKind{Precision::double_precision, Pivot::partial, Way::narrow},
                    PanelKind{Precision::single_precision, Pivot::none, Way::launches},
                    PanelKind{Precision::single_precision, Pivot::partial, Way::launches},
                    PanelKind{Precision::double_precision, Pivot::none, Way::launches},
                    PanelKind{Precision::double_precision, Pivot::partial, Way::launches}),
    testing::PrintToStringParamName());

}  // namespace
}  // namespace lugpu

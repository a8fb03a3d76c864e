// The factorization of a panel on a GPU, by one work-group, by two of which one waits for the
// other, and by a launch a column, on any device. A CPU builds it without optimizations: PoCL needs
// a quarter of an hour for them.
#include <numeric>

#include "factors.hpp"
#include "kernels/gpu/update_arguments.h"

namespace lugpu {
namespace {

constexpr std::size_t kItems = 256, kPanel = 64;
constexpr std::size_t kRowsProposed = 128;  // GROUP_ROWS of dense/panel_launches.cl
constexpr std::size_t kInner = 8;           // INNER of it

struct PanelKind {
  Precision precision;
  Pivot pivot;
  bool launches = false;
};

void PrintTo(const PanelKind& kind, std::ostream* out) {
  *out << name(kind.precision) << "_" << name(kind.pivot) << (kind.launches ? "_launches" : "");
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
    if (launches) return ceiling(m, kRowsProposed);
    if (pivot == Pivot::partial) return ceiling(m, kItems);
    return m <= kPanel ? 1 : 1 + ceiling(m - kPanel, kItems);
  }

  /// Of a matrix of at most 64 columns. Checks the lists of rows too.
  LuFactors factor(const Matrix& a) {
    const std::size_t m = a.rows(), width = std::min(m, a.cols());
    const Surface surface = surface_of(context, {precision, Storage::buffer}, a);
    const cl::Buffer ipiv = context.zeros(kPanel), row_for = context.zeros(kPanel),
                     goes_to = context.zeros(kPanel), info = context.zeros(1);
    if (launches) {
      factor_by_launches(surface, width, ipiv, row_for, goes_to, info);
    } else {
      factor_at_once(surface, width, ipiv, row_for, goes_to, info);
    }
    LuFactors factors{contents(context, surface), integers(ipiv, width), 0};
    context.read_back("test", info, 0, sizeof(cl_int), &factors.info);
    expect_moves(factors.ipiv, integers(row_for, width), integers(goes_to, width), m);
    for (int& row : factors.ipiv) ++row;
    return factors;
  }

  void factor_at_once(const Surface& a, std::size_t width, const cl::Buffer& ipiv,
                      const cl::Buffer& row_for, const cl::Buffer& goes_to,
                      const cl::Buffer& info) {
    const std::size_t mail_bytes = (kPanel * kPanel + 2 * 64 * 8) * 2 * sizeof(cl_ulong);
    const cl::Buffer mail = context.allocate(mail_bytes);
    context.fill(mail, 0, mail_bytes);
    const auto columns = static_cast<cl_int>(width);
    const update_arguments launch = {
        static_cast<cl_int>(a.rows()),
        {0, columns, columns, static_cast<cl_int>(groups(a.rows())), 0, 0},
        {},
        {},
        {},
        0};
    context.run("test", kernel("gpu/lu_blocked.cl", "update_and_factor"),
                {groups(a.rows()) * kItems}, a, launch, mail, ipiv, row_for, goes_to, info,
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
            pivot == Pivot::partial ? " -DNB=64 -DGROUPS_MAX=64 -DPIVOT=1"
                                    : " -DNB=64 -DGROUPS_MAX=64 -DPIVOT=0"};
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
  const bool launches = GetParam().launches;
};

TEST_P(GpuPanelTest, EveryShapeAroundTheEdges) {
  for (const std::size_t m : {1, 3, 4, 7, 8, 9, 63, 64, 65, 255, 256}) {
    for (const std::size_t n : {1, 3, 4, 5, 7, 8, 9, 16, 63, 64}) {
      if (n <= m && groups(m) == 1) is_right(m, n);
    }
  }
}

TEST_P(GpuPanelTest, ManyWorkGroups) {
  if (!launches) GTEST_SKIP() << "they would wait for one another";
  is_right(129, 64);
  is_right(300, 19);
  is_right(20 * kRowsProposed, 64);
}

TEST_P(GpuPanelTest, TwoWorkGroups) {
  if (launches) GTEST_SKIP() << "none waits for another";
  if (context.device().compute_units < 2) GTEST_SKIP() << "one work-group runs at a time";
  if (pivot == Pivot::partial && context.device().type == "cpu") {
    GTEST_SKIP() << "work-items wait for one of their work-group, which a CPU may run after them";
  }
  is_right(257, 19);
  is_right(320, 64);
}

// NaN is taken only where there is nothing else, and the first of equal ones.
TEST_P(GpuPanelTest, ChoosesAsGetrf) {
  if (pivot == Pivot::none) GTEST_SKIP() << "without pivoting";
  const std::size_t m = 200;
  for (const std::size_t column : {0, 1, 7, 8, 31, 62, 63}) {
    SCOPED_TRACE(column);
    Matrix a(m, kPanel);
    for (std::size_t j = 0; j < kPanel; ++j) a(j, j) = 4;
    a(column, column) = NAN;
    a(m - 1, column) = 9;
    EXPECT_EQ(factor(a).ipiv[column], static_cast<int>(m));
    a(column, column) = 2;
    a(70, column) = -9;
    EXPECT_EQ(factor(a).ipiv[column], 71);
    a(150, column) = 9;
    EXPECT_EQ(factor(a).ipiv[column], 71);
    a(m - 1, column) = INFINITY;
    EXPECT_EQ(factor(a).ipiv[column], static_cast<int>(m));
  }
}

TEST_P(GpuPanelTest, InfoIsTheFirstZeroPivot) {
  for (const std::size_t zero : {0, 1, 7, 8, 40, 63}) {
    SCOPED_TRACE(zero);
    Matrix a(kPanel, kPanel);
    for (std::size_t j = 0; j < kPanel; ++j) {
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
                    PanelKind{Precision::single_precision, Pivot::none, true},
                    PanelKind{Precision::single_precision, Pivot::partial, true},
                    PanelKind{Precision::double_precision, Pivot::none, true},
                    PanelKind{Precision::double_precision, Pivot::partial, true}),
    testing::PrintToStringParamName());

}  // namespace
}  // namespace lugpu

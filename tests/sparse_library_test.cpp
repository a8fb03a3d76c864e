// Sparse systems as other programs solve them: the headers of the library and liblugpu.so, nothing
// of src/.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <lugpu/lugpu.hpp>
#include <string>
#include <utility>
#include <vector>

namespace lugpu {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Context& shared_context() {
  static Context context;
  return context;
}

// The arrays of a SparseView.
struct Rows {
  std::vector<std::int64_t> row_begin = {0};
  std::vector<std::int32_t> columns;
  std::vector<double> values;

  void put(std::size_t column, double value) {
    columns.push_back(static_cast<std::int32_t>(column));
    values.push_back(value);
  }
  void end_row() { row_begin.push_back(static_cast<std::int64_t>(columns.size())); }
  std::size_t n() const { return row_begin.size() - 1; }
  SparseView view() const { return {n(), row_begin.data(), columns.data(), values.data()}; }
};

// Minus Laplace's operator on width x height points with walls of zero; skew makes it unsymmetric.
Rows laplacian(std::size_t width, std::size_t height, double skew = 0) {
  Rows a;
  for (std::size_t i = 0; i < width * height; ++i) {
    const std::size_t x = i % width, y = i / width;
    if (y > 0) a.put(i - width, -1);
    if (x > 0) a.put(i - 1, -1 - skew);
    a.put(i, 4);
    if (x + 1 < width) a.put(i + 1, -1 + skew);
    if (y + 1 < height) a.put(i + width, -1);
    a.end_row();
  }
  return a;
}

// Ones on the antidiagonal, and `corner` where it starts: the widest band, and no diagonal.
Rows antidiagonal(std::size_t n, double corner = 1) {
  Rows a;
  for (std::size_t i = 0; i < n; ++i) {
    a.put(n - 1 - i, i == 0 ? corner : 1);
    a.end_row();
  }
  return a;
}

// Minus Laplace's operator in one dimension, with its unknowns renumbered: i is `stride` * i modulo
// n, which must be prime to n. The band is wide.
Rows scattered(std::size_t n, std::size_t stride, double diagonal = 2) {
  std::vector<std::size_t> place(n), index(n);
  for (std::size_t i = 0; i < n; ++i) place[i] = i * stride % n;
  for (std::size_t i = 0; i < n; ++i) index[place[i]] = i;
  Rows a;
  for (std::size_t row = 0; row < n; ++row) {
    const std::size_t i = index[row];
    if (i > 0) a.put(place[i - 1], -1);
    a.put(row, diagonal);
    if (i + 1 < n) a.put(place[i + 1], -1);
    a.end_row();
  }
  return a;
}

// n x columns, not all alike.
std::vector<double> known(std::size_t n, std::size_t columns) {
  std::vector<double> x(n * columns);
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<double>(k * 7 % 11) - 4;
  return x;
}

std::vector<double> product(const Rows& a, const std::vector<double>& x) {
  std::vector<double> b(x.size());
  for (std::size_t j = 0; j < x.size(); j += a.n()) {
    for (std::size_t i = 0; i < a.n(); ++i) {
      for (auto k = a.row_begin[i]; k < a.row_begin[i + 1]; ++k) {
        const auto place = static_cast<std::size_t>(k);
        b[j + i] += a.values[place] * x[j + static_cast<std::size_t>(a.columns[place])];
      }
    }
  }
  return b;
}

// B of n rows.
View<const double> columns_of(const std::vector<double>& b, std::size_t n) {
  return {b.data(), n, n == 0 ? 0 : b.size() / n, n};
}

Options with(const std::string& method) {
  Options options;
  options.method = method;
  return options;
}

double largest_error(const Solution<double>& solution, const std::vector<double>& x) {
  EXPECT_EQ(solution.x.size(), x.size());
  if (solution.x.size() != x.size()) return kNan;
  double largest = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    largest = std::fmax(largest, std::abs(solution.x[k] - x[k]));
    if (std::isnan(solution.x[k])) return kNan;
  }
  return largest;
}

void expect_error(ErrorKind kind, const std::string& reason, const std::function<void()>& call) {
  try {
    call();
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_EQ(error.reason(), reason);
  }
}

void expect_reason(const Solution<double>& solution, Status status, const std::string& part) {
  EXPECT_EQ(solution.status(), status);
  ASSERT_TRUE(solution.diagnosis.reason);
  const std::string& reason = solution.diagnosis.reason->reason;
  EXPECT_NE(reason.find(part), std::string::npos) << reason;
  EXPECT_NE(reason.back(), '.') << reason;
  EXPECT_EQ(reason.find("--"), std::string::npos) << reason;
}

// In double; devices without it have tests of their own in single precision below.
class SparseLibrary : public testing::Test {
 protected:
  void SetUp() override {
    if (!context.device().double_precision) {
      GTEST_SKIP() << context.device().name << " has no doubles";
    }
  }
  Solution<double> solved(const Rows& a, const std::vector<double>& rhs,
                          const Options& options = {}) const {
    return solve(context, a.view(), columns_of(rhs, a.n()), options);
  }
  // A symmetric matrix with more entries than its diagonal has, [4 1 0; 1 4 2; 0 2 5].
  const Rows small = {{0, 2, 5, 7}, {0, 1, 0, 1, 2, 1, 2}, {4, 1, 1, 4, 2, 2, 5}};
  const std::vector<double> x = {1, -2, 3}, b = {2, -1, 11};
  Context& context = shared_context();
};

TEST_F(SparseLibrary, EveryMethodSolves) {
  for (const char* method :
       {"auto", "banded", "cg", "gauss-seidel", "jacobi", "lu-blocked", "lu", "gauss-jordan"}) {
    SCOPED_TRACE(method);
    const Rows before = small;
    const Solution<double> solution = solved(small, b, with(method));
    EXPECT_EQ(solution.status(), Status::ok);
    EXPECT_FALSE(solution.diagnosis.reason);
    EXPECT_EQ(solution.n, 3U);
    EXPECT_EQ(solution.nrhs, 1U);
    EXPECT_LT(largest_error(solution, x), 1e-8);
    EXPECT_EQ(solution.why.empty(), std::string(method) != "auto");
    if (std::string(method) != "auto") {
      EXPECT_EQ(solution.method, method);
    }
    EXPECT_EQ(small.columns, before.columns);
    EXPECT_EQ(small.values, before.values);
  }
}

TEST_F(SparseLibrary, IterationsTellTheirWay) {
  const Solution<double> solution = solved(small, b, with("cg"));
  EXPECT_GE(solution.iterations, 2U);
  EXPECT_LE(solution.iterations, 4U);
  ASSERT_EQ(solution.residuals.size(), solution.iterations + 1);
  EXPECT_EQ(solution.residuals.front(), 1);
  EXPECT_LE(solution.residuals.back(), 1e-10);
  ASSERT_TRUE(solution.checks.residual);
  EXPECT_LT(*solution.checks.residual, 1.01e-10);
  EXPECT_FALSE(solution.checks.solve_ratio);
  ASSERT_EQ(solution.checks.berr.size(), 1U);
  const Solution<double> direct = solved(small, b, with("banded"));
  EXPECT_EQ(direct.iterations, 0U);
  EXPECT_TRUE(direct.residuals.empty());
  EXPECT_LT(direct.checks.residual.value_or(1), 1e-15);
  EXPECT_LT(direct.checks.solve_ratio.value_or(100), 30);
  for (const char* phase : {"setup", "upload", "solve", "download"}) {
    EXPECT_TRUE(direct.phases_s.contains(phase)) << phase;
  }
}

TEST_F(SparseLibrary, IterationsStartWhereTheyAreTold) {
  const Rows a = laplacian(20, 15);
  const std::vector<double> right(a.n(), 1);
  const View<const double> rhs{right.data(), a.n(), 1, a.n()};
  for (const char* method : {"cg", "gauss-seidel", "jacobi"}) {
    const Solution<double> first = solve(context, a.view(), rhs, with(method));
    ASSERT_EQ(first.status(), Status::ok) << method;
    const View<const double> start{first.x.data(), a.n(), 1, a.n()};
    const Solution<double> again = solve(context, a.view(), rhs, start, with(method));
    EXPECT_EQ(again.status(), Status::ok) << method;
    EXPECT_LE(again.iterations, 1U) << method;
    EXPECT_GT(first.iterations, 10U) << method;
  }
  const Solution<double> direct = solve(context, a.view(), rhs, rhs, with("banded"));
  EXPECT_EQ(direct.status(), Status::ok);
  const View<const double> short_one{right.data(), a.n() - 1, 1, a.n()};
  EXPECT_THROW(solve(context, a.view(), rhs, short_one, with("cg")), Error);
}

TEST_F(SparseLibrary, EntriesInAnyOrderAndMoreThanOnce) {
  // small, backwards, with 4 = 3.5 + 0.5 and an element that is 2 - 2.
  const Rows disorder = {
      {0, 5, 8, 10}, {1, 0, 2, 0, 2, 2, 1, 0, 2, 1}, {1, 3.5, 2, 0.5, -2, 2, 4, 1, 5, 2}};
  for (const char* method : {"auto", "banded", "cg", "gauss-seidel", "jacobi", "lu"}) {
    SCOPED_TRACE(method);
    const Solution<double> solution = solved(disorder, b, with(method));
    EXPECT_EQ(solution.status(), Status::ok);
    EXPECT_LT(largest_error(solution, x), 1e-8);
  }
}

TEST_F(SparseLibrary, SeveralRightHandSides) {
  const Rows a = laplacian(13, 17);
  for (const std::size_t count : {std::size_t{2}, std::size_t{5}}) {
    const std::vector<double> truth = known(a.n(), count), rhs = product(a, truth);
    for (const char* method : {"banded", "cg", "gauss-seidel", "jacobi", "auto"}) {
      SCOPED_TRACE(method);
      const Solution<double> solution = solved(a, rhs, with(method));
      EXPECT_EQ(solution.status(), Status::ok);
      EXPECT_EQ(solution.nrhs, count);
      EXPECT_LT(largest_error(solution, truth), 1e-6);
      EXPECT_EQ(solution.checks.berr.size(), count);
    }
  }
  // B by rows, with room between them.
  std::vector<double> by_rows(a.n() * 3, kNan);
  const std::vector<double> truth = known(a.n(), 2), rhs = product(a, truth);
  for (std::size_t i = 0; i < a.n(); ++i) {
    for (std::size_t j = 0; j < 2; ++j) by_rows[i * 3 + j] = rhs[j * a.n() + i];
  }
  const View<const double> view{by_rows.data(), a.n(), 2, 3, Order::rows};
  EXPECT_LT(largest_error(solve(context, a.view(), view, with("banded")), truth), 1e-10);
}

TEST_F(SparseLibrary, Nothing) {
  const Rows none;
  for (const char* method : {"auto", "banded", "cg", "gauss-seidel", "jacobi", "lu"}) {
    SCOPED_TRACE(method);
    for (const SparseView& a : {none.view(), SparseView{}}) {
      const Solution<double> solution = solve(context, a, View<const double>{}, with(method));
      EXPECT_EQ(solution.status(), Status::ok);
      EXPECT_TRUE(solution.x.empty());
    }
    // No right-hand sides.
    const Solution<double> solution = solved(small, {}, with(method));
    EXPECT_EQ(solution.status(), Status::ok);
    EXPECT_EQ(solution.nrhs, 0U);
    EXPECT_TRUE(solution.x.empty());
  }
  const Rows one = {{0, 1}, {0}, {4}};
  for (const char* method : {"auto", "banded", "cg", "gauss-seidel", "jacobi"}) {
    EXPECT_EQ(solved(one, {2}, with(method)).x, std::vector<double>{0.5}) << method;
  }
  const Solution<double> zero = solved(small, {0, 0, 0}, with("cg"));
  EXPECT_EQ(zero.status(), Status::ok);
  EXPECT_EQ(zero.x, std::vector<double>(3));
}

TEST_F(SparseLibrary, RefusesViews) {
  const View<const double> rhs = columns_of(b, 3);
  const auto refused = [&](const std::string& sentence, const SparseView& a, auto right) {
    expect_error(ErrorKind::bad_input, sentence, [&] { solve(context, a, right); });
  };
  SparseView view = small.view();
  view.row_begin = nullptr;
  refused("A has no rows: its pointer row_begin is null.", view, rhs);
  const std::string no_entries = "A has no entries: its pointer columns or values is null.";
  view = small.view(), view.columns = nullptr;
  refused(no_entries, view, rhs);
  view = small.view(), view.values = nullptr;
  refused(no_entries, view, rhs);
  view = small.view(), view.n = std::size_t{1} << 31;
  refused("A has more than 2147483647 rows.", view, View<const double>{nullptr, view.n, 0, view.n});

  Rows bad = small;
  bad.row_begin[0] = 1;
  refused("row_begin must start with 0.", bad.view(), rhs);
  bad = small, bad.row_begin[2] = 1;
  refused("row_begin descends after row 1, counted from 0.", bad.view(), rhs);
  bad = small, bad.columns[3] = 3;
  refused("Entry 3 is in column 3; expected 0 to 2.", bad.view(), rhs);
  bad = small, bad.columns[6] = -1;
  refused("Entry 6 is in column -1; expected 0 to 2.", bad.view(), rhs);

  refused("B has 2 rows; expected 3, as many as A has.", small.view(),
          View<const double>{b.data(), 2, 1, 2});
  refused("B has no elements: its pointer is null.", small.view(),
          View<const double>{nullptr, 3, 1, 3});
  refused("B has the leading dimension 2, which must be at least 3.", small.view(),
          View<const double>{b.data(), 3, 1, 2});
}

TEST_F(SparseLibrary, AutoChooses) {
  struct Choice {
    Rows a;
    std::string method, why;
  };
  const Choice choices[] = {
      {laplacian(1, 3000), "banded", "the entries are 1 below and 1 above the diagonal at most"},
      {laplacian(60, 40, 0.5), "banded",
       "the entries are 60 below and 60 above the diagonal at most"},
      {small, "lu-blocked", "A is small enough to be made dense"},
      {scattered(500, 123), "lu-blocked", "A is small enough to be made dense"},
      {laplacian(200, 200), "banded",
       "the entries are 200 below and 200 above the diagonal at most"},
      {scattered(40000, 12347, 4), "cg",
       "A is symmetric and diagonally dominant, and would take long to factor"},
  };
  for (const Choice& choice : choices) {
    SCOPED_TRACE(choice.why);
    const std::vector<double> truth = known(choice.a.n(), 1);
    const Solution<double> solution = solved(choice.a, product(choice.a, truth));
    EXPECT_EQ(solution.method, choice.method);
    EXPECT_EQ(solution.why, choice.why);
    EXPECT_EQ(solution.status(), Status::ok);
    EXPECT_LT(largest_error(solution, truth), 1e-6);
  }
}

// Too large to be factored, and nothing says that an iteration would converge.
TEST_F(SparseLibrary, AutoChoosesWhereNothingIsSure) {
  const Rows symmetric = scattered(60000, 12347, 1.5);  // indefinite, with a positive diagonal
  Options options;
  options.iterations = 50;
  const std::vector<double> truth = known(symmetric.n(), 1);
  const Solution<double> solution = solved(symmetric, product(symmetric, truth), options);
  EXPECT_EQ(solution.method, "cg");
  EXPECT_EQ(solution.why, "A is symmetric with a positive diagonal, and too large to be factored");
  EXPECT_EQ(solution.status(), Status::failed);
  ASSERT_TRUE(solution.diagnosis.reason);
  EXPECT_FALSE(solution.diagnosis.reason->remedy);  // nothing that has room

  Rows dominant = scattered(60000, 12347, 4);
  dominant.values[1] /= 2;  // no longer symmetric
  const std::vector<double> rhs = product(dominant, truth);
  const Solution<double> relaxed = solved(dominant, rhs);
  EXPECT_EQ(relaxed.method, "gauss-seidel");
  EXPECT_EQ(relaxed.status(), Status::ok);
  EXPECT_LT(largest_error(relaxed, truth), 1e-6);

  const Rows hopeless = antidiagonal(60000);
  expect_error(ErrorKind::unsupported,
               "A is not symmetric with a positive diagonal, as cg needs it, and too large to be "
               "factored: the entries are 59999 below and 59999 above the diagonal at most",
               [&] { solved(hopeless, truth); });
  for (const char* method : {"lu", "lu-blocked"}) {  // 29 GB: not even begun on most machines
    if (context.device().max_allocation > 28'000'000'000) continue;
    try {
      solved(hopeless, truth, with(method));
      ADD_FAILURE() << method << " solved it";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::unsupported) << error.what();
    }
  }
}

TEST_F(SparseLibrary, AutoFallsBackOnADirectMethod) {
  const Rows a = scattered(2500, 1237, 2.5);
  const std::vector<double> truth = known(a.n(), 2), rhs = product(a, truth);
  Options options;
  EXPECT_EQ(solved(a, rhs, options).method, "cg");
  options.iterations = 3;
  const Solution<double> solution = solved(a, rhs, options);
  EXPECT_EQ(solution.method, "lu-blocked");
  EXPECT_EQ(solution.status(), Status::ok);
  EXPECT_LT(largest_error(solution, truth), 1e-10);
  EXPECT_NE(solution.why.find("; but cg failed: The residual is not below the tolerance after 3 "),
            std::string::npos)
      << solution.why;
  options.method = "cg";  // who asks for it gets it
  const Solution<double> asked = solved(a, rhs, options);
  EXPECT_EQ(asked.status(), Status::failed);
  ASSERT_TRUE(asked.diagnosis.reason && asked.diagnosis.reason->remedy);
  EXPECT_EQ(asked.diagnosis.reason->remedy->value, "lu-blocked");
}

// Squares of these are beyond the range of double.
TEST_F(SparseLibrary, LargeAndSmallValues) {
  for (const double scale : {0x1p700, 0x1p-700}) {
    std::vector<double> rhs = b, truth = x;
    for (double& value : rhs) value *= scale;
    for (double& value : truth) value *= scale;
    for (const char* method : {"cg", "banded"}) {
      SCOPED_TRACE(method);
      const Solution<double> solution = solved(small, rhs, with(method));
      EXPECT_EQ(solution.status(), Status::ok);
      EXPECT_LT(largest_error(solution, truth) / scale, 1e-8);
      EXPECT_LT(solution.checks.residual.value_or(1), 1e-10);
    }
  }
}

TEST_F(SparseLibrary, OptionsOfDenseMethods) {
  const auto changed = [](const std::string& method, const std::function<void(Options&)>& change) {
    Options options = with(method);
    change(options);
    return options;
  };
  const std::pair<const char*, std::function<void(Options&)>> changes[] = {
      {"pivot", [](Options& o) { o.pivot = Pivot::full; }},
      {"refine", [](Options& o) { o.refine = Refine::fixed; }},
      {"equilibrate", [](Options& o) { o.equilibrate = true; }},
      {"det", [](Options& o) { o.determinant = true; }},
      {"inverse", [](Options& o) { o.inverse = true; }},
  };
  for (const auto& [option, change] : changes) {
    const std::string name = option;
    for (const std::string method : {"cg", "banded"}) {
      const Options options = changed(method, change);
      expect_error(ErrorKind::bad_input,
                   method + " is for sparse matrices and has no option " + name,
                   [&] { solved(small, b, options); });
    }
    const Solution<double> solution = solved(small, b, changed("auto", change));
    EXPECT_EQ(solution.why, name + " is an option of dense methods");
    EXPECT_EQ(solution.status(), Status::ok);
    EXPECT_LT(largest_error(solution, x), 1e-12);
  }
  const auto refused = [&](const std::string& reason, const Options& options) {
    expect_error(ErrorKind::bad_input, reason, [&] { solved(small, b, options); });
  };
  refused("The tolerance is not a positive number.",
          changed("cg", [](Options& o) { o.tolerance = -1; }));
  refused("The tolerance is not a positive number.",
          changed("auto", [](Options& o) { o.tolerance = kNan; }));
  refused("The iterations are more than 1000000000.",
          changed("cg", [](Options& o) { o.iterations = SIZE_MAX; }));
  refused("There is no method \"qr\"; there are: lu-blocked, lu, gauss-jordan.", with("qr"));
}

TEST_F(SparseLibrary, MatricesThatAMethodCannotTake) {
  const Rows skew = laplacian(5, 5, 0.25);
  const std::vector<double> rhs = known(25, 1);
  expect_error(ErrorKind::unsupported, "cg needs a symmetric matrix",
               [&] { solved(skew, rhs, with("cg")); });
  Rows negative = small;
  negative.values[0] = -4;
  expect_error(ErrorKind::unsupported,
               "cg needs a positive definite matrix, and one with an element of its diagonal that "
               "is not positive is none",
               [&] { solved(negative, b, with("cg")); });
  const Rows no_diagonal = antidiagonal(4);
  for (const char* method : {"jacobi", "gauss-seidel"}) {
    expect_error(ErrorKind::unsupported, "the method divides by the diagonal, which has a zero",
                 [&] {
                   solved(no_diagonal, {1, 2, 3, 4}, with(method));
                 });
  }
  const Solution<double> solution = solved(no_diagonal, {1, 2, 3, 4}, with("banded"));
  EXPECT_EQ(solution.x, (std::vector<double>{4, 3, 2, 1}));
  for (const char* method : {"fast-diagonal", "multigrid-cg"}) {
    EXPECT_THROW(solved(small, b, with(method)), Error) << method;
  }
}

TEST_F(SparseLibrary, NotConverging) {
  const Rows a = laplacian(20, 20);
  const std::vector<double> rhs = product(a, known(a.n(), 1));
  for (const char* method : {"cg", "jacobi", "gauss-seidel"}) {
    SCOPED_TRACE(method);
    Options options = with(method);
    options.iterations = 5;
    const Solution<double> solution = solved(a, rhs, options);
    expect_reason(solution, Status::failed, "is not below the tolerance after 5 ");
    expect_reason(solution, Status::failed, "; the true residual is 0.");
    EXPECT_EQ(solution.iterations, 5U);
    EXPECT_EQ(solution.x.size(), a.n());
    EXPECT_GT(solution.checks.residual.value_or(0), 1e-3);
    options.iterations = 0;
    const Solution<double> none = solved(a, rhs, options);
    EXPECT_EQ(none.status(), Status::failed);
    EXPECT_EQ(none.x, std::vector<double>(a.n()));
    EXPECT_EQ(none.checks.residual, 1);
  }
  // Indefinite with a positive diagonal, [1 2; 2 1]: p . A p < 0, or sweeps that grow.
  const Rows indefinite = {{0, 2, 4}, {0, 1, 0, 1}, {1, 2, 2, 1}};
  expect_reason(solved(indefinite, {1, -1}, with("cg")), Status::failed, "not positive definite");
  expect_reason(solved(indefinite, {1, 2}, with("jacobi")), Status::failed, "the sweeps diverge");
}

TEST_F(SparseLibrary, SingularBand) {
  const Rows zero_row = {{0, 1, 1, 2}, {0, 2}, {1, 1}};
  for (const char* method : {"banded", "auto"}) {
    const Solution<double> solution = solved(zero_row, b, with(method));
    expect_reason(solution, Status::singular, "A is singular: pivot 2 is exactly zero");
    EXPECT_EQ(solution.checks.info, 2);
    EXPECT_TRUE(solution.x.empty());
    EXPECT_EQ(solution.view().rows, 0U);
  }
  Options options = with("banded");
  options.precision = Precision::single_precision;
  expect_reason(solved(zero_row, b, options), Status::singular,
                "A is singular in single precision: pivot 2 is exactly zero");
}

TEST_F(SparseLibrary, Unchecked) {
  for (const char* method : {"cg", "banded"}) {
    Options options = with(method);
    options.check = false;
    const Solution<double> solution = solved(small, b, options);
    EXPECT_EQ(solution.status(), Status::unchecked);
    EXPECT_FALSE(solution.checks.residual);
    EXPECT_LT(largest_error(solution, x), 1e-8);
  }
  Options options = with("cg");
  options.check = false, options.iterations = 1;
  expect_reason(solved(small, b, options), Status::failed,
                "The residual is not below the tolerance after 1 iterations");
}

TEST_F(SparseLibrary, NotANumber) {
  Rows a = small;
  a.values[3] = kNan;
  for (const char* method : {"auto", "banded", "jacobi", "gauss-seidel"}) {
    SCOPED_TRACE(method);
    EXPECT_EQ(solved(a, b, with(method)).status(), Status::failed);
    EXPECT_EQ(solved(small, {2, kNan, 11}, with(method)).status(), Status::failed);
  }
  EXPECT_THROW(solved(a, b, with("cg")), Error);  // NaN is not positive
  EXPECT_EQ(solved(small, {2, kNan, 11}, with("cg")).status(), Status::failed);
  const double infinity = std::numeric_limits<double>::infinity();
  for (const char* method : {"auto", "banded", "cg", "jacobi", "gauss-seidel"}) {
    SCOPED_TRACE(method);
    EXPECT_EQ(solved(small, {2, infinity, 11}, with(method)).status(), Status::failed);
  }
}

TEST(SparseLibraryInSingle, EveryMethodSolves) {
  const Rows a = laplacian(9, 7);
  const std::vector<double> truth = known(a.n(), 2), rhs = product(a, truth);
  for (const char* method : {"auto", "banded", "cg", "gauss-seidel", "jacobi", "lu"}) {
    SCOPED_TRACE(method);
    Options options = with(method);
    options.precision = Precision::single_precision;
    options.tolerance = 1e-5;
    const auto solution = solve(shared_context(), a.view(), columns_of(rhs, a.n()), options);
    EXPECT_EQ(solution.precision, Precision::single_precision);
    EXPECT_EQ(solution.status(), Status::ok);
    const double error = largest_error(solution, truth);
    EXPECT_LT(error, 1e-2);
    EXPECT_GT(error, 1e-13);  // nobody computed in double
  }
  // More than single precision can reach.
  Options options = with("cg");
  options.precision = Precision::single_precision;
  options.tolerance = 1e-14, options.iterations = 500;
  const auto solution = solve(shared_context(), a.view(), columns_of(rhs, a.n()), options);
  EXPECT_EQ(solution.status(), Status::failed);
  EXPECT_EQ(solution.x.size(), truth.size());

  const Rows huge = {{0, 1}, {0}, {1e300}};
  for (const char* method : {"auto", "banded", "cg", "jacobi", "gauss-seidel"}) {
    options = with(method);
    options.precision = Precision::single_precision;
    expect_error(ErrorKind::bad_input, "The value 1e+300 overflows single precision", [&] {
      solve(shared_context(), huge.view(), {&truth[0], 1, 1, 1}, options);
    });
  }
}

// Where a reference is not counted, nothing is given back that is not held: in every method, at
// every call.
TEST(FaultySparseLibrary, ReleasesOnlyWhatItHolds) {
  const Rows a = laplacian(6, 5);
  const std::vector<double> right(a.n(), 1);
  Context context;
  setenv("OPENCL_FAULT_CODE", "-5", 1);
  for (const char* method : {"cg", "gauss-seidel", "jacobi", "banded", "gauss-jordan"}) {
    solve(context, a.view(), columns_of(right, a.n()), with(method));  // kernels are built
    int failed = 0;
    for (int call = 1; call <= 400 && failed == call - 1; ++call) {
      SCOPED_TRACE(std::string(method) + ", call " + std::to_string(call));
      setenv("OPENCL_FAULT_CALL", std::to_string(call).c_str(), 1);
      setenv("OPENCL_FAULT_FUNCTION", "clRetainMemObject", 1);
      try {
        solve(context, a.view(), columns_of(right, a.n()), with(method));
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::failure);
        ++failed;
      }
      unsetenv("OPENCL_FAULT_FUNCTION");
    }
    EXPECT_EQ(solve(context, a.view(), columns_of(right, a.n()), with(method)).status(),
              Status::ok);
  }
}

}  // namespace
}  // namespace lugpu

// The library as other programs meet it: its headers and liblugpu.so, nothing of src/. OpenCL fails
// where a test wants it to (opencl_faults.cpp, linked in).
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <limits>
#include <lugpu/lugpu.hpp>
#include <optional>
#include <string>
#include <thread>
#include <typeinfo>
#include <utility>
#include <vector>

extern "C" void opencl_faults_live(std::size_t* handles, std::size_t* bytes);

namespace lugpu {
namespace {

Context& shared_context() {
  static Context context;
  return context;
}

// A matrix in memory that has room between its columns or rows.
template <typename T>
class Host {
 public:
  using Rows = std::initializer_list<std::initializer_list<T>>;

  Host(std::size_t rows, std::size_t columns, Order order = Order::columns)
      : rows_(rows), columns_(columns), order_(order), memory_(lines() * ld(), kPadding) {}
  // Written row by row, as on paper.
  Host(Rows rows, Order order) : Host(rows.size(), rows.begin()->size(), order) {
    std::size_t i = 0;
    for (const auto& row : rows) {
      std::size_t j = 0;
      for (const T value : row) view()(i, j++) = value;
      ++i;
    }
  }

  View<T> view() { return {memory_.data(), rows_, columns_, ld(), order_}; }
  View<const T> view() const { return {memory_.data(), rows_, columns_, ld(), order_}; }
  const std::vector<T>& memory() const { return memory_; }
  bool padding_is_untouched() const {
    for (std::size_t line = 0; line < lines(); ++line) {
      for (std::size_t i = length(); i < ld(); ++i) {
        if (memory_[line * ld() + i] != kPadding) return false;
      }
    }
    return true;
  }

 private:
  static constexpr T kPadding = -77;
  std::size_t length() const { return order_ == Order::columns ? rows_ : columns_; }
  std::size_t lines() const { return order_ == Order::columns ? columns_ : rows_; }
  std::size_t ld() const { return length() + 3; }

  std::size_t rows_, columns_;
  Order order_;
  std::vector<T> memory_;
};

template <typename T>
testing::AssertionResult near(View<const T> actual, View<const T> expected, double units) {
  const double tolerance = units * std::numeric_limits<T>::epsilon();
  for (std::size_t j = 0; j < expected.columns; ++j) {
    for (std::size_t i = 0; i < expected.rows; ++i) {
      if (std::abs(actual(i, j) - expected(i, j)) <= tolerance) continue;
      return testing::AssertionFailure() << "element (" << i << ", " << j << ") is " << actual(i, j)
                                         << ", not " << expected(i, j);
    }
  }
  return testing::AssertionSuccess();
}

constexpr Order kOrders[] = {Order::columns, Order::rows};

// A of the tests, with everything that can be computed by hand. The two candidates for the second
// pivot are equal, and the first of them is taken.
template <typename T>
struct Known {
  explicit Known(Order order = Order::columns, Order order_of_b = Order::columns)
      : a({{2, 1, 1}, {4, -6, 0}, {-2, 7, 2}}, order),
        lu({{4, -6, 0}, {0.5, 4, 1}, {-0.5, 1, 1}}, order),
        inverse({{0.75, -0.3125, -0.375}, {0.5, -0.375, -0.25}, {-1, 1, 1}}, order),
        x({{1, 1}, {1, 2}, {2, 3}}, order_of_b),
        b({{5, 7}, {-2, -8}, {9, 18}}, order_of_b),          // A X
        b_transposed({{2, 4}, {9, 10}, {5, 7}}, order_of_b)  // A^T X
  {}
  Host<T> a, lu, inverse, x, b, b_transposed;
  const std::vector<int> ipiv = {2, 2, 3};
  const double determinant = -16, rcond = 1 / (14 * 2.25);
};

// The Error that the call ends with, as another program gets it: of this type and no other.
Error error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::exception& error) {
    EXPECT_EQ(typeid(error), typeid(Error)) << error.what();
    if (const auto* exact = dynamic_cast<const Error*>(&error)) return *exact;
    return {ErrorKind::failure, error.what()};
  }
  ADD_FAILURE() << "no error";
  return {ErrorKind::failure, ""};
}

void expect_error(ErrorKind kind, const std::string& sentence, const std::function<void()>& call) {
  const Error error = error_of(call);
  EXPECT_EQ(error.kind(), kind) << error.what();
  EXPECT_EQ(error.what(), sentence);
}

void expect_remedy(ErrorKind kind, const std::string& reason, const Remedy& remedy,
                   const std::function<void()>& call) {
  const Error error = error_of(call);
  EXPECT_EQ(error.kind(), kind) << error.what();
  EXPECT_EQ(error.reason(), reason);
  ASSERT_TRUE(error.remedy()) << error.what();
  EXPECT_EQ(error.remedy()->option, remedy.option);
  EXPECT_EQ(error.remedy()->value, remedy.value);
}

template <typename T>
class Library : public testing::Test {
 protected:
  void SetUp() override {
    if (sizeof(T) > sizeof(float) && !context.device().double_precision) {
      GTEST_SKIP() << context.device().name << " has no doubles";
    }
  }
  Context& context = shared_context();
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Library, Types);

TYPED_TEST(Library, Solves) {
  for (const Order order : kOrders) {
    for (const Order order_of_b : kOrders) {
      const Known<TypeParam> known(order, order_of_b);
      const Known<TypeParam> before = known;
      const Solution<TypeParam> solution = solve(this->context, known.a.view(), known.b.view());
      EXPECT_EQ(solution.status(), Status::ok);
      EXPECT_EQ(solution.n, 3U);
      EXPECT_EQ(solution.nrhs, 2U);
      EXPECT_TRUE(near(solution.view(), known.x.view(), 100));
      EXPECT_EQ(known.a.memory(), before.a.memory());
      EXPECT_EQ(known.b.memory(), before.b.memory());
      ASSERT_TRUE(solution.checks.rcond);
      EXPECT_NEAR(*solution.checks.rcond, known.rcond, 1e-5);
      const auto digits = solution.checks.digits(solution.precision);
      EXPECT_GE(digits.value_or(0), std::numeric_limits<TypeParam>::digits10 - 2);
      EXPECT_EQ(solution.precision,
                sizeof(TypeParam) == 4 ? Precision::single_precision : Precision::double_precision);
      EXPECT_GT(solution.phases_s.at("factor"), 0);
    }
  }
}

TYPED_TEST(Library, SolvesNothing) {
  const Host<TypeParam> none(0, 0), no_columns(3, 0);
  EXPECT_TRUE(solve(this->context, none.view(), none.view()).x.empty());
  const Known<TypeParam> known;
  const auto solution = solve(this->context, known.a.view(), no_columns.view());
  EXPECT_EQ(solution.status(), Status::ok);
  EXPECT_EQ(solution.nrhs, 0U);
  const auto factors = factorize(this->context, none.view());
  EXPECT_EQ(factors.n(), 0U);
  EXPECT_EQ(factors.determinant().mantissa, 1);
}

TYPED_TEST(Library, ComputesWhatIsAskedFor) {
  const Known<TypeParam> known;
  Options options;
  options.determinant = options.inverse = options.equilibrate = true;
  options.refine = Refine::fixed;
  const auto solution = solve(this->context, known.a.view(), known.b.view(), options);
  ASSERT_TRUE(solution.determinant);
  EXPECT_EQ(
      std::ldexp(solution.determinant->mantissa, static_cast<int>(solution.determinant->exponent)),
      known.determinant);
  ASSERT_EQ(solution.inverse.size(), 9U);
  EXPECT_TRUE(
      near(View<const TypeParam>{solution.inverse.data(), 3, 3, 3}, known.inverse.view(), 100));
  EXPECT_TRUE(solution.refinement);
  EXPECT_TRUE(solution.equilibration);
}

TYPED_TEST(Library, Unchecked) {
  const Known<TypeParam> known;
  Options options;
  options.check = false;
  const auto solution = solve(this->context, known.a.view(), known.b.view(), options);
  EXPECT_EQ(solution.status(), Status::unchecked);
  EXPECT_FALSE(solution.checks.solve_ratio);
  EXPECT_FALSE(solution.checks.rcond);
  EXPECT_FALSE(solution.checks.digits(solution.precision));
  EXPECT_TRUE(near(solution.view(), known.x.view(), 100));
}

TYPED_TEST(Library, Singular) {
  const Host<TypeParam> a({{1, 2}, {2, 4}}, Order::rows), b({{1}, {2}}, Order::columns);
  const auto solution = solve(this->context, a.view(), b.view());
  EXPECT_EQ(solution.status(), Status::singular);
  EXPECT_TRUE(solution.x.empty());
  EXPECT_EQ(solution.view().rows, 0U);
  EXPECT_EQ(solution.checks.info, 2);
  ASSERT_TRUE(solution.diagnosis.reason);
  EXPECT_EQ(solution.diagnosis.reason->reason,
            sizeof(TypeParam) == 4 ? "A is singular in single precision: pivot 2 is exactly zero"
                                   : "A is singular: pivot 2 is exactly zero");

  const auto factors = factorize(this->context, a.view());
  EXPECT_EQ(factors.info(), 2);
  EXPECT_EQ(factors.determinant().mantissa, 0);
  EXPECT_EQ(factors.rcond(), 0);
  Host<TypeParam> x = b, lu(2, 2);
  factors.factors(lu.view());
  EXPECT_EQ(lu.view()(1, 0), TypeParam(0.5));
  const std::string sentence = "A is singular: pivot 2 is exactly zero.";
  expect_error(ErrorKind::failure, sentence, [&] { factors.solve(x.view()); });
  expect_error(ErrorKind::failure, sentence, [&] { factors.inverse(lu.view()); });
  EXPECT_EQ(x.memory(), b.memory());
}

// A pivot that is zero only because nobody looked for another.
TYPED_TEST(Library, SaysWhatMayHelp) {
  const Host<TypeParam> a({{0, 1}, {1, 0}}, Order::rows), b({{1}, {2}}, Order::columns);
  Options options;
  options.pivot = Pivot::none;
  const auto solution = solve(this->context, a.view(), b.view(), options);
  EXPECT_NE(solution.status(), Status::ok);
  ASSERT_TRUE(solution.diagnosis.reason);
  ASSERT_TRUE(solution.diagnosis.reason->remedy);
  EXPECT_EQ(solution.diagnosis.reason->remedy->option, "pivot");
  EXPECT_EQ(solution.diagnosis.reason->remedy->value, "partial");
}

TYPED_TEST(Library, Factorizes) {
  for (const Order order : kOrders) {
    for (const Order order_of_b : kOrders) {
      Known<TypeParam> known(order, order_of_b);
      const Host<TypeParam> a = known.a;
      const auto factors = factorize(this->context, a.view());
      EXPECT_EQ(a.memory(), known.a.memory());
      EXPECT_EQ(factors.n(), 3U);
      EXPECT_EQ(factors.info(), 0);
      EXPECT_EQ(factors.ipiv(), known.ipiv);
      EXPECT_TRUE(factors.jpiv().empty());
      Host<TypeParam> square = known.a;
      factors.factors(square.view());
      EXPECT_EQ(square.memory(), known.lu.memory());  // the padding too
      factors.inverse(square.view());
      EXPECT_TRUE(near<TypeParam>(square.view(), known.inverse.view(), 10));
      EXPECT_TRUE(square.padding_is_untouched());
      factors.solve(known.b.view());
      EXPECT_TRUE(near<TypeParam>(known.b.view(), known.x.view(), 100));
      EXPECT_TRUE(known.b.padding_is_untouched());
      factors.solve(known.b_transposed.view(), Op::transpose);
      EXPECT_TRUE(near<TypeParam>(known.b_transposed.view(), known.x.view(), 100));
      EXPECT_TRUE(known.b_transposed.padding_is_untouched());
      EXPECT_EQ(std::ldexp(factors.determinant().mantissa,
                           static_cast<int>(factors.determinant().exponent)),
                known.determinant);
      ASSERT_TRUE(factors.rcond());
      EXPECT_NEAR(*factors.rcond(), known.rcond, 1e-5);
    }
  }
}

// The first pivot of full pivoting is 7, in the third row and the second column.
TYPED_TEST(Library, InterchangesColumns) {
  Known<TypeParam> known;
  Options options;
  options.pivot = Pivot::full;
  const auto factors = factorize(this->context, std::as_const(known.a).view(), options);
  ASSERT_EQ(factors.jpiv().size(), 3U);
  EXPECT_EQ(factors.ipiv()[0], 3);
  EXPECT_EQ(factors.jpiv()[0], 2);
  factors.solve(known.b.view());
  EXPECT_TRUE(near<TypeParam>(known.b.view(), known.x.view(), 100));
}

TYPED_TEST(Library, Adopts) {
  for (const Order order : kOrders) {
    Known<TypeParam> known(order, order);
    const auto factors = adopt(this->context, std::as_const(known.lu).view(), known.ipiv);
    EXPECT_EQ(factors.info(), 0);
    EXPECT_EQ(factors.ipiv(), known.ipiv);
    factors.solve(known.b.view());
    EXPECT_TRUE(near<TypeParam>(known.b.view(), known.x.view(), 100));
    factors.solve(known.b_transposed.view(), Op::transpose);
    EXPECT_TRUE(near<TypeParam>(known.b_transposed.view(), known.x.view(), 100));
    Host<TypeParam> square = known.a;
    factors.factors(square.view());
    EXPECT_EQ(square.memory(), known.lu.memory());
    EXPECT_EQ(factors.determinant().mantissa, -1);
    EXPECT_EQ(factors.determinant().exponent, 4);
    EXPECT_FALSE(factors.rcond());
  }
  const Host<TypeParam> lu({{1, 2}, {0.5, 0}}, Order::rows);
  EXPECT_EQ(adopt(this->context, lu.view(), {1, 2}).info(), 2);
}

TYPED_TEST(Library, RefusesShapes) {
  Known<TypeParam> known;
  const auto a = std::as_const(known.a).view(), b = std::as_const(known.b).view();
  auto wide = a, short_b = b, null = a, null_b = b, narrow = a, narrow_b = b;
  wide.rows = 2, short_b.rows = 2, null.data = nullptr, null_b.data = nullptr;
  narrow.ld = 2, narrow_b.ld = 2;
  const auto refused = [&](const std::string& sentence, auto matrix, auto rhs) {
    expect_error(ErrorKind::bad_input, sentence, [&] { solve(this->context, matrix, rhs); });
  };
  refused("A is 2 x 3; it must be square.", wide, b);
  refused("B is 2 x 2; it must have as many rows as A, 3.", a, short_b);
  refused("A has no elements: its pointer is null.", null, b);
  refused("B has no elements: its pointer is null.", a, null_b);
  refused("A has the leading dimension 2, which must be at least 3.", narrow, b);
  refused("B has the leading dimension 2, which must be at least 3.", a, narrow_b);

  const auto no_factors = [&](const std::string& sentence, auto matrix) {
    expect_error(ErrorKind::bad_input, sentence, [&] { factorize(this->context, matrix); });
  };
  no_factors("A is 2 x 3; it must be square.", wide);
  no_factors("A has no elements: its pointer is null.", null);
  no_factors("A has the leading dimension 2, which must be at least 3.", narrow);

  const auto factors = factorize(this->context, a);
  auto x = known.b.view(), square = known.a.view();
  x.rows = 2, square.columns = 2;
  expect_error(ErrorKind::bad_input, "B is 2 x 2; A is 3 x 3.", [&] { factors.solve(x); });
  expect_error(ErrorKind::bad_input, "LU is 3 x 2; A is 3 x 3.", [&] { factors.factors(square); });
  expect_error(ErrorKind::bad_input, "The inverse is 3 x 2; A is 3 x 3.",
               [&] { factors.inverse(square); });
}

// A number of elements that does not fit into 64 bits must not pass for a small one.
TYPED_TEST(Library, RefusesShapesThatOverflow) {
  constexpr std::size_t kHuge = std::size_t{1} << 62;
  const Known<TypeParam> known;
  const View<const TypeParam> none{nullptr, kHuge, 4, kHuge};
  expect_error(ErrorKind::bad_input, "B has no elements: its pointer is null.",
               [&] { solve(this->context, known.a.view(), none); });
}

TYPED_TEST(Library, RefusesPivots) {
  const Known<TypeParam> known;
  const auto lu = known.lu.view();
  const auto refused = [&](const std::string& sentence, const std::vector<int>& ipiv) {
    expect_error(ErrorKind::bad_input, sentence, [&] { adopt(this->context, lu, ipiv); });
  };
  refused("There are 2 pivots; LU has 3 rows.", {1, 2});
  refused("Pivot 2 is row 1, not one from there to 3.", {1, 1, 3});
  refused("Pivot 3 is row 4, not one from there to 3.", {1, 2, 4});
}

TYPED_TEST(Library, RefusesOptionsThatContradict) {
  const Known<TypeParam> known;
  const auto with = [&](const std::function<void(Options&)>& change) {
    Options options;
    change(options);
    return [&, options] { solve(this->context, known.a.view(), known.b.view(), options); };
  };
  expect_error(ErrorKind::bad_input,
               "There is no method \"qr\"; there are: lu-blocked, lu, gauss-jordan.",
               with([](Options& o) { o.method = "qr"; }));
  expect_remedy(ErrorKind::bad_input, "lu has no blocks to choose a size for",
                {"method", "lu-blocked"}, with([](Options& o) { o.method = "lu", o.nb = 32; }));
  expect_remedy(ErrorKind::bad_input, "lu-blocked has no schedule of the paper", {"method", "lu"},
                with([](Options& o) { o.method = "lu-blocked", o.schedule = Schedule::paper; }));
  expect_remedy(ErrorKind::unsupported, "lu-blocked has no rook pivoting", {"method", "lu"},
                with([](Options& o) { o.method = "lu-blocked", o.pivot = Pivot::rook; }));
  expect_remedy(ErrorKind::unsupported, "gauss-jordan keeps no factors to refine X with",
                {"method", "lu"},
                with([](Options& o) { o.method = "gauss-jordan", o.refine = Refine::fixed; }));
  Options options;
  options.equilibrate = true;
  expect_error(ErrorKind::bad_input, "factorize() neither refines nor scales; solve() does.",
               [&] { factorize(this->context, known.a.view(), options); });
  options = {};
  options.method = "gauss-jordan";
  expect_remedy(ErrorKind::unsupported, "gauss-jordan keeps no factors", {"method", "lu"},
                [&] { factorize(this->context, known.a.view(), options); });
}

class DoubleLibrary : public Library<double> {};

TEST_F(DoubleLibrary, OverflowOfSinglePrecision) {
  const Host<double> a({{1e300, 0}, {0, 1}}, Order::rows), b({{1}, {1}}, Order::rows);
  Options options;
  options.precision = Precision::single_precision;
  expect_remedy(ErrorKind::bad_input, "The value 1e+300 overflows single precision",
                {"precision", "double"}, [&] { factorize(context, a.view(), options); });
  const Host<double> small({{1, 0}, {0, 1}}, Order::rows), large({{1}, {-1e300}}, Order::rows);
  expect_remedy(ErrorKind::bad_input, "The value -1e+300 overflows single precision",
                {"precision", "double"},
                [&] { solve(context, small.view(), large.view(), options); });

  const Host<float> tiny({{1e-30F}}, Order::rows), huge({{1e30F}}, Order::rows);
  options.precision = Precision::double_precision;
  const auto solution = solve(context, tiny.view(), huge.view(), options);
  EXPECT_EQ(solution.status(), Status::failed);  // X is 1e60
}

// Single precision alone would give 7 digits of 1 / 30.
TEST_F(DoubleLibrary, MixedPrecisionGivesDoubles) {
  const Host<double> a({{20, 10}, {10, 20}}, Order::rows), b({{1}, {1}}, Order::rows);
  Options options;
  options.refine = Refine::mixed;
  const auto solution = solve(context, a.view(), b.view(), options);
  EXPECT_EQ(solution.status(), Status::ok);
  EXPECT_EQ(solution.precision, Precision::single_precision);
  ASSERT_TRUE(solution.refinement);
  EXPECT_TRUE(solution.refinement->converged);
  ASSERT_EQ(solution.x.size(), 2U);
  EXPECT_NEAR(solution.x[0], 1.0 / 30, 1e-16);
  EXPECT_NEAR(solution.x[1], 1.0 / 30, 1e-16);
}

TEST(Devices, TellWhatThereIs) {
  const std::vector<Device> devices = list_devices();
  ASSERT_FALSE(devices.empty());
  for (std::size_t k = 0; k < devices.size(); ++k) {
    EXPECT_EQ(devices[k].index, static_cast<int>(k));
    EXPECT_EQ(choose_device("", std::to_string(k)).id, devices[k].id);
    EXPECT_EQ(choose_device(devices[k].platform, devices[k].name).platform, devices[k].platform);
    EXPECT_GT(devices[k].global_memory, 0U);
  }
  const Error error = error_of([] { choose_device("", "no such device"); });
  EXPECT_EQ(error.kind(), ErrorKind::no_device);
  EXPECT_NE(std::string(error.what()).find(devices[0].name), std::string::npos);
}

class FaultyOpenCl : public testing::Test {
 protected:
  void TearDown() override { unsetenv("OPENCL_FAULT_FUNCTION"); }
  static void fail(const char* function, const char* call = "1+") {
    setenv("OPENCL_FAULT_FUNCTION", function, 1);
    setenv("OPENCL_FAULT_CALL", call, 1);
    setenv("OPENCL_FAULT_CODE", "-36", 1);
  }
};

TEST_F(FaultyOpenCl, IsAnErrorOfTheLibrary) {
  const Known<float> known;
  const auto expect_failure = [](const std::function<void()>& call) {
    const Error error = error_of(call);
    EXPECT_EQ(error.kind(), ErrorKind::failure);
    EXPECT_NE(std::string(error.what()).find("CL_INVALID_COMMAND_QUEUE (-36)"), std::string::npos)
        << error.what();
  };
  Context& context = shared_context();
  fail("clEnqueueNDRangeKernel");
  expect_failure([&] { solve(context, known.a.view(), known.b.view()); });
  expect_failure([&] { factorize(context, known.a.view()); });
  fail("clGetDeviceInfo");
  expect_failure([] { list_devices(); });
  expect_failure([] { choose_device(); });
  expect_failure([] { Context(); });
  TearDown();
  const auto solution = solve(context, known.a.view(), known.b.view());
  EXPECT_EQ(solution.status(), Status::ok);  // as if nothing had been
}

// Handles and bytes of OpenCL that are neither released nor lost to a failed release.
std::pair<std::size_t, std::size_t> live() {
  std::pair<std::size_t, std::size_t> both;
  opencl_faults_live(&both.first, &both.second);
  return both;
}

TEST_F(FaultyOpenCl, KeepsNothingAfterAnError) {
  const Known<double> known;
  const auto before = live();
  int failed = 0;
  for (const char* function :
       {"clCreateContext", "clCreateCommandQueue", "clCreateBuffer", "clCreateKernel",
        "clBuildProgram", "clSetKernelArg", "clEnqueueNDRangeKernel", "clEnqueueReadBuffer",
        "clEnqueueWriteBuffer", "clEnqueueFillBuffer", "clFinish", "clFlush", "clWaitForEvents"}) {
    for (const char* call : {"1", "3", "20"}) {
      SCOPED_TRACE(std::string(function) + " " + call);
      fail(function, call);
      try {
        Context context;
        solve(context, known.a.view(), known.b.view());
      } catch (const Error& error) {
        EXPECT_NE(error.kind(), ErrorKind::bad_input) << error.what();
        ++failed;
      }
      TearDown();
      EXPECT_EQ(live(), before);
    }
  }
  EXPECT_GT(failed, 20);
}

// What malloc() gave and has not got back.
std::size_t allocated() {
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// Large buffers of a CPU's device are the library's own memory.
TEST_F(FaultyOpenCl, KeepsNoMemoryOfBuffersThatWereNotMade) {
  constexpr std::size_t kOrder = 1100, kBytes = kOrder * kOrder * sizeof(double);
  std::vector<double> a(kOrder * kOrder), b(kOrder, 1);
  for (std::size_t i = 0; i < kOrder; ++i) a[i * kOrder + i] = 1;
  const View<const double> matrix{a.data(), kOrder, kOrder, kOrder},
      right{b.data(), kOrder, 1, kOrder};
  Context context;
  for (const char* function : {"clCreateBuffer", "clSetMemObjectDestructorCallback"}) {
    fail(function);
    const std::size_t before = allocated();
    for (int i = 0; i < 3; ++i) error_of([&] { solve(context, matrix, right); });
    EXPECT_LT(allocated(), before + kBytes) << function;
    TearDown();
  }
}

// Exit status of a forked process.
int status_of_child(const std::function<bool()>& child) {
  const pid_t process = fork();
  if (process == 0) {
    alarm(20);  // ends a child that hangs
    _exit(child() ? 0 : 1);
  }
  int status = -1;
  waitpid(process, &status, 0);
  return status;
}

TEST(Fork, IsRefused) {
  Context& context = shared_context();
  const Known<float> known;
  std::optional<Factorization<float>> factors = factorize(context, known.a.view());
  const auto refused = [&](const std::function<void()>& call) {
    return status_of_child([&] {
      try {
        call();
      } catch (const Error& error) {
        return error.kind() == ErrorKind::failure &&
               std::string(error.what()).find("forked process") != std::string::npos;
      }
      return false;
    });
  };
  EXPECT_EQ(refused([&] { solve(context, known.a.view(), known.b.view()); }), 0);
  EXPECT_EQ(refused([&] { factorize(context, known.a.view()); }), 0);
  Host<float> b = known.b;
  EXPECT_EQ(refused([&] { factors->solve(b.view()); }), 0);
  EXPECT_EQ(refused([&] { factors->rcond(); }), 0);
  // What the child gives up is the parent's still.
  EXPECT_EQ(status_of_child([&] {
              factors.reset();
              context = Context(context);
              return true;
            }),
            0);
  factors->solve(b.view());
  EXPECT_TRUE(near<float>(b.view(), known.x.view(), 100));
}

// The second difference and right-hand sides that are not all alike.
template <typename T>
Host<T> difference(std::size_t n) {
  Host<T> a(n, n);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) {
      a.view()(i, j) = i == j ? T(2) : i + 1 == j || j + 1 == i ? T(-1) : T(0);
    }
  }
  return a;
}

template <typename T>
Host<T> right_hand_sides(std::size_t n, std::size_t seed) {
  Host<T> b(n, 1 + seed % 3);
  for (std::size_t j = 0; j < b.view().columns; ++j) {
    for (std::size_t i = 0; i < n; ++i) b.view()(i, j) = T((i * 7 + j * 3 + seed) % 11) - 5;
  }
  return b;
}

// Shares of one device, for which it need not be there several times.
Context in_shares(std::size_t count) {
  return Context(std::vector<Device>(count, choose_device()));
}

// Elements in no order, so that rows are interchanged.
template <typename T>
Host<T> disordered(std::size_t n) {
  Host<T> a(n, n);
  unsigned state = 1;
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) {
      state = state * 1664525u + 1013904223u;
      a.view()(i, j) = T(static_cast<int>(state >> 16) % 2001 - 1000) / 1000;
    }
  }
  return a;
}

TYPED_TEST(Library, SeveralDevicesShareASystem) {
  constexpr std::size_t kN = 150;
  const Host<TypeParam> a = disordered<TypeParam>(kN), b = right_hand_sides<TypeParam>(kN, 1);
  Options options;
  options.nb = 64;
  struct Results {
    std::vector<TypeParam> solved, lu, x, y, inverse, adopted;
    std::vector<int> ipiv;
    double mantissa, rcond;
    bool operator==(const Results&) const = default;
  };
  const auto results_of = [&](std::size_t count) {
    const Context shares = in_shares(count);
    EXPECT_EQ(shares.device_count(), count);
    const auto solution = solve(shares, a.view(), b.view(), options);
    EXPECT_EQ(solution.status(), Status::ok);
    EXPECT_EQ(solution.method, "lu-blocked");
    const auto factors = factorize(shares, a.view(), options);
    Host<TypeParam> x = b, y = b, z = b, inverse(kN, kN), lu(kN, kN);
    factors.solve(x.view());
    factors.solve(y.view(), Op::transpose);
    factors.inverse(inverse.view());
    factors.factors(lu.view());
    adopt<TypeParam>(shares, lu.view(), factors.ipiv()).solve(z.view());
    EXPECT_TRUE(near<TypeParam>(z.view(), x.view(), 1e4));
    return Results{solution.x,
                   lu.memory(),
                   x.memory(),
                   y.memory(),
                   inverse.memory(),
                   z.memory(),
                   factors.ipiv(),
                   factors.determinant().mantissa,
                   factors.rcond().value_or(-1)};
  };
  const Results two = results_of(2);
  EXPECT_GT(two.rcond, 0);
  EXPECT_EQ(results_of(3), two);
}

TEST(SeveralDevices, RefuseWhatOneAloneCanDo) {
  const Context shares = in_shares(2);
  const Known<float> known;
  const auto solve_by = [&](const Options& options) {
    return [&, options] { solve(shares, known.a.view(), known.b.view(), options); };
  };
  Options options;
  options.pivot = Pivot::full;
  expect_remedy(ErrorKind::unsupported,
                "No method for several devices has pivoting full and the other options",
                {"pivot", "partial"}, solve_by(options));
  options = {};
  options.method = "lu";
  expect_remedy(ErrorKind::unsupported, "lu works on one device alone", {"method", "lu-blocked"},
                solve_by(options));
  const std::vector<std::int64_t> row_begin = {0, 1, 2, 3};
  const std::vector<std::int32_t> columns = {0, 1, 2};
  const std::vector<double> ones(3, 1.0);
  const SparseView identity{3, row_begin.data(), columns.data(), ones.data()};
  options.method = "cg";
  expect_remedy(ErrorKind::unsupported, "cg works on one device alone", {"method", "lu-blocked"},
                [&] {
                  solve(shares, identity, {ones.data(), 3, 1, 3}, options);
                });
  expect_error(ErrorKind::unsupported, "Simulations work on one device alone.",
               [&] { Simulation(shares, "wave", {}); });
  expect_error(ErrorKind::bad_input, "A context of no devices cannot do anything.",
               [] { Context(std::vector<Device>()); });
  setenv("LUGPU_DEVICE", "0,0,0", 1);
  EXPECT_EQ(Context().device_count(), 3u);
  unsetenv("LUGPU_DEVICE");
}

constexpr std::size_t kThreads = 6, kRounds = 3;

void in_threads(const std::function<void(std::size_t)>& work) {
  std::vector<std::thread> threads;
  for (std::size_t k = 0; k < kThreads; ++k) threads.emplace_back(work, k);
  for (std::thread& thread : threads) thread.join();
}

TEST(Threads, OpenDevicesAtTheSameTime) {
  std::vector<int> opened(kThreads);
  in_threads([&](std::size_t k) {
    const Context context(choose_device());
    const Known<float> known;
    opened[k] = solve(context, known.a.view(), known.b.view()).status() == Status::ok;
  });
  EXPECT_EQ(opened, std::vector<int>(kThreads, 1));
}

// Of different orders, so that every call has launches and memory of its own.
TEST(Threads, ShareAContext) {
  const auto x_of = [](std::size_t k) {
    const std::size_t n = 20 + 25 * k;
    return solve<float>(shared_context(), difference<float>(n).view(),
                        right_hand_sides<float>(n, k).view())
        .x;
  };
  std::vector<std::vector<float>> alone;
  for (std::size_t k = 0; k < kThreads; ++k) alone.push_back(x_of(k));
  std::vector<std::vector<float>> together[kRounds];
  for (auto& round : together) round.resize(kThreads);
  in_threads([&](std::size_t k) {
    for (auto& round : together) round[k] = x_of(k);
  });
  for (const auto& round : together) EXPECT_EQ(round, alone);
}

TEST(Threads, ShareAFactorization) {
  constexpr std::size_t kN = 90;
  const Host<float> a = difference<float>(kN);
  const Factorization<float> factors = factorize(shared_context(), a.view());
  struct Results {
    std::vector<float> x, y, inverse, lu;
    double determinant = 0, rcond = 0;
    bool operator==(const Results&) const = default;
  };
  const auto results_of = [&](std::size_t k) {
    const Factorization<float> mine = factors;  // a copy goes while others work
    Host<float> x = right_hand_sides<float>(kN, k), y = x, inverse(kN, kN), lu(kN, kN);
    mine.solve(x.view());
    mine.solve(y.view(), Op::transpose);
    mine.inverse(inverse.view());
    mine.factors(lu.view());
    return Results{x.memory(),
                   y.memory(),
                   inverse.memory(),
                   lu.memory(),
                   mine.determinant().mantissa,
                   mine.rcond().value_or(-1)};
  };
  std::vector<Results> alone, together(kThreads);
  for (std::size_t k = 0; k < kThreads; ++k) alone.push_back(results_of(k));
  in_threads([&](std::size_t k) {
    for (std::size_t round = 0; round < kRounds; ++round) together[k] = results_of(k);
  });
  EXPECT_EQ(together, alone);
}

// The last owner of factors frees the device's memory in the midst of others' work.
TEST(Threads, FreeFactorsWhileOthersWork) {
  const Host<float> a = difference<float>(50);
  std::vector<float> determinants(kThreads);
  in_threads([&](std::size_t k) {
    for (std::size_t round = 0; round < kRounds; ++round) {
      const Factorization<float> factors = factorize(shared_context(), a.view());
      const Determinant det = factors.determinant();
      determinants[k] =
          static_cast<float>(std::ldexp(det.mantissa, static_cast<int>(det.exponent)));
    }
  });
  for (const float determinant : determinants) EXPECT_NEAR(determinant, 51, 0.001);
}

}  // namespace
}  // namespace lugpu

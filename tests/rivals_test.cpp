// The rivals on a device: cuSOLVER, for which the libraries of cuda_stub.cpp stand in, and
// ViennaCL.
#include <cstdlib>
#include <memory>

#include "base/error.hpp"
#include "baselines/baselines.hpp"
#include "baselines/cusolver.hpp"
#include "baselines/cusolver_mg.hpp"
#include "baselines/cusolver_mp.hpp"
#include "bench/measure.hpp"
#include "bench/report.hpp"
#include "contenders.hpp"
#include "opencl_fixture.hpp"

namespace lugpu {
namespace {

// LAPACK's test sizes and those around the blocks and the padding of ViennaCL.
constexpr std::size_t kOrders[] = {1, 2, 3, 5, 10, 31, 32, 33, 50, 63, 64, 65, 127, 128, 129, 500};

/// The stub's CUDA device has the name of the tests' OpenCL device.
void name_cuda_device(const std::string& name) {
  setenv("LUGPU_CUDA_STUB", name.c_str(), 1);
}

struct RivalKind {
  const Baseline* baseline;
  Precision precision;
};

void PrintTo(const RivalKind& kind, std::ostream* out) {
  std::string text = kind.baseline->name;
  std::replace(text.begin(), text.end(), '-', '_');
  *out << text << "_" << name(kind.precision);
}

std::vector<RivalKind> rival_kinds() {
  std::vector<RivalKind> kinds;
  for (const Baseline& baseline : baselines()) {
    if (!baseline.on_device) continue;
    kinds.push_back({&baseline, Precision::single_precision});
    kinds.push_back({&baseline, Precision::double_precision});
  }
  return kinds;
}

class Rivals : public testing::TestWithParam<RivalKind> {
 protected:
  void SetUp() override {
    name_cuda_device(context.device().name);
    try {
      rival.on_device->require(context.device(), problem_of(1, 1, rival.pivot, precision));
    } catch (const Unsupported& error) {
      GTEST_SKIP() << error.what();
    }
  }

  std::unique_ptr<Contender> make(std::size_t n, std::size_t nrhs) {
    return rival.on_device->make(context, problem_of(n, nrhs, rival.pivot, precision));
  }

  Matrix system(std::size_t n) const {
    return generate(rival.pivot == Pivot::none ? "dominant" : "random", n, 1);
  }

  /// Factors and solves what was uploaded, with all checks.
  void expect_solved(Contender& solver, const Matrix& a, const Matrix& b) {
    solver.factor();
    const Outcome outcome = solver.outcome();
    EXPECT_EQ(outcome.info, 0);
    // Those of a rival for several devices stay there.
    if (const std::optional<Matrix> lu = solver.lu()) {
      EXPECT_EQ(outcome.ipiv.size(), rival.pivot == Pivot::none ? 0 : a.rows());
      EXPECT_TRUE(outcome.jpiv.empty());
      ASSERT_EQ(outcome.pivots.size(), a.rows());
      for (std::size_t k = 0; k < a.rows(); ++k) EXPECT_EQ(outcome.pivots[k], (*lu)(k, k));
      EXPECT_LT(lu_factor_ratio(a, *lu, outcome.ipiv, outcome.jpiv, eps), kFactorRatioLimit);
    } else {
      EXPECT_TRUE(rival.shares);
    }
    solver.solve();
    const Matrix x = solver.download();
    ASSERT_EQ(x.rows(), b.rows());
    ASSERT_EQ(x.cols(), b.cols());
    EXPECT_LT(solve_ratio(a, x, b, eps), kSolveRatioLimit);
    EXPECT_LT(hpl_residual(a, x, b, eps), kHplResidualLimit);
  }

  DeviceContext& context = shared_context();
  const Baseline& rival = *GetParam().baseline;
  const Precision precision = GetParam().precision;
  const double eps = epsilon(precision);
};

INSTANTIATE_TEST_SUITE_P(All, Rivals, testing::ValuesIn(rival_kinds()),
                         testing::PrintToStringParamName());

TEST_P(Rivals, PassTheChecks) {
  for (const std::size_t n : kOrders) {
    for (const std::size_t nrhs : {0, 1, 15}) {
      SCOPED_TRACE("n = " + std::to_string(n) + ", nrhs = " + std::to_string(nrhs));
      const Matrix a = system(n), b = random_matrix(n, nrhs, 1);
      const auto solver = make(n, nrhs);
      solver->upload(a, b);
      expect_solved(*solver, a, b);
      if (HasFailure()) return;
    }
  }
}

// Both of cuSOLVER's interfaces: which of them is used after prepare() is a matter of chance.
TEST_P(Rivals, AreRepeatable) {
  const Matrix a = system(65), b = random_matrix(65, 3, 1);
  const auto solver = make(65, 3);
  solver->upload(a, b);
  expect_solved(*solver, a, b);
  const std::optional<Matrix> lu = solver->lu();
  const Matrix x = solver->download();
  for (int i = 0; i < 5; ++i) {
    solver->prepare();
    expect_solved(*solver, a, b);
    if (lu) {
      EXPECT_TRUE(equal(solver->lu().value(), *lu));
    }
    EXPECT_TRUE(equal(solver->download(), x));
    solver->reset();
  }
}

TEST_P(Rivals, FindTheZeroPivot) {
  for (const std::size_t n : {1, 2, 10, 65}) {
    const auto solver = make(n, 1);
    solver->upload(generate("zero-last-column", n, 1), Matrix(n, 1));
    solver->prepare();
    solver->factor();
    EXPECT_EQ(solver->outcome().info, static_cast<int>(n));
  }
}

TEST_P(Rivals, RefuseWhatOverflows) {
  if (precision == Precision::double_precision) GTEST_SKIP() << "nothing does";
  EXPECT_THROW(make(1, 1)->upload(filled(1, 1, 1e300), Matrix(1, 1)), InputError);
}

TEST_P(Rivals, SolveNothing) {
  const auto solver = make(0, 3);
  solver->upload(Matrix(0, 0), Matrix(0, 3));
  solver->prepare();
  solver->factor();
  EXPECT_EQ(solver->outcome().info, 0);
  solver->solve();
  EXPECT_EQ(solver->download().cols(), 3u);
}

TEST_P(Rivals, WhatDoesNotFitIsUnsupported) {
  const Problem problem = problem_of(std::size_t{1} << 19, 1, rival.pivot, precision);
  EXPECT_THROW(rival.on_device->require(context.device(), problem), Unsupported);
}

TEST_P(Rivals, AreMeasured) {
  const Matrix a = system(300), b = random_matrix(300, 1, 1);
  Case what;
  what.implementation = rival.implementation;
  what.routine = rival.name;
  what.problem = problem_of(300, 1, rival.pivot, precision);
  what.device = context.device().name;
  const Effort effort = {.warmup = 0, .runs = 2, .min_time_s = 0, .timeout_s = 60};
  Measurement measurement(rival, &context, what, a, b, effort);
  while (measurement.wants_sample()) measurement.sample();
  const Result result = measurement.finish();
  EXPECT_STREQ(name(result.status), "ok") << result.reason;
  EXPECT_EQ(result.times_s.size(), 2u);
  const nlohmann::json row = to_json(result);
  EXPECT_EQ(row["storage"], "buffer");
  EXPECT_EQ(row["device"], context.device().name);
  for (const char* key : {"texel", "schedule", "threads"}) EXPECT_TRUE(row[key].is_null()) << key;
  if (rival.implementation == std::string("cusolver")) {
    EXPECT_EQ(result.device_times_s, std::vector<double>{1e-3}) << "the stub's event times";
    EXPECT_TRUE(row["variant"].get<std::string>().starts_with("cusolverDn")) << row["variant"];
  }
}

TEST(Cusolver, OtherDevicesAreUnsupported) {
  const Device& device = shared_context().device();
  name_cuda_device("Testcard");
  try {
    require_cusolver(device, Problem());
    FAIL() << "nothing was thrown";
  } catch (const Unsupported& error) {
    EXPECT_EQ(std::string(error.what()), device.name +
                                             " is not a CUDA device; cuSOLVER runs only on "
                                             "those, and here are: Testcard.");
  }
}

TEST(Cusolver, WithoutADeviceItIsUnsupported) {
  unsetenv("LUGPU_CUDA_STUB");
  EXPECT_THROW(require_cusolver(shared_context().device(), Problem()), Unsupported);
  EXPECT_THROW(make_cusolver(shared_context(), Problem()), Unsupported);
}

// Of rivals that share a system: require...(), make...().
struct Sharing {
  const char* name;
  void (*require)(const Device& device, const Problem& problem);
  std::unique_ptr<Contender> (*make)(DeviceContext& context, const Problem& problem);
};

// Three blocks of columns on two devices; the second is this one by another number.
TEST(SharingRivals, ShareASystem) {
  name_cuda_device(shared_context().device().name);
  Device device = shared_context().device();
  DeviceContext same(device);
  ++device.index;
  DeviceContext other(device);
  for (const auto& [name, require, make] :
       {Sharing{"cuSOLVERMg", require_cusolver_mg, make_cusolver_mg},
        Sharing{"cuSOLVERMp", require_cusolver_mp, make_cusolver_mp}}) {
    SCOPED_TRACE(name);
    for (const Precision precision : {Precision::single_precision, Precision::double_precision}) {
      const std::size_t n = 1100, nrhs = 3;
      Problem problem = problem_of(n, nrhs, Pivot::partial, precision);
      problem.dense.others = {&other};
      EXPECT_THROW(require(shared_context().device(), problem), Unsupported);
      setenv("LUGPU_CUDA_STUB_DEVICES", "2", 1);
      const std::unique_ptr<Contender> rival = make(shared_context(), problem);
      Matrix a = random_matrix(n, n, 1);
      const Matrix b = random_matrix(n, nrhs, 2);
      for (std::size_t i = 0; i < n; ++i) a(i, (i + 1) % n) += 40;
      rival->upload(a, b);
      rival->prepare();
      for (int again = 0; again < 2; ++again) {
        rival->reset();
        rival->factor();
        EXPECT_EQ(rival->outcome().info, 0);
        rival->solve();
        EXPECT_LT(solve_ratio(a, rival->download(), b, epsilon(precision)), 4 * kSolveRatioLimit);
      }
      problem.dense.others = {&same};
      EXPECT_THROW(require(shared_context().device(), problem), Unsupported);
      unsetenv("LUGPU_CUDA_STUB_DEVICES");
    }
  }
}

// Before that its communicators were not NCCL's.
TEST(CusolverMp, TakesVersion07OrLater) {
  name_cuda_device(shared_context().device().name);
  setenv("LUGPU_CUDA_STUB_MP_VERSION", "600", 1);
  const Problem problem = problem_of(4, 1, Pivot::partial, Precision::double_precision);
  EXPECT_THROW(make_cusolver_mp(shared_context(), problem), Unsupported);
  unsetenv("LUGPU_CUDA_STUB_MP_VERSION");
}

TEST(Cusolver, LibraryIsRecorded) {
  nlohmann::json report = {{"libraries", nlohmann::json::object()}};
  add_libraries(report, {"getrf"});
  EXPECT_TRUE(report["libraries"].empty());
  add_libraries(report, {"cusolver", "cusolver-none"});
  EXPECT_EQ(report["libraries"]["cusolver"]["version"], "1.2.3");
  const std::string path = report["libraries"]["cusolver"]["path"];
  EXPECT_TRUE(path.ends_with("/cuda_stub/libcusolver.so")) << path;
}

}  // namespace
}  // namespace lugpu

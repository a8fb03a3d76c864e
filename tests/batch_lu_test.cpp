// LU of batches, by every path through the kernels: against LAPACK one by one.
#include "dense/batch_lu.hpp"

#include <sys/mman.h>

#include <bit>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include "dense/batch_proof.hpp"
#include "factors.hpp"
#include "kernel_files.hpp"
#include "ratios.hpp"

extern "C" void dgetc2_(const int* n, double* a, const int* lda, int* ipiv, int* jpiv, int* info);

namespace lugpu {
namespace {

struct Case {
  BatchPath path;
  Precision precision;
  Pivot pivot;
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << (c.path == BatchPath::vectors     ? "vectors_"
           : c.path == BatchPath::registers ? "registers_"
           : c.path == BatchPath::memory    ? "memory_"
                                            : "memory_first_")
       << name(c.precision) << '_' << name(c.pivot);
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const BatchPath path : {BatchPath::vectors, BatchPath::registers, BatchPath::memory}) {
    for (const Precision precision : {Precision::single_precision, Precision::double_precision}) {
      for (const Pivot pivot : {Pivot::none, Pivot::partial, Pivot::full}) {
        cases.push_back({path, precision, pivot});
      }
    }
  }
  cases.push_back({BatchPath::memory_first, Precision::single_precision, Pivot::full});
  cases.push_back({BatchPath::memory_first, Precision::double_precision, Pivot::full});
  return cases;
}

/// What the device left of a batch: the factors of each member, and inv(A) B.
struct Result {
  std::vector<LuFactors> factors;
  std::vector<std::vector<int>> jpiv;  // 1-based
  std::vector<Matrix> x;
};

class BatchLuTest : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const std::string missing =
        missing_on(handle_of(context.device()), {precision, Storage::buffer});
    if (!missing.empty()) GTEST_SKIP() << context.device().name << ": " << missing;
    if (context.device().max_work_group < 256) GTEST_SKIP() << "work-groups are too small";
  }

  template <typename T>
  Result factored(const std::vector<Matrix>& members, std::size_t nrhs, std::size_t most_elements) {
    const std::size_t n = members[0].rows(), count = members.size();
    std::vector<T> a, b, lu(count * n * n);
    for (const Matrix& member : members) {
      a.insert(a.end(), member.values().begin(), member.values().end());
      const Matrix right = right_hand_sides(member, nrhs);
      b.insert(b.end(), right.values().begin(), right.values().end());
    }
    const auto batch = [&](auto& values, std::size_t columns) {
      using Element = std::remove_pointer_t<decltype(values.data())>;
      return Batch<Element>({values.data(), n, columns, n}, count, n * columns);
    };
    BatchLu batch_lu(context, {count, n}, precision, pivot, path, most_elements);
    batch_lu.upload(batch(std::as_const(a), n));
    batch_lu.factor();
    batch_lu.download_factors(batch(lu, n));
    if (nrhs > 0) batch_lu.solve(batch(std::as_const(b), nrhs), batch(b, nrhs));
    Result result;
    const std::vector<int> info = batch_lu.info(), ipiv = batch_lu.ipiv(), jpiv = batch_lu.jpiv();
    for (std::size_t i = 0; i < count; ++i) {
      const auto part = [&](const auto& values, std::size_t size) {
        const auto from = values.begin() + static_cast<std::ptrdiff_t>(i * size);
        return std::pair(from, from + static_cast<std::ptrdiff_t>(size));
      };
      LuFactors factors{Matrix(n, n), {}, info[i]};
      const auto [lu_first, lu_last] = part(lu, n * n);
      std::copy(lu_first, lu_last, factors.lu.values().begin());
      if (!ipiv.empty()) factors.ipiv.assign(part(ipiv, n).first, part(ipiv, n).second);
      result.factors.push_back(factors);
      result.jpiv.emplace_back();
      if (!jpiv.empty()) result.jpiv[i].assign(part(jpiv, n).first, part(jpiv, n).second);
      result.x.emplace_back(n, nrhs);
      const auto [x_first, x_last] = part(b, n * nrhs);
      std::copy(x_first, x_last, result.x[i].values().begin());
    }
    return result;
  }

  Matrix right_hand_sides(const Matrix& a, std::size_t nrhs) const {
    return random_in(precision, a.rows(), nrhs, 17);
  }

  Result factor(const std::vector<Matrix>& members, std::size_t nrhs = 0,
                std::size_t most_elements = BatchLu::kMostElements) {
    return precision == Precision::double_precision ? factored<double>(members, nrhs, most_elements)
                                                    : factored<float>(members, nrhs, most_elements);
  }

  Matrix made(const std::string& kind, std::size_t n, std::uint64_t seed = 1) const {
    return rounded_to(precision, generate(kind, n, seed));
  }

  /// Every order up to 130 and those around other switches; fewer where the device only imitates
  /// a GPU, for which every order of the kernel is another program.
  std::vector<std::size_t> orders() const {
    std::set<std::size_t> orders{1,  2,  3,  4,  5,  7,  8,  9,  10,  17,  31,  32,  33,
                                 41, 49, 63, 64, 65, 95, 96, 97, 100, 127, 128, 129, 132};
    if (path == BatchLu::path(context.device(), 1, precision, pivot)) {
      for (std::size_t n = 1; n <= 130; ++n) orders.insert(n);
    }
    if (path != BatchPath::registers) return {orders.begin(), orders.end()};
    return {orders.begin(), orders.upper_bound(128)};
  }

  void expect_right(const Matrix& a, const Result& result, std::size_t i, bool rounding_decides) {
    const LuFactors& factors = result.factors[i];
    Matrix aq = a;
    for (std::size_t k = 0; k < result.jpiv[i].size(); ++k) {
      const std::size_t q = static_cast<std::size_t>(result.jpiv[i][k]) - 1;
      for (std::size_t row = 0; row < a.rows() && q != k; ++row) std::swap(aq(row, k), aq(row, q));
    }
    LuFactors rows = factors;
    for (std::size_t k = 0; pivot == Pivot::none && k < a.rows(); ++k) {
      rows.ipiv.push_back(static_cast<int>(k + 1));
    }
    EXPECT_LT(factor_error(aq, rows, epsilon(precision)), kFactorRatioLimit);
    if (pivot == Pivot::none) return;
    for (std::size_t k = 0; k < a.rows(); ++k) {
      for (std::size_t row = k + 1; row < a.rows(); ++row) {
        ASSERT_LE(std::abs(factors.lu(row, k)), 1 + 4 * epsilon(precision)) << row << ", " << k;
      }
    }
    if (rounding_decides) return;
    if (pivot == Pivot::partial) {
      EXPECT_EQ(factors.ipiv, getrf_pivots(a, precision));
    } else {
      Matrix lu = a;
      const auto n = static_cast<int>(a.rows());
      std::vector<int> ipiv(a.rows()), jpiv(a.rows());
      int info = 0;
      dgetc2_(&n, lu.values().data(), &n, ipiv.data(), jpiv.data(), &info);
      // getc2 takes the last step's pivot, the only one, for granted.
      ipiv.back() = jpiv.back() = n;
      EXPECT_EQ(factors.ipiv, ipiv);
      EXPECT_EQ(result.jpiv[i], jpiv);
    }
  }

  DeviceContext& context = shared_context();
  const BatchPath path = GetParam().path;
  const Precision precision = GetParam().precision;
  const Pivot pivot = GetParam().pivot;
};

TEST_P(BatchLuTest, HasThePivotsOfLapackAtEveryOrder) {
  for (const std::size_t n : orders()) {
    SCOPED_TRACE(n);
    const bool in_single = precision == Precision::single_precision;
    const std::vector<Matrix> members{
        harmless_for(pivot, precision, n, n, n),
        made(pivot == Pivot::none ? "dominant" : "permuted", n),
        harmless_for(pivot, precision, n, n, n + 1),
    };
    const Result result = factor(members, 3);
    for (std::size_t i = 0; i < members.size(); ++i) {
      SCOPED_TRACE(i);
      EXPECT_EQ(result.factors[i].info, 0);
      // Full pivoting's largest elements may be nearly equal, and in single precision others too.
      expect_right(members[i], result, i,
                   pivot == Pivot::full ? i == 1 || (in_single && n > 8) : i != 1 && in_single);
      EXPECT_LT(
          solve_ratio(members[i], result.x[i], right_hand_sides(members[i], 3), epsilon(precision)),
          kSolveRatioLimit);
    }
  }
}

TEST_P(BatchLuTest, ReportsSingularMembersOneByOne) {
  for (const std::size_t n : {1, 2, 8, 30, 40, 70, 100, 128, 132}) {
    if (path == BatchPath::registers && n > 128) continue;
    SCOPED_TRACE(n);
    Matrix nan = harmless_for(pivot, precision, n, n, 5);
    nan(n / 2, n - 1) = NAN;
    const std::vector<Matrix> members{harmless_for(pivot, precision, n, n, 1),
                                      made("zero-first-column", n),
                                      nan,
                                      made("zero-last-column", n),
                                      made("zero-half-columns", n),
                                      made("lower", n),
                                      made("upper", n),
                                      made("diagonal", n),
                                      filled(n, n, 0)};
    const Result result = factor(members, 1);
    const auto last = static_cast<int>(n);
    const int first_of_full = last;  // all other columns have pivots first
    EXPECT_EQ(result.factors[0].info, 0);
    EXPECT_EQ(result.factors[1].info, pivot == Pivot::full ? first_of_full : 1);
    if (pivot != Pivot::none) {
      EXPECT_EQ(result.factors[3].info, last);
      EXPECT_EQ(result.factors[4].info, last / 2 + 1);
    }
    EXPECT_EQ(result.factors[8].info, 1);
    for (const std::size_t good : {0, 5, 6, 7}) {
      SCOPED_TRACE(good);
      expect_right(members[good], result, good, true);
      EXPECT_LT(solve_ratio(members[good], result.x[good], right_hand_sides(members[good], 1),
                            epsilon(precision)),
                kSolveRatioLimit);
    }
    const auto& x = result.x[2].values();
    EXPECT_TRUE(std::any_of(x.begin(), x.end(), [](double value) { return std::isnan(value); }));
  }
}

TEST_P(BatchLuTest, FactorsTheOtherTypesOfLapack) {
  const bool in_double = precision == Precision::double_precision;
  const std::vector<std::string> kinds{
      "well-conditioned", in_double ? "ill-conditioned" : "ill-conditioned-single",
      in_double ? "very-ill-conditioned" : "very-ill-conditioned-single",
      in_double ? "near-underflow-double" : "near-underflow",
      in_double ? "near-overflow-double" : "near-overflow"};
  if (pivot == Pivot::none) GTEST_SKIP() << "they need pivoting";
  for (const std::size_t n : {1, 2, 3, 5, 8, 32, 64, 70, 132}) {
    if (path == BatchPath::registers && n > 128) continue;
    SCOPED_TRACE(n);
    std::vector<Matrix> members;
    for (const std::string& kind : kinds) members.push_back(made(kind, n));
    const Result result = factor(members);
    for (std::size_t i = 0; i < members.size(); ++i) {
      SCOPED_TRACE(kinds[i]);
      EXPECT_EQ(result.factors[i].info, 0);
      expect_right(members[i], result, i, !in_double || pivot == Pivot::full);
    }
  }
}

// Rows and columns (1-based) with which each step of full pivoting exchanges its own, if of equal
// elements the first column's is chosen, and of those the first row's. (getc2 takes the last.)
std::pair<std::vector<int>, std::vector<int>> first_full_pivots(Matrix a) {
  const std::size_t n = a.rows();
  std::vector<int> ipiv, jpiv;
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t p = k, q = k;
    for (std::size_t j = k; j < n; ++j) {
      for (std::size_t i = k; i < n; ++i) {
        if (std::abs(a(i, j)) > std::abs(a(p, q))) p = i, q = j;
      }
    }
    ipiv.push_back(static_cast<int>(p + 1)), jpiv.push_back(static_cast<int>(q + 1));
    for (std::size_t j = 0; j < n && p != k; ++j) std::swap(a(k, j), a(p, j));
    for (std::size_t i = 0; i < n && q != k; ++i) std::swap(a(i, k), a(i, q));
    for (std::size_t j = k + 1; j < n; ++j) {
      for (std::size_t i = k + 1; i < n; ++i) a(i, j) -= a(i, k) / a(k, k) * a(k, j);
    }
  }
  return {ipiv, jpiv};
}

// Hadamard matrices: all elements that a column has left are equal, or zero, and all results exact.
TEST_P(BatchLuTest, TakesTheFirstOfEqualPivots) {
  if (pivot == Pivot::none) GTEST_SKIP() << "it has no choice";
  for (const std::size_t n : {4, 16, 32, 64, 128, 256}) {
    if (path == BatchPath::registers && n > (pivot == Pivot::full ? 64 : 128)) continue;
    SCOPED_TRACE(n);
    Matrix a(n, n);
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = 0; i < n; ++i) a(i, j) = std::popcount(i & j) % 2 == 0 ? 1 : -1;
    }
    const Result result = factor({a});
    EXPECT_EQ(result.factors[0].info, 0);
    if (pivot == Pivot::partial) {
      EXPECT_EQ(result.factors[0].ipiv, getrf_pivots(a, precision));
      continue;
    }
    const auto [ipiv, jpiv] = first_full_pivots(a);
    EXPECT_EQ(result.factors[0].ipiv, ipiv);
    EXPECT_EQ(result.jpiv[0], jpiv);
  }
}

// Pivots without a normal reciprocal: L is finite, and the product right but for what is lost below
// the smallest number.
TEST_P(BatchLuTest, FactorsSubnormalNumbers) {
  const bool in_double = precision == Precision::double_precision;
  const int exponent = in_double ? -1060 : -140;
  for (const std::size_t n : {3, 20, 40, 70, 132}) {
    if (path == BatchPath::registers && n > 128) continue;
    SCOPED_TRACE(n);
    Matrix a = made(pivot == Pivot::none ? "dominant" : "permuted", n);
    for (double& x : a.values()) x = std::ldexp(x, exponent);
    a = rounded_to(precision, a);
    const LuFactors factors = factor({a}).factors[0];
    EXPECT_EQ(factors.info, 0);
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = j + 1; i < n; ++i) ASSERT_LE(std::abs(factors.lu(i, j)), 1.01);
    }
  }
}

// As in LAPACK, what is divided by an infinite pivot is 0.
TEST_P(BatchLuTest, DividesByAnInfinitePivot) {
  for (const std::size_t n : {2, 8, 20, 40, 70, 100, 132}) {
    if (path == BatchPath::registers && n > 128) continue;
    SCOPED_TRACE(n);
    Matrix a = harmless_for(pivot, precision, n, n, 1);
    a(0, 0) = INFINITY;
    const LuFactors factors = factor({a}).factors[0];
    EXPECT_EQ(factors.info, 0);
    EXPECT_EQ(factors.lu(0, 0), INFINITY);
    for (std::size_t i = 1; i < n; ++i) ASSERT_EQ(factors.lu(i, 0), 0) << i;
    for (std::size_t j = 1; j < n; ++j) {
      for (std::size_t i = 0; i < n; ++i) ASSERT_TRUE(std::isfinite(factors.lu(i, j))) << i << j;
    }
  }
}

// The largest ones, of which most kernels never see all.
TEST_P(BatchLuTest, FactorsTheLargestOrder) {
  if (path == BatchPath::registers) {
    GTEST_SKIP() << "not so large";
  }
  for (const std::size_t n : {260, 511}) {  // rows begin at whole packs, and not
    const std::vector<Matrix> members{made(pivot == Pivot::none ? "dominant" : "permuted", n),
                                      made(pivot == Pivot::none ? "dominant" : "permuted", n, 2)};
    const Result result = factor(members);
    for (std::size_t i = 0; i < members.size(); ++i) {
      expect_right(members[i], result, i, pivot == Pivot::full);
    }
  }
}

// A member has the same bits in a batch of any size, in any place, and in several buffers.
TEST_P(BatchLuTest, DoesNotDependOnTheOtherMembers) {
  for (const std::size_t n : {5, 24, 40, 70, 100, 132}) {
    if (path == BatchPath::registers && n > 128) continue;
    SCOPED_TRACE(n);
    std::vector<Matrix> members;
    for (std::size_t i = 0; i < 37; ++i) {
      members.push_back(harmless_for(pivot, precision, n, n, i + 1));
    }
    members[3] = filled(n, n, NAN);
    const Result all = factor(members, 2), parts = factor(members, 2, 20 * n * n);
    std::vector<Matrix> backwards(members.rbegin(), members.rend());
    const Result reversed = factor(backwards, 2);
    for (std::size_t i = 0; i < members.size(); ++i) {
      SCOPED_TRACE(i);
      const std::size_t other = members.size() - 1 - i;
      EXPECT_TRUE(equal(parts.factors[i].lu, all.factors[i].lu));
      EXPECT_TRUE(equal(reversed.factors[other].lu, all.factors[i].lu));
      EXPECT_EQ(reversed.factors[other].ipiv, all.factors[i].ipiv);
      EXPECT_EQ(reversed.jpiv[other], all.jpiv[i]);
      EXPECT_TRUE(equal(parts.x[i], all.x[i]));
      EXPECT_TRUE(equal(reversed.x[other], all.x[i]));
    }
    const Result alone = factor({members[20]}, 2);
    EXPECT_TRUE(equal(alone.factors[0].lu, all.factors[20].lu));
    EXPECT_TRUE(equal(alone.x[0], all.x[20]));
  }
}

TEST_P(BatchLuTest, IsProvenRight) {
  for (const std::size_t n : {1, 7, 40}) {
    SCOPED_TRACE(n);
    BatchLu lu(context, {3, n}, precision, pivot, path);
    EXPECT_TRUE(factors_right(lu));
  }
}

INSTANTIATE_TEST_SUITE_P(Paths, BatchLuTest, testing::ValuesIn(all_cases()),
                         testing::PrintToStringParamName());

// Other CPUs have shorter vectors, and fewer registers for tiles.
TEST(BatchLu, HasTheSameBitsForEveryWidthOfVectors) {
  constexpr std::size_t kOrder = 37, kCount = 9;
  Device device = shared_context().device();
  if (device.type != "cpu") GTEST_SKIP() << "no CPU";
  std::vector<float> values(kCount * kOrder * kOrder);
  std::map<Pivot, std::vector<float>> expected;
  const Matrix random = random_in(Precision::single_precision, values.size(), 1, 4);
  std::copy(random.values().begin(), random.values().end(), values.begin());
  const std::size_t stride = kOrder * kOrder;
  for (const unsigned bytes : {64, 32, 16}) {
    device.vector_bytes = bytes;
    DeviceContext context(device);
    for (const Pivot pivot : {Pivot::partial, Pivot::full}) {
      BatchLu lu(context, {kCount, kOrder}, Precision::single_precision, pivot, BatchPath::vectors);
      lu.upload(Batch<const float>({values.data(), kOrder, kOrder, kOrder}, kCount, stride));
      lu.factor();
      std::vector<float> x(values.size());
      lu.inverse(Batch<float>({x.data(), kOrder, kOrder, kOrder}, kCount, stride));
      EXPECT_EQ(x, expected.emplace(pivot, x).first->second) << bytes;
    }
  }
}

// 32 KB is the least that OpenCL's GPUs have.
TEST(BatchLu, LittleLocalMemoryIsEnoughUpToOrder128) {
  Device device = shared_context().device();
  device.type = "gpu";
  device.local_memory = 32 << 10;
  for (const Precision precision : {Precision::single_precision, Precision::double_precision}) {
    for (const Pivot pivot : {Pivot::none, Pivot::partial, Pivot::full}) {
      for (const std::size_t n : {96, 97, 128}) {
        EXPECT_NO_THROW(BatchLu::require_room(device, {1, n}, precision, pivot))
            << n << name(precision) << name(pivot);
      }
    }
  }
  const auto in_double = [&](std::size_t n, Pivot pivot) {
    return BatchLu::path(device, n, Precision::double_precision, pivot);
  };
  EXPECT_EQ(in_double(96, Pivot::full), BatchPath::registers);
  EXPECT_EQ(in_double(97, Pivot::full), BatchPath::memory);
  EXPECT_EQ(in_double(128, Pivot::partial), BatchPath::registers);
  EXPECT_EQ(in_double(129, Pivot::partial), BatchPath::memory);
  EXPECT_EQ(in_double(129, Pivot::full), BatchPath::memory);
  EXPECT_EQ(BatchLu::path(device, 129, Precision::single_precision, Pivot::full),
            BatchPath::memory_first);
  device.local_memory = 48 << 10;
  EXPECT_EQ(in_double(97, Pivot::full), BatchPath::registers);
  EXPECT_EQ(in_double(129, Pivot::full), BatchPath::memory_first);
}

// What is left after two steps in memory, in registers that NVIDIA's GPUs have and others may not:
// `left` rows and columns of at most orders[0]. The same bits as in memory.
template <typename T>
void expect_as_in_memory(Precision precision, std::size_t left, std::vector<std::size_t> orders) {
  DeviceContext& context = shared_context();
  const std::size_t n = left + 2;
  std::vector<T> values;
  for (const Matrix& a :
       {harmless_for(Pivot::full, precision, n, n, 1),
        rounded_to(precision, generate("zero-half-columns", n, 1)), filled(n, n, 0)}) {
    values.insert(values.end(), a.values().begin(), a.values().end());
  }
  const BatchSize size{3, n};
  const Batch<const T> members({values.data(), n, n, n}, size.count, n * n);
  BatchLu in_memory(context, size, precision, Pivot::full, BatchPath::memory);
  in_memory.upload(members);
  in_memory.factor();
  BatchLu by_launches(context, size, precision, Pivot::full, BatchPath::memory);
  by_launches.upload(members);
  const BatchLu::Part& part = by_launches.parts()[0];
  std::size_t first = 0;
  const auto launch = [&](const char* file, const std::string& options, std::size_t items,
                          std::size_t steps) {
    context.run("factor",
                {file, "factor_batch", precision, Storage::buffer, Texel::rgba,
                 " -DPIVOT=FULL" + options + " -DITEMS=" + std::to_string(items)},
                {size.count * items}, part.matrices, part.ipiv, part.jpiv, part.info,
                static_cast<cl_int>(n), static_cast<cl_int>(size.count), static_cast<cl_int>(first),
                static_cast<cl_int>(steps));
    first += steps;
  };
  launch("gpu/batch_memory_full.cl", " -DORDER=256 -DPENDING=4", 256, 2);
  orders.push_back(0);
  for (std::size_t i = 0; i + 1 < orders.size(); ++i) {
    launch("gpu/batch_full.cl", " -DORDER=" + std::to_string(orders[i]),
           orders[i] * (orders[i] > 128 ? 2 : 1), n - first - orders[i + 1]);
  }
  EXPECT_EQ(by_launches.info(), (std::vector<int>{0, static_cast<int>(n / 2 + 1), 1}));
  EXPECT_EQ(by_launches.info(), in_memory.info());
  EXPECT_EQ(by_launches.ipiv(), in_memory.ipiv());
  EXPECT_EQ(by_launches.jpiv(), in_memory.jpiv());
  const std::size_t elements = size.count * n * n;
  const auto found = values_of<T>(context, part.matrices, elements);
  const auto expected = values_of<T>(context, in_memory.parts()[0].matrices, elements);
  for (std::size_t e = 0; e < elements; ++e) {
    ASSERT_TRUE(found[e] == expected[e] || (std::isnan(found[e]) && std::isnan(expected[e]))) << e;
  }
}

TEST(BatchLu, LargeRestsInRegistersAreAsInMemory) {
  const Device& device = shared_context().device();
  if (device.max_work_group < 448 || device.local_memory < 48 << 10) {
    GTEST_SKIP() << "work-groups or local memory are too small";
  }
  expect_as_in_memory<float>(Precision::single_precision, 224, {224, 192, 160, 128, 96, 64, 32});
  expect_as_in_memory<float>(Precision::single_precision, 205, {224, 192, 160, 128, 96, 64, 32});
  expect_as_in_memory<float>(Precision::single_precision, 175, {192, 160, 128, 96, 64, 32});
  if (!device.double_precision) return;
  expect_as_in_memory<double>(Precision::double_precision, 150, {160, 128, 96, 64, 32});
}

TEST(BatchLu, WrongKernelsAreNotProven) {
  const std::pair<const char*, const char*> mistakes[] = {
      {"const vec l = -row[k];", "const vec l = -row[k] * 1.001f;"},
      {"const vec l = -row[k];", "const vec l = (vec)(NAN);"}};
  for (const auto& [right, wrong] : mistakes) {
    const Folder folder;
    copy_kernels(folder.path() / "kernels", "cpu/batch_lu.cl", right, wrong);
    DeviceContext context(shared_context().device(), {folder.path() / "kernels"});
    for (const Pivot pivot : {Pivot::none, Pivot::partial}) {
      BatchLu lu(context, {2, 9}, Precision::single_precision, pivot, BatchPath::vectors);
      EXPECT_FALSE(factors_right(lu)) << wrong;
    }
  }
}

// Members 2^31 elements apart: indices do not fit into 32 bits.
TEST(BatchLu, ReachesMembersFarApart) {
  constexpr std::size_t kStride = (std::size_t{1} << 31) + 5, kCount = 4, kOrder = 3;
  constexpr std::size_t kBytes = kCount * kStride * sizeof(float);
  void* room = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(room, MAP_FAILED);
  auto* values = static_cast<float*>(room);
  const Batch<float> batch({values, kOrder, kOrder, kOrder + 1, Order::rows}, kCount, kStride);
  for (std::size_t m = 0; m < kCount; ++m) {
    for (std::size_t i = 0; i < kOrder; ++i) batch[m](i, i) = static_cast<float>(m + 1);
  }
  EXPECT_EQ(&batch[3](2, 1), values + 3 * kStride + 2 * 4 + 1);
  DeviceContext& context = shared_context();
  BatchLu lu(context, {kCount, kOrder}, Precision::single_precision, Pivot::partial,
             BatchLu::path(context.device(), kOrder, Precision::single_precision, Pivot::partial));
  lu.upload(Batch<const float>({values, kOrder, kOrder, kOrder + 1, Order::rows}, kCount, kStride));
  lu.factor();
  lu.inverse(batch);
  for (std::size_t m = 0; m < kCount; ++m) {
    EXPECT_EQ(batch[m](1, 1), 1 / static_cast<float>(m + 1)) << m;
    EXPECT_EQ(batch[m](1, 0), 0) << m;
  }
  munmap(room, kBytes);
}

// A buffer has fewer than 2^31 elements, however large the batch is.
TEST(BatchLu, CountsLargeBatchesInSeveralBuffers) {
  DeviceContext& context = shared_context();
  BatchLu lu(context, {1000, 4}, Precision::single_precision, Pivot::none, BatchPath::memory, 4001);
  ASSERT_EQ(lu.parts().size(), 4U);
  EXPECT_EQ(lu.parts()[3].first, 750U);
  EXPECT_EQ(lu.parts()[3].count, 250U);
}

TEST(BatchLu, RefusesWhatItCannotFactor) {
  const Device device = shared_context().device();
  const auto refused = [&](const BatchSize& size, Pivot pivot) {
    try {
      BatchLu::require_room(device, size, Precision::single_precision, pivot);
    } catch (const Error& error) {
      return error.kind() == ErrorKind::unsupported;
    }
    return false;
  };
  EXPECT_FALSE(refused({10, 512}, Pivot::full));
  EXPECT_TRUE(refused({10, 513}, Pivot::full));
  EXPECT_TRUE(refused({10, 5}, Pivot::rook));
  EXPECT_TRUE(refused({std::size_t{1} << 40, 512}, Pivot::none));
}

}  // namespace
}  // namespace lugpu

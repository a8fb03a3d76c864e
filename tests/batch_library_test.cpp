// Batches as other programs meet them: the headers and liblugpu.so, nothing of src/.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <lugpu/lugpu.hpp>
#include <string>
#include <vector>

namespace lugpu {
namespace {

Context& shared_context() {
  static Context context;
  return context;
}

/// A value between -1 and 1 that looks random.
template <typename T>
T noise(std::size_t i) {
  return static_cast<T>(std::fmod(std::sin(static_cast<double>(i) + 1) * 12345.678, 1.0));
}

template <typename T>
std::vector<T> noise_of(std::size_t count, std::size_t first) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = noise<T>(first + i);
  return values;
}

std::string refusal(const std::function<void()>& action, ErrorKind kind) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    return error.what();
  }
  return "nothing was refused";
}

constexpr std::size_t kCount = 21, kN = 6, kNrhs = 2;

template <typename T>
class BatchLibrary : public testing::Test {
 protected:
  // With room between the columns and between the members.
  std::vector<T> a_ = noise_of<T>(kCount * 60, 0), b_ = noise_of<T>(kCount * kN * kNrhs, 5000);

  Batch<const T> matrices(Order order = Order::columns) const {
    return {{a_.data(), kN, kN, kN + 2, order}, kCount, 60};
  }
  Batch<const T> sides() const { return {{b_.data(), kN, kNrhs, kN}, kCount, kN * kNrhs}; }
};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(BatchLibrary, Reals);

TYPED_TEST(BatchLibrary, SolvesAsOneByOne) {
  using T = TypeParam;
  for (const Order order : {Order::columns, Order::rows}) {
    const auto a = this->matrices(order), b = this->sides();
    BatchOptions options;
    options.inverse = true;
    const BatchSolution<T> batch = solve_batch(shared_context(), a, b, options);
    EXPECT_EQ(batch.members(Status::ok), kCount);
    EXPECT_EQ(batch.info, std::vector<int>(kCount, 0));
    for (std::size_t i = 0; i < kCount; ++i) {
      EXPECT_LT(batch.solve_ratio[i], 30);
      Options one_by_one;
      one_by_one.inverse = true;
      const Solution<T> alone = solve(shared_context(), a[i], b[i], one_by_one);
      ASSERT_EQ(alone.status(), Status::ok);
      const double tolerance =
          50 * std::numeric_limits<T>::epsilon() / alone.checks.rcond.value_or(NAN);
      for (std::size_t k = 0; k < alone.x.size(); ++k) {
        EXPECT_NEAR(batch.view(i).data[k], alone.x[k],
                    tolerance * std::abs(alone.x[k]) + tolerance);
      }
      for (std::size_t k = 0; k < alone.inverse.size(); ++k) {
        const double scale = std::abs(alone.inverse[k]);
        EXPECT_NEAR(batch.inverse[i * 36 + k], alone.inverse[k], tolerance * scale + tolerance);
      }
    }
  }
}

TYPED_TEST(BatchLibrary, TakesViewsFromAnywhere) {
  using T = TypeParam;
  const auto a = this->matrices(), b = this->sides();
  std::vector<View<const T>> places_of_a, places_of_b;
  for (std::size_t i = kCount; i-- > 0;) {
    places_of_a.push_back(a[i]);
    places_of_b.push_back(b[i]);
  }
  const auto forwards = solve_batch(shared_context(), a, b);
  const auto backwards =
      solve_batch(shared_context(), Batch<const T>(places_of_a), Batch<const T>(places_of_b));
  for (std::size_t i = 0; i < kCount; ++i) {
    for (std::size_t k = 0; k < kN * kNrhs; ++k) {
      EXPECT_EQ(forwards.view(i).data[k], backwards.view(kCount - 1 - i).data[k]);
    }
  }
}

TYPED_TEST(BatchLibrary, ReportsMembersOneByOne) {
  this->a_[3 * 60] = NAN;
  for (std::size_t i = 0; i < kN; ++i) this->a_[7 * 60 + 2 * 8 + i] = 0;
  const auto batch = solve_batch(shared_context(), this->matrices(), this->sides());
  EXPECT_EQ(batch.status[3], Status::failed);
  EXPECT_EQ(batch.info[7], 3);
  EXPECT_EQ(batch.status[7], Status::singular);
  EXPECT_TRUE(std::isnan(batch.view(7)(0, 0)));
  EXPECT_TRUE(std::isnan(batch.solve_ratio[7]));
  EXPECT_EQ(batch.members(Status::ok), kCount - 2);

  BatchOptions options;
  options.check = false;
  options.pivot = Pivot::full;
  const auto unchecked = solve_batch(shared_context(), this->matrices(), this->sides(), options);
  EXPECT_TRUE(unchecked.solve_ratio.empty());
  EXPECT_EQ(unchecked.info[7], static_cast<int>(kN));
  EXPECT_EQ(unchecked.members(Status::unchecked), kCount - 1);
}

TYPED_TEST(BatchLibrary, UsesFactorsAgain) {
  using T = TypeParam;
  for (std::size_t i = 0; i < kN; ++i) this->a_[4 * 60 + i] = 0;
  const auto a = this->matrices(), b = this->sides();
  const auto factors = factorize_batch(shared_context(), a);
  const auto solution = solve_batch(shared_context(), a, b);
  EXPECT_EQ(factors.size(), kCount);
  EXPECT_EQ(factors.n(), kN);
  EXPECT_EQ(factors.info()[4], 1);
  EXPECT_EQ(factors.ipiv().size(), kCount * kN);
  EXPECT_TRUE(factors.jpiv().empty());
  std::vector<T> x = this->b_, lu(kCount * kN * kN);
  for (int time = 0; time < 2; ++time) {
    x = this->b_;
    factors.solve(Batch<T>({x.data(), kN, kNrhs, kN}, kCount, kN * kNrhs));
    for (std::size_t k = 0; k < x.size(); ++k) {
      if (k / (kN * kNrhs) == 4) {
        EXPECT_TRUE(std::isnan(x[k]));
      } else {
        EXPECT_EQ(x[k], solution.x[k]);
      }
    }
  }
  const Batch<T> all({lu.data(), kN, kN, kN, Order::rows}, kCount, kN * kN);
  factors.factors(all);
  for (std::size_t i = 0; i < kCount; ++i) {
    if (i == 4) continue;
    const auto alone = factorize(shared_context(), a[i]);
    for (std::size_t k = 0; k < kN; ++k) EXPECT_EQ(factors.ipiv()[i * kN + k], alone.ipiv()[k]);
    EXPECT_NEAR(all[i](0, 0), a[i](static_cast<std::size_t>(alone.ipiv()[0] - 1), 0), 1e-6);
  }
  factors.inverse(all);
  T sum = 0;
  for (std::size_t k = 0; k < kN; ++k) sum += all[0](2, k) * a[0](k, 2);
  EXPECT_NEAR(sum, 1, 1e-3);
}

TEST(Batches, HasEmptyBatches) {
  const auto none = solve_batch(shared_context(), Batch<const double>(), Batch<const double>());
  EXPECT_EQ(none.count, 0U);
  const View<const double> empty{nullptr, 0, 0, 0};
  const auto zeros = solve_batch(shared_context(), Batch<const double>(empty, 3, 0),
                                 Batch<const double>(empty, 3, 0));
  EXPECT_EQ(zeros.members(Status::ok), 3U);
}

TEST(Batches, RefusesBadInputInOneSentence) {
  const std::vector<double> values(5000, 1);
  const auto batch = [&](std::size_t rows, std::size_t columns, std::size_t count) {
    return Batch<const double>({values.data(), rows, columns, rows}, count, 0);
  };
  const auto solving = [&](const Batch<const double>& a, const Batch<const double>& b,
                           ErrorKind kind = ErrorKind::bad_input, Pivot pivot = Pivot::partial) {
    BatchOptions options;
    options.pivot = pivot;
    return refusal([&] { solve_batch(shared_context(), a, b, options); }, kind);
  };
  EXPECT_EQ(solving(batch(3, 4, 2), batch(3, 1, 2)), "A is 2 x 3 x 4; its members must be square.");
  EXPECT_EQ(solving(batch(3, 3, 2), batch(4, 1, 2)),
            "B is 2 x 4 x 1; it must have as many members and rows as A, 2 and 3.");
  EXPECT_EQ(solving(batch(3, 3, 2), batch(3, 1, 1)),
            "B is 1 x 3 x 1; it must have as many members and rows as A, 2 and 3.");
  EXPECT_EQ(solving(batch(513, 513, 1), batch(513, 1, 1), ErrorKind::unsupported),
            "Members of a batch have an order of at most 512, not 513.");
  EXPECT_EQ(solving(batch(3, 3, 2), batch(3, 1, 2), ErrorKind::unsupported, Pivot::rook),
            "Batches have no pivoting named rook; pivot \"partial\" may help.");
  const std::vector<View<const double>> views{batch(2, 2, 1)[0], batch(3, 3, 1)[0]};
  EXPECT_EQ(solving(Batch<const double>(views), batch(2, 1, 2)),
            "Member 1 of A is 3 x 3; member 0 is 2 x 2.");
  const auto factors = factorize_batch(shared_context(), batch(1, 1, 2));
  std::vector<double> b(8);
  EXPECT_EQ(refusal(
                [&] {
                  factors.solve(Batch<double>({b.data(), 2, 1, 2}, 2, 2));
                },
                ErrorKind::bad_input),
            "B has 2 members of 2 x 1; A has 2 of 1 x 1.");
}

}  // namespace
}  // namespace lugpu

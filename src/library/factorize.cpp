#include "lugpu/factorize.hpp"

#include <cmath>

#include "accuracy/condition.hpp"
#include "accuracy/determinant.hpp"
#include "library/context.hpp"
#include "matrix/norms.hpp"
#include "solve/methods.hpp"

namespace lugpu {

template <typename T>
class Factorization<T>::Implementation {
 public:
  Implementation(Context context, std::unique_ptr<DenseFactorization> factors, Outcome outcome,
                 double norm_1)
      : context_(std::move(context)),
        factors_(std::move(factors)),
        outcome_(std::move(outcome)),
        norm_1_(norm_1) {}
  // Device memory goes as it came: one call at a time.
  ~Implementation() {
    try {
      context_.implementation().call([&](DeviceContext&) { factors_.reset(); });
    } catch (const Error&) {
      static_cast<void>(factors_.release());  // a forked process: they are its parent's
    }
  }
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;

  const DenseFactorization& factors() const { return *factors_; }
  const Outcome& outcome() const { return outcome_; }
  double norm_1() const { return norm_1_; }
  template <typename Action>
  auto call(const Action& action) {
    return context_.implementation().call(
        [&](DeviceContext& device) { return action(device, *factors_); });
  }
  void require_regular() const {
    if (outcome_.info == 0) return;
    throw Error(ErrorKind::failure,
                "A is singular: pivot " + std::to_string(outcome_.info) + " is exactly zero.");
  }
  void require_shape(const View<T>& view, const char* name, std::optional<std::size_t> columns) {
    const std::size_t n = factors_->size().n;
    require_view(view, name);
    if (view.rows == n && (!columns || view.columns == *columns)) return;
    throw InputError(std::string(name) + " is " + std::to_string(view.rows) + " x " +
                     std::to_string(view.columns) + "; A is " + std::to_string(n) + " x " +
                     std::to_string(n) + ".");
  }

 private:
  Context context_;
  std::unique_ptr<DenseFactorization> factors_;
  Outcome outcome_;
  double norm_1_;
};

namespace {

// B becomes inv(op(A)) B.
template <typename T>
void solve_in_place(DeviceContext& device, DenseFactorization& factors, View<T> b, Op op) {
  if (b.rows * b.columns == 0) return;
  const Precision precision = factors.options().precision;
  const cl::Buffer x =
      factors.apply_inverse(upload(device, View<const T>(b), precision), b.columns, op);
  download(device, x, precision, b);
}

void require_square(std::size_t rows, std::size_t columns) {
  if (rows == columns) return;
  throw InputError("A is " + std::to_string(rows) + " x " + std::to_string(columns) +
                   "; it must be square.");
}

template <typename T>
Factorization<T> wrap(const Context& context, std::unique_ptr<DenseFactorization> factors,
                      Outcome outcome, double norm_1) {
  return Factorization<T>(std::make_shared<typename Factorization<T>::Implementation>(
      context, std::move(factors), std::move(outcome), norm_1));
}

}  // namespace

template <typename T>
Factorization<T>::Factorization(std::shared_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}

template <typename T>
std::size_t Factorization<T>::n() const {
  return implementation_->factors().size().n;
}

template <typename T>
int Factorization<T>::info() const {
  return implementation_->outcome().info;
}

template <typename T>
const std::vector<int>& Factorization<T>::ipiv() const {
  return implementation_->outcome().ipiv;
}

template <typename T>
const std::vector<int>& Factorization<T>::jpiv() const {
  return implementation_->outcome().jpiv;
}

template <typename T>
void Factorization<T>::solve(View<T> b, Op op) const {
  implementation_->call([&](DeviceContext& device, DenseFactorization& factors) {
    implementation_->require_shape(b, "B", std::nullopt);
    implementation_->require_regular();
    solve_in_place(device, factors, b, op);
  });
}

template <typename T>
void Factorization<T>::factors(View<T> lu) const {
  implementation_->call([&](DeviceContext&, DenseFactorization& factors) {
    implementation_->require_shape(lu, "LU", n());
    factors.download_factors(0, lu);
  });
}

// The columns of the identity, some at a time.
template <typename T>
void Factorization<T>::inverse(View<T> inverse) const {
  constexpr std::size_t kColumns = 256;
  implementation_->call([&](DeviceContext& device, DenseFactorization& factors) {
    implementation_->require_shape(inverse, "The inverse", n());
    implementation_->require_regular();
    for (std::size_t first = 0; first < inverse.columns; first += kColumns) {
      const View<T> part = inverse.part(first, std::min(kColumns, inverse.columns - first));
      for (std::size_t j = 0; j < part.columns; ++j) {
        for (std::size_t i = 0; i < part.rows; ++i) part(i, j) = i == first + j ? 1 : 0;
      }
      solve_in_place(device, factors, part, Op::none);
    }
  });
}

template <typename T>
Determinant Factorization<T>::determinant() const {
  return lugpu::determinant(implementation_->outcome());
}

template <typename T>
std::optional<double> Factorization<T>::rcond() const {
  if (info() > 0) return 0;
  return implementation_->call(
      [&](DeviceContext&, DenseFactorization& factors) -> std::optional<double> {
        const double inverse_norm =
            estimate_norms_1(n(), 1, [&](Matrix& x, const std::vector<std::size_t>&, Op op) {
              factors.apply_inverse(x, op);
            }).front();
        const double rcond = n() == 0 ? 1 : 1 / implementation_->norm_1() / inverse_norm;
        if (!(rcond >= epsilon(factors.options().precision))) return std::nullopt;
        return std::min(rcond, 1.0);
      });
}

template class Factorization<float>;
template class Factorization<double>;

template <typename T>
Factorization<T> factorize(const Context& context, View<const T> a, const Options& options) {
  return context.implementation().call([&](DeviceContext& device) {
    require_view(a, "A");
    require_square(a.rows, a.columns);
    const auto [method, problem] =
        make_plan(options, device.device(), Size::square(a.rows, 0), kPrecision<T>,
                  context.implementation().records(), context.implementation().others());
    if (!method->keeps_factors) {
      throw Unsupported(std::string(method->name) + " keeps no factors", {"method", "lu"});
    }
    if (problem.solve.refine != Refine::none || problem.solve.equilibrate) {
      throw InputError("factorize() neither refines nor scales; solve() does.");
    }
    auto factors = method->make(device, problem.size, problem.dense);
    factors->upload(a, View<const T>{nullptr, a.rows, 0, a.rows});
    factors->factor();
    Outcome outcome = factors->outcome();
    return wrap<T>(context, std::move(factors), std::move(outcome), norm_1(a));
  });
}

template <typename T>
Factorization<T> adopt(const Context& context, View<const T> lu, const std::vector<int>& ipiv) {
  return context.implementation().call([&](DeviceContext& device) {
    require_view(lu, "LU");
    require_square(lu.rows, lu.columns);
    const auto n = static_cast<int>(lu.rows);
    if (ipiv.size() != lu.rows) {
      throw InputError("There are " + std::to_string(ipiv.size()) + " pivots; LU has " +
                       std::to_string(n) + " rows.");
    }
    Outcome outcome;
    outcome.ipiv = ipiv;
    for (int k = 0; k < n; ++k) {
      const auto row = static_cast<std::size_t>(k);
      if (ipiv[row] <= k || ipiv[row] > n) {
        throw InputError("Pivot " + std::to_string(k + 1) + " is row " + std::to_string(ipiv[row]) +
                         ", not one from there to " + std::to_string(n) + ".");
      }
      outcome.pivots.push_back(lu(row, row));
      if (outcome.info == 0 && lu(row, row) == 0) outcome.info = k + 1;
    }
    Options options;
    options.method = "lu-blocked";
    const Plan plan = make_plan(options, device.device(), Size::square(lu.rows, 0), kPrecision<T>,
                                {}, context.implementation().others());
    return wrap<T>(context, adopt_factors(device, plan.problem, lu, ipiv), std::move(outcome), NAN);
  });
}

template Factorization<float> factorize(const Context&, View<const float>, const Options&);
template Factorization<double> factorize(const Context&, View<const double>, const Options&);
template Factorization<float> adopt(const Context&, View<const float>, const std::vector<int>&);
template Factorization<double> adopt(const Context&, View<const double>, const std::vector<int>&);

}  // namespace lugpu

#include "lugpu/batch.hpp"

#include <string>
#include <utility>

#include "library/context.hpp"
#include "solve/solve_batch.hpp"

namespace lugpu {
namespace {

// Throws InputError unless every member can be in memory and has the shape of the first one.
template <typename T>
void require_batch(const Batch<T>& batch, const char* name) {
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const View<T> member = batch[i];
    require_view(member, name);
    if (member.rows == batch.rows() && member.columns == batch.columns()) continue;
    throw InputError("Member " + std::to_string(i) + " of " + name + " is " +
                     std::to_string(member.rows) + " x " + std::to_string(member.columns) +
                     "; member 0 is " + std::to_string(batch.rows()) + " x " +
                     std::to_string(batch.columns()) + ".");
  }
}

}  // namespace

template <typename T>
BatchSolution<T> solve_batch(const Context& context, const Batch<const T>& a,
                             const Batch<const T>& b, const BatchOptions& options) {
  return context.implementation().call([&](DeviceContext& device) {
    require_batch(a, "A");
    require_batch(b, "B");
    return solve_batch(device, a, b, options);
  });
}

template BatchSolution<float> solve_batch(const Context&, const Batch<const float>&,
                                          const Batch<const float>&, const BatchOptions&);
template BatchSolution<double> solve_batch(const Context&, const Batch<const double>&,
                                           const Batch<const double>&, const BatchOptions&);

template <typename T>
class BatchFactorization<T>::Implementation {
 public:
  Implementation(Context context, std::unique_ptr<BatchLu> lu)
      : context_(std::move(context)),
        lu_(std::move(lu)),
        info_(lu_->info()),
        ipiv_(lu_->ipiv()),
        jpiv_(lu_->jpiv()) {}
  // Device memory goes as it came: one call at a time.
  ~Implementation() {
    try {
      context_.implementation().call([&](DeviceContext&) { lu_.reset(); });
    } catch (const Error&) {
      static_cast<void>(lu_.release());  // a forked process: it is its parent's
    }
  }
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;

  const BatchSize& size() const { return lu_->size(); }
  const std::vector<int>& info() const { return info_; }
  const std::vector<int>& ipiv() const { return ipiv_; }
  const std::vector<int>& jpiv() const { return jpiv_; }

  /// action(BatchLu&) for a batch like the factors', but for the number of columns where `square`
  /// is false.
  template <typename Action>
  void call(const Batch<T>& batch, const char* name, bool square, const Action& action) {
    context_.implementation().call([&](DeviceContext&) {
      require_batch(batch, name);
      const BatchSize& own = size();
      if (batch.size() != own.count || batch.rows() != own.n ||
          (square && batch.columns() != own.n)) {
        throw InputError(std::string(name) + " has " + std::to_string(batch.size()) +
                         " members of " + std::to_string(batch.rows()) + " x " +
                         std::to_string(batch.columns()) + "; A has " + std::to_string(own.count) +
                         " of " + std::to_string(own.n) + " x " + std::to_string(own.n) + ".");
      }
      action(*lu_);
    });
  }

 private:
  Context context_;
  std::unique_ptr<BatchLu> lu_;
  std::vector<int> info_, ipiv_, jpiv_;
};

template <typename T>
BatchFactorization<T>::BatchFactorization(std::shared_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}

template <typename T>
std::size_t BatchFactorization<T>::size() const {
  return implementation_->size().count;
}

template <typename T>
std::size_t BatchFactorization<T>::n() const {
  return implementation_->size().n;
}

template <typename T>
const std::vector<int>& BatchFactorization<T>::info() const {
  return implementation_->info();
}

template <typename T>
const std::vector<int>& BatchFactorization<T>::ipiv() const {
  return implementation_->ipiv();
}

template <typename T>
const std::vector<int>& BatchFactorization<T>::jpiv() const {
  return implementation_->jpiv();
}

template <typename T>
void BatchFactorization<T>::solve(const Batch<T>& b) const {
  implementation_->call(b, "B", false, [&](BatchLu& lu) {
    std::vector<View<const T>> given;
    for (std::size_t i = 0; i < b.size(); ++i) given.push_back(b[i]);
    lu.solve(Batch<const T>(given), b);
    mark_singular(info(), b);
  });
}

template <typename T>
void BatchFactorization<T>::factors(const Batch<T>& lu) const {
  implementation_->call(lu, "LU", true, [&](BatchLu& own) { own.download_factors(lu); });
}

template <typename T>
void BatchFactorization<T>::inverse(const Batch<T>& inverse) const {
  implementation_->call(inverse, "The inverse", true, [&](BatchLu& lu) {
    lu.inverse(inverse);
    mark_singular(info(), inverse);
  });
}

template class BatchFactorization<float>;
template class BatchFactorization<double>;

template <typename T>
BatchFactorization<T> factorize_batch(const Context& context, const Batch<const T>& a,
                                      Pivot pivot) {
  return context.implementation().call([&](DeviceContext& device) {
    require_batch(a, "A");
    auto lu = std::make_unique<BatchLu>(batch_lu_for(device, a, pivot));
    lu->upload(a);
    lu->factor();
    return BatchFactorization<T>(
        std::make_shared<typename BatchFactorization<T>::Implementation>(context, std::move(lu)));
  });
}

template BatchFactorization<float> factorize_batch(const Context&, const Batch<const float>&,
                                                   Pivot);
template BatchFactorization<double> factorize_batch(const Context&, const Batch<const double>&,
                                                    Pivot);

}  // namespace lugpu

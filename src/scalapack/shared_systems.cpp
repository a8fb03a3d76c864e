#include "scalapack/shared_systems.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <span>

#include "base/error.hpp"
#include "distributed/deal.hpp"
#include "lapack/environment.hpp"

namespace lugpu::scalapack {
namespace {

// Right-hand sides that are on their way at a time.
constexpr std::size_t kMostColumns = 1024;

std::vector<Device> devices_of_process() {
  const char* const names = std::getenv("LUGPU_DEVICE");
  if (names && *names) return choose_devices("", names);
  return {default_device_of_process("")};
}

// What is thrown later, so that the other processes are not left alone in between.
class Postponed {
 public:
  template <typename Action>
  void attempt(const Action& action) {
    if (thrown_) return;
    try {
      action();
    } catch (...) {
      thrown_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  std::exception_ptr thrown_;
};

}  // namespace

// Never closed: OpenCL drivers may be gone before the destructors of static objects run.
const Opened& opened() {
  static const Opened& first = *new Opened([] {
    Opened result;
    try {
      for (const Device& device : devices_of_process()) {
        // Where the device is the host, copies cost more than faster kernels gain.
        if (device.type == "cpu" && !lapack::asked_order()) {
          result.obstacle =
              InputError("the device is a CPU, used only if LUGPU_LAPACK_MIN_N is set");
          return result;
        }
        result.team.push_back(new DeviceContext(device));
      }
    } catch (const cl::Error& error) {
      result = {{}, Unsupported(describe(error) + ".")};
    } catch (const std::exception& error) {
      result = {{}, Unsupported(error.what())};
    }
    return result;
  }());
  return first;
}

template <typename Real>
SharedSystem<Real>::SharedSystem(ProcessGroup& processes, const Part<Real>& a, std::size_t nrhs)
    : processes_(processes), n_(a.local.rows) {
  agree(processes_, [] {
    if (opened().obstacle) throw Error(*opened().obstacle);
  });
  const Team& team = opened().team;
  DenseOptions options = {Pivot::partial, kPrecision<Real>};
  options.others.assign(team.begin() + 1, team.end());
  if (processes_.size() > 1) {
    options.crew = &crew_.emplace(processes_, std::vector<Team>{team}, Lead::all);
  }
  const Size size = Size::square(n_, std::min(nrhs, kMostColumns));
  BlockColumns dealt = {};
  agree(processes_, [&] {
    if (processes_.rank() == 0) dealt = deal(team.front()->device(), size, options);
  });
  processes_.broadcast(&dealt, sizeof dealt, 0);
  options.nb = dealt.nb;
  lu_.emplace(*team.front(), size, options, dealt);
  take(a);
}

template <typename Real>
std::size_t SharedSystem<Real>::holder_of(std::size_t j) const {
  return lu_->dealt().owner(j) / opened().team.size();
}

template <typename Real>
void SharedSystem<Real>::take(const Part<Real>& a) {
  agree(processes_, [&] { block_.resize(n_ * std::min(lu_->dealt().nb, n_)); });
  Postponed upload;
  for (std::size_t j = 0; j < lu_->dealt().blocks(); ++j) {
    const View<Real> block{block_.data(), n_, lu_->dealt().width(j), n_};
    exchange(processes_, a.dealt, a.local, lu_->dealt().first(j), block, holder_of(j),
             Way::to_holder);
    if (lu_->owns(j)) upload.attempt([&] { lu_->take_block(j, View<const Real>(block)); });
  }
  agree(processes_, [&] { upload.rethrow(); });
}

template <typename Real>
void SharedSystem<Real>::adopt(const int* ipiv) {
  agree(processes_, [&] { lu_->adopt_factors(std::vector<int>(ipiv, ipiv + n_)); });
}

// The first process has X.
template <typename Real>
void SharedSystem<Real>::solve(Op op, const Part<Real>& b, std::size_t nrhs) {
  end_all_if_fails(processes_, [&] {
    const bool leads = processes_.rank() == 0;
    DeviceContext& context = *opened().team.front();
    for (std::size_t first = 0; first < nrhs; first += kMostColumns) {
      const std::size_t count = std::min(kMostColumns, nrhs - first);
      std::vector<Real> values(leads ? n_ * count : 0);
      const View<Real> x{values.data(), n_, count, n_};
      exchange(processes_, b.dealt, b.local, first, x, 0, Way::to_holder);
      if (leads) {
        const cl::Buffer solution =
            lu_->apply_inverse(upload(context, View<const Real>(x), kPrecision<Real>), count, op);
        download(context, solution, kPrecision<Real>, x);
      } else {
        lu_->obey({.kind = Task::Kind::apply_inverse, .count = count, .op = op});
      }
      exchange(processes_, b.dealt, b.local, first, x, 0, Way::from_holder);
    }
  });
}

template <typename Real>
void SharedSystem<Real>::give_factors(const Part<Real>& a) {
  end_all_if_fails(processes_, [&] {
    std::vector<char> bytes;
    for (std::size_t j = 0; j < lu_->dealt().blocks(); ++j) {
      const View<Real> block{block_.data(), n_, lu_->dealt().width(j), n_};
      if (lu_->owns(j)) {
        lu_->give_block(j, bytes);
        std::memcpy(block.data, bytes.data(), bytes.size());
      }
      exchange(processes_, a.dealt, a.local, lu_->dealt().first(j), block, holder_of(j),
               Way::from_holder);
    }
  });
}

template class SharedSystem<float>;
template class SharedSystem<double>;

}  // namespace lugpu::scalapack

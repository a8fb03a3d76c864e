#include "baselines/scalapack.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <type_traits>
#include <utility>

#include "base/error.hpp"
#include "baselines/baselines.hpp"
#include "baselines/host_solver.hpp"
#include "baselines/shared_library.hpp"

namespace lugpu {
namespace {

constexpr std::size_t kBlock = 64;  // rows and columns

// BLACS and ScaLAPACK, as C and Fortran have them.
struct Api {
  template <typename Real>
  using Getrf = void(const int* m, const int* n, Real* a, const int* ia, const int* ja,
                     const int* desca, int* ipiv, int* info);
  template <typename Real>
  using Getrs = void(const char* trans, const int* n, const int* nrhs, const Real* a, const int* ia,
                     const int* ja, const int* desca, const int* ipiv, Real* b, const int* ib,
                     const int* jb, const int* descb, int* info, std::size_t length_of_trans);

  void (*get)(int context, int what, int* value);
  void (*gridinit)(int* context, const char* order, int rows, int columns);
  Getrf<float>* psgetrf;
  Getrf<double>* pdgetrf;
  Getrs<float>* psgetrs;
  Getrs<double>* pdgetrs;
};

Api find_api() {
  Api api;
  const SharedLibrary library({{"libscalapack-openmpi.so.2.2", "libscalapack.so.2.2"},
                               {""},
                               "install ScaLAPACK for Open MPI (libscalapack-openmpi2.2)",
                               "use version 2.0 or later"});
  library.find(api.get, "Cblacs_get");
  library.find(api.gridinit, "Cblacs_gridinit");
  library.find(api.psgetrf, "psgetrf_");
  library.find(api.pdgetrf, "pdgetrf_");
  library.find(api.psgetrs, "psgetrs_");
  library.find(api.pdgetrs, "pdgetrs_");
  return api;
}

// The functions, found once. Throws Unsupported.
const Api& api() {
  static const Opened<Api> opened(find_api);
  return opened.get();
}

// All processes, row by row.
struct Grid {
  std::size_t rows, columns;

  explicit Grid(std::size_t processes) : rows(1) {
    for (std::size_t r = 1; r * r <= processes; ++r) {
      if (processes % r == 0) rows = r;
    }
    columns = processes / rows;
  }
};

// Opened once, by all processes.
int context_of(const Grid& grid) {
  static const int opened = [&] {
    constexpr int kNone = -1, kDefaultSystem = 0;
    int context = kNone;
    api().get(kNone, kDefaultSystem, &context);
    api().gridinit(&context, "R", static_cast<int>(grid.rows), static_cast<int>(grid.columns));
    return context;
  }();
  return opened;
}

// What may be missing on one of the processes, before they do anything together.
void open(ProcessGroup& processes) {
  agree(processes, [] { api(); });
  context_of(Grid(processes.size()));
}

// Rows or columns dealt in blocks to `count` of them, of which this is number `place`.
struct Dealt {
  std::size_t size, place, count;

  // ScaLAPACK's numroc.
  std::size_t local() const {
    const std::size_t whole = size / kBlock, mine = whole / count, rest = whole % count;
    return mine * kBlock + (place < rest ? kBlock : place == rest ? size % kBlock : 0);
  }
  std::size_t global(std::size_t i) const {
    return (i / kBlock * count + place) * kBlock + i % kBlock;
  }
};

// A matrix of which each process has a part, column after column.
template <typename Real>
class Part {
 public:
  Part(ProcessGroup& processes, std::size_t rows, std::size_t columns)
      : processes_(processes), rows_(rows), columns_(columns), grid_(processes.size()) {
    const auto [r, c] = dealt(processes.rank());
    values.resize(std::max<std::size_t>(r.local() * c.local(), 1));
    const auto ld = static_cast<int>(std::max<std::size_t>(r.local(), 1));
    descriptor = {1,
                  context_of(grid_),
                  static_cast<int>(rows),
                  static_cast<int>(columns),
                  kBlock,
                  kBlock,
                  0,
                  0,
                  ld};
  }

  // From `whole` of the first process, or to it; others pass null.
  void scatter(const Real* whole) {
    each_process([&](std::size_t process, std::vector<Real>& part) {
      if (processes_.rank() == 0) {
        for_columns(process, [&](std::size_t at, std::size_t i, std::size_t count) {
          std::copy_n(whole + i, count, part.data() + at);
        });
      }
      processes_.move(part.data(), part.size() * sizeof(Real), 0, process);
    });
  }
  void gather(Real* whole) {
    each_process([&](std::size_t process, std::vector<Real>& part) {
      processes_.move(part.data(), part.size() * sizeof(Real), process, 0);
      if (processes_.rank() != 0) return;
      for_columns(process, [&](std::size_t at, std::size_t i, std::size_t count) {
        std::copy_n(part.data() + at, count, whole + i);
      });
    });
  }

  // The rows and the columns of a process.
  std::pair<Dealt, Dealt> dealt(std::size_t process) const {
    return {{rows_, process / grid_.columns, grid_.rows},
            {columns_, process % grid_.columns, grid_.columns}};
  }

  std::vector<Real> values;
  std::array<int, 9> descriptor;

 private:
  // With the part of each process that this one needs: its own, and on the first one all of them.
  template <typename Action>
  void each_process(const Action& action) {
    for (std::size_t process = 0; process < processes_.size(); ++process) {
      if (process == processes_.rank()) {
        action(process, values);
      } else if (processes_.rank() == 0) {
        const auto [r, c] = dealt(process);
        std::vector<Real> part(std::max<std::size_t>(r.local() * c.local(), 1));
        action(process, part);
      }
    }
  }
  // action(place in the part, place in the whole, count) for what is together in both.
  template <typename Action>
  void for_columns(std::size_t process, const Action& action) const {
    const auto [r, c] = dealt(process);
    for (std::size_t j = 0; j < c.local(); ++j) {
      for (std::size_t i = 0; i < r.local(); i += kBlock) {
        action(j * r.local() + i, c.global(j) * rows_ + r.global(i),
               std::min(kBlock, r.local() - i));
      }
    }
  }

  ProcessGroup& processes_;
  std::size_t rows_, columns_;
  Grid grid_;
};

// What the first process announces: Task::first. All do it.
enum class Step : std::size_t { build, take, reset, factor, solve, give_factors, give_x, release };

// What a process has of a system.
class Share {
 public:
  virtual ~Share() = default;
  virtual void obey(Step step) = 0;
};

// Null pointers are those of the other processes.
template <typename Real>
class ShareOf : public Share {
 public:
  ShareOf(ProcessGroup& processes, const Size& size)
      : processes_(processes),
        n_(static_cast<int>(size.n)),
        nrhs_(static_cast<int>(size.nrhs)),
        lu_(processes, size.n, size.n),
        x_(processes, size.n, size.nrhs),
        ipiv_(lu_.dealt(processes.rank()).first.local() + kBlock) {}

  void take(const Real* a, const Real* b) {
    lu_.scatter(a);
    x_.scatter(b);
    a_ = lu_.values;
    b_ = x_.values;
  }
  void reset() {
    lu_.values = a_;
    x_.values = b_;
  }
  void factor() {
    on_one_thread([&] {
      call<Real>(api().psgetrf, api().pdgetrf, &n_, &n_, lu_.values.data(), &kOne, &kOne,
                 lu_.descriptor.data(), ipiv_.data(), &info);
    });
  }
  void solve() {
    on_one_thread([&] {
      int wrong = 0;
      call<Real>(api().psgetrs, api().pdgetrs, "N", &n_, &nrhs_, lu_.values.data(), &kOne, &kOne,
                 lu_.descriptor.data(), ipiv_.data(), x_.values.data(), &kOne, &kOne,
                 x_.descriptor.data(), &wrong, std::size_t{1});
    });
  }
  void give_factors(Real* lu, int* ipiv) {
    lu_.gather(lu);
    // The first column of the grid has them all.
    for (std::size_t process = 0; process < processes_.size(); ++process) {
      const auto [rows, columns] = lu_.dealt(process);
      std::vector<int> part = ipiv_;
      part.resize(rows.local());
      if (columns.place > 0) continue;
      processes_.move(part.data(), part.size() * sizeof(int), process, 0);
      for (std::size_t i = 0; ipiv && i < part.size(); ++i) ipiv[rows.global(i)] = part[i];
    }
  }
  void give_x(Real* x) { x_.gather(x); }

  void obey(Step step) override {
    switch (step) {
      case Step::take:
        return take(nullptr, nullptr);
      case Step::reset:
        return reset();
      case Step::factor:
        return factor();
      case Step::solve:
        return solve();
      case Step::give_factors:
        return give_factors(nullptr, nullptr);
      case Step::give_x:
        return give_x(nullptr);
      default:
        return;
    }
  }

  int info = 0;

 private:
  static constexpr int kOne = 1;

  template <typename T, typename Single, typename Double, typename... Arguments>
  static void call(Single* single, Double* in_double, const Arguments&... arguments) {
    if constexpr (std::is_same_v<T, double>) {
      in_double(arguments...);
    } else {
      single(arguments...);
    }
  }
  // A process has a core; returns when all processes are done.
  template <typename Action>
  void on_one_thread(const Action& action) {
    const int threads = blas_threads();
    set_blas_threads(1);
    action();
    set_blas_threads(threads);
    processes_.barrier();
  }

  ProcessGroup& processes_;
  const int n_, nrhs_;
  Part<Real> lu_, x_;
  std::vector<Real> a_, b_;
  std::vector<int> ipiv_;
};

// Of a system, in any precision.
std::size_t next_number() {
  static std::size_t systems = 0;
  return systems++;
}

template <typename Real>
class Scalapack : public HostSolver<Real> {
 public:
  Scalapack(ProcessGroup& processes, const Problem& problem)
      : HostSolver<Real>(problem), processes_(processes), ipiv_(problem.size.n) {
    task_.system = next_number();
    task_.size = problem.size;
    task_.precision = problem.dense.precision;
    announce(Step::build);
    open(processes_);
    agree(processes_, [&] { share_.emplace(processes_, problem.size); });
  }
  ~Scalapack() override { announce(Step::release); }
  Scalapack(const Scalapack&) = delete;
  Scalapack& operator=(const Scalapack&) = delete;

  void upload(const MatrixView& a, const MatrixView& b) override {
    HostSolver<Real>::upload(a, b);
    together(Step::take, [&] { share_->take(lu_.data(), x_.data()); });
  }
  void reset() override {
    HostSolver<Real>::reset();
    if (!taken()) return;
    together(Step::reset, [&] { share_->reset(); });
  }
  void factor() override {
    together(Step::factor, [&] { share_->factor(); });
  }
  Outcome outcome() override {
    fetch();
    return {share_->info, ipiv_, {}, this->diagonal()};
  }
  void solve() override {
    together(Step::solve, [&] { share_->solve(); });
  }
  Matrix download() override {
    together(Step::give_x, [&] { share_->give_x(x_.data()); });
    return HostSolver<Real>::download();
  }
  std::optional<Matrix> lu() override {
    fetch();
    return HostSolver<Real>::lu();
  }
  std::optional<std::string> variant() const override {
    const Grid grid(processes_.size());
    return std::to_string(grid.rows) + " x " + std::to_string(grid.columns) + " processes";
  }

 private:
  void announce(Step step) {
    task_.kind = Task::Kind::rival;
    task_.first = static_cast<std::size_t>(step);
    processes_.broadcast(&task_, sizeof task_, 0);
  }
  // With all processes; if this one fails in the middle, the others would wait for it.
  void together(Step step, const std::function<void()>& action) {
    announce(step);
    end_all_if_fails(processes_, action);
  }
  bool taken() const { return task_.first >= static_cast<std::size_t>(Step::take); }
  void fetch() {
    together(Step::give_factors, [&] { share_->give_factors(lu_.data(), ipiv_.data()); });
  }

  using HostSolver<Real>::lu_;
  using HostSolver<Real>::x_;

  ProcessGroup& processes_;
  Task task_;
  std::optional<ShareOf<Real>> share_;
  std::vector<int> ipiv_;
};

std::unique_ptr<Share> make_share(ProcessGroup& processes, const Task& task) {
  if (task.precision == Precision::double_precision) {
    return std::make_unique<ShareOf<double>>(processes, task.size);
  }
  return std::make_unique<ShareOf<float>>(processes, task.size);
}

}  // namespace

std::unique_ptr<Contender> make_scalapack(const Problem& problem) {
  if (launch().size == 1) {
    throw Unsupported(
        "ScaLAPACK uses a core for each process; start lugpu by mpirun -n with the number of "
        "cores.");
  }
  ProcessGroup& processes = process_group();
  if (problem.dense.precision == Precision::double_precision) {
    return std::make_unique<Scalapack<double>>(processes, problem);
  }
  return std::make_unique<Scalapack<float>>(processes, problem);
}

void obey_scalapack(const Task& task) {
  static std::map<std::size_t, std::unique_ptr<Share>> shares;
  ProcessGroup& processes = process_group();
  const auto step = static_cast<Step>(task.first);
  if (step == Step::build) {
    open(processes);
    std::unique_ptr<Share> share;
    agree(processes, [&] { share = make_share(processes, task); });
    shares.emplace(task.system, std::move(share));
  } else if (step == Step::release) {
    shares.erase(task.system);
  } else {
    end_all_if_fails(processes, [&] { shares.at(task.system)->obey(step); });
  }
}

}  // namespace lugpu

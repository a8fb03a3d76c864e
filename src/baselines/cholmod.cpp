#include "baselines/cholmod.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "baselines/columns.hpp"
#include "baselines/shared_library.hpp"

namespace lugpu {
namespace {

// What is used of cholmod.h, versions 3 to 5.
constexpr int kReal = 1;      // CHOLMOD_REAL; that the indices are ints and the values doubles is 0
constexpr int kUpper = 1;     // symmetric, and only the upper triangle is read
constexpr int kSolveAll = 0;  // CHOLMOD_A

struct CholmodSparse {
  std::size_t nrow, ncol, nzmax;
  void *p, *i, *nz, *x, *z;
  int stype, itype, xtype, dtype, sorted, packed;
};

struct CholmodDense {
  std::size_t nrow, ncol, nzmax, d;
  void *x, *z;
  int xtype, dtype;
};

// The first members of cholmod_factor.
struct CholmodFactor {
  std::size_t n, minor;  // minor < n: the column at which the factorization ended
  void *permutation, *column_count;
};

// The first members of cholmod_common, and room for those of any version.
struct CholmodCommon {
  double dbound, grow0, grow1;
  std::size_t grow2, maxrank;
  double supernodal_switch;
  int supernodal;
  int final_asis, final_super, final_ll, final_pack, final_monotonic, final_resymbol;
  double zrelax[3];
  std::size_t nrelax[3];
  int prefer_zomplex, prefer_upper, quick_return_if_not_posdef, prefer_binary, print, precise;
  std::array<char, 32768> others;

  // Whether cholmod_start() found the members where they are.
  bool has_defaults() const {
    return grow0 == 1.2 && grow2 == 5 && maxrank == 8 && supernodal_switch == 40 &&
           supernodal == 1 && zrelax[0] == 0.8 && nrelax[0] == 4 && prefer_upper == 1 && print == 3;
  }
};

struct Api {
  std::string path, version;
  int (*cholmod_version)(int* version);
  int (*cholmod_start)(CholmodCommon*);
  int (*cholmod_finish)(CholmodCommon*);
  CholmodFactor* (*cholmod_analyze)(CholmodSparse*, CholmodCommon*);
  int (*cholmod_factorize)(CholmodSparse*, CholmodFactor*, CholmodCommon*);
  double (*cholmod_rcond)(CholmodFactor*, CholmodCommon*);
  CholmodDense* (*cholmod_solve)(int system, CholmodFactor*, CholmodDense*, CholmodCommon*);
  int (*cholmod_free_factor)(CholmodFactor**, CholmodCommon*);
  int (*cholmod_free_dense)(CholmodDense**, CholmodCommon*);
};

void start(const Api& api, CholmodCommon& common) {
  common = {};
  api.cholmod_start(&common);
  if (!common.has_defaults()) {
    throw Unsupported(api.path + " (" + api.version +
                      ") is not a CHOLMOD that lugpu knows; use version 3, 4 or 5.");
  }
  common.final_ll = 1;  // or simplicial factors would be L D L', which are no proof of definiteness
  common.print = 0;     // It would print to stdout that a matrix is not positive definite.
}

Api find_functions() {
  Api api;
  const SharedLibrary library({{"libcholmod.so.3", "libcholmod.so.4", "libcholmod.so.5"},
                               {""},
                               "install it (Debian: libcholmod3), or add its folder to "
                               "LD_LIBRARY_PATH",
                               "use CHOLMOD 3 or later"});
  library.find(api.cholmod_version, "cholmod_version");
  library.find(api.cholmod_start, "cholmod_start");
  library.find(api.cholmod_finish, "cholmod_finish");
  library.find(api.cholmod_analyze, "cholmod_analyze");
  library.find(api.cholmod_factorize, "cholmod_factorize");
  library.find(api.cholmod_rcond, "cholmod_rcond");
  library.find(api.cholmod_solve, "cholmod_solve");
  library.find(api.cholmod_free_factor, "cholmod_free_factor");
  library.find(api.cholmod_free_dense, "cholmod_free_dense");
  api.path = file_of(reinterpret_cast<const void*>(api.cholmod_start));
  int version[3] = {};
  api.cholmod_version(version);
  api.version = std::to_string(version[0]) + "." + std::to_string(version[1]) + "." +
                std::to_string(version[2]);
  CholmodCommon common;
  start(api, common);
  api.cholmod_finish(&common);
  return api;
}

// The functions, found once. Throws Unsupported.
const Api& api() {
  static const Opened<Api> opened(find_functions);
  return opened.get();
}

class Cholmod : public PreparedSolver {
 public:
  Cholmod(const Sparse& a, double tolerance) : a_(a), tolerance_(tolerance), n_(a.rows()) {
    start(api(), common_);
  }
  ~Cholmod() override {
    api().cholmod_free_dense(&solution_, &common_);
    api().cholmod_free_factor(&factor_, &common_);
    api().cholmod_finish(&common_);
  }
  Cholmod(const Cholmod&) = delete;
  Cholmod& operator=(const Cholmod&) = delete;

  // A is symmetric, so its rows are columns.
  void factor() {
    std::vector<int> begin(a_.row_begin().begin(), a_.row_begin().end());
    std::vector<std::int32_t> rows(a_.columns().begin(), a_.columns().end());
    std::vector<double> values(a_.values().begin(), a_.values().end());
    CholmodSparse columns = {n_,          n_,      values.size(), begin.data(),
                             rows.data(), nullptr, values.data(), nullptr,
                             kUpper,      0,       kReal,         0,
                             1,           1};
    factor_ = api().cholmod_analyze(&columns, &common_);
    if (!factor_)
      throw Unsupported("CHOLMOD's analysis failed: its memory or 32 bits are too small.");
    require_room();
    if (!api().cholmod_factorize(&columns, factor_, &common_)) {
      throw Unsupported("CHOLMOD's factorization failed: its memory or 32 bits are too small.");
    }
    judge();
  }

  void upload(const Matrix& b, const Matrix& x) override {
    b_ = b;
    start_ = x;
    forget_solution();
  }

  Iteration solve() override {
    if (b_.values().empty()) return direct_solution({}, a_, b_, b_, tolerance_);
    if (pivots_.obstacle.empty()) substitute();
    return direct_solution(pivots_, a_, b_, pivots_.doubtful ? download() : Matrix(), tolerance_);
  }

  Matrix download() override {
    if (!solution_) return start_;
    Matrix x(n_, b_.cols());
    const auto* values = static_cast<const double*>(solution_->x);
    for (std::size_t j = 0; j < x.cols(); ++j) {
      std::copy_n(values + j * solution_->d, n_, x.column(j));
    }
    return x;
  }

 private:
  void forget_solution() { api().cholmod_free_dense(&solution_, &common_); }

  // Columns that are put together into supernodes take somewhat more than their entries.
  void require_room() const {
    constexpr double kBytesOfEntry = 1.5 * sizeof(double);
    const int* count = static_cast<const int*>(factor_->column_count);
    double entries = 0;
    for (std::size_t j = 0; j < n_; ++j) entries += count[j];
    require_half_of_memory(kBytesOfEntry * entries,
                           "CHOLMOD's factor of order " + std::to_string(n_));
  }

  void judge() {
    if (factor_->minor < n_) {
      pivots_.obstacle = "The matrix is not positive definite: pivot " +
                         std::to_string(factor_->minor + 1) + " in CHOLMOD's order is not positive";
      return;
    }
    const double limit = doubtful_pivot(n_, epsilon(Precision::double_precision));
    pivots_.doubtful = !(api().cholmod_rcond(factor_, &common_) > limit);
  }

  void substitute() {
    forget_solution();
    CholmodDense b = {n_, b_.cols(), b_.values().size(), n_, b_.values().data(), nullptr, kReal, 0};
    solution_ = api().cholmod_solve(kSolveAll, factor_, &b, &common_);
    if (!solution_) throw Error(ErrorKind::failure, "cholmod_solve failed: memory is missing.");
  }

  Sparse a_;
  double tolerance_;
  std::size_t n_;
  CholmodCommon common_;
  CholmodFactor* factor_ = nullptr;
  CholmodDense* solution_ = nullptr;
  Pivots pivots_;
  Matrix b_, start_;
};

}  // namespace

void require_cholmod(const StructuredMatrix& a, Precision precision) {
  api();
  if (precision != Precision::double_precision) {
    throw Unsupported("CHOLMOD factors in double precision only", {"precision", "double"});
  }
  if (most_entries(a) > std::numeric_limits<int>::max()) {
    throw Unsupported("CHOLMOD counts in 32 bits, and this matrix may have " +
                      std::to_string(most_entries(a)) + " entries.");
  }
  require_symmetric(a, "CHOLMOD");
}

std::unique_ptr<PreparedSolver> make_cholmod(const StructuredMatrix& a, const Sparse& stored,
                                             Precision precision, const StoppingRule& rule) {
  require_cholmod(a, precision);
  auto solver = std::make_unique<Cholmod>(stored, rule.tolerance);
  if (stored.rows() > 0) solver->factor();
  return solver;
}

std::optional<RivalLibrary> cholmod_library() {
  try {
    return RivalLibrary{api().version, api().path};
  } catch (const Unsupported&) {
    return std::nullopt;
  }
}

}  // namespace lugpu

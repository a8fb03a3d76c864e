#include "solve/solve_batch.hpp"

#include <limits>

#include "accuracy/batch_checks.hpp"
#include "accuracy/checks.hpp"
#include "base/error.hpp"
#include "solve/solve.hpp"

namespace lugpu {
namespace {

std::string shape_text(std::size_t count, std::size_t rows, std::size_t columns) {
  return std::to_string(count) + " x " + std::to_string(rows) + " x " + std::to_string(columns);
}

template <typename T>
void require_square(const Batch<T>& a) {
  if (a.rows() == a.columns()) return;
  throw InputError("A is " + shape_text(a.size(), a.rows(), a.columns()) +
                   "; its members must be square.");
}

template <typename T>
void require_right_hand_sides(const Batch<T>& a, const Batch<T>& b) {
  if (b.size() == a.size() && b.rows() == a.rows()) return;
  throw InputError("B is " + shape_text(b.size(), b.rows(), b.columns()) +
                   "; it must have as many members and rows as A, " + std::to_string(a.size()) +
                   " and " + std::to_string(a.rows()) + ".");
}

Status judge(int info, const BatchOptions& options, double ratio) {
  if (info > 0) return Status::singular;
  if (!options.check) return Status::unchecked;
  return ratio < kSolveRatioLimit ? Status::ok : Status::failed;
}

}  // namespace

template <typename T>
BatchLu batch_lu_for(DeviceContext& context, const Batch<const T>& a, Pivot pivot) {
  require_square(a);
  const BatchSize size{a.size(), a.rows()};
  BatchLu::require_room(context.device(), size, kPrecision<T>, pivot);
  return {context, size, kPrecision<T>, pivot,
          BatchLu::path(context.device(), size.n, kPrecision<T>, pivot)};
}

template <typename T>
void mark_singular(const std::vector<int>& info, const Batch<T>& x) {
  for (std::size_t i = 0; i < info.size(); ++i) {
    if (info[i] == 0) continue;
    const View<T> member = x[i];
    for (std::size_t j = 0; j < member.columns; ++j) {
      for (std::size_t k = 0; k < member.rows; ++k) {
        member(k, j) = std::numeric_limits<T>::quiet_NaN();
      }
    }
  }
}

template <typename T>
BatchSolution<T> solve_batch(DeviceContext& context, const Batch<const T>& a,
                             const Batch<const T>& b, const BatchOptions& options) {
  require_square(a);
  require_right_hand_sides(a, b);
  BatchSolution<T> solution;
  const std::size_t n = a.rows(), nrhs = b.columns();
  solution.count = a.size();
  solution.n = n;
  solution.nrhs = nrhs;
  BatchLu lu = batch_lu_for(context, a, options.pivot);
  solution.phases_s["upload"] = timed([&] { lu.upload(a); });
  solution.phases_s["factor"] = timed([&] {
    lu.factor();
    solution.info = lu.info();
  });
  solution.x.resize(a.size() * n * nrhs);
  const Batch<T> x({solution.x.data(), n, nrhs, n}, a.size(), n * nrhs);
  solution.phases_s["solve"] = timed([&] { lu.solve(b, x); });
  if (options.check) {
    const Batch<const T> found({solution.x.data(), n, nrhs, n}, a.size(), n * nrhs);
    solution.phases_s["check"] =
        timed([&] { solution.solve_ratio = solve_ratios(a, b, found, epsilon(kPrecision<T>)); });
  }
  mark_singular(solution.info, x);
  for (std::size_t i = 0; i < a.size(); ++i) {
    double ratio = 0;
    if (options.check) {
      if (solution.info[i] > 0) solution.solve_ratio[i] = std::numeric_limits<double>::quiet_NaN();
      ratio = solution.solve_ratio[i];
    }
    solution.status.push_back(judge(solution.info[i], options, ratio));
  }
  if (options.inverse) {
    solution.inverse.resize(a.size() * n * n);
    const Batch<T> inverse({solution.inverse.data(), n, n, n}, a.size(), n * n);
    solution.phases_s["inverse"] = timed([&] { lu.inverse(inverse); });
    mark_singular(solution.info, inverse);
  }
  return solution;
}

template BatchLu batch_lu_for(DeviceContext&, const Batch<const float>&, Pivot);
template BatchLu batch_lu_for(DeviceContext&, const Batch<const double>&, Pivot);
template void mark_singular(const std::vector<int>&, const Batch<float>&);
template void mark_singular(const std::vector<int>&, const Batch<double>&);
template BatchSolution<float> solve_batch(DeviceContext&, const Batch<const float>&,
                                          const Batch<const float>&, const BatchOptions&);
template BatchSolution<double> solve_batch(DeviceContext&, const Batch<const double>&,
                                           const Batch<const double>&, const BatchOptions&);

}  // namespace lugpu

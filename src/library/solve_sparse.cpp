#include "solve/solve_sparse.hpp"

#include "library/context.hpp"
#include "lugpu/sparse.hpp"
#include "solve/solve.hpp"

namespace lugpu {
namespace {

// Throws InputError unless row_begin ascends from 0 and all columns are inside.
void require_places(const SparseView& a) {
  constexpr std::size_t kMost = INT32_MAX;
  if (a.n > kMost) throw InputError("A has more than 2147483647 rows.");
  if (!a.row_begin) throw InputError("A has no rows: its pointer row_begin is null.");
  if (a.row_begin[0] != 0) throw InputError("row_begin must start with 0.");
  for (std::size_t i = 0; i < a.n; ++i) {
    if (a.row_begin[i + 1] < a.row_begin[i]) {
      throw InputError("row_begin descends after row " + std::to_string(i) + ", counted from 0.");
    }
  }
  const auto entries = static_cast<std::size_t>(a.row_begin[a.n]);
  if (entries > 0 && (!a.columns || !a.values)) {
    throw InputError("A has no entries: its pointer columns or values is null.");
  }
  for (std::size_t k = 0; k < entries; ++k) {
    if (a.columns[k] >= 0 && static_cast<std::size_t>(a.columns[k]) < a.n) continue;
    throw InputError("Entry " + std::to_string(k) + " is in column " +
                     std::to_string(a.columns[k]) + "; expected 0 to " + std::to_string(a.n - 1) +
                     ".");
  }
}

bool is_in_order(const SparseView& a) {
  for (std::size_t i = 0; i < a.n; ++i) {
    for (std::int64_t k = a.row_begin[i] + 1; k < a.row_begin[i + 1]; ++k) {
      if (a.columns[k] <= a.columns[k - 1]) return false;
    }
  }
  return true;
}

// Without a copy where the entries are in order.
Sparse sparse_of(const SparseView& a) {
  if (a.n == 0) return {};
  require_places(a);
  const auto entries = static_cast<std::size_t>(a.row_begin[a.n]);
  if (is_in_order(a)) {
    return Sparse(a.n, a.n, {a.row_begin, a.n + 1}, {a.columns, entries}, {a.values, entries});
  }
  std::vector<Triplet> triplets;
  triplets.reserve(entries);
  for (std::size_t i = 0; i < a.n; ++i) {
    for (std::int64_t k = a.row_begin[i]; k < a.row_begin[i + 1]; ++k) {
      triplets.push_back({static_cast<std::int32_t>(i), a.columns[k], a.values[k]});
    }
  }
  return Sparse(a.n, a.n, std::move(triplets));
}

Matrix matrix_of(View<const double> b) {
  Matrix matrix(b.rows, b.columns);
  for (std::size_t j = 0; j < b.columns; ++j) {
    for (std::size_t i = 0; i < b.rows; ++i) matrix(i, j) = b(i, j);
  }
  return matrix;
}

}  // namespace

Solution<double> solve(const Context& context, const SparseView& a, View<const double> b,
                       const Options& options) {
  return solve(context, a, b, {}, options);
}

Solution<double> solve(const Context& context, const SparseView& a, View<const double> b,
                       View<const double> start, const Options& options) {
  return context.implementation().call([&](DeviceContext& device) {
    require_view(b, "B");
    if (b.rows != a.n) {
      throw InputError("B has " + std::to_string(b.rows) + " rows; expected " +
                       std::to_string(a.n) + ", as many as A has.");
    }
    const bool starts = start.rows > 0 || start.columns > 0;
    if (starts) require_view(start, "The start");
    if (starts && (start.rows != b.rows || start.columns != b.columns)) {
      throw InputError("The start is " + std::to_string(start.rows) + " x " +
                       std::to_string(start.columns) + "; expected the shape of B, " +
                       std::to_string(b.rows) + " x " + std::to_string(b.columns) + ".");
    }
    const Sparse sparse = sparse_of(a);
    SparsePlan plan = make_plan(options, device.device(), sparse);
    if (starts) plan.start = matrix_of(start);
    if (plan.method) {
      if (context.device_count() > 1) {
        throw Unsupported(std::string(plan.method->name) + " works on one device alone",
                          {"method", "lu-blocked"});
      }
      return solve(device, plan, sparse, matrix_of(b));
    }
    const Plan dense_plan = make_plan(
        options, device.device(), Size::square(a.n, b.columns), Precision::double_precision,
        context.implementation().records(), context.implementation().others());
    require_possible(device.device(), *dense_plan.method, dense_plan.problem);
    const Matrix full = dense(sparse);
    Solution<double> solution = solve(device, dense_plan, full.view(), b);
    solution.why = plan.why;
    return solution;
  });
}

}  // namespace lugpu

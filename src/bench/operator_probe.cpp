#include "bench/operator_probe.hpp"

#include <algorithm>
#include <limits>
#include <memory>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/host_memory.hpp"
#include "bench/probe.hpp"
#include "iterative/cg.hpp"
#include "iterative/relaxation.hpp"
#include "matrix/generate.hpp"
#include "operators/banded_operator.hpp"
#include "operators/dense_operator.hpp"
#include "operators/sparse_operator.hpp"

namespace lugpu {
namespace {

// How the matrix of an operator is stored: dense of order n; that of the grid by diagonals, in the
// device's sparse format, or not at all. `none`: vectors alone.
enum class Form { none, columns, diagonals, banded, sparse, grid };

OperatorKind kind_of(Form form) {
  if (form == Form::none) return OperatorKind::vector;
  return form == Form::grid ? OperatorKind::grid : OperatorKind::matrix;
}

// What the operators of a group have in common.
struct ProbeShape {
  std::size_t n;
  int dimensions;
  Precision precision;
  Storage storage;

  static bool is_dense(Form form) { return form == Form::columns || form == Form::diagonals; }
  static bool is_sparse(Form form) { return form == Form::banded || form == Form::sparse; }

  // Laplace's, with 5 points in 2D, 7 in 3D.
  Grid grid() const {
    Grid grid;
    for (int axis = 0; axis < dimensions; ++axis) {
      grid.size[axis] = n;
      grid.coefficients[axis] = 1;
    }
    return grid;
  }
  std::size_t elements(Form form) const { return is_dense(form) ? n : grid().unknowns(); }
  VectorLayout layout(Form form) const {
    if (kind_of(form) == OperatorKind::matrix) {
      return VectorLayout::of_length(elements(form), precision, storage, kVectorTexel);
    }
    return GridOperator(grid()).layout(precision, storage, kVectorTexel);
  }
  // Elements of a matrix. The five diagonals are stored whole; a row of the sparse matrix lacks an
  // entry for each wall beside its point.
  double entries(Form form) const {
    const auto edge = static_cast<double>(n);
    if (kind_of(form) != OperatorKind::matrix) return 0;
    if (is_dense(form)) return edge * edge;
    return 5 * edge * edge - (form == Form::sparse ? 4 * edge : 0);
  }
  // A sparse matrix has a column beside each entry, as in CSR; the device's format leaves out those
  // that follow from the row before.
  double bytes(Form form, double words) const {
    const auto word = static_cast<double>(element_size(precision));
    const double column = form == Form::sparse ? sizeof(cl_int) : 0;
    return words * word * static_cast<double>(elements(form)) + entries(form) * (word + column);
  }
};

// An operator with vectors of its layout: x, at first zeros, b, all ones, and y.
struct Operand {
  Operand(DeviceContext& context, const ProbeShape& shape, Form form, std::unique_ptr<Operator> of)
      : matrix(std::move(of)),
        vectors(context, shape.layout(form), 1),
        x(vectors.take()),
        b(vectors.take()),
        y(vectors.take()) {
    vectors.upload({}, x);
    vectors.upload(std::vector<double>(shape.elements(form), 1.0), b);
  }

  std::unique_ptr<Operator> matrix;
  Vectors vectors;
  Surface x, b, y;
};

// `count` operations, enqueued or done.
using Run = void (*)(Operand& on, int count);

template <Operation operation>
void combine(Operand& on, int count) {
  for (; count > 0; --count) on.vectors.combine(operation, {2}, on.x, {3}, on.b, on.y);
}

template <Reduction reduction>
void reduce(Operand& on, int count) {
  for (; count > 0; --count) on.vectors.reduce(reduction, on.b, on.x, 0);
}

void product(Operand& on, int count) {
  for (; count > 0; --count) on.matrix->apply(on.vectors, on.b, on.y);
}

void product_minus_x(Operand& on, int count) {
  for (; count > 0; --count) on.matrix->apply(on.vectors, on.b, Operation::subtract, on.x, on.y);
}

// `count` steps of a method, which do not converge, from zero.
template <typename OfOperator, auto method>
void steps(Operand& on, int count) {
  on.vectors.combine(Operation::multiply, {0}, on.b, {0}, on.b, on.x);
  method(static_cast<const OfOperator&>(*on.matrix), on.vectors, on.b, on.x,
         {0, static_cast<std::size_t>(count)});
}

using OnGrid = Iteration (*)(const GridOperator&, Vectors&, const Surface&, Surface&,
                             const StoppingRule&);
using OnMatrix = Iteration (*)(const Operator&, Vectors&, const Surface&, Surface&,
                               const StoppingRule&);
constexpr OnGrid kJacobi = jacobi, kGaussSeidel = gauss_seidel, kGridCg = conjugate_gradients;
constexpr OnMatrix kStoredCg = conjugate_gradients;

// How many are timed at once: `most`, n where `up_to_n` says so, or what takes long enough.
struct Pace {
  int most;
  bool up_to_n;
  double long_enough_s;
  std::size_t least_n = 1;
};
constexpr Pace kOperation{256, false, 0.01};
// Conjugate gradients find the solution after some n steps, and the rest would do nothing.
constexpr Pace kCgSteps{256, true, 0.01, 16};
// The residuals of sweeps are looked at every few of them at first, and then less often.
constexpr Pace kSweeps{1024, false, 0.1};

struct TimedOperator {
  const char* name;
  Form form;
  double words;  // of vectors, for each of their elements; the matrix comes on top
  Run run;
  Pace pace = kOperation;
};

// Words: alpha x op beta y loads x and y and stores the result. A product loads x and stores A x;
// A x op y loads y too. A sweep loads x and b and stores x. A step of the conjugate gradients loads
// x, p, r and stores x, p (x += alpha p, p = r + beta p), loads p and stores q (q = A p, with p .
// q), loads r, q and stores r (r -= alpha q, with r . r): ten, also where no q is stored.
constexpr TimedOperator kOperators[] = {
    {"add", Form::none, 3, combine<Operation::add>},
    {"subtract", Form::none, 3, combine<Operation::subtract>},
    {"multiply", Form::none, 3, combine<Operation::multiply>},
    {"sum", Form::none, 1, reduce<Reduction::sum>},
    {"product", Form::none, 1, reduce<Reduction::product>},
    {"max", Form::none, 1, reduce<Reduction::largest>},
    {"min", Form::none, 1, reduce<Reduction::smallest>},
    {"magnitude", Form::none, 1, reduce<Reduction::magnitude>},
    {"dot", Form::none, 2, reduce<Reduction::dot>},
    {"columns product", Form::columns, 2, product},
    {"columns product - y", Form::columns, 3, product_minus_x},
    {"diagonals product", Form::diagonals, 2, product},
    {"diagonals product - y", Form::diagonals, 3, product_minus_x},
    {"banded product", Form::banded, 2, product},
    {"banded product - y", Form::banded, 3, product_minus_x},
    {"banded cg", Form::banded, 10, steps<Operator, kStoredCg>, kCgSteps},
    {"sparse product", Form::sparse, 2, product},
    {"sparse product - y", Form::sparse, 3, product_minus_x},
    {"sparse cg", Form::sparse, 10, steps<Operator, kStoredCg>, kCgSteps},
    {"grid product", Form::grid, 2, product},
    {"grid product - y", Form::grid, 3, product_minus_x},
    {"jacobi", Form::grid, 3, steps<GridOperator, kJacobi>, kSweeps},
    {"gauss-seidel", Form::grid, 3, steps<GridOperator, kGaussSeidel>, kSweeps},
    {"cg", Form::grid, 10, steps<GridOperator, kGridCg>, kCgSteps},
};

// Throws Unsupported unless everything fits on the device and into this machine's memory, which is
// that of a CPU's device too: x, b and y, the six vectors of the conjugate gradients on images, and
// the matrix, made from triplets if it is sparse, copied to turn its diagonals if it is dense.
void require_room(const Device& device, const ProbeShape& shape, Form form) {
  constexpr double kUploaded = 2, kDense = 2, kSparse = 5;  // doubles
  constexpr std::size_t kMostRows = std::size_t{1} << 30;   // of a sparse matrix on a device
  const bool is_dense = ProbeShape::is_dense(form);
  const std::size_t vectors = is_dense || form == Form::none ? 3 : 9;
  const double on_device = shape.bytes(form, static_cast<double>(vectors));
  const double on_host = sizeof(double) * (kUploaded * static_cast<double>(shape.elements(form)) +
                                           shape.entries(form) * (is_dense ? kDense : kSparse));
  if (on_host + (device.type == "cpu" ? on_device : 0) > static_cast<double>(host_memory())) {
    throw Unsupported("What n = " + std::to_string(shape.n) +
                      " needs does not fit into this machine's memory.");
  }
  if (ProbeShape::is_sparse(form) && shape.elements(form) > kMostRows) {
    throw Unsupported("Sparse matrices have at most " + std::to_string(kMostRows) + " rows.");
  }
  if (is_dense) {
    require_fits(device, shape.n, shape.n, shape.precision, shape.storage, 1, 0, kVectorTexel);
  }
  const VectorLayout layout = shape.layout(form);
  require_fits(device, layout.rows, layout.columns, shape.precision, shape.storage, vectors,
               static_cast<std::uint64_t>(shape.bytes(form, 0)), kVectorTexel);
}

// laplacian: the grid's matrix, made here for the first form that stores it.
std::unique_ptr<Operator> make_operator(DeviceContext& context, const ProbeShape& shape, Form form,
                                        Sparse& laplacian) {
  const auto& [n, dimensions, precision, storage] = shape;
  if (ProbeShape::is_sparse(form) && laplacian.rows() == 0) laplacian = sparse(shape.grid());
  switch (form) {
    case Form::none:
      return nullptr;
    case Form::columns:
    case Form::diagonals:
      return std::make_unique<DenseOperator>(
          context, generate("random", n, 1),
          form == Form::columns ? DenseOperator::Order::columns : DenseOperator::Order::diagonals,
          precision, storage, kVectorTexel);
    case Form::banded:
      return std::make_unique<BandedOperator>(context, laplacian, precision, storage, kVectorTexel);
    case Form::sparse:
      return std::make_unique<SparseOperator>(context, laplacian, precision, storage, kVectorTexel);
    default:
      return std::make_unique<GridOperator>(shape.grid());
  }
}

double seconds(const TimedOperator& timed, Operand& on, int count) {
  DeviceContext& context = on.vectors.context();
  context.queue().finish();
  const Clock::time_point start = Clock::now();
  timed.run(on, count);
  context.queue().finish();
  context.timeline().clear();
  return seconds_since(start);
}

// Seconds of one operation, of every run. What comes with any number of them, as a quarter of them
// takes it at best, is subtracted.
std::vector<double> sampled(const TimedOperator& timed, Operand& on, int runs, std::size_t n) {
  const Pace& pace = timed.pace;
  const int most = pace.up_to_n ? static_cast<int>(std::min<std::size_t>(n, pace.most)) : pace.most;
  seconds(timed, on, 1);
  int count = 4;
  while (2 * count <= most && seconds(timed, on, count) < pace.long_enough_s) count *= 2;
  std::vector<double> times;
  double few = std::numeric_limits<double>::infinity();
  while (times.size() < static_cast<std::size_t>(runs)) {
    few = std::min(few, seconds(timed, on, count / 4));
    times.push_back(seconds(timed, on, count));
  }
  for (double& many : times) {
    many = many > few ? (many - few) / (count - count / 4) : many / count;
  }
  return times;
}

}  // namespace

std::span<const OperatorGroup> operator_groups() {
  static const OperatorGroup table[] = {
      {"vectors", "operations on vectors of n x n elements, and reductions", OperatorKind::vector,
       2},
      {"products", "products with dense matrices of order n and stored ones of n x n points, cg",
       OperatorKind::matrix, 2},
      {"grids", "products without a matrix on n x n points, steps of iterative methods",
       OperatorKind::grid, 2},
      {"cubes", "the same in 3D", OperatorKind::grid, 3},
  };
  return table;
}

void time_operators(DeviceContext& context, const OperatorGroup& group, std::size_t n,
                    Precision precision, Storage storage, int runs,
                    const std::function<void(const OperatorTime&)>& done) {
  const ProbeShape shape{n, group.dimensions, precision, storage};
  Sparse laplacian;
  std::unique_ptr<Operand> operand;  // of the operators of one form, which follow one another
  Form form = Form::none;
  for (const TimedOperator& timed : kOperators) {
    if (kind_of(timed.form) != group.kind) continue;
    const bool has_grid = timed.form != Form::none && !ProbeShape::is_dense(timed.form);
    OperatorTime time{timed.name,
                      std::vector<std::size_t>(has_grid ? group.dimensions : 0, n),
                      shape.bytes(timed.form, timed.words),
                      {},
                      {}};
    time.reason = impossible([&] {
      if (n < timed.pace.least_n) {
        throw Unsupported("Below n = " + std::to_string(timed.pace.least_n) +
                          " there are too few steps to time.");
      }
      if (timed.form != form) operand.reset();
      if (!operand) {
        form = timed.form;
        require_room(context.device(), shape, form);
        operand = std::make_unique<Operand>(context, shape, form,
                                            make_operator(context, shape, form, laplacian));
      }
      time.times_s = sampled(timed, *operand, runs, n);
    });
    done(time);
  }
}

}  // namespace lugpu

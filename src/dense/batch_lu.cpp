#include "dense/batch_lu.hpp"

#include <algorithm>
#include <string_view>
#include <type_traits>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "dense/batch_proof.hpp"
#include "dense/matrix_units.hpp"
#include "dense/proof.hpp"

namespace lugpu {
namespace {

// What the registers of any GPU hold, and the local memory of gpu/batch_full.cl for it, in double.
// (NVIDIA's GPUs have 48 KiB for what theirs hold.)
constexpr std::size_t kMostRegisters = 128;
constexpr std::size_t kLocalOfLargest = 40 << 10;
constexpr std::size_t kSliceBytes = 64 << 20;  // that travel at once
constexpr std::size_t kSolveItems = 64;        // of gpu/batch_solve.cl

// Of local memory, for matrices in global memory: 256 rows of a panel of 16 columns with a pack
// more in each, or columns and candidates; and the rest.
std::size_t local_bytes(Precision precision, Pivot pivot) {
  const std::size_t panel = 256 * (16 * element_size(precision) + 16);
  return (6 << 10) + (pivot == Pivot::full ? 24 << 10 : panel);
}

constexpr const char* kFull = "gpu/batch_full.cl";

// Launches of this and of gpu/batch_memory_full.cl take some of the steps of a factorization.
bool by_launches(const BatchKernel& kernel) {
  return kernel.file == std::string_view(kFull) || kernel.pending > 0;
}

// The most that kFull has in registers.
std::size_t most_in_registers(bool nvidia, Precision precision) {
  if (!nvidia) return kMostRegisters;
  return precision == Precision::single_precision ? 224 : 160;
}

// Its form for what is left of a matrix. Registers: those that were fastest on an H200.
BatchKernel full_in_registers(std::size_t left, Precision precision) {
  const auto kernel = [](std::size_t order, std::size_t items, std::size_t registers) {
    return BatchKernel{kFull, order, items, 1, 0, registers};
  };
  const bool single = precision == Precision::single_precision;
  if (left <= 32) return single ? kernel(32, 32, 80) : kernel(32, 32, 128);
  if (left <= 48) return single ? kernel(48, 64, 80) : kernel(48, 64, 128);
  if (left <= 64) return single ? kernel(64, 64, 96) : kernel(64, 64, 168);
  if (left <= 96) return single ? kernel(96, 96, 128) : kernel(96, 96, 0);
  if (left <= 128) return single ? kernel(128, 128, 168) : kernel(128, 256, 0);
  if (left <= 160) return single ? kernel(160, 320, 96) : kernel(160, 320, 168);
  return left <= 192 ? kernel(192, 384, 168) : kernel(224, 448, 128);
}

// A work-item has two rows where that was faster on an H200.
BatchKernel small_in_registers(std::size_t order, Pivot pivot) {
  const std::size_t matrices = order == 32 ? 2 : 128 / order;
  if (pivot == Pivot::full) return {"gpu/batch_small_full.cl", order, order, matrices};
  const bool two_rows = pivot == Pivot::none || order <= 8;
  return {"gpu/batch_small.cl", order, two_rows ? order / 2 : order, matrices};
}

BatchKernel in_registers(bool nvidia, std::size_t n, Precision precision, Pivot pivot) {
  const bool single = precision == Precision::single_precision;
  if (pivot == Pivot::full && n > (single ? 32 : 16)) return full_in_registers(n, precision);
  if (n <= 32) return small_in_registers(n <= 4 ? 4 : n <= 8 ? 8 : n <= 16 ? 16 : 32, pivot);
  if (!nvidia) return {"gpu/batch_blocked.cl", n <= 64 ? 64U : 128U, 32, 1, single ? 32U : 16U};
  if (n <= 48) return {"gpu/batch_blocked.cl", 48, 32, 1, 48};
  if (n <= 64) return {"gpu/batch_blocked.cl", 64, 32, 1, single ? 64U : 32U};
  if (n <= 96) return {"gpu/batch_blocked.cl", 96, 32, 1, single ? 64U : 32U};
  return {"gpu/batch_blocked.cl", kMostRegisters, 64, 1, single ? 64U : 32U};
}

// With full pivoting as many work-items as NVIDIA's GPUs have registers for; matrices that stay in
// the caches are as soon written as their products computed again.
BatchKernel in_memory(bool nvidia, std::size_t n, Precision precision, Pivot pivot) {
  const std::size_t order = n <= 256 ? 256 : kMostBatchOrder;
  if (pivot != Pivot::full) {
    return {"gpu/batch_memory.cl", order, 256, 1, 0, order == kMostBatchOrder ? 128U : 0U};
  }
  const bool single = precision == Precision::single_precision, in_caches = single && n <= 256;
  const std::size_t items = !nvidia ? 256 : single ? 1024 : 512;
  return {"gpu/batch_memory_full.cl", order, items, 1, 0, 0, in_caches ? 1U : 4U};
}

// A launch with full pivoting, and the steps it takes: until what is left of a matrix is as much as
// the next kernel takes.
struct Launch {
  BatchKernel kernel;
  std::size_t steps;
};
Launch next_launch(bool nvidia, std::size_t left, Precision precision, BatchPath path) {
  const std::size_t most = path == BatchPath::memory ? 0 : most_in_registers(nvidia, precision);
  if (left > most) return {in_memory(nvidia, left, precision, Pivot::full), left - most};
  const BatchKernel kernel = full_in_registers(left, precision);
  return {kernel, left - (kernel.order == 48 ? 32 : kernel.order - 32)};
}

// The first kernel, but for BatchPath::vectors.
BatchKernel gpu_kernel(bool nvidia, std::size_t n, Precision precision, Pivot pivot,
                       BatchPath path) {
  if (path == BatchPath::memory_first) return next_launch(nvidia, n, precision, path).kernel;
  return path == BatchPath::registers ? in_registers(nvidia, n, precision, pivot)
                                      : in_memory(nvidia, n, precision, pivot);
}

const char* macro_of(Pivot pivot) {
  return pivot == Pivot::none ? "NONE" : pivot == Pivot::partial ? "PARTIAL" : "FULL";
}

std::string definition(const char* name, std::size_t value) {
  return std::string(" -D") + name + "=" + std::to_string(value);
}

// The member's elements to or from their places in a group.
template <typename T, typename Real>
void copy_member(const View<T>& member, const BatchLayout& layout, Real* group, std::size_t lane) {
  constexpr bool to_device = std::is_const_v<T>;
  const auto move = [&](T& element, std::size_t i, std::size_t j) {
    Real& there = group[(i * layout.pitch + j) * layout.lanes + lane];
    if constexpr (to_device) {
      there = element;
    } else {
      element = there;
    }
  };
  if (member.order == Order::rows) {
    for (std::size_t i = 0; i < layout.rows; ++i) {
      T* row = member.data + i * member.ld;
      for (std::size_t j = 0; j < layout.columns; ++j) move(row[j], i, j);
    }
  } else {
    for (std::size_t j = 0; j < layout.columns; ++j) {
      T* column = member.data + j * member.ld;
      for (std::size_t i = 0; i < layout.rows; ++i) move(column[i], i, j);
    }
  }
}

// Members first : first + count of a batch, and units of matrices where a group has no more.
template <typename T>
void pack(const Batch<const T>& from, std::size_t first, std::size_t count,
          const BatchLayout& layout, T* to) {
  const std::size_t size = layout.elements_of_group();
  in_parallel(ceiling(count, layout.lanes), size * sizeof(T), [&](std::size_t g) {
    T* group = to + g * size;
    for (std::size_t lane = 0; lane < layout.lanes; ++lane) {
      const std::size_t member = g * layout.lanes + lane;
      if (member < count) {
        copy_member(from[first + member], layout, group, lane);
        continue;
      }
      for (std::size_t e = 0; e < layout.rows * layout.pitch; ++e) {
        group[e * layout.lanes + lane] = e / layout.pitch == e % layout.pitch;
      }
    }
  });
}

template <typename T>
void unpack(const T* from, std::size_t first, std::size_t count, const BatchLayout& layout,
            const Batch<T>& to) {
  const std::size_t size = layout.elements_of_group();
  in_parallel(ceiling(count, layout.lanes), size * sizeof(T), [&](std::size_t g) {
    const std::size_t end = std::min(layout.lanes, count - g * layout.lanes);
    for (std::size_t lane = 0; lane < end; ++lane) {
      copy_member<T, const T>(to[first + g * layout.lanes + lane], layout, from + g * size, lane);
    }
  });
}

std::size_t lanes_of(const Device& device, BatchPath path, Precision precision) {
  return path == BatchPath::vectors ? vector_width(device, precision) : 1;
}

}  // namespace

BatchPath BatchLu::path(const Device& device, std::size_t n, Precision precision, Pivot pivot) {
  if (device.type == "cpu") return BatchPath::vectors;
  const bool full = pivot == Pivot::full;
  const bool no_room = full && n > 96 && precision == Precision::double_precision &&
                       device.local_memory < kLocalOfLargest;
  if (n <= kMostRegisters && !no_room) return BatchPath::registers;
  return full && !no_room ? BatchPath::memory_first : BatchPath::memory;
}

void BatchLu::require_room(const Device& device, const BatchSize& size, Precision precision,
                           Pivot pivot) {
  if (pivot != Pivot::none && pivot != Pivot::partial && pivot != Pivot::full) {
    throw Unsupported(std::string("Batches have no pivoting named ") + name(pivot),
                      {"pivot", "partial"});
  }
  if (size.n > kMostBatchOrder) {
    throw Unsupported("Members of a batch have an order of at most " +
                      std::to_string(kMostBatchOrder) + ", not " + std::to_string(size.n) + ".");
  }
  if (precision == Precision::double_precision && !device.double_precision) {
    throw Unsupported(device.name + " has no double precision", {"precision", "single"});
  }
  const BatchPath way = path(device, size.n, precision, pivot);
  const std::size_t local = local_bytes(precision, pivot);
  if ((way == BatchPath::memory || way == BatchPath::memory_first) && local > device.local_memory) {
    throw Unsupported("Members of order " + std::to_string(size.n) + " take " +
                      std::to_string(local) + " bytes of local memory; " + device.name + " has " +
                      std::to_string(device.local_memory) + ".");
  }
  const std::size_t lanes = lanes_of(device, way, precision);
  const double members = static_cast<double>(ceiling(size.count, lanes) * lanes);
  const double order = static_cast<double>(size.n);
  const double bytes = members * (order * order * static_cast<double>(element_size(precision)) +
                                  (2 * order + 1) * sizeof(cl_int));
  if (bytes + 2.0 * kSliceBytes <= static_cast<double>(device.global_memory)) return;
  throw Unsupported("A batch of " + std::to_string(size.count) + " matrices of order " +
                    std::to_string(size.n) + " needs " + std::to_string(bytes / 1e9) + " GB; " +
                    device.name + " has " + std::to_string(device.global_memory / 1e9) + ".");
}

bool BatchLu::suits_nvidia(DeviceContext& context, std::size_t n, Precision precision, Pivot pivot,
                           BatchPath path) {
  if (path == BatchPath::vectors || n == 0 || !has_warp_instructions(context)) return false;
  const BatchKernel kernel = lugpu::gpu_kernel(true, n, precision, pivot, path);
  const std::string what = std::string("batch ") + kernel.file + " " + name(precision) + " " +
                           name(pivot) + " " + std::to_string(kernel.order);
  return proven(context, what, [&] {
    BatchLu lu(context, {kernel.matrices + 1, kernel.order}, precision, pivot, path, kMostElements,
               true);
    return factors_right(lu);
  });
}

BatchLu::BatchLu(DeviceContext& context, const BatchSize& size, Precision precision, Pivot pivot,
                 BatchPath path, std::size_t most_elements)
    : BatchLu(context, size, precision, pivot, path, most_elements,
              suits_nvidia(context, size.n, precision, pivot, path)) {}

BatchLu::BatchLu(DeviceContext& context, const BatchSize& size, Precision precision, Pivot pivot,
                 BatchPath path, std::size_t most_elements, bool nvidia)
    : context_(context),
      size_(size),
      precision_(precision),
      pivot_(pivot),
      path_(path),
      nvidia_(nvidia),
      layout_{lanes_of(context.device(), path, precision), size.n, size.n,
              path == BatchPath::vectors ? size.n | 1 : size.n},
      options_(std::string(" -DPIVOT=") + macro_of(pivot)) {
  if (size.count == 0 || size.n == 0) return;
  if (path == BatchPath::vectors) options_ += definition("VECTOR", layout_.lanes);
  const std::size_t group_bytes = layout_.elements_of_group() * element_size(precision);
  const std::size_t most_groups =
      std::max<std::size_t>(std::min(most_elements / layout_.elements_of_group(),
                                     context.device().max_allocation / group_bytes),
                            1);
  for (std::size_t first = 0; first < size.count; first += most_groups * layout_.lanes) {
    const std::size_t count = std::min(most_groups * layout_.lanes, size.count - first);
    const std::size_t members = groups(count) * layout_.lanes;
    const std::size_t places = members * size.n * sizeof(cl_int);
    parts_.push_back({context.allocate(groups(count) * group_bytes),
                      context.allocate(pivot == Pivot::none ? 0 : places),
                      context.allocate(pivot == Pivot::full ? places : 0),
                      context.allocate(members * sizeof(cl_int)), first, count,
                      groups(count) * group_bytes});
  }
}

void BatchLu::for_slices(
    std::size_t columns,
    const std::function<void(Part&, std::size_t first, std::size_t count)>& work) {
  if (parts_.empty()) return;
  const std::size_t bytes = layout_.lanes * size_.n * columns * element_size(precision_);
  const std::size_t members = std::max<std::size_t>(kSliceBytes / bytes, 1) * layout_.lanes;
  for (Part& part : parts_) {
    for (std::size_t done = 0; done < part.count; done += members) {
      work(part, part.first + done, std::min(members, part.count - done));
    }
  }
}

template <typename T>
void BatchLu::upload(const Batch<const T>& a) {
  const std::size_t group = layout_.elements_of_group() * sizeof(T);
  for_slices(size_.n, [&](Part& part, std::size_t first, std::size_t count) {
    const std::size_t bytes = groups(count) * group;
    T* room = static_cast<T*>(context_.staging().room(bytes));
    pack(a, first, count, layout_, room);
    context_.queue().enqueueWriteBuffer(part.matrices, CL_TRUE,
                                        (first - part.first) / layout_.lanes * group, bytes, room);
  });
}

BatchKernel BatchLu::gpu_kernel() const {
  return lugpu::gpu_kernel(nvidia_, size_.n, precision_, pivot_, path_);
}

std::optional<std::string> BatchLu::variant() const {
  if (path_ == BatchPath::vectors) return std::nullopt;
  return nvidia_ ? "nvidia" : "portable";
}

KernelId BatchLu::factor_kernel(const BatchKernel& kernel) const {
  KernelId id{kernel.file, "factor_batch", precision_, Storage::buffer, Texel::rgba, options_};
  id.options += definition("ORDER", kernel.order) + definition("ITEMS", kernel.items) +
                definition("MATRICES", kernel.matrices);
  if (kernel.columns > 0) id.options += definition("COLUMNS", kernel.columns);
  if (kernel.pending > 0) id.options += definition("PENDING", kernel.pending);
  if (context_.device().type == "gpu") id.options += " -DUNROLLED";
  if (nvidia_) {
    id.options += " -DLUGPU_NVIDIA";
    if (has_matrix_units(context_.device(), precision_)) id.options += " -DLUGPU_MATRIX_UNITS";
    if (kernel.registers > 0) {
      // NVIDIA's compiler obeys only where the size of the work-group is left open.
      id.options += " -DLUGPU_FREE_SIZE -cl-nv-maxrregcount=" + std::to_string(kernel.registers);
      id.group = kernel.items * kernel.matrices;
    }
  }
  return id;
}

template <typename... Sizes>
void BatchLu::enqueue_factor(const Part& part, const KernelId& id, std::size_t items,
                             Sizes... sizes) {
  context_.run("factor", id, {items}, part.matrices, part.ipiv, part.jpiv, part.info,
               static_cast<cl_int>(size_.n), static_cast<cl_int>(part.count),
               static_cast<cl_int>(sizes)...);
}

void BatchLu::factor() {
  for (const Part& part : parts_) {
    if (path_ != BatchPath::vectors && by_launches(gpu_kernel())) {
      factor_by_launches(part);
      continue;
    }
    if (path_ == BatchPath::vectors) {
      const KernelId id{"cpu/batch_lu.cl", "factor_batch", precision_,
                        Storage::buffer,   Texel::r,       options_};
      enqueue_factor(part, id, groups(part.count));
    } else {
      enqueue_factor(part, factor_kernel(gpu_kernel()), part.count * gpu_kernel().items);
    }
    context_.timeline().add_bytes(2 * std::uint64_t{part.bytes});
  }
}

void BatchLu::factor_by_launches(const Part& part) {
  for (std::size_t first = 0, steps = 0; first < size_.n; first += steps) {
    const std::size_t left = size_.n - first;
    const Launch launch = next_launch(nvidia_, left, precision_, path_);
    steps = launch.steps;
    enqueue_factor(part, factor_kernel(launch.kernel), part.count * launch.kernel.items, first,
                   steps);
    // What is left, once each way; where that is in registers, then columns of U and rows of L.
    const std::size_t moved = launch.kernel.pending > 0 ? 0 : left * (first + steps + first);
    const std::size_t elements = left * left + moved;
    context_.timeline().add_bytes(2 * std::uint64_t{part.count} * elements *
                                  element_size(precision_));
  }
}

std::vector<int> BatchLu::info() {
  std::vector<int> info(size_.count);
  for (const Part& part : parts_) {
    context_.read_back("factor", part.info, 0, part.count * sizeof(cl_int),
                       info.data() + part.first);
  }
  return info;
}

std::vector<int> BatchLu::places(bool columns) {
  if (pivot_ == Pivot::none || (columns && pivot_ != Pivot::full)) return {};
  std::vector<int> places(size_.count * size_.n);
  for (const Part& part : parts_) {
    context_.read_back("factor", columns ? part.jpiv : part.ipiv, 0,
                       part.count * size_.n * sizeof(cl_int), places.data() + part.first * size_.n);
  }
  for (int& place : places) ++place;
  return places;
}

std::vector<int> BatchLu::ipiv() {
  return places(false);
}

std::vector<int> BatchLu::jpiv() {
  return places(true);
}

void BatchLu::enqueue_solve(const Part& part, const cl::Buffer& x, std::size_t first,
                            std::size_t count, std::size_t columns) {
  const bool on_cpu = path_ == BatchPath::vectors;
  const KernelId id{on_cpu ? "cpu/batch_lu.cl" : "gpu/batch_solve.cl",
                    "solve_batch",
                    precision_,
                    Storage::buffer,
                    Texel::r,
                    options_};
  context_.run("solve", id, {on_cpu ? groups(count) : count * kSolveItems}, part.matrices,
               part.ipiv, part.jpiv, x, static_cast<cl_int>(first - part.first),
               static_cast<cl_int>(size_.n), static_cast<cl_int>(columns));
}

template <typename T>
void BatchLu::solve(const Batch<const T>& from, const Batch<T>& to) {
  const BatchLayout layout{layout_.lanes, size_.n, from.columns(), from.columns()};
  if (layout.columns == 0) return;
  if (layout.elements_of_group() >
      std::min<std::size_t>(context_.device().max_allocation / sizeof(T), kMostElements)) {
    throw Unsupported(std::to_string(layout.columns) +
                      " right-hand sides are too many for the device; solve for fewer at a time.");
  }
  for_slices(layout.columns, [&](Part& part, std::size_t first, std::size_t count) {
    const std::size_t bytes = groups(count) * layout.elements_of_group() * sizeof(T);
    T* room = static_cast<T*>(context_.staging().room(bytes));
    const cl::Buffer& x = context_.scratch(bytes);
    pack(from, first, count, layout, room);
    context_.queue().enqueueWriteBuffer(x, CL_TRUE, 0, bytes, room);
    enqueue_solve(part, x, first, count, layout.columns);
    context_.read_back("solve", x, 0, bytes, room);
    unpack(room, first, count, layout, to);
  });
}

template <typename T>
void BatchLu::inverse(const Batch<T>& to) {
  const std::size_t n = size_.n;
  std::vector<T> identity(n * n);
  for (std::size_t i = 0; i < n; ++i) identity[i * (n + 1)] = 1;
  solve<T>(Batch<const T>({identity.data(), n, n, n}, size_.count, 0), to);
}

template <typename T>
void BatchLu::download_factors(const Batch<T>& to) {
  const std::size_t group = layout_.elements_of_group() * sizeof(T);
  for_slices(size_.n, [&](Part& part, std::size_t first, std::size_t count) {
    const std::size_t bytes = groups(count) * group;
    T* room = static_cast<T*>(context_.staging().room(bytes));
    context_.read_back("download", part.matrices, (first - part.first) / layout_.lanes * group,
                       bytes, room);
    unpack(room, first, count, layout_, to);
  });
}

template void BatchLu::upload(const Batch<const float>&);
template void BatchLu::upload(const Batch<const double>&);
template void BatchLu::solve(const Batch<const float>&, const Batch<float>&);
template void BatchLu::solve(const Batch<const double>&, const Batch<double>&);
template void BatchLu::inverse(const Batch<float>&);
template void BatchLu::inverse(const Batch<double>&);
template void BatchLu::download_factors(const Batch<float>&);
template void BatchLu::download_factors(const Batch<double>&);

}  // namespace lugpu

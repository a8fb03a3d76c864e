#include "scalapack/columns.hpp"

#include <algorithm>
#include <vector>

namespace lugpu::scalapack {
namespace {

template <typename Real>
void copy(View<Real> from, View<Real> to) {
  for (std::size_t j = 0; j < to.columns; ++j) {
    std::copy_n(from.column(j), to.rows, to.column(j));
  }
}

// Between the processes `from` and `to`; what is sent stands together.
template <typename Real>
void move(ProcessGroup& processes, View<Real> source, std::size_t from, View<Real> target,
          std::size_t to) {
  const std::size_t rank = processes.rank();
  if (rank != from && rank != to) return;
  if (from == to) return copy(source, target);
  const std::size_t rows = target.rows, columns = target.columns;
  std::vector<Real> together(rows * columns);
  const View<Real> message{together.data(), rows, columns, rows};
  if (rank == from) copy(source, message);
  processes.move(together.data(), together.size() * sizeof(Real), from, to);
  if (rank == to) copy(message, target);
}

}  // namespace

template <typename Real>
void exchange(ProcessGroup& processes, const Columns& dealt, View<Real> local, std::size_t first,
              View<Real> block, std::size_t holder, Way way) {
  for (std::size_t done = 0; done < block.columns;) {
    const std::size_t j = first + done;
    const std::size_t count = std::min(dealt.nb - j % dealt.nb, block.columns - done);
    const std::size_t owner = dealt.process_of(j);
    const bool mine = owner == processes.rank();
    const View<Real> there{mine ? local.column(dealt.place_of(j)) : nullptr, block.rows, count,
                           local.ld};
    const View<Real> here{holder == processes.rank() ? block.column(done) : nullptr, block.rows,
                          count, block.ld};
    if (way == Way::to_holder) {
      move(processes, there, owner, here, holder);
    } else {
      move(processes, here, holder, there, owner);
    }
    done += count;
  }
}

template void exchange(ProcessGroup&, const Columns&, View<float>, std::size_t, View<float>,
                       std::size_t, Way);
template void exchange(ProcessGroup&, const Columns&, View<double>, std::size_t, View<double>,
                       std::size_t, Way);

}  // namespace lugpu::scalapack

// The interchanges of panels on a device, as lists of the rows that move (dense/move_rows.cl).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "opencl/context.hpp"
#include "opencl/surface.hpp"

namespace lugpu {

/// Whether a work-item has whole rows on this device, and the build option of kernels for that.
bool by_rows(const DeviceContext& context);
const char* rows_option(const DeviceContext& context);

/// Enqueues a kernel of dense/move_rows.cl, for so many rows of `packs` packs of surfaces like
/// this.
template <typename... Arguments>
void run_on_rows(DeviceContext& context, const char* step, const Surface& a, const char* function,
                 std::size_t packs, std::size_t rows, const Arguments&... arguments) {
  constexpr std::size_t kGroups = 64;  // of a CPU
  const bool whole = by_rows(context);
  context.run(step, a.kernel("dense/move_rows.cl", function, rows_option(context)),
              {whole ? 1 : packs, whole ? std::min(rows, kGroups) : rows}, arguments...,
              static_cast<cl_int>(rows), static_cast<cl_int>(packs));
}

/// The interchanges of all panels of a matrix of n rows, `nb` columns in each.
class RowMoves {
 public:
  /// Row rows[start + count + i] becomes what was row rows[start + i], i = 0 : count, all at the
  /// same time. Where both are the same, nothing moves.
  struct List {
    cl::Buffer rows;
    std::size_t start, count;
  };

  RowMoves(DeviceContext& context, Precision precision, std::size_t n, std::size_t nb);
  /// Of device memory.
  static std::uint64_t bytes(std::size_t n, std::size_t nb);

  /// Its element k is the row that was interchanged with row k, counted from the first row of the
  /// panel that has column k, as in Blocked::ipiv(). The caller writes it.
  const cl::Buffer& ipiv() const { return ipiv_; }

  /// Enqueues a list of the interchanges of the panel of columns k : k + width, which stays until
  /// they are listed again.
  void list_panel(std::size_t k, std::size_t width) const;
  List of_panel(std::size_t k, std::size_t width) const;
  /// Likewise of some columns of a panel, of rows at + i and top + ipiv(k + i), i = 0 : width, in
  /// any surface. The next such list takes its place.
  List list_part(std::size_t k, std::size_t width, std::size_t at, std::size_t top) const;

  /// Rows of columns first : end of a surface move as the list says, or back, through `moved`,
  /// which has a row for each. The last pack of these columns may have padding.
  void move(const Surface& columns, std::size_t first, std::size_t end, const Surface& moved,
            const List& list, bool back = false) const;

 private:
  void enqueue_list(const List& list, std::size_t k, std::size_t at, std::size_t top) const;

  DeviceContext& context_;
  const Precision precision_;
  cl::Buffer ipiv_, panels_, part_;
};

}  // namespace lugpu

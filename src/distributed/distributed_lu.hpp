// Blocked LU over several devices, the block columns of A dealt to them cyclically (as ScaLAPACK's
// getrf and getrs on a 1 x P grid).
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "dense/blocked.hpp"
#include "distributed/block_columns.hpp"
#include "distributed/panel_transport.hpp"
#include "distributed/row_moves.hpp"

namespace lugpu {

/// P A = L U with no or partial pivoting, right-looking. A panel is whole on its device, so that
/// pivots are chosen and rows are interchanged locally. The next panel is brought up to date,
/// factored and sent to the others first, while all do the rest of their updates (look-ahead).
/// L, U and the pivots are the same bits for every number of devices.
///
/// The devices are that of `context`, whose buffers the interface has, and options.others. They may
/// be the same one in several contexts.
class DistributedLu : public DenseFactorization {
 public:
  /// Throws Unsupported if a device cannot hold its share or differs from the others, or the block
  /// size is no multiple of 64; so does the constructor. A is square; in buffers of single
  /// elements.
  static void require_room(const Device& device, const Size& size, const DenseOptions& options);
  DistributedLu(DeviceContext& context, const Size& size, const DenseOptions& options);
  ~DistributedLu() override;

  /// Each block column to its device.
  void upload(const MatrixView& a, const MatrixView& b) override;
  void factor() override;
  Outcome outcome() override;
  cl::Buffer apply_inverse(const cl::Buffer& b, std::size_t columns, Op op) override;
  using DenseFactorization::apply_inverse;
  cl::Buffer factors(std::size_t first, std::size_t count) override;
  std::optional<std::string> variant() const override;

 private:
  /// What a device has.
  struct Member {
    Member(DeviceContext& context, const BlockColumns& dealt, std::size_t index,
           const DenseOptions& options);

    DeviceContext& context;
    Surface a;                      // its columns of A, then of L and U
    std::array<Surface, 2> panels;  // copies of panels, one for every other block column
    Surface moved;                  // see dense/move_rows.cl
    cl::Buffer from, to;            // likewise
    std::unique_ptr<Blocked> blocked;
    std::optional<Surface> x;  // of solve
  };

  void take_matrix(const cl::Buffer& columns, std::size_t first, std::size_t count) override;
  /// Calls action(j, start, first, count) for the columns of each block column j in first : first +
  /// count: `start` columns after the first of them all come columns first : first + count of j.
  template <typename Action>
  void for_blocks(std::size_t first, std::size_t count, const Action& action) const;

  Member& owner(std::size_t j) { return *members_[dealt_.owner(j)]; }
  /// Panel j without the rows above it: rows n - first(j), columns width(j).
  Surface panel(const Member& member, std::size_t j) const;
  enum class Direction { to_panel, from_panel };
  void copy_columns(Member& member, std::size_t j, std::size_t row, const Surface& panel,
                    Direction direction);
  void factor_panel(std::size_t j);
  void publish_panel(std::size_t j);
  void begin_step(std::size_t j);
  void interchange(Member& member, const RowMoves& moves, std::size_t first, std::size_t end);
  void update(Member& member, std::size_t j, std::size_t first, std::size_t end);
  void finish() const;

  Surface transposed(Member& member, std::size_t j);
  void solve_triangle(bool upper, Op op);
  void bring_x(std::size_t j);
  cl::Buffer permuted(const cl::Buffer& b, const std::vector<int>& order, std::size_t columns);

  BlockColumns dealt_;
  std::vector<std::unique_ptr<Member>> members_;
  PanelTransport transport_;
  std::vector<RowMoves> moves_;  // of each panel
  std::vector<int> ipiv_;        // of Outcome
  int info_ = 0;                 // of Outcome
  cl::Event factored_;           // the last panel, on its owner
  std::vector<cl::Event> idle_;  // nothing on a device uses the panel before the last any more
  std::size_t holder_ = 0;       // the device that has X
};

}  // namespace lugpu

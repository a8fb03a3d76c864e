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

namespace lugpu {

/// P A = L U with no or partial pivoting, right-looking. A panel is whole on its device, so that
/// pivots are chosen and rows are interchanged locally. The next panel is brought up to date,
/// factored and sent to the others first, while all do the rest of their updates (look-ahead).
/// L, U and the pivots are the same bits for every number of devices of one kind.
///
/// Buffers of the interface are the first device's.
class DistributedLu : public DenseFactorization {
 public:
  /// Contexts of their own, which may be of the same device, and must outlive this. Throws
  /// Unsupported if a device cannot hold its share; if a block size other than 0, for the fastest,
  /// is no multiple of 64. A is square; buffers of single elements only.
  DistributedLu(std::span<DeviceContext* const> devices, const Size& size,
                const DenseOptions& options);
  ~DistributedLu() override;

  void factor() override;
  Outcome outcome() override;
  cl::Buffer apply_inverse(const cl::Buffer& b, std::size_t columns, Op op) override;
  using DenseFactorization::apply_inverse;
  bool can_transpose() const override { return false; }
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
  /// Rows that a panel's interchanges move: `to` becomes what was in `from`.
  struct Moves {
    std::vector<cl_int> from, to;
  };

  void take_matrix(const cl::Buffer& columns, std::size_t first, std::size_t count) override;
  /// Calls action(j, start, first, count) for the columns of each block column j in first : first +
  /// count: `start` columns after the first of them all come columns first : first + count of j.
  template <typename Action>
  void for_blocks(std::size_t first, std::size_t count, const Action& action) const;

  Member& owner(std::size_t j) { return *members_[dealt_.owner(j)]; }
  /// Panel j without the rows above it: rows n - first(j), columns width(j).
  Surface panel(const Member& member, std::size_t j) const;
  void copy_panel(Member& member, std::size_t j, bool back);
  void factor_panel(std::size_t j);
  void publish_panel(std::size_t j);
  void begin_step(std::size_t j);
  void interchange(Member& member, const Moves& moves, std::size_t first, std::size_t end);
  void update(Member& member, std::size_t j, std::size_t first, std::size_t end);
  void finish() const;

  void solve_triangle(bool upper);
  void bring_x(std::size_t j);

  BlockColumns dealt_;
  std::vector<std::unique_ptr<Member>> members_;
  PanelTransport transport_;
  std::vector<Moves> moves_;     // of each panel
  std::vector<int> ipiv_;        // of Outcome
  int info_ = 0;                 // of Outcome
  cl::Event factored_;           // the last panel, on its owner
  std::vector<cl::Event> idle_;  // nothing on a device uses the panel before the last any more
  std::size_t holder_ = 0;       // the device that has X
};

}  // namespace lugpu

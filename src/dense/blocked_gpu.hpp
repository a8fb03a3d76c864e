// Blocked LU by gpu/lu_blocked.cl, gpu/resident_lu.cl, gpu/lu_none.cl, gpu/lu_blocked_image.cl,
// gpu/solve.cl and dense/panel_launches.cl: for GPUs.
#pragma once

#include <deque>
#include <tuple>
#include <utility>

#include "dense/blocked.hpp"
#include "dense/lu_none.hpp"
#include "dense/lu_schedule.hpp"
#include "dense/resident_lu.hpp"
#include "kernels/gpu/update_arguments.h"

namespace lugpu {

/// Panels of 64 columns; a block of shape.nb columns is one or several of them, whose product
/// updates the columns right of the next block at once. The last rows and columns, or all of a
/// small matrix, are left to ResidentLu where that is faster; without pivoting all of a square
/// matrix up to LuNone::most_order() is left to LuNone.
class BlockedGpu : public Blocked {
 public:
  /// Chooses the fastest kernels that are proven on the device (see prove()); if none with half
  /// products are, products are exact. Throws Unsupported if
  /// the last of them solve a test system wrong or cannot run, NotTried if an error kept them from
  /// being tried.
  BlockedGpu(DeviceContext& context, const Shape& shape);
  static std::size_t block_size(const Shape& shape);
  static std::vector<std::size_t> part_ends(std::size_t m, std::size_t n);
  /// As Blocked's. Half products without pivoting only: the matrices that need pivots are seldom as
  /// well-conditioned as they would have to be. Local pivots where panels have several work-groups.
  static Shortcut shortcut(const Device& device, const Shape& shape);
  /// Bytes of device memory that ResidentLu or LuNone has, and L and U of a block in halves, at
  /// most; for a shape with nb.
  static std::uint64_t other_workspace(const Device& device, const Shape& shape);
  std::uint64_t multiply(Surface& a) override;
  static bool updates_faster(const Device& device, const Shape& shape);
  /// L in halves.
  void prepare_update(const Triangle& l, std::size_t k, std::size_t width) override;
  /// By products in halves, if kernels for them are proven.
  void update_columns(const Triangle& l, std::size_t k, std::size_t width,
                      std::span<const Columns> columns) override;
  void factor_beside(Surface& a, const Triangle& l, std::size_t k, std::size_t width,
                     std::span<const Columns> others) override;
  bool prepare_beside() override;

  std::optional<std::string> variant() const override;

 private:
  /// Which kernels: those for NVIDIA's matrix units and warps, or the portable ones; panels by
  /// work-groups that wait for one another, or by several launches a column; NVIDIA's with products
  /// by wgmma or without; with them, of how many halves a number is the sum in the products of
  /// whole blocks, also for their rows of U, and of update_columns() (0: of none, these are as all
  /// others), and whether panels, in double narrow ones (gpu/narrow_panel.cl), have two work-groups
  /// a multiprocessor; with ResidentLu for the last rows and columns, or LuNone, or neither.
  struct Kernels {
    bool nvidia, waiting, wgmma = false;
    int halves = 0;
    bool paired = false, resident = false;
  };
  /// The product of a block to the rows below it, in columns of another matrix: tiles of C, the
  /// first `done` of which have been enqueued.
  struct Beside {
    const Triangle& t;
    const Columns& x;
    std::size_t k, k_end, tiles, done = 0;
  };
  /// `count` tiles of that, as a launch takes them.
  struct BesideTiles {
    const Surface &t, &x;
    update_beside tiles;
    std::size_t count;
  };

  BlockedGpu(DeviceContext& context, const Shape& shape, Kernels kernels);
  /// What kernels make of a test system.
  struct Proof {
    enum class Outcome { right, wrong, unsupported, not_tried } outcome = Outcome::not_tried;
    std::string reason = "";  ///< why they could not run or be tried
    bool passing = false;     ///< whether the next attempt may end in another way
  };
  /// Whether the kernels, those of the context's folder, factor and solve a test system right on
  /// this device; asked of it once, unless memory was short or the like.
  static Proof prove(DeviceContext& context, const Shape& shape, Kernels kernels);
  /// What is proven of kernels holds for all shapes with the same key.
  using ProofKey = std::tuple<void*, std::string, Precision, Pivot, Shortcut, bool, bool, bool,
                              bool, int, bool, bool, bool>;
  static ProofKey key_of(const DeviceContext& context, const Shape& shape, Kernels kernels);
  static Proof solve_test_system(DeviceContext& context, const Shape& shape, Kernels kernels);
  /// Whether ResidentLu, or LuNone without pivoting, is right and faster on a test system; asked of
  /// the device once.
  static bool prefers_resident(DeviceContext& context, const Shape& shape, Kernels kernels);
  static double seconds_to_factor(DeviceContext& context, const Shape& shape, Kernels kernels);
  static bool factors_and_solves(DeviceContext& context, const Shape& shape, Kernels kernels,
                                 std::size_t m, std::size_t n);
  bool solves(const Surface& lu, const Matrix& a, const std::vector<int>& ipiv, double limit);
  /// Whether update_columns() is right.
  static bool updates(DeviceContext& context, const Shape& shape, Kernels kernels);
  void allocate();
  void start() override;
  void factor_panel(Surface& lu, std::size_t k) override;
  void exchange_and_solve(Surface& lu, std::size_t k) override;
  void update(const PingPong& a, const Surface& lu, std::size_t k) override;

  KernelId kernel(const char* file, const char* function) const;
  KernelId beside_kernel() const;
  std::size_t tiles(const LuUpdate& of) const;

  /// What a launch of exchange_and_solve() has: the interchanges of rows panel : panel + width in
  /// so many strips of columns below n, of which the first left_strips start at column `left`; and
  /// pieces of L in halves.
  struct Exchange {
    std::size_t n, panel, width, left = 0, left_strips = 0, strips = 0, solve_end = 0, pieces = 0;
  };
  void run_exchange(const char* phase, Surface& a, const Exchange& of);
  void exchange_and_solve(Surface& a, std::size_t panel, std::size_t left, std::size_t solve_end,
                          std::size_t right_end);
  std::size_t first_rows() const;
  void update_and_factor(Surface& a, const LuUpdate& next, std::size_t width, const LuUpdate& near,
                         const LuUpdate& far);
  void run_update(Surface& a, const LuUpdate& next, std::size_t width, std::size_t panel_groups,
                  const LuUpdate& near, const LuUpdate& far);
  BesideTiles take_beside();
  /// Whether products of the matrix's own blocks are computed in halves.
  bool splits_own() const { return kernels_.halves > 0 && !shape_.updates_others; }
  /// Whether a launch of so many work-groups has its tiles by tickets (nvidia/tickets.clh).
  bool keeps_panel_alone(std::size_t groups) const;
  /// Whether subtract_block() or compute_rows() has tiles half as wide, by half as many work-items;
  /// the columns and work-items of its tiles.
  bool has_narrow_tiles(const std::string& function) const;
  std::pair<std::size_t, std::size_t> tile_of(const std::string& function) const;
  KernelId halves_kernel(const char* file, const char* function) const;
  void split_operands(Surface& a, std::size_t k, std::size_t k_end);
  void subtract_halves(const Surface& a, const LuUpdate& of, const split_block& block);
  void update_by_halves(const Triangle& l, std::size_t k, std::size_t width, const Columns& a);
  void split(const Surface& a, std::size_t m, std::size_t n, std::size_t k, std::size_t k_end,
             const split_block& block);
  void factor_by_narrow(Surface& a, std::size_t panel, std::size_t width);
  /// Columns first : end, once they have the products of columns before : first of L.
  void factor_narrow(Surface& a, std::size_t before, std::size_t first, std::size_t end);
  void factor_by_launches(Surface& a, std::size_t panel, std::size_t width);
  void list_moves(std::size_t panel, std::size_t width);

  std::size_t resident_from() const;
  void factorize(Surface& a, const Parts& parts) override;
  void solve_triangle(const Triangle& t, Surface& x) override;
  void solve_diagonal(const Triangle& t, std::size_t k, std::size_t width,
                      const Columns& x) override;
  void solve_diagonal_for_few(const Triangle& t, std::size_t k, std::size_t width,
                              Surface& x) override;
  bool solves_in_one_launch(std::size_t columns) const;
  void solve_waiting(const Triangle& t, std::size_t k, std::size_t n, Surface& x);
  /// a(K, :) = inv(L(K, K)) a(K, :), K = k : k+width, L unit lower: gpu/rows_of_u.cl.
  void compute_rows_of_u(const char* phase, const Triangle& l, std::size_t k, std::size_t width,
                         const Columns& a);
  /// A larger buffer, with nothing in it, if this one has less.
  void make_room(cl::Buffer& buffer, std::size_t bytes);
  void invert_blocks(const char* phase, const Triangle& l, std::size_t k, std::size_t width,
                     cl::Buffer& safe);
  /// a(K, :) likewise by products in halves, nvidia/rows_by_halves.cl, once split_triangle() has
  /// had L; whether so many rows can be.
  bool has_rows_by_halves(std::size_t width) const;
  KernelId rows_by_halves_kernel(const char* function) const;
  void split_triangle(const char* phase, const Triangle& l, std::size_t k, std::size_t width);
  void compute_rows_by_halves(const char* phase, const Triangle& l, std::size_t k,
                              std::size_t width, const Columns& a);
  void solve_block(const Triangle& t, const Columns& x, std::size_t first,
                   std::size_t rows) override;
  void subtract_block(const Triangle& t, const Columns& x, std::size_t k, std::size_t rows,
                      std::size_t first, std::size_t last) override;
  std::size_t solve_block_size() const override;

  Kernels kernels_{false, true};
  // Of a panel: so many are sure to run at the same time; of a narrow one, if it has two on a
  // multiprocessor, otherwise 0.
  std::size_t most_groups_ = 0, most_narrow_groups_ = 0;
  cl::Buffer panel_messages_;  // between work-groups, see gpu/panel_rows.clh
  std::uint64_t panel_message_bytes_ = 0;
  // In halves: L and U of columns split_k_ : split_k_end_, as split_ says, whose rows are 0 if
  // none; or L of prepare_update() and U of update_columns(). Before a block's U is there, rows
  // of U that compute_rows_by_halves() keeps.
  cl::Buffer halves_;
  split_block room_{}, split_{};
  std::size_t split_k_ = 0, split_k_end_ = 0;
  std::size_t drawn_ = 0;  // tickets so far: update_tickets
  // What is still to be enqueued of factor_beside(), in so many launches of update_and_factor.
  std::deque<Beside> beside_;
  std::size_t launches_ = 0;
  // Of dense/panel_launches.cl, for so many work-groups.
  std::size_t proposing_ = 0;
  cl::Buffer places_, copies_;
  // Of gpu/rows_of_u.cl.
  cl::Buffer inverses_, safe_;
  // Of nvidia/rows_by_halves.cl: of a triangle from prepare_update() to the last update_columns().
  cl::Buffer triangle_, triangle_safe_;
  // Of solve_waiting(): its messages, for so many rows and columns, and the half that is next.
  cl::Buffer messages_;
  std::pair<std::size_t, std::size_t> messages_for_{0, 0};
  cl_int half_ = 0;
  std::optional<ResidentLu> resident_;
  std::optional<LuNone> none_;
};

}  // namespace lugpu

// Blocked LU over several devices, of this process and of others, the block columns of A dealt to
// them cyclically (as ScaLAPACK's getrf and getrs on a 1 x P grid).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "dense/blocked.hpp"
#include "distributed/block_columns.hpp"
#include "distributed/crew.hpp"
#include "distributed/host_columns.hpp"
#include "distributed/panel_transport.hpp"
#include "distributed/row_moves.hpp"

namespace lugpu {

/// P A = L U with no or partial pivoting. A panel is whole on its device, so that pivots are chosen
/// and rows are interchanged locally. Right-looking: the next panel is brought up to date, factored
/// and sent to the others first, while all do the rest of their updates (look-ahead).
///
/// A matrix larger than the devices' memory stays in the host's, and the devices hold a window of
/// block columns at a time: left-looking, the panels left of the window come from there and are
/// applied to it first; a single device has the first window in parts, whose panels are there. L, U
/// and the pivots are the same bits for every number of devices, windows and buffers.
///
/// The devices are that of `context`, whose buffers the interface has, and options.others. They may
/// be the same one in several contexts. With options.crew, the devices of the first process come
/// first, then those of the second, and so on; the interface is the first one's, which announces
/// what the others have to do.
class DistributedLu : public DenseFactorization {
 public:
  /// Throws Unsupported as deal(), and unless A is in buffers of single elements; so does the
  /// constructor.
  static void require_room(const Device& device, const Size& size, const DenseOptions& options);
  /// In how many windows A would be held; throws as require_room().
  static std::size_t windows(const Device& device, const Size& size, const DenseOptions& options);
  DistributedLu(DeviceContext& context, const Size& size, const DenseOptions& options);
  /// Dealt otherwise than by deal(), without regard to memory: to `dealt.devices` devices.
  DistributedLu(DeviceContext& context, const Size& size, const DenseOptions& options,
                const BlockColumns& dealt);
  ~DistributedLu() override;

  /// Each block column to its home: its device, or the host.
  void upload(const MatrixView& a, const MatrixView& b) override;
  void factor() override;
  Outcome outcome() override;
  cl::Buffer apply_inverse(const cl::Buffer& b, std::size_t columns, Op op) override;
  using DenseFactorization::apply_inverse;
  cl::Buffer factors(std::size_t first, std::size_t count) override;
  std::optional<std::string> variant() const override;

  /// On the other processes: what the first one has announced or, with Lead::all, does.
  void obey(const Task& task);

  /// With Lead::all, instead of upload(): block column j of A, n x width, which owns(j).
  const BlockColumns& dealt() const { return dealt_; }
  bool owns(std::size_t j) const { return is_here(dealt_.owner(j)); }
  void take_block(std::size_t j, const MatrixView& columns);
  /// Instead of factor(), which it stands for: what was taken is L and U of P A = L U, with the
  /// ipiv of getrf. All processes call it.
  void adopt_factors(const std::vector<int>& ipiv);
  /// Instead of factors(): block column j of L and U, which owns(j), as elements of its precision,
  /// column after column.
  void give_block(std::size_t j, std::vector<char>& columns);
  int info() const { return info_; }
  const std::vector<int>& ipiv() const { return ipiv_; }

 private:
  /// What a device has.
  struct Member {
    Member(DeviceContext& context, const BlockColumns& dealt, const DenseOptions& options);

    DeviceContext& context;
    std::vector<Surface> slabs;    // its columns of A, then of L and U; in windows, while factored
    std::vector<Surface> panels;   // copies of panels, dealt.panels of them
    std::optional<Surface> moved;  // see dense/move_rows.cl; as wide as a slab, or a panel
    RowMoves moves;                // of each of the panels
    cl::Buffer info;               // of each of its panels
    cl::Buffer mark;               // see done_so_far()
    std::unique_ptr<Blocked> blocked;
    std::optional<std::size_t> prepared;  // the panel that prepare_update() was for
    bool beside;                          // whether Blocked::factor_beside() is used
    std::optional<Surface> x, moved_x;    // of solve
    Staging columns;                      // of get()
  };
  /// Rows and columns of L or U in a surface: its first element is that of row top, column left.
  struct Part {
    Surface of;
    std::size_t top, left;
  };

  /// Of a block column in a window, the first `stored` rows go home, and those of the next window
  /// come in place of the first `replaced`, once they have left.
  struct Turnover {
    std::size_t stored = 0, replaced = 0;
    cl::Event left = {};
    /// Later parts of the first window, which take its panel from its slab; until then nothing
    /// comes in place of that.
    std::size_t uses = 0;
  };

  static Shape panel_shape(const BlockColumns& dealt, const DenseOptions& options);
  void take_matrix(const cl::Buffer& columns, std::size_t first, std::size_t count) override;
  /// Calls action(j, start, first, count) for the columns of each block column j in first : first +
  /// count: `start` columns after the first of them all come columns first : first + count of j.
  template <typename Action>
  void for_blocks(std::size_t first, std::size_t count, const Action& action) const;

  void take_columns_of(std::size_t j, const cl::Buffer& columns, std::size_t first,
                       std::size_t count);
  void allocate_slabs();
  void load(std::size_t j, std::size_t row, std::size_t end, const cl::Event& left);
  static cl::Event done_so_far(Member& member);
  std::vector<cl::Event> done_so_far();
  void store_above(std::size_t j, std::size_t end, const cl::Event& done);
  void load_above(std::size_t j);
  void turn_over(std::size_t j, std::size_t from, std::size_t end,
                 std::span<const cl::Event> updated);
  void replace(std::size_t j);
  void finish() const;

  void make_members();
  bool pivoting() const { return options_.pivot != Pivot::none; }
  bool alone() const { return dealt_.devices == 1 && processes_.size() == 1; }
  bool leads() const { return processes_.rank() == 0; }
  /// Tells the other processes, if there are any, about this system.
  void announce(Task task) const;
  /// What all processes do, however long it takes: nobody may leave the others alone.
  void together(const std::function<void()>& action);

  std::size_t process_of(std::size_t device) const { return device / per_process_; }
  bool is_here(std::size_t device) const { return process_of(device) == processes_.rank(); }
  /// A device of this process.
  Member& member(std::size_t device) { return *members_[device - first_]; }
  Member& owner(std::size_t j) { return member(dealt_.owner(j)); }
  Surface& slab(std::size_t j) { return owner(j).slabs[dealt_.slab_of(j)]; }
  /// Of Member::panels.
  std::size_t slot(std::size_t j) const { return (j + first_slot_) % dealt_.panels; }
  /// Panel j without the rows above it: rows n - first(j), columns width(j).
  Surface panel(const Member& member, std::size_t j) const;
  /// Where parts of panel j end: as Blocked::part_ends() has them; as it travels, each while the
  /// next one is factored; and as the columns of the next panel get its product, which is the same
  /// for every number of devices and windows, or none if they get it as the others do.
  std::vector<std::size_t> part_ends(std::size_t j) const;
  std::vector<std::size_t> sent_ends(std::size_t j) const;
  std::vector<std::size_t> product_ends(std::size_t j) const;
  bool goes_in_parts(std::size_t j) const { return sent_ends(j).size() > 1; }
  cl::Event send_columns(std::size_t j, std::size_t first, std::size_t end, const cl::Event& ready,
                         const std::function<void()>& meanwhile);
  void share_ipiv(std::size_t j, std::size_t first, std::size_t end, const cl::Event& ready);
  void write_ipiv(Member& member, std::size_t k, std::size_t count);
  void interchange_left(std::size_t j, std::size_t first, std::size_t end);
  void update_next(std::size_t j, std::size_t product, std::size_t end);
  void subtract_from_next(std::size_t j, std::size_t product);
  enum class Direction { to_panel, from_panel };
  void copy_columns(std::size_t j, std::size_t row, const Surface& panel, Direction direction);
  void copy_to_panel(std::size_t j, std::size_t slot);
  void factor_blocks();
  void factor_windows();
  void factor_first_panel();
  void factor_window(std::size_t begin, std::size_t end);
  void factor_panel(std::size_t j, const std::vector<Blocked::Columns>& others = {});
  void publish_panel(std::size_t j);
  void complete_panel(std::size_t j);
  std::vector<cl::Event> fetch_panel(std::size_t j, std::size_t slot);
  void fetch_first(std::size_t end);
  void read_info();
  void read_ipiv();
  void mark_idle();
  void update(std::size_t d, std::size_t j, std::size_t from, std::size_t to);
  std::vector<Blocked::Columns> interchange(std::size_t d, std::size_t j, std::size_t from,
                                            std::size_t to);

  /// Columns first : first + count of block column j, on its owner or at home, and their elements
  /// in host memory: what get() returns is the reader's until it is to get others.
  void put(std::size_t j, std::size_t first, std::size_t count, const std::vector<char>& host);
  char* get(std::size_t j, std::size_t first, std::size_t count);
  /// The pivots on the diagonal, on the first process.
  std::vector<double> diagonal();

  Member& reader(std::size_t j) { return home_ ? *members_.front() : owner(j); }
  Surface in_panel(std::size_t j, std::size_t row, std::size_t rows, std::size_t slot);
  Part bring(std::size_t j, bool upper, std::size_t slot);
  Part transposed(std::size_t j, bool upper, const Part& part);
  void solve_triangle(bool upper, Op op);
  void solve_block(std::size_t j, bool upper, Op op, const Part& part);
  void bring_x(std::size_t j);
  void make_x(std::size_t columns);

  BlockColumns dealt_;
  ProcessGroup& processes_;
  std::size_t system_ = 0;         // its number among those of options.crew
  const std::size_t per_process_;  // devices of a process, of which the last ones may have nothing
  const std::size_t first_;        // the first device of this process among all
  std::vector<std::unique_ptr<Member>> members_;  // of this process
  std::optional<HostColumns> home_;               // of A, L and U if they are held in windows
  std::optional<PanelTransport> transport_;
  std::vector<int> panel_ipiv_;            // as RowMoves::ipiv()
  std::vector<int> ipiv_;                  // of Outcome
  int info_ = 0;                           // of Outcome
  std::vector<cl::Event> parts_factored_;  // each part but the last of the last panel, on its owner
  cl::Event factored_;                     // all of it
  cl::Event factored_before_;              // likewise the panel before
  std::vector<cl::Event> at_home_;         // when each panel is at home; none: it is
  std::vector<Turnover> turnover_;         // of each block column
  std::size_t first_slot_ = 0;             // of panel 0 in the window at work
  std::vector<cl::Event> leaving_;         // when what is in Member::panels has left; none: it has
  std::vector<cl::Event> idle_;  // nothing on a device uses the panel before the last any more
  std::size_t holder_ = 0;       // the device that has X
};

}  // namespace lugpu

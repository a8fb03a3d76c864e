// The schedule of blocked LU on GPUs, carried out on paper: of every column it is counted which
// panels it has had.
#include "dense/lu_schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>

namespace lugpu {
namespace {

// A matrix of which nothing is known but what has been done to its columns.
class Columns {
 public:
  explicit Columns(const LuPlan& plan) : plan_(plan), columns_(plan.n) {
    if (plan.end > 0) factor(0, std::min(plan.panel, plan.end));
  }

  // The first rule that the schedule breaks, or "".
  std::string carry_out(const std::vector<LuStep>& steps) {
    for (const LuStep& step : steps) {
      panel_ = step.panel;
      require(columns_[step.panel_end - 1].factored, step.panel, "a panel that is not factored");
      exchange(step);
      compute_rows_of_u(step.panel, step.panel_end, step.solve_end);
      if (step.block_ends) {
        compute_rows_of_u(step.block, step.panel_end, step.solve_end, plan_.n);
        split_ = {step.block, step.panel_end};
      }
      update_first(step);
      launch(step);
    }
    for (std::size_t c = 0; c < plan_.n; ++c) {
      const Column& column = columns_[c];
      const bool panel = c < plan_.end, rest = plan_.end < std::min(plan_.m, plan_.n);
      require(column.factored == panel, c, "factored");
      require(panel || column.rows_of_u == plan_.end, c, "rows of U");
      require(panel || !rest || column.updated == plan_.end, c, "updated");
      require(!plan_.interchanges || column.exchanged == panels(), c, "interchanged");
    }
    return broken_;
  }

 private:
  struct Column {
    std::size_t updated = 0;    // by so many columns of L, below the same rows of U
    std::size_t rows_of_u = 0;  // computed
    std::size_t exchanged = 0;  // by so many panels
    bool factored = false;
  };

  std::size_t panels() const { return (plan_.end + plan_.panel - 1) / plan_.panel; }

  void require(bool holds, std::size_t column, const char* what) {
    if (holds || !broken_.empty()) return;
    broken_ = "column " + std::to_string(column) + ", " + what + ", after the panel at " +
              std::to_string(panel_);
  }

  void factor(std::size_t first, std::size_t end) {
    for (std::size_t c = first; c < end; ++c) {
      Column& column = columns_[c];
      require(!column.factored, c, "factored twice");
      require(column.updated == first, c, "factored without all updates");
      require(column.rows_of_u == first, c, "factored without its rows of U");
      require(!plan_.interchanges || column.exchanged == first / plan_.panel, c,
              "factored without all interchanges");
      column.factored = true;
      if (plan_.interchanges) ++column.exchanged;
    }
  }

  // The panel's own columns have been interchanged while it was factored.
  void exchange(const LuStep& step) {
    if (!plan_.interchanges) return;
    for (std::size_t c = 0; c < step.exchange_end; ++c) {
      if (c >= step.panel && c < step.panel_end) continue;
      require(columns_[c].exchanged == step.panel / plan_.panel, c, "interchanged in order");
      ++columns_[c].exchanged;
    }
  }

  // Of columns after these, up to `end`.
  void compute_rows_of_u(std::size_t first, std::size_t last, std::size_t end) {
    compute_rows_of_u(first, last, last, end);
  }
  void compute_rows_of_u(std::size_t first, std::size_t last, std::size_t from, std::size_t end) {
    for (std::size_t c = from; c < end; ++c) {
      Column& column = columns_[c];
      require(column.updated == first, c, "rows of U without all updates");
      require(column.rows_of_u == first, c, "rows of U once and in order");
      require(!plan_.interchanges || column.exchanged == columns_[last - 1].exchanged, c,
              "rows of U before the interchanges");
      column.rows_of_u = last;
    }
  }

  void update_first(const LuStep& step) {
    if (step.first.empty()) return;
    require(split_ == std::pair(step.first.k, step.first.k_end), step.first.column,
            "first columns by the last whole block");
    std::set<std::size_t> written;
    update(step.first, written);
  }

  void launch(const LuStep& step) {
    std::set<std::size_t> written;
    for (const LuUpdate& each : {step.next, step.near, step.far}) {
      if (!each.empty()) update(each, written);
    }
    // Where a panel takes a launch a column, both are updated as one region.
    const auto& [next, near] = std::pair(step.next, step.near);
    if (!next.empty() && next.k < next.k_end && !near.empty()) {
      require(near.column == next.column_end, near.column, "next to the next panel");
      require(near.k == next.k && near.k_end == next.k_end, near.column, "updated as that is");
    }
    if (!step.far.empty()) {
      require(split_ == std::pair(step.far.k, step.far.k_end), step.far.column,
              "far columns by the last whole block");
    }
    if (step.next_width > 0) {
      require(step.next.column + step.next_width <= step.next.column_end, step.next.column,
              "the panel is in what is updated");
      factor(step.next.column, step.next.column + step.next_width);
    }
  }

  void update(const LuUpdate& of, std::set<std::size_t>& written) {
    for (std::size_t l = of.k; l < of.k_end; ++l) {
      require(columns_[l].factored, l, "L of a factored panel");
      require(columns_[l].exchanged == columns_[of.k].exchanged, l, "L interchanged");
    }
    require(of.column % 16 == 0, of.column, "begins at a multiple of 16");
    for (std::size_t c = of.column; c < of.column_end; ++c) {
      require(written.insert(c).second, c, "written twice in a launch");
      update_column(c, of.k, of.k_end);
    }
  }

  void update_column(std::size_t c, std::size_t k, std::size_t k_end) {
    Column& column = columns_[c];
    require(!column.factored, c, "updated before it is factored");
    require(column.updated == k, c, "updated once and in order");
    require(column.rows_of_u >= k_end, c, "updated with rows of U that are computed");
    require(!plan_.interchanges || columns_[k].exchanged == column.exchanged, c,
            "interchanged as L is");
    column.updated = k_end;
  }

  const LuPlan plan_;
  std::vector<Column> columns_;
  std::pair<std::size_t, std::size_t> split_{0, 0};
  std::size_t panel_ = 0;
  std::string broken_;
};

std::string broken_rule(const LuPlan& plan, const std::vector<LuStep>& steps) {
  return Columns(plan).carry_out(steps);
}

std::string described(const LuPlan& plan) {
  std::ostringstream text;
  text << plan.m << " x " << plan.n << ", panels up to " << plan.end << ", blocks of " << plan.block
       << (plan.interchanges ? ", with" : ", without") << " interchanges, " << plan.first_tiles
       << " tiles first";
  return text.str();
}

// Around panels, blocks and the last columns of each; m x n, and with columns left to others.
std::vector<LuPlan> plans() {
  constexpr std::size_t kPanel = 64;
  const std::set<std::size_t> orders = {1,   15,  16,  17,  63,  64,  65,   127,  128, 129,
                                        191, 192, 193, 319, 320, 321, 383,  384,  385, 447,
                                        448, 449, 767, 768, 769, 832, 1000, 1153, 1500};
  std::vector<LuPlan> plans;
  for (const std::size_t block : {64, 128, 192, 384}) {
    for (const std::size_t n : orders) {
      for (const bool interchanges : {true, false}) {
        for (const std::size_t m : {n, n + 200, n / 2}) {
          const std::size_t end = std::min(m, n) / 2 / block * block;
          for (const std::size_t tiles : {0, 1, 20, 132}) {
            plans.push_back({m, n, std::min(m, n), kPanel, block, interchanges, tiles});
            if (end > 0) plans.push_back({m, n, end, kPanel, block, interchanges, tiles});
          }
        }
      }
    }
  }
  return plans;
}

TEST(LuSchedule, GivesEachColumnEachPanelOnceAndInOrder) {
  for (const LuPlan& plan : plans()) {
    ASSERT_EQ(broken_rule(plan, lu_schedule(plan)), "") << described(plan);
  }
}

// Columns right of the next block get a whole block at once, in as many launches as that has
// panels, none of which has more than its share and a tile.
TEST(LuSchedule, SpreadsFarColumnsOverTheNextBlock) {
  const LuPlan plan = {5000, 5000, 5000, 64, 384, true};
  const std::vector<LuStep> steps = lu_schedule(plan);
  for (std::size_t i = 5; i + 6 < steps.size(); i += 6) {
    ASSERT_TRUE(steps[i].block_ends);
    const std::size_t far = plan.n - std::min(plan.n, steps[i].panel_end + 384);
    std::size_t columns = 0;
    for (std::size_t part = 0; part < 6; ++part) {
      const LuUpdate& update = steps[i + part].far;
      if (update.empty()) continue;
      EXPECT_EQ(update.k_end - update.k, 384u);
      EXPECT_LE(update.column_end - update.column, far / 6 + 128);
      columns += update.column_end - update.column;
    }
    EXPECT_EQ(columns, far);
  }
}

// The next panel's columns, and no more tiles than the plan has room for beside them.
TEST(LuSchedule, UpdatesTheFirstColumnsOfABlock) {
  LuPlan plan = {5000, 5000, 5000, 64, 384, true};
  for (const LuStep& step : lu_schedule(plan)) EXPECT_TRUE(step.first.empty());
  plan.first_tiles = 132;
  for (const LuStep& step : lu_schedule(plan)) {
    EXPECT_EQ(step.first.empty(), !step.block_ends || step.next_width == 0) << step.panel;
    if (step.first.empty()) continue;
    EXPECT_EQ(step.first.column, step.panel_end);
    EXPECT_GE(step.first.column_end, step.next.column_end);
    const std::size_t down = (plan.m - step.panel_end + 127) / 128;
    const std::size_t across = (step.first.column_end - step.first.column + 127) / 128;
    EXPECT_TRUE(across == 1 || across * down <= 132) << step.panel;
  }
}

// That the rules above are rules: whatever is left out, done twice or in another order breaks one.
TEST(LuSchedule, BreaksARuleIfAnythingChanges) {
  for (const bool interchanges : {true, false}) {
    const LuPlan plan = {1500, 1500, 1500, 64, 192, interchanges, 12};
    const std::vector<LuStep> right = lu_schedule(plan);
    for (std::size_t i = 0; i + 1 < right.size(); ++i) {
      for (LuUpdate LuStep::*update :
           {&LuStep::first, &LuStep::next, &LuStep::near, &LuStep::far}) {
        if ((right[i].*update).empty()) continue;
        std::vector<LuStep> steps = right;
        steps[i].*update = {};
        EXPECT_NE(broken_rule(plan, steps), "") << "left out at " << i;
        steps = right;
        (steps[i + 1].*update) = right[i].*update;
        EXPECT_NE(broken_rule(plan, steps), "") << "twice at " << i;
        steps = right;
        (steps[i].*update).column_end -= 1;
        EXPECT_NE(broken_rule(plan, steps), "") << "a column less at " << i;
      }
      std::vector<LuStep> steps = right;
      std::swap(steps[i], steps[i + 1]);
      EXPECT_NE(broken_rule(plan, steps), "") << "exchanged at " << i;
      steps = right;
      steps[i].solve_end -= 1;
      EXPECT_NE(broken_rule(plan, steps), "") << "rows of U of a column less at " << i;
      steps = right;
      steps[i].exchange_end -= 1;
      EXPECT_EQ(broken_rule(plan, steps) != "", interchanges) << "interchanges at " << i;
    }
  }
}

TEST(LuSchedule, OfNothingIsNothing) {
  EXPECT_TRUE(lu_schedule({0, 5, 0, 64, 64, true}).empty());
}

}  // namespace
}  // namespace lugpu

// Banded LU with partial pivoting for devices whose work-items are CPU threads; a work-group is one
// work-item.
//
// The band is row-major with a fixed leading dimension: A(i, j) is a[i * ld + j]. A row begins
// ld + 1 elements after the one before, so the rows do not overlap as long as no more than that is
// kept of each, and every window of the band is a dense matrix whose columns are aligned alike.
// Beside the band (and the `lower` diagonals above it that interchanges fill), each row has room
// for what a window of NB columns has in its corners, zeros at first.
//
// Columns are taken in blocks of NB. A panel is a block of columns with the `lower` + NB rows from
// its diagonal on, factored in its own workspace as in the dense case (cpu/panel.clh): its L is
// interchanged within the panel, but not by later ones. Threads share the work through the tasks of
// each panel s in order: task 0 updates block s + 1 and factors it as the next panel, the others
// update some of the blocks after it. A task needs only tasks before it, which running threads have
// taken: so a thread that has waited for long leaves, as the other one must have been interrupted,
// and until the end of the launch there is one fewer.
//
// Build options: those of cpu/tile.clh, and NB, a multiple of STRIP.

#include "cpu/tile.clh"
#include "cpu/panel.clh"
#include "cpu/unit_lower.clh"

// Places in `state`, each on a cache line of its own; all but the first are kept from launch to
// launch, 0 before the first one. After them, for each panel: its tasks that are done, and how many
// panels have been applied to its block before.
#define NEXT_TASK 0
#define PANELS 16  // factored
#define STATE_INTS 32
#define WORKSPACES 3  // of panels: one in use, the next, and one that a slow thread still reads

struct band {
  __global real *a, *w, *v;  // v: NB rows of U for each strip of a task, of this thread
  int ld, n, lower, upper;
  volatile __global int *panels, *done, *applied;
  volatile __global int* last;  // of each panel, the last column that it changes
};

inline int rows_of_panel(const struct band* b, int s) { return min(b->lower + NB, b->n - s * NB); }

inline __global real* workspace(const struct band* b, int s) {
  return b->w + (size_t)(s % WORKSPACES) * (b->lower + NB) * NB;
}

// Panel s, whose columns are in its workspace.
inline void factor_block(const struct band* b, struct panel* p, int s) {
  const int k = s * NB;
  p->a = b->a + (size_t)k * b->ld + k;
  p->pitch = b->ld;
  p->w = workspace(b, s);
  p->top = k;
  p->rows = rows_of_panel(b, s);
  p->width = min(NB, b->n - k);
  factor_panel(p);
  int last = s == 0 ? 0 : b->last[s - 1];
  for (int j = k; j < k + p->width; ++j) last = max(last, min(p->ipiv[j] + b->upper, b->n - 1));
  b->last[s] = last;
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  *b->panels = s + 1;
}

// W(first:rows, :) = A(k+first:k+rows, k:k+NB), k the first row and column of panel s
inline void load_rows(const struct band* b, int s, int first) {
  const int k = s * NB, rows = rows_of_panel(b, s);
  __global real* w = workspace(b, s);
  for (int i = first; i < rows; ++i) {
    const __global vec* from = (const __global vec*)(b->a + (size_t)(k + i) * b->ld + k);
    __global vec* to = (__global vec*)(w + (size_t)i * NB);
#pragma unroll
    for (int c = 0; c < NB / VECTOR; ++c) to[c] = from[c];
  }
}

// Panel s to the columns first : end, whole strips: interchanges, U12 = inv(L11) A12, and
//   A22 -= L21 U12,
// which goes to `target` with its pitch if that is not null.
inline void apply_panel(const struct band* b, const __global int* ipiv, int s, int first, int end,
                        __global real* target) {
  const int k = s * NB, ld = b->ld, steps = min(NB, b->n - k), below = rows_of_panel(b, s) - steps;
  const int strips = (end - first) / STRIP;
  const __global real* w = workspace(b, s);
  __global real* top = b->a + (size_t)k * ld + first;
  for (int j = 0; j < steps; ++j) {
    const int p = ipiv[k + j] - k;
    if (p != j) exchange(top + (size_t)j * ld, top + (size_t)p * ld, 2 * strips);
  }
  for (int c = 0; c < strips; ++c) {
    solve_strip(w, NB, top + c * STRIP, ld, b->v + (size_t)c * NB * STRIP, STRIP, steps);
  }
  __global real* rest = top + (size_t)NB * ld;
  for (int i = 0; i < below; i += ROWS) {
    __global real* c = rest + (size_t)i * ld;
    subtract_products(
        min(ROWS, below - i), strips, w + (size_t)(NB + i) * NB, NB, b->v, STRIP, NB * STRIP, c, ld,
        target ? target + (size_t)i * NB : c, target ? NB : ld, NB);
  }
}

// The first task of panel s.
inline void make_next_panel(const struct band* b, struct panel* p, int s) {
  const int first = (s + 1) * NB;
  if (first >= b->n) return;
  const int changed = first <= b->last[s];
  if (changed) {
    const int end = min(first + NB, (b->last[s] / STRIP + 1) * STRIP);
    if (end < first + NB) load_rows(b, s + 1, 0);
    apply_panel(b, p->ipiv, s, first, end, workspace(b, s + 1));
  }
  load_rows(b, s + 1, changed ? rows_of_panel(b, s) - NB : 0);
  factor_block(b, p, s + 1);
}

// The task that updates `count` blocks from `block` on.
inline void update_blocks(const struct band* b, const __global int* ipiv, int s, int block,
                          int count) {
  const int end = min((block + count) * NB, (b->last[s] / STRIP + 1) * STRIP);
  if (block * NB >= end) return;
  const int blocks = (end - block * NB + NB - 1) / NB;
  apply_panel(b, ipiv, s, block * NB, end, 0);
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  for (int g = block; g < block + blocks; ++g) b->applied[g] = s + 1;
}

// Whether all that a task of panel s needs is done: panel s, what the panels before it do to its
// blocks, and of task 0, all that needs what is in its workspace.
inline bool is_ready(const struct band* b, int s, int part, int tasks, int count) {
  if (*b->panels <= s) return s == 0 && part == 0;
  if (part == 0 && s + 1 >= WORKSPACES && b->done[s + 1 - WORKSPACES] < tasks) return false;
  const int block = part == 0 ? s + 1 : s + 2 + (part - 1) * count;
  const int end = block + (part == 0 ? 1 : count);
  for (int g = block; s > 0 && g < end && g * NB <= b->last[s - 1]; ++g) {
    if (b->applied[g] < s) return false;
  }
  return true;
}

// The panels first : last, each of `tasks` tasks, all but the first of `count` blocks. The first
// one of panel 0 factors that before anything else. ipiv and info as LAPACK's gbtrf, but ipiv
// counted from 0.
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void factor_band(
    __global real* a, int ld, int n, int lower, int upper, __global real* w, __global real* v,
    __global real* packed, __global real* noted_rows, __global int* ipiv, __global int* info,
    __global int* last_columns, volatile __global int* state, volatile __global int* work,
    int panels, int first, int last, int tasks, int count) {
  const int me = get_group_id(0);
  struct band b = {.a = a, .w = w, .ld = ld, .n = n, .lower = lower, .upper = upper};
  b.v = v + (size_t)me * count * NB * NB;
  b.panels = state + PANELS;
  b.done = state + STATE_INTS;
  b.applied = b.done + panels;
  b.last = last_columns;
  struct panel p = {.ipiv = ipiv, .info = info, .packed = packed, .noted_rows = noted_rows};
  p.launch = work;
  p.work = work + NOTES + 2 * NOTE_INTS;
  p.pivoted = 1;
  for (int reads = 0; reads < SPIN_LIMIT;) {
    const int task = state[NEXT_TASK];
    if (task >= (last - first) * tasks) return;
    const int s = first + task / tasks, part = task % tasks;
    ++reads;
    if (!is_ready(&b, s, part, tasks, count)) continue;
    if (atomic_cmpxchg(state + NEXT_TASK, task, task + 1) != task) continue;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    if (s == 0 && part == 0) {
      load_rows(&b, 0, 0);
      factor_block(&b, &p, 0);
    }
    if (part == 0) {
      make_next_panel(&b, &p, s);
    } else {
      update_blocks(&b, ipiv, s, s + 2 + (part - 1) * count, count);
    }
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    atomic_inc(b.done + s);
    reads = 0;
  }
}

// A panel factored by several launches a column, for GPUs whose work-groups may not wait for one
// another, and for panels of more rows than gpu/panel_partial.clh takes.

#define ITEMS 256

// Column first + j: the pivot's row, the first if several are equal, is interchanged with row first
// + j of the panel, columns first : first + width. One work-group. pivots and info as in
// gpu/panel_partial.clh.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void choose_and_exchange(
    __global real* a, int pitch, int m, int first, int width, int j, int pivoted,
    __global int* pivots, __global int* info) {
  __local bits best[ITEMS];
  __local int place[ITEMS];
  const int me = get_local_id(0);
  const int top = first + j;
  bits my_best = 0;
  int my_place = top;
  for (int i = top + me; i < m && pivoted; i += ITEMS) {
    const bits magnitude = AS_BITS(fabs(a[(size_t)i * pitch + top]));
    if (magnitude <= INFINITY_BITS && magnitude > my_best) {
      my_best = magnitude;
      my_place = i;
    }
  }
  best[me] = my_best;
  place[me] = my_place;
  for (int stride = ITEMS / 2; stride > 0; stride /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    const int other = me + stride;
    if (me < stride && (best[other] > best[me] ||
                        (best[other] == best[me] && best[me] > 0 && place[other] < place[me]))) {
      best[me] = best[other];
      place[me] = place[other];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const int pivot = best[0] > 0 ? place[0] : top;
  if (me == 0) {
    pivots[top] = pivot;
    if (a[(size_t)pivot * pitch + top] == 0 && *info == 0) *info = top + 1;
  }
  barrier(CLK_GLOBAL_MEM_FENCE);
  for (int c = first + me; c < first + width && pivot != top; c += ITEMS) {
    const real element = a[(size_t)top * pitch + c];
    a[(size_t)top * pitch + c] = a[(size_t)pivot * pitch + c];
    a[(size_t)pivot * pitch + c] = element;
  }
}

// Rows below first + j: l = A(i, first+j) / pivot, A(i, first+j+1 : first+width) -= l A(first+j,
// same).
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void eliminate_column(
    __global real* a, int pitch, int m, int first, int width, int j) {
  const int top = first + j;
  const int i = top + 1 + get_global_id(0);
  if (i >= m) return;
  __global const real* u = a + (size_t)top * pitch;
  __global real* row = a + (size_t)i * pitch;
  const real l = u[top] == 0 ? row[top] : row[top] / u[top];
  row[top] = l;
  for (int c = top + 1; c < first + width; ++c) row[c] = fma(-l, u[c], row[c]);
}

// The panel's interchanges as the two lists of gpu/panel_partial.clh. One work-group.
__kernel __attribute__((reqd_work_group_size(NB, 1, 1))) void list_moves(
    __global const int* pivots, int first, int width, __global int* row_for,
    __global int* row_goes_to) {
  const int me = get_local_id(0);
  if (me >= width) return;
  int to = first + me;
  for (int j = 0; j < width; ++j) {
    const int a = first + j, b = pivots[first + j];
    to = to == a ? b : to == b ? a : to;
  }
  row_goes_to[me] = to;
  int from = first + me;
  for (int j = width - 1; j >= 0; --j) {
    const int a = first + j, b = pivots[first + j];
    from = from == a ? b : from == b ? a : from;
  }
  row_for[me] = from;
}

// Forward and back substitution with the factors on a surface, or with their transposes, and the right-hand sides X in a
// column-major buffer of n rows, in place, a block of rows at a time: solve with the triangle of the
// block, then subtract its part from the rows that remain.

#define BLOCK 32

// out(i, :) = in(order(i), :): the interchanges of a whole factorization at once.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void gather_rows(__global const real* restrict in, __global real* restrict out,
                 __global const int* restrict order, int n) {
  const int i = get_global_id(0);
  const size_t column = (size_t)get_global_id(1) * n;
  if (i < n) out[column + i] = in[column + order[i]];
}

// Element (i, j) of the factors, or of their transpose.
inline real factor(SOURCE(lu), int i, int j, int transposed) {
  return transposed ? LOAD(lu, j, i) : LOAD(lu, i, j);
}

// X(first:last, :) = inv(L(first:last, first:last)) X(first:last, :), L unit lower triangular, or with U'
// in its place, lower triangular with its diagonal; last = min(first + BLOCK, n). One work-group for one
// right-hand side.
__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void forward_block(SOURCE(lu), __global real* x, int first, int n, int transposed) {
  __local real l[BLOCK][BLOCK + 1], y[BLOCK];
  const int me = get_local_id(0);
  const int size = min(BLOCK, n - first);
  __global real* column = x + (size_t)get_group_id(0) * n + first;
  for (int i = 0; i < size; ++i) {
    l[i][me] = me <= i ? factor(PASS(lu), first + i, first + me, transposed) : 0;
  }
  real mine = me < size ? column[me] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int j = 0; j < size; ++j) {
    if (me == j) y[j] = transposed ? mine / l[j][j] : mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me > j && me < size) mine = fma(-l[me][j], y[j], mine);
  }
  if (me < size) column[me] = y[me];
}

// X(first:last, :) = inv(U(first:last, first:last)) X(first:last, :), U upper triangular with its
// diagonal, or with L' in its place, unit upper triangular; last = min(first + BLOCK, n). One work-group for
// one right-hand side.
__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void back_block(SOURCE(lu), __global real* x, int first, int n, int transposed) {
  __local real u[BLOCK][BLOCK + 1], y[BLOCK];
  const int me = get_local_id(0);
  const int size = min(BLOCK, n - first);
  __global real* column = x + (size_t)get_group_id(0) * n + first;
  for (int i = 0; i < size; ++i) {
    u[i][me] = me >= i && me < size ? factor(PASS(lu), first + i, first + me, transposed) : 0;
  }
  real mine = me < size ? column[me] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int j = size - 1; j >= 0; --j) {
    if (me == j) y[j] = transposed ? mine : mine / u[j][j];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me < j) mine = fma(-u[me][j], y[j], mine);
  }
  if (me < size) column[me] = y[me];
}

// X(top:bottom, :) -= F(top:bottom, first:last) X(first:last, :), F the factors or their transpose
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void subtract_block(SOURCE(lu), __global real* x, int top, int bottom, int first, int last, int n,
                    int transposed) {
  const int i = top + get_global_id(0);
  if (i >= bottom) return;
  __global real* column = x + (size_t)get_global_id(1) * n;
  real sum = 0;
  for (int j = first; j < last; ++j) sum = fma(factor(PASS(lu), i, j, transposed), column[j], sum);
  column[i] -= sum;
}

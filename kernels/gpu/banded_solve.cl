// X = inv(U) inv(L) P X with the factors of gpu/banded_lu.cl: a work-group for each column, a
// window of which moves along the band.
//
// Build options: NB and ITEMS as there; ROWS is not used.

#define ME ((int)get_local_id(0))

// y = inv(T) y, NB elements; T = L (unit) or U, NB x NB by columns.
inline void solve_lower(const __local real* t, __local real* y) {
  for (int q = 0; q < NB; ++q) {
    if (ME > q && ME < NB) y[ME] = fma(-t[q * NB + ME], y[q], y[ME]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

inline void solve_upper(const __local real* t, __local real* y, int steps) {
  for (int q = steps - 1; q >= 0; --q) {
    if (ME == q) y[q] /= t[q * NB + q];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (ME < q) y[ME] = fma(-t[q * NB + ME], y[q], y[ME]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

// x(i) - T(i, 0:NB) y, T by columns of ld elements
inline real without_products(real x, const __global real* t, int ld, const __local real* y) {
  real sum = 0;
#pragma unroll 8
  for (int q = 0; q < NB; ++q) sum = fma(t[(size_t)q * ld], y[q], sum);
  return x - sum;
}

inline void load_triangle(const __global real* a, int ld, __local real* t) {
  for (int e = ME; e < NB * NB; e += ITEMS) t[e] = a[(size_t)(e / NB) * ld + e % NB];
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void solve_columns(
    const __global real* a, int ld, int n, int lower, int upper, const __global int* origin,
    const __global int* last, __global real* x) {
  __local real t[NB * NB], y[NB], top[NB];
  x += (size_t)get_group_id(0) * n;
  for (int k = 0; k < n; k += NB) {
    const int rows = min(lower + NB, n - k), steps = min(NB, n - k);
    const __global int* from = origin + (size_t)(k / NB) * (lower + NB);
    const __global real* panel = a + (size_t)k * ld + k;
    load_triangle(panel, ld, t);
    if (ME < NB) {
      top[ME] = ME < steps ? x[k + ME] : 0;
      y[ME] = ME < steps ? x[k + from[ME]] : 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    solve_lower(t, y);
    for (int i = NB + ME; i < rows; i += ITEMS) {
      const real old = from[i] < NB ? top[from[i]] : x[k + i];
      x[k + i] = without_products(old, panel + i, ld, y);
    }
    if (ME < steps) x[k + ME] = y[ME];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  }
  for (int k = (n - 1) / NB * NB; k >= 0; k -= NB) {
    const int steps = min(NB, n - k), first = max(k - lower - upper - NB, 0);
    load_triangle(a + (size_t)k * ld + k, ld, t);
    if (ME < NB) y[ME] = ME < steps ? x[k + ME] : 0;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    solve_upper(t, y, steps);
    for (int i = first + ME; i < k; i += ITEMS) {
      if (last[i / NB] >= k) x[i] = without_products(x[i], a + (size_t)k * ld + i, ld, y);
    }
    if (ME < steps) x[k + ME] = y[ME];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  }
}

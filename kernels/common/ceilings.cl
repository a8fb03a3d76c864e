// What a device can do at best, to measure solvers against. Build option: VECTOR
// (common/vector.clh); LUGPU_CPU on CPUs.

#include "common/vector.clh"

// target(0:count) = source(0:count), in pieces: vectors on CPUs, whose work-items take one each,
// and 16 bytes elsewhere, where they take four.
#ifdef LUGPU_CPU
typedef vec piece;
#define EACH_ITEM 1
#else
typedef float4 piece;
#define EACH_ITEM 4
#endif
__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void copy_bytes(
    __global const piece* restrict source, __global piece* restrict target, ulong count) {
  const size_t first = get_group_id(0) * (size_t)(EACH_ITEM * 256) + get_local_id(0);
#pragma unroll
  for (int part = 0; part < EACH_ITEM; ++part) {
    const size_t i = first + part * 256;
    if (i < count) target[i] = source[i];
  }
}

#define VECTORS 8

// 8 vectors of independent chains of `count` multiply-adds per work-item, in registers. Every
// element goes into the result: a compiler that takes vectors apart leaves out what nobody needs.
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void multiply_add(
    __global real* result, int count) {
  vec x[VECTORS];
  const vec factor = (vec)(0.999f);
  for (int v = 0; v < VECTORS; ++v) x[v] = (vec)((real)get_global_id(0) + (real)v);
  for (int i = 0; i < count; ++i) {
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) x[v] = fma(x[v], factor, factor);
  }
  vec sum = x[0];
  for (int v = 1; v < VECTORS; ++v) sum += x[v];
  VECTOR_STORE(sum, result + get_global_id(0) * VECTOR);
}

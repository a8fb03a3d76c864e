// What a device can do at best, to measure solvers against.

// target(0:count) = source(0:count), 16 bytes a work-item.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void copy_bytes(__global const float4* restrict source, __global float4* restrict target,
                ulong count) {
  const size_t i = get_global_id(0);
  if (i < count) target[i] = source[i];
}

#ifdef LUGPU_DOUBLE
typedef double16 chains;
#else
typedef float16 chains;
#endif

// 64 independent chains of `count` multiply-adds a work-item, in registers.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void multiply_add(__global real* result, int count) {
  const real start = (real)get_global_id(0) * 1e-6f;
  chains a = (chains)(start), b = a + (chains)(1.0f), c = a + (chains)(2.0f), d = a + (chains)(3.0f);
  const chains factor = (chains)(0.999f);
  for (int i = 0; i < count; ++i) {
    a = fma(a, factor, factor);
    b = fma(b, factor, factor);
    c = fma(c, factor, factor);
    d = fma(d, factor, factor);
  }
  const chains sum = a + b + c + d;
  result[get_global_id(0)] = sum.s0 + sum.s5 + sum.sa + sum.sf;
}

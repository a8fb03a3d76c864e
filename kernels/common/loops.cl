// Kernels for CPU threads rely on a work-item's loops running to their end. Mesa's llvmpipe stops
// them after 65535 iterations in total.

// done = iterations
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void count_iterations(
    __global int* done, int iterations) {
  int count = 0;
  for (int i = 0; i < iterations; ++i) count += 1;
  *done = count;
}

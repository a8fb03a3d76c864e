// A part that is nothing: its times are what kernels read from the device's clock, to be compared
// with those of the launch's event.
//
// Build option: LUGPU_PART_TIMES.

#include "common/part_times.clh"

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void read_clock(int part PART_TIMES) {
  START_PART(part);
  END_PART(part);
}

// The interchanges of a panel in L in halves.

#include "nvidia/halves_layout.clh"
#include "nvidia/halves_rows.clh"

__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void exchange_rows(
    int panel, int width, __global const int* row_for, __global const int* row_goes_to,
    split_block split, __global uchar* halves) {
  exchange_halves(panel, width, get_group_id(0), row_for, row_goes_to, split, halves);
}

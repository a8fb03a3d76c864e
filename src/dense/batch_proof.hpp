// Whether the kernels of a batch are right on a device.
#pragma once

#include "dense/batch_lu.hpp"

namespace lugpu {

/// Factors random members with `lu`, of its size, precision and pivoting: whether, for each and one
/// vector v, P A Q v is L (U v), with an error within Higham's bound n eps |L| |U| |v| (Accuracy
/// and Stability, theorem 9.3), and no element of L is above 1 if it was pivoted.
bool factors_right(BatchLu& lu);

}  // namespace lugpu

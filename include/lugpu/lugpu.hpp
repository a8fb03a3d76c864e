// lugpu: dense and sparse linear systems, and simulations, on OpenCL devices.
#pragma once

#include "lugpu/batch.hpp"
#include "lugpu/device.hpp"
#include "lugpu/error.hpp"
#include "lugpu/factorize.hpp"
#include "lugpu/options.hpp"
#include "lugpu/picture.hpp"
#include "lugpu/simulation.hpp"
#include "lugpu/solve.hpp"
#include "lugpu/sparse.hpp"
#include "lugpu/view.hpp"

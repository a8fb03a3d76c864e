// cuBLAS, opened when it is first asked for: getrfBatched, and matinvBatched for n up to 32.
#pragma once

#include "baselines/batch_rivals.hpp"

namespace lugpu {

/// Throws Unsupported if cuBLAS or the device is not there, or its memory too small.
void require_cublas(const Device& device, const BatchSize& size, Precision precision);
/// The same, and for n above 32.
void require_cublas_inverse(const Device& device, const BatchSize& size, Precision precision);

template <typename T>
std::unique_ptr<BatchContender<T>> make_cublas_getrf(const Device& device, const BatchSize& size);
template <typename T>
std::unique_ptr<BatchContender<T>> make_cublas_inverse(const Device& device, const BatchSize& size);

}  // namespace lugpu

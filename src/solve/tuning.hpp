// What `lugpu tune` found fastest on a device.
#pragma once

#include <optional>

#include "dense/options.hpp"
#include "solve/device_record.hpp"

namespace lugpu {

inline constexpr RecordSubject kTuningRecord = {"fastest by lugpu tune", "tuning"};

/// The fastest variant of a method for one pivoting, precision and order, in buffers.
struct TunedVariant {
  unsigned units;  ///< compute units of the device
  std::string method;
  Pivot pivot;
  Precision precision;
  std::size_t n;
  Texel texel;
  std::size_t nb;  ///< 0 for a method without blocks
  double seconds;  ///< of one factorization, the median

  bool operator==(const TunedVariant&) const = default;
};

using Tuning = std::vector<TunedVariant>;

/// A line of a record, e.g. "units 2 lu-blocked partial single n 1024 r nb 128 0.00193 s".
std::string describe(const TunedVariant& variant);

/// What is recorded for the device with as many compute units, and these kernels; nothing if any
/// line is not as write_tuning() leaves it.
Tuning read_tuning(const Device& device, const KernelSettings& kernels);

/// In the place of what was recorded before for as many compute units. Throws as write_record().
void write_tuning(const Device& device, const KernelSettings& kernels, const Tuning& tuning);

/// The variant of the order nearest to n by its ratio, if that is at most 2; the first of several.
const TunedVariant* find_variant(const Tuning& tuning, const std::string& method, Pivot pivot,
                                 Precision precision, std::size_t n);

}  // namespace lugpu

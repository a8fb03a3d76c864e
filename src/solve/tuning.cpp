#include "solve/tuning.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "dense/pivot_rules.hpp"

namespace lugpu {
namespace {

// The value of one of `values` whose name() it is.
template <typename Value>
std::optional<Value> named(const std::string& text, std::initializer_list<Value> values) {
  for (const Value value : values) {
    if (text == name(value)) return value;
  }
  return std::nullopt;
}

// Nothing unless describe() gives the same line again.
std::optional<TunedVariant> variant_in(const std::string& line) {
  std::istringstream words(line);
  std::string of, units, method, pivot, precision, texel, order, n, block, nb, seconds;
  words >> of >> units >> method >> pivot >> precision >> order >> n >> texel >> block >> nb >>
      seconds;
  const auto rule = pivot_named(pivot);
  const auto real = named(precision, {Precision::single_precision, Precision::double_precision});
  const auto elements = named(texel, {Texel::r, Texel::rgba});
  if (!rule || !real || !elements) return std::nullopt;
  const auto whole = [](const std::string& text) {
    return std::strtoull(text.c_str(), nullptr, 10);
  };
  const TunedVariant variant = {
      static_cast<unsigned>(whole(units)),  method, *rule, *real, whole(n), *elements, whole(nb),
      std::strtod(seconds.c_str(), nullptr)};
  if (variant.n == 0 || !(variant.seconds > 0) || describe(variant) != line) return std::nullopt;
  return variant;
}

// For every number of compute units.
Tuning all_recorded(const Device& device, const KernelSettings& kernels) {
  Tuning tuning;
  for (const std::string& line : read_record(kTuningRecord, device, kernels)) {
    const std::optional<TunedVariant> variant = variant_in(line);
    if (!variant) return {};
    tuning.push_back(*variant);
  }
  return tuning;
}

}  // namespace

std::string describe(const TunedVariant& variant) {
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.4g", variant.seconds);
  return "units " + std::to_string(variant.units) + ' ' + variant.method + ' ' +
         name(variant.pivot) + ' ' + name(variant.precision) + " n " + std::to_string(variant.n) +
         ' ' + name(variant.texel) + " nb " + std::to_string(variant.nb) + ' ' + seconds + " s";
}

Tuning read_tuning(const Device& device, const KernelSettings& kernels) {
  Tuning tuning = all_recorded(device, kernels);
  std::erase_if(tuning,
                [&](const TunedVariant& variant) { return variant.units != device.compute_units; });
  return tuning;
}

void write_tuning(const Device& device, const KernelSettings& kernels, const Tuning& tuning) {
  std::vector<std::string> lines;
  for (const TunedVariant& variant : all_recorded(device, kernels)) {
    if (variant.units != device.compute_units) lines.push_back(describe(variant));
  }
  for (const TunedVariant& variant : tuning) lines.push_back(describe(variant));
  write_record(kTuningRecord, device, kernels, lines);
}

const TunedVariant* find_variant(const Tuning& tuning, const std::string& method, Pivot pivot,
                                 Precision precision, std::size_t n) {
  const TunedVariant* nearest = nullptr;
  double distance = std::log(2) * (1 + 1e-12);  // the largest
  for (const TunedVariant& variant : tuning) {
    if (variant.method != method || variant.pivot != pivot || variant.precision != precision) {
      continue;
    }
    const double here =
        std::abs(std::log(static_cast<double>(n)) - std::log(static_cast<double>(variant.n)));
    if (n == 0 || here > distance || (nearest && here == distance)) continue;
    nearest = &variant;
    distance = here;
  }
  return nearest;
}

}  // namespace lugpu

#include "report/ticks.hpp"

#include <algorithm>
#include <cmath>

#include "report/markup.hpp"

namespace lugpu::report {
namespace {

constexpr int kMost = 7;

// A power of ten is written as such where it is far from 1.
std::string text_of(double value, int exponent, bool is_power) {
  return is_power && (exponent < -3 || exponent > 5) ? power_of_ten(exponent) : number_text(value);
}

}  // namespace

std::vector<Tick> log_ticks(double low, double high) {
  const double decades = std::log10(high) - std::log10(low);
  if (decades < std::log10(4.0)) return linear_ticks(low, high);
  constexpr double kSlack = 1e-9;  // of rounding, in decades
  const int first = static_cast<int>(std::floor(std::log10(low) - kSlack));
  const int last = static_cast<int>(std::floor(std::log10(high) + kSlack));
  const bool only_powers = decades >= 2;
  const int apart = only_powers ? static_cast<int>(decades) / kMost + 1 : 1;
  std::vector<Tick> ticks;
  for (int exponent = first; exponent <= last; ++exponent) {
    if (exponent % apart != 0) continue;
    for (const int times : {1, 2, 5}) {
      if (only_powers && times > 1) continue;
      const double value = times * std::pow(10.0, exponent);
      const double place = std::log10(value);
      if (place < std::log10(low) - kSlack || place > std::log10(high) + kSlack) continue;
      ticks.push_back({value, text_of(value, exponent, times == 1)});
    }
  }
  return ticks;
}

std::vector<Tick> linear_ticks(double low, double high) {
  const double span = high - low;
  if (!(span > 0) || !std::isfinite(span)) return {{low, number_text(low)}};
  const double power = std::pow(10.0, std::floor(std::log10(span / kMost)));
  double step = 10 * power;
  for (const double times : {5.0, 2.0, 1.0}) {
    if (span / (times * power) < kMost) step = times * power;
  }
  std::vector<Tick> ticks;
  const double first = std::ceil(low / step - 1e-9);
  for (int i = 0; i <= kMost && (first + i) * step <= high + 1e-9 * step; ++i) {
    const double value = (first + i) * step;
    ticks.push_back({value, number_text(value)});
  }
  return ticks;
}

std::vector<Tick> size_ticks(const std::vector<double>& sizes, const std::vector<double>& places) {
  constexpr double kCharacter = 6.8, kGap = 7;
  std::vector<Tick> ticks;
  double free = 0;  // left of the marks so far
  for (std::size_t i = sizes.size(); i-- > 0;) {
    const std::string text = number_text(sizes[i]);
    const double half = kCharacter * static_cast<double>(text.size()) / 2;
    if (!ticks.empty() && places[i] + half + kGap > free) continue;
    ticks.insert(ticks.begin(), {sizes[i], text});
    free = places[i] - half;
  }
  return ticks;
}

}  // namespace lugpu::report

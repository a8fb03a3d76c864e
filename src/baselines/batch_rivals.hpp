// The rivals that factor batches of small matrices: a new one is a row of the table.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dense/batch_lu.hpp"

namespace lugpu {

/// What factors a batch again and again, of one size. T: float or double.
template <typename T>
class BatchContender {
 public:
  virtual ~BatchContender() = default;
  /// a: n x n each; then as after reset().
  virtual void upload(const Batch<const T>& a) = 0;
  /// What was uploaded is there to be factored again; returns when it is.
  virtual void reset() = 0;
  /// Factors (or inverts) all members; returns when that is done.
  virtual void factor() = 0;
  /// X with A X = B by the last factor(); b, x: n x nrhs each, by columns.
  virtual void solve(const Batch<const T>& b, const Batch<T>& x) = 0;
  /// Which of several implementations it chose; null without a choice.
  virtual std::optional<std::string> variant() const { return std::nullopt; }
};

struct BatchRival {
  const char* name;            ///< on the command line and in records
  const char* implementation;  ///< whose code it is
  const char* description;     ///< one line for help texts
  Pivot pivot;
  bool on_device;
  /// Throws Unsupported if it cannot run here.
  void (*require)(const Device& device, const BatchSize& size, Precision precision);
  std::unique_ptr<BatchContender<float>> (*make_single)(const Device& device,
                                                        const BatchSize& size);
  std::unique_ptr<BatchContender<double>> (*make_double)(const Device& device,
                                                         const BatchSize& size);
};

std::span<const BatchRival> batch_rivals();
/// Throws InputError that lists the rivals if there is no such one.
const BatchRival& find_batch_rival(const std::string& name);

}  // namespace lugpu

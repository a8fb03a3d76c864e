// A method of lugpu as a contender of the benchmark: it is solved again and again.
#pragma once

#include "baselines/contender.hpp"
#include "solve/system_solver.hpp"

namespace lugpu {

/// Keeps a second copy of A and B on the device, to start again from, if there is room for it.
class MethodContender : public Contender {
 public:
  /// largest: max |a_ij| of what will be uploaded. Throws as require_possible().
  MethodContender(DeviceContext& context, const Method& method, const Problem& problem,
                  double largest);

  void upload(const MatrixView& a, const MatrixView& b) override;
  double waited_for_upload() const override { return solver_.waited_for_upload(); }
  void reset() override;
  void factor() override;
  Outcome outcome() override { return solver_.outcome(); }
  int info() override { return solver_.info(); }
  void solve() override { solver_.solve(); }
  Matrix download() override;
  void prepare() override;
  std::optional<std::string> variant() const override { return solver_.first().variant(); }
  std::optional<Refinement> refinement() const override { return solver_.refinement(); }
  std::uint64_t multiply() override;
  ApplyInverse apply_inverse() override;
  std::optional<Matrix> lu() override;
  std::optional<double> growth(double a_max) override;
  std::optional<Matrix> inverse() override;

 private:
  DeviceContext& context_;
  const Method& method_;
  Problem problem_;
  double largest_;
  SystemSolver solver_;
  std::optional<MatrixView> a_, b_;
  bool is_fresh_ = false;           // nothing has used what was uploaded
  std::optional<cl::Buffer> copy_;  // [A | B], or A alone where B stays on the host
};

}  // namespace lugpu

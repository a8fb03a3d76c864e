// Solves a small system, and says how good the answer is.
#include <cstdio>
#include <lugpu/lugpu.hpp>
#include <vector>

namespace {

const char* text(lugpu::Status status) {
  switch (status) {
    case lugpu::Status::ok:
      return "ok";
    case lugpu::Status::unchecked:
      return "unchecked";
    case lugpu::Status::failed:
      return "failed";
    case lugpu::Status::singular:
      return "singular";
  }
  return "";
}

}  // namespace

int main() try {
  //  2 x +   y +   z =  5
  //  4 x - 6 y       = -2
  // -2 x + 7 y + 2 z =  9
  const std::vector<double> a = {2, 1, 1, 4, -6, 0, -2, 7, 2};  // row after row
  const std::vector<double> b = {5, -2, 9};

  const lugpu::Context context;  // the first GPU, or the first device
  const auto solution =
      lugpu::solve(context, lugpu::View<const double>{a.data(), 3, 3, 3, lugpu::Order::rows},
                   lugpu::View<const double>{b.data(), 3, 1, 3});

  for (const double x : solution.x) std::printf("x = %.15g\n", x);
  std::printf("status: %s\n", text(solution.status()));
  const lugpu::Diagnosis& diagnosis = solution.diagnosis;
  if (diagnosis.reason) std::printf("because %s\n", diagnosis.reason->reason.c_str());
  if (const auto digits = solution.checks.digits(lugpu::Precision::double_precision)) {
    std::printf("at least %d digits are correct\n", *digits);
  }
  for (const lugpu::Warning& warning : diagnosis.warnings) {
    std::printf("warning: %s\n", warning.reason.c_str());
  }
  return solution.status() == lugpu::Status::ok ? 0 : 1;
} catch (const lugpu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

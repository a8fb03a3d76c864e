// The one exception of lugpu.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>

#include "lugpu/export.hpp"

namespace lugpu {

/// What kind of thing went wrong.
enum class ErrorKind {
  failure,      ///< something failed while running: OpenCL, memory, I/O
  bad_input,    ///< arguments or files
  unsupported,  ///< what this device cannot run; known before anything is allocated
  not_tried,    ///< kernels did not build, or memory ran out: nothing is known about answers
  no_device,    ///< no usable OpenCL device
};

/// An option that may help, e.g. {"pivot", "partial"}; value is empty for a switch. The names are
/// those of Options.
struct Remedy {
  std::string option, value;
};

/// What went wrong, in one sentence, and what may help. Singular matrices, failed checks and the
/// like are no errors but outcomes (Solution::status).
class LUGPU_API Error : public std::runtime_error {
 public:
  /// A whole sentence.
  Error(ErrorKind kind, const std::string& sentence);
  /// A sentence without its full stop, and what may help.
  Error(ErrorKind kind, const std::string& reason, Remedy remedy);
  ~Error() override;

  ErrorKind kind() const { return kind_; }
  /// The sentence, without its full stop if there is a remedy.
  const std::string& reason() const { return reason_; }
  const std::optional<Remedy>& remedy() const { return remedy_; }

 private:
  ErrorKind kind_;
  std::string reason_;
  std::optional<Remedy> remedy_;
};

}  // namespace lugpu

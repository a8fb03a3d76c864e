// The argument TRANS of LAPACK's and ScaLAPACK's routines.
#pragma once

#include <cctype>
#include <optional>

#include "lugpu/options.hpp"

namespace lugpu::lapack {

/// Of which matrix a system is; a complex conjugate is a transpose of real matrices. Absent for
/// letters that mean nothing.
inline std::optional<Op> op_of(char trans) {
  switch (std::toupper(static_cast<unsigned char>(trans))) {
    case 'N':
      return Op::none;
    case 'T':
    case 'C':
      return Op::transpose;
    default:
      return std::nullopt;
  }
}

}  // namespace lugpu::lapack

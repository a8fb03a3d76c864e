// The LAPACK that would answer if this library were not there.
#pragma once

#include <span>
#include <string>
#include <type_traits>

namespace lugpu::lapack {

/// Where the rest of LAPACK may be, e.g. "liblapack.so.3"; each drop-in library has its own.
extern const std::span<const char* const> kFiles;

/// The function `name` of the next library in the loader's order that has it, or else of kFiles and
/// what they need. Where there is none, the process ends
/// with a sentence and status 127, as it does in the loader for a missing symbol.
void* next_symbol(const std::string& name);

/// The first letter of the names of LAPACK's routines.
template <typename Real>
constexpr char kPrefix = std::is_same_v<Real, float> ? 's' : 'd';

/// The next LAPACK's routine for Real, e.g. "getrf", as a pointer to a function of type Routine.
template <typename Real, typename Routine>
Routine* next(const char* routine) {
  return reinterpret_cast<Routine*>(next_symbol(kPrefix<Real> + std::string(routine) + '_'));
}

}  // namespace lugpu::lapack

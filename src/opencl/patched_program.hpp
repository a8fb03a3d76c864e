// NVIDIA's instructions that OpenCL's compiler does not know, and more local memory than it allows.
//
// The binary of a program is PTX text there, and the driver takes such a binary back. So a kernel's
// source holds these instructions as comments of its inline assembly, and the text is changed
// between the compiler and the assembler. This rests on no specification: what comes of it has to
// be tried before it is used.
#pragma once

#include <string>

#include "opencl/device.hpp"

namespace lugpu {

/// How the text of a program for compute capability 9.0 is changed.
struct Patch {
  /// Bytes of a __local array in the source, by which it is found: no other array has as many. It
  /// holds all local memory of its kernel.
  std::size_t placeholder_bytes;
  std::size_t local_bytes;  ///< of that array in the program; NVIDIA's limit is 227 KiB
  int groups;               ///< work-groups that a multiprocessor has registers for, of each kernel
};

/// The PTX text of a program with its hidden instructions, "//@ ...", for the target sm_90a instead
/// of sm_90, with the larger array and the limit to registers. Throws Unsupported if any of the
/// places to be changed is not there as expected; every kernel must require its work-group size.
/// Source: PTX ISA, sections .target, .reqntid and .minnctapersm.
std::string patched_ptx(std::string text, const Patch& patch);

/// A program for `device` from one that was built for it from source. Throws Unsupported as
/// patched_ptx, or with the log if the driver does not build the result.
cl::Program patched_program(const cl::Program& program, const cl::Device& device,
                            const Patch& patch);

}  // namespace lugpu

/// Kernels of nvidia/ with NVIDIA's instructions emulated (tests/wgmma/), for any device.
#pragma once

#include <fstream>
#include <sstream>

#include "kernel_files.hpp"
#include "opencl_fixture.hpp"

namespace lugpu {

/// Writes to `folder` the project's kernels, those of tests/wgmma/ in the place of NVIDIA's, and in
/// `file` the local memory that `bytes` names in that of WGMMA_PLACEHOLDER_BYTES, as no program is
/// patched here. Returns where they are.
inline fs::path emulated_kernels(const Folder& folder, const std::string& file,
                                 const std::string& bytes) {
  fs::path kernels = folder.path() / "kernels";
  fs::copy(fs::path(LUGPU_SOURCE_DIR) / "kernels", kernels, fs::copy_options::recursive);
  fs::copy(fs::path(LUGPU_SOURCE_DIR) / "tests/wgmma", kernels / "nvidia",
           fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  std::stringstream text;
  text << std::ifstream(kernels / file).rdbuf();
  const std::string source = text.str(), placeholder = "WGMMA_PLACEHOLDER_BYTES";
  const std::size_t at = source.find(placeholder);
  std::ofstream(kernels / file) << source.substr(0, at) << bytes
                                << source.substr(at + placeholder.size());
  return kernels;
}

}  // namespace lugpu

// What this program was built from.
#pragma once

namespace lugpu {

const char* version();       ///< e.g. "0.1.0"
const char* git_revision();  ///< e.g. "1a2b3c4d5e6f", with "-dirty"; empty outside a checkout
const char* build_type();    ///< e.g. "Release"

}  // namespace lugpu

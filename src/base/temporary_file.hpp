// Files without a name, for what is too large to be kept in memory twice.
#pragma once

namespace lugpu {

/// The descriptor of an empty file in the temporary folder ($TMPDIR, /tmp), open for reading and
/// writing. It disappears when it is closed; the caller closes it. Throws Error (failure).
int open_temporary_file();

}  // namespace lugpu

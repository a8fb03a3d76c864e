// The pages of large memory on the host.
#pragma once

#include <cstddef>

namespace lugpu {

/// Lets all threads get the pages of memory without a value: one alone takes longer for those of a
/// large matrix than a device for its work. They are huge where the system has such. Nothing of
/// small memory.
void get_pages(void* memory, std::size_t bytes);

}  // namespace lugpu

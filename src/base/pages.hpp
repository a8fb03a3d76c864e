// The pages of large memory on the host.
#pragma once

#include <cstddef>

namespace lugpu {

/// Writes a zero to every page of memory that has no values yet, by all threads: the system clears
/// a page at the first write, and one thread takes longer for a large matrix than a device for its
/// work. Asks for huge pages. Does nothing below 64 MiB.
void get_pages(void* memory, std::size_t bytes);

}  // namespace lugpu

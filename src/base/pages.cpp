#include "base/pages.hpp"

#include <sys/mman.h>

#include <cstdint>

#include "base/parallel.hpp"

namespace lugpu {

void get_pages(void* memory, std::size_t bytes) {
  constexpr std::size_t kLarge = std::size_t{64} << 20, kPage = 4096;
  if (bytes < kLarge) return;
  char* const first = static_cast<char*>(memory);
  char* const page = first + (kPage - reinterpret_cast<std::uintptr_t>(first) % kPage) % kPage;
  const auto whole = static_cast<std::size_t>(first + bytes - page) / kPage;
  madvise(page, whole * kPage, MADV_HUGEPAGE);
  in_parallel(whole, kPage,
              [page](std::size_t k) { *static_cast<volatile char*>(page + k * kPage) = 0; });
}

}  // namespace lugpu

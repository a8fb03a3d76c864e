// A program's own XERBLA, as LAPACK's tests have one: it records what it was told.
#include <cstddef>
#include <cstring>

extern "C" {
char lugpu_wrong_routine[16];
int lugpu_wrong_position = 0;

void xerbla_(const char* routine, const int* position, std::size_t length) {
  std::memset(lugpu_wrong_routine, 0, sizeof lugpu_wrong_routine);
  std::memcpy(lugpu_wrong_routine, routine, length < 16 ? length : 15);
  lugpu_wrong_position = *position;
}
}

// Local memory of subtract_halves() and, with LUGPU_WGMMA, of update_and_factor(), subtract_block()
// and compute_rows(), in bytes: for OpenCL's compiler, and as the host makes it in the program's binary
// (src/opencl/patched_program.hpp), without and with NARROW_TILES or HALVES. No other array has the
// size of the placeholder.
#define WGMMA_PLACEHOLDER_BYTES 44432
#define WGMMA_LOCAL_BYTES 83968
#define NARROW_WGMMA_LOCAL_BYTES 67584
#define HALVES_LOCAL_BYTES 98368
/* Of compute_rows_by_halves(), for so many blocks of rows at the most. */
#define ROWS_BY_HALVES_BLOCKS 12
#define ROWS_BY_HALVES_LOCAL_BYTES 94272

// A field as a picture: the mean of `side` x `side` cells and of all planes becomes a pixel. Build
// option DIVERGING: blue, light grey, red (K. Moreland, "Diverging Color Maps for Scientific
// Visualization", 2009) instead of viridis (S. van der Walt, N. Smith 2015, CC0), which becomes
// brighter all along.

#ifdef DIVERGING
#define COLOURS 9
__constant uchar colours[3 * COLOURS] = {
    59,  76,  192, 98,  130, 234, 141, 176, 254, 184, 208, 249, 221, 221,
    221, 245, 196, 173, 244, 154, 123, 222, 96,  77,  180, 4,   38};
#else
#define COLOURS 16
__constant uchar colours[3 * COLOURS] = {
    68,  1,   84,  72,  26,  108, 71,  47,  125, 65,  68,  135, 57,  86,  140, 49,
    104, 142, 42,  120, 142, 35,  136, 142, 31,  152, 139, 34,  168, 132, 53,  183,
    121, 84,  197, 104, 122, 209, 81,  165, 219, 54,  210, 226, 27,  253, 231, 37};
#endif

// Red, green and blue at place `at` of the map, 0 to 1; magenta for what is no number.
inline uchar3 colour_at(real at) {
  if (!(at == at)) return (uchar3)(255, 0, 255);
  const real place = fmin(fmax(at, (real)0), (real)1) * (COLOURS - 1);
  const int first = min((int)place, COLOURS - 2);
  const float share = (float)(place - first);
  __constant const uchar* low = colours + 3 * first;
  return (uchar3)(convert_uchar_sat_rte(low[0] + share * (low[3] - low[0])),
                  convert_uchar_sat_rte(low[1] + share * (low[4] - low[1])),
                  convert_uchar_sat_rte(low[2] + share * (low[5] - low[2])));
}

// rgb: `width` x `height` pixels from the top; row 0 of the field is the lowest. has_solid: cells
// with a number in `solid` above 0 are grey where they are most of a pixel.
__kernel __attribute__((reqd_work_group_size(16, 4, 1))) void paint(
    SOURCE(field), SOURCE(solid), int has_solid, int4 sizes, int side, real low, real high,
    __global uchar* restrict rgb, int width, int height) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height) return;
  real sum = 0, solids = 0;
  int count = 0;
  for (int z = 0; z < sizes.z; ++z) {
    for (int j = y * side; j < min((y + 1) * side, sizes.y); ++j) {
      for (int i = x * side; i < min((x + 1) * side, sizes.x); ++i) {
        sum += LOAD(field, j + sizes.y * z, i);
        if (has_solid) solids += LOAD(solid, j + sizes.y * z, i) > 0;
        ++count;
      }
    }
  }
  uchar3 colour = colour_at((sum / count - low) / (high - low));
  if (has_solid && 2 * solids > count) colour = (uchar3)(128, 128, 128);
  vstore3(colour, x + (size_t)(height - 1 - y) * width, rgb);
}

// A field as red, green and blue bytes, row after row from the top.

#define LAST_COLOUR 16

// Every sixteenth of cividis (Nunez, Anderton, Renslow 2018, PLOS ONE 13(7)), from matplotlib, CC0:
// its lightness grows evenly, so that it can be printed in black and white.
__constant float sequential[LAST_COLOUR + 1][3] = {
    {0.000f, 0.135f, 0.305f}, {0.000f, 0.179f, 0.415f}, {0.103f, 0.220f, 0.436f},
    {0.195f, 0.264f, 0.426f}, {0.264f, 0.308f, 0.423f}, {0.324f, 0.351f, 0.426f},
    {0.381f, 0.395f, 0.436f}, {0.435f, 0.440f, 0.451f}, {0.489f, 0.485f, 0.471f},
    {0.548f, 0.532f, 0.472f}, {0.609f, 0.580f, 0.464f}, {0.672f, 0.629f, 0.448f},
    {0.736f, 0.681f, 0.424f}, {0.803f, 0.734f, 0.390f}, {0.871f, 0.790f, 0.343f},
    {0.941f, 0.848f, 0.276f}, {0.996f, 0.909f, 0.218f}};

// Blue, white and red; the lightness falls evenly from the middle to both ends.
__constant float3 below = (float3)(0.13f, 0.25f, 0.58f), above = (float3)(0.60f, 0.08f, 0.14f);

// t: in [0, 1]
inline float3 colour_of(float t, int diverging) {
  if (diverging) return mix((float3)(1.0f), t < 0.5f ? below : above, fabs(2.0f * t - 1.0f));
  const int i = min((int)(t * LAST_COLOUR), LAST_COLOUR - 1);
  const float part = t * LAST_COLOUR - i;
  return mix((float3)(sequential[i][0], sequential[i][1], sequential[i][2]),
             (float3)(sequential[i + 1][0], sequential[i + 1][1], sequential[i + 1][2]), part);
}

// A pixel is the mean of `reduce` x `reduce` columns of nz cells, or a part of one column. The
// value low has the first colour, low + 1 / slope the last.
__kernel __attribute__((reqd_work_group_size(16, 8, 1))) void paint(
    SOURCE(field), SOURCE(solid), int has_solid, __global uchar* restrict rgb, int nx, int ny,
    int nz, int magnify, int reduce, real low, real slope, int diverging) {
  const int width = (nx + reduce - 1) / reduce * magnify,
            height = (ny + reduce - 1) / reduce * magnify;
  const int px = get_global_id(0), py = get_global_id(1);
  if (px >= width || py >= height) return;
  const int x0 = px / magnify * reduce, y0 = (height - 1 - py) / magnify * reduce;
  const int x1 = min(x0 + reduce, nx), y1 = min(y0 + reduce, ny);
  real sum = 0;
  int count = 0;
  for (int z = 0; z < nz; ++z) {
    for (int y = y0; y < y1; ++y) {
      for (int x = x0; x < x1; ++x) {
        if (has_solid && LOAD(solid, y + ny * z, x) > (real)0.5) continue;
        sum += LOAD(field, y + ny * z, x);
        ++count;
      }
    }
  }
  float3 colour = (float3)(0.5f);
  if (2 * count >= (x1 - x0) * (y1 - y0) * nz) {
    const real value = (sum / count - low) * slope;
    const bool finite = (AS_BITS(value) & INFINITY_BITS) != INFINITY_BITS;
    colour =
        finite ? colour_of((float)clamp(value, (real)0, (real)1), diverging) : (float3)(1, 0, 1);
  }
  const uchar3 bytes = convert_uchar3_sat_rte(255.0f * colour);
  vstore3(bytes, (size_t)py * width + px, rgb);
}

// A vector on a grid as its red and its black points, and back.

#include "common/vectors.clh"
#include "grid/colours.clh"

// Texel t of row i; zeros if there is none.
inline pack texel_of(SOURCE(s), int i, int t, int columns) {
  return t < TEXELS(columns) ? LOAD_PACK(s, i, t) : (pack)0;
}

// The elements of 2 PACK columns at even places, and those at odd ones.
#if PACK == 1
#define EVEN(first, second) (first)
#define ODDS(first, second) (second)
#else
#define EVEN(first, second) (pack)((first).even, (second).even)
#define ODDS(first, second) (pack)((first).odd, (second).odd)
#endif

// The PACK columns of texel t, from the elements at even and at odd places of 2 PACK columns.
inline pack interleaved(int t, pack even, pack odds) {
#if PACK == 1
  return t % 2 == 0 ? even : odds;
#else
  pack value;
  if (t % 2 == 0) {
    value.even = even.lo;
    value.odd = odds.lo;
  } else {
    value.even = even.hi;
    value.odd = odds.hi;
  }
  return value;
#endif
}

__kernel WORK_GROUP void split(SOURCE(x), TARGET(red), TARGET(black), int nx, int ny, int rows,
                               int walk) {
  const int end = MY_TEXELS_END(HALF(nx)), count = MY_ROWS(rows);
  for (int w = 0; w < count; ++w) {
    const int i = MY_ROW(w), odd = ODD(i % ny, i / ny, 0);
    for (int t = MY_FIRST_TEXEL; t < end; ++t) {
      const pack first = texel_of(PASS(x), i, 2 * t, nx);
      const pack second = texel_of(PASS(x), i, 2 * t + 1, nx);
      const pack even = within(t, COUNT(nx, 0), EVEN(first, second), 0);
      const pack others = within(t, COUNT(nx, 1), ODDS(first, second), 0);
      STORE_PACK(red, i, t, odd ? others : even);
      STORE_PACK(black, i, t, odd ? even : others);
    }
  }
}

__kernel WORK_GROUP void merge(SOURCE(red), SOURCE(black), TARGET(x), int nx, int ny, int rows,
                               int walk) {
  const int end = MY_TEXELS_END(nx), count = MY_ROWS(rows);
  for (int w = 0; w < count; ++w) {
    const int i = MY_ROW(w), odd = ODD(i % ny, i / ny, 0);
    for (int t = MY_FIRST_TEXEL; t < end; ++t) {
      const pack reds = LOAD_PACK(red, i, t / 2), blacks = LOAD_PACK(black, i, t / 2);
      const pack value = odd ? interleaved(t, blacks, reds) : interleaved(t, reds, blacks);
      STORE_PACK(x, i, t, within(t, nx, value, 0));
    }
  }
}

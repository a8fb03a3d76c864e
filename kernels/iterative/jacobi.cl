// The second half of a sweep of Jacobi's method for any matrix: x_new = x - d q with q = A x - b
// and d the inverse diagonal of A, element by element.

#include "common/vectors.clh"

__kernel WORK_GROUP void jacobi(UPDATED(x), SOURCE(d), SOURCE(q), int rows, int columns, int walk) {
  const int t = get_global_id(0);
  for (int w = 0; w < walk; ++w) {
    const int i = MY_ROW(w);
    if (i < rows && t * PACK < columns) {
      FETCH(x, i + 1, t);
      FETCH(d, i + 1, t);
      FETCH(q, i + 1, t);
      STORE_PACK(x_new, i, t, LOAD_PACK(x, i, t) - LOAD_PACK(d, i, t) * LOAD_PACK(q, i, t));
    }
    IN_STEP;
  }
}

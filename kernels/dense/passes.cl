// The passes of LU and Gauss-Jordan decomposition that need no options of their own: those into
// which the LU-GPU paper cuts an elimination step, a launch for each; what follows the steps of
// dense/fused.cl and dense/full_pivoting.cl; the substitution with the factors. One program,
// because compilers take long to start.

#include "common/copy.clh"
#include "dense/interchange.clh"
#include "dense/normalize.clh"
#include "dense/rowop.clh"
#include "dense/pivot_search.clh"
#include "dense/finish.clh"
#include "dense/substitute.clh"

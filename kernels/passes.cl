// The passes of LU and Gauss-Jordan decomposition that need no options of their own: those into
// which the LU-GPU paper cuts an elimination step, a launch for each; what follows the steps of
// fused.cl and full_pivoting.cl; the substitution with the factors. One program, because compilers
// take long to start.

#include "copy.clh"
#include "interchange.clh"
#include "normalize.clh"
#include "rowop.clh"
#include "pivot_search.clh"
#include "finish.clh"
#include "substitute.clh"

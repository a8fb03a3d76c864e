// The passes into which the LU-GPU paper cuts an elimination step, a launch for each; pivot_search.cl has
// the searches before them.

#include "copy.clh"
#include "interchange.clh"
#include "normalize.clh"
#include "rowop.clh"

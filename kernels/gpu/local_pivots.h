// Local pivots, for kernels and for the host.

// Rows of a panel, its first, among which pivots are chosen.
#define LOCAL_PIVOT_ROWS 128
// What *info becomes, unless it says something else, if an element of L below these rows is larger
// than LARGEST_ELEMENT: dense/options.hpp's kLargeElement.
#define LARGE_ELEMENT -2
#define LARGEST_ELEMENT 256

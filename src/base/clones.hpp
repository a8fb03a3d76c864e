// Loops of the host for several generations of processors.
#pragma once

// The best of a function's clones is chosen when the program starts. Sanitizers run before that,
// and clang has no clones of templates.
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define LUGPU_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define LUGPU_CLONES
#endif

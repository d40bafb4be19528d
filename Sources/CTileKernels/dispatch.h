// Which path runs.
#ifndef TK_DISPATCH_H
#define TK_DISPATCH_H

#include "CTileKernels.h"

#if defined(__x86_64__)
// Cheap enough to ask for each tile: a load and a test.
static inline int tk_use_avx2(tk_path path) { return path != tk_path_portable && __builtin_cpu_supports("avx2"); }
#endif

#endif

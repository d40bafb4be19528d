// The system's zlib; nothing of it is copied here.
#ifndef TILECACHE_CTILEZLIB_SHIM_H
#define TILECACHE_CTILEZLIB_SHIM_H
#include <zlib.h>
#endif

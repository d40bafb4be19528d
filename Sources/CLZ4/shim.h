// The LZ4 block API of the system's liblz4; nothing of it is copied here.
#ifndef TILECACHE_CLZ4_SHIM_H
#define TILECACHE_CLZ4_SHIM_H
#include <lz4.h>
#endif

// The system's libpng; nothing of it is copied here.
#ifndef TILECACHE_CTILEPNG_SHIM_H
#define TILECACHE_CTILEPNG_SHIM_H
#include <png.h>
#endif

// The system's expat; nothing of it is copied here.
#ifndef TILECACHE_CTILEEXPAT_SHIM_H
#define TILECACHE_CTILEEXPAT_SHIM_H
#include <expat.h>
#endif

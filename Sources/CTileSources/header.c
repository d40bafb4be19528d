/* Compiles the header by itself; its functions are written in Swift, in TileSourcesC. */
#include "tilecache_sources.h"

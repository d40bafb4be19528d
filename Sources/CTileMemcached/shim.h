// The system's libmemcached.
#ifndef TILECACHE_CTILEMEMCACHED_SHIM_H
#define TILECACHE_CTILEMEMCACHED_SHIM_H
#include <libmemcached/memcached.h>
#endif

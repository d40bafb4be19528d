// The system's libwebp; nothing of it is copied here.
#ifndef TILECACHE_CTILEWEBP_SHIM_H
#define TILECACHE_CTILEWEBP_SHIM_H
#include <webp/decode.h>
#include <webp/encode.h>
#endif

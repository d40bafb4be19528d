// The system's OpenSlide, 3.4 or newer.
#ifndef TILECACHE_COPENSLIDE_SHIM_H
#define TILECACHE_COPENSLIDE_SHIM_H
#include <dlfcn.h>
#include <openslide.h>

// Gives a slide a cache of its own without room, since tiles are kept elsewhere. 0 if this version, older than 4.0, cannot:
// then each slide keeps up to 32 MiB of decoded tiles.
static inline int tile_openslide_drop_cache(openslide_t *slide) {
    void *create = dlsym(RTLD_DEFAULT, "openslide_cache_create");
    void *set = dlsym(RTLD_DEFAULT, "openslide_set_cache");
    void *release = dlsym(RTLD_DEFAULT, "openslide_cache_release");
    if (!create || !set || !release) return 0;
    void *cache = ((void *(*)(size_t))create)(0);
    ((void (*)(openslide_t *, void *))set)(slide, cache);
    ((void (*)(void *))release)(cache);
    return 1;
}
#endif

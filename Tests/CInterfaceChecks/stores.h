#ifndef STORES_H
#define STORES_H

#include "support.h"

#ifndef CHECKS_CORE_ONLY

#include <tilecache_sources.h>

/* Returns from the check with the failure of a part of it. */
#define CHECK(call) \
    do { \
        const char *failure = (call); \
        if (failure) return failure; \
    } while (0)

/* Creates an empty folder. */
const char *make_empty_folder(char folder[512]);
/* The same, and the address of a store in it with room for a suffix. */
const char *make_folder(char folder[512], char address[600]);
void remove_folder(const char *folder);
/* A cache with one store. It loads only drawn tiles and always asks the store first. The source is write_tile if
 * none is given. */
const char *make_store_scene(
    scene *scene, tilecache_store *store, size_t options_size, const tilecache_source *other);
/* Draws 16 tiles and checks that their pixels are those of version 0. */
const char *draw_stored(scene *scene);
tilecache_store_counts counts_of(tilecache_cache *cache);

#endif

#endif

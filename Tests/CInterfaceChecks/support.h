#ifndef SUPPORT_H
#define SUPPORT_H

#include "CInterfaceChecks.h"

#include <stdatomic.h>
#include <tilecache.h>

/* Returns from the check with the place and text of a failed condition. */
#define EXPECT(condition) \
    do { \
        if (!(condition)) return failed(__FILE__, __LINE__, #condition); \
    } while (0)
#define EXPECT_OK(call) EXPECT((call) == TILECACHE_OK)
#define EXPECT_ARGUMENT(call) EXPECT((call) == TILECACHE_ERROR_INVALID_ARGUMENT && tilecache_last_error()[0] != 0)

const char *failed(const char *file, int line, const char *text);

void pause_ms(int milliseconds);

/* A source whose pixels identify their tile; its outcome depends on the column. */
typedef struct source_state {
    atomic_int loads, ends, version;
    tilecache_outcome outcome;      /* for odd columns; even ones have pixels */
    int64_t retry_after;
} source_state;

uint32_t expected_pixel(tilecache_coordinate tile, int version);
tilecache_outcome write_tile(void *context, tilecache_pixels *pixels);
void end_source(void *context);
/* Whether all of a tile is what write_tile wrote for one version. */
int holds(const tilecache_tile *tile, int version);

/* A cache with one layer of 16 x 16 tiles of 64 x 64 pixels at its finest, level 4, and a view of it. */
typedef struct scene {
    tilecache_cache *cache;
    tilecache_layer layer;
    tilecache_view *view;
    source_state state;
} scene;

const char *make_scene(scene *scene, tilecache_request_function request, void *context);
/* The same with a given source and limit. */
const char *make_scene_of(scene *scene, const tilecache_source *source, int64_t byte_limit, double effort);
/* Adds a layer of the same size to a cache. */
tilecache_status add_layer(tilecache_cache *cache, source_state *state, tilecache_write_function load,
                           const tilecache_layer_options *options, tilecache_layer *layer);
void end_scene(scene *scene);
/* A viewport of a number of tiles at full resolution, at a column and a row of tiles. */
tilecache_viewport viewport_at(double column, double row, double tiles);
/* Draws until no tile is missing, at most 20 s; returns the frame, or NULL. */
tilecache_frame *draw_until_sharp(scene *scene, double column, double row, double tiles);
tilecache_statistics statistics_of(tilecache_cache *cache);

#endif

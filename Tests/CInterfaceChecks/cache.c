/* Settings, layers, pyramids: accepted and refused values. */
#include "support.h"

#include <math.h>
#include <string.h>

static tilecache_status create_with(tilecache_configuration configuration) {
    tilecache_cache *cache = NULL;
    tilecache_status status = tilecache_create(&configuration, &cache);
    if (status == TILECACHE_OK) tilecache_destroy(cache);
    return status;
}

const char *check_configuration(void) {
    tilecache_configuration good;
    EXPECT_OK(tilecache_configuration_init(&good, sizeof good));
    EXPECT_OK(create_with(good));
    tilecache_configuration c;
#define REFUSED(assignment) \
    c = good; \
    c.assignment; \
    EXPECT(create_with(c) == TILECACHE_ERROR_INVALID_CONFIGURATION)
#define TAKEN(assignment) \
    c = good; \
    c.assignment; \
    EXPECT_OK(create_with(c))
    REFUSED(byte_limit = 0);
    REFUSED(byte_limit = INT64_MIN);
    REFUSED(byte_limit = INT64_MAX);
    TAKEN(byte_limit = 1);
    REFUSED(maximum_byte_limit = -1);
    REFUSED(maximum_byte_limit = (INT64_C(1) << 46) + 1);
    REFUSED(maximum_byte_limit = good.byte_limit - 1);
    TAKEN(maximum_byte_limit = good.byte_limit);
    REFUSED(workers = 0);
    REFUSED(workers = 256);
    REFUSED(workers = INT32_MIN);
    TAKEN(workers = 1);
    TAKEN(workers = 255);
    REFUSED(compressed_share = NAN);
    REFUSED(compressed_share = 1.001);
    REFUSED(compressed_share = -0.5);
    TAKEN(compressed_share = 0);
    TAKEN(compressed_share = 1);
    REFUSED(effort = NAN);
    REFUSED(effort = INFINITY);
    REFUSED(effort = -0.001);
    TAKEN(effort = 0);
    TAKEN(effort = 1);
    REFUSED(expected_load_latency = -1);
    TAKEN(expected_load_latency = INT64_C(3600000000000));
    REFUSED(expected_load_latency = INT64_C(3600000000001));
    REFUSED(retry_delay = 0);
    TAKEN(retry_delay = 1);
    TAKEN(retry_delay = INT64_C(60000000000));
    REFUSED(retry_delay = INT64_C(60000000001));
    REFUSED(stuck_load_time = 999999);
    TAKEN(stuck_load_time = 1000000);
    TAKEN(stuck_load_time = INT64_MAX);
    REFUSED(slow_callback_time = -1);
    TAKEN(slow_callback_time = 0);
    TAKEN(uses_compressed_tier = 0);
    TAKEN(fits_level_to_budget = -1);

    tilecache_cache *cache = NULL;
    int64_t limit = 0;
    EXPECT_OK(tilecache_create(NULL, &cache));
    EXPECT_ARGUMENT(tilecache_set_byte_limit(cache, 0));
    EXPECT_ARGUMENT(tilecache_trim(cache, -1));
    EXPECT_ARGUMENT(tilecache_shutdown(cache, -1));
    /* The maximum is four times the configured limit. */
    EXPECT_OK(tilecache_set_byte_limit(cache, 256 << 20));
    EXPECT(tilecache_set_byte_limit(cache, (256 << 20) + 1) == TILECACHE_ERROR_LIMIT_CLAMPED);
    EXPECT(strstr(tilecache_last_error(), "is now 268435456 bytes; 268435457 is") != NULL);
    EXPECT(tilecache_set_byte_limit(cache, INT64_MAX) == TILECACHE_ERROR_LIMIT_CLAMPED);
    EXPECT_OK(tilecache_get_byte_limit(cache, &limit));
    EXPECT(limit == 256 << 20);
    EXPECT_OK(tilecache_trim(cache, INT64_MAX));
    tilecache_destroy(cache);
    return NULL;
}

/* Adds a layer whose source counts its release; `state` has the count before. */
static tilecache_status add(tilecache_cache *cache, source_state *state, const tilecache_pyramid *pyramid,
                            const tilecache_layer_options *options, tilecache_layer *layer) {
    tilecache_source source;
    tilecache_source_init(&source, sizeof source);
    source.context = state;
    source.destroy = end_source;
    source.load = write_tile;
    return tilecache_add_layer(cache, &source, pyramid, options, layer);
}

static void never_asked(void *context, tilecache_request *request) {
    (void)context;
    tilecache_request_release(request);
}

const char *check_layers(void) {
    source_state state = {0};
    tilecache_cache *cache = NULL;
    tilecache_layer layer = -1;
    tilecache_pyramid pyramid;
    tilecache_layer_options options, good;
    EXPECT_OK(tilecache_create(NULL, &cache));
    EXPECT_OK(tilecache_pyramid_init(&pyramid, sizeof pyramid));
    pyramid.world_width = pyramid.world_height = 4096;
    EXPECT_OK(tilecache_layer_options_init(&good, sizeof good));

    options = good;
    options.format = TILECACHE_FORMAT_OPAQUE + 1;
    EXPECT_ARGUMENT(add(cache, &state, &pyramid, &options, &layer));
    options.format = -1;
    EXPECT_ARGUMENT(add(cache, &state, &pyramid, &options, &layer));
    options.format = TILECACHE_FORMAT_OPAQUE;
    EXPECT_ARGUMENT(add(cache, &state, &pyramid, &options, &layer));
    options.opaque_bytes_per_tile = INT64_MAX;
    EXPECT(add(cache, &state, &pyramid, &options, &layer) == TILECACHE_ERROR_INVALID_LAYER);
    options = good;
    options.alpha = 3;
    EXPECT_ARGUMENT(add(cache, &state, &pyramid, &options, &layer));
    tilecache_pyramid large = pyramid;
    large.tile_size = 1 << 30;
    EXPECT(add(cache, &state, &large, NULL, &layer) == TILECACHE_ERROR_INVALID_LAYER);

    /* Neither function, then both. */
    tilecache_source source;
    EXPECT_OK(tilecache_source_init(&source, sizeof source));
    source.destroy = end_source;
    source.context = &state;
    EXPECT_ARGUMENT(tilecache_add_layer(cache, &source, &pyramid, NULL, &layer));
    source.load = write_tile;
    source.request = never_asked;
    EXPECT_ARGUMENT(tilecache_add_layer(cache, &source, &pyramid, NULL, &layer));

    /* A refused call leaves the context to the caller. */
    EXPECT(state.ends == 0 && layer == -1);

    /* Every format is accepted; layers are numbered. */
    for (tilecache_format format = 0; format <= TILECACHE_FORMAT_OPAQUE; format++) {
        options = good;
        options.format = format;
        options.alpha = format % 3;
        options.is_compressible = format % 2;
        options.opaque_bytes_per_tile = 1000;
        EXPECT_OK(add(cache, &state, &pyramid, &options, &layer));
        EXPECT(layer == format);
    }
    const tilecache_rectangle region = {0, 0, 10, 10}, empty = {0, 0, 0, 10}, endless = {0, 0, INFINITY, 10};
    int32_t truth = 1;
    const tilecache_coordinate far = {INT64_MAX, INT64_MIN, INT64_MAX}, near = {0, 0, 0};
    EXPECT_ARGUMENT(tilecache_invalidate(cache, 7, NULL, 1));
    EXPECT_ARGUMENT(tilecache_invalidate(cache, -1, NULL, 1));
    EXPECT_ARGUMENT(tilecache_invalidate(cache, 0, &empty, 1));
    EXPECT_ARGUMENT(tilecache_invalidate(cache, 0, &endless, 1));
    EXPECT_OK(tilecache_invalidate(cache, 6, &region, 0));
    EXPECT_ARGUMENT(tilecache_pin(cache, 7, 0, 0, NULL));
    EXPECT_ARGUMENT(tilecache_pin(cache, 0, 1, 0, NULL));
    EXPECT_ARGUMENT(tilecache_pin(cache, 0, -1, 0, NULL));
    EXPECT_ARGUMENT(tilecache_pin(cache, 0, 0, 0, &endless));
    EXPECT(tilecache_pin(cache, 0, 9, INT64_MAX, NULL) == TILECACHE_ERROR_INVALID_CONFIGURATION);
    EXPECT(tilecache_pin(cache, 4, 0, INT64_MAX, NULL) == TILECACHE_ERROR_INVALID_CONFIGURATION);
    EXPECT_ARGUMENT(tilecache_unpin(cache, 7, 0, INT64_MAX, NULL));
    EXPECT_ARGUMENT(tilecache_is_resident(cache, 7, near, &truth));
    EXPECT_OK(tilecache_is_resident(cache, 0, far, &truth));
    EXPECT(truth == 0);
    const tilecache_layer twice[] = {1, 1}, unknown[] = {0, 7};
    tilecache_view *view = NULL;
    EXPECT_ARGUMENT(tilecache_view_create(cache, twice, 2, NULL, &view));
    EXPECT_ARGUMENT(tilecache_view_create(cache, unknown, 2, NULL, &view));
    EXPECT_ARGUMENT(tilecache_view_create(cache, twice, 0, NULL, &view));
    EXPECT_ARGUMENT(tilecache_view_create(cache, twice, SIZE_MAX, NULL, &view));
    EXPECT(view == NULL);

    EXPECT_OK(tilecache_shutdown(cache, INT64_C(20000000000)));
    EXPECT(state.ends == 7);
    EXPECT(add(cache, &state, &pyramid, NULL, &layer) == TILECACHE_ERROR_SHUT_DOWN);
    EXPECT(tilecache_view_create(cache, twice, 1, NULL, &view) == TILECACHE_ERROR_SHUT_DOWN);
    tilecache_destroy(cache);
    EXPECT(state.ends == 7);
    return NULL;
}

static tilecache_status add_pyramid(const tilecache_pyramid *pyramid) {
    source_state state = {0};
    tilecache_cache *cache = NULL;
    tilecache_layer layer;
    if (tilecache_create(NULL, &cache) != TILECACHE_OK) return -1;
    tilecache_status status = add(cache, &state, pyramid, NULL, &layer);
    tilecache_shutdown(cache, INT64_C(20000000000));
    tilecache_destroy(cache);
    return status;
}

/* A level as a later version may have it. */
typedef struct longer_level {
    tilecache_level known;
    int64_t unknown;
} longer_level;

const char *check_pyramids(void) {
    tilecache_pyramid good, p;
    EXPECT_OK(tilecache_pyramid_init(&good, sizeof good));
    EXPECT(good.tile_size == 256 && good.level_size == sizeof(tilecache_level) && good.levels == NULL);
    EXPECT(add_pyramid(&good) == TILECACHE_ERROR_INVALID_PYRAMID);
    good.world_width = good.world_height = 1000;
    EXPECT_OK(add_pyramid(&good));
#define BAD(assignment) \
    p = good; \
    p.assignment; \
    EXPECT(add_pyramid(&p) == TILECACHE_ERROR_INVALID_PYRAMID)
    BAD(world_width = NAN);
    BAD(world_width = INFINITY);
    BAD(world_width = -1);
    BAD(world_height = 0.5);
    BAD(world_height = 1e300);
    BAD(world_height = (double)(INT64_C(1) << 40) + 1);
    BAD(tile_size = 0);
    BAD(tile_size = (1 << 30) + 1);
    BAD(tile_size = INT64_MIN);
    BAD(border = -1);
    EXPECT(strstr(tilecache_last_error(), "a border of 0 to 2^20 pixels is expected, not -1") != NULL);
    BAD(border = (1 << 20) + 1);
    BAD(border = INT64_MAX);
    p = good;
    p.level_count = 1;
    EXPECT_ARGUMENT(add_pyramid(&p));

    /* A table with steps of four, its elements longer than the library's. */
    longer_level levels[2];
    memset(levels, 0, sizeof levels);
    for (int index = 0; index < 2; index++) {
        levels[index].known.width = levels[index].known.height = index ? 1000 : 250;
        levels[index].known.tile_width = levels[index].known.tile_height = 100;
        levels[index].known.world_pixels_per_pixel = index ? 1 : 4;
        levels[index].known.border = 1;
    }
    good.levels = &levels[0].known;
    good.level_count = 2;
    good.level_size = sizeof levels[0];
    EXPECT_OK(add_pyramid(&good));
    good.wraps_x = 1;
    EXPECT_OK(add_pyramid(&good));
    levels[1].unknown = 1;
    EXPECT(add_pyramid(&good) == TILECACHE_ERROR_UNSUPPORTED);
    EXPECT(strstr(tilecache_last_error(), "levels[1]") != NULL);
    levels[1].unknown = 0;
    BAD(level_count = 65);
    BAD(level_count = SIZE_MAX);
    BAD(level_count = 0);
    p = good;
    p.level_size = sizeof(tilecache_level) - 1;
    EXPECT_ARGUMENT(add_pyramid(&p));
    p.level_size = SIZE_MAX;
    EXPECT_ARGUMENT(add_pyramid(&p));
    BAD(world_height = NAN);
    const longer_level kept = levels[0];
#define BAD_LEVEL(assignment) \
    levels[0].known.assignment; \
    EXPECT(add_pyramid(&good) == TILECACHE_ERROR_INVALID_PYRAMID); \
    levels[0] = kept
    BAD_LEVEL(width = 0);
    BAD_LEVEL(height = INT64_MIN);
    BAD_LEVEL(width = INT64_MAX);
    BAD_LEVEL(tile_width = 0);
    BAD_LEVEL(tile_height = INT64_MAX);
    BAD_LEVEL(border = -1);
    BAD_LEVEL(border = INT64_MAX);
    BAD_LEVEL(world_pixels_per_pixel = 1);
    BAD_LEVEL(world_pixels_per_pixel = NAN);
    BAD_LEVEL(origin_x = INFINITY);
    BAD_LEVEL(origin_y = NAN);
    EXPECT_OK(add_pyramid(&good));
    /* Scales from the sizes. Two levels of one size have no order. */
    levels[0].known.world_pixels_per_pixel = levels[1].known.world_pixels_per_pixel = 0;
    EXPECT_OK(add_pyramid(&good));
    levels[0].known.width = levels[0].known.height = 1000;
    EXPECT(add_pyramid(&good) == TILECACHE_ERROR_INVALID_PYRAMID);
    return NULL;
}

/* Shares of the limit, generated levels, memory pressure, and the watchdog's counts. */
#include "support.h"

#include <math.h>
#include <string.h>

/* Draws a layer's tiles until all that its share allows are resident: at most 20 s. */
static const char *fill(tilecache_cache *cache, tilecache_layer layer, double tiles) {
    scene scene = {.cache = cache, .layer = layer};
    EXPECT_OK(tilecache_view_create(cache, &layer, 1, NULL, &scene.view));
    tilecache_frame *frame = draw_until_sharp(&scene, 0, 0, tiles);
    EXPECT(frame != NULL);
    tilecache_frame_release(frame);
    tilecache_view_destroy(scene.view);
    return NULL;
}

const char *check_shares(void) {
    source_state state = {0};
    tilecache_configuration configuration;
    tilecache_cache *cache = NULL;
    tilecache_layer layer = -1, other = -1;
    tilecache_layer_options good, options;
    EXPECT_OK(tilecache_configuration_init(&configuration, sizeof configuration));
    configuration.byte_limit = 2 << 20;
    configuration.effort = 0;
    configuration.uses_compressed_tier = 0;
    EXPECT_OK(tilecache_create(&configuration, &cache));
    EXPECT_OK(tilecache_layer_options_init(&good, sizeof good));

    const double bad[] = {0, -1, 1.001, NAN, INFINITY};
    for (size_t index = 0; index < sizeof bad / sizeof bad[0]; index++) {
        options = good;
        options.share_maximum = bad[index];
        EXPECT(add_layer(cache, &state, write_tile, &options, &layer) == TILECACHE_ERROR_INVALID_LAYER);
        EXPECT(strstr(tilecache_last_error(), "share") != NULL);
    }

    /* A quarter of 2 MiB is 32 tiles of 16 KiB: 9 fit at a time, 16 x 16 are drawn in turn, at most 32 stay. */
    options = good;
    options.share_maximum = 0.25;
    EXPECT_OK(add_layer(cache, &state, write_tile, &options, &layer));
    for (int column = 0; column < 13; column += 3) {
        scene scene = {.cache = cache, .layer = layer};
        EXPECT_OK(tilecache_view_create(cache, &layer, 1, NULL, &scene.view));
        for (int row = 0; row < 13; row += 3) {
            tilecache_frame *frame = draw_until_sharp(&scene, column, row, 3);
            EXPECT(frame != NULL);
            tilecache_frame_release(frame);
            EXPECT(statistics_of(cache).decoded_bytes <= 512 << 10);
        }
        tilecache_view_destroy(scene.view);
    }
    EXPECT(statistics_of(cache).decoded_tiles > 16);

    /* A program without the field has the whole limit. */
    EXPECT_OK(tilecache_layer_options_init(&options, offsetof(tilecache_layer_options, share_maximum)));
    options.share_maximum = -5;
    options.downsampling = -5;
    EXPECT_OK(add_layer(cache, &state, write_tile, &options, &other));
    EXPECT(other == 1);
    EXPECT_OK(tilecache_shutdown(cache, INT64_C(20000000000)));
    tilecache_destroy(cache);
    return NULL;
}

/* Columns of black and white, one pixel each, at the finest level, the only one of the source. */
static tilecache_outcome load_stripes(void *context, tilecache_pixels *pixels) {
    source_state *state = context;
    atomic_fetch_add(&state->loads, 1);
    if (pixels->tile.level != 4) {
        atomic_fetch_add(&state->version, 1);
        return TILECACHE_OUTCOME_FAILED_PERMANENTLY;
    }
    /* Tile 0/0 fails permanently: a hole in the tiles made from it. */
    if (pixels->tile.column == 0 && pixels->tile.row == 0) return TILECACHE_OUTCOME_FAILED_PERMANENTLY;
    unsigned char *bytes = pixels->memory;
    for (size_t index = 0; index < pixels->byte_count; index++) bytes[index] = index / 4 % 2 || index % 4 == 3 ? 255 : 0;
    return TILECACHE_OUTCOME_PIXELS;
}

const char *check_synthesis(void) {
    const tilecache_downsampling kinds[] = {TILECACHE_DOWNSAMPLING_LINEAR, TILECACHE_DOWNSAMPLING_SRGB};
    /* Half of the light is 188 in sRGB, half of the number is 128. */
    const unsigned char means[] = {128, 188};
    for (int kind = 0; kind < 2; kind++) {
        source_state state = {0};
        tilecache_cache *cache = NULL;
        tilecache_layer layer = -1;
        tilecache_layer_options options;
        /* No prefetch, so that finer tiles are requested only as children of a coarse one. */
        tilecache_configuration configuration;
        EXPECT_OK(tilecache_configuration_init(&configuration, sizeof configuration));
        configuration.effort = 0;
        EXPECT_OK(tilecache_create(&configuration, &cache));
        EXPECT_OK(tilecache_layer_options_init(&options, sizeof options));
        options.alpha = TILECACHE_ALPHA_IGNORED;
        options.downsampling = 3;
        EXPECT_ARGUMENT(add_layer(cache, &state, load_stripes, &options, &layer));
        options.downsampling = -1;
        EXPECT_ARGUMENT(add_layer(cache, &state, load_stripes, &options, &layer));
        options.downsampling = kinds[kind];
        const int32_t bad[] = {-1, INT32_MIN, 5, INT32_MAX};
        for (int index = 0; index < 4; index++) {
            options.synthesized_levels = bad[index];
            EXPECT(add_layer(cache, &state, load_stripes, &options, &layer) == TILECACHE_ERROR_INVALID_LAYER);
        }
        options.synthesized_levels = 4;
        options.format = TILECACHE_FORMAT_FLOAT32;
        options.downsampling = TILECACHE_DOWNSAMPLING_SRGB;
        EXPECT(add_layer(cache, &state, load_stripes, &options, &layer) == TILECACHE_ERROR_INVALID_LAYER);
        options.format = TILECACHE_FORMAT_RGBA8;
        options.downsampling = kinds[kind];
        EXPECT_OK(add_layer(cache, &state, load_stripes, &options, &layer));

        /* The world as one tile: 16 x 16 tiles of the source below it. */
        tilecache_view *view = NULL;
        EXPECT_OK(tilecache_view_create(cache, &layer, 1, NULL, &view));
        tilecache_viewport viewport;
        EXPECT_OK(tilecache_viewport_init(&viewport, sizeof viewport));
        viewport.width = viewport.height = 64;
        viewport.center_x = viewport.center_y = 512;
        viewport.scale = 1.0 / 16;
        tilecache_frame *frame = NULL;
        size_t count = 0;
        const tilecache_placement *placements = NULL;
        for (int attempt = 0; attempt < 4000 && count == 0; attempt++) {
            EXPECT_OK(tilecache_view_update(view, &viewport, NULL));
            EXPECT_OK(tilecache_view_frame(view, &frame));
            EXPECT_OK(tilecache_frame_get_placements(frame, sizeof *placements, &placements, &count));
            if (count == 0) {
                tilecache_frame_release(frame);
                pause_ms(5);
            }
        }
        EXPECT(count == 1 && placements[0].tile.identity.tile.level == 0);
        const unsigned char *pixels = placements[0].tile.pixels;
        /* A child is 4 x 4 pixels. */
        EXPECT(pixels[0] == 0 && pixels[3 * 256 + 12] == 0);
        EXPECT(pixels[16] == means[kind] && pixels[4 * 256] == means[kind] && pixels[63 * 256 + 252] == means[kind]);
        tilecache_frame_release(frame);
        tilecache_view_destroy(view);
        tilecache_statistics statistics = statistics_of(cache);
        EXPECT(statistics.synthesized_tiles >= 1 && statistics.synthesis_loads >= 256);
        EXPECT(statistics.synthesis_holes >= 1);
        EXPECT(atomic_load(&state.version) == 0);
        EXPECT_OK(tilecache_shutdown(cache, INT64_C(20000000000)));
        tilecache_destroy(cache);
    }
    return NULL;
}

/* Loads in flight and memory being decommitted by another thread stay counted until they end. */
static int shrinks_to(tilecache_cache *cache, int64_t bytes) {
    for (int attempt = 0; attempt < 4000 && statistics_of(cache).used_bytes > bytes; attempt++) pause_ms(5);
    return statistics_of(cache).used_bytes <= bytes;
}

const char *check_pressure(void) {
    source_state state = {0};
    tilecache_configuration configuration;
    tilecache_cache *cache = NULL;
    tilecache_layer layer = -1;
    int64_t limit = 0;
    EXPECT(tilecache_automatic_byte_limit() > 0 && tilecache_automatic_byte_limit() <= 512 << 20);
    EXPECT_OK(tilecache_configuration_init(&configuration, sizeof configuration));
    configuration.byte_limit = 4 << 20;
    configuration.uses_compressed_tier = 0;
    EXPECT_OK(tilecache_create(&configuration, &cache));
    EXPECT_OK(add_layer(cache, &state, write_tile, NULL, &layer));
    const char *failure = fill(cache, layer, 12);
    if (failure) return failure;
    EXPECT(statistics_of(cache).used_bytes > 2 << 20);

    EXPECT_ARGUMENT(tilecache_note_memory_pressure(cache, 3));
    EXPECT_ARGUMENT(tilecache_note_memory_pressure(cache, -1));
    EXPECT(statistics_of(cache).byte_limit == 4 << 20);
    EXPECT_OK(tilecache_note_memory_pressure(cache, TILECACHE_PRESSURE_WARNING));
    EXPECT(statistics_of(cache).byte_limit == 2 << 20 && shrinks_to(cache, 2 << 20));
    EXPECT(statistics_of(cache).removed_trimmed > 0);
    EXPECT_OK(tilecache_note_memory_pressure(cache, TILECACHE_PRESSURE_CRITICAL));
    EXPECT(statistics_of(cache).byte_limit == 1 << 20 && shrinks_to(cache, 1 << 20));
    EXPECT_OK(tilecache_get_byte_limit(cache, &limit));
    EXPECT(limit == 4 << 20);
    /* The limit returns in steps, not at once. */
    EXPECT_OK(tilecache_note_memory_pressure(cache, TILECACHE_PRESSURE_NORMAL));
    EXPECT(statistics_of(cache).byte_limit == 1 << 20);

    /* With or without a watch, the limit is whole again 20 seconds after the report. */
    EXPECT_OK(tilecache_watch_memory_pressure(cache, 0));
    EXPECT(statistics_of(cache).byte_limit == 1 << 20);
    EXPECT_OK(tilecache_watch_memory_pressure(cache, 1));
    EXPECT_OK(tilecache_watch_memory_pressure(cache, 1));
    EXPECT_OK(tilecache_watch_memory_pressure(cache, 0));
    for (int attempt = 0; attempt < 24000 && statistics_of(cache).byte_limit < 4 << 20; attempt++) pause_ms(5);
    EXPECT(statistics_of(cache).byte_limit == 4 << 20);
    EXPECT_OK(tilecache_watch_memory_pressure(cache, 1));
    EXPECT_OK(tilecache_shutdown(cache, INT64_C(20000000000)));
    EXPECT(tilecache_watch_memory_pressure(cache, 1) == TILECACHE_ERROR_SHUT_DOWN);
    EXPECT_OK(tilecache_watch_memory_pressure(cache, 0));
    EXPECT_OK(tilecache_note_memory_pressure(cache, TILECACHE_PRESSURE_WARNING));
    tilecache_destroy(cache);
    return NULL;
}

/* Blocks its first load until it is released. */
static atomic_int gate;

static tilecache_outcome load_slowly(void *context, tilecache_pixels *pixels) {
    if (atomic_load(&((source_state *)context)->loads) == 0)
        for (int wait = 0; wait < 4000 && !atomic_load(&gate); wait++) pause_ms(5);
    return write_tile(context, pixels);
}

static void sleep_a_little(void *context) {
    pause_ms(20);
    atomic_fetch_add((atomic_int *)context, 1);
}

const char *check_watchdog(void) {
    source_state state = {0};
    tilecache_configuration configuration;
    static atomic_int calls;
    scene scene = {0};
    atomic_store(&gate, 0);
    atomic_store(&calls, 0);
    EXPECT_OK(tilecache_configuration_init(&configuration, sizeof configuration));
    configuration.workers = 1;
    configuration.stuck_load_time = 20000000;
    configuration.slow_callback_time = 1000000;
    EXPECT_OK(tilecache_create(&configuration, &scene.cache));
    tilecache_statistics statistics = statistics_of(scene.cache);
    EXPECT(statistics.demand_waits == 0 && statistics.demand_wait_p50 == -1 && statistics.demand_wait_p99 == -1);
    EXPECT(statistics.prefetch_wait_p95 == -1 && statistics.demand_wait_maximum == 0);
    EXPECT_OK(add_layer(scene.cache, &state, load_slowly, NULL, &scene.layer));
    EXPECT_OK(tilecache_pin(scene.cache, scene.layer, 0, 0, NULL));
    EXPECT_OK(tilecache_view_create(scene.cache, &scene.layer, 1, NULL, &scene.view));
    EXPECT_OK(tilecache_view_set_tiles_ready(scene.view, sleep_a_little, (void *)&calls, NULL));
    tilecache_viewport viewport = viewport_at(0, 0, 2);
    EXPECT_OK(tilecache_view_update(scene.view, &viewport, NULL));
    int attempt = 0;
    do {
        pause_ms(5);
        statistics = statistics_of(scene.cache);
    } while (++attempt < 4000 && (statistics.stuck_loads == 0 || statistics.blocked_workers == 0));
    EXPECT(statistics.stuck_loads >= 1 && statistics.blocked_workers >= 1);
    EXPECT(statistics.oldest_load_nanoseconds > 20000000);
    atomic_store(&gate, 1);
    tilecache_frame *frame = draw_until_sharp(&scene, 0, 0, 2);
    EXPECT(frame != NULL);
    tilecache_frame_release(frame);
    attempt = 0;
    do {
        pause_ms(5);
        statistics = statistics_of(scene.cache);
    } while (++attempt < 4000 && (statistics.slow_callbacks == 0 || statistics.pinned_tiles == 0));
    EXPECT(statistics.slow_callbacks >= 1 && statistics.longest_callback_nanoseconds > 1000000);
    EXPECT(statistics.pinned_tiles == 1 && statistics.pinned_bytes == 16384);
    EXPECT(statistics.demand_waits >= 4 && statistics.demand_wait_p50 >= 0);
    EXPECT(statistics.demand_wait_p50 <= statistics.demand_wait_p95);
    EXPECT(statistics.demand_wait_p95 <= statistics.demand_wait_p99);
    EXPECT(statistics.demand_wait_p99 <= statistics.demand_wait_maximum);
    end_scene(&scene);
    return NULL;
}

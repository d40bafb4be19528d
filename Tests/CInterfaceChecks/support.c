#define _POSIX_C_SOURCE 200809L
#include "support.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

const char *failed(const char *file, int line, const char *text) {
    static _Thread_local char message[512];
    const char *name = strrchr(file, '/');
    snprintf(message, sizeof message, "%s:%d: %s (last error: %s)", name ? name + 1 : file, line, text,
             tilecache_last_error());
    return message;
}

void pause_ms(int milliseconds) {
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    nanosleep(&time, NULL);
}

uint32_t expected_pixel(tilecache_coordinate tile, int version) {
    return (uint32_t)(tile.level * 0x9E3779B1 + tile.column * 0x85EBCA77 + tile.row * 0xC2B2AE3D + version + 1);
}

tilecache_outcome write_tile(void *context, tilecache_pixels *pixels) {
    source_state *state = context;
    atomic_fetch_add(&state->loads, 1);
    if (pixels->tile.column % 2 && state->outcome != TILECACHE_OUTCOME_PIXELS) {
        pixels->retry_after = state->retry_after;
        return state->outcome;
    }
    uint32_t value = expected_pixel(pixels->tile, atomic_load(&state->version));
    for (size_t offset = 0; offset < pixels->byte_count; offset += 4)
        memcpy((char *)pixels->memory + offset, &value, 4);
    return TILECACHE_OUTCOME_PIXELS;
}

void end_source(void *context) { atomic_fetch_add(&((source_state *)context)->ends, 1); }

int holds(const tilecache_tile *tile, int version) {
    uint32_t value = expected_pixel(tile->identity.tile, version);
    for (size_t offset = 0; offset < tile->byte_count; offset += 4)
        if (memcmp((const char *)tile->pixels + offset, &value, 4) != 0) return 0;
    return tile->width == 64 && tile->height == 64 && tile->bytes_per_row == 256 && tile->byte_count == 16384 &&
           tile->format == TILECACHE_FORMAT_RGBA8;
}

const char *make_scene(scene *scene, tilecache_request_function request, void *context) {
    tilecache_source source;
    EXPECT_OK(tilecache_source_init(&source, sizeof source));
    source.context = request ? context : &scene->state;
    source.destroy = request ? NULL : end_source;
    source.load = request ? NULL : write_tile;
    source.request = request;
    return make_scene_of(scene, &source, 4 << 20, 0.5);
}

const char *make_scene_of(scene *scene, const tilecache_source *source, int64_t byte_limit, double effort) {
    memset(scene, 0, sizeof *scene);
    tilecache_configuration configuration;
    EXPECT_OK(tilecache_configuration_init(&configuration, sizeof configuration));
    configuration.byte_limit = byte_limit;
    configuration.effort = effort;
    configuration.retry_delay = 1000000;
    EXPECT_OK(tilecache_create(&configuration, &scene->cache));
    tilecache_pyramid pyramid;
    EXPECT_OK(tilecache_pyramid_init(&pyramid, sizeof pyramid));
    pyramid.world_width = pyramid.world_height = 1024;
    pyramid.tile_size = 64;
    EXPECT_OK(tilecache_add_layer(scene->cache, source, &pyramid, NULL, &scene->layer));
    EXPECT_OK(tilecache_view_create(scene->cache, &scene->layer, 1, NULL, &scene->view));
    return NULL;
}

static tilecache_pyramid pyramid_of(double world, int64_t tile_size) {
    tilecache_pyramid pyramid;
    tilecache_pyramid_init(&pyramid, sizeof pyramid);
    pyramid.world_width = pyramid.world_height = world;
    pyramid.tile_size = tile_size;
    return pyramid;
}

tilecache_status add_layer(tilecache_cache *cache, source_state *state, tilecache_write_function load,
                           const tilecache_layer_options *options, tilecache_layer *layer) {
    const tilecache_pyramid pyramid = pyramid_of(1024, 64);
    tilecache_source source;
    tilecache_source_init(&source, sizeof source);
    source.context = state;
    source.load = load;
    return tilecache_add_layer(cache, &source, &pyramid, options, layer);
}

void end_scene(scene *scene) {
    tilecache_view_destroy(scene->view);
    tilecache_shutdown(scene->cache, INT64_C(20000000000));
    tilecache_destroy(scene->cache);
}

tilecache_viewport viewport_at(double column, double row, double tiles) {
    tilecache_viewport viewport;
    tilecache_viewport_init(&viewport, sizeof viewport);
    viewport.width = viewport.height = 64 * tiles;
    viewport.center_x = 64 * (column + tiles / 2);
    viewport.center_y = 64 * (row + tiles / 2);
    return viewport;
}

tilecache_frame *draw_until_sharp(scene *scene, double column, double row, double tiles) {
    tilecache_viewport viewport = viewport_at(column, row, tiles);
    for (int attempt = 0; attempt < 4000; attempt++) {
        tilecache_frame *frame = NULL;
        tilecache_frame_info info;
        info.struct_size = sizeof info;
        if (tilecache_view_update(scene->view, &viewport, NULL) != TILECACHE_OK ||
            tilecache_view_frame(scene->view, &frame) != TILECACHE_OK ||
            tilecache_frame_get_info(frame, &info) != TILECACHE_OK)
            return NULL;
        if (info.missing_tile_count == 0) return frame;
        tilecache_frame_release(frame);
        pause_ms(5);
    }
    return NULL;
}

tilecache_statistics statistics_of(tilecache_cache *cache) {
    tilecache_statistics statistics;
    statistics.struct_size = sizeof statistics;
    tilecache_get_statistics(cache, &statistics);
    return statistics;
}

static const c_check_entry checks[] = {
    {"structures", check_structures},       {"NULL arguments", check_null_arguments},
    {"configuration", check_configuration}, {"layers", check_layers},
    {"pyramids", check_pyramids},           {"frames", check_frames},
    {"textures", check_textures},           {"removal", check_removal},
    {"outcomes", check_outcomes},           {"upkeep", check_upkeep},
    {"fetches", check_fetches},             {"releases", check_releases},
    {"needed tiles", check_needed_tiles},   {"requests", check_requests},
    {"cancellation", check_cancellation},   {"late answers", check_late_answers},
    {"encoded", check_encoded},             {"recorder", check_recorder},
    {"endings", check_endings},             {"threads", check_threads},
    {"shares", check_shares},               {"synthesis", check_synthesis},
    {"pressure", check_pressure},           {"watchdog", check_watchdog},
    {"store options", check_store_options}, {"profiles", check_profiles},
    {"geometry", check_geometry},         {"statistics of parts", check_parts},
#ifndef CHECKS_CORE_ONLY
    {"source layers", check_source_layers}, {"source addresses", check_source_addresses},
    {"store addresses", check_store_addresses}, {"stores", check_stores},
    {"closed stores", check_closed_stores}, {"freshness", check_freshness},
    {"openings", check_openings},
#endif
};

int c_check_count(void) { return sizeof checks / sizeof checks[0]; }

c_check_entry c_check_at(int index) { return checks[index]; }

#ifdef CHECKS_MAIN
int main(void) {
    int failures = 0;
    for (int index = 0; index < c_check_count(); index++) {
        const char *failure = checks[index].run();
        printf("%s: %s\n", checks[index].name, failure ? failure : "ok");
        fflush(stdout);
        failures += failure != NULL;
    }
    return failures != 0;
}
#endif

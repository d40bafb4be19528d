/* Structures that are shorter or longer than the library's, and missing arguments. */
#include "support.h"

#include <math.h>
#include <string.h>

/* A structure as a later version may have it. */
typedef struct longer_configuration {
    tilecache_configuration known;
    int64_t unknown;
} longer_configuration;

typedef struct longer_statistics {
    tilecache_statistics known;
    int64_t unknown;
} longer_statistics;

const char *check_structures(void) {
    tilecache_configuration configuration;
    tilecache_cache *cache = NULL;
    int64_t limit = 0;

    /* Defaults, as the header states them. */
    EXPECT_OK(tilecache_configuration_init(&configuration, sizeof configuration));
    EXPECT(configuration.struct_size == sizeof configuration && configuration.byte_limit == 64 << 20);
    EXPECT(configuration.maximum_byte_limit == 0 && configuration.workers == 4 && configuration.reserved == 0);
    EXPECT(configuration.uses_compressed_tier == 1 && configuration.fits_level_to_budget == 1);
    EXPECT(configuration.compressed_share == -1 && configuration.effort == 0.5);
    EXPECT(configuration.expected_load_latency == 40000000 && configuration.retry_delay == 500000000);
    EXPECT(configuration.stuck_load_time == INT64_C(10000000000) && configuration.slow_callback_time == 100000000);
    tilecache_layer_options layer;
    EXPECT_OK(tilecache_layer_options_init(&layer, sizeof layer));
    EXPECT(layer.format == TILECACHE_FORMAT_RGBA8 && layer.alpha == TILECACHE_ALPHA_PREMULTIPLIED);
    EXPECT(layer.is_compressible == 1 && layer.opaque_bytes_per_tile == 0);
    EXPECT(layer.share_maximum == 1 && layer.reserved_share == 0);
    EXPECT(layer.synthesized_levels == 0 && layer.downsampling == TILECACHE_DOWNSAMPLING_LINEAR);
    EXPECT(layer.stores == NULL && layer.store_count == 0 && layer.data_set == NULL && layer.data_set_count == 0);
    EXPECT(layer.profile == NULL);
    tilecache_view_options view;
    EXPECT_OK(tilecache_view_options_init(&view, sizeof view));
    EXPECT(view.level_bias == 0 && view.level_hysteresis == 0);
    EXPECT(view.promotion_tiles == 8 && view.promotion_nanoseconds == 2000000);
    tilecache_update_options update;
    EXPECT_OK(tilecache_update_options_init(&update, sizeof update));
    EXPECT(update.time == TILECACHE_TIME_NOW && update.destination == NULL);
    tilecache_viewport viewport;
    EXPECT_OK(tilecache_viewport_init(&viewport, sizeof viewport));
    EXPECT(viewport.scale == 1 && viewport.rotation == 0);
    tilecache_recorder_options recorder;
    EXPECT_OK(tilecache_recorder_options_init(&recorder, sizeof recorder));
    EXPECT(recorder.tile_size == 256 && recorder.file_descriptor == -1 && recorder.write == NULL);

    /* A shorter one: the rest has the library's defaults, whatever follows it. */
    EXPECT_OK(tilecache_configuration_init(&configuration, 16));
    EXPECT(configuration.struct_size == 16);
    configuration.byte_limit = 3 << 20;
    configuration.workers = -7;
    EXPECT_OK(tilecache_create(&configuration, &cache));
    EXPECT_OK(tilecache_get_byte_limit(cache, &limit));
    EXPECT(limit == 3 << 20);
    tilecache_destroy(cache);
    cache = NULL;

    /* A shorter _init writes nothing beyond it. */
    memset(&configuration, 0x55, sizeof configuration);
    EXPECT_OK(tilecache_configuration_init(&configuration, offsetof(tilecache_configuration, effort)));
    EXPECT(configuration.compressed_share == -1 && configuration.retry_delay == 0x5555555555555555);

    /* A longer one: unknown fields are cleared, ignored if 0 and refused otherwise. */
    longer_configuration longer;
    memset(&longer, 0x55, sizeof longer);
    EXPECT_OK(tilecache_configuration_init(&longer.known, sizeof longer));
    EXPECT(longer.unknown == 0 && longer.known.struct_size == sizeof longer);
    EXPECT_OK(tilecache_create(&longer.known, &cache));
    longer.unknown = 1;
    tilecache_cache *other = NULL;
    EXPECT(tilecache_create(&longer.known, &other) == TILECACHE_ERROR_UNSUPPORTED && other == NULL);
    EXPECT(strstr(tilecache_last_error(), "88") != NULL);

    /* Outputs, likewise. */
    longer_statistics statistics;
    memset(&statistics, 0x55, sizeof statistics);
    statistics.known.struct_size = sizeof statistics;
    EXPECT_OK(tilecache_get_statistics(cache, &statistics.known));
    EXPECT(statistics.unknown == 0 && statistics.known.struct_size == sizeof statistics);
    EXPECT(statistics.known.byte_limit == 64 << 20 && isnan(statistics.known.hit_rate));
    memset(&statistics, 0x55, sizeof statistics);
    statistics.known.struct_size = offsetof(tilecache_statistics, hit_rate);
    EXPECT_OK(tilecache_get_statistics(cache, &statistics.known));
    EXPECT(statistics.known.zoom_missed == 0 && statistics.known.loads_started == 0x5555555555555555);

    /* Invalid sizes. */
    const size_t sizes[] = {0, 7, 4097, SIZE_MAX};
    for (int index = 0; index < 4; index++) {
        EXPECT_ARGUMENT(tilecache_configuration_init(&configuration, sizes[index]));
        EXPECT_ARGUMENT(tilecache_source_init((tilecache_source *)&longer, sizes[index]));
        configuration.struct_size = sizes[index];
        EXPECT_ARGUMENT(tilecache_create(&configuration, &other));
        statistics.known.struct_size = sizes[index];
        EXPECT_ARGUMENT(tilecache_get_statistics(cache, &statistics.known));
    }

    /* Every code has a message. */
    for (int status = -1; status < 20; status++) EXPECT(tilecache_status_message(status)[0] != 0);
    EXPECT(strcmp(tilecache_status_message(99), "unknown status") == 0);
    EXPECT(strcmp(tilecache_version(), "0.1.0") == 0 && tilecache_version_number() == TILECACHE_VERSION_NUMBER);
    EXPECT(tilecache_now() <= tilecache_now());

    char text[8];
    size_t length = 0;
    EXPECT_OK(tilecache_describe_statistics(cache, NULL, 0, &length));
    EXPECT(length > 20);
    EXPECT_OK(tilecache_describe_statistics(cache, text, sizeof text, NULL));
    EXPECT(strcmp(text, "hit rat") == 0);
    EXPECT_ARGUMENT(tilecache_describe_statistics(cache, NULL, 8, NULL));
    EXPECT_ARGUMENT(tilecache_describe_statistics(cache, text, SIZE_MAX, NULL));
    tilecache_destroy(cache);
    return NULL;
}

static void ignore(void *context) { (void)context; }

static void ignore_pixels(void *context, const void *pixels, size_t byte_count) {
    (void)context, (void)pixels, (void)byte_count;
}

const char *check_null_arguments(void) {
    const tilecache_coordinate tile = {0, 0, 0};
    const tilecache_layer none = 0;
    int64_t number;
    int32_t truth;
    size_t count;
    tilecache_viewport viewport = viewport_at(0, 0, 1);
    tilecache_statistics statistics = {.struct_size = sizeof statistics};
    tilecache_request_info request_info = {.struct_size = sizeof request_info};
    tilecache_frame_info frame_info = {.struct_size = sizeof frame_info};
    tilecache_recorder_counts counts = {.struct_size = sizeof counts};
    tilecache_store_statistics store_statistics = {.struct_size = sizeof store_statistics};
    tilecache_freshness freshness = {.struct_size = sizeof freshness};
    tilecache_store_counts store_counts = {.struct_size = sizeof store_counts};
    tilecache_source source;
    tilecache_pyramid pyramid;
    tilecache_tile leased;
    tilecache_layer layer;
    tilecache_view *view = NULL;
    tilecache_frame *frame = NULL;
    tilecache_lease *lease = NULL;
    const tilecache_placement *placements;
    const tilecache_identity *identities;
    const tilecache_unavailable_tile *unavailable;

    /* No handle. */
    EXPECT_ARGUMENT(tilecache_shutdown(NULL, 0));
    EXPECT_ARGUMENT(tilecache_set_byte_limit(NULL, 1));
    EXPECT_ARGUMENT(tilecache_get_byte_limit(NULL, &number));
    EXPECT_ARGUMENT(tilecache_trim(NULL, 0));
    EXPECT_ARGUMENT(tilecache_watch_memory_pressure(NULL, 1));
    EXPECT_ARGUMENT(tilecache_note_memory_pressure(NULL, TILECACHE_PRESSURE_NORMAL));
    EXPECT_ARGUMENT(tilecache_add_layer(NULL, &source, &pyramid, NULL, &layer));
    EXPECT_ARGUMENT(tilecache_invalidate(NULL, 0, NULL, 1));
    EXPECT_ARGUMENT(tilecache_pin(NULL, 0, 0, 0, NULL));
    EXPECT_ARGUMENT(tilecache_unpin(NULL, 0, 0, INT64_MAX, NULL));
    EXPECT_ARGUMENT(tilecache_is_resident(NULL, 0, tile, &truth));
    EXPECT_ARGUMENT(tilecache_read_tile(NULL, 0, tile, ignore_pixels, NULL));
    EXPECT_ARGUMENT(tilecache_get_statistics(NULL, &statistics));
    EXPECT_ARGUMENT(tilecache_describe_statistics(NULL, NULL, 0, &count));
    EXPECT_ARGUMENT(tilecache_view_create(NULL, &none, 1, NULL, &view));
    EXPECT_ARGUMENT(tilecache_view_update(NULL, &viewport, NULL));
    EXPECT_ARGUMENT(tilecache_view_update_needed(NULL, NULL, 0, sizeof(tilecache_needed_tile)));
    EXPECT_ARGUMENT(tilecache_view_set_tiles_ready(NULL, ignore, NULL, NULL));
    EXPECT_ARGUMENT(tilecache_view_set_promotion_budget(NULL, 0, 0));
    EXPECT_ARGUMENT(tilecache_view_set_recorder(NULL, NULL));
    EXPECT_ARGUMENT(tilecache_view_get_shortfall_bytes(NULL, &number));
    EXPECT_ARGUMENT(tilecache_view_frame(NULL, &frame));
    EXPECT_ARGUMENT(tilecache_frame_get_info(NULL, &frame_info));
    EXPECT_ARGUMENT(tilecache_frame_get_placements(NULL, sizeof *placements, &placements, &count));
    EXPECT_ARGUMENT(tilecache_frame_get_appeared(NULL, &identities, &count));
    EXPECT_ARGUMENT(tilecache_frame_get_disappeared(NULL, &identities, &count));
    EXPECT_ARGUMENT(tilecache_frame_get_unavailable(NULL, sizeof *unavailable, &unavailable, &count));
    EXPECT_ARGUMENT(tilecache_frame_lease(NULL, 0, &lease));
    EXPECT_ARGUMENT(tilecache_lease_get_tile(NULL, &leased));
    EXPECT_ARGUMENT(tilecache_request_get_info(NULL, &request_info));
    EXPECT(!tilecache_request_is_wanted(NULL));
    EXPECT_ARGUMENT(tilecache_request_on_cancel(NULL, ignore, NULL, NULL));
    EXPECT_ARGUMENT(tilecache_request_complete(NULL, write_tile, NULL));
    EXPECT_ARGUMENT(tilecache_request_complete_copying(NULL, &tile, 1, 1));
    EXPECT_ARGUMENT(tilecache_request_complete_absent(NULL));
    EXPECT_ARGUMENT(tilecache_request_fail(NULL, 0, 0));
    EXPECT_ARGUMENT(tilecache_request_postpone(NULL, 0));
    EXPECT_ARGUMENT(tilecache_request_cancel(NULL));
    EXPECT_ARGUMENT(tilecache_recorder_record(NULL, &viewport, 0));
    EXPECT_ARGUMENT(tilecache_recorder_get_counts(NULL, &counts));
    EXPECT_ARGUMENT(tilecache_recorder_get_text(NULL, NULL, 0, &count));
    EXPECT_ARGUMENT(tilecache_freshness_init(NULL, 8));
    EXPECT_ARGUMENT(tilecache_pixels_get_cached(NULL, &freshness, &truth));
    EXPECT_ARGUMENT(tilecache_pixels_set_freshness(NULL, &freshness));
    EXPECT_ARGUMENT(tilecache_request_get_cached(NULL, &freshness, &truth));
    EXPECT_ARGUMENT(tilecache_request_set_freshness(NULL, &freshness));
    EXPECT_ARGUMENT(tilecache_store_get_statistics(NULL, &store_statistics));
    EXPECT_ARGUMENT(tilecache_get_store_counts(NULL, 0, &store_counts));
    EXPECT_ARGUMENT(tilecache_create(NULL, NULL));
    EXPECT_ARGUMENT(tilecache_recorder_create(NULL, NULL));
    EXPECT(strstr(tilecache_last_error(), "recorder must not be NULL") != NULL);
    tilecache_destroy(NULL);
    tilecache_view_destroy(NULL);
    tilecache_frame_release(NULL);
    tilecache_lease_release(NULL);
    tilecache_request_release(NULL);
    tilecache_recorder_release(NULL);
    tilecache_store_close(NULL);

    /* No structure, or no output pointer. */
    EXPECT_ARGUMENT(tilecache_configuration_init(NULL, 8));
    EXPECT_ARGUMENT(tilecache_source_init(NULL, 8));
    EXPECT_ARGUMENT(tilecache_pyramid_init(NULL, 8));
    EXPECT_ARGUMENT(tilecache_layer_options_init(NULL, 8));
    EXPECT_ARGUMENT(tilecache_viewport_init(NULL, 8));
    EXPECT_ARGUMENT(tilecache_view_options_init(NULL, 8));
    EXPECT_ARGUMENT(tilecache_update_options_init(NULL, 8));
    EXPECT_ARGUMENT(tilecache_recorder_options_init(NULL, 8));
    static scene scene;
    const char *failure = make_scene(&scene, NULL, NULL);
    if (failure) return failure;
    EXPECT_OK(tilecache_source_init(&source, sizeof source));
    EXPECT_OK(tilecache_pyramid_init(&pyramid, sizeof pyramid));
    /* Contents beside the world, and contents of which a part lies in it. */
    source.load = write_tile;
    source.context = &scene.state;
    pyramid.world_width = pyramid.world_height = 1024;
    pyramid.tile_size = 64;
    pyramid.contents = (tilecache_rectangle){2000, 0, 3000, 1000};
    EXPECT(tilecache_add_layer(scene.cache, &source, &pyramid, NULL, &layer) == TILECACHE_ERROR_INVALID_PYRAMID);
    EXPECT(strstr(tilecache_last_error(), "pyramid->contents") != NULL);
    pyramid.contents = (tilecache_rectangle){1000, 0, 3000, 1000};
    EXPECT_OK(tilecache_add_layer(scene.cache, &source, &pyramid, NULL, &layer));
    EXPECT_OK(tilecache_remove_layer(scene.cache, layer));
    EXPECT_OK(tilecache_pyramid_init(&pyramid, sizeof pyramid));
    EXPECT_OK(tilecache_source_init(&source, sizeof source));
    layer = 0;
    EXPECT_ARGUMENT(tilecache_get_byte_limit(scene.cache, NULL));
    EXPECT_ARGUMENT(tilecache_get_statistics(scene.cache, NULL));
    EXPECT_ARGUMENT(tilecache_add_layer(scene.cache, NULL, &pyramid, NULL, &layer));
    EXPECT_ARGUMENT(tilecache_add_layer(scene.cache, &source, NULL, NULL, &layer));
    EXPECT_ARGUMENT(tilecache_add_layer(scene.cache, &source, &pyramid, NULL, NULL));
    EXPECT_ARGUMENT(tilecache_is_resident(scene.cache, 0, tile, NULL));
    EXPECT_ARGUMENT(tilecache_read_tile(scene.cache, 0, tile, NULL, NULL));
    EXPECT_ARGUMENT(tilecache_view_create(scene.cache, NULL, 1, NULL, &view));
    EXPECT_ARGUMENT(tilecache_view_create(scene.cache, &none, 1, NULL, NULL));
    EXPECT_ARGUMENT(tilecache_view_update(scene.view, NULL, NULL));
    EXPECT_ARGUMENT(
        tilecache_view_update_needed(scene.view, NULL, 1, sizeof(tilecache_needed_tile)));
    EXPECT_ARGUMENT(tilecache_view_get_shortfall_bytes(scene.view, NULL));
    EXPECT_ARGUMENT(tilecache_view_frame(scene.view, NULL));
#ifndef __APPLE__
    /* Handles of another type. */
    EXPECT_ARGUMENT(tilecache_get_byte_limit((tilecache_cache *)scene.view, &number));
    EXPECT_ARGUMENT(tilecache_view_frame((tilecache_view *)scene.cache, &frame));
    EXPECT(strstr(tilecache_last_error(), "view is a handle of another kind") != NULL);
#endif
    EXPECT_OK(tilecache_view_frame(scene.view, &frame));
    EXPECT_ARGUMENT(tilecache_frame_get_info(frame, NULL));
    EXPECT_ARGUMENT(tilecache_frame_get_placements(frame, sizeof *placements, NULL, &count));
    EXPECT_ARGUMENT(tilecache_frame_get_placements(frame, sizeof *placements, &placements, NULL));
    EXPECT_ARGUMENT(tilecache_frame_get_appeared(frame, NULL, &count));
    EXPECT_ARGUMENT(tilecache_frame_get_appeared(frame, &identities, NULL));
    EXPECT_ARGUMENT(tilecache_frame_get_disappeared(frame, NULL, &count));
    EXPECT_ARGUMENT(tilecache_frame_get_disappeared(frame, &identities, NULL));
    EXPECT_ARGUMENT(tilecache_frame_get_unavailable(frame, sizeof *unavailable, NULL, &count));
    EXPECT_ARGUMENT(tilecache_frame_get_unavailable(frame, sizeof *unavailable, &unavailable, NULL));
    EXPECT_ARGUMENT(tilecache_frame_get_unavailable(frame, sizeof *unavailable - 8, &unavailable, &count));
    EXPECT_ARGUMENT(tilecache_frame_get_unavailable(frame, sizeof *unavailable + 4, &unavailable, &count));
    EXPECT_ARGUMENT(tilecache_frame_get_unavailable(frame, SIZE_MAX - 7, &unavailable, &count));
    EXPECT_ARGUMENT(tilecache_frame_lease(frame, 0, NULL));
    tilecache_frame_release(frame);
    EXPECT(view == NULL && lease == NULL);
    end_scene(&scene);
    return NULL;
}

/* Layers whose tiles come from an address. Not part of checks of libtilecache, which has no sources. */
#define _POSIX_C_SOURCE 200809L
#include "stores.h"
#include "support.h"

#ifndef CHECKS_CORE_ONLY

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tilecache_sources.h>
#include <unistd.h>

/* A PNG of 16 x 16 grey pixels, each 0x5A. */
static const unsigned char grey_tile[] = {
    0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48, 0x44, 0x52,
    0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x10, 0x08, 0x00, 0x00, 0x00, 0x00, 0x3A, 0x98, 0xA0,
    0xBD, 0x00, 0x00, 0x00, 0x0F, 0x49, 0x44, 0x41, 0x54, 0x78, 0xDA, 0x63, 0x88, 0x42, 0x03, 0x0C,
    0x23, 0x5B, 0x00, 0x00, 0xD3, 0xD1, 0x5A, 0x01, 0x0E, 0x73, 0x8E, 0x10, 0x00, 0x00, 0x00, 0x00,
    0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82};

/* A folder of one zoom: tile 1/0/1 is grey, 1/1/0 is damaged, 1/0/0 and 1/1/1 are absent. */
static int write_folder(const char *folder) {
    char path[600];
    const char *parts[] = {"/1", "/1/0", "/1/1"};
    for (int index = 0; index < 3; index++) {
        snprintf(path, sizeof path, "%s%s", folder, parts[index]);
        if (mkdir(path, 0700) != 0) return 0;
    }
    for (int column = 0; column < 2; column++) {
        snprintf(path, sizeof path, "%s/1/%d/%d.png", folder, column, 1 - column);
        FILE *file = fopen(path, "wb");
        if (!file) return 0;
        fwrite(grey_tile, 1, column == 0 ? sizeof grey_tile : 50, file);
        if (fclose(file) != 0) return 0;
    }
    return 1;
}

static void remove_tile_folder(const char *folder) {
    char path[600];
    const char *parts[] = {"/1/0/1.png", "/1/1/0.png", "/1/0", "/1/1", "/1", ""};
    for (int index = 0; index < 6; index++) {
        snprintf(path, sizeof path, "%s%s", folder, parts[index]);
        remove(path);
    }
}

static const char *check_folder(const char *folder) {
    scene scene;
    char address[600], text[600];
    size_t length = 0;
    tilecache_source_layer_options options;
    tilecache_source_layer_info info = {.struct_size = sizeof info};
    memset(&scene, 0, sizeof scene);
    EXPECT_OK(tilecache_create(NULL, &scene.cache));
    EXPECT_OK(tilecache_source_layer_options_init(&options, sizeof options));
    EXPECT(options.format == TILECACHE_FORMAT_RGBA8 && options.alpha == TILECACHE_ALPHA_PREMULTIPLIED);
    EXPECT(options.keeps_encoded == 1 && options.wraps_x == 0 && options.tile_size == 0 && options.headers == NULL);
    EXPECT(options.minimum_zoom == 0 && options.maximum_zoom == 9);
    options.format = TILECACHE_FORMAT_GRAY8;
    snprintf(address, sizeof address, "xyz:%s", folder);
    EXPECT_OK(tilecache_add_source_layer(scene.cache, address, &options, &scene.layer));
    EXPECT_OK(tilecache_source_layer_get_info(scene.cache, scene.layer, &info));
    EXPECT(info.world_width == 32 && info.world_height == 32 && info.level_count == 1);
    EXPECT(info.contents.min_x == 0 && info.contents.max_y == 32 && info.loads == 0 && info.failures == 0);
    EXPECT_OK(tilecache_source_layer_describe_failure(scene.cache, scene.layer, text, sizeof text, &length));
    EXPECT(length == 0 && text[0] == 0);
    EXPECT_OK(tilecache_source_layer_describe_warning(scene.cache, scene.layer, text, sizeof text, &length));
    EXPECT(length == 0 && text[0] == 0);
    /* Metadata that only sets with rows from the bottom have. */
    tilecache_layer contradicted = -1;
    char metadata[600];
    snprintf(metadata, sizeof metadata, "%s/tilemapresource.xml", folder);
    FILE *file = fopen(metadata, "w");
    EXPECT(file != NULL);
    fclose(file);
    EXPECT_OK(tilecache_add_source_layer(scene.cache, address, &options, &contradicted));
    remove(metadata);
    EXPECT_OK(tilecache_source_layer_describe_warning(scene.cache, contradicted, text, sizeof text, &length));
    EXPECT(strstr(text, "tilemapresource.xml says that row 0 is at the bottom") != NULL && length == strlen(text));
    EXPECT_OK(tilecache_remove_layer(scene.cache, contradicted));

    EXPECT_OK(tilecache_view_create(scene.cache, &scene.layer, 1, NULL, &scene.view));
    tilecache_viewport viewport;
    EXPECT_OK(tilecache_viewport_init(&viewport, sizeof viewport));
    viewport.center_x = viewport.center_y = 16;
    viewport.width = viewport.height = 32;
    const tilecache_placement *placements = NULL;
    size_t count = 0;
    tilecache_frame *frame = NULL;
    for (int round = 0; round < 4000 && (count == 0 || info.absent < 2 || info.failures < 1); round++) {
        tilecache_frame_release(frame);
        EXPECT_OK(tilecache_view_update(scene.view, &viewport, NULL));
        EXPECT_OK(tilecache_view_frame(scene.view, &frame));
        EXPECT_OK(tilecache_frame_get_placements(frame, sizeof *placements, &placements, &count));
        EXPECT_OK(tilecache_source_layer_get_info(scene.cache, scene.layer, &info));
        pause_ms(5);
    }
    EXPECT(count == 1 && info.loads == 4 && info.absent == 2 && info.failures == 1);
    const tilecache_tile *tile = &placements[0].tile;
    EXPECT(tile->identity.tile.column == 0 && tile->identity.tile.row == 1 && tile->format == TILECACHE_FORMAT_GRAY8);
    EXPECT(tile->byte_count == 256 && ((const unsigned char *)tile->pixels)[255] == 0x5A);
    tilecache_frame_release(frame);
    EXPECT_OK(tilecache_source_layer_describe_failure(scene.cache, scene.layer, text, sizeof text, &length));
    EXPECT(strstr(text, "/1/1/0.png: ") != NULL && length == strlen(text));
    EXPECT_OK(tilecache_source_layer_describe_failure(scene.cache, scene.layer, text, 4, &length));
    EXPECT(strlen(text) == 3 && length > 3);

    /* The same source in another cache. */
    tilecache_cache *second = NULL;
    tilecache_layer shared = -1, again = -1;
    EXPECT_OK(tilecache_create(NULL, &second));
    EXPECT_OK(tilecache_share_source_layer(second, scene.cache, scene.layer, NULL, &shared));
    EXPECT_OK(tilecache_share_source_layer(second, second, shared, NULL, &again));
    EXPECT(again != shared);
    EXPECT_OK(tilecache_source_layer_get_info(second, again, &info));
    EXPECT(info.world_width == 32 && info.loads == 4 && info.absent == 2);
    EXPECT_ARGUMENT(tilecache_share_source_layer(NULL, scene.cache, scene.layer, NULL, &again));
    EXPECT_ARGUMENT(tilecache_share_source_layer(second, NULL, scene.layer, NULL, &again));
    EXPECT(strstr(tilecache_last_error(), "owner must not be NULL") != NULL);
    EXPECT_ARGUMENT(tilecache_share_source_layer(second, scene.cache, 77, NULL, &again));
    EXPECT_ARGUMENT(tilecache_share_source_layer(second, scene.cache, scene.layer, NULL, NULL));
    options.store_count = 33;
    EXPECT_ARGUMENT(tilecache_share_source_layer(second, scene.cache, scene.layer, &options, &again));
    EXPECT_OK(tilecache_shutdown(second, INT64_C(20000000000)));
    EXPECT(
        tilecache_share_source_layer(second, scene.cache, scene.layer, NULL, &again) == TILECACHE_ERROR_SHUT_DOWN);
    tilecache_destroy(second);

    /* Together with one of the program's own sources. */
    tilecache_source source;
    tilecache_pyramid pyramid;
    tilecache_layer other = -1;
    EXPECT_OK(tilecache_source_init(&source, sizeof source));
    EXPECT_OK(tilecache_pyramid_init(&pyramid, sizeof pyramid));
    pyramid.world_width = pyramid.world_height = 64;
    source.load = write_tile;
    EXPECT_OK(tilecache_add_layer(scene.cache, &source, &pyramid, NULL, &other));
    EXPECT_ARGUMENT(tilecache_source_layer_get_info(scene.cache, other, &info));
    EXPECT_ARGUMENT(tilecache_source_layer_get_info(scene.cache, 7, &info));
    EXPECT_ARGUMENT(tilecache_source_layer_get_info(scene.cache, scene.layer, NULL));
    EXPECT_ARGUMENT(tilecache_source_layer_describe_failure(scene.cache, other, text, sizeof text, NULL));
    EXPECT_ARGUMENT(tilecache_source_layer_describe_warning(scene.cache, other, text, sizeof text, NULL));
    end_scene(&scene);
    return NULL;
}

/* A run that keeps the folder's tiles in a store; both absent tiles are stored as such. */
static const char *check_stored_folder(const char *folder, const char *store_address, int is_first) {
    scene scene;
    char address[600];
    tilecache_store *store = NULL;
    tilecache_source_layer_options options;
    tilecache_source_layer_info info = {.struct_size = sizeof info};
    memset(&scene, 0, sizeof scene);
    EXPECT_OK(tilecache_store_open(store_address, &store));
    EXPECT_OK(tilecache_create(NULL, &scene.cache));
    EXPECT_OK(tilecache_source_layer_options_init(&options, sizeof options));
    EXPECT(options.stores == NULL && options.store_count == 0);
    snprintf(address, sizeof address, "xyz:%s", folder);
    options.store_count = 33;
    EXPECT_ARGUMENT(tilecache_add_source_layer(scene.cache, address, &options, &scene.layer));
    options.stores = &store;
    EXPECT(tilecache_add_source_layer(scene.cache, address, &options, &scene.layer) == TILECACHE_ERROR_INVALID_LAYER);
    options.store_count = 1;
    EXPECT_OK(tilecache_add_source_layer(scene.cache, address, &options, &scene.layer));
    EXPECT_OK(tilecache_view_create(scene.cache, &scene.layer, 1, NULL, &scene.view));
    tilecache_viewport viewport;
    EXPECT_OK(tilecache_viewport_init(&viewport, sizeof viewport));
    viewport.center_x = viewport.center_y = 16;
    viewport.width = viewport.height = 32;
    tilecache_store_counts counts = counts_of(scene.cache);
    for (int round = 0; round < 4000 && (is_first ? counts.writes : counts.hits) < 3; round++) {
        tilecache_frame *frame = NULL;
        EXPECT_OK(tilecache_view_update(scene.view, &viewport, NULL));
        EXPECT_OK(tilecache_view_frame(scene.view, &frame));
        tilecache_frame_release(frame);
        counts = counts_of(scene.cache);
        pause_ms(5);
    }
    EXPECT_OK(tilecache_source_layer_get_info(scene.cache, scene.layer, &info));
    int is_counted = is_first ? counts.writes == 3 && counts.hits == 0 : counts.writes == 0 && counts.hits == 3;
    int is_asked = is_first ? info.absent == 2 : info.absent == 0 && info.loads <= 1;
    end_scene(&scene);
    tilecache_store_close(store);
    EXPECT(is_counted);
    EXPECT(is_asked);
    return NULL;
}

const char *check_source_layers(void) {
    char folder[512];
    CHECK(make_empty_folder(folder));
    const char *failure = write_folder(folder) ? check_folder(folder) : "the folder cannot be written";
    char store_folder[512], store_address[600];
    if (!failure) failure = make_folder(store_folder, store_address);
    if (!failure) {
        failure = check_stored_folder(folder, store_address, 1);
        if (!failure) {
            /* A look-up ends after 50 ms, and the tile is loaded: a busy machine may take so long, but not each time. */
            int attempt = 0;
            do failure = check_stored_folder(folder, store_address, 0);
            while (failure && ++attempt < 5);
        }
        remove_folder(store_folder);
    }
    remove_tile_folder(folder);
    return failure;
}

const char *check_source_addresses(void) {
    tilecache_cache *cache = NULL;
    tilecache_layer layer = -1;
    tilecache_source_layer_options good, o;
    EXPECT_OK(tilecache_create(NULL, &cache));
    EXPECT_OK(tilecache_source_layer_options_init(&good, sizeof good));
    EXPECT_ARGUMENT(tilecache_source_layer_options_init(NULL, sizeof good));
    EXPECT_ARGUMENT(tilecache_add_source_layer(NULL, "xyz:a", NULL, &layer));
    EXPECT_ARGUMENT(tilecache_add_source_layer(cache, NULL, NULL, &layer));
    EXPECT_ARGUMENT(tilecache_add_source_layer(cache, "xyz:a", NULL, NULL));
    EXPECT_ARGUMENT(tilecache_source_layer_get_info(NULL, 0, NULL));
    EXPECT_ARGUMENT(tilecache_source_layer_describe_failure(NULL, 0, NULL, 0, NULL));
    EXPECT_ARGUMENT(tilecache_source_layer_describe_warning(NULL, 0, NULL, 0, NULL));
#define REFUSED(address, words) \
    EXPECT(tilecache_add_source_layer(cache, address, NULL, &layer) == TILECACHE_ERROR_INVALID_SOURCE); \
    EXPECT(strstr(tilecache_last_error(), words) != NULL)
    REFUSED("", "mbtiles:FILE");
    REFUSED("gopher:a", "not 'gopher:a'");
    REFUSED("mbtiles:a.mbtiles#rows=up", "mbtiles:FILE#rows=top");
    REFUSED("mbtiles:/nowhere.mbtiles#rows=top", "/nowhere.mbtiles: there is no such file");
    REFUSED("http://localhost/${z}/${x}/${y}", "not ${z}");
    REFUSED("\xFF\xFE:a", "address must be UTF-8");
    REFUSED("xyz:/nowhere/\xFF", "address must be UTF-8");
    REFUSED("xyz:/nowhere", "/nowhere: a folder");
    REFUSED("mbtiles:/nowhere.mbtiles", "/nowhere.mbtiles");
    REFUSED("http://localhost/{z}/{x}", "{");
#define REFUSED_OPTION(assignment, status) \
    o = good; \
    o.assignment; \
    EXPECT(tilecache_add_source_layer(cache, "http://localhost/{z}/{x}/{y}", &o, &layer) == status)
    REFUSED_OPTION(format = TILECACHE_FORMAT_OPAQUE, TILECACHE_ERROR_INVALID_SOURCE);
    REFUSED_OPTION(format = -1, TILECACHE_ERROR_INVALID_ARGUMENT);
    REFUSED_OPTION(format = TILECACHE_FORMAT_FLOAT32, TILECACHE_ERROR_INVALID_SOURCE);
    REFUSED_OPTION(alpha = 9, TILECACHE_ERROR_INVALID_ARGUMENT);
    REFUSED_OPTION(tile_size = 15, TILECACHE_ERROR_INVALID_SOURCE);
    REFUSED_OPTION(tile_size = INT64_MIN, TILECACHE_ERROR_INVALID_SOURCE);
    REFUSED_OPTION(minimum_zoom = 10, TILECACHE_ERROR_INVALID_SOURCE);
    REFUSED_OPTION(maximum_zoom = 31, TILECACHE_ERROR_INVALID_SOURCE);
    REFUSED_OPTION(minimum_zoom = -1, TILECACHE_ERROR_INVALID_SOURCE);
    REFUSED_OPTION(headers = "no colon", TILECACHE_ERROR_INVALID_SOURCE);
    REFUSED_OPTION(headers = "X-Key: \xFF", TILECACHE_ERROR_INVALID_ARGUMENT);
    EXPECT(layer == -1);
    /* Zooms are those of a server with {z}, {x} and {y}. */
    o = good;
    o.minimum_zoom = 12;
    EXPECT(
        tilecache_add_source_layer(cache, "mbtiles:/nowhere.mbtiles", &o, &layer) == TILECACHE_ERROR_INVALID_SOURCE);
    o = good;
    o.headers = "X-One: 1\nX-Two: 2";
    o.maximum_zoom = 3;
    EXPECT_OK(tilecache_add_source_layer(cache, "http://localhost:9/{z}/{x}/{y}@2x.png", &o, &layer));
    tilecache_source_layer_info info = {.struct_size = sizeof info};
    EXPECT_OK(tilecache_source_layer_get_info(cache, layer, &info));
    EXPECT(info.world_width == 256 << 3 && info.level_count == 4);
    EXPECT_OK(tilecache_shutdown(cache, INT64_C(20000000000)));
    EXPECT(tilecache_add_source_layer(cache, "xyz:/nowhere", NULL, &layer) == TILECACHE_ERROR_SHUT_DOWN);
    tilecache_destroy(cache);
    return NULL;
}

#endif

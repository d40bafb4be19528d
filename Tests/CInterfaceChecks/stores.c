/* Layers with stores. Checks that open a store are not part of checks of libtilecache, which has none. */
#define _POSIX_C_SOURCE 200809L
#include "stores.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Arrays that do not match their counts. These need no store. */
const char *check_store_options(void) {
    tilecache_cache *cache = NULL;
    tilecache_layer layer = -1;
    tilecache_layer_options good, o;
    static source_state state;
    tilecache_store *const none[33] = {NULL};
    tilecache_store_counts counts = {.struct_size = sizeof counts};
    EXPECT_OK(tilecache_create(NULL, &cache));
    EXPECT_OK(tilecache_layer_options_init(&good, sizeof good));
    o = good;
    o.store_count = 1;
    EXPECT_ARGUMENT(add_layer(cache, &state, write_tile, &o, &layer));
    EXPECT(strstr(tilecache_last_error(), "options->stores must not be NULL") != NULL);
    o.stores = none;
    EXPECT_ARGUMENT(add_layer(cache, &state, write_tile, &o, &layer));
    EXPECT(strstr(tilecache_last_error(), "options->stores[0] must not be NULL") != NULL);
    const size_t sizes[] = {33, SIZE_MAX};
    for (int index = 0; index < 2; index++) {
        o.store_count = sizes[index];
        EXPECT(add_layer(cache, &state, write_tile, &o, &layer) == TILECACHE_ERROR_INVALID_LAYER);
        EXPECT(strstr(tilecache_last_error(), "at most 32 stores") != NULL);
    }
#ifndef __APPLE__
    tilecache_store *const cache_as_store = (tilecache_store *)cache;
    o.store_count = 1;
    o.stores = &cache_as_store;
    EXPECT_ARGUMENT(add_layer(cache, &state, write_tile, &o, &layer));
    EXPECT(strstr(tilecache_last_error(), "options->stores[0] is a handle of another kind") != NULL);
    tilecache_store_statistics statistics = {.struct_size = sizeof statistics};
    EXPECT_ARGUMENT(tilecache_store_get_statistics(cache_as_store, &statistics));
#endif
    /* Without stores a data set is ignored and not read. */
    o = good;
    o.data_set_count = SIZE_MAX;
    EXPECT_OK(add_layer(cache, &state, write_tile, &o, &layer));
    EXPECT(statistics_of(cache).store_count == 0);
    EXPECT_ARGUMENT(tilecache_get_store_counts(cache, 0, &counts));
    EXPECT(strstr(tilecache_last_error(), "index must be below 0, not 0") != NULL);
    tilecache_destroy(cache);
    return NULL;
}

#ifndef CHECKS_CORE_ONLY

#include <dirent.h>

const char *make_empty_folder(char folder[512]) {
    const char *parent = getenv("TMPDIR");
    snprintf(folder, 512, "%s/tilecache-XXXXXX", parent && *parent ? parent : "/tmp");
    EXPECT(mkdtemp(folder) != NULL);
    return NULL;
}

const char *make_folder(char folder[512], char address[600]) {
    CHECK(make_empty_folder(folder));
    snprintf(address, 600, "disk:%s/tiles", folder);
    return NULL;
}

static void remove_files(const char *folder) {
    DIR *list = opendir(folder);
    if (!list) return;
    for (struct dirent *entry; (entry = readdir(list));) {
        char path[1200];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) remove(path);
    }
    closedir(list);
    remove(folder);
}

void remove_folder(const char *folder) {
    char tiles[600];
    snprintf(tiles, sizeof tiles, "%s/tiles", folder);
    remove_files(tiles);
    remove_files(folder);
}

const char *make_store_scene(scene *scene, tilecache_store *store, size_t options_size,
                             const tilecache_source *other) {
    static const char *const data_set[] = {"checks", "stores"};
    tilecache_configuration configuration;
    tilecache_layer_options options;
    tilecache_pyramid pyramid;
    tilecache_source source;
    memset(scene, 0, sizeof *scene);
    EXPECT_OK(tilecache_configuration_init(&configuration, sizeof configuration));
    configuration.effort = 0;
    configuration.expected_load_latency = INT64_C(3600000000000);
    EXPECT_OK(tilecache_create(&configuration, &scene->cache));
    EXPECT_OK(tilecache_layer_options_init(&options, sizeof options));
    options.struct_size = options_size;
    options.stores = &store;
    options.store_count = 1;
    options.data_set = data_set;
    options.data_set_count = 2;
    EXPECT_OK(tilecache_pyramid_init(&pyramid, sizeof pyramid));
    pyramid.world_width = pyramid.world_height = 1024;
    pyramid.tile_size = 64;
    EXPECT_OK(tilecache_source_init(&source, sizeof source));
    source.context = &scene->state;
    source.load = write_tile;
    EXPECT_OK(tilecache_add_layer(scene->cache, other ? other : &source, &pyramid, &options, &scene->layer));
    EXPECT_OK(tilecache_view_create(scene->cache, &scene->layer, 1, NULL, &scene->view));
    return NULL;
}

tilecache_store_counts counts_of(tilecache_cache *cache) {
    tilecache_store_counts counts = {.struct_size = sizeof counts};
    tilecache_get_store_counts(cache, 0, &counts);
    return counts;
}

const char *draw_stored(scene *scene) {
    const tilecache_placement *placements = NULL;
    size_t count = 0;
    tilecache_frame *frame = draw_until_sharp(scene, 0, 0, 4);
    EXPECT(frame != NULL);
    EXPECT_OK(tilecache_frame_get_placements(frame, sizeof *placements, &placements, &count));
    EXPECT(count == 16);
    for (size_t index = 0; index < count; index++)
        EXPECT(placements[index].is_exact && holds(&placements[index].tile, 0));
    tilecache_frame_release(frame);
    return NULL;
}

/* The first run fills the store. */
static const char *fill_store(const char *address, int *loads) {
    static scene scene;
    tilecache_store *store = NULL, *other = NULL;
    tilecache_store_statistics figures = {.struct_size = sizeof figures};
    EXPECT_OK(tilecache_store_open(address, &store));
    EXPECT(tilecache_store_open(address, &other) == TILECACHE_ERROR_INVALID_STORE && other == NULL);
    EXPECT(strstr(tilecache_last_error(), "in use") != NULL);
    CHECK(make_store_scene(&scene, store, sizeof(tilecache_layer_options), NULL));
    CHECK(draw_stored(&scene));
    *loads = atomic_load(&scene.state.loads);
    EXPECT(*loads >= 16);
    /* A worker writes drawn tiles to the store. */
    for (int round = 0; round < 4000 && counts_of(scene.cache).writes < *loads; round++) pause_ms(5);
    tilecache_store_counts counts = counts_of(scene.cache);
    EXPECT(counts.writes == *loads && counts.hits == 0 && counts.dropped == 0 && counts.refused == 0);
    EXPECT(counts.struct_size == sizeof counts && counts.wait_nanoseconds >= 0);
    EXPECT(statistics_of(scene.cache).store_count == 1);
    EXPECT_ARGUMENT(tilecache_get_store_counts(scene.cache, 1, &counts));
    EXPECT_ARGUMENT(tilecache_get_store_counts(scene.cache, 0, NULL));
    EXPECT_ARGUMENT(tilecache_store_get_statistics(store, NULL));
    EXPECT_OK(tilecache_store_get_statistics(store, &figures));
    EXPECT(figures.hits == 0 && figures.evictions == 0 && figures.refused == 0 && figures.memory_bytes > 0);
    EXPECT(figures.disk_bytes > 0 && figures.disk_bytes <= 4 << 20);
    end_scene(&scene);
    tilecache_store_close(store);
    return NULL;
}

/* The second run draws the same without its source. */
static const char *use_store(const char *address, int loads) {
    static scene scene;
    tilecache_store *store = NULL;
    tilecache_store_statistics figures;
    EXPECT_OK(tilecache_store_open(address, &store));
    CHECK(make_store_scene(&scene, store, sizeof(tilecache_layer_options), NULL));
    CHECK(draw_stored(&scene));
    EXPECT(atomic_load(&scene.state.loads) == 0);
    EXPECT(counts_of(scene.cache).hits == loads && counts_of(scene.cache).writes == 0);

    /* Outputs of an older program: nothing is written beyond its fields. */
    memset(&figures, 0x55, sizeof figures);
    figures.struct_size = offsetof(tilecache_store_statistics, writes);
    EXPECT_OK(tilecache_store_get_statistics(store, &figures));
    EXPECT(figures.hits == loads && figures.misses == 0 && figures.writes == 0x5555555555555555);
    figures.struct_size = sizeof figures;
    EXPECT_OK(tilecache_store_get_statistics(store, &figures));
    EXPECT(figures.writes == 0 && figures.bytes_read > 0 && figures.failures == 0);
    tilecache_statistics statistics;
    memset(&statistics, 0x55, sizeof statistics);
    statistics.struct_size = offsetof(tilecache_statistics, store_count);
    EXPECT_OK(tilecache_get_statistics(scene.cache, &statistics));
    EXPECT(statistics.shortfall_bytes == 0 && statistics.store_count == 0x5555555555555555);
    end_scene(&scene);

    /* Inputs of an older program: it has no stores, whatever follows its structure. */
    CHECK(make_store_scene(&scene, store, offsetof(tilecache_layer_options, stores), NULL));
    CHECK(draw_stored(&scene));
    EXPECT(atomic_load(&scene.state.loads) == loads && statistics_of(scene.cache).store_count == 0);
    end_scene(&scene);
    tilecache_store_close(store);
    return NULL;
}

const char *check_stores(void) {
    char folder[512], address[600];
    int loads = 0;
    CHECK(make_folder(folder, address));
    strcat(address, "?limit=4MiB");
    const char *failure = fill_store(address, &loads);
    if (!failure) failure = use_store(address, loads);
    remove_folder(folder);
    return failure;
}

static const char *close_in_use(const char *address) {
    static scene scene;
    tilecache_store *store = NULL, *other = NULL;
    EXPECT_OK(tilecache_store_open(address, &store));
    CHECK(make_store_scene(&scene, store, sizeof(tilecache_layer_options), NULL));
    tilecache_store_close(store);
    /* Closed while the layer still holds it. */
    EXPECT_OK(tilecache_store_open(address, &other));
    CHECK(draw_stored(&scene));
    EXPECT(atomic_load(&scene.state.loads) >= 16);
    tilecache_store_counts counts = counts_of(scene.cache);
    EXPECT(counts.hits == 0 && counts.writes == 0);
    end_scene(&scene);
    tilecache_store_close(other);

    /* Closed after the cache that used it. */
    EXPECT_OK(tilecache_store_open(address, &store));
    CHECK(make_store_scene(&scene, store, sizeof(tilecache_layer_options), NULL));
    CHECK(draw_stored(&scene));
    end_scene(&scene);
    tilecache_store_close(store);

    /* Without names, and with invalid ones. */
    tilecache_layer_options good, o;
    tilecache_cache *cache = NULL;
    tilecache_layer layer = -1;
    static source_state state;
    const char *names[2] = {"", NULL};
    EXPECT_OK(tilecache_store_open(address, &store));
    EXPECT_OK(tilecache_create(NULL, &cache));
    EXPECT_OK(tilecache_layer_options_init(&good, sizeof good));
    good.stores = &store;
    good.store_count = 1;
    o = good;
    EXPECT(add_layer(cache, &state, write_tile, &o, &layer) == TILECACHE_ERROR_INVALID_LAYER);
    EXPECT(strstr(tilecache_last_error(), "name of the layer's data") != NULL);
    o.data_set = names;
    o.data_set_count = 1;
    EXPECT(add_layer(cache, &state, write_tile, &o, &layer) == TILECACHE_ERROR_INVALID_LAYER);
    o.data_set_count = 2;
    EXPECT_ARGUMENT(add_layer(cache, &state, write_tile, &o, &layer));
    EXPECT(strstr(tilecache_last_error(), "options->data_set[1] must not be NULL") != NULL);
    names[1] = "\xFF";
    EXPECT_ARGUMENT(add_layer(cache, &state, write_tile, &o, &layer));
    EXPECT(strstr(tilecache_last_error(), "options->data_set[1] must be UTF-8") != NULL);
    o.data_set_count = 1025;
    EXPECT_ARGUMENT(add_layer(cache, &state, write_tile, &o, &layer));
    EXPECT(strstr(tilecache_last_error(), "data_set_count must be 0 to 1024, not 1025") != NULL);
    o = good;
    o.data_set_count = 1;
    EXPECT_ARGUMENT(add_layer(cache, &state, write_tile, &o, &layer));
    EXPECT(layer == -1);
    tilecache_destroy(cache);
    tilecache_store_close(store);
    return NULL;
}

const char *check_closed_stores(void) {
    char folder[512], address[600];
    CHECK(make_folder(folder, address));
    const char *failure = close_in_use(address);
    remove_folder(folder);
    return failure;
}

const char *check_store_addresses(void) {
    tilecache_store *store = NULL;
    tilecache_store_statistics figures = {.struct_size = sizeof figures};
    EXPECT_ARGUMENT(tilecache_store_open(NULL, &store));
    EXPECT_ARGUMENT(tilecache_store_open("memcached:localhost", NULL));
#define REFUSED(address, words) \
    EXPECT(tilecache_store_open(address, &store) == TILECACHE_ERROR_INVALID_STORE); \
    EXPECT(strstr(tilecache_last_error(), words) != NULL)
    REFUSED("", "disk:FOLDER");
    REFUSED("redis:localhost", "not 'redis:localhost'");
    REFUSED("disk:", "a folder must follow disk: in 'disk:'");
    REFUSED("disk:?limit=4MiB", "a folder must follow");
    REFUSED("disk:\xFF", "UTF-8");
    REFUSED("disk:/nowhere/tiles", "/nowhere/tiles: the disk store cannot be opened");
    REFUSED("disk:/nowhere?size=1", "limit= and a whole number");
    REFUSED("disk:/nowhere?limit=4095KiB", "4194304 ... ");
    REFUSED("memcached:", "HOST:PORT");
    REFUSED("memcached:localhost:0", "a port from 1 to 65535 was expected, in the address 'memcached:localhost:0'");
    EXPECT(store == NULL);
    /* An unreachable server is no error. */
    EXPECT_OK(tilecache_store_open("memcached:127.0.0.1:1,127.0.0.1:2", &store));
    EXPECT_OK(tilecache_store_get_statistics(store, &figures));
    EXPECT(figures.disk_bytes == -1 && figures.memory_bytes > 0 && figures.hits == 0 && figures.misses == 0);
    tilecache_store_close(store);
    return NULL;
}

#endif

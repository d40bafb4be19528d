/* Stored tiles that expire: a source receives their validators and confirms them. */
#define _POSIX_C_SOURCE 200809L
#include "stores.h"

#ifndef CHECKS_CORE_ONLY

#include <string.h>
#include <time.h>

typedef struct dated_source {
    /* Counts of written pixels, confirmed tiles and unexpected results. */
    atomic_int loads, confirmed, wrong;
} dated_source;

/* Expired a minute ago, with validators; or never expires, without. */
static tilecache_freshness freshness_of(int has_expired) {
    tilecache_freshness freshness;
    tilecache_freshness_init(&freshness, sizeof freshness);
    if (has_expired) {
        freshness.stored -= 120;
        freshness.expires = freshness.stored + 60;
        memset(freshness.entity_tag, 'e', 512);
        strcpy(freshness.last_modified, "Sun, 22 Nov 2026 20:00:00 GMT");
    }
    return freshness;
}

static int is_expired_one(const tilecache_freshness *cached) {
    const tilecache_freshness expected = freshness_of(1);
    return cached->struct_size == sizeof *cached && cached->expires == cached->stored + 60 &&
           cached->usable_until == 0 && strcmp(cached->entity_tag, expected.entity_tag) == 0 &&
           strcmp(cached->last_modified, expected.last_modified) == 0;
}

static void fill_pixels(void *memory, size_t byte_count, tilecache_coordinate tile) {
    uint32_t value = expected_pixel(tile, 0);
    for (size_t offset = 0; offset < byte_count; offset += 4) memcpy((char *)memory + offset, &value, 4);
}

static tilecache_outcome load_dated(void *context, tilecache_pixels *pixels) {
    dated_source *source = context;
    tilecache_freshness cached = {.struct_size = sizeof cached}, unset = {.struct_size = 0};
    int32_t is_cached = 7;
    if (tilecache_pixels_get_cached(pixels, &cached, &is_cached) != TILECACHE_OK ||
        tilecache_pixels_get_cached(pixels, &unset, &is_cached) != TILECACHE_ERROR_INVALID_ARGUMENT ||
        tilecache_pixels_get_cached(pixels, NULL, &is_cached) != TILECACHE_ERROR_INVALID_ARGUMENT ||
        tilecache_pixels_get_cached(pixels, &cached, NULL) != TILECACHE_ERROR_INVALID_ARGUMENT ||
        tilecache_pixels_set_freshness(pixels, NULL) != TILECACHE_ERROR_INVALID_ARGUMENT)
        atomic_fetch_add(&source->wrong, 1);
    if (is_cached) {
        const tilecache_freshness renewed = freshness_of(0);
        if (!is_expired_one(&cached) || tilecache_pixels_set_freshness(pixels, &renewed) != TILECACHE_OK)
            atomic_fetch_add(&source->wrong, 1);
        atomic_fetch_add(&source->confirmed, 1);
        return TILECACHE_OUTCOME_UNCHANGED;
    }
    /* A validator that is too long or unterminated, and one that is not UTF-8; then a valid one. */
    tilecache_freshness freshness = freshness_of(1);
    freshness.entity_tag[512] = 'e';
    int is_refused = tilecache_pixels_set_freshness(pixels, &freshness) == TILECACHE_ERROR_INVALID_ARGUMENT;
    memset(freshness.entity_tag, 'e', sizeof freshness.entity_tag);
    is_refused &= tilecache_pixels_set_freshness(pixels, &freshness) == TILECACHE_ERROR_INVALID_ARGUMENT;
    freshness = freshness_of(1);
    freshness.last_modified[0] = '\xFF';
    is_refused &= tilecache_pixels_set_freshness(pixels, &freshness) == TILECACHE_ERROR_INVALID_ARGUMENT;
    freshness = freshness_of(1);
    if (!is_refused || tilecache_pixels_set_freshness(pixels, &freshness) != TILECACHE_OK)
        atomic_fetch_add(&source->wrong, 1);
    fill_pixels(pixels->memory, pixels->byte_count, pixels->tile);
    atomic_fetch_add(&source->loads, 1);
    return TILECACHE_OUTCOME_PIXELS;
}

/* What is stored is drawn once more, and must then not be stored any longer. */
static tilecache_outcome load_unstored(void *context, tilecache_pixels *pixels) {
    dated_source *source = context;
    tilecache_freshness freshness = freshness_of(1), cached = {.struct_size = sizeof cached};
    int32_t is_cached = 7;
    if (tilecache_pixels_get_cached(pixels, &cached, &is_cached) != TILECACHE_OK) atomic_fetch_add(&source->wrong, 1);
    if (is_cached) freshness.expires = TILECACHE_NOT_STORED;
    if (tilecache_pixels_set_freshness(pixels, &freshness) != TILECACHE_OK) atomic_fetch_add(&source->wrong, 1);
    atomic_fetch_add(is_cached ? &source->confirmed : &source->loads, 1);
    if (is_cached) return TILECACHE_OUTCOME_UNCHANGED;
    fill_pixels(pixels->memory, pixels->byte_count, pixels->tile);
    return TILECACHE_OUTCOME_PIXELS;
}

static tilecache_outcome confirm(void *context, tilecache_pixels *pixels) {
    (void)context, (void)pixels;
    return TILECACHE_OUTCOME_UNCHANGED;
}

/* Answers at once. Counts first, since the tile may be drawn before this returns. */
static void request_dated(void *context, tilecache_request *request) {
    dated_source *source = context;
    tilecache_freshness cached = {.struct_size = sizeof cached};
    tilecache_request_info info = {.struct_size = sizeof info};
    int32_t is_cached = 7;
    if (tilecache_request_get_info(request, &info) != TILECACHE_OK ||
        tilecache_request_get_cached(request, &cached, &is_cached) != TILECACHE_OK ||
        tilecache_request_get_cached(request, &cached, NULL) != TILECACHE_ERROR_INVALID_ARGUMENT ||
        tilecache_request_set_freshness(request, NULL) != TILECACHE_ERROR_INVALID_ARGUMENT)
        atomic_fetch_add(&source->wrong, 1);
    const tilecache_freshness freshness = freshness_of(!is_cached);
    if (tilecache_request_set_freshness(request, &freshness) != TILECACHE_OK) atomic_fetch_add(&source->wrong, 1);
    tilecache_status status;
    if (is_cached) {
        if (!is_expired_one(&cached)) atomic_fetch_add(&source->wrong, 1);
        atomic_fetch_add(&source->confirmed, 1);
        status = tilecache_request_complete(request, confirm, NULL);
    } else {
        uint32_t pixels[64 * 64];
        fill_pixels(pixels, sizeof pixels, info.tile);
        atomic_fetch_add(&source->loads, 1);
        status = tilecache_request_complete_copying(request, pixels, sizeof pixels, 0);
    }
    if (status != TILECACHE_OK ||
        tilecache_request_set_freshness(request, &freshness) != TILECACHE_ERROR_ALREADY_COMPLETED)
        atomic_fetch_add(&source->wrong, 1);
    tilecache_request_release(request);
}

/* The first run stores expired tiles. The second draws them after the source has confirmed them. In the third they
 * are fresh, or have gone. */
static const char *run_thrice(const char *address, tilecache_source source, int are_kept) {
    static scene scene;
    int loads = 0;
    for (int run = 0; run < 3; run++) {
        dated_source dated = {0};
        tilecache_store *store = NULL;
        source.context = &dated;
        EXPECT_OK(tilecache_store_open(address, &store));
        CHECK(make_store_scene(&scene, store, sizeof(tilecache_layer_options), &source));
        CHECK(draw_stored(&scene));
        if (run == 0) {
            loads = atomic_load(&dated.loads);
            for (int round = 0; round < 4000 && counts_of(scene.cache).writes < loads; round++) pause_ms(5);
            EXPECT(loads >= 16 && counts_of(scene.cache).writes == loads);
        }
        end_scene(&scene);
        tilecache_store_close(store);
        EXPECT(atomic_load(&dated.wrong) == 0);
        EXPECT(atomic_load(&dated.loads) == (run == 0 || (run == 2 && !are_kept) ? loads : 0));
        EXPECT(atomic_load(&dated.confirmed) == (run == 1 ? loads : 0));
    }
    return NULL;
}

const char *check_freshness(void) {
    char folder[512], address[600];
    tilecache_freshness freshness;
    tilecache_source sources[3];
    memset(&freshness, 0x55, sizeof freshness);
    EXPECT_OK(tilecache_freshness_init(&freshness, sizeof freshness));
    EXPECT(freshness.expires == TILECACHE_NEVER && freshness.usable_until == 0);
    EXPECT(freshness.entity_tag[0] == 0 && freshness.last_modified[519] == 0);
    /* 2020 at the earliest, in seconds. */
    EXPECT(freshness.stored > 1577836800 && freshness.stored < INT64_C(100000000000));
    for (int index = 0; index < 3; index++) EXPECT_OK(tilecache_source_init(&sources[index], sizeof sources[index]));
    sources[0].load = load_dated;
    sources[1].request = request_dated;
    sources[2].load = load_unstored;
    for (int index = 0; index < 3; index++) {
        const char *failure = NULL;
        /* A look-up ends after 50 ms, and the tile is loaded: a busy machine may take so long, but not each time. */
        for (int attempt = 0; attempt < 5; attempt++) {
            CHECK(make_folder(folder, address));
            failure = run_thrice(address, sources[index], index < 2);
            remove_folder(folder);
            if (!failure) break;
        }
        if (failure) return failure;
    }
    return NULL;
}

#endif

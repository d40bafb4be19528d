/* Sources whose encoded bytes replace the compressed form. Here a seed, which determines all of a noisy tile. */
#include "support.h"

#include <string.h>

typedef struct noisy_source {
    atomic_int loads, kept, decodes, wrong;
    int fails;
} noisy_source;

static uint32_t seed_of(tilecache_coordinate tile) {
    return (uint32_t)(tile.level * 1000003 + tile.column * 1009 + tile.row) | 1;
}

static void fill(void *memory, size_t byte_count, uint32_t seed) {
    unsigned char *bytes = memory;
    for (size_t index = 0; index < byte_count; index++) {
        seed = seed * 1664525 + 1013904223;
        bytes[index] = (unsigned char)(seed >> 24);
    }
}

static tilecache_outcome load_noise(void *context, tilecache_pixels *pixels) {
    noisy_source *source = context;
    uint32_t seed = seed_of(pixels->tile);
    int32_t is_kept = 0;
    atomic_fetch_add(&source->loads, 1);
    fill(pixels->memory, pixels->byte_count, seed);
    /* No bytes, too many bytes and a null pointer; then a valid call. */
    if (tilecache_pixels_keep_encoded(pixels, NULL, 4, &is_kept) != TILECACHE_ERROR_INVALID_ARGUMENT ||
        tilecache_pixels_keep_encoded(pixels, &seed, SIZE_MAX, &is_kept) != TILECACHE_ERROR_INVALID_ARGUMENT ||
        tilecache_pixels_keep_encoded(NULL, &seed, 4, &is_kept) != TILECACHE_ERROR_INVALID_ARGUMENT ||
        tilecache_pixels_keep_encoded(pixels, NULL, 0, NULL) != TILECACHE_OK ||
        tilecache_pixels_keep_encoded(pixels, &seed, sizeof seed, &is_kept) != TILECACHE_OK)
        atomic_fetch_add(&source->wrong, 1);
    atomic_fetch_add(&source->kept, is_kept);
    return TILECACHE_OUTCOME_PIXELS;
}

static tilecache_outcome decode_noise(
    void *context, const void *encoded, size_t byte_count, tilecache_pixels *pixels) {
    noisy_source *source = context;
    uint32_t seed = 0;
    atomic_fetch_add(&source->decodes, 1);
    if (byte_count != sizeof seed) atomic_fetch_add(&source->wrong, 1);
    memcpy(&seed, encoded, sizeof seed);
    if (seed != seed_of(pixels->tile) || pixels->layer != 0) atomic_fetch_add(&source->wrong, 1);
    if (source->fails) return TILECACHE_OUTCOME_FAILED;
    fill(pixels->memory, pixels->byte_count, seed);
    return TILECACHE_OUTCOME_PIXELS;
}

static void request_noise(void *context, tilecache_request *request) {
    tilecache_request_complete(request, load_noise, context);
    tilecache_request_release(request);
}

static int is_noise(const tilecache_tile *tile) {
    unsigned char expected[16384];
    fill(expected, sizeof expected, seed_of(tile->identity.tile));
    return tile->byte_count == sizeof expected && memcmp(expected, tile->pixels, sizeof expected) == 0;
}

/* Pans back and forth over more tiles than fit decoded, until some have been decoded again. */
static const char *walk(int is_asynchronous, int fails) {
    static noisy_source noisy;
    static scene scene;
    memset(&noisy, 0, sizeof noisy);
    noisy.fails = fails;
    tilecache_source source;
    EXPECT_OK(tilecache_source_init(&source, sizeof source));
    EXPECT(source.decode == NULL);
    source.context = &noisy;
    source.load = is_asynchronous ? NULL : load_noise;
    source.request = is_asynchronous ? request_noise : NULL;
    source.decode = decode_noise;
    const char *failure = make_scene_of(&scene, &source, 1 << 20, 0);
    if (failure) return failure;
    for (int step = 0; atomic_load(&noisy.decodes) < 4; step++) {
        EXPECT(step < 400);
        int place = step % 14 < 7 ? step % 14 : 14 - step % 14;
        tilecache_frame *frame = draw_until_sharp(&scene, place * 2, step % 4 * 4, 2);
        EXPECT(frame != NULL);
        const tilecache_placement *placements = NULL;
        size_t count = 0;
        EXPECT_OK(tilecache_frame_get_placements(frame, sizeof *placements, &placements, &count));
        for (size_t index = 0; index < count; index++) EXPECT(is_noise(&placements[index].tile));
        tilecache_frame_release(frame);
    }
    tilecache_statistics s = statistics_of(scene.cache);
    EXPECT(atomic_load(&noisy.kept) > 0 && s.encoded_payloads > 0 && s.encoded_payloads <= atomic_load(&noisy.kept));
    EXPECT(fails ? s.undecodable_payloads > 0 : s.undecodable_payloads == 0);
    EXPECT(atomic_load(&noisy.wrong) == 0);
    end_scene(&scene);
    return NULL;
}

const char *check_encoded(void) {
    for (int kind = 0; kind < 4; kind++) {
        const char *failure = walk(kind & 1, kind & 2);
        if (failure) return failure;
    }
    return NULL;
}

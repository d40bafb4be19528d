/* What sessions teach, as bytes that the program keeps. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

/* The profile as bytes, to be freed; NULL if they cannot be read. */
static unsigned char *bytes_of(const tilecache_profile *profile, size_t *count) {
    if (tilecache_profile_get_bytes(profile, NULL, 0, count) != TILECACHE_OK) return NULL;
    unsigned char *bytes = malloc(*count);
    if (bytes && tilecache_profile_get_bytes(profile, bytes, *count, count) == TILECACHE_OK) return bytes;
    free(bytes);
    return NULL;
}

static tilecache_profile_info info_of(const tilecache_profile *profile) {
    tilecache_profile_info info = {.struct_size = sizeof info, .sessions = -1, .has_places = -1};
    tilecache_profile_get_info(profile, &info);
    return info;
}

static const char *check_profile_arguments(const scene *scene) {
    tilecache_profile *profile = NULL;
    tilecache_profile_info info = {.struct_size = sizeof info};
    size_t count = 7;
    char byte = 0;
    EXPECT_ARGUMENT(tilecache_profile_create(NULL, 1, &profile));
    EXPECT_ARGUMENT(tilecache_profile_create(&byte, 1, NULL));
    EXPECT_ARGUMENT(tilecache_profile_get_bytes(NULL, NULL, 0, &count));
    EXPECT_ARGUMENT(tilecache_profile_get_info(NULL, &info));
    EXPECT_ARGUMENT(tilecache_profile_remove_places(NULL));
    EXPECT_ARGUMENT(tilecache_get_learned_profile(NULL, 0, &profile));
    EXPECT_ARGUMENT(tilecache_get_learned_profile(scene->cache, 7, &profile));
    EXPECT_ARGUMENT(tilecache_get_learned_profile(scene->cache, scene->layer, NULL));
    tilecache_profile_release(NULL);
    /* One byte is no profile, and more than any profile has is not read. */
    EXPECT(tilecache_profile_create(&byte, 1, &profile) == TILECACHE_ERROR_INVALID_PROFILE);
    EXPECT(strstr(tilecache_last_error(), "'TileCache profile'") != NULL);
    EXPECT(tilecache_profile_create(&byte, SIZE_MAX, &profile) == TILECACHE_ERROR_INVALID_PROFILE);
    EXPECT(tilecache_profile_create(&byte, 300001, &profile) == TILECACHE_ERROR_INVALID_PROFILE);
    EXPECT(profile == NULL && count == 7);

    EXPECT_OK(tilecache_profile_create(NULL, 0, &profile));
    EXPECT_ARGUMENT(tilecache_profile_merge(NULL, profile));
    EXPECT_ARGUMENT(tilecache_profile_merge(profile, NULL));
    EXPECT_ARGUMENT(tilecache_profile_get_info(profile, NULL));
    EXPECT_ARGUMENT(tilecache_profile_get_bytes(profile, NULL, 1, &count));
    EXPECT_ARGUMENT(tilecache_profile_get_bytes(profile, &byte, 1, &count));
    EXPECT_ARGUMENT(tilecache_profile_get_bytes(profile, &byte, SIZE_MAX, &count));
#ifndef __APPLE__
    EXPECT_ARGUMENT(tilecache_profile_get_info((tilecache_profile *)scene->view, &info));
    tilecache_layer layer;
    source_state state = {0};
    tilecache_layer_options options;
    EXPECT_OK(tilecache_layer_options_init(&options, sizeof options));
    options.profile = (tilecache_profile *)scene->view;
    EXPECT_ARGUMENT(add_layer(scene->cache, &state, write_tile, &options, &layer));
    EXPECT(strstr(tilecache_last_error(), "options->profile is a handle of another kind") != NULL);
#endif
    EXPECT(count == 7);
    tilecache_profile_release(profile);
    return NULL;
}

/* Each byte of the header changed, and some lengths. */
static const char *check_damage(unsigned char *bytes, size_t count) {
    tilecache_profile *profile = NULL;
    for (size_t index = 0; index < count; index += index < 64 ? 1 : 24593) {
        bytes[index] ^= 1;
        EXPECT(tilecache_profile_create(bytes, count, &profile) == TILECACHE_ERROR_INVALID_PROFILE);
        EXPECT(strstr(tilecache_last_error(), "profile: ") && strstr(tilecache_last_error(), "expected"));
        bytes[index] ^= 1;
        EXPECT(index == 0 ||
               tilecache_profile_create(bytes, index, &profile) == TILECACHE_ERROR_INVALID_PROFILE);
    }
    EXPECT(tilecache_profile_create(bytes, count - 1, &profile) == TILECACHE_ERROR_INVALID_PROFILE);
    EXPECT(profile == NULL);
    return NULL;
}

const char *check_profiles(void) {
    static scene scene;
    const char *failure = make_scene(&scene, NULL, NULL);
    if (failure == NULL) failure = check_profile_arguments(&scene);
    if (failure) return failure;
    tilecache_profile *none = NULL, *first = NULL, *second = NULL, *again = NULL;

    /* A session pans; what it teaches survives the cache. */
    for (int step = 0; step < 10; step++) {
        tilecache_frame *frame = draw_until_sharp(&scene, step, 4, 4);
        EXPECT(frame != NULL);
        tilecache_frame_release(frame);
    }
    EXPECT_OK(tilecache_get_learned_profile(scene.cache, scene.layer, &first));
    EXPECT(first != NULL && info_of(first).sessions == 1 && info_of(first).has_places == 1);
    /* No view shows it. */
    source_state state = {0};
    tilecache_layer layer = -1;
    EXPECT_OK(add_layer(scene.cache, &state, write_tile, NULL, &layer));
    none = first;
    EXPECT_OK(tilecache_get_learned_profile(scene.cache, layer, &none));
    EXPECT(none == NULL);
    EXPECT_OK(tilecache_remove_layer(scene.cache, layer));
    EXPECT_ARGUMENT(tilecache_get_learned_profile(scene.cache, layer, &none));
    end_scene(&scene);

    /* Bytes in, bytes out. */
    size_t count = 0, same = 0;
    unsigned char *bytes = bytes_of(first, &count);
    EXPECT(bytes != NULL && count > 0 && count <= 300000);
    EXPECT_OK(tilecache_profile_create(bytes, count, &again));
    unsigned char *copy = bytes_of(again, &same);
    EXPECT(copy != NULL && same == count && memcmp(bytes, copy, count) == 0);
    free(copy);
    failure = check_damage(bytes, count);
    if (failure) return failure;

    /* Merging with nothing changes nothing; without places the bytes are about half. */
    EXPECT_OK(tilecache_profile_create(NULL, 0, &second));
    EXPECT(info_of(second).sessions == 0 && info_of(second).has_places == 0);
    EXPECT_OK(tilecache_profile_merge(again, second));
    copy = bytes_of(again, &same);
    EXPECT(copy != NULL && same == count && memcmp(bytes, copy, count) == 0);
    free(copy);
    EXPECT_OK(tilecache_profile_merge(second, first));
    EXPECT_OK(tilecache_profile_merge(second, second));
    EXPECT_OK(tilecache_profile_merge(second, again));
    EXPECT(info_of(second).sessions == 3 && info_of(second).has_places == 1);
    EXPECT_OK(tilecache_profile_remove_places(again));
    EXPECT(info_of(again).sessions == 1 && info_of(again).has_places == 0 && info_of(second).has_places == 1);
    copy = bytes_of(again, &same);
    EXPECT(copy != NULL && same == count - 131072);
    free(copy);
    free(bytes);

    /* A layer starts with it and keeps a copy. */
    tilecache_cache *cache = NULL;
    tilecache_layer_options options;
    tilecache_view *view = NULL;
    tilecache_frame *frame = NULL;
    const tilecache_viewport viewport = viewport_at(3, 4, 4);
    EXPECT_OK(tilecache_create(NULL, &cache));
    EXPECT_OK(tilecache_layer_options_init(&options, sizeof options));
    options.profile = second;
    EXPECT_OK(add_layer(cache, &state, write_tile, &options, &layer));
    tilecache_profile_release(second);
    EXPECT_OK(tilecache_view_create(cache, &layer, 1, NULL, &view));
    EXPECT_OK(tilecache_view_update(view, &viewport, NULL));
    EXPECT_OK(tilecache_view_frame(view, &frame));
    tilecache_frame_release(frame);
    /* The profile's sessions are not this one's. */
    EXPECT_OK(tilecache_get_learned_profile(cache, layer, &second));
    EXPECT(second != NULL && info_of(second).sessions == 1);
    tilecache_profile_release(second);
    tilecache_view_destroy(view);
    EXPECT_OK(tilecache_get_learned_profile(cache, layer, &second));
    EXPECT(second == NULL);
    /* Loads in flight write with the state on this stack. */
    EXPECT_OK(tilecache_shutdown(cache, INT64_C(20000000000)));
    tilecache_destroy(cache);
    tilecache_profile_release(again);
    tilecache_profile_release(first);
    return NULL;
}

/* Frames of a view. */
#include "support.h"

#include <math.h>
#include <string.h>

/* A placement as a later version may have it. */
typedef struct longer_placement {
    tilecache_placement known;
    int64_t unknown[2];
} longer_placement;

static void count_call(void *context) { atomic_fetch_add((atomic_int *)context, 1); }

static int same(const tilecache_identity *a, const tilecache_identity *b) { return memcmp(a, b, sizeof *a) == 0; }

const char *check_frames(void) {
    static scene scene;
    const char *failure = make_scene(&scene, NULL, NULL);
    if (failure) return failure;
    static atomic_int ready, ended;
    atomic_store(&ready, 0);
    atomic_store(&ended, 0);
    EXPECT_OK(tilecache_view_set_tiles_ready(scene.view, count_call, &ready, NULL));
    EXPECT_OK(tilecache_view_set_tiles_ready(scene.view, NULL, NULL, count_call));
    EXPECT_OK(tilecache_view_set_tiles_ready(scene.view, count_call, &ready, NULL));
    EXPECT_OK(tilecache_view_set_promotion_budget(scene.view, 0, 0));
    EXPECT_OK(tilecache_view_set_promotion_budget(scene.view, INT64_MAX, INT64_MAX));
    EXPECT_ARGUMENT(tilecache_view_set_promotion_budget(scene.view, -1, 0));
    EXPECT_ARGUMENT(tilecache_view_set_promotion_budget(scene.view, 0, -1));

    /* Two by two tiles, exactly. */
    tilecache_frame *frame = draw_until_sharp(&scene, 2, 5, 2), *next = NULL;
    EXPECT(frame != NULL);
    const tilecache_placement *placements = NULL;
    size_t count = 0;
    EXPECT_OK(tilecache_frame_get_placements(frame, sizeof *placements, &placements, &count));
    EXPECT(count == 4);
    for (size_t index = 0; index < 4; index++) {
        const tilecache_placement *p = &placements[index];
        EXPECT(p->is_exact && !p->tile.is_stale && p->tile.identity.layer == scene.layer && holds(&p->tile, 0));
        EXPECT(p->tile.identity.tile.level == 4);
        EXPECT(p->tile.identity.tile.column == 2 + (int)index % 2 && p->tile.identity.tile.row == 5 + (int)index / 2);
        EXPECT(p->world.min_x == 64.0 * (2 + index % 2) && p->world.max_x - p->world.min_x == 64);
        EXPECT(p->world.min_y == 64.0 * (5 + index / 2) && p->world.max_y - p->world.min_y == 64);
        EXPECT(p->part.min_x == 0 && p->part.min_y == 0 && p->part.max_x == 64 && p->part.max_y == 64);
    }
    for (int attempt = 0; attempt < 4000 && atomic_load(&ready) == 0; attempt++) pause_ms(5);
    EXPECT(atomic_load(&ready) > 0);

    /* The same array again, and one for a longer structure. */
    const tilecache_placement *again = NULL;
    EXPECT_OK(tilecache_frame_get_placements(frame, sizeof *placements, &again, &count));
    EXPECT(again == placements);
    EXPECT_OK(tilecache_frame_get_placements(frame, sizeof(longer_placement), &again, &count));
    const longer_placement *longer = (const longer_placement *)again;
    for (int index = 0; index < 4; index++) {
        EXPECT(memcmp(&longer[index].known, &placements[index], sizeof *placements) == 0);
        EXPECT(longer[index].unknown[0] == 0 && longer[index].unknown[1] == 0);
    }
    EXPECT_ARGUMENT(tilecache_frame_get_placements(frame, sizeof *placements - 8, &again, &count));
    EXPECT_ARGUMENT(tilecache_frame_get_placements(frame, sizeof *placements + 1, &again, &count));
    EXPECT_ARGUMENT(tilecache_frame_get_placements(frame, SIZE_MAX - 7, &again, &count));

    /* A step to the right: two tiles enter, two leave. */
    tilecache_frame_release(draw_until_sharp(&scene, 2, 5, 2));
    const tilecache_identity left = placements[0].tile.identity;
    next = draw_until_sharp(&scene, 3, 5, 2);
    EXPECT(next != NULL);
    const tilecache_placement *moved = NULL;
    EXPECT_OK(tilecache_frame_get_placements(next, sizeof *moved, &moved, &count));
    EXPECT(count == 4 && same(&moved[0].tile.identity, &placements[1].tile.identity));

    /* Tiles of frames and leases stay valid until they end, also after the cache's end. */
    tilecache_lease *lease = NULL;
    tilecache_tile tile;
    EXPECT_ARGUMENT(tilecache_frame_lease(frame, 4, &lease));
    EXPECT_ARGUMENT(tilecache_frame_lease(frame, SIZE_MAX, &lease));
    EXPECT_OK(tilecache_frame_lease(frame, 0, &lease));
    tilecache_frame_release(frame);
    EXPECT_OK(tilecache_trim(scene.cache, 0));
    EXPECT_OK(tilecache_lease_get_tile(lease, &tile));
    EXPECT(same(&tile.identity, &left) && holds(&tile, 0));
    EXPECT_ARGUMENT(tilecache_lease_get_tile(lease, NULL));
    for (int index = 0; index < 4; index++) EXPECT(holds(&moved[index].tile, 0));

    /* Viewports that cannot be drawn are refused. */
    const tilecache_viewport good = viewport_at(0, 0, 1);
    tilecache_viewport v;
#define UNDRAWABLE(assignment) \
    v = good; \
    v.assignment; \
    EXPECT_ARGUMENT(tilecache_view_update(scene.view, &v, NULL))
    UNDRAWABLE(center_x = NAN);
    UNDRAWABLE(center_y = INFINITY);
    UNDRAWABLE(width = 0);
    UNDRAWABLE(height = -1);
    UNDRAWABLE(scale = 0);
    UNDRAWABLE(scale = NAN);
    UNDRAWABLE(rotation = -INFINITY);
    UNDRAWABLE(struct_size = 0);
    /* Any time and any destination are accepted. */
    tilecache_update_options options;
    EXPECT_OK(tilecache_update_options_init(&options, sizeof options));
    v = viewport_at(9, 9, 2);
    const int64_t times[] = {0, INT64_MAX, INT64_MIN + 1, TILECACHE_TIME_NOW, -1};
    for (int index = 0; index < 5; index++) {
        options.time = times[index];
        options.destination = &v;
        options.destination_time = times[4 - index];
        EXPECT_OK(tilecache_view_update(scene.view, &good, &options));
    }
    tilecache_viewport bad = v;
    bad.width = NAN;
    options.destination = &bad;
    EXPECT_ARGUMENT(tilecache_view_update(scene.view, &good, &options));
    EXPECT(statistics_of(scene.cache).refused_viewports == 7);

    /* Levels: half the scale is a level coarser, and so is a bias of one. */
    tilecache_view_options view_options;
    tilecache_view *other = NULL;
    EXPECT_OK(tilecache_view_options_init(&view_options, sizeof view_options));
    view_options.level_bias = 8.5;
    EXPECT_ARGUMENT(tilecache_view_create(scene.cache, &scene.layer, 1, &view_options, &other));
    view_options.level_bias = NAN;
    EXPECT_ARGUMENT(tilecache_view_create(scene.cache, &scene.layer, 1, &view_options, &other));
    view_options.level_bias = 1;
    view_options.level_hysteresis = -0.1;
    EXPECT_ARGUMENT(tilecache_view_create(scene.cache, &scene.layer, 1, &view_options, &other));
    view_options.level_hysteresis = 0.25;
    view_options.promotion_tiles = -1;
    EXPECT_ARGUMENT(tilecache_view_create(scene.cache, &scene.layer, 1, &view_options, &other));
    view_options.promotion_tiles = 1;
    EXPECT_OK(tilecache_view_create(scene.cache, &scene.layer, 1, &view_options, &other));
    tilecache_view_destroy(scene.view);
    scene.view = other;
    tilecache_frame_release(next);
    next = draw_until_sharp(&scene, 4, 4, 4);
    EXPECT(next != NULL);
    EXPECT_OK(tilecache_frame_get_placements(next, sizeof *moved, &moved, &count));
    EXPECT(count == 4 && moved[0].tile.identity.tile.level == 3 && holds(&moved[0].tile, 0));

    tilecache_frame_release(next);
    tilecache_lease_release(lease);
    end_scene(&scene);
    EXPECT(atomic_load(&scene.state.ends) == 1 && atomic_load(&ended) == 0);
    return NULL;
}

/* Checks a frame of two by two tiles whose right column never loads. */
static const char *check_unavailable(const scene *scene, const tilecache_frame *frame, int outcome, int *is_complete) {
    const tilecache_unavailable_tile *tiles = NULL;
    size_t count = 0;
    tilecache_frame_info info = {.struct_size = sizeof info};
    EXPECT_OK(tilecache_frame_get_info(frame, &info));
    EXPECT_OK(tilecache_frame_get_unavailable(frame, sizeof *tiles, &tiles, &count));
    EXPECT(count == info.unavailable_count && (count > 0) == (tiles != NULL));
    const int is_absent = outcome == TILECACHE_OUTCOME_ABSENT;
    /* Retried tiles may still load. */
    const size_t expected = is_absent || outcome == TILECACHE_OUTCOME_FAILED_PERMANENTLY ? 2 : 0;
    EXPECT(count <= expected);
    for (size_t index = 0; index < count; index++) {
        const tilecache_unavailable_tile *t = &tiles[index];
        EXPECT(t->cause == (is_absent ? TILECACHE_CAUSE_ABSENT : TILECACHE_CAUSE_FAILED));
        EXPECT(t->layer == scene->layer && t->tile.level == 4 && t->tile.column == 1 && t->tile.row < 2);
        EXPECT(t->world.min_x == 64 && t->world.max_x == 128);
        EXPECT(t->world.min_y == 64.0 * t->tile.row && t->world.max_y == 64.0 * (t->tile.row + 1));
    }
    if (count == 2) {
        typedef struct longer_tile {
            tilecache_unavailable_tile known;
            int64_t unknown;
        } longer_tile;
        const tilecache_unavailable_tile *again = NULL;
        EXPECT(tiles[0].tile.row != tiles[1].tile.row);
        EXPECT_OK(tilecache_frame_get_unavailable(frame, sizeof(longer_tile), &again, &count));
        const longer_tile *longer = (const longer_tile *)again;
        EXPECT(memcmp(&longer[1].known, &tiles[1], sizeof tiles[1]) == 0 && longer[1].unknown == 0);
    }
    *is_complete = count == expected;
    return NULL;
}

const char *check_outcomes(void) {
    /* Outcomes of odd columns: absent, failed permanently, failed transiently, and an undefined one. */
    const tilecache_outcome outcomes[] = {
        TILECACHE_OUTCOME_ABSENT, TILECACHE_OUTCOME_FAILED_PERMANENTLY, TILECACHE_OUTCOME_FAILED, 77};
    for (int index = 0; index < 4; index++) {
        static scene scene;
        const char *failure = make_scene(&scene, NULL, NULL);
        if (failure) return failure;
        scene.state.outcome = outcomes[index];
        scene.state.retry_after = index == 2 ? INT64_MAX : INT64_MIN;
        tilecache_viewport viewport = viewport_at(0, 0, 2);
        tilecache_statistics s;
        int is_complete = 0;
        for (int attempt = 0;; attempt++) {
            EXPECT(attempt < 4000);
            tilecache_frame *frame = NULL;
            EXPECT_OK(tilecache_view_update(scene.view, &viewport, NULL));
            EXPECT_OK(tilecache_view_frame(scene.view, &frame));
            failure = check_unavailable(&scene, frame, outcomes[index], &is_complete);
            if (failure) return failure;
            tilecache_frame_release(frame);
            s = statistics_of(scene.cache);
            const int has_failed = index == 0 ? s.loads_absent >= 2 : s.loads_failed >= 2;
            if (has_failed && is_complete && s.loads_drawn >= 2 && (index < 3 || s.loads_retried > 0)) break;
            pause_ms(5);
        }
        EXPECT(index == 3 || s.loads_retried == 0);
        EXPECT(index == 0 ? s.loads_failed == 0 : s.loads_absent == 0);
        EXPECT(s.shortfall_bytes == 0 && s.loads_retried <= s.loads_started);
        EXPECT(s.prefetch_empty + s.prefetches_in_flight <= s.prefetch_started);
        int32_t resident = 1;
        EXPECT_OK(tilecache_is_resident(scene.cache, scene.layer, (tilecache_coordinate){4, 1, 0}, &resident));
        EXPECT(!resident);
        end_scene(&scene);
    }
    return NULL;
}

static void copy_pixel(void *context, const void *pixels, size_t byte_count) {
    if (byte_count == 16384) memcpy(context, pixels, 4);
}

const char *check_upkeep(void) {
    static scene scene;
    const char *failure = make_scene(&scene, NULL, NULL);
    if (failure) return failure;
    const tilecache_coordinate top = {0, 0, 0}, tile = {4, 2, 2};
    uint32_t pixel = 0;
    int32_t resident = 0;

    /* A pinned tile loads without any view. */
    const tilecache_rectangle corner = {0, 0, 1, 1};
    EXPECT_OK(tilecache_pin(scene.cache, scene.layer, 0, 2, &corner));
    tilecache_frame_release(draw_until_sharp(&scene, 2, 2, 1));
    for (int attempt = 0; attempt < 4000 && !resident; attempt++) {
        EXPECT_OK(tilecache_is_resident(scene.cache, scene.layer, top, &resident));
        pause_ms(5);
    }
    EXPECT(resident);
    for (int attempt = 0; attempt < 4000 && pixel == 0; attempt++) {
        tilecache_status status = tilecache_read_tile(scene.cache, scene.layer, top, copy_pixel, &pixel);
        EXPECT(status == TILECACHE_OK || status == TILECACHE_ERROR_NOT_RESIDENT);
        pause_ms(5);
    }
    EXPECT(pixel == expected_pixel(top, 0));
    EXPECT_OK(tilecache_trim(scene.cache, 0));
    EXPECT(tilecache_read_tile(scene.cache, scene.layer, (tilecache_coordinate){4, 99, 0}, copy_pixel, &pixel) ==
           TILECACHE_ERROR_NOT_RESIDENT);
    EXPECT_OK(tilecache_unpin(scene.cache, scene.layer, 0, INT64_MAX, NULL));

    /* After an invalidation new pixels have a new generation; held ones are unchanged. */
    tilecache_frame *before = draw_until_sharp(&scene, 2, 2, 1), *after = NULL;
    const tilecache_placement *old = NULL, *new = NULL;
    size_t count = 0;
    EXPECT(before != NULL);
    EXPECT_OK(tilecache_frame_get_placements(before, sizeof *old, &old, &count));
    EXPECT(count == 1 && holds(&old->tile, 0));
    atomic_store(&scene.state.version, 1);
    EXPECT_OK(tilecache_invalidate(scene.cache, scene.layer, NULL, 1));
    for (int attempt = 0;; attempt++) {
        EXPECT(attempt < 4000);
        after = draw_until_sharp(&scene, 2, 2, 1);
        EXPECT(after != NULL);
        EXPECT_OK(tilecache_frame_get_placements(after, sizeof *new, &new, &count));
        EXPECT(count == 1);
        if (!new->tile.is_stale) break;
        EXPECT(holds(&new->tile, 0));
        tilecache_frame_release(after);
        pause_ms(5);
    }
    EXPECT(holds(&new->tile, 1) && holds(&old->tile, 0));
    EXPECT(new->tile.identity.generation > old->tile.identity.generation);
    const tilecache_identity *identities = NULL;
    EXPECT_OK(tilecache_frame_get_appeared(after, &identities, &count));
    EXPECT(count == 1 && memcmp(identities, &new->tile.identity, sizeof *identities) == 0);
    EXPECT_OK(tilecache_frame_get_disappeared(after, &identities, &count));
    EXPECT(count == 1 && memcmp(identities, &old->tile.identity, sizeof *identities) == 0);
    tilecache_frame_release(before);
    tilecache_frame_release(after);

    /* A shortfall of memory for the screen is reported in bytes. */
    int64_t shortfall = 0;
    tilecache_viewport viewport = viewport_at(0, 0, 8);
    EXPECT_OK(tilecache_view_get_shortfall_bytes(scene.view, &shortfall));
    EXPECT(shortfall == 0);
    EXPECT_OK(tilecache_set_byte_limit(scene.cache, 600000));
    EXPECT_OK(tilecache_view_update(scene.view, &viewport, NULL));
    EXPECT_OK(tilecache_view_get_shortfall_bytes(scene.view, &shortfall));
    EXPECT(shortfall >= 64 * 16384);
    EXPECT(statistics_of(scene.cache).shortfall_bytes == shortfall);
    EXPECT_OK(tilecache_is_resident(scene.cache, scene.layer, tile, &resident));
    end_scene(&scene);
    return NULL;
}

/* Layers are added and removed; tiles that frames hold stay valid. */
const char *check_removal(void) {
    static scene scene;
    static source_state state;
    const char *failure = make_scene(&scene, NULL, NULL);
    if (failure) return failure;
    const tilecache_coordinate tiles[] = {{4, 9, 9}, {4, 10, 9}};
    tilecache_layer other = -1;
    tilecache_frame *before = draw_until_sharp(&scene, 2, 2, 1);
    const tilecache_placement *placements = NULL;
    size_t count = 0;
    EXPECT(before != NULL);
    EXPECT_OK(tilecache_frame_get_placements(before, sizeof *placements, &placements, &count));
    EXPECT(count == 1);

    EXPECT_OK(add_layer(scene.cache, &state, write_tile, NULL, &other));
    EXPECT(other == scene.layer + 1);
    const tilecache_layer both[] = {other, scene.layer}, twice[] = {other, other};
    EXPECT_OK(tilecache_view_set_layers(scene.view, both, 2));
    EXPECT_ARGUMENT(tilecache_view_set_layers(scene.view, twice, 2));
    EXPECT_ARGUMENT(tilecache_view_set_layers(scene.view, both, 3));
    EXPECT_ARGUMENT(tilecache_view_set_layers(scene.view, NULL, 1));
    EXPECT_OK(tilecache_view_set_layers(scene.view, NULL, 0));
    EXPECT_OK(tilecache_view_set_layers(scene.view, &scene.layer, 1));

    int32_t resident = 0;
    EXPECT_OK(tilecache_prefetch(scene.cache, other, tiles, 2));
    for (int attempt = 0; attempt < 4000 && !resident; attempt++) {
        EXPECT_OK(tilecache_is_resident(scene.cache, other, tiles[1], &resident));
        pause_ms(5);
    }
    EXPECT(resident);
    EXPECT_OK(tilecache_pin_tiles(scene.cache, other, tiles, 2));
    for (int attempt = 0; attempt < 4000 && statistics_of(scene.cache).pinned_tiles < 2; attempt++) pause_ms(5);
    EXPECT(statistics_of(scene.cache).pinned_tiles == 2);
    EXPECT_OK(tilecache_unpin_tiles(scene.cache, other, tiles, 1));
    EXPECT(statistics_of(scene.cache).pinned_tiles == 1);
    EXPECT_OK(tilecache_unpin(scene.cache, other, 0, INT64_MAX, NULL));
    EXPECT(statistics_of(scene.cache).pinned_tiles == 0);
    EXPECT_ARGUMENT(tilecache_unpin(scene.cache, other, 1, 0, NULL));
    const tilecache_coordinate far = {4, INT64_MAX, 0};
    EXPECT(tilecache_pin_tiles(scene.cache, other, &far, 1) == TILECACHE_ERROR_INVALID_CONFIGURATION);
    EXPECT_ARGUMENT(tilecache_pin_tiles(scene.cache, other, NULL, 1));
    EXPECT_ARGUMENT(tilecache_prefetch(scene.cache, other, tiles, SIZE_MAX));
    EXPECT_OK(tilecache_pin_tiles(scene.cache, other, NULL, 0));
    EXPECT_OK(tilecache_unpin_tiles(scene.cache, other, tiles, 0));
    EXPECT_OK(tilecache_prefetch(scene.cache, other, tiles, 0));
    EXPECT_ARGUMENT(tilecache_prefetch(scene.cache, 99, tiles, 0));

    tilecache_prefetch_counts prefetched = {.struct_size = sizeof prefetched};
    EXPECT_OK(tilecache_get_prefetch_counts(scene.cache, other, &prefetched));
    /* The two tiles, and what was predicted while a view had the layer. */
    EXPECT(prefetched.started >= 2 && prefetched.requests == prefetched.started && prefetched.bytes > 0);
    EXPECT(prefetched.drawn <= prefetched.started && prefetched.drawn_bytes <= prefetched.bytes);
    EXPECT(prefetched.held_back == 0);
    const int64_t requested = prefetched.requests;
    tilecache_prefetch_allowance allowance;
    EXPECT_OK(tilecache_prefetch_allowance_init(&allowance, sizeof allowance));
    EXPECT(allowance.price == -1 && allowance.effort == -1);
    EXPECT(allowance.requests_per_minute == -1 && allowance.bytes_per_minute == -1);
    allowance.requests_per_minute = 1;
    EXPECT_OK(tilecache_set_prefetch_allowance(scene.cache, other, &allowance));
    const tilecache_coordinate more[] = {{4, 2, 9}, {4, 3, 9}};
    EXPECT_OK(tilecache_prefetch(scene.cache, other, more, 2));
    for (int attempt = 0; attempt < 4000 && prefetched.held_back == 0; attempt++) {
        EXPECT_OK(tilecache_get_prefetch_counts(scene.cache, other, &prefetched));
        pause_ms(5);
    }
    EXPECT(prefetched.held_back > 0 && prefetched.requests == requested + 1);
    allowance.requests_per_minute = -2;
    EXPECT(tilecache_set_prefetch_allowance(scene.cache, other, &allowance) == TILECACHE_ERROR_INVALID_LAYER);
    allowance.requests_per_minute = -1;
    allowance.bytes_per_minute = -2;
    EXPECT_ARGUMENT(tilecache_set_prefetch_allowance(scene.cache, other, &allowance));
    allowance.kind = 3;
    EXPECT_ARGUMENT(tilecache_set_prefetch_allowance(scene.cache, other, &allowance));
    EXPECT_OK(tilecache_set_prefetch_allowance(scene.cache, other, NULL));
    EXPECT_ARGUMENT(tilecache_set_prefetch_allowance(NULL, 0, NULL));
    EXPECT_ARGUMENT(tilecache_get_prefetch_counts(NULL, 0, &prefetched));
    EXPECT_ARGUMENT(tilecache_get_prefetch_counts(scene.cache, other, NULL));

    EXPECT_OK(tilecache_remove_layer(scene.cache, scene.layer));
    EXPECT_ARGUMENT(tilecache_remove_layer(scene.cache, scene.layer));
    EXPECT_ARGUMENT(tilecache_invalidate(scene.cache, scene.layer, NULL, 1));
    EXPECT_ARGUMENT(tilecache_view_set_layers(scene.view, both, 2));
    EXPECT(holds(&placements->tile, 0));
    tilecache_frame *after = NULL;
    EXPECT_OK(tilecache_view_frame(scene.view, &after));
    EXPECT_OK(tilecache_frame_get_placements(after, sizeof *placements, &placements, &count));
    EXPECT(count == 0);
    tilecache_frame_release(after);
    tilecache_frame_release(before);
    /* Numbers are not reused. */
    EXPECT_OK(tilecache_remove_layer(scene.cache, other));
    tilecache_layer third = -1;
    EXPECT_OK(add_layer(scene.cache, &state, write_tile, NULL, &third));
    EXPECT(third == other + 1);
    EXPECT_ARGUMENT(tilecache_remove_layer(NULL, 0));
    EXPECT_ARGUMENT(tilecache_pin_tiles(NULL, 0, tiles, 1));
    EXPECT_ARGUMENT(tilecache_unpin_tiles(NULL, 0, tiles, 1));
    EXPECT_ARGUMENT(tilecache_prefetch(NULL, 0, tiles, 1));
    EXPECT_ARGUMENT(tilecache_view_set_layers(NULL, both, 1));
    end_scene(&scene);
    return NULL;
}

const char *check_needed_tiles(void) {
    static scene scene;
    const char *failure = make_scene(&scene, NULL, NULL);
    if (failure) return failure;
    tilecache_needed_tile needed[] = {
        {scene.layer, 1, {4, 3, 3}}, {scene.layer, 9, {3, 7, 0}}, {scene.layer, 1, {44, -3, INT64_MAX}}};
    int32_t first = 0, second = 0;
    for (int attempt = 0; attempt < 4000 && !(first && second); attempt++) {
        EXPECT_OK(tilecache_view_update_needed(scene.view, needed, 3, sizeof needed[0]));
        EXPECT_OK(tilecache_is_resident(scene.cache, scene.layer, needed[0].tile, &first));
        EXPECT_OK(tilecache_is_resident(scene.cache, scene.layer, needed[1].tile, &second));
        pause_ms(5);
    }
    EXPECT(first && second);
    EXPECT_ARGUMENT(tilecache_view_update_needed(scene.view, needed, 3, sizeof needed[0] - 1));
    EXPECT_ARGUMENT(tilecache_view_update_needed(scene.view, needed, SIZE_MAX, sizeof needed[0]));
    EXPECT_ARGUMENT(tilecache_view_update_needed(scene.view, needed, SIZE_MAX / 64, sizeof needed[0]));
    needed[0].importance = NAN;
    EXPECT_ARGUMENT(tilecache_view_update_needed(scene.view, needed, 3, sizeof needed[0]));
    needed[0].importance = 1;
    needed[2].layer = 5;
    EXPECT_ARGUMENT(tilecache_view_update_needed(scene.view, needed, 3, sizeof needed[0]));
    EXPECT_OK(tilecache_view_update_needed(scene.view, NULL, 0, 0));
    end_scene(&scene);
    return NULL;
}

/* Requests of a host for single tiles, margins of views, late tiles of frames. */
#define _POSIX_C_SOURCE 200809L
#include "support.h"

#include <pthread.h>
#include <string.h>

/* A source that keeps its requests until a check answers one. */
typedef struct waiting_requests {
    pthread_mutex_t lock;
    tilecache_request *requests[64];
    int count;
} waiting_requests;

static void keep(void *context, tilecache_request *request) {
    waiting_requests *waiting = context;
    pthread_mutex_lock(&waiting->lock);
    if (waiting->count < 64) waiting->requests[waiting->count++] = request;
    pthread_mutex_unlock(&waiting->lock);
}

/* Takes the request for a column, after waiting at most 20 s for it. */
static tilecache_request *take(waiting_requests *waiting, int64_t column) {
    for (int attempt = 0; attempt < 4000; attempt++) {
        tilecache_request *found = NULL;
        pthread_mutex_lock(&waiting->lock);
        for (int index = 0; index < waiting->count && found == NULL; index++) {
            tilecache_request_info info = {.struct_size = sizeof info};
            tilecache_request_get_info(waiting->requests[index], &info);
            if (info.tile.column != column) continue;
            found = waiting->requests[index];
            waiting->requests[index] = waiting->requests[--waiting->count];
        }
        pthread_mutex_unlock(&waiting->lock);
        if (found) return found;
        pause_ms(5);
    }
    return NULL;
}

/* What a fetch's function has received. */
typedef struct received {
    atomic_int calls, ends, state;
    _Atomic(tilecache_lease *) lease;
} received;

static void receive(void *context, tilecache_fetch_state state, tilecache_lease *lease) {
    received *to = context;
    atomic_store(&to->state, state);
    atomic_store(&to->lease, lease);
    atomic_fetch_add(&to->calls, 1);
}

static void count_end(void *context) { atomic_fetch_add(&((received *)context)->ends, 1); }

/* Waits for the destroy function: it may run on another thread, after the call that made it superfluous. */
static int is_destroyed(received *to, int calls) {
    for (int attempt = 0; attempt < 4000 && atomic_load(&to->ends) == 0; attempt++) pause_ms(5);
    return atomic_load(&to->calls) == calls && atomic_load(&to->ends) == 1;
}

static int has_ended(received *to) { return is_destroyed(to, 1); }

static const char *check_fetch_arguments(const scene *scene) {
    received to = {0};
    tilecache_cache *cache = scene->cache;
    tilecache_fetch_state state = -1;
    tilecache_lease *lease = NULL;
    tilecache_fetch *fetch = NULL;
    tilecache_placement placement;
    tilecache_fetch_info info = {.struct_size = sizeof info};
    const tilecache_late_tile *late = NULL;
    size_t count = 0;
    const tilecache_coordinate tile = {4, 2, 0}, nowhere = {4, 16, 0};
#define FETCH(cache, layer, rank, function, state, lease, fetch) \
    tilecache_fetch_tile(cache, layer, tile, rank, function, &to, count_end, state, lease, fetch)
    EXPECT_ARGUMENT(FETCH(NULL, scene->layer, 0, receive, &state, &lease, &fetch));
    EXPECT_ARGUMENT(FETCH(cache, 7, 0, receive, &state, &lease, &fetch));
    EXPECT_ARGUMENT(FETCH(cache, scene->layer, -1, receive, &state, &lease, &fetch));
    EXPECT_ARGUMENT(FETCH(cache, scene->layer, 2, receive, &state, &lease, &fetch));
    EXPECT_ARGUMENT(FETCH(cache, scene->layer, 0, NULL, &state, &lease, &fetch));
    EXPECT_ARGUMENT(FETCH(cache, scene->layer, 0, receive, NULL, &lease, &fetch));
    EXPECT_ARGUMENT(FETCH(cache, scene->layer, 0, receive, &state, NULL, &fetch));
    EXPECT_ARGUMENT(FETCH(cache, scene->layer, 0, receive, &state, &lease, NULL));
    EXPECT(state == -1 && atomic_load(&to.ends) == 0);
    EXPECT_ARGUMENT(tilecache_fetch_get_info(NULL, &info));
    EXPECT_ARGUMENT(tilecache_fetch_cancel(NULL, NULL));
    tilecache_fetch_release(NULL);
    EXPECT_ARGUMENT(tilecache_get_placement(NULL, 0, tile, sizeof placement, &placement, &lease));
    EXPECT_ARGUMENT(tilecache_get_placement(cache, 7, tile, sizeof placement, &placement, &lease));
    EXPECT_ARGUMENT(tilecache_get_placement(cache, scene->layer, tile, sizeof placement - 8, &placement, &lease));
    EXPECT_ARGUMENT(tilecache_get_placement(cache, scene->layer, tile, sizeof placement, NULL, &lease));
    EXPECT_ARGUMENT(tilecache_get_placement(cache, scene->layer, tile, sizeof placement, &placement, NULL));
    EXPECT_ARGUMENT(tilecache_frame_get_late(NULL, sizeof *late, &late, &count));
    EXPECT_ARGUMENT(tilecache_view_set_margin(NULL, 0));
    EXPECT_ARGUMENT(tilecache_view_set_margin(scene->view, -1));
    EXPECT_ARGUMENT(tilecache_view_set_margin(scene->view, 9));
    EXPECT_OK(tilecache_view_set_margin(scene->view, 8));
    EXPECT_OK(tilecache_view_set_margin(scene->view, 0));
    /* A tile that the pyramid does not have. */
    EXPECT_OK(tilecache_fetch_tile(cache, scene->layer, nowhere, 0, receive, &to, count_end, &state, &lease, &fetch));
    EXPECT(state == TILECACHE_FETCH_ABSENT && lease == NULL && fetch == NULL);
    EXPECT(atomic_load(&to.calls) == 0 && atomic_load(&to.ends) == 1);
    EXPECT(tilecache_get_placement(cache, scene->layer, nowhere, sizeof placement, &placement, &lease) ==
           TILECACHE_ERROR_NOT_RESIDENT);
    return NULL;
}

/* A frame whose tile is late. */
static const char *check_late(const scene *scene, const tilecache_coordinate tile, int64_t start) {
    const tilecache_needed_tile needed = {scene->layer, 1, tile};
    tilecache_frame *frame = NULL;
    const tilecache_late_tile *late = NULL;
    tilecache_frame_info info = {.struct_size = sizeof info};
    size_t count = 0;
    EXPECT_OK(tilecache_view_update_needed(scene->view, &needed, 1, sizeof needed));
    EXPECT_OK(tilecache_view_frame(scene->view, &frame));
    EXPECT_OK(tilecache_frame_get_info(frame, &info));
    EXPECT_ARGUMENT(tilecache_frame_get_late(frame, sizeof *late - 8, &late, &count));
    EXPECT_ARGUMENT(tilecache_frame_get_late(frame, sizeof *late, NULL, &count));
    EXPECT_OK(tilecache_frame_get_late(frame, sizeof *late, &late, &count));
    EXPECT(count == 1 && info.late_count == 1 && info.unavailable_count == 0);
    EXPECT(late->layer == scene->layer && late->is_loading && late->tile.column == tile.column);
    EXPECT(late->world.min_x == 64.0 * tile.column && late->since >= start && late->since <= tilecache_now());
    tilecache_frame_release(frame);
    EXPECT_OK(tilecache_view_update_needed(scene->view, NULL, 0, sizeof needed));
    return NULL;
}

const char *check_fetches(void) {
    static scene scene;
    static waiting_requests waiting;
    static received to[6];
    memset(&waiting, 0, sizeof waiting);
    memset(to, 0, sizeof to);
    pthread_mutex_init(&waiting.lock, NULL);
    const char *failure = make_scene(&scene, keep, &waiting);
    if (failure == NULL) failure = check_fetch_arguments(&scene);
    if (failure) return failure;
    tilecache_fetch *fetches[6];
    tilecache_fetch_state state;
    tilecache_lease *lease = NULL;
    tilecache_placement placement;
    tilecache_tile pixels;
    tilecache_fetch_info info = {.struct_size = sizeof info};
    const tilecache_coordinate coarse = {2, 1, 0};
    const int64_t start = tilecache_now();

    /* One after the other: pixels, absent, failed, failed for now and then pixels. */
    for (int index = 0; index < 4; index++) {
        const tilecache_coordinate tile = index == 0 ? coarse : (tilecache_coordinate){4, 3 + index, 2};
        EXPECT_OK(tilecache_fetch_tile(scene.cache, scene.layer, tile, index % 2, receive, &to[index], count_end, &state,
                                       &lease, &fetches[index]));
        EXPECT(state == TILECACHE_FETCH_LATE && lease == NULL && fetches[index] != NULL);
        tilecache_request *request = take(&waiting, tile.column);
        EXPECT(request != NULL);
        EXPECT_OK(tilecache_fetch_get_info(fetches[index], &info));
        EXPECT(info.is_loading && info.since >= start && info.since <= tilecache_now());
        if (index == 1) failure = check_late(&scene, tile, start);
        if (failure) return failure;
        if (index == 0) EXPECT_OK(tilecache_request_complete(request, write_tile, &scene.state));
        if (index == 1) EXPECT_OK(tilecache_request_complete_absent(request));
        if (index == 2) EXPECT_OK(tilecache_request_fail(request, 1, 0));
        if (index == 3) {
            EXPECT_OK(tilecache_request_fail(request, 0, 0));
            tilecache_request_release(request);
            request = take(&waiting, tile.column);
            EXPECT(request != NULL && atomic_load(&to[3].calls) == 0);
            EXPECT_OK(tilecache_request_complete(request, write_tile, &scene.state));
        }
        tilecache_request_release(request);
        EXPECT(has_ended(&to[index]));
        int32_t is_cancelled = 1;
        EXPECT_OK(tilecache_fetch_cancel(fetches[index], &is_cancelled));
        EXPECT(!is_cancelled);
        tilecache_fetch_release(fetches[index]);
    }
    EXPECT(to[0].state == TILECACHE_FETCH_READY && to[1].state == TILECACHE_FETCH_ABSENT);
    EXPECT(to[2].state == TILECACHE_FETCH_FAILED && to[3].state == TILECACHE_FETCH_READY);
    EXPECT(to[0].lease != NULL && to[1].lease == NULL && to[2].lease == NULL && to[3].lease != NULL);
    EXPECT_OK(tilecache_lease_get_tile(to[3].lease, &pixels));
    EXPECT(pixels.identity.tile.column == 6 && holds(&pixels, 0));

    /* Known at once now; an ancestor's part shows what is not there. */
    EXPECT_OK(tilecache_fetch_tile(scene.cache, scene.layer, coarse, 0, receive, &to[4], count_end, &state, &lease,
                                   &fetches[4]));
    EXPECT(state == TILECACHE_FETCH_READY && lease != NULL && fetches[4] == NULL);
    EXPECT(is_destroyed(&to[4], 0));
    tilecache_lease_release(lease);
    EXPECT_OK(tilecache_get_placement(scene.cache, scene.layer, (tilecache_coordinate){4, 5, 2}, sizeof placement,
                                      &placement, &lease));
    EXPECT(!placement.is_exact && placement.tile.identity.tile.level == 2 && holds(&placement.tile, 0));
    EXPECT(placement.part.min_x == 16 && placement.part.min_y == 32 && placement.part.max_x == 32);
    EXPECT(placement.world.min_x == 320 && placement.world.max_y == 192);
    tilecache_lease_release(lease);

    /* Cancelled: not called, destroyed once. Pending at the end: removed. */
    atomic_store(&to[4].ends, 0);
    for (int index = 4; index < 6; index++) {
        EXPECT_OK(tilecache_fetch_tile(scene.cache, scene.layer, (tilecache_coordinate){4, 8 + index, 9}, 0, receive,
                                       &to[index], count_end, &state, &lease, &fetches[index]));
        EXPECT(state == TILECACHE_FETCH_LATE);
    }
    int32_t is_cancelled = 0;
    EXPECT_OK(tilecache_fetch_cancel(fetches[4], &is_cancelled));
    EXPECT(is_cancelled);
    tilecache_fetch_release(fetches[4]);
    EXPECT(is_destroyed(&to[4], 0));
    EXPECT_OK(tilecache_remove_layer(scene.cache, scene.layer));
    EXPECT(has_ended(&to[5]) && to[5].state == TILECACHE_FETCH_REMOVED && to[5].lease == NULL);
    tilecache_fetch_release(fetches[5]);
    const tilecache_status ended = tilecache_shutdown(scene.cache, 0);
    EXPECT(ended == TILECACHE_OK || ended == TILECACHE_ERROR_TIMED_OUT);
    EXPECT(tilecache_fetch_tile(scene.cache, scene.layer, coarse, 0, receive, &to[5], NULL, &state, &lease,
                                &fetches[5]) == TILECACHE_ERROR_SHUT_DOWN);

    tilecache_lease_release(to[0].lease);
    tilecache_lease_release(to[3].lease);
    end_scene(&scene);
    for (int index = 0; index < waiting.count; index++) tilecache_request_release(waiting.requests[index]);
    pthread_mutex_destroy(&waiting.lock);
    return NULL;
}

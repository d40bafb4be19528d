/* Sources that answer late, twice, after a cancellation, or never. */
#define _POSIX_C_SOURCE 200809L
#include "support.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Keeps requests until a check takes them. */
typedef struct request_queue {
    pthread_mutex_t lock;
    tilecache_request *waiting[64];
    int count;
} request_queue;

static void keep(void *context, tilecache_request *request) {
    request_queue *queue = context;
    pthread_mutex_lock(&queue->lock);
    if (queue->count < 64) queue->waiting[queue->count++] = request;
    pthread_mutex_unlock(&queue->lock);
}

/* Takes the oldest request, after waiting at most 20 s for one. */
static tilecache_request *take(request_queue *queue) {
    tilecache_request *request = NULL;
    for (int attempt = 0; attempt < 4000 && request == NULL; attempt++) {
        pthread_mutex_lock(&queue->lock);
        if (queue->count > 0) {
            request = queue->waiting[0];
            memmove(queue->waiting, queue->waiting + 1, sizeof request * (size_t)--queue->count);
        }
        pthread_mutex_unlock(&queue->lock);
        if (request == NULL) pause_ms(5);
    }
    return request;
}

static const char *make_queue_scene(scene *scene, request_queue *queue) {
    memset(queue, 0, sizeof *queue);
    pthread_mutex_init(&queue->lock, NULL);
    return make_scene(scene, keep, queue);
}

/* Releases the remaining requests after the last call of `keep`; tilecache_destroy() waits for none. */
static void end_queue_scene(scene *scene, request_queue *queue) {
    end_scene(scene);
    for (int index = 0; index < queue->count; index++) tilecache_request_release(queue->waiting[index]);
    pthread_mutex_destroy(&queue->lock);
}

static tilecache_coordinate tile_of(tilecache_request *request) {
    tilecache_request_info info;
    info.struct_size = sizeof info;
    tilecache_request_get_info(request, &info);
    return info.tile;
}

static int is_resident(scene *scene, tilecache_coordinate tile) {
    int32_t truth = 0;
    tilecache_is_resident(scene->cache, scene->layer, tile, &truth);
    return truth;
}

static void count_call(void *context) { atomic_fetch_add((atomic_int *)context, 1); }

/* Requests that their source releases, and those of them that had not failed then. */
typedef struct releases {
    scene scene;
    atomic_int count, unfinished;
} releases;

static void release_at_once(void *context, tilecache_request *request) {
    releases *releases = context;
    tilecache_request_release(request);
    int released = atomic_fetch_add(&releases->count, 1) + 1;
    if (statistics_of(releases->scene.cache).loads_failed < released) atomic_fetch_add(&releases->unfinished, 1);
}

const char *check_releases(void) {
    static releases releases;
    atomic_store(&releases.count, 0);
    atomic_store(&releases.unfinished, 0);
    const char *failure = make_scene(&releases.scene, release_at_once, &releases);
    if (failure) return failure;
    tilecache_viewport viewport = viewport_at(0, 0, 4);
    EXPECT_OK(tilecache_view_update(releases.scene.view, &viewport, NULL));
    for (int attempt = 0; attempt < 4000 && atomic_load(&releases.count) < 8; attempt++) pause_ms(5);
    end_scene(&releases.scene);
    EXPECT(releases.count >= 8 && releases.unfinished == 0);
    return NULL;
}

const char *check_requests(void) {
    static scene scene;
    static request_queue queue;
    const char *failure = make_queue_scene(&scene, &queue);
    if (failure) return failure;
    tilecache_viewport viewport = viewport_at(0, 0, 4);
    EXPECT_OK(tilecache_view_update(scene.view, &viewport, NULL));

    /* Pixels written directly into the cache's memory. A second answer of any kind is refused and counted. */
    tilecache_request *request = take(&queue);
    EXPECT(request != NULL && tilecache_request_is_wanted(request));
    tilecache_request_info info;
    info.struct_size = sizeof info;
    EXPECT_OK(tilecache_request_get_info(request, &info));
    EXPECT(info.layer == scene.layer && info.tile.level <= 4);
    EXPECT_ARGUMENT(tilecache_request_get_info(request, NULL));
    EXPECT_ARGUMENT(tilecache_request_complete(request, NULL, NULL));
    EXPECT_ARGUMENT(tilecache_request_holds_encoded(request, -1));
    EXPECT(tilecache_request_holds_encoded(request, INT64_MAX) == TILECACHE_ERROR_NO_ROOM);
    EXPECT_OK(tilecache_request_holds_encoded(request, 1000));
    EXPECT_OK(tilecache_request_complete(request, write_tile, &scene.state));
    EXPECT(tilecache_request_holds_encoded(request, 0) == TILECACHE_ERROR_ALREADY_COMPLETED);
    EXPECT(is_resident(&scene, info.tile) && !tilecache_request_is_wanted(request));
    char byte = 0;
    EXPECT(tilecache_request_complete(request, write_tile, &scene.state) == TILECACHE_ERROR_ALREADY_COMPLETED);
    EXPECT(tilecache_request_complete_copying(request, &byte, 1, 1) == TILECACHE_ERROR_ALREADY_COMPLETED);
    EXPECT(tilecache_request_complete_absent(request) == TILECACHE_ERROR_ALREADY_COMPLETED);
    EXPECT(tilecache_request_fail(request, 1, 0) == TILECACHE_ERROR_ALREADY_COMPLETED);
    EXPECT(tilecache_request_cancel(request) == TILECACHE_ERROR_ALREADY_COMPLETED);
    EXPECT(statistics_of(scene.cache).second_answers == 5 && is_resident(&scene, info.tile));
    EXPECT(atomic_load(&scene.state.loads) == 1);
    tilecache_request_release(request);

    /* Pixels that are copied: with a row stride, packed, too few. */
    enum { STRIDE = 300 };
    unsigned char *rows = malloc(STRIDE * 64);
    EXPECT(rows != NULL);
    for (int index = 0; index < STRIDE * 64; index++) rows[index] = index % STRIDE < 256 ? 7 : 99;
    request = take(&queue);
    EXPECT(request != NULL);
    info.tile = tile_of(request);
    EXPECT_OK(tilecache_request_complete_copying(request, rows, STRIDE * 63 + 256, STRIDE));
    tilecache_request_release(request);
    EXPECT(is_resident(&scene, info.tile));
    memset(rows, 8, 16384);
    request = take(&queue);
    EXPECT(request != NULL);
    EXPECT_OK(tilecache_request_complete_copying(request, rows, 16384, 0));
    tilecache_request_release(request);
    const size_t wrong[][2] = {{16383, 0}, {16384, 255}, {STRIDE * 63 + 255, STRIDE}, {0, 0}, {16384, SIZE_MAX},
                               {16384, SIZE_MAX / 2}};
    for (int index = 0; index < 6; index++) {
        request = take(&queue);
        EXPECT(request != NULL);
        EXPECT_ARGUMENT(tilecache_request_complete_copying(request, rows, wrong[index][0], wrong[index][1]));
        EXPECT(wrong[index][1] != SIZE_MAX || strstr(tilecache_last_error(), "bytes_per_row above SSIZE_MAX") != NULL);
        EXPECT(tilecache_request_cancel(request) == TILECACHE_ERROR_ALREADY_COMPLETED);
        tilecache_request_release(request);
    }
    request = take(&queue);
    EXPECT(request != NULL);
    EXPECT_ARGUMENT(tilecache_request_complete_copying(request, NULL, 16384, 0));
    tilecache_request_release(request);
    EXPECT(statistics_of(scene.cache).loads_failed == 7);
    free(rows);

    /* Absent; failed transiently and permanently; released without an answer; cancelled while wanted. */
    request = take(&queue);
    EXPECT(request != NULL);
    EXPECT_OK(tilecache_request_complete_absent(request));
    tilecache_request_release(request);
    EXPECT(statistics_of(scene.cache).loads_absent == 1);
    request = take(&queue);
    EXPECT(request != NULL);
    EXPECT_ARGUMENT(tilecache_request_fail(request, 0, -1));
    EXPECT_ARGUMENT(tilecache_request_postpone(request, -1));
    EXPECT_OK(tilecache_request_fail(request, 0, INT64_MAX));
    EXPECT(tilecache_request_postpone(request, 0) == TILECACHE_ERROR_ALREADY_COMPLETED);
    tilecache_request_release(request);
    request = take(&queue);
    EXPECT(request != NULL);
    EXPECT_OK(tilecache_request_fail(request, 1, 0));
    tilecache_request_release(request);
    request = take(&queue);
    EXPECT(request != NULL);
    tilecache_request_release(request);
    EXPECT(statistics_of(scene.cache).loads_failed == 10);
    request = take(&queue);
    EXPECT(request != NULL);
    EXPECT_OK(tilecache_request_cancel(request));
    tilecache_request_release(request);
    EXPECT(statistics_of(scene.cache).loads_failed == 11 && statistics_of(scene.cache).loads_cancelled == 0);

    /* Pixels of before an invalidation. */
    request = take(&queue);
    EXPECT(request != NULL);
    EXPECT_OK(tilecache_invalidate(scene.cache, scene.layer, NULL, 1));
    EXPECT(tilecache_request_complete(request, write_tile, &scene.state) == TILECACHE_ERROR_NO_ROOM);
    EXPECT(strstr(tilecache_last_error(), "it was invalidated or removed after the request") != NULL);
    tilecache_request_release(request);

    end_queue_scene(&scene, &queue);
    return NULL;
}

typedef struct cancel_note {
    atomic_int calls, ends;
} cancel_note;

static void note_cancel(void *context) { atomic_fetch_add(&((cancel_note *)context)->calls, 1); }
static void note_end(void *context) { atomic_fetch_add(&((cancel_note *)context)->ends, 1); }

const char *check_cancellation(void) {
    static scene scene;
    static request_queue queue;
    const char *failure = make_queue_scene(&scene, &queue);
    if (failure) return failure;
    static cancel_note notes[4];
    memset(notes, 0, sizeof notes);
    tilecache_viewport viewport = viewport_at(0, 0, 4);
    EXPECT_OK(tilecache_view_update(scene.view, &viewport, NULL));
    tilecache_request *first = take(&queue), *second = take(&queue), *third = take(&queue);
    EXPECT(first && second && third);

    /* Handlers that are replaced, removed or outlived by their request are released uncalled. */
    EXPECT_OK(tilecache_request_on_cancel(first, note_cancel, &notes[0], note_end));
    EXPECT_OK(tilecache_request_on_cancel(first, note_cancel, &notes[1], note_end));
    EXPECT(notes[0].calls == 0 && notes[0].ends == 1);
    EXPECT_OK(tilecache_request_on_cancel(first, NULL, &notes[0], note_end));
    EXPECT(notes[0].ends == 1 && notes[1].ends == 1 && notes[1].calls == 0);
    EXPECT_OK(tilecache_request_on_cancel(first, note_cancel, &notes[2], note_end));
    EXPECT_OK(tilecache_request_complete(first, write_tile, &scene.state));
    EXPECT(notes[2].ends == 1 && notes[2].calls == 0);
    EXPECT_OK(tilecache_request_on_cancel(first, note_cancel, &notes[3], note_end));
    EXPECT(notes[3].ends == 1 && notes[3].calls == 0);
    tilecache_request_release(first);

    /* Cancelled tiles: the handler is called once. A handler set later is called at once. */
    memset(notes, 0, sizeof notes);
    EXPECT_OK(tilecache_request_on_cancel(second, note_cancel, &notes[0], note_end));
    EXPECT_OK(tilecache_shutdown(scene.cache, 10000000000));
    EXPECT(notes[0].calls == 1 && notes[0].ends == 1);
    EXPECT(!tilecache_request_is_wanted(second) && !tilecache_request_is_wanted(third));
    EXPECT_OK(tilecache_request_on_cancel(third, note_cancel, &notes[1], note_end));
    EXPECT(notes[1].calls == 1 && notes[1].ends == 1);

    /* An answer after the cancellation does no harm. */
    tilecache_status status = tilecache_request_complete(second, write_tile, &scene.state);
    EXPECT(status == TILECACHE_OK || status == TILECACHE_ERROR_NO_ROOM);
    EXPECT_OK(tilecache_request_cancel(third));
    EXPECT(notes[0].calls == 1 && notes[1].calls == 1);
    tilecache_request_release(second);
    tilecache_request_release(third);
    end_queue_scene(&scene, &queue);
    return NULL;
}

typedef struct late_answer {
    tilecache_request *request;
    source_state *state;
    atomic_int statuses[2];
} late_answer;

static void *answer_late(void *context) {
    late_answer *late = context;
    pause_ms(20);
    tilecache_status status = tilecache_request_complete(late->request, write_tile, late->state);
    atomic_fetch_add(&late->statuses[status == TILECACHE_ERROR_ALREADY_COMPLETED], 1);
    return NULL;
}

const char *check_late_answers(void) {
    static scene scene;
    static request_queue queue;
    const char *failure = make_queue_scene(&scene, &queue);
    if (failure) return failure;
    tilecache_viewport viewport = viewport_at(0, 0, 2);
    EXPECT_OK(tilecache_view_update(scene.view, &viewport, NULL));

    /* Four threads answer one request: one of them succeeds. */
    late_answer late = {take(&queue), &scene.state, {0, 0}};
    EXPECT(late.request != NULL);
    pthread_t threads[4];
    for (int index = 0; index < 4; index++) EXPECT(pthread_create(&threads[index], NULL, answer_late, &late) == 0);
    for (int index = 0; index < 4; index++) pthread_join(threads[index], NULL);
    EXPECT(late.statuses[0] == 1 && late.statuses[1] == 3);
    EXPECT(statistics_of(scene.cache).second_answers == 3);
    tilecache_request_release(late.request);

    /* A request that outlives its view, its cache and their handles. */
    tilecache_request *request = take(&queue);
    EXPECT(request != NULL);
    static atomic_int ends;
    atomic_store(&ends, 0);
    EXPECT_OK(tilecache_request_on_cancel(request, count_call, &ends, count_call));
    end_queue_scene(&scene, &queue);
    /* The shutdown has waited for the handler. */
    EXPECT(ends == 2 && !tilecache_request_is_wanted(request));
    tilecache_status status = tilecache_request_complete(request, write_tile, &scene.state);
    EXPECT(status == TILECACHE_OK || status == TILECACHE_ERROR_NO_ROOM);
    tilecache_request_release(request);
    return NULL;
}

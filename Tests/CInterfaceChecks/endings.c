/* Shutdown and release in any order, also from many threads at once. */
#define _POSIX_C_SOURCE 200809L
#include "support.h"

#include <pthread.h>
#include <string.h>

const char *check_endings(void) {
    static scene scene;
    const char *failure = make_scene(&scene, NULL, NULL);
    if (failure) return failure;
    tilecache_frame *frame = draw_until_sharp(&scene, 2, 2, 2), *empty = NULL;
    tilecache_lease *lease = NULL;
    const tilecache_placement *placements = NULL;
    size_t count = 0;
    tilecache_tile tile;
    EXPECT(frame != NULL);
    EXPECT_OK(tilecache_frame_get_placements(frame, sizeof *placements, &placements, &count));
    EXPECT_OK(tilecache_frame_lease(frame, 3, &lease));
    EXPECT_OK(tilecache_shutdown(scene.cache, INT64_C(20000000000)));
    EXPECT(atomic_load(&scene.state.ends) == 1);

    /* After a shutdown: no updates, no new limit, empty frames, and held tiles are unchanged. */
    tilecache_viewport viewport = viewport_at(0, 0, 1);
    EXPECT(tilecache_view_update(scene.view, &viewport, NULL) == TILECACHE_ERROR_SHUT_DOWN);
    EXPECT(tilecache_view_update_needed(scene.view, NULL, 0, 0) == TILECACHE_ERROR_SHUT_DOWN);
    EXPECT(tilecache_set_byte_limit(scene.cache, INT64_C(1) << 20) == TILECACHE_ERROR_SHUT_DOWN);
    EXPECT_OK(tilecache_view_frame(scene.view, &empty));
    EXPECT_OK(tilecache_frame_get_placements(empty, sizeof *placements, &placements, &count));
    EXPECT(count == 0 && placements == NULL);
    tilecache_frame_release(empty);
    EXPECT_OK(tilecache_shutdown(scene.cache, 0));
    tilecache_destroy(scene.cache);
    tilecache_view_destroy(scene.view);
    EXPECT_OK(tilecache_frame_get_placements(frame, sizeof *placements, &placements, &count));
    EXPECT(count == 4);
    for (size_t index = 0; index < count; index++) EXPECT(holds(&placements[index].tile, 0));
    tilecache_frame_release(frame);
    EXPECT_OK(tilecache_lease_get_tile(lease, &tile));
    EXPECT(holds(&tile, 0));
    tilecache_lease_release(lease);
    EXPECT(atomic_load(&scene.state.ends) == 1);
    return NULL;
}

/* The requesting thread answers every other tile, another thread the rest, some of them twice. */
typedef struct crowd {
    scene scene;
    source_state state;
    atomic_int stop, wrong, frames, callbacks;
} crowd;

static void *answer(void *context);

typedef struct answer_job {
    crowd *crowd;
    tilecache_request *request;
} answer_job;

static answer_job jobs[256];
static atomic_int job_count, job_done;

static void ask(void *context, tilecache_request *request) {
    crowd *all = context;
    tilecache_request_info info;
    info.struct_size = sizeof info;
    if (tilecache_request_get_info(request, &info) != TILECACHE_OK) atomic_fetch_add(&all->wrong, 1);
    if (info.tile.column % 3 == 1) {
        int slot = atomic_fetch_add(&job_count, 1);
        pthread_t thread;
        if (slot < 256) {
            jobs[slot] = (answer_job){all, request};
            if (pthread_create(&thread, NULL, answer, &jobs[slot]) == 0) {
                pthread_detach(thread);
                return;
            }
        }
        atomic_fetch_add(&job_done, 1);
    }
    tilecache_request_complete(request, write_tile, &all->state);
    tilecache_request_release(request);
}

static void *answer(void *context) {
    answer_job *job = context;
    pause_ms(2);
    if (!tilecache_request_is_wanted(job->request)) tilecache_request_cancel(job->request);
    tilecache_request_complete(job->request, write_tile, &job->crowd->state);
    tilecache_request_complete_absent(job->request);
    tilecache_request_release(job->request);
    atomic_fetch_add(&job_done, 1);
    return NULL;
}

static void count_callback(void *context) { atomic_fetch_add(&((crowd *)context)->callbacks, 1); }

/* A renderer with a separate view. */
static void *render(void *context) {
    crowd *all = context;
    tilecache_view *view = NULL;
    tilecache_view_create(all->scene.cache, &all->scene.layer, 1, NULL, &view);
    tilecache_view_set_tiles_ready(view, count_callback, all, NULL);
    for (int step = 0; !atomic_load(&all->stop); step++) {
        tilecache_viewport viewport = viewport_at(step % 12, step / 3 % 12, 3);
        tilecache_frame *frame = NULL;
        const tilecache_placement *placements = NULL;
        size_t count = 0;
        if (tilecache_view_update(view, &viewport, NULL) != TILECACHE_OK) break;
        tilecache_view_frame(view, &frame);
        tilecache_frame_get_placements(frame, sizeof *placements, &placements, &count);
        for (size_t index = 0; index < count; index++)
            if (!holds(&placements[index].tile, 0)) atomic_fetch_add(&all->wrong, 1);
        tilecache_frame_release(frame);
        atomic_fetch_add(&all->frames, 1);
        pause_ms(1);
    }
    tilecache_view_destroy(view);
    return NULL;
}

/* A thread for all other calls. */
static void *disturb(void *context) {
    crowd *all = context;
    tilecache_cache *cache = all->scene.cache;
    const tilecache_rectangle region = {0, 0, 300, 300};
    for (int step = 0; !atomic_load(&all->stop); step++) {
        char text[64];
        int32_t truth;
        tilecache_invalidate(cache, 0, step % 2 ? &region : NULL, step % 3);
        tilecache_trim(cache, step % 5 * 100000);
        tilecache_set_byte_limit(cache, 1000000 + step % 4 * 1000000);
        tilecache_pin(cache, 0, 0, 1, NULL);
        tilecache_is_resident(cache, 0, (tilecache_coordinate){0, 0, 0}, &truth);
        tilecache_describe_statistics(cache, text, sizeof text, NULL);
        tilecache_unpin(cache, 0, 0, INT64_MAX, NULL);
        if (statistics_of(cache).used_bytes < 0) atomic_fetch_add(&all->wrong, 1);
        if (tilecache_set_byte_limit(cache, 0) == TILECACHE_OK) atomic_fetch_add(&all->wrong, 1);
        pause_ms(3);
    }
    return NULL;
}

const char *check_threads(void) {
    static crowd all;
    memset(&all, 0, sizeof all);
    atomic_store(&job_count, 0);
    atomic_store(&job_done, 0);
    const char *failure = make_scene(&all.scene, ask, &all);
    if (failure) return failure;
    pthread_t threads[5];
    for (int index = 0; index < 5; index++)
        EXPECT(pthread_create(&threads[index], NULL, index < 3 ? render : disturb, &all) == 0);
    for (int attempt = 0; attempt < 4000; attempt++) {
        if (atomic_load(&all.frames) >= 300 && atomic_load(&all.state.loads) > 0) break;
        pause_ms(5);
    }
    atomic_store(&all.stop, 1);
    for (int index = 0; index < 5; index++) pthread_join(threads[index], NULL);
    end_scene(&all.scene);
    for (int attempt = 0; attempt < 4000 && atomic_load(&job_done) < atomic_load(&job_count); attempt++) pause_ms(5);
    EXPECT(atomic_load(&job_done) == atomic_load(&job_count));
    EXPECT(atomic_load(&all.wrong) == 0 && atomic_load(&all.frames) >= 300);
    EXPECT(atomic_load(&all.state.loads) > 0 && atomic_load(&all.callbacks) >= 0);
    return NULL;
}

/* Layers from addresses, opened on another thread. Not part of checks of libtilecache, which has no sources. */
#define _POSIX_C_SOURCE 200809L
#include "stores.h"

#ifndef CHECKS_CORE_ONLY

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <tilecache_sources.h>
#include <time.h>
#include <unistd.h>

/* What an opening's function received. */
typedef struct ending {
    atomic_int calls, destroyed;
    tilecache_status status;
    tilecache_layer layer;
    char text[600];
    pthread_t thread;
} ending;

static void note_end(void *context, tilecache_status status, tilecache_layer layer) {
    ending *end = context;
    end->status = status;
    end->layer = layer;
    end->thread = pthread_self();
    snprintf(end->text, sizeof end->text, "%s", tilecache_last_error());
    atomic_fetch_add(&end->calls, 1);
}

static void note_destroyed(void *context) { atomic_fetch_add(&((ending *)context)->destroyed, 1); }

/* Waits for the end of an opening, at most 20 s. */
static int has_ended(ending *end) {
    for (int round = 0; round < 4000 && !atomic_load(&end->destroyed); round++) pause_ms(5);
    return atomic_load(&end->destroyed) == 1;
}

/* A port of loopback that accepts connections and answers nothing. */
static int silent_server(int *port) {
    struct sockaddr_in place;
    socklen_t size = sizeof place;
    memset(&place, 0, sizeof place);
    place.sin_family = AF_INET;
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int server = socket(AF_INET, SOCK_STREAM, 0);
    if (server < 0 || bind(server, (struct sockaddr *)&place, size) != 0 || listen(server, 64) != 0 ||
        getsockname(server, (struct sockaddr *)&place, &size) != 0)
        return -1;
    *port = ntohs(place.sin_port);
    return server;
}

static const char *check_ends(tilecache_cache *cache, const char *folder) {
    static ending end, failed_end;
    tilecache_opening *opening = NULL;
    tilecache_source_layer_options options;
    tilecache_layer_info info = {.struct_size = sizeof info};
    char address[600];
    EXPECT_OK(tilecache_source_layer_options_init(&options, sizeof options));
    options.tile_size = 16;
    snprintf(address, sizeof address, "xyz:%s", folder);
    EXPECT_OK(tilecache_open_source_layer(cache, address, &options, note_end, &end, note_destroyed, &opening));
    /* Both have been read. */
    memset(address, 0, sizeof address);
    memset(&options, 0xFF, sizeof options);
    EXPECT(has_ended(&end) && atomic_load(&end.calls) == 1 && end.status == TILECACHE_OK);
    EXPECT(!pthread_equal(end.thread, pthread_self()));
    EXPECT_OK(tilecache_get_layer_info(cache, end.layer, &info));
    EXPECT(info.world_width == 32 && info.level_count == 1);
    int32_t is_cancelled = -1;
    EXPECT_OK(tilecache_opening_cancel(opening, &is_cancelled));
    EXPECT(is_cancelled == 0);
    tilecache_opening_release(opening);
    tilecache_opening_release(NULL);
    EXPECT_ARGUMENT(tilecache_opening_cancel(NULL, NULL));

    /* The error of the blocking function, with its words. */
    tilecache_layer layer = -1;
    EXPECT(tilecache_add_source_layer(cache, "mbtiles:/nowhere.mbtiles", NULL, &layer) ==
           TILECACHE_ERROR_INVALID_SOURCE);
    char words[600];
    snprintf(words, sizeof words, "%s", tilecache_last_error());
    EXPECT_OK(tilecache_open_source_layer(
        cache, "mbtiles:/nowhere.mbtiles", NULL, note_end, &failed_end, note_destroyed, &opening));
    EXPECT(has_ended(&failed_end) && failed_end.status == TILECACHE_ERROR_INVALID_SOURCE && failed_end.layer == -1);
    EXPECT(strcmp(failed_end.text, words) == 0 && strstr(words, "/nowhere.mbtiles: there is no such file"));
    tilecache_opening_release(opening);
    return NULL;
}

/* What needs no opening is refused at once; the context stays the caller's. */
static const char *check_refusals(tilecache_cache *cache) {
    static ending end;
    tilecache_opening *opening = NULL;
    tilecache_source_layer_options options;
    EXPECT(tilecache_open_source_layer(cache, "gopher:a", NULL, note_end, &end, note_destroyed, &opening) ==
           TILECACHE_ERROR_INVALID_SOURCE);
    EXPECT(strstr(tilecache_last_error(), "not 'gopher:a'") != NULL);
    EXPECT_ARGUMENT(tilecache_open_source_layer(NULL, "xyz:a", NULL, note_end, &end, note_destroyed, &opening));
    EXPECT_ARGUMENT(tilecache_open_source_layer(cache, NULL, NULL, note_end, &end, note_destroyed, &opening));
    EXPECT_ARGUMENT(tilecache_open_source_layer(cache, "xyz:a", NULL, NULL, &end, note_destroyed, &opening));
    EXPECT_ARGUMENT(tilecache_open_source_layer(cache, "xyz:a", NULL, note_end, &end, note_destroyed, NULL));
    EXPECT_OK(tilecache_source_layer_options_init(&options, sizeof options));
    options.alpha = 9;
    EXPECT_ARGUMENT(tilecache_open_source_layer(cache, "xyz:a", &options, note_end, &end, note_destroyed, &opening));
    EXPECT(opening == NULL && !atomic_load(&end.calls) && !atomic_load(&end.destroyed));
    return NULL;
}

/* Openings of a server that answers nothing: cancelled, released, and of a cache that is destroyed meanwhile. */
static const char *check_cancellations(tilecache_cache *cache, int port) {
    static ending cancelled, released, orphaned, refused;
    tilecache_opening *opening = NULL, *other = NULL;
    char address[100];
    snprintf(address, sizeof address, "pmtiles:http://127.0.0.1:%d/map.pmtiles", port);
    EXPECT_OK(tilecache_open_source_layer(cache, address, NULL, note_end, &cancelled, note_destroyed, &opening));
    pause_ms(50);
    EXPECT(!atomic_load(&cancelled.calls) && !atomic_load(&cancelled.destroyed));
    int32_t is_cancelled = -1;
    EXPECT_OK(tilecache_opening_cancel(opening, &is_cancelled));
    EXPECT(is_cancelled == 1 && has_ended(&cancelled) && !atomic_load(&cancelled.calls));
    EXPECT_OK(tilecache_opening_cancel(opening, &is_cancelled));
    EXPECT(is_cancelled == 0);
    tilecache_opening_release(opening);

    EXPECT_OK(tilecache_open_source_layer(cache, address, NULL, note_end, &released, note_destroyed, &opening));
    tilecache_opening_release(opening);
    EXPECT(has_ended(&released) && !atomic_load(&released.calls));

    tilecache_cache *second = NULL;
    EXPECT_OK(tilecache_create(NULL, &second));
    EXPECT_OK(tilecache_open_source_layer(second, address, NULL, note_end, &orphaned, note_destroyed, &opening));
    pause_ms(20);
    EXPECT_OK(tilecache_shutdown(second, 0));
    EXPECT(tilecache_open_source_layer(second, address, NULL, note_end, &refused, note_destroyed, &other) ==
           TILECACHE_ERROR_SHUT_DOWN);
    tilecache_destroy(second);
    EXPECT(has_ended(&orphaned) && atomic_load(&orphaned.calls) == 1);
    EXPECT(orphaned.status == TILECACHE_ERROR_SHUT_DOWN && orphaned.layer == -1 && orphaned.text[0] != 0);
    tilecache_opening_release(opening);
    EXPECT(!atomic_load(&refused.calls) && !atomic_load(&refused.destroyed) && other == NULL);
    return NULL;
}

/* Releases its own opening, whose handle the function reads at once. */
typedef struct self_release {
    tilecache_opening *opening;
    atomic_int has_handle, ends;
} self_release;

static void release_self(void *context, tilecache_status status, tilecache_layer layer) {
    self_release *self = context;
    (void)status;
    (void)layer;
    atomic_store(&self->has_handle, self->opening != NULL);
    tilecache_opening_release(self->opening);
}

static void note_self_end(void *context) { atomic_fetch_add(&((self_release *)context)->ends, 1); }

/* Cancellations at any moment: either the function is called or the cancellation says that it will not be. */
static const char *check_races(tilecache_cache *cache, const char *folder) {
    enum { rounds = 60 };
    static ending ends[rounds];
    char address[600];
    tilecache_source_layer_options options;
    EXPECT_OK(tilecache_source_layer_options_init(&options, sizeof options));
    options.tile_size = 16;
    snprintf(address, sizeof address, "xyz:%s", folder);
    for (int round = 0; round < rounds; round++) {
        tilecache_opening *opening = NULL;
        int32_t is_cancelled = -1;
        EXPECT_OK(
            tilecache_open_source_layer(cache, address, &options, note_end, &ends[round], note_destroyed, &opening));
        struct timespec wait = {0, round * 20000};
        nanosleep(&wait, NULL);
        EXPECT_OK(tilecache_opening_cancel(opening, &is_cancelled));
        tilecache_opening_release(opening);
        EXPECT(has_ended(&ends[round]) && atomic_load(&ends[round].calls) == !is_cancelled);
        EXPECT(is_cancelled || ends[round].status == TILECACHE_OK);
    }
    static self_release selves[rounds];
    for (int index = 0; index < rounds; index++) {
        self_release *self = &selves[index];
        EXPECT_OK(tilecache_open_source_layer(
            cache, "mbtiles:/nowhere.mbtiles", NULL, release_self, self, note_self_end, &self->opening));
        for (int round = 0; round < 4000 && !atomic_load(&self->ends); round++) pause_ms(5);
        EXPECT(atomic_load(&self->ends) == 1 && atomic_load(&self->has_handle));
    }
    return NULL;
}

/* One zoom without tiles: opens with a tile size. */
static int make_tiles(const char *folder) {
    char path[600];
    snprintf(path, sizeof path, "%s/1", folder);
    if (mkdir(path, 0700) != 0) return 0;
    snprintf(path, sizeof path, "%s/1/0", folder);
    if (mkdir(path, 0700) != 0) return 0;
    snprintf(path, sizeof path, "%s/1/0/0.png", folder);
    FILE *file = fopen(path, "wb");
    return file != NULL && fclose(file) == 0;
}

static void remove_tiles(const char *folder) {
    char path[600];
    const char *parts[] = {"/1/0/0.png", "/1/0", "/1", ""};
    for (int index = 0; index < 4; index++) {
        snprintf(path, sizeof path, "%s%s", folder, parts[index]);
        remove(path);
    }
}

const char *check_openings(void) {
    char folder[512];
    int port = 0;
    CHECK(make_empty_folder(folder));
    int server = silent_server(&port);
    tilecache_cache *cache = NULL;
    const char *failure = make_tiles(folder) && server >= 0 ? NULL : "no folder, or no port";
    if (!failure && tilecache_create(NULL, &cache) != TILECACHE_OK) failure = "no cache";
    if (!failure) failure = check_ends(cache, folder);
    if (!failure) failure = check_refusals(cache);
    if (!failure) failure = check_cancellations(cache, port);
    if (!failure) failure = check_races(cache, folder);
    tilecache_destroy(cache);
    close(server);
    remove_tiles(folder);
    return failure;
}

#endif

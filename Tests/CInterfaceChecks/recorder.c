/* Pan traces: in memory, through a function and into a file. */
#define _POSIX_C_SOURCE 200809L
#include "support.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Bytes that a function received, and the results of its calls back into the library. */
typedef struct text_sink {
    char text[4096];
    size_t length;
    int ends;
    tilecache_recorder *recorder;
    tilecache_view *view;
    tilecache_status inner;
} text_sink;

static void receive(void *context, const char *text, size_t byte_count) {
    text_sink *sink = context;
    if (sink->length + byte_count < sizeof sink->text) {
        memcpy(sink->text + sink->length, text, byte_count);
        sink->length += byte_count;
    }
    tilecache_viewport viewport = viewport_at(0, 0, 1);
    if (sink->recorder) sink->inner = tilecache_recorder_record(sink->recorder, &viewport, 99);
    if (sink->view) sink->inner = tilecache_view_update(sink->view, &viewport, NULL);
}

static void end_sink(void *context) { ((text_sink *)context)->ends++; }

static const char trace[] =
    "# pan-trace: 1\n# viewport: 64x64\n# world: 1024x1024\n# wraps_x: true\n# tile_size: 64\n# view: left\n";

const char *check_recorder(void) {
    tilecache_recorder_options options;
    tilecache_recorder *recorder = NULL;
    tilecache_recorder_counts counts;
    counts.struct_size = sizeof counts;
    tilecache_viewport viewport = viewport_at(1, 2, 1);
    char text[4096];
    size_t length = 0;

    /* In memory. */
    EXPECT_OK(tilecache_recorder_options_init(&options, sizeof options));
    options.world_width = options.world_height = 1024;
    options.tile_size = 64;
    options.wraps_x = 1;
    options.view_name = "left";
    EXPECT_OK(tilecache_recorder_create(&options, &recorder));
    EXPECT_OK(tilecache_recorder_record(recorder, &viewport, 5000000000));
    EXPECT_ARGUMENT(tilecache_recorder_record(recorder, &viewport, 5000000000));
    EXPECT_ARGUMENT(tilecache_recorder_record(recorder, &viewport, INT64_MIN + 1));
    viewport.width = 128;
    EXPECT_OK(tilecache_recorder_record(recorder, &viewport, 5500000000));
    viewport.scale = NAN;
    EXPECT_ARGUMENT(tilecache_recorder_record(recorder, &viewport, 6000000000));
    EXPECT_ARGUMENT(tilecache_recorder_record(recorder, NULL, 6000000000));
    EXPECT_OK(tilecache_recorder_get_counts(recorder, &counts));
    EXPECT(counts.recorded == 2 && counts.out_of_order == 2 && counts.undrawable == 1 && counts.resized == 1);
    EXPECT(counts.write_error == 0);
    EXPECT_ARGUMENT(tilecache_recorder_get_counts(recorder, NULL));
    char expected[4096];
    snprintf(expected, sizeof expected, "%stime_s,center_x,center_y,scale\n0.0000,96,160,1\n0.5000,96,160,1\n", trace);
    EXPECT_OK(tilecache_recorder_get_text(recorder, text, sizeof text, &length));
    EXPECT(length == strlen(expected) && strcmp(text, expected) == 0);
    EXPECT_OK(tilecache_recorder_get_text(recorder, text, 5, &length));
    EXPECT(length == strlen(expected) && strcmp(text, "# pa") == 0);
    tilecache_recorder_release(recorder);

    /* Through a function, fed by a view. The function must not call back and gets an error if it does. */
    static scene scene;
    const char *failure = make_scene(&scene, NULL, NULL);
    if (failure) return failure;
    text_sink sink = {.length = 0};
    options.write = receive;
    options.context = &sink;
    options.destroy = end_sink;
    EXPECT_OK(tilecache_recorder_create(&options, &recorder));
    EXPECT_OK(tilecache_view_set_recorder(scene.view, recorder));
    viewport = viewport_at(1, 2, 1);
    tilecache_update_options update;
    EXPECT_OK(tilecache_update_options_init(&update, sizeof update));
    sink.recorder = recorder;
    update.time = 1000000000;
    EXPECT_OK(tilecache_view_update(scene.view, &viewport, &update));
    EXPECT(sink.inner == TILECACHE_ERROR_INVALID_ARGUMENT);
    sink.recorder = NULL;
    sink.view = scene.view;
    sink.inner = TILECACHE_OK;
    update.time = 2000000000;
    viewport.rotation = 0.5;
    EXPECT_OK(tilecache_view_update(scene.view, &viewport, &update));
    EXPECT(sink.inner == TILECACHE_ERROR_INVALID_ARGUMENT);
    snprintf(expected, sizeof expected,
             "%stime_s,center_x,center_y,scale,rotation\n0.0000,96,160,1,0\n1.0000,96,160,1,0.5\n", trace);
    EXPECT(sink.length == strlen(expected) && memcmp(sink.text, expected, sink.length) == 0);
    tilecache_recorder_release(recorder);
    EXPECT(sink.ends == 0);
    EXPECT_OK(tilecache_view_set_recorder(scene.view, NULL));
    EXPECT(sink.ends == 1);
    end_scene(&scene);

    /* Into a file, and into one that cannot be written. */
    EXPECT_OK(tilecache_recorder_options_init(&options, sizeof options));
    FILE *file = tmpfile();
    EXPECT(file != NULL);
    options.file_descriptor = fileno(file);
    EXPECT_OK(tilecache_recorder_create(&options, &recorder));
    viewport = viewport_at(1, 2, 1);
    EXPECT_OK(tilecache_recorder_record(recorder, &viewport, TILECACHE_TIME_NOW));
    tilecache_recorder_release(recorder);
    rewind(file);
    length = fread(text, 1, sizeof text, file);
    fclose(file);
    const char plain[] = "# pan-trace: 1\n# viewport: 64x64\n# wraps_x: false\n# tile_size: 256\n"
                         "time_s,center_x,center_y,scale,rotation\n0.0000,96,160,1,0\n";
    EXPECT(length == strlen(plain) && memcmp(text, plain, length) == 0);
    options.file_descriptor = 1 << 20;
    EXPECT_OK(tilecache_recorder_create(&options, &recorder));
    EXPECT_OK(tilecache_recorder_record(recorder, &viewport, 0));
    EXPECT_OK(tilecache_recorder_get_counts(recorder, &counts));
    EXPECT(counts.write_error == EBADF && counts.recorded == 1);
    tilecache_recorder_release(recorder);

    /* Invalid options. */
    tilecache_recorder_options good, o;
    EXPECT_OK(tilecache_recorder_options_init(&good, sizeof good));
#define NO_RECORDER(assignment) \
    o = good; \
    o.assignment; \
    EXPECT_ARGUMENT(tilecache_recorder_create(&o, &recorder))
    NO_RECORDER(tile_size = 0);
    NO_RECORDER(file_descriptor = -2);
    NO_RECORDER(viewport_width = 5);
    NO_RECORDER(viewport_height = NAN);
    NO_RECORDER(world_width = INFINITY);
    NO_RECORDER(view_name = "\xff\xfe");
#define NO_RECORDER_OF(area, width, height) \
    o = good; \
    o.area##_width = width; \
    o.area##_height = height; \
    EXPECT_ARGUMENT(tilecache_recorder_create(&o, &recorder))
    NO_RECORDER_OF(world, 10.5, 10);
    NO_RECORDER_OF(viewport, 5, NAN);
    /* Readers refuse larger ones. */
    NO_RECORDER(tile_size = 65537);
    NO_RECORDER_OF(viewport, 1000001, 10);
    NO_RECORDER_OF(world, 1099511627777.0, 10);
    EXPECT(strcmp(tilecache_last_error(), "options->world must have whole numbers from 1 to 2^40, or 0 x 0, "
                                          "not 1099511627777.0 x 10.0") == 0);
    o.world_width = 1099511627776.0;
    o.tile_size = 65536;
    EXPECT_OK(tilecache_recorder_create(&o, &recorder));
    tilecache_recorder_release(recorder);
    o = good;
    o.file_descriptor = 1;
    o.write = receive;
    EXPECT_ARGUMENT(tilecache_recorder_create(&o, &recorder));
    EXPECT_OK(tilecache_recorder_create(NULL, &recorder));
    tilecache_recorder_release(recorder);
    return NULL;
}

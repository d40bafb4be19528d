/* Statistics of frames, views and layers. */
#include "support.h"

#include <math.h>
#include <string.h>

const char *check_parts(void) {
    static scene scene;
    const char *failure = make_scene(&scene, NULL, NULL);
    if (failure) return failure;
    tilecache_frame_info info = {.struct_size = sizeof info};
    tilecache_view_statistics view = {.struct_size = sizeof view};
    tilecache_layer_statistics layer = {.struct_size = sizeof layer};
    tilecache_frame *frame = NULL;

    /* Before the first viewport nothing is on the screen. */
    EXPECT_OK(tilecache_view_frame(scene.view, &frame));
    EXPECT_OK(tilecache_frame_get_info(frame, &info));
    EXPECT(isnan(info.sharp) && isnan(info.fallback) && isnan(info.blank) && isnan(info.deficit));
    tilecache_frame_release(frame);
    EXPECT_OK(tilecache_view_get_statistics(scene.view, &view));
    EXPECT(view.frames == 1 && view.busy_frames == 0 && isnan(view.sharp) && isnan(view.hit_rate));
    EXPECT_OK(tilecache_get_layer_statistics(scene.cache, scene.layer, &layer));
    EXPECT(layer.loads_started == 0 && layer.pan_demands == 0 && isnan(layer.hit_rate) && layer.decoded_bytes == 0);

    tilecache_frame_release(draw_until_sharp(&scene, 2, 5, 2));
    frame = draw_until_sharp(&scene, 3, 5, 2);
    EXPECT(frame != NULL);
    EXPECT_OK(tilecache_frame_get_info(frame, &info));
    EXPECT(info.sharp == 1 && info.fallback == 0 && info.blank == 0 && info.deficit == 0);
    tilecache_frame_release(frame);
    EXPECT_OK(tilecache_view_get_statistics(scene.view, &view));
    EXPECT(view.frames >= 3 && view.busy_frames >= 1 && view.incomplete_frames <= view.busy_frames);
    EXPECT(fabs(view.sharp + view.fallback + view.blank - 1) < 1e-12 && view.deficit >= 0);
    double pixels = view.sharp_pixels + view.fallback_pixels + view.blank_pixels;
    EXPECT(pixels == 128.0 * 128 * (double)view.busy_frames && view.sharp == view.sharp_pixels / pixels);
    EXPECT(view.deficit == view.deficit_pixels / pixels);
    /* Two tiles have come into view, and zooms there were none. */
    EXPECT(view.pan_demands == 2 && view.zoom_demands == 0 && view.hit_rate >= 0 && view.hit_rate <= 1);

    /* The only layer has all of the cache's loads. */
    EXPECT_OK(tilecache_shutdown(scene.cache, INT64_C(20000000000)));
    tilecache_statistics all = statistics_of(scene.cache);
    EXPECT_OK(tilecache_get_layer_statistics(scene.cache, scene.layer, &layer));
    EXPECT(layer.pan_demands == 2 && layer.loads_started == all.loads_started && layer.loads_started >= 6);
    EXPECT(layer.loads_finished == all.loads_finished && layer.loaded_bytes == layer.loads_finished * 16384);
    EXPECT(layer.loads_failed == 0 && layer.loads_absent == 0 && layer.loads_drawn == all.loads_drawn);

    EXPECT_ARGUMENT(tilecache_view_get_statistics(NULL, &view));
    EXPECT_ARGUMENT(tilecache_view_get_statistics(scene.view, NULL));
    EXPECT_ARGUMENT(tilecache_get_layer_statistics(NULL, scene.layer, &layer));
    EXPECT_ARGUMENT(tilecache_get_layer_statistics(scene.cache, 99, &layer));
    EXPECT_ARGUMENT(tilecache_get_layer_statistics(scene.cache, scene.layer, NULL));
    end_scene(&scene);
    return NULL;
}

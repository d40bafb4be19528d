/* Worlds and levels of layers, and positions on the screen. */
#include "support.h"

#include <math.h>
#include <string.h>

/* A tile's left edge, as the header states it. */
static double left(const tilecache_level_info *level, int64_t column) {
    return level->origin_x + (double)column * (double)level->tile_width * level->world_pixels_per_pixel;
}

static double top(const tilecache_level_info *level, int64_t row) {
    return level->origin_y + (double)row * (double)level->tile_height * level->world_pixels_per_pixel;
}

/* Every placement of a frame lies where the level's figures say. */
static const char *check_placements(scene *scene, const tilecache_frame *frame) {
    const tilecache_placement *placements = NULL;
    size_t count = 0;
    tilecache_level_info level = {.struct_size = sizeof level};
    EXPECT_OK(tilecache_frame_get_placements(frame, sizeof *placements, &placements, &count));
    EXPECT(count == 4);
    for (size_t index = 0; index < count; index++) {
        const tilecache_coordinate *tile = &placements[index].tile.identity.tile;
        EXPECT_OK(tilecache_get_level_info(scene->cache, scene->layer, tile->level, &level));
        EXPECT(placements[index].world.min_x == left(&level, tile->column));
        EXPECT(placements[index].world.max_x == left(&level, tile->column + 1));
        EXPECT(placements[index].world.min_y == top(&level, tile->row));
        EXPECT(placements[index].world.max_y == top(&level, tile->row + 1));
    }
    return NULL;
}

static const char *check_levels(void) {
    static scene scene;
    const char *failure = make_scene(&scene, NULL, NULL);
    if (failure) return failure;
    tilecache_layer_info layer = {.struct_size = sizeof layer};
    tilecache_level_info level = {.struct_size = sizeof level};
    EXPECT_OK(tilecache_get_layer_info(scene.cache, scene.layer, &layer));
    EXPECT(layer.world_width == 1024 && layer.world_height == 1024 && layer.level_count == 5 && !layer.wraps_x);
    EXPECT(layer.contents.min_x == 0 && layer.contents.min_y == 0);
    EXPECT(layer.contents.max_x == 1024 && layer.contents.max_y == 1024);
    for (int64_t index = 0; index < 5; index++) {
        EXPECT_OK(tilecache_get_level_info(scene.cache, scene.layer, index, &level));
        EXPECT(level.width == 64 << index && level.height == 64 << index && level.border == 0);
        EXPECT(level.tile_width == 64 && level.tile_height == 64);
        EXPECT(level.columns == 1 << index && level.rows == 1 << index);
        EXPECT(level.world_pixels_per_pixel == 1 << (4 - index) && level.origin_x == 0 && level.origin_y == 0);
    }
    EXPECT_ARGUMENT(tilecache_get_level_info(scene.cache, scene.layer, 5, &level));
    EXPECT(strstr(tilecache_last_error(), "below the 5 levels") != NULL && strstr(tilecache_last_error(), "not 5"));
    EXPECT_ARGUMENT(tilecache_get_level_info(scene.cache, scene.layer, -1, &level));
    EXPECT_ARGUMENT(tilecache_get_level_info(scene.cache, scene.layer, INT64_MAX, &level));
    EXPECT_ARGUMENT(tilecache_get_level_info(scene.cache, 99, 0, &level));
    EXPECT_ARGUMENT(tilecache_get_level_info(scene.cache, scene.layer, 0, NULL));
    EXPECT_ARGUMENT(tilecache_get_level_info(NULL, scene.layer, 0, &level));
    EXPECT_ARGUMENT(tilecache_get_layer_info(scene.cache, 99, &layer));
    EXPECT_ARGUMENT(tilecache_get_layer_info(scene.cache, scene.layer, NULL));
    EXPECT_ARGUMENT(tilecache_get_layer_info(NULL, scene.layer, &layer));
    tilecache_frame *frame = draw_until_sharp(&scene, 5, 7, 2);
    EXPECT(frame != NULL);
    EXPECT((failure = check_placements(&scene, frame)) == NULL);
    tilecache_frame_release(frame);

    /* A table: a slide whose grid begins beside the world, with tiles that overlap. A part of it has tiles. */
    tilecache_source source;
    tilecache_pyramid pyramid;
    tilecache_layer slide = -1;
    tilecache_level levels[2] = {{250, 188, 128, 100, 4, -6, 2, 1}, {1000, 750, 512, 400, 0, -6, 2, 3}};
    EXPECT_OK(tilecache_source_init(&source, sizeof source));
    EXPECT_OK(tilecache_pyramid_init(&pyramid, sizeof pyramid));
    source.load = write_tile;
    pyramid.world_width = 1000;
    pyramid.world_height = 750;
    pyramid.levels = levels;
    pyramid.level_count = 2;
    pyramid.contents = (tilecache_rectangle){0, 0, 500, 750};
    EXPECT_OK(tilecache_add_layer(scene.cache, &source, &pyramid, NULL, &slide));
    EXPECT_OK(tilecache_get_layer_info(scene.cache, slide, &layer));
    EXPECT(layer.world_width == 1000 && layer.world_height == 750 && layer.level_count == 2);
    EXPECT(layer.contents.max_x == 500 && layer.contents.max_y == 750);
    EXPECT_OK(tilecache_get_level_info(scene.cache, slide, 0, &level));
    EXPECT(level.width == 250 && level.height == 188 && level.tile_width == 128 && level.tile_height == 100);
    EXPECT(level.columns == 2 && level.rows == 2 && level.border == 1);
    EXPECT(level.world_pixels_per_pixel == 4 && level.origin_x == -6 && level.origin_y == 2);
    EXPECT_OK(tilecache_get_level_info(scene.cache, slide, 1, &level));
    EXPECT(level.columns == 2 && level.rows == 2 && level.border == 3 && level.world_pixels_per_pixel == 1);
    EXPECT_OK(tilecache_remove_layer(scene.cache, slide));
    EXPECT_ARGUMENT(tilecache_get_layer_info(scene.cache, slide, &layer));
    end_scene(&scene);
    return NULL;
}

static const char *check_points(void) {
    tilecache_viewport viewport;
    double x = 0, y = 0;
    EXPECT_OK(tilecache_viewport_init(&viewport, sizeof viewport));
    viewport.width = 800;
    viewport.height = 600;
    viewport.center_x = 1000;
    viewport.center_y = 500;
    viewport.scale = 2;
    /* The top left corner of the screen is 200 world pixels to the left of its middle, and 150 above. */
    EXPECT_OK(tilecache_viewport_get_screen_point(&viewport, 800, 350, &x, &y));
    EXPECT(x == 0 && y == 0);
    EXPECT_OK(tilecache_viewport_get_world_point(&viewport, 800, 600, &x, &y));
    EXPECT(x == 1200 && y == 650);
    /* Turned by a quarter clockwise, the screen's x points down in the world, and its y to the left. */
    viewport.rotation = acos(-1.0) / 2;
    EXPECT_OK(tilecache_viewport_get_world_point(&viewport, 500, 300, &x, &y));
    EXPECT(fabs(x - 1000) < 1e-9 && fabs(y - 550) < 1e-9);
    EXPECT_OK(tilecache_viewport_get_screen_point(&viewport, 1000, 550, &x, &y));
    EXPECT(fabs(x - 500) < 1e-9 && fabs(y - 300) < 1e-9);
    /* The formulas of the header, at another angle. */
    viewport.rotation = 0.7;
    double dx = 1234 - viewport.center_x, dy = 432 - viewport.center_y, c = cos(0.7), s = sin(0.7);
    EXPECT_OK(tilecache_viewport_get_screen_point(&viewport, 1234, 432, &x, &y));
    EXPECT(fabs(x - (400 + (dx * c + dy * s) * 2)) < 1e-9 && fabs(y - (300 + (dy * c - dx * s) * 2)) < 1e-9);
    EXPECT_OK(tilecache_viewport_get_world_point(&viewport, x, y, &x, &y));
    EXPECT(fabs(x - 1234) < 1e-9 && fabs(y - 432) < 1e-9);

    EXPECT_ARGUMENT(tilecache_viewport_get_screen_point(NULL, 0, 0, &x, &y));
    EXPECT_ARGUMENT(tilecache_viewport_get_screen_point(&viewport, NAN, 0, &x, &y));
    EXPECT_ARGUMENT(tilecache_viewport_get_screen_point(&viewport, 0, INFINITY, &x, &y));
    EXPECT_ARGUMENT(tilecache_viewport_get_screen_point(&viewport, 0, 0, NULL, &y));
    EXPECT_ARGUMENT(tilecache_viewport_get_world_point(&viewport, 0, 0, &x, NULL));
    EXPECT_ARGUMENT(tilecache_viewport_get_world_point(&viewport, NAN, 0, &x, &y));
    /* Results beyond the numbers that there are, of a drawable view. */
    viewport.scale = 1e-300;
    x = y = 7;
    EXPECT_OK(tilecache_viewport_get_screen_point(&viewport, 1e300, 0, &x, &y));
    x = y = 7;
    EXPECT_ARGUMENT(tilecache_viewport_get_world_point(&viewport, 1e300, 0, &x, &y));
    EXPECT(x == 7 && y == 7 && strstr(tilecache_last_error(), "x and y in the world must be finite") != NULL);
    viewport.scale = 1e300;
    EXPECT_ARGUMENT(tilecache_viewport_get_screen_point(&viewport, 1e300, 0, &x, &y));
    EXPECT(x == 7 && y == 7 && strstr(tilecache_last_error(), "x and y on the screen must be finite") != NULL);
    viewport.scale = 0;
    EXPECT_ARGUMENT(tilecache_viewport_get_world_point(&viewport, 0, 0, &x, &y));
    EXPECT_ARGUMENT(tilecache_viewport_get_screen_point(&viewport, 0, 0, &x, &y));
    return NULL;
}

const char *check_geometry(void) {
    const char *failure = check_levels();
    return failure ? failure : check_points();
}

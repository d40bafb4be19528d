/* A renderer in C: flies over a world that it draws itself, tile by tile, and writes frames as PPM.
 *
 *   crenderer FOLDER [FRAMES]      FOLDER must exist; a frame in ten is written, and the last one
 *
 * Build: cc -std=c99 crenderer.c -o crenderer $(pkg-config --cflags --libs tilecache) -lm      (or as C++)
 */
#define _POSIX_C_SOURCE 199309L
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tilecache.h>

static const int WORLD = 1 << 20, WIDTH = 640, HEIGHT = 400;

static void check(tilecache_status status, const char *what) {
    if (status == TILECACHE_OK) return;
    fprintf(stderr, "crenderer: %s: %s: %s\n", what, tilecache_status_message(status), tilecache_last_error());
    exit(1);
}

/* The world: rings around its middle, grid lines and a colour gradient from corner to corner. */
static void paint(double x, double y, double pixel, uint8_t *rgba) {
    double u = x / WORLD, v = y / WORLD;
    double ring = fmod(hypot(u - 0.5, v - 0.5) * 64, 1), line = pixel / WORLD * 2.5;
    int is_line = fmod(u * 256, 1) / 256 < line || fmod(v * 256, 1) / 256 < line;
    double light = is_line ? 0.15 : ring < 0.5 ? 1.0 : 0.7;
    rgba[0] = (uint8_t)(255 * light * u);
    rgba[1] = (uint8_t)(255 * light * v);
    rgba[2] = (uint8_t)(255 * light * (1 - u));
    rgba[3] = 255;
}

/* The source: called on several threads, for tiles of every level. */
static tilecache_outcome load(void *context, tilecache_pixels *pixels) {
    const int finest = *(const int *)context;
    const double pixel = ldexp(1, finest - (int)pixels->tile.level);  /* world pixels per pixel of this level */
    for (int row = 0; row < pixels->height; row++) {
        uint8_t *out = (uint8_t *)pixels->memory + (size_t)row * pixels->bytes_per_row;
        double y = ((double)pixels->tile.row * pixels->height + row + 0.5) * pixel;
        for (int column = 0; column < pixels->width; column++, out += 4)
            paint(((double)pixels->tile.column * pixels->width + column + 0.5) * pixel, y, pixel, out);
    }
    return TILECACHE_OUTCOME_PIXELS;
}

static int clamp(double value, int limit) { return value < 0 ? 0 : value > limit ? limit : (int)value; }

/* Draws a part of a tile at its place on screen, by the nearest pixel. */
static void draw(const tilecache_placement *p, const tilecache_viewport *view, uint8_t *screen) {
    double left = (p->world.min_x - view->center_x) * view->scale + WIDTH / 2.0;
    double top = (p->world.min_y - view->center_y) * view->scale + HEIGHT / 2.0;
    double right = (p->world.max_x - view->center_x) * view->scale + WIDTH / 2.0;
    double bottom = (p->world.max_y - view->center_y) * view->scale + HEIGHT / 2.0;
    /* A neighbour computes the same number for the edge that they share: no pixel is left out. */
    for (int y = clamp(ceil(top - 0.5), HEIGHT); y < clamp(ceil(bottom - 0.5), HEIGHT); y++) {
        double v = p->part.min_y + (y + 0.5 - top) / (bottom - top) * (p->part.max_y - p->part.min_y);
        const uint8_t *row = (const uint8_t *)p->tile.pixels + clamp(v, p->tile.height - 1) * p->tile.bytes_per_row;
        for (int x = clamp(ceil(left - 0.5), WIDTH); x < clamp(ceil(right - 0.5), WIDTH); x++) {
            double u = p->part.min_x + (x + 0.5 - left) / (right - left) * (p->part.max_x - p->part.min_x);
            memcpy(screen + 3 * (y * WIDTH + x), row + 4 * clamp(u, p->tile.width - 1), 3);
        }
    }
}

static void write_ppm(const char *folder, int number, const uint8_t *screen) {
    char name[1024];
    snprintf(name, sizeof name, "%s/frame-%03d.ppm", folder, number);
    FILE *file = fopen(name, "wb");
    if (file == NULL) {
        perror(name);
        exit(1);
    }
    fprintf(file, "P6\n%d %d\n255\n", WIDTH, HEIGHT);
    fwrite(screen, 3, (size_t)WIDTH * HEIGHT, file);
    fclose(file);
}

int main(int argc, char **argv) {
    const int frames = argc > 2 ? atoi(argv[2]) : 120;
    if (argc < 2 || frames < 1) {
        fprintf(stderr, "usage: crenderer FOLDER [FRAMES]\n");
        return 2;
    }

    tilecache_configuration configuration;
    check(tilecache_configuration_init(&configuration, sizeof configuration), "configuration");
    configuration.byte_limit = 24 << 20;
    tilecache_cache *cache = NULL;
    check(tilecache_create(&configuration, &cache), "cache");

    int finest = 12;  /* 256 * 2^12 = WORLD */
    tilecache_source source;
    tilecache_pyramid pyramid;
    tilecache_layer layer;
    check(tilecache_source_init(&source, sizeof source), "source");
    source.load = load;
    source.context = &finest;
    check(tilecache_pyramid_init(&pyramid, sizeof pyramid), "pyramid");
    pyramid.world_width = pyramid.world_height = WORLD;
    check(tilecache_add_layer(cache, &source, &pyramid, NULL, &layer), "layer");
    check(tilecache_pin(cache, layer, 0, 1, NULL), "pin");  /* so that there is always something to draw */

    tilecache_view *view = NULL;
    tilecache_viewport viewport;
    check(tilecache_view_create(cache, &layer, 1, NULL, &view), "view");
    check(tilecache_viewport_init(&viewport, sizeof viewport), "viewport");
    viewport.width = WIDTH;
    viewport.height = HEIGHT;

    uint8_t *screen = (uint8_t *)malloc(3 * WIDTH * HEIGHT);
    if (screen == NULL) return 1;
    size_t missing = 0;
    for (int number = 0; number < frames; number++) {
        double t = (double)number / frames;
        viewport.center_x = WORLD * (0.40 + 0.15 * t);
        viewport.center_y = WORLD * (0.55 - 0.08 * t);
        viewport.scale = pow(2, -9.5 + 4 * t);  /* four octaves closer, from beginning to end */
        check(tilecache_view_update(view, &viewport, NULL), "update");

        tilecache_frame *frame = NULL;
        const tilecache_placement *placements = NULL;
        size_t count = 0;
        tilecache_frame_info info;
        info.struct_size = sizeof info;
        check(tilecache_view_frame(view, &frame), "frame");
        check(tilecache_frame_get_placements(frame, sizeof *placements, &placements, &count), "placements");
        check(tilecache_frame_get_info(frame, &info), "info");
        memset(screen, 0x20, 3 * WIDTH * HEIGHT);
        for (size_t index = 0; index < count; index++) draw(&placements[index], &viewport, screen);
        missing = info.missing_tile_count;
        tilecache_frame_release(frame);

        if (number % 10 == 0 || number == frames - 1) write_ppm(argv[1], number, screen);
        struct timespec pause = {0, 16666667};
        nanosleep(&pause, NULL);
    }

    char text[256];
    check(tilecache_describe_statistics(cache, text, sizeof text, NULL), "statistics");
    printf("%d frames, %lu tiles missing in the last: %s\n", frames, (unsigned long)missing, text);
    free(screen);
    tilecache_view_destroy(view);
    check(tilecache_shutdown(cache, INT64_C(10000000000)), "shutdown");
    tilecache_destroy(cache);
    return 0;
}

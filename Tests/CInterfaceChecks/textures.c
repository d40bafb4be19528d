/* Texture slots: uploads to an array of memory, and what is drawn from it. */
#include "support.h"

#include <math.h>
#include <string.h>

#define SLOTS 8
#define TILE_BYTES (64 * 64 * 4)

/* A renderer's array texture, and what each of its slots holds. */
typedef struct textures {
    uint32_t pixels[SLOTS][64 * 64];
    tilecache_identity held[SLOTS];
} textures;

/* An upload as a later version may have it. */
typedef struct longer_upload {
    tilecache_texture_upload known;
    int64_t unknown;
} longer_upload;

static const char *copy(const tilecache_texture_frame *frame, textures *textures, size_t most) {
    const tilecache_texture_upload *uploads = NULL;
    size_t count = 0;
    EXPECT_OK(tilecache_texture_frame_get_uploads(frame, sizeof *uploads, &uploads, &count));
    EXPECT(count <= most);
    for (size_t index = 0; index < count; index++) {
        const tilecache_texture_upload *upload = &uploads[index];
        EXPECT(upload->slot >= 0 && upload->slot < SLOTS && upload->tile.byte_count == TILE_BYTES);
        memcpy(textures->pixels[upload->slot], upload->tile.pixels, TILE_BYTES);
        textures->held[upload->slot] = upload->tile.identity;
    }
    return NULL;
}

/* Every placement's slot holds what it says, and its pixels are the tile's. */
static const char *check_placements(const tilecache_texture_frame *frame, const textures *textures, size_t expected) {
    const tilecache_texture_placement *placements = NULL;
    size_t count = 0;
    EXPECT_OK(tilecache_texture_frame_get_placements(frame, sizeof *placements, &placements, &count));
    EXPECT(count == expected);
    for (size_t index = 0; index < count; index++) {
        const tilecache_texture_placement *p = &placements[index];
        EXPECT(memcmp(&textures->held[p->slot], &p->identity, sizeof p->identity) == 0);
        EXPECT(textures->pixels[p->slot][0] == expected_pixel(p->identity.tile, 0));
        EXPECT(p->part.min_x >= 0 && p->part.max_x <= 64 && p->world.max_x - p->world.min_x == 64);
    }
    return NULL;
}

/* One frame: uploads at most two tiles. With the view, tiles may be uploaded ahead. */
static const char *draw(scene *scene, tilecache_view *view, tilecache_texture_slots *slots, textures *textures,
                        size_t placements, tilecache_texture_frame_info *info) {
    tilecache_frame *frame = NULL;
    tilecache_texture_frame *drawn = NULL;
    EXPECT_OK(tilecache_view_frame(scene->view, &frame));
    EXPECT_OK(tilecache_texture_slots_update(slots, frame, view, &drawn));
    /* The uploads have leases of their own. */
    tilecache_frame_release(frame);
    const char *failure = copy(drawn, textures, 2);
    if (!failure) failure = check_placements(drawn, textures, placements);
    info->struct_size = sizeof *info;
    if (!failure && tilecache_texture_frame_get_info(drawn, info) != TILECACHE_OK) failure = "no info";
    if (!failure && info->placement_count != placements) failure = "wrong count";
    tilecache_texture_frame_release(drawn);
    return failure;
}

static const char *check_options(void) {
    tilecache_texture_options options;
    tilecache_texture_slots *slots = NULL;
    EXPECT_OK(tilecache_texture_options_init(&options, sizeof options));
    EXPECT(options.slot_limit == 128 && options.width == 256 && options.height == 256);
    EXPECT(options.format == TILECACHE_FORMAT_RGBA8 && options.upload_bytes == 4 << 20);
    EXPECT(options.upload_nanoseconds == 2000000 && !options.never_shows_holes);
    EXPECT_ARGUMENT(tilecache_texture_options_init(NULL, sizeof options));
    EXPECT_ARGUMENT(tilecache_texture_slots_create(&options, NULL));
    options.slot_limit = 0;
    EXPECT(tilecache_texture_slots_create(&options, &slots) == TILECACHE_ERROR_INVALID_CONFIGURATION);
    EXPECT(strstr(tilecache_last_error(), "1 to 65536 texture slots are expected, not 0"));
    options.slot_limit = 1;
    options.upload_bytes = 262143;
    EXPECT(tilecache_texture_slots_create(&options, &slots) == TILECACHE_ERROR_INVALID_CONFIGURATION);
    options.format = 99;
    EXPECT_ARGUMENT(tilecache_texture_slots_create(&options, &slots));
    EXPECT_OK(tilecache_texture_slots_create(NULL, &slots));
    EXPECT_ARGUMENT(tilecache_texture_slots_set_limit(slots, 0));
    EXPECT_ARGUMENT(tilecache_texture_slots_set_limit(slots, 65537));
    EXPECT_ARGUMENT(tilecache_texture_slots_note_uploads(slots, -1, 0));
    EXPECT_ARGUMENT(tilecache_texture_slots_note_uploads(slots, 0, -1));
    EXPECT_ARGUMENT(tilecache_texture_slots_get_statistics(slots, NULL));
    tilecache_texture_slots_release(slots);
    tilecache_texture_slots_release(NULL);
    tilecache_texture_frame_release(NULL);
    return NULL;
}

const char *check_textures(void) {
    const char *failure = check_options();
    if (failure) return failure;
    static scene scene;
    failure = make_scene(&scene, NULL, NULL);
    if (failure) return failure;
    tilecache_texture_options options;
    EXPECT_OK(tilecache_texture_options_init(&options, sizeof options));
    options.slot_limit = SLOTS;
    options.width = options.height = 64;
    options.upload_bytes = 2 * TILE_BYTES;
    tilecache_texture_slots *slots = NULL;
    EXPECT_OK(tilecache_texture_slots_create(&options, &slots));
    EXPECT_OK(tilecache_texture_slots_set_budget(slots, 2 * TILE_BYTES, INT64_C(1000000000)));
    EXPECT_OK(tilecache_texture_slots_note_uploads(slots, TILE_BYTES, 1000));

    /* Two by two tiles take two frames. A renderer at rest uploads nothing more on screen. */
    static textures textures;
    tilecache_texture_frame_info info;
    tilecache_frame_release(draw_until_sharp(&scene, 2, 6, 2));
    EXPECT((failure = draw(&scene, NULL, slots, &textures, 2, &info)) == NULL);
    EXPECT(info.upload_count == 2 && info.waiting_tile_count == 2 && info.hole_count == 2);
    EXPECT((failure = draw(&scene, NULL, slots, &textures, 4, &info)) == NULL);
    EXPECT(info.waiting_tile_count == 0 && info.hole_count == 0 && info.slot_count == SLOTS);
    EXPECT((failure = draw(&scene, scene.view, slots, &textures, 4, &info)) == NULL);
    EXPECT(info.waiting_tile_count == 0 && info.hole_count == 0);
    /* Two tiles each way at the finest scale of a level are up to four, and one more each way. */
    EXPECT(info.needed_slots == 25 && info.level_bias > 0);

    /* The whole range of the cache's slots, and the tile in it. */
    tilecache_frame *frame = NULL;
    tilecache_lease *lease = NULL;
    tilecache_tile tile;
    tilecache_tile_memory memory = {.struct_size = sizeof memory};
    EXPECT_OK(tilecache_view_frame(scene.view, &frame));
    EXPECT_OK(tilecache_frame_lease(frame, 1, &lease));
    EXPECT_OK(tilecache_lease_get_tile(lease, &tile));
    EXPECT_OK(tilecache_lease_get_memory(lease, &memory));
    EXPECT_ARGUMENT(tilecache_lease_get_memory(lease, NULL));
    EXPECT((const char *)memory.range + memory.slot_index * memory.slot_stride == tile.pixels);
    EXPECT((uintptr_t)memory.range % 4096 == 0 && memory.slot_stride % 4096 == 0);
    EXPECT(memory.slot_stride >= TILE_BYTES && (memory.slot_index + 1) * memory.slot_stride <= memory.range_byte_count);
    tilecache_lease_release(lease);

    /* Uploads again after the textures were lost; one is leased for longer. */
    tilecache_texture_frame *drawn = NULL;
    EXPECT_OK(tilecache_texture_slots_remove(slots, NULL, 0, NULL));
    EXPECT_OK(tilecache_texture_slots_update(slots, frame, NULL, &drawn));
    const tilecache_texture_upload *uploads = NULL, *longer = NULL;
    size_t count = 0;
    EXPECT_OK(tilecache_texture_frame_get_uploads(drawn, sizeof *uploads, &uploads, &count));
    EXPECT(count == 2 && !uploads[0].is_ahead);
    EXPECT_OK(tilecache_texture_frame_get_uploads(drawn, sizeof(longer_upload), &longer, &count));
    EXPECT(memcmp(&((const longer_upload *)longer)[1].known, &uploads[1], sizeof *uploads) == 0);
    EXPECT_ARGUMENT(tilecache_texture_frame_get_uploads(drawn, sizeof *uploads - 8, &uploads, &count));
    EXPECT_ARGUMENT(tilecache_texture_frame_get_placements(drawn, 8, NULL, &count));
    EXPECT_ARGUMENT(tilecache_texture_frame_lease(drawn, 2, &lease));
    EXPECT_OK(tilecache_texture_frame_lease(drawn, 0, &lease));
    tilecache_texture_frame_release(drawn);
    EXPECT_OK(tilecache_lease_get_tile(lease, &tile));
    EXPECT(holds(&tile, 0));
    tilecache_lease_release(lease);
    EXPECT_ARGUMENT(tilecache_texture_slots_update(slots, NULL, NULL, &drawn));
    EXPECT_ARGUMENT(tilecache_texture_slots_update(slots, frame, NULL, NULL));
    tilecache_frame_release(frame);
    tilecache_rectangle nothing = {0, 0, 64, 64};
    EXPECT_OK(tilecache_texture_slots_remove(slots, scene.cache, scene.layer, &nothing));
    EXPECT_ARGUMENT(tilecache_texture_slots_remove(slots, scene.cache, 99, NULL));

    /* The bias makes the view an octave coarser: one tile instead of four. */
    double octaves = -1;
    EXPECT_OK(tilecache_view_set_level_bias(scene.view, 1));
    EXPECT_OK(tilecache_view_get_level_bias(scene.view, &octaves));
    EXPECT(octaves == 1);
    EXPECT_ARGUMENT(tilecache_view_set_level_bias(scene.view, -0.5));
    EXPECT_ARGUMENT(tilecache_view_set_level_bias(scene.view, NAN));
    EXPECT_ARGUMENT(tilecache_view_get_level_bias(scene.view, NULL));
    frame = draw_until_sharp(&scene, 2, 6, 2);
    EXPECT(frame != NULL);
    const tilecache_placement *placements = NULL;
    EXPECT_OK(tilecache_frame_get_placements(frame, sizeof *placements, &placements, &count));
    EXPECT(count == 1 && placements[0].tile.identity.tile.level == 3);
    tilecache_frame_release(frame);

    /* A layer's own bias, if it is larger. */
    EXPECT_OK(tilecache_view_set_layer_level_bias(scene.view, scene.layer, 2));
    EXPECT_ARGUMENT(tilecache_view_set_layer_level_bias(scene.view, 99, 2));
    EXPECT_ARGUMENT(tilecache_view_set_layer_level_bias(scene.view, scene.layer, 8.5));
    EXPECT_ARGUMENT(tilecache_view_set_layer_level_bias(scene.view, scene.layer, NAN));
    EXPECT_OK(tilecache_view_get_layer_level_bias(scene.view, scene.layer, &octaves));
    EXPECT(octaves == 2);
    EXPECT_ARGUMENT(tilecache_view_get_layer_level_bias(scene.view, 99, &octaves));
    EXPECT_ARGUMENT(tilecache_view_get_layer_level_bias(scene.view, scene.layer, NULL));
    EXPECT_OK(tilecache_view_get_level_bias(scene.view, &octaves));
    EXPECT(octaves == 1);
    frame = draw_until_sharp(&scene, 2, 6, 2);
    EXPECT(frame != NULL);
    EXPECT_OK(tilecache_frame_get_placements(frame, sizeof *placements, &placements, &count));
    EXPECT(count == 1 && placements[0].tile.identity.tile.level == 2);
    tilecache_frame_release(frame);

    /* Slots of other layers, of this one, and of all. */
    tilecache_texture_statistics statistics = {.struct_size = sizeof statistics};
    tilecache_layer twice[2] = {scene.layer, scene.layer};
    EXPECT_ARGUMENT(tilecache_texture_slots_set_layers(slots, scene.cache, twice, 2));
    EXPECT_ARGUMENT(tilecache_texture_slots_set_layers(slots, scene.cache, NULL, 1));
    EXPECT_OK(tilecache_texture_slots_set_layers(slots, scene.cache, &scene.layer, 1));
    EXPECT_OK(tilecache_texture_slots_get_statistics(slots, &statistics));
    EXPECT(statistics.used_slots > 0);
    EXPECT_OK(tilecache_texture_slots_set_layers(slots, scene.cache, NULL, 0));
    EXPECT_OK(tilecache_texture_slots_get_statistics(slots, &statistics));
    EXPECT(statistics.used_slots == 0);
    EXPECT_OK(tilecache_texture_slots_set_layers(slots, NULL, NULL, 0));
    EXPECT_OK(tilecache_texture_slots_set_limit(slots, 4));
    EXPECT_OK(tilecache_texture_slots_get_statistics(slots, &statistics));
    EXPECT(statistics.frames == 4 && statistics.uploads >= 6 && statistics.peak_uploads == 2);
    EXPECT(statistics.uploaded_bytes == statistics.uploads * TILE_BYTES && statistics.waiting_frames == 2);
    tilecache_texture_slots_release(slots);
    end_scene(&scene);
    return NULL;
}

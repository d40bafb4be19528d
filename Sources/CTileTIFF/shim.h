// The system's libtiff, for one tile in memory at a time: its functions are variadic and want callbacks.
#ifndef TILECACHE_CTILETIFF_SHIM_H
#define TILECACHE_CTILETIFF_SHIM_H
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <tiffio.h>
#include <tiffvers.h>

#if TIFFLIB_VERSION < 20191103
#error "libtiff 4.1 or newer is needed"
#endif

// A file of a directory, `head` bytes, and a tile after it.
typedef struct {
    const uint8_t *bytes, *tile;
    uint64_t head, count, position;
    char *message;
    size_t room;
} tile_tiff_memory;

static inline tmsize_t tile_tiff_read(thandle_t handle, void *target, tmsize_t count) {
    tile_tiff_memory *memory = (tile_tiff_memory *)handle;
    if (count < 0 || memory->position >= memory->count) return 0;
    // A part may come back: libtiff reads on.
    int is_head = memory->position < memory->head;
    uint64_t left = (is_head ? memory->head : memory->count) - memory->position;
    uint64_t taken = (uint64_t)count < left ? (uint64_t)count : left;
    const uint8_t *from = is_head ? memory->bytes + memory->position : memory->tile + (memory->position - memory->head);
    if (taken > 0) memcpy(target, from, (size_t)taken);
    memory->position += taken;
    return (tmsize_t)taken;
}
static inline tmsize_t tile_tiff_write(thandle_t handle, void *source, tmsize_t count) {
    (void)handle, (void)source, (void)count;
    return -1;
}
static inline toff_t tile_tiff_seek(thandle_t handle, toff_t offset, int whence) {
    tile_tiff_memory *memory = (tile_tiff_memory *)handle;
    uint64_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? memory->position : memory->count;
    if (offset > (UINT64_MAX >> 1) - base) return (toff_t)-1;
    return memory->position = base + offset;
}
static inline int tile_tiff_close(thandle_t handle) {
    (void)handle;
    return 0;
}
// libtiff 4.5 decodes some uncompressed tiles for its conversion only if it sees the whole file.
static inline int tile_tiff_map(thandle_t handle, void **base, toff_t *size) {
    tile_tiff_memory *memory = (tile_tiff_memory *)handle;
    if (memory->tile != memory->bytes + memory->head) return 0;
    *base = (void *)memory->bytes;
    *size = memory->count;
    return 1;
}
static inline void tile_tiff_unmap(thandle_t handle, void *base, toff_t size) { (void)handle, (void)base, (void)size; }
static inline toff_t tile_tiff_size(thandle_t handle) { return ((tile_tiff_memory *)handle)->count; }

#if TIFFLIB_VERSION >= 20221213
static inline int tile_tiff_on_error(
    TIFF *tiff, void *context, const char *module, const char *format, va_list arguments) {
    tile_tiff_memory *memory = (tile_tiff_memory *)context;
    (void)tiff, (void)module;
    // The first one is the cause.
    if (!memory->message[0]) vsnprintf(memory->message, memory->room, format, arguments);
    return 1;
}
static inline int tile_tiff_on_warning(
    TIFF *tiff, void *context, const char *module, const char *format, va_list arguments) {
    (void)tiff, (void)context, (void)module, (void)format, (void)arguments;
    return 1;
}
#endif

static inline int tile_tiff_knows(int compression) { return TIFFIsCODECConfigured((uint16_t)compression); }

static inline TIFF *tile_tiff_open(tile_tiff_memory *memory, const char *mode) {
    memory->message[0] = 0;
#if TIFFLIB_VERSION >= 20221213
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options) return NULL;
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)1 << 28);
    TIFFOpenOptionsSetErrorHandlerExtR(options, tile_tiff_on_error, memory);
    TIFFOpenOptionsSetWarningHandlerExtR(options, tile_tiff_on_warning, memory);
    TIFF *tiff = TIFFClientOpenExt("tile", mode, (thandle_t)memory, tile_tiff_read, tile_tiff_write, tile_tiff_seek,
                                   tile_tiff_close, tile_tiff_size, tile_tiff_map, tile_tiff_unmap, options);
    TIFFOpenOptionsFree(options);
    return tiff;
#else
    return TIFFClientOpen("tile", mode, (thandle_t)memory, tile_tiff_read, tile_tiff_write, tile_tiff_seek,
                          tile_tiff_close, tile_tiff_size, tile_tiff_map, tile_tiff_unmap);
#endif
}

// Decodes the only tile of a TIFF in memory, to exactly `room` bytes; 1 on success, else 0 and `message`, which is ended.
// `head` is the file up to the tile's `bytes`, which are read where they are. If the file states the lowest bit to be the
// first, they are changed meanwhile.
static inline int tile_tiff_decode(const uint8_t *head, size_t head_count, const uint8_t *bytes, size_t count,
                                   uint8_t *target, size_t room, char *message, size_t message_room) {
    tile_tiff_memory memory = {head, bytes, head_count, head_count + count, 0, message, message_room};
    TIFF *tiff = tile_tiff_open(&memory, "rm");
    if (!tiff) return 0;
    int is_good = TIFFTileSize64(tiff) == room &&
                  TIFFReadFromUserBuffer(tiff, 0, (void *)bytes, (tmsize_t)count, target, (tmsize_t)room);
    TIFFClose(tiff);
    return is_good;
}

// The same for colours that libtiff converts: `room` bytes of red, green, blue and alpha, from the top. `bytes` follow
// `head` in memory. libtiff keeps one more tile as it is decoded meanwhile.
static inline int tile_tiff_convert(const uint8_t *head, size_t head_count, const uint8_t *bytes, size_t count,
                                    uint8_t *target, size_t room, char *message, size_t message_room) {
    tile_tiff_memory memory = {head, bytes, head_count, head_count + count, 0, message, message_room};
    TIFF *tiff = tile_tiff_open(&memory, "rM");
    if (!tiff) return 0;
    TIFFRGBAImage image;
    char reason[1024] = "";
    int is_good = 0;
    if (TIFFRGBAImageOK(tiff, reason) && TIFFRGBAImageBegin(&image, tiff, 1, reason)) {
        image.req_orientation = ORIENTATION_TOPLEFT;
        size_t pixels = (size_t)image.width * image.height;
        is_good = pixels == room / 4 && TIFFRGBAImageGet(&image, (uint32_t *)(void *)target, image.width, image.height);
        // libtiff makes numbers of four bytes.
        for (size_t i = 0; is_good && i < pixels; i++) {
            uint32_t pixel;
            memcpy(&pixel, target + 4 * i, 4);
            uint8_t rgba[4] = {TIFFGetR(pixel), TIFFGetG(pixel), TIFFGetB(pixel), TIFFGetA(pixel)};
            memcpy(target + 4 * i, rgba, 4);
        }
        TIFFRGBAImageEnd(&image);
    }
    if (!message[0]) snprintf(message, message_room, "%s", reason);
    TIFFClose(tiff);
    return is_good;
}
#endif

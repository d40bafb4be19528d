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

// The directory of a file, which has `count` bytes with its tile.
typedef struct {
    const uint8_t *bytes;
    uint64_t head, count, position;
    char *message;
    size_t room;
} tile_tiff_memory;

static inline tmsize_t tile_tiff_read(thandle_t handle, void *target, tmsize_t count) {
    tile_tiff_memory *memory = (tile_tiff_memory *)handle;
    if (count < 0 || memory->position >= memory->head) return 0;
    uint64_t left = memory->head - memory->position;
    uint64_t taken = (uint64_t)count < left ? (uint64_t)count : left;
    memcpy(target, memory->bytes + memory->position, (size_t)taken);
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

// Decodes the only tile of a TIFF in memory, to exactly `room` bytes; 1 on success, else 0 and `message`, which is ended.
// `head` is the file up to the tile's `bytes`, which are read where they are. If the file states the lowest bit to be the
// first, they are changed meanwhile.
static inline int tile_tiff_decode(const uint8_t *head, size_t head_count, const uint8_t *bytes, size_t count,
                                   uint8_t *target, size_t room, char *message, size_t message_room) {
    tile_tiff_memory memory = {head, head_count, head_count + count, 0, message, message_room};
    message[0] = 0;
#if TIFFLIB_VERSION >= 20221213
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options) return 0;
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)1 << 28);
    TIFFOpenOptionsSetErrorHandlerExtR(options, tile_tiff_on_error, &memory);
    TIFFOpenOptionsSetWarningHandlerExtR(options, tile_tiff_on_warning, &memory);
    TIFF *tiff = TIFFClientOpenExt("tile", "rm", (thandle_t)&memory, tile_tiff_read, tile_tiff_write, tile_tiff_seek,
                                   tile_tiff_close, tile_tiff_size, NULL, NULL, options);
    TIFFOpenOptionsFree(options);
#else
    TIFF *tiff = TIFFClientOpen("tile", "rm", (thandle_t)&memory, tile_tiff_read, tile_tiff_write, tile_tiff_seek,
                                tile_tiff_close, tile_tiff_size, NULL, NULL);
#endif
    if (!tiff) return 0;
    int is_good = TIFFTileSize64(tiff) == room &&
                  TIFFReadFromUserBuffer(tiff, 0, (void *)bytes, (tmsize_t)count, target, (tmsize_t)room);
    TIFFClose(tiff);
    return is_good;
}
#endif

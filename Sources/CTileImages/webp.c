#include "reader.h"

#include <stdlib.h>
#include <string.h>

#include <webp/decode.h>

// libwebp wants all of a file at once, and has no image of more than 16383 pixels a side.
// Profiles may stand before the size.
enum { header_bytes = 1 << 22, largest_file = 1 << 30 };

typedef struct {
    uint8_t *pixels;
    // Of the pixels, if they are the reader's own.
    size_t bytes;
    size_t stride;
    uint32_t next;
} webp_state;

// Bytes that a file's header counts; anything may follow them.
static uint64_t counted_bytes(const uint8_t *head) {
    return 8 + (head[4] | (uint64_t)head[5] << 8 | (uint64_t)head[6] << 16 | (uint64_t)head[7] << 24);
}

// The pixels that are handed over, and those that a lossless file is decoded into first.
static uint64_t pixel_bytes(const ti_reader *reader) { return (uint64_t)reader->info.width * reader->info.height * 8; }

static ti_status read_all(ti_reader *reader, uint64_t limit, uint8_t **data, size_t *count, ti_error *error) {
    if (fseek(reader->file, 0, SEEK_END)) return ti_fail(error, ti_unreadable, "it cannot be read");
    long size = ftell(reader->file);
    uint8_t head[8];
    if (size < 0 || fseek(reader->file, 0, SEEK_SET) || ti_take(reader, head, 8) < 8 || fseek(reader->file, 0, SEEK_SET))
        return ti_fail(error, ti_unreadable, "it cannot be read");
    uint64_t counted = counted_bytes(head);
    if ((uint64_t)size > counted) size = (long)counted;
    if (size > largest_file || (uint64_t)size > limit)
        return ti_fail(error, ti_too_large, "a WebP file of %ld bytes has to be read as a whole, and is too large", size);
    *data = malloc((size_t)size + 1);
    if (!*data) return ti_fail(error, ti_no_memory, "there is no memory for the WebP file");
    *count = ti_take(reader, *data, (size_t)size);
    return ti_ok;
}

static ti_status start(ti_reader *reader, uint64_t limit, ti_error *error) {
    webp_state *state = reader->state;
    uint8_t *owned = NULL;
    const uint8_t *data = reader->bytes;
    size_t count = reader->count;
    if (reader->file) {
        uint64_t pixels = pixel_bytes(reader);
        ti_status status = read_all(reader, limit > pixels ? limit - pixels : 0, &owned, &count, error);
        if (status != ti_ok) return status;
        data = owned;
    }
    WebPDecoderConfig config;
    size_t row_bytes = (size_t)reader->info.width * 4;
    VP8StatusCode status = VP8_STATUS_OUT_OF_MEMORY;
    // The file may be another one by now; what is decoded is what was announced.
    WebPBitstreamFeatures features;
    if (WebPGetFeatures(data, count, &features) != VP8_STATUS_OK || (uint32_t)features.width != reader->info.width ||
        (uint32_t)features.height != reader->info.height) {
        free(owned);
        return ti_fail(error, ti_damaged, "the WebP's header has changed");
    }
    if (reader->target) {
        state->pixels = reader->target;
        state->stride = reader->stride;
    } else {
        state->bytes = row_bytes * reader->info.height;
        state->pixels = ti_take_pages(state->bytes);
        state->stride = row_bytes;
    }
    if (state->pixels && WebPInitDecoderConfig(&config)) {
        config.output.colorspace = reader->order == ti_bgra ? MODE_BGRA : MODE_RGBA;
        config.output.is_external_memory = 1;
        config.output.u.RGBA.rgba = state->pixels;
        config.output.u.RGBA.stride = (int)state->stride;
        config.output.u.RGBA.size = state->stride * (reader->info.height - 1) + row_bytes;
        status = WebPDecode(data, count, &config);
    }
    free(owned);
    switch (status) {
    case VP8_STATUS_OK: return ti_ok;
    case VP8_STATUS_OUT_OF_MEMORY: return ti_fail(error, ti_no_memory, "there is no memory for the WebP");
    case VP8_STATUS_SUSPENDED:
    case VP8_STATUS_NOT_ENOUGH_DATA: return ti_fail(error, ti_truncated, "the WebP ends too early");
    default: return ti_fail(error, ti_damaged, "libwebp cannot decode it (status %d)", (int)status);
    }
}

static ti_status row(ti_reader *reader, uint8_t *target, ti_error *error) {
    webp_state *state = reader->state;
    if (!state->pixels || state->next >= reader->info.height)
        return ti_fail(error, ti_damaged, "all rows have been read");
    size_t bytes = (size_t)reader->info.width * 4;
    const uint8_t *decoded = state->pixels + state->next++ * state->stride;
    if (decoded != target) memcpy(target, decoded, bytes);
    return ti_ok;
}

static ti_status end(ti_reader *reader, ti_error *error) {
    (void)reader;
    (void)error;
    return ti_ok;
}

static void close_webp(ti_reader *reader) {
    webp_state *state = reader->state;
    if (state->bytes) ti_give_pages(state->pixels, state->bytes);
    free(state);
}

ti_status ti_open_webp(ti_reader *reader, ti_error *error) {
    webp_state *state = calloc(1, sizeof *state);
    if (!state) return ti_fail(error, ti_no_memory, "there is no memory");
    reader->state = state;
    reader->info.format = ti_webp;
    reader->start = start;
    reader->row = row;
    reader->end = end;
    reader->close = close_webp;
    uint8_t *header = NULL;
    const uint8_t *data = reader->bytes;
    size_t count = reader->count;
    if (reader->file) {
        header = malloc(header_bytes);
        if (!header) return ti_fail(error, ti_no_memory, "there is no memory");
        count = ti_take(reader, header, header_bytes);
        data = header;
    }
    WebPBitstreamFeatures features;
    VP8StatusCode status = WebPGetFeatures(data, count, &features);
    uint64_t file_bytes = header && status == VP8_STATUS_OK ? counted_bytes(header) : 0;
    free(header);
    switch (status) {
    case VP8_STATUS_OK: break;
    case VP8_STATUS_NOT_ENOUGH_DATA: return ti_fail(error, ti_truncated, "the WebP ends too early");
    default: return ti_fail(error, ti_damaged, "its header is not that of a WebP");
    }
    if (features.has_animation) return ti_fail(error, ti_damaged, "it is an animated WebP");
    reader->info.width = (uint32_t)features.width;
    reader->info.height = (uint32_t)features.height;
    reader->info.whole_bytes = pixel_bytes(reader) + file_bytes;
    return ti_ok;
}

#include "reader.h"

#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

// Sizes that a header may claim; what is decoded is bounded by the caller.
enum { largest_side = 1 << 24, largest_chunk = 8 << 20 };

typedef struct {
    png_structp png;
    png_infop info;
    ti_error *error;
    int is_interlaced;
    // All rows of an interlaced image, and the bytes from one to the next; whether they are where they are wanted.
    uint8_t *whole;
    size_t stride;
    int is_direct;
    uint32_t next;
    int has_ended_early;
} png_state;

static void on_error(png_structp png, png_const_charp message) {
    png_state *state = png_get_error_ptr(png);
    if (state->has_ended_early)
        ti_fail(state->error, ti_truncated, "the PNG ends too early");
    else
        ti_fail(state->error, ti_damaged, "libpng says: %s", message);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message) {
    (void)png;
    (void)message;
}

static void on_read(png_structp png, png_bytep target, size_t count) {
    ti_reader *reader = png_get_io_ptr(png);
    png_state *state = reader->state;
    if (ti_take(reader, target, count) == count) return;
    if (reader->is_exhausted) png_error(png, "the data continue after the last row");
    state->has_ended_early = 1;
    png_error(png, "the end of the data");
}

// libpng reads the rest of the compressed data with the last row, however far they inflate: a thousandfold.
static void begin_last_row(ti_reader *reader) {
    // Two bytes a channel, and what deflate adds to data that it cannot compress.
    reader->allowance = (uint64_t)reader->info.width * 9 + (8 << 10);
}

static ti_status start(ti_reader *reader, uint64_t limit, ti_error *error) {
    (void)limit;
    png_state *state = reader->state;
    state->error = error;
    if (setjmp(png_jmpbuf(state->png))) return error->status;
    png_set_expand(state->png);
    png_set_scale_16(state->png);
    png_set_gray_to_rgb(state->png);
    png_set_add_alpha(state->png, 0xff, PNG_FILLER_AFTER);
    if (reader->order == ti_bgra) png_set_bgr(state->png);
    if (state->is_interlaced) {
        png_set_interlace_handling(state->png);
        state->is_direct = reader->target != NULL;
        state->whole = state->is_direct ? reader->target : ti_take_pages((size_t)reader->info.whole_bytes);
        state->stride = state->is_direct ? reader->stride : (size_t)reader->info.width * 4;
        if (!state->whole) return ti_fail(error, ti_no_memory, "there is no memory for the interlaced PNG");
    }
    png_read_update_info(state->png, state->info);
    if (png_get_rowbytes(state->png, state->info) != (size_t)reader->info.width * 4)
        return ti_fail(error, ti_damaged, "the PNG's pixels are of a kind that is not known");
    if (state->is_interlaced) {
        for (int pass = 0; pass < 7; pass++)
            for (uint32_t row = 0; row < reader->info.height; row++) {
                if (pass == 6 && row + 1 == reader->info.height) begin_last_row(reader);
                png_read_row(state->png, state->whole + row * state->stride, NULL);
            }
    }
    return ti_ok;
}

static ti_status row(ti_reader *reader, uint8_t *target, ti_error *error) {
    png_state *state = reader->state;
    state->error = error;
    if (state->next >= reader->info.height) return ti_fail(error, ti_damaged, "all rows have been read");
    size_t bytes = (size_t)reader->info.width * 4;
    if (state->whole) {
        const uint8_t *decoded = state->whole + state->next++ * state->stride;
        if (decoded != target) memcpy(target, decoded, bytes);
        return ti_ok;
    }
    if (setjmp(png_jmpbuf(state->png))) return error->status;
    if (state->next + 1 == reader->info.height) begin_last_row(reader);
    png_read_row(state->png, target, NULL);
    state->next++;
    return ti_ok;
}

static ti_status end(ti_reader *reader, ti_error *error) {
    png_state *state = reader->state;
    state->error = error;
    reader->allowance = ti_trailer_bytes;
    if (setjmp(png_jmpbuf(state->png))) return reader->is_exhausted ? ti_ok : error->status;
    png_read_end(state->png, NULL);
    return ti_ok;
}

static void close_png(ti_reader *reader) {
    png_state *state = reader->state;
    png_destroy_read_struct(&state->png, &state->info, NULL);
    if (!state->is_direct) ti_give_pages(state->whole, (size_t)reader->info.whole_bytes);
    free(state);
}

ti_status ti_open_png(ti_reader *reader, ti_error *error) {
    png_state *state = calloc(1, sizeof *state);
    if (!state) return ti_fail(error, ti_no_memory, "there is no memory");
    state->error = error;
    reader->state = state;
    reader->info.format = ti_png;
    reader->start = start;
    reader->row = row;
    reader->end = end;
    reader->close = close_png;
    state->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, state, on_error, on_warning);
    if (!state->png) return ti_fail(error, ti_no_memory, "libpng cannot begin");
    state->info = png_create_info_struct(state->png);
    if (!state->info) return ti_fail(error, ti_no_memory, "libpng cannot begin");
    if (setjmp(png_jmpbuf(state->png))) return error->status;
    png_set_user_limits(state->png, largest_side, largest_side);
    png_set_chunk_malloc_max(state->png, largest_chunk);
    png_set_chunk_cache_max(state->png, 100);
    // Skips all chunks but those of pixels: profiles and comments may inflate a thousandfold.
    png_set_keep_unknown_chunks(state->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_set_read_fn(state->png, reader, on_read);
    png_read_info(state->png, state->info);
    reader->info.width = png_get_image_width(state->png, state->info);
    reader->info.height = png_get_image_height(state->png, state->info);
    state->is_interlaced = png_get_interlace_type(state->png, state->info) != PNG_INTERLACE_NONE;
    if (state->is_interlaced) reader->info.whole_bytes = (uint64_t)reader->info.width * reader->info.height * 4;
    return ti_ok;
}

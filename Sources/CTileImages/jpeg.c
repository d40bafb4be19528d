#include "reader.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <jerror.h>
#include <jpeglib.h>

// A progressive file of a few bytes may ask for any number of passes over the image; real ones have about ten.
enum { largest_scan_count = 100, input_bytes = 1 << 14 };

typedef struct {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    struct jpeg_source_mgr source;
    jmp_buf jump;
    ti_reader *reader;
    ti_error *error;
    int is_begun;
    // Four inks a pixel, of files that have them.
    uint8_t *inks;
    uint8_t input[input_bytes];
} jpeg_state;

static void on_exit_error(j_common_ptr common) {
    jpeg_state *state = common->client_data;
    char message[JMSG_LENGTH_MAX];
    common->err->format_message(common, message);
    int is_end = common->err->msg_code == JERR_INPUT_EOF || common->err->msg_code == JERR_INPUT_EMPTY;
    ti_fail(state->error, is_end ? ti_truncated : ti_damaged, "libjpeg says: %.150s", message);
    longjmp(state->jump, 1);
}

// libjpeg fills up what is missing with grey and warns; a tile that is partly grey would be a wrong tile.
static void on_message(j_common_ptr common, int level) {
    if (level >= 0) return;
    jpeg_state *state = common->client_data;
    switch (common->err->msg_code) {
    case JWRN_JPEG_EOF:
        ti_fail(state->error, ti_truncated, "the JPEG ends too early");
        longjmp(state->jump, 1);
    // What does not touch pixels: odd markers, odd versions, bytes too many.
    case JWRN_ADOBE_XFORM:
    case JWRN_EXTRANEOUS_DATA:
    case JWRN_JFIF_MAJOR:
    case JWRN_NOT_SEQUENTIAL:
    case JWRN_TOO_MUCH_DATA: break;
    default:
        ti_fail(state->error, ti_damaged, "the JPEG's data are damaged");
        longjmp(state->jump, 1);
    }
}

static void on_output(j_common_ptr common) { (void)common; }

static void on_progress(j_common_ptr common) {
    jpeg_state *state = common->client_data;
    if (!common->is_decompressor || ((j_decompress_ptr)common)->input_scan_number <= largest_scan_count) return;
    ti_fail(state->error, ti_damaged, "the JPEG has more than %d scans", largest_scan_count);
    longjmp(state->jump, 1);
}

static void source_begin(j_decompress_ptr jpeg) { (void)jpeg; }

static boolean source_fill(j_decompress_ptr jpeg) {
    static const JOCTET end[2] = {0xff, JPEG_EOI};
    jpeg_state *state = jpeg->client_data;
    size_t count = ti_take(state->reader, state->input, input_bytes);
    if (!count && state->reader->is_exhausted) longjmp(state->jump, 1);
    if (!count) {
        WARNMS(jpeg, JWRN_JPEG_EOF);
        state->source.next_input_byte = end;
        state->source.bytes_in_buffer = 2;
        return TRUE;
    }
    state->source.next_input_byte = state->input;
    state->source.bytes_in_buffer = count;
    return TRUE;
}

static void source_skip(j_decompress_ptr jpeg, long count) {
    struct jpeg_source_mgr *source = jpeg->src;
    while (count > 0 && (size_t)count > source->bytes_in_buffer) {
        count -= (long)source->bytes_in_buffer;
        source_fill(jpeg);
    }
    if (count <= 0) return;
    source->next_input_byte += count;
    source->bytes_in_buffer -= (size_t)count;
}

static void source_end(j_decompress_ptr jpeg) { (void)jpeg; }

// Several rows a call: the decoder makes up to 16 at a time.
static ti_status rows(ti_reader *reader, ti_error *error) {
    jpeg_state *state = reader->state;
    state->error = error;
    if (setjmp(state->jump)) return error->status;
    while (state->jpeg.output_scanline < reader->info.height) {
        JSAMPROW lines[16];
        JDIMENSION first = state->jpeg.output_scanline, count = reader->info.height - first;
        if (count > 16) count = 16;
        for (JDIMENSION i = 0; i < count; i++) lines[i] = reader->target + (first + i) * reader->stride;
        jpeg_read_scanlines(&state->jpeg, lines, count);
    }
    return ti_ok;
}

static ti_status start(ti_reader *reader, uint64_t limit, ti_error *error) {
    (void)limit;
    jpeg_state *state = reader->state;
    state->error = error;
    if (setjmp(state->jump)) return error->status;
    struct jpeg_decompress_struct *jpeg = &state->jpeg;
    if (jpeg->jpeg_color_space == JCS_CMYK || jpeg->jpeg_color_space == JCS_YCCK) {
        jpeg->out_color_space = JCS_CMYK;
        state->inks = malloc((size_t)reader->info.width * 4);
        if (!state->inks) return ti_fail(error, ti_no_memory, "there is no memory");
    } else {
        reader->rows = reader->target ? rows : NULL;
        jpeg->out_color_space = reader->order == ti_bgra ? JCS_EXT_BGRA : JCS_EXT_RGBA;
    }
    jpeg_start_decompress(jpeg);
    state->is_begun = 1;
    return ti_ok;
}

static ti_status row(ti_reader *reader, uint8_t *target, ti_error *error) {
    jpeg_state *state = reader->state;
    state->error = error;
    if (state->jpeg.output_scanline >= reader->info.height) return ti_fail(error, ti_damaged, "all rows have been read");
    if (setjmp(state->jump)) return error->status;
    JSAMPROW rows[1] = {state->inks ? state->inks : target};
    jpeg_read_scanlines(&state->jpeg, rows, 1);
    if (!state->inks) return ti_ok;
    // Files with Adobe's marker hold what of the paper shows through, the others how much ink there is.
    uint8_t flip = state->jpeg.saw_Adobe_marker ? 0 : 255;
    int swap = reader->order == ti_bgra ? 2 : 0;
    for (size_t i = 0; i < reader->info.width; i++) {
        const uint8_t *ink = state->inks + 4 * i;
        unsigned key = ink[3] ^ flip;
        for (int channel = 0; channel < 3; channel++)
            target[4 * i + (channel == 1 ? 1 : channel ^ swap)] = (uint8_t)(((unsigned)(ink[channel] ^ flip) * key + 127) / 255);
        target[4 * i + 3] = 255;
    }
    return ti_ok;
}

static ti_status end(ti_reader *reader, ti_error *error) {
    jpeg_state *state = reader->state;
    state->error = error;
    reader->allowance = ti_trailer_bytes;
    if (setjmp(state->jump)) return reader->is_exhausted ? ti_ok : error->status;
    if (state->is_begun) jpeg_finish_decompress(&state->jpeg);
    return ti_ok;
}

static void close_jpeg(ti_reader *reader) {
    jpeg_state *state = reader->state;
    ti_error ignored;
    state->error = &ignored;
    if (!setjmp(state->jump)) jpeg_destroy_decompress(&state->jpeg);
    free(state->inks);
    free(state);
}

ti_status ti_open_jpeg(ti_reader *reader, ti_error *error) {
    jpeg_state *state = calloc(1, sizeof *state);
    if (!state) return ti_fail(error, ti_no_memory, "there is no memory");
    state->error = error;
    state->reader = reader;
    reader->state = state;
    reader->info.format = ti_jpeg;
    reader->start = start;
    reader->row = row;
    reader->end = end;
    reader->close = close_jpeg;
    struct jpeg_decompress_struct *jpeg = &state->jpeg;
    jpeg->err = jpeg_std_error(&state->errors);
    jpeg->client_data = state;
    state->errors.error_exit = on_exit_error;
    state->errors.emit_message = on_message;
    state->errors.output_message = on_output;
    if (setjmp(state->jump)) return error->status;
    jpeg_create_decompress(jpeg);
    jpeg->client_data = state;
    state->progress.progress_monitor = on_progress;
    jpeg->progress = &state->progress;
    state->source.init_source = source_begin;
    state->source.fill_input_buffer = source_fill;
    state->source.skip_input_data = source_skip;
    state->source.resync_to_restart = jpeg_resync_to_restart;
    state->source.term_source = source_end;
    jpeg->src = &state->source;
    jpeg_read_header(jpeg, TRUE);
    reader->info.width = jpeg->image_width;
    reader->info.height = jpeg->image_height;
    if (jpeg_has_multiple_scans(jpeg)) {
        // Coefficients of all blocks, two bytes each.
        uint64_t bytes = 0;
        for (int i = 0; i < jpeg->num_components; i++) {
            const jpeg_component_info *part = &jpeg->comp_info[i];
            uint64_t columns = (uint64_t)part->width_in_blocks + (uint64_t)part->h_samp_factor;
            uint64_t rows = (uint64_t)part->height_in_blocks + (uint64_t)part->v_samp_factor;
            bytes += columns * rows * DCTSIZE2 * sizeof(JCOEF);
        }
        reader->info.whole_bytes = bytes;
    }
    return ti_ok;
}

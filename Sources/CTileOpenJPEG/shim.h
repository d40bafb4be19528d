// The system's OpenJPEG, for one tile in memory at a time: its streams want callbacks.
#ifndef TILECACHE_CTILEOPENJPEG_SHIM_H
#define TILECACHE_CTILEOPENJPEG_SHIM_H
#include <openjpeg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    const uint8_t *bytes;
    uint64_t count, position;
    char *message;
    size_t room;
} tile_j2k_memory;

// What a tile is to be.
typedef struct {
    uint32_t width, height, samples, bits;
    // Whether its three samples are YCbCr, of which red, green and blue are made.
    int is_ycc;
} tile_j2k_kind;

static inline OPJ_SIZE_T tile_j2k_read(void *target, OPJ_SIZE_T count, void *handle) {
    tile_j2k_memory *memory = (tile_j2k_memory *)handle;
    uint64_t left = memory->count - memory->position;
    if (left == 0) return (OPJ_SIZE_T)-1;
    OPJ_SIZE_T taken = count < left ? count : (OPJ_SIZE_T)left;
    memcpy(target, memory->bytes + memory->position, taken);
    memory->position += taken;
    return taken;
}
static inline OPJ_BOOL tile_j2k_seek(OPJ_OFF_T place, void *handle) {
    tile_j2k_memory *memory = (tile_j2k_memory *)handle;
    if (place < 0 || (uint64_t)place > memory->count) return OPJ_FALSE;
    memory->position = (uint64_t)place;
    return OPJ_TRUE;
}
static inline OPJ_OFF_T tile_j2k_skip(OPJ_OFF_T count, void *handle) {
    tile_j2k_memory *memory = (tile_j2k_memory *)handle;
    if (count < 0) return -1;
    // Past the end is the end: the decoder then has no more to read.
    uint64_t left = memory->count - memory->position;
    memory->position += (uint64_t)count < left ? (uint64_t)count : left;
    return count;
}
static inline void tile_j2k_on_error(const char *text, void *handle) {
    tile_j2k_memory *memory = (tile_j2k_memory *)handle;
    // The first one is the cause. It ends with a new line.
    if (memory->message[0]) return;
    snprintf(memory->message, memory->room, "%s", text);
    memory->message[strcspn(memory->message, "\r\n")] = 0;
}

// Where the codestream begins; `count` if there is none. Before it are boxes of JP2 at most, which say nothing that the
// directory does not.
static inline size_t tile_j2k_start(const uint8_t *bytes, size_t count) {
    const uint8_t start[4] = {0xFF, 0x4F, 0xFF, 0x51};
    for (size_t i = 0; i + 48 <= count; i++)
        if (memcmp(bytes + i, start, 4) == 0) return i;
    return count;
}

static inline uint64_t tile_j2k_number(const uint8_t *at, int count) {
    uint64_t value = 0;
    for (int i = 0; i < count; i++) value = value << 8 | at[i];
    return value;
}

// What the decoder reserves for a tile of a codestream before it reads data.
typedef struct {
    // Size of a tile of the codestream, and components.
    uint64_t width, height, components;
    // The most that a header states, of one component where it is by component.
    uint64_t layers, resolutions, precincts, bytes;
} tile_j2k_need;

// Takes levels, code-blocks and precincts of a component, as COD and COC have them. 0 if they are none.
static inline int tile_j2k_add(tile_j2k_need *need, const uint8_t *at, size_t count, int has_precincts) {
    if (count < 5 || at[0] > 32 || (has_precincts && count < 6u + at[0])) return 0;
    uint64_t bytes = 0;
    uint32_t levels = at[0], block_width = (at[1] & 15) + 2, block_height = (at[2] & 15) + 2;
    for (uint32_t r = 0; r <= levels; r++) {
        uint32_t sides = has_precincts ? at[5 + r] : 0xFF, half = r > 0, wide = sides & 15, high = sides >> 4;
        if (half && (wide == 0 || high == 0)) return 0;
        // Each at most, with the parts at both edges.
        uint64_t width = (need->width >> (levels - r)) + 2, height = (need->height >> (levels - r)) + 2;
        uint64_t across = (width >> wide) + 2, down = (height >> high) + 2;
        uint32_t x = wide - half < block_width ? wide - half : block_width;
        uint32_t y = high - half < block_height ? high - half : block_height;
        // Blocks divide precincts.
        uint64_t blocks = ((width >> (half + x)) + 2) * ((height >> (half + y)) + 2);
        // OpenJPEG's structures: of a precinct with its trees, and of a block with room for ten segments.
        bytes += (half ? 3 : 1) * (256 * across * down + 600 * blocks);
        if (across * down > need->precincts) need->precincts = across * down;
    }
    if (levels + 1 > need->resolutions) need->resolutions = levels + 1;
    if (bytes > need->bytes) need->bytes = bytes;
    return 1;
}

// Whether every version of the decoder skips a marker by the length that follows it. After others it looks for the next one
// that it knows, two bytes after two.
static inline int tile_j2k_has_length(uint64_t marker) {
    switch (marker) {
    case 0xFF51: case 0xFF52: case 0xFF53: case 0xFF55: case 0xFF57: case 0xFF58: case 0xFF5C: case 0xFF5D: case 0xFF5E:
    case 0xFF5F: case 0xFF60: case 0xFF61: case 0xFF63: case 0xFF64: case 0xFF74: case 0xFF75: case 0xFF77: case 0xFF78:
    case 0xFF90: return 1;
    default: return 0;
    }
}

// Adds up what the headers of a codestream and of its parts state. 0 if they are damaged, have no coding, or have markers
// after which the decoder may read other headers than these.
static inline int tile_j2k_measure(tile_j2k_need *need, const uint8_t *bytes, size_t count) {
    size_t part = 0;
    for (size_t at = 2; at + 4 <= count;) {
        uint64_t marker = tile_j2k_number(bytes + at, 2), length = tile_j2k_number(bytes + at + 2, 2);
        const uint8_t *data = bytes + at + 4;
        if (marker == 0xFFD9 && part > 0) break;
        if (marker == 0xFF93) {
            // The data of a part, to its end.
            if (part <= at) return 0;
            at = part;
            continue;
        }
        if (!tile_j2k_has_length(marker) || length < 2) return 0;
        if (length > count - at - 2) break;
        size_t held = (size_t)length - 2;
        if (marker == 0xFF90 && held >= 6) {
            uint64_t size = tile_j2k_number(data + 2, 4);
            part = size == 0 || size > count - at ? count : at + (size_t)size;
        } else if (marker == 0xFF52) {
            if (held < 10 || !tile_j2k_add(need, data + 5, held - 5, data[0] & 1)) return 0;
            uint64_t layers = tile_j2k_number(data + 2, 2);
            if (layers > need->layers) need->layers = layers;
        } else if (marker == 0xFF53) {
            size_t own = need->components < 257 ? 1 : 2;
            if (held < own + 6 || !tile_j2k_add(need, data + own + 1, held - own - 1, data[own] & 1)) return 0;
        }
        at += 2 + (size_t)length;
    }
    return need->resolutions > 0;
}

// What makes a codestream larger in memory than its tile may be; NULL if nothing does. The decoder reserves some 6 KB for
// each tile of its own and 1 KB for each component of it, then tables of precincts, code-blocks and layers: all as the
// headers state, before it reads data.
static inline const char *tile_j2k_refusal(const uint8_t *bytes, size_t count, const tile_j2k_kind *kind) {
    uint64_t n[8];
    for (int i = 0; i < 8; i++) n[i] = tile_j2k_number(bytes + 8 + 4 * i, 4);
    if (n[4] == 0 || n[5] == 0 || n[0] <= n[6] || n[1] <= n[7]) return "a JPEG 2000 with an extent was expected";
    uint64_t width = n[0] - n[6], height = n[1] - n[7], components = tile_j2k_number(bytes + 40, 2);
    // One more may be alpha that the directory does not state. It is decoded, too: OpenJPEG leaves components out only
    // together with the transform of colours.
    if (components > (uint64_t)kind->samples + 1) return "a JPEG 2000 with one component more than samples at most was expected";
    uint64_t tiles = ((width + n[4] - 1) / n[4]) * ((height + n[5] - 1) / n[5]);
    if (tiles > 1024 || tiles * components > 4096) return "at most 1024 tiles of a JPEG 2000 were expected, and 4096 with components";
    tile_j2k_need need = {n[4] < width ? n[4] : width, n[5] < height ? n[5] : height, components, 0, 0, 0, 0};
    // Other sizes of the picture are refused when the header has been read. The grid of its tiles may begin before it.
    if (n[0] > n[2] + kind->width || n[1] > n[3] + kind->height) return NULL;
    if (!tile_j2k_measure(&need, bytes, count)) return "whole headers of a JPEG 2000 were expected";
    uint64_t bytes_needed = need.components * (need.bytes + 2 * (need.layers + 1) * need.resolutions * need.precincts);
    if (bytes_needed > 16 * need.components * kind->width * kind->height + (4 << 20))
        return "a JPEG 2000 with larger precincts and code-blocks, or fewer layers, was expected";
    return NULL;
}

static inline uint32_t tile_j2k_clamped(int64_t value, uint32_t bits) {
    int64_t most = ((int64_t)1 << bits) - 1;
    return (uint32_t)(value < 0 ? 0 : value > most ? most : value);
}

// Writes a row of the samples of all components, each a byte or two.
static inline void tile_j2k_row(const opj_image_t *image, const tile_j2k_kind *kind, uint32_t y, uint32_t width, uint8_t *row) {
    for (uint32_t x = 0; x < width; x++) {
        int64_t values[4] = {0, 0, 0, 0};
        for (uint32_t s = 0; s < kind->samples; s++) {
            const opj_image_comp_t *from = &image->comps[s];
            // Colours may have fewer samples than grey.
            uint32_t column = x / from->dx, line = y / from->dy;
            if (column >= from->w) column = from->w - 1;
            if (line >= from->h) line = from->h - 1;
            int64_t value = from->data[(size_t)line * from->w + column];
            if (kind->is_ycc) {
                values[s] = value;
            } else if (kind->bits == 8) {
                *row++ = (uint8_t)tile_j2k_clamped(value, 8);
            } else {
                uint16_t wide = (uint16_t)tile_j2k_clamped(value, 16);
                memcpy(row, &wide, 2);
                row += 2;
            }
        }
        if (!kind->is_ycc) continue;
        // As libjpeg converts them.
        int64_t cb = values[1] - 128, cr = values[2] - 128;
        int64_t colours[3] = {
            values[0] + ((91881 * cr + 32768) >> 16), values[0] + ((-22554 * cb - 46802 * cr + 32768) >> 16),
            values[0] + ((116130 * cb + 32768) >> 16)};
        for (int s = 0; s < 3; s++) *row++ = (uint8_t)tile_j2k_clamped(colours[s], 8);
    }
}

// Whether an image fits in the tile. Else `message` says what it is.
static inline int tile_j2k_fits(const opj_image_t *image, const tile_j2k_kind *kind, char *message, size_t room) {
    uint32_t width = image->x1 - image->x0, height = image->y1 - image->y0;
    int is_good = image->x1 > image->x0 && image->y1 > image->y0 && width <= kind->width && height <= kind->height &&
                  image->numcomps >= kind->samples;
    for (uint32_t s = 0; is_good && s < kind->samples; s++) {
        const opj_image_comp_t *own = &image->comps[s];
        is_good = own->prec <= kind->bits && !own->sgnd && own->dx > 0 && own->dx <= 4 && own->dy > 0 && own->dy <= 4;
    }
    if (!is_good)
        snprintf(message, room, "a JPEG 2000 of %u x %u pixels with %u samples of %u bits was expected, not of %u x %u with %u of %u",
                 kind->width, kind->height, kind->samples, kind->bits, width, height, image->numcomps,
                 image->numcomps > 0 ? image->comps[0].prec : 0);
    return is_good;
}

// Decodes a tile to samples of 8 or 16 bits in the machine's order, `kind->samples` for each pixel; 1 on success, else 0
// and `message`, which is ended. An image that is smaller leaves the rest of `target` as it is.
static inline int tile_j2k_decode(const uint8_t *bytes, size_t count, const tile_j2k_kind *kind, uint8_t *target,
                                  char *message, size_t room) {
    message[0] = 0;
    size_t start = tile_j2k_start(bytes, count);
    const char *refusal = start == count ? "it is no JPEG 2000" : tile_j2k_refusal(bytes + start, count - start, kind);
    if (refusal) {
        snprintf(message, room, "%s", refusal);
        return 0;
    }
    tile_j2k_memory memory = {bytes + start, count - start, 0, message, room};
    opj_stream_t *stream = opj_stream_create(1 << 16, OPJ_TRUE);
    opj_codec_t *codec = opj_create_decompress(OPJ_CODEC_J2K);
    opj_image_t *image = NULL;
    int is_good = 0;
    if (stream && codec) {
        opj_dparameters_t parameters;
        opj_set_default_decoder_parameters(&parameters);
        opj_set_error_handler(codec, tile_j2k_on_error, &memory);
        opj_stream_set_user_data(stream, &memory, NULL);
        opj_stream_set_user_data_length(stream, memory.count);
        opj_stream_set_read_function(stream, tile_j2k_read);
        opj_stream_set_skip_function(stream, tile_j2k_skip);
        opj_stream_set_seek_function(stream, tile_j2k_seek);
        is_good = opj_setup_decoder(codec, &parameters) && opj_read_header(stream, codec, &image) &&
                  tile_j2k_fits(image, kind, message, room) && opj_decode(codec, stream, image);
        for (uint32_t s = 0; is_good && s < kind->samples; s++)
            is_good = image->comps[s].data && image->comps[s].w > 0 && image->comps[s].h > 0;
    }
    if (is_good) {
        size_t row = (size_t)kind->width * kind->samples * (kind->bits / 8);
        uint32_t width = image->x1 - image->x0, height = image->y1 - image->y0;
        for (uint32_t y = 0; y < height; y++) tile_j2k_row(image, kind, y, width, target + y * row);
    }
    if (image) opj_image_destroy(image);
    if (codec) opj_destroy_codec(codec);
    if (stream) opj_stream_destroy(stream);
    return is_good;
}
#endif

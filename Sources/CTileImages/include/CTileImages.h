// PNG, JPEG and WebP, row by row, by libpng, libjpeg-turbo and libwebp. Functions that need setjmp cannot be called
// from Swift.
#ifndef TILECACHE_CTILEIMAGES_H
#define TILECACHE_CTILEIMAGES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum { ti_unknown = 0, ti_png = 1, ti_jpeg = 2, ti_webp = 3 } ti_format;

// How a pixel is written.
typedef enum {
    // Red, green, blue, alpha, a byte each; alpha as it is stored.
    ti_rgba = 0,
    // Blue, green, red, alpha.
    ti_bgra = 1,
    // One byte: the grey itself, or the luma (BT.601) of a colour.
    ti_gray = 2
} ti_layout;

typedef enum {
    ti_ok = 0,
    // Not one of the formats, or invalid.
    ti_damaged = 1,
    // Truncated.
    ti_truncated = 2,
    // Larger than the caller's limit.
    ti_too_large = 3,
    ti_no_memory = 4,
    // The file could not be read.
    ti_unreadable = 5
} ti_status;

typedef struct {
    ti_format format;
    // Pixels; at least 1.
    uint32_t width, height;
    // Bytes that the decoder needs besides a few rows: an interlaced PNG, a progressive JPEG and any WebP need the
    // whole image, and a WebP file its own bytes, too.
    uint64_t whole_bytes;
    // EXIF's, 1 to 8, of a file; 1 of an image in memory.
    uint8_t orientation;
} ti_info;

typedef struct {
    ti_status status;
    // One clause, without a full stop; always ended.
    char message[200];
} ti_error;

typedef struct ti_reader ti_reader;

// Opens an image in memory, which must stay until `ti_close`. NULL with `error` set if it is invalid.
// The pixels are decoded by `ti_start`; until then only the header has been read.
ti_reader *ti_open_memory(const uint8_t *bytes, size_t count, ti_info *info, ti_error *error);

// Opens an image in a file, which is closed with the reader, or at once if this fails.
ti_reader *ti_open_file(FILE *file, ti_info *info, ti_error *error);

// Says, before `ti_start`, that rows are wanted in the order of `layout` (`ti_rgba` or `ti_bgra`), at `target` and each
// `stride` bytes after the one before: a decoder of the whole image writes there at once. Default: red, green, blue and
// alpha, anywhere.
void ti_aim(ti_reader *reader, ti_layout layout, uint8_t *target, size_t stride);

// Starts to decode, with at most `limit` bytes for the memory of `whole_bytes`.
ti_status ti_start(ti_reader *reader, uint64_t limit, ti_error *error);

// The next row from the top as `width` pixels of red, green, blue and alpha, or in the order of `ti_aim`. Call it `height`
// times.
ti_status ti_row(ti_reader *reader, uint8_t *row, ti_error *error);

// All rows, to the place that `ti_aim` says.
ti_status ti_rows(ti_reader *reader, ti_error *error);

// Checks that the image ends as it should, after the last row.
ti_status ti_end(ti_reader *reader, ti_error *error);

void ti_close(ti_reader *reader);

// EXIF's orientation, 1 to 8, of an open file of a format; 1 if there is none or it is another number. Leaves the file at any
// place.
uint8_t ti_file_orientation(FILE *file, ti_format format);

// The same of EXIF's bytes, which begin with `Exif` or with the header of a TIFF.
uint8_t ti_exif_orientation(const uint8_t *bytes, size_t count);

// Writes pixels of red, green, blue and alpha in a layout; `premultiplies` rounds to the nearest. They may not overlap.
void ti_convert(const uint8_t *rgba, size_t count, ti_layout layout, int premultiplies, uint8_t *target);

// Multiplies colours by alpha where they are, rounding to the nearest, in either order.
void ti_premultiply(uint8_t *pixels, size_t count);

// Writes samples of 8 bits as the first channels of pixels of four; others stay. `step` is in samples, from one pixel to the
// next.
void ti_take_bytes(const uint8_t *samples, size_t step, size_t count, int channels, uint8_t *rgba);

// Writes one channel of pixels of four: what `table` has for each sample of 1 to 16 bits. `first` is the place of the sample
// in its pixel. Samples of 16 bits are in the machine's order, those of other sizes follow each other, the highest bit first.
void ti_take_codes(const uint8_t *row, int bits, size_t step, size_t first, size_t count, const uint8_t *table,
                   uint8_t *channel);

// Reads samples as numbers: whole ones (`format` 1) and signed ones (2) of 1 to 32 or of 64 bits, or with a point (3) of 16,
// 32 or 64.
void ti_numbers(const uint8_t *row, int bits, int format, size_t step, size_t first, size_t count, double *numbers);

// Writes one channel of pixels of four from such samples, of which `black` is 0 and `white` is 255.
void ti_take_numbers(const uint8_t *row, int bits, int format, size_t step, size_t first, size_t count, double black,
                     double white, uint8_t *channel);

// Makes pixels of four opaque where a sample is not `no_data`; the others transparent if `is_first`. A NaN is a NaN.
void ti_mark_data(const uint8_t *row, int bits, int format, size_t step, size_t first, size_t count, double no_data,
                  int is_first, uint8_t *rgba);

// Applies a mask, every fourth byte of `mask`, to opaque pixels of `bytes` bytes: multiplies them by it, or, unless
// `premultiplies`, makes it the alpha of those of four. Returns whether any pixel has changed.
int ti_apply_mask(uint8_t *pixels, size_t count, int bytes, int premultiplies, const uint8_t *mask);

// Copies the first channel of each pixel to the next two.
void ti_spread_grey(uint8_t *rgba, size_t count);

// Makes opaque colours of cyan, magenta, yellow and black, by the simplest formula.
void ti_from_inks(uint8_t *rgba, size_t count);

// Divides colours by alpha where they are, rounding to the nearest, in either order; those of transparent pixels stay.
void ti_divide_by_alpha(uint8_t *rgba, size_t count);

#endif

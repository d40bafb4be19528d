// The inner loops: reversible filters that make pixels easier for LZ4, a checksum, and means of 2 x 2 pixels for coarser
// levels.
//
// Every kernel exists as plain C (any processor) and, on x86-64, once more for AVX2; the two give equal results to the
// bit. `tk_path_automatic` asks the processor; the other paths are for tests.
#ifndef CTILEKERNELS_H
#define CTILEKERNELS_H

#include <stddef.h>
#include <stdint.h>

typedef enum {
    tk_path_automatic = 0,
    tk_path_portable = 1,
    // Falls back to the portable path if the processor has no AVX2.
    tk_path_avx2 = 2,
} tk_path;

// The filters. Each writes its result as byte planes (all lowest bytes, then all next ones, ...), and each predicts
// from the tile's first pixel if there is no row above: a channel that never changes becomes a plane of zeros.
typedef enum {
    // 4 x 8 bits. Green is subtracted from red and blue, then the row above from each row.
    // Planes: green, red, blue, alpha (red and blue may as well be named the other way round).
    tk_filter_green_up8 = 1,
    // 4 x 16 bits. The same; differences are folded so that small negative ones have a zero high byte, too.
    // Planes: green low, green high, red low, red high, blue, blue, alpha, alpha.
    tk_filter_green_up16 = 2,
    // 8 bits. The row above is subtracted.
    tk_filter_up8 = 3,
    // 16 bits. left + up - upper left is subtracted, differences folded.
    tk_filter_gradient16 = 4,
    // 32 bits as integers. left + up - upper left is subtracted, differences folded.
    tk_filter_gradient32 = 5,
    // 32 bits as four separate bytes. left + up - upper left is subtracted from each byte.
    tk_filter_gradient_bytes32 = 6,
} tk_filter;

// Filters a tile into planes of width x height bytes each, one after the other.
// Returns a mask of the planes that are not all zeros (bit 0 = the first plane).
// `stride` is the distance of two rows in bytes. An unknown filter writes nothing and returns 0.
uint32_t tk_filter_forward(tk_filter filter, tk_path path, const uint8_t *pixels, ptrdiff_t stride, size_t width,
                           size_t height, uint8_t *planes);

// The inverse. `planes` holds only the planes of `mask`, without gaps; the others are zeros.
// `seed` is the tile's first pixel (little-endian in its low bytes).
void tk_filter_inverse(tk_filter filter, tk_path path, const uint8_t *planes, uint32_t mask, uint64_t seed,
                       uint8_t *pixels, ptrdiff_t stride, size_t width, size_t height);

// 64 bits over bytes. Damage confined to four aligned bytes always changes the result; any other slips through
// once in 2^32 when one lane holds all of it, and once in 2^64 otherwise. Not for adversaries.
uint64_t tk_checksum(tk_path path, const uint8_t *bytes, size_t count, uint64_t seed);

// Statistics of a few rows of a tile, for the choice of a filter.
typedef struct {
    // Pixels that were compared with their left neighbour.
    size_t compared;
    // Those equal to it.
    size_t equal;
    // Those that differ by less than 256 either way (16-bit pixels only).
    size_t close;
    // All sampled pixels, or-ed (the low 32 bits of 8-byte pixels).
    uint32_t any;
} tk_sample;

// Samples every `step`-th row, beginning in the middle of the first step. `bytes_per_pixel` is 1, 2, 4 or 8.
tk_sample tk_sample_rows(const uint8_t *pixels, ptrdiff_t stride, size_t width, size_t height, size_t bytes_per_pixel,
                         size_t step);

// Means of 2 x 2 pixels, by pixel format. Integers are rounded to the nearest, halves up.
typedef enum {
    // 4 x 8 bits, each channel by itself: premultiplied alpha, or none.
    tk_mean_8x4 = 0,
    // 4 x 8 bits, alpha last; colours are weighted with it. If all four pixels are clear, the mean is zeros.
    tk_mean_8x4_straight = 1,
    // 8 bits.
    tk_mean_8 = 2,
    // 16 bits without and with a sign.
    tk_mean_16 = 3,
    tk_mean_signed16 = 4,
    // 4 x 16 bits, as the ones of 8 bits.
    tk_mean_16x4 = 5,
    tk_mean_16x4_straight = 6,
    // 32-bit float: ((a + b) + (c + d)) / 4 with a and b above c and d.
    tk_mean_float = 7,
    // The same as those of 8 bits with colours averaged as light; these need `gamma`. Alpha is averaged as it is.
    tk_mean_8x4_gamma = 8,
    tk_mean_8x4_straight_gamma = 9,
    // Colours are divided by alpha before and multiplied by it after.
    tk_mean_8x4_premultiplied_gamma = 10,
    tk_mean_8_gamma = 11,
} tk_mean;

// A transfer function for 8 bits: from values to light, and back. Light is an integer up to 2^28.
typedef struct {
    uint32_t linear[256];
    // The least sum of four lights whose mean is nearest to each value.
    uint32_t threshold[256];
    // By a sum's upper bits, a value that is not too large.
    uint8_t guess[4097];
} tk_gamma;

// Fills `gamma`. Both tables rise; `threshold[0]` is 0.
void tk_gamma_make(tk_gamma *gamma, const uint32_t *linear, const uint32_t *threshold);

// Halves an image: `target` gets (width + 1) / 2 by (height + 1) / 2 pixels. Beyond an odd edge the last column or row
// counts twice. Strides are in bytes. `target` may be `pixels` with the same stride; any other overlap is undefined.
void tk_halve(tk_mean mean, tk_path path, const tk_gamma *gamma, const uint8_t *pixels, ptrdiff_t stride, size_t width,
              size_t height, uint8_t *target, ptrdiff_t target_stride);

#endif

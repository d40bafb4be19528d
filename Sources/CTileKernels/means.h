// One row of means in plain C: the portable path, and the rest of a row after vectors. `a` and `b` are two
// rows of 2 x count pixels; `out` may be `a`, so every pixel is read before its place is written.
#ifndef TK_MEANS_H
#define TK_MEANS_H

#include "rows.h"
#include "CTileKernels.h"

typedef void (*tk_mean_row)(const uint8_t *a, const uint8_t *b, uint8_t *out, size_t count, const tk_gamma *gamma);

TK_INLINE void tk_mean_8x4_pixel(const uint8_t *a, const uint8_t *b, uint8_t *out) {
    uint8_t p[4];
    for (size_t k = 0; k < 4; k++) p[k] = (uint8_t)((a[k] + a[4 + k] + b[k] + b[4 + k] + 2) >> 2);
    memcpy(out, p, 4);
}

TK_INLINE void tk_mean_8x4_straight_pixel(const uint8_t *a, const uint8_t *b, uint8_t *out) {
    uint32_t w[4] = {a[3], a[7], b[3], b[7]}, all = w[0] + w[1] + w[2] + w[3];
    uint8_t p[4] = {0, 0, 0, (uint8_t)((all + 2) >> 2)};
    for (size_t k = 0; all && k < 3; k++) {
        p[k] = (uint8_t)((a[k] * w[0] + a[4 + k] * w[1] + b[k] * w[2] + b[4 + k] * w[3] + all / 2) / all);
    }
    memcpy(out, p, 4);
}

TK_INLINE void tk_mean_8_pixel(const uint8_t *a, const uint8_t *b, uint8_t *out) {
    *out = (uint8_t)((a[0] + a[1] + b[0] + b[1] + 2) >> 2);
}

// Converts signed to unsigned by inverting the highest bit.
TK_INLINE void tk_mean_16_pixel(const uint8_t *a, const uint8_t *b, uint8_t *out, uint16_t flip) {
    uint32_t sum = (uint32_t)(tk_load16(a) ^ flip) + (tk_load16(a + 2) ^ flip) + (tk_load16(b) ^ flip)
                   + (tk_load16(b + 2) ^ flip);
    tk_store16(out, (uint16_t)((sum + 2) >> 2) ^ flip);
}

TK_INLINE void tk_mean_16x4_pixel(const uint8_t *a, const uint8_t *b, uint8_t *out) {
    uint16_t p[4];
    for (size_t k = 0; k < 4; k++) {
        uint32_t sum = (uint32_t)tk_load16(a + 2 * k) + tk_load16(a + 8 + 2 * k) + tk_load16(b + 2 * k)
                       + tk_load16(b + 8 + 2 * k);
        p[k] = (uint16_t)((sum + 2) >> 2);
    }
    memcpy(out, p, 8);
}

TK_INLINE void tk_mean_16x4_straight_pixel(const uint8_t *a, const uint8_t *b, uint8_t *out) {
    uint64_t w[4] = {tk_load16(a + 6), tk_load16(a + 14), tk_load16(b + 6), tk_load16(b + 14)};
    uint64_t all = w[0] + w[1] + w[2] + w[3];
    uint16_t p[4] = {0, 0, 0, (uint16_t)((all + 2) >> 2)};
    for (size_t k = 0; all && k < 3; k++) {
        uint64_t sum = tk_load16(a + 2 * k) * w[0] + tk_load16(a + 8 + 2 * k) * w[1] + tk_load16(b + 2 * k) * w[2]
                       + tk_load16(b + 8 + 2 * k) * w[3];
        p[k] = (uint16_t)((sum + all / 2) / all);
    }
    memcpy(out, p, 8);
}

TK_INLINE void tk_mean_float_pixel(const uint8_t *a, const uint8_t *b, uint8_t *out) {
    float v[4];
    memcpy(v, a, 8);
    memcpy(v + 2, b, 8);
    // Quarters first: sums of the largest numbers, which mark missing data, are infinite.
    float mean = (0.25f * v[0] + 0.25f * v[1]) + (0.25f * v[2] + 0.25f * v[3]);
    memcpy(out, &mean, 4);
}

extern const tk_mean_row tk_portable_means[12];
#if defined(__x86_64__)
// Null if it would not be faster.
extern const tk_mean_row tk_avx2_means[12];
#endif

#endif

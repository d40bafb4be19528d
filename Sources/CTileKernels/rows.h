// One row of each filter, both ways, in plain C. The portable path is these loops; the AVX2 path uses them for what
// is left of a row when its vectors are done. All arithmetic wraps.
#ifndef TK_ROWS_H
#define TK_ROWS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TK_INLINE static inline __attribute__((always_inline))

// `above` is the row above; `carry` the difference to the row above of the pixel left of the first (gradients only);
// `any` collects what each plane holds.
typedef void (*tk_forward_row)(const uint8_t *row, const uint8_t *above, uint32_t carry, uint8_t *const *planes,
                               size_t count, uint8_t *any);
typedef void (*tk_inverse_row)(uint8_t *row, const uint8_t *above, uint32_t carry, const uint8_t *const *planes,
                               size_t count);

typedef struct {
    tk_forward_row forward;
    tk_inverse_row inverse;
} tk_row_kernels;

// Pixels are read and written through memcpy: rows need no alignment, and compilers make one instruction of it.
TK_INLINE uint16_t tk_load16(const uint8_t *p) { uint16_t v; memcpy(&v, p, 2); return v; }
TK_INLINE uint32_t tk_load32(const uint8_t *p) { uint32_t v; memcpy(&v, p, 4); return v; }
TK_INLINE void tk_store16(uint8_t *p, uint16_t v) { memcpy(p, &v, 2); }
TK_INLINE void tk_store32(uint8_t *p, uint32_t v) { memcpy(p, &v, 4); }

// 0, -1, 1, -2, 2 ... become 0, 1, 2, 3, 4 ...
TK_INLINE uint16_t tk_fold16(uint16_t v) { return (uint16_t)((uint16_t)(v << 1) ^ (uint16_t)(-(v >> 15))); }
TK_INLINE uint16_t tk_unfold16(uint16_t v) { return (uint16_t)((v >> 1) ^ (uint16_t)(-(v & 1))); }
TK_INLINE uint32_t tk_fold32(uint32_t v) { return (v << 1) ^ (0u - (v >> 31)); }
TK_INLINE uint32_t tk_unfold32(uint32_t v) { return (v >> 1) ^ (0u - (v & 1)); }

// Four bytes added or subtracted at once, without carries between them.
TK_INLINE uint32_t tk_add_bytes(uint32_t a, uint32_t b) {
    return ((a & 0x7f7f7f7fu) + (b & 0x7f7f7f7fu)) ^ ((a ^ b) & 0x80808080u);
}
TK_INLINE uint32_t tk_subtract_bytes(uint32_t a, uint32_t b) {
    return ((a | 0x80808080u) - (b & 0x7f7f7f7fu)) ^ ((a ^ ~b) & 0x80808080u);
}

TK_INLINE void tk_green_up8_forward(const uint8_t *restrict row, const uint8_t *restrict above,
                                    uint8_t *restrict green, uint8_t *restrict red, uint8_t *restrict blue,
                                    uint8_t *restrict alpha, size_t count, uint8_t *restrict any) {
    uint8_t anyGreen = 0, anyRed = 0, anyBlue = 0, anyAlpha = 0;
    for (size_t x = 0; x < count; x++) {
        uint8_t g = (uint8_t)(row[4 * x + 1] - above[4 * x + 1]);
        uint8_t r = (uint8_t)(row[4 * x] - above[4 * x] - g);
        uint8_t b = (uint8_t)(row[4 * x + 2] - above[4 * x + 2] - g);
        uint8_t a = (uint8_t)(row[4 * x + 3] - above[4 * x + 3]);
        green[x] = g;
        red[x] = r;
        blue[x] = b;
        alpha[x] = a;
        anyGreen |= g;
        anyRed |= r;
        anyBlue |= b;
        anyAlpha |= a;
    }
    any[0] |= anyGreen;
    any[1] |= anyRed;
    any[2] |= anyBlue;
    any[3] |= anyAlpha;
}

TK_INLINE void tk_green_up8_inverse(uint8_t *restrict row, const uint8_t *restrict above,
                                    const uint8_t *restrict green, const uint8_t *restrict red,
                                    const uint8_t *restrict blue, const uint8_t *restrict alpha, size_t count) {
    for (size_t x = 0; x < count; x++) {
        uint8_t g = green[x];
        row[4 * x] = (uint8_t)(above[4 * x] + red[x] + g);
        row[4 * x + 1] = (uint8_t)(above[4 * x + 1] + g);
        row[4 * x + 2] = (uint8_t)(above[4 * x + 2] + blue[x] + g);
        row[4 * x + 3] = (uint8_t)(above[4 * x + 3] + alpha[x]);
    }
}

TK_INLINE void tk_green_up16_forward(const uint8_t *restrict row, const uint8_t *restrict above,
                                     uint8_t *const *planes, size_t start, size_t count, uint8_t *restrict any) {
    for (size_t x = start; x < count; x++) {
        uint16_t d[4];
        for (size_t k = 0; k < 4; k++) {
            d[k] = (uint16_t)(tk_load16(row + 8 * x + 2 * k) - tk_load16(above + 8 * x + 2 * k));
        }
        uint16_t v[4] = {d[1], (uint16_t)(d[0] - d[1]), (uint16_t)(d[2] - d[1]), d[3]};
        for (size_t k = 0; k < 4; k++) {
            uint16_t folded = tk_fold16(v[k]);
            any[2 * k] |= planes[2 * k][x] = (uint8_t)folded;
            any[2 * k + 1] |= planes[2 * k + 1][x] = (uint8_t)(folded >> 8);
        }
    }
}

TK_INLINE void tk_green_up16_inverse(uint8_t *restrict row, const uint8_t *restrict above,
                                     const uint8_t *const *planes, size_t start, size_t count) {
    for (size_t x = start; x < count; x++) {
        uint16_t v[4];
        for (size_t k = 0; k < 4; k++) {
            v[k] = tk_unfold16((uint16_t)(planes[2 * k][x] | (uint16_t)(planes[2 * k + 1][x] << 8)));
        }
        uint16_t d[4] = {(uint16_t)(v[1] + v[0]), v[0], (uint16_t)(v[2] + v[0]), v[3]};
        for (size_t k = 0; k < 4; k++) {
            tk_store16(row + 8 * x + 2 * k, (uint16_t)(tk_load16(above + 8 * x + 2 * k) + d[k]));
        }
    }
}

TK_INLINE void tk_up8_forward(const uint8_t *restrict row, const uint8_t *restrict above, uint8_t *restrict plane,
                              size_t count, uint8_t *restrict any) {
    uint8_t seen = 0;
    for (size_t x = 0; x < count; x++) {
        uint8_t d = (uint8_t)(row[x] - above[x]);
        plane[x] = d;
        seen |= d;
    }
    any[0] |= seen;
}

TK_INLINE void tk_up8_inverse(uint8_t *restrict row, const uint8_t *restrict above, const uint8_t *restrict plane,
                              size_t count) {
    for (size_t x = 0; x < count; x++) row[x] = (uint8_t)(above[x] + plane[x]);
}

// The first pixel of a row takes its left difference from `carry`; all others read it, so that the loop has no chain.
TK_INLINE void tk_gradient16_forward(const uint8_t *restrict row, const uint8_t *restrict above, uint32_t carry,
                                     uint8_t *restrict low, uint8_t *restrict high, size_t count,
                                     uint8_t *restrict any) {
    if (count == 0) return;
    uint16_t first = tk_fold16((uint16_t)(tk_load16(row) - tk_load16(above) - carry));
    uint8_t anyLow = low[0] = (uint8_t)first, anyHigh = high[0] = (uint8_t)(first >> 8);
    for (size_t x = 1; x < count; x++) {
        uint16_t here = (uint16_t)(tk_load16(row + 2 * x) - tk_load16(above + 2 * x));
        uint16_t left = (uint16_t)(tk_load16(row + 2 * x - 2) - tk_load16(above + 2 * x - 2));
        uint16_t v = tk_fold16((uint16_t)(here - left));
        low[x] = (uint8_t)v;
        high[x] = (uint8_t)(v >> 8);
        anyLow |= (uint8_t)v;
        anyHigh |= (uint8_t)(v >> 8);
    }
    any[0] |= anyLow;
    any[1] |= anyHigh;
}

TK_INLINE void tk_gradient16_inverse(uint8_t *restrict row, const uint8_t *restrict above, uint32_t carry,
                                     const uint8_t *restrict low, const uint8_t *restrict high, size_t count) {
    uint16_t sum = (uint16_t)carry;
    for (size_t x = 0; x < count; x++) {
        sum = (uint16_t)(sum + tk_unfold16((uint16_t)(low[x] | (uint16_t)(high[x] << 8))));
        tk_store16(row + 2 * x, (uint16_t)(tk_load16(above + 2 * x) + sum));
    }
}

// Both gradients of 32-bit pixels: `bytes` says that the four bytes are numbers of their own.
TK_INLINE void tk_gradient32_forward(int bytes, const uint8_t *restrict row, const uint8_t *restrict above,
                                     uint32_t carry, uint8_t *restrict p0, uint8_t *restrict p1,
                                     uint8_t *restrict p2, uint8_t *restrict p3, size_t count,
                                     uint8_t *restrict any) {
    if (count == 0) return;
    uint32_t here = bytes ? tk_subtract_bytes(tk_load32(row), tk_load32(above)) : tk_load32(row) - tk_load32(above);
    uint32_t first = bytes ? tk_subtract_bytes(here, carry) : tk_fold32(here - carry);
    p0[0] = (uint8_t)first;
    p1[0] = (uint8_t)(first >> 8);
    p2[0] = (uint8_t)(first >> 16);
    p3[0] = (uint8_t)(first >> 24);
    uint32_t seen = first;
    for (size_t x = 1; x < count; x++) {
        uint32_t r1 = tk_load32(row + 4 * x), r0 = tk_load32(row + 4 * x - 4);
        uint32_t a1 = tk_load32(above + 4 * x), a0 = tk_load32(above + 4 * x - 4);
        uint32_t v = bytes ? tk_subtract_bytes(tk_subtract_bytes(r1, a1), tk_subtract_bytes(r0, a0))
                           : tk_fold32((r1 - a1) - (r0 - a0));
        p0[x] = (uint8_t)v;
        p1[x] = (uint8_t)(v >> 8);
        p2[x] = (uint8_t)(v >> 16);
        p3[x] = (uint8_t)(v >> 24);
        seen |= v;
    }
    for (size_t k = 0; k < 4; k++) any[k] |= (uint8_t)(seen >> (8 * k));
}

TK_INLINE void tk_gradient32_inverse(int bytes, uint8_t *restrict row, const uint8_t *restrict above, uint32_t carry,
                                     const uint8_t *restrict p0, const uint8_t *restrict p1,
                                     const uint8_t *restrict p2, const uint8_t *restrict p3, size_t count) {
    uint32_t sum = carry;
    for (size_t x = 0; x < count; x++) {
        uint32_t v = (uint32_t)p0[x] | (uint32_t)p1[x] << 8 | (uint32_t)p2[x] << 16 | (uint32_t)p3[x] << 24;
        sum = bytes ? tk_add_bytes(sum, v) : sum + tk_unfold32(v);
        uint32_t up = tk_load32(above + 4 * x);
        tk_store32(row + 4 * x, bytes ? tk_add_bytes(up, sum) : up + sum);
    }
}

extern const tk_row_kernels tk_portable_rows[7];
#if defined(__x86_64__)
extern const tk_row_kernels tk_avx2_rows[7];
#endif

#endif

// The portable path of the means. The four that matter most are written with vectors as the compiler makes them for
// whatever the target has; light and straight alpha go pixel by pixel.
#include "means.h"

typedef uint8_t bytes8 __attribute__((vector_size(8)));
typedef uint8_t bytes16 __attribute__((vector_size(16)));
typedef uint16_t words4 __attribute__((vector_size(8)));
typedef uint16_t words8 __attribute__((vector_size(16)));
typedef uint32_t longs4 __attribute__((vector_size(16)));

TK_INLINE bytes16 load_bytes(const uint8_t *p) { bytes16 v; memcpy(&v, p, 16); return v; }
TK_INLINE words8 load_words(const uint8_t *p) { words8 v; memcpy(&v, p, 16); return v; }
TK_INLINE longs4 load_longs(const uint8_t *p) { longs4 v; memcpy(&v, p, 16); return v; }

// Two pixels of means from four above and four below.
TK_INLINE bytes8 mean_8x4_pair(const uint8_t *a, const uint8_t *b) {
    bytes16 va = load_bytes(a), vb = load_bytes(b);
    words8 low = __builtin_convertvector(__builtin_shufflevector(va, va, 0, 1, 2, 3, 4, 5, 6, 7), words8)
                 + __builtin_convertvector(__builtin_shufflevector(vb, vb, 0, 1, 2, 3, 4, 5, 6, 7), words8);
    words8 high = __builtin_convertvector(__builtin_shufflevector(va, va, 8, 9, 10, 11, 12, 13, 14, 15), words8)
                  + __builtin_convertvector(__builtin_shufflevector(vb, vb, 8, 9, 10, 11, 12, 13, 14, 15), words8);
    words8 sum = __builtin_shufflevector(low, high, 0, 1, 2, 3, 8, 9, 10, 11)
                 + __builtin_shufflevector(low, high, 4, 5, 6, 7, 12, 13, 14, 15);
    return __builtin_convertvector((sum + 2) >> 2, bytes8);
}

static void mean_8x4(const uint8_t *a, const uint8_t *b, uint8_t *out, size_t count, const tk_gamma *gamma) {
    (void)gamma;
    size_t x = 0;
    for (; x + 4 <= count; x += 4) {
        bytes8 first = mean_8x4_pair(a + 8 * x, b + 8 * x), second = mean_8x4_pair(a + 8 * x + 16, b + 8 * x + 16);
        memcpy(out + 4 * x, &first, 8);
        memcpy(out + 4 * x + 8, &second, 8);
    }
    for (; x < count; x++) tk_mean_8x4_pixel(a + 8 * x, b + 8 * x, out + 4 * x);
}

static void mean_8x4_straight(const uint8_t *a, const uint8_t *b, uint8_t *out, size_t count, const tk_gamma *gamma) {
    (void)gamma;
    for (size_t x = 0; x < count; x++) {
        const uint8_t *p = a + 8 * x, *q = b + 8 * x;
        // Between opaque pixels the weights are equal, and the mean is the plain one to the bit.
        if ((p[3] & p[7] & q[3] & q[7]) == 255) {
            tk_mean_8x4_pixel(p, q, out + 4 * x);
        } else {
            tk_mean_8x4_straight_pixel(p, q, out + 4 * x);
        }
    }
}

static void mean_8(const uint8_t *a, const uint8_t *b, uint8_t *out, size_t count, const tk_gamma *gamma) {
    (void)gamma;
    size_t x = 0;
    for (; x + 8 <= count; x += 8) {
        words8 va = load_words(a + 2 * x), vb = load_words(b + 2 * x);
        words8 sum = (va & 0xff) + (va >> 8) + (vb & 0xff) + (vb >> 8);
        bytes8 mean = __builtin_convertvector((sum + 2) >> 2, bytes8);
        memcpy(out + x, &mean, 8);
    }
    for (; x < count; x++) tk_mean_8_pixel(a + 2 * x, b + 2 * x, out + x);
}

TK_INLINE void mean_16_row(const uint8_t *a, const uint8_t *b, uint8_t *out, size_t count, uint16_t flip) {
    size_t x = 0;
    uint32_t both = (uint32_t)flip << 16 | flip;
    for (; x + 4 <= count; x += 4) {
        longs4 va = load_longs(a + 4 * x) ^ both, vb = load_longs(b + 4 * x) ^ both;
        longs4 sum = (va & 0xffff) + (va >> 16) + (vb & 0xffff) + (vb >> 16);
        words4 mean = __builtin_convertvector(((sum + 2) >> 2) ^ flip, words4);
        memcpy(out + 2 * x, &mean, 8);
    }
    for (; x < count; x++) tk_mean_16_pixel(a + 4 * x, b + 4 * x, out + 2 * x, flip);
}

static void mean_16(const uint8_t *a, const uint8_t *b, uint8_t *out, size_t count, const tk_gamma *gamma) {
    (void)gamma;
    mean_16_row(a, b, out, count, 0);
}

static void mean_signed16(const uint8_t *a, const uint8_t *b, uint8_t *out, size_t count, const tk_gamma *gamma) {
    (void)gamma;
    mean_16_row(a, b, out, count, 0x8000);
}

static void mean_16x4(const uint8_t *a, const uint8_t *b, uint8_t *out, size_t count, const tk_gamma *gamma) {
    (void)gamma;
    for (size_t x = 0; x < count; x++) {
        words8 va = load_words(a + 16 * x), vb = load_words(b + 16 * x);
        longs4 sum = __builtin_convertvector(__builtin_shufflevector(va, va, 0, 1, 2, 3), longs4)
                     + __builtin_convertvector(__builtin_shufflevector(va, va, 4, 5, 6, 7), longs4)
                     + __builtin_convertvector(__builtin_shufflevector(vb, vb, 0, 1, 2, 3), longs4)
                     + __builtin_convertvector(__builtin_shufflevector(vb, vb, 4, 5, 6, 7), longs4);
        words4 mean = __builtin_convertvector((sum + 2) >> 2, words4);
        memcpy(out + 8 * x, &mean, 8);
    }
}

static void mean_16x4_straight(const uint8_t *a, const uint8_t *b, uint8_t *out, size_t count,
                               const tk_gamma *gamma) {
    (void)gamma;
    for (size_t x = 0; x < count; x++) tk_mean_16x4_straight_pixel(a + 16 * x, b + 16 * x, out + 8 * x);
}

static void mean_float(const uint8_t *a, const uint8_t *b, uint8_t *out, size_t count, const tk_gamma *gamma) {
    (void)gamma;
    for (size_t x = 0; x < count; x++) tk_mean_float_pixel(a + 8 * x, b + 8 * x, out + 4 * x);
}

// MARK: Light

// The value nearest to the mean of four lights.
TK_INLINE uint8_t value_of(const tk_gamma *gamma, uint32_t sum) {
    uint32_t value = gamma->guess[sum >> 18];
    while (value < 255 && sum >= gamma->threshold[value + 1]) value++;
    return (uint8_t)value;
}

TK_INLINE uint8_t plain_light(const tk_gamma *gamma, uint8_t a, uint8_t b, uint8_t c, uint8_t d) {
    return value_of(gamma, gamma->linear[a] + gamma->linear[b] + gamma->linear[c] + gamma->linear[d]);
}

TK_INLINE uint8_t weighted_light(const tk_gamma *gamma, const uint8_t *values, const uint32_t *weights, uint32_t all) {
    uint64_t sum = 0;
    for (size_t i = 0; i < 4; i++) sum += (uint64_t)gamma->linear[values[i]] * weights[i];
    return value_of(gamma, (uint32_t)((4 * sum + all / 2) / all));
}

static void mean_8x4_gamma(const uint8_t *a, const uint8_t *b, uint8_t *out, size_t count, const tk_gamma *gamma) {
    for (size_t x = 0; x < count; x++) {
        const uint8_t *p = a + 8 * x, *q = b + 8 * x;
        uint8_t mean[4];
        for (size_t k = 0; k < 3; k++) mean[k] = plain_light(gamma, p[k], p[4 + k], q[k], q[4 + k]);
        mean[3] = (uint8_t)((p[3] + p[7] + q[3] + q[7] + 2) >> 2);
        memcpy(out + 4 * x, mean, 4);
    }
}

// Straight colours times alpha, or colours that were multiplied already.
TK_INLINE void mean_8x4_weighted_gamma(const uint8_t *a, const uint8_t *b, uint8_t *out, size_t count,
                                       const tk_gamma *gamma, int premultiplied) {
    for (size_t x = 0; x < count; x++) {
        const uint8_t *p[4] = {a + 8 * x, a + 8 * x + 4, b + 8 * x, b + 8 * x + 4};
        uint32_t weights[4] = {p[0][3], p[1][3], p[2][3], p[3][3]};
        uint32_t all = weights[0] + weights[1] + weights[2] + weights[3];
        uint8_t mean[4] = {0, 0, 0, (uint8_t)((all + 2) >> 2)};
        // Between opaque pixels all weights are equal.
        for (size_t k = 0; all == 1020 && k < 3; k++) mean[k] = plain_light(gamma, p[0][k], p[1][k], p[2][k], p[3][k]);
        for (size_t k = 0; all && all < 1020 && k < 3; k++) {
            uint8_t values[4];
            for (size_t i = 0; i < 4; i++) {
                values[i] = p[i][k];
                if (premultiplied && weights[i] < 255) {
                    uint32_t value = weights[i] ? (255u * values[i] + weights[i] / 2) / weights[i] : 0;
                    values[i] = (uint8_t)(value < 255 ? value : 255);
                }
            }
            mean[k] = weighted_light(gamma, values, weights, all);
            if (premultiplied) mean[k] = (uint8_t)((mean[k] * (uint32_t)mean[3] + 127) / 255);
        }
        memcpy(out + 4 * x, mean, 4);
    }
}

static void mean_8x4_straight_gamma(const uint8_t *a, const uint8_t *b, uint8_t *out, size_t count,
                                    const tk_gamma *gamma) {
    mean_8x4_weighted_gamma(a, b, out, count, gamma, 0);
}

static void mean_8x4_premultiplied_gamma(const uint8_t *a, const uint8_t *b, uint8_t *out, size_t count,
                                         const tk_gamma *gamma) {
    mean_8x4_weighted_gamma(a, b, out, count, gamma, 1);
}

static void mean_8_gamma(const uint8_t *a, const uint8_t *b, uint8_t *out, size_t count, const tk_gamma *gamma) {
    for (size_t x = 0; x < count; x++) {
        out[x] = plain_light(gamma, a[2 * x], a[2 * x + 1], b[2 * x], b[2 * x + 1]);
    }
}

const tk_mean_row tk_portable_means[12] = {
    mean_8x4,   mean_8x4_straight, mean_8,         mean_16,        mean_signed16,
    mean_16x4,  mean_16x4_straight, mean_float,    mean_8x4_gamma, mean_8x4_straight_gamma,
    mean_8x4_premultiplied_gamma,  mean_8_gamma,
};

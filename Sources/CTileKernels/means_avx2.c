// The AVX2 path of the means. Vectors are read before their half is written, so that a row may become its own mean.
#if defined(__x86_64__)
#include <immintrin.h>

#include "means.h"

#define AVX2 __attribute__((target("avx2")))
#define LOAD(p) _mm256_loadu_si256((const __m256i *)(p))
#define STORE(p, v) _mm256_storeu_si256((__m256i *)(p), (v))

// Four pixels as words from eight above and eight below.
AVX2 TK_INLINE __m256i mean_8x4_words(__m256i a, __m256i b) {
    const __m256i neighbours = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15));
    const __m256i ones = _mm256_set1_epi8(1);
    __m256i sum = _mm256_add_epi16(_mm256_maddubs_epi16(_mm256_shuffle_epi8(a, neighbours), ones),
                                   _mm256_maddubs_epi16(_mm256_shuffle_epi8(b, neighbours), ones));
    return _mm256_srli_epi16(_mm256_add_epi16(sum, _mm256_set1_epi16(2)), 2);
}

AVX2 TK_INLINE __m256i mean_8x4_bytes(const __m256i a[2], const __m256i b[2]) {
    __m256i packed = _mm256_packus_epi16(mean_8x4_words(a[0], b[0]), mean_8x4_words(a[1], b[1]));
    return _mm256_permute4x64_epi64(packed, 0xd8);
}

AVX2 static void mean_8x4(const uint8_t *a, const uint8_t *b, uint8_t *out, size_t count, const tk_gamma *gamma) {
    size_t x = 0;
    for (; x + 8 <= count; x += 8) {
        __m256i va[2] = {LOAD(a + 8 * x), LOAD(a + 8 * x + 32)}, vb[2] = {LOAD(b + 8 * x), LOAD(b + 8 * x + 32)};
        STORE(out + 4 * x, mean_8x4_bytes(va, vb));
    }
    tk_portable_means[tk_mean_8x4](a + 8 * x, b + 8 * x, out + 4 * x, count - x, gamma);
}

AVX2 static void mean_8x4_straight(const uint8_t *a, const uint8_t *b, uint8_t *out, size_t count,
                                   const tk_gamma *gamma) {
    const __m256i alphas = _mm256_set1_epi32((int)0xff000000u);
    size_t x = 0;
    for (; x + 8 <= count; x += 8) {
        __m256i va[2] = {LOAD(a + 8 * x), LOAD(a + 8 * x + 32)}, vb[2] = {LOAD(b + 8 * x), LOAD(b + 8 * x + 32)};
        __m256i least = _mm256_and_si256(_mm256_and_si256(va[0], va[1]), _mm256_and_si256(vb[0], vb[1]));
        if (_mm256_testc_si256(least, alphas)) {
            STORE(out + 4 * x, mean_8x4_bytes(va, vb));
        } else {
            tk_portable_means[tk_mean_8x4_straight](a + 8 * x, b + 8 * x, out + 4 * x, 8, gamma);
        }
    }
    tk_portable_means[tk_mean_8x4_straight](a + 8 * x, b + 8 * x, out + 4 * x, count - x, gamma);
}

AVX2 TK_INLINE __m256i mean_8_words(__m256i a, __m256i b) {
    const __m256i ones = _mm256_set1_epi8(1);
    __m256i sum = _mm256_add_epi16(_mm256_maddubs_epi16(a, ones), _mm256_maddubs_epi16(b, ones));
    return _mm256_srli_epi16(_mm256_add_epi16(sum, _mm256_set1_epi16(2)), 2);
}

AVX2 static void mean_8(const uint8_t *a, const uint8_t *b, uint8_t *out, size_t count, const tk_gamma *gamma) {
    size_t x = 0;
    for (; x + 32 <= count; x += 32) {
        __m256i first = mean_8_words(LOAD(a + 2 * x), LOAD(b + 2 * x));
        __m256i second = mean_8_words(LOAD(a + 2 * x + 32), LOAD(b + 2 * x + 32));
        STORE(out + x, _mm256_permute4x64_epi64(_mm256_packus_epi16(first, second), 0xd8));
    }
    tk_portable_means[tk_mean_8](a + 2 * x, b + 2 * x, out + x, count - x, gamma);
}

AVX2 TK_INLINE __m256i mean_16_longs(__m256i a, __m256i b) {
    const __m256i low = _mm256_set1_epi32(0xffff);
    __m256i above = _mm256_add_epi32(_mm256_and_si256(a, low), _mm256_srli_epi32(a, 16));
    __m256i below = _mm256_add_epi32(_mm256_and_si256(b, low), _mm256_srli_epi32(b, 16));
    __m256i sum = _mm256_add_epi32(_mm256_add_epi32(above, below), _mm256_set1_epi32(2));
    return _mm256_srli_epi32(sum, 2);
}

AVX2 TK_INLINE void mean_16_row(tk_mean mean, const uint8_t *a, const uint8_t *b, uint8_t *out, size_t count,
                                __m256i flip) {
    size_t x = 0;
    for (; x + 16 <= count; x += 16) {
        __m256i first = mean_16_longs(_mm256_xor_si256(LOAD(a + 4 * x), flip),
                                      _mm256_xor_si256(LOAD(b + 4 * x), flip));
        __m256i second = mean_16_longs(_mm256_xor_si256(LOAD(a + 4 * x + 32), flip),
                                       _mm256_xor_si256(LOAD(b + 4 * x + 32), flip));
        __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(first, second), 0xd8);
        STORE(out + 2 * x, _mm256_xor_si256(packed, flip));
    }
    tk_portable_means[mean](a + 4 * x, b + 4 * x, out + 2 * x, count - x, 0);
}

AVX2 static void mean_16(const uint8_t *a, const uint8_t *b, uint8_t *out, size_t count, const tk_gamma *gamma) {
    (void)gamma;
    mean_16_row(tk_mean_16, a, b, out, count, _mm256_setzero_si256());
}

AVX2 static void mean_signed16(const uint8_t *a, const uint8_t *b, uint8_t *out, size_t count, const tk_gamma *gamma) {
    (void)gamma;
    mean_16_row(tk_mean_signed16, a, b, out, count, _mm256_set1_epi16((short)0x8000));
}

// Two pixels as longs from four above and four below.
AVX2 TK_INLINE __m256i mean_16x4_longs(__m256i a, __m256i b) {
    const __m256i zero = _mm256_setzero_si256();
    __m256i above = _mm256_add_epi32(_mm256_unpacklo_epi16(a, zero), _mm256_unpackhi_epi16(a, zero));
    __m256i below = _mm256_add_epi32(_mm256_unpacklo_epi16(b, zero), _mm256_unpackhi_epi16(b, zero));
    return _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(above, below), _mm256_set1_epi32(2)), 2);
}

AVX2 static void mean_16x4(const uint8_t *a, const uint8_t *b, uint8_t *out, size_t count, const tk_gamma *gamma) {
    size_t x = 0;
    for (; x + 4 <= count; x += 4) {
        __m256i first = mean_16x4_longs(LOAD(a + 16 * x), LOAD(b + 16 * x));
        __m256i second = mean_16x4_longs(LOAD(a + 16 * x + 32), LOAD(b + 16 * x + 32));
        STORE(out + 8 * x, _mm256_permute4x64_epi64(_mm256_packus_epi32(first, second), 0xd8));
    }
    tk_portable_means[tk_mean_16x4](a + 16 * x, b + 16 * x, out + 8 * x, count - x, gamma);
}

// Sums of quarters of neighbours, in the order 0 1 4 5 2 3 6 7.
AVX2 TK_INLINE __m256 neighbour_sums(const uint8_t *p) {
    const __m256 quarter = _mm256_set1_ps(0.25f);
    __m256 first = _mm256_mul_ps(_mm256_loadu_ps((const float *)p), quarter);
    __m256 second = _mm256_mul_ps(_mm256_loadu_ps((const float *)(p + 32)), quarter);
    return _mm256_add_ps(_mm256_shuffle_ps(first, second, 0x88), _mm256_shuffle_ps(first, second, 0xdd));
}

AVX2 static void mean_float(const uint8_t *a, const uint8_t *b, uint8_t *out, size_t count, const tk_gamma *gamma) {
    size_t x = 0;
    for (; x + 8 <= count; x += 8) {
        __m256 sum = _mm256_add_ps(neighbour_sums(a + 8 * x), neighbour_sums(b + 8 * x));
        STORE(out + 4 * x, _mm256_permute4x64_epi64(_mm256_castps_si256(sum), 0xd8));
    }
    tk_portable_means[tk_mean_float](a + 8 * x, b + 8 * x, out + 4 * x, count - x, gamma);
}

const tk_mean_row tk_avx2_means[12] = {
    mean_8x4, mean_8x4_straight, mean_8, mean_16, mean_signed16, mean_16x4, 0, mean_float, 0, 0, 0, 0,
};
#endif

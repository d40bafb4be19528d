// The AVX2 path. Functions carry the target themselves, so the package needs no compiler flags; they are called only
// where the processor has it.
#if defined(__x86_64__)
#include <immintrin.h>

#include "rows.h"

#define AVX2 __attribute__((target("avx2")))
#define LOAD(p) _mm256_loadu_si256((const __m256i *)(p))
#define STORE(p, v) _mm256_storeu_si256((__m256i *)(p), (v))

AVX2 TK_INLINE uint8_t holds_anything(__m256i v) { return (uint8_t)!_mm256_testz_si256(v, v); }

// Four vectors that hold four 4-byte groups in each half (r g b a) become one vector a channel, in pixel order.
AVX2 TK_INLINE void transpose_groups(__m256i v[4]) {
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    __m256i rg0 = _mm256_unpacklo_epi32(v[0], v[1]), ba0 = _mm256_unpackhi_epi32(v[0], v[1]);
    __m256i rg1 = _mm256_unpacklo_epi32(v[2], v[3]), ba1 = _mm256_unpackhi_epi32(v[2], v[3]);
    v[0] = _mm256_permutevar8x32_epi32(_mm256_unpacklo_epi64(rg0, rg1), order);
    v[1] = _mm256_permutevar8x32_epi32(_mm256_unpackhi_epi64(rg0, rg1), order);
    v[2] = _mm256_permutevar8x32_epi32(_mm256_unpacklo_epi64(ba0, ba1), order);
    v[3] = _mm256_permutevar8x32_epi32(_mm256_unpackhi_epi64(ba0, ba1), order);
}

// Four vectors of 32 bytes, one a channel, become 32 interleaved pixels.
AVX2 TK_INLINE void interleave_bytes(__m256i v[4]) {
    __m256i lo01 = _mm256_unpacklo_epi8(v[0], v[1]), hi01 = _mm256_unpackhi_epi8(v[0], v[1]);
    __m256i lo23 = _mm256_unpacklo_epi8(v[2], v[3]), hi23 = _mm256_unpackhi_epi8(v[2], v[3]);
    __m256i w0 = _mm256_unpacklo_epi16(lo01, lo23), w1 = _mm256_unpackhi_epi16(lo01, lo23);
    __m256i w2 = _mm256_unpacklo_epi16(hi01, hi23), w3 = _mm256_unpackhi_epi16(hi01, hi23);
    v[0] = _mm256_permute2x128_si256(w0, w1, 0x20);
    v[1] = _mm256_permute2x128_si256(w2, w3, 0x20);
    v[2] = _mm256_permute2x128_si256(w0, w1, 0x31);
    v[3] = _mm256_permute2x128_si256(w2, w3, 0x31);
}

// MARK: 4 x 8 bits

AVX2 static void green_up8_f(const uint8_t *row, const uint8_t *above, uint32_t carry, uint8_t *const *p,
                             size_t count, uint8_t *any) {
    (void)carry;
    const __m256i group = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
    uint8_t *red = p[1], *green = p[0], *blue = p[2], *alpha = p[3];
    __m256i seen[4] = {_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256()};
    size_t x = 0;
    for (; x + 32 <= count; x += 32) {
        __m256i v[4];
        for (int k = 0; k < 4; k++) {
            __m256i d = _mm256_sub_epi8(LOAD(row + 4 * x + 32 * k), LOAD(above + 4 * x + 32 * k));
            v[k] = _mm256_shuffle_epi8(d, group);
        }
        transpose_groups(v);
        v[0] = _mm256_sub_epi8(v[0], v[1]);
        v[2] = _mm256_sub_epi8(v[2], v[1]);
        STORE(green + x, v[1]);
        STORE(red + x, v[0]);
        STORE(blue + x, v[2]);
        STORE(alpha + x, v[3]);
        for (int k = 0; k < 4; k++) seen[k] = _mm256_or_si256(seen[k], v[k]);
    }
    any[0] |= holds_anything(seen[1]);
    any[1] |= holds_anything(seen[0]);
    any[2] |= holds_anything(seen[2]);
    any[3] |= holds_anything(seen[3]);
    tk_green_up8_forward(row + 4 * x, above + 4 * x, green + x, red + x, blue + x, alpha + x, count - x, any);
}

AVX2 static void green_up8_i(uint8_t *row, const uint8_t *above, uint32_t carry, const uint8_t *const *p,
                             size_t count) {
    (void)carry;
    const uint8_t *red = p[1], *green = p[0], *blue = p[2], *alpha = p[3];
    size_t x = 0;
    for (; x + 32 <= count; x += 32) {
        __m256i g = LOAD(green + x);
        __m256i v[4] = {_mm256_add_epi8(LOAD(red + x), g), g, _mm256_add_epi8(LOAD(blue + x), g), LOAD(alpha + x)};
        interleave_bytes(v);
        for (int k = 0; k < 4; k++) {
            STORE(row + 4 * x + 32 * k, _mm256_add_epi8(v[k], LOAD(above + 4 * x + 32 * k)));
        }
    }
    tk_green_up8_inverse(row + 4 * x, above + 4 * x, green + x, red + x, blue + x, alpha + x, count - x);
}

// MARK: 4 x 16 bits

AVX2 TK_INLINE __m256i fold16(__m256i v) {
    return _mm256_xor_si256(_mm256_add_epi16(v, v), _mm256_srai_epi16(v, 15));
}

AVX2 TK_INLINE __m256i unfold16(__m256i v) {
    __m256i sign = _mm256_sub_epi16(_mm256_setzero_si256(), _mm256_and_si256(v, _mm256_set1_epi16(1)));
    return _mm256_xor_si256(_mm256_srli_epi16(v, 1), sign);
}

// Sixteen 16-bit numbers: their low bytes in the first half, their high bytes in the second.
AVX2 TK_INLINE __m256i split_bytes16(__m256i v) {
    __m256i packed = _mm256_packus_epi16(_mm256_and_si256(v, _mm256_set1_epi16(0xff)), _mm256_srli_epi16(v, 8));
    return _mm256_permute4x64_epi64(packed, 0xd8);
}

AVX2 TK_INLINE __m256i join_bytes16(const uint8_t *low, const uint8_t *high) {
    __m256i l = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)low));
    __m256i h = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)high));
    return _mm256_or_si256(l, _mm256_slli_epi16(h, 8));
}

AVX2 static void green_up16_f(const uint8_t *row, const uint8_t *above, uint32_t carry, uint8_t *const *p,
                              size_t count, uint8_t *any) {
    (void)carry;
    const __m256i group = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15));
    __m256i seen[4] = {_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256()};
    size_t x = 0;
    for (; x + 16 <= count; x += 16) {
        __m256i v[4];
        for (int k = 0; k < 4; k++) {
            __m256i d = _mm256_sub_epi16(LOAD(row + 8 * x + 32 * k), LOAD(above + 8 * x + 32 * k));
            v[k] = _mm256_shuffle_epi8(d, group);
        }
        transpose_groups(v);
        __m256i planes[4] = {v[1], _mm256_sub_epi16(v[0], v[1]), _mm256_sub_epi16(v[2], v[1]), v[3]};
        for (int k = 0; k < 4; k++) {
            __m256i split = split_bytes16(fold16(planes[k]));
            seen[k] = _mm256_or_si256(seen[k], split);
            _mm_storeu_si128((__m128i *)(p[2 * k] + x), _mm256_castsi256_si128(split));
            _mm_storeu_si128((__m128i *)(p[2 * k + 1] + x), _mm256_extracti128_si256(split, 1));
        }
    }
    for (int k = 0; k < 4; k++) {
        __m128i low = _mm256_castsi256_si128(seen[k]), high = _mm256_extracti128_si256(seen[k], 1);
        any[2 * k] |= (uint8_t)!_mm_testz_si128(low, low);
        any[2 * k + 1] |= (uint8_t)!_mm_testz_si128(high, high);
    }
    tk_green_up16_forward(row, above, p, x, count, any);
}

AVX2 static void green_up16_i(uint8_t *row, const uint8_t *above, uint32_t carry, const uint8_t *const *p,
                              size_t count) {
    (void)carry;
    size_t x = 0;
    for (; x + 16 <= count; x += 16) {
        __m256i g = unfold16(join_bytes16(p[0] + x, p[1] + x));
        __m256i r = _mm256_add_epi16(unfold16(join_bytes16(p[2] + x, p[3] + x)), g);
        __m256i b = _mm256_add_epi16(unfold16(join_bytes16(p[4] + x, p[5] + x)), g);
        __m256i a = unfold16(join_bytes16(p[6] + x, p[7] + x));
        __m256i rg0 = _mm256_unpacklo_epi16(r, g), rg1 = _mm256_unpackhi_epi16(r, g);
        __m256i ba0 = _mm256_unpacklo_epi16(b, a), ba1 = _mm256_unpackhi_epi16(b, a);
        __m256i w0 = _mm256_unpacklo_epi32(rg0, ba0), w1 = _mm256_unpackhi_epi32(rg0, ba0);
        __m256i w2 = _mm256_unpacklo_epi32(rg1, ba1), w3 = _mm256_unpackhi_epi32(rg1, ba1);
        __m256i v[4] = {_mm256_permute2x128_si256(w0, w1, 0x20), _mm256_permute2x128_si256(w2, w3, 0x20),
                        _mm256_permute2x128_si256(w0, w1, 0x31), _mm256_permute2x128_si256(w2, w3, 0x31)};
        for (int k = 0; k < 4; k++) {
            STORE(row + 8 * x + 32 * k, _mm256_add_epi16(v[k], LOAD(above + 8 * x + 32 * k)));
        }
    }
    tk_green_up16_inverse(row, above, p, x, count);
}

// MARK: One channel

// The loop of the portable path, made into wider vectors by the compiler.
AVX2 static void up8_f(const uint8_t *row, const uint8_t *above, uint32_t carry, uint8_t *const *p, size_t count,
                       uint8_t *any) {
    (void)carry;
    tk_up8_forward(row, above, p[0], count, any);
}

AVX2 static void up8_i(uint8_t *row, const uint8_t *above, uint32_t carry, const uint8_t *const *p, size_t count) {
    (void)carry;
    tk_up8_inverse(row, above, p[0], count);
}

AVX2 static void gradient16_f(const uint8_t *row, const uint8_t *above, uint32_t carry, uint8_t *const *p,
                              size_t count, uint8_t *any) {
    tk_gradient16_forward(row, above, carry, p[0], p[1], count, any);
}

// Running sums in log2(n) steps: within each half, then the first half's total onto the second.
AVX2 static void gradient16_i(uint8_t *row, const uint8_t *above, uint32_t carry, const uint8_t *const *p,
                              size_t count) {
    const __m256i last = _mm256_set1_epi16((15 << 8) | 14);
    __m256i before = _mm256_set1_epi16((int16_t)carry);
    size_t x = 0;
    for (; x + 16 <= count; x += 16) {
        __m256i v = unfold16(join_bytes16(p[0] + x, p[1] + x));
        v = _mm256_add_epi16(v, _mm256_slli_si256(v, 2));
        v = _mm256_add_epi16(v, _mm256_slli_si256(v, 4));
        v = _mm256_add_epi16(v, _mm256_slli_si256(v, 8));
        __m256i totals = _mm256_shuffle_epi8(v, last);
        v = _mm256_add_epi16(v, _mm256_permute2x128_si256(totals, totals, 0x08));
        __m256i sum = _mm256_add_epi16(v, before);
        // Both halves' totals, added apart from `sum`: the chain from one vector to the next is one addition.
        __m256i all = _mm256_add_epi16(totals, _mm256_permute2x128_si256(totals, totals, 0x01));
        before = _mm256_add_epi16(before, all);
        STORE(row + 2 * x, _mm256_add_epi16(sum, LOAD(above + 2 * x)));
    }
    uint32_t rest = (uint16_t)_mm256_extract_epi16(before, 0);
    tk_gradient16_inverse(row + 2 * x, above + 2 * x, rest, p[0] + x, p[1] + x, count - x);
}

AVX2 static void gradient32_f(const uint8_t *row, const uint8_t *above, uint32_t carry, uint8_t *const *p,
                              size_t count, uint8_t *any) {
    tk_gradient32_forward(0, row, above, carry, p[0], p[1], p[2], p[3], count, any);
}

AVX2 static void gradient_bytes32_f(const uint8_t *row, const uint8_t *above, uint32_t carry, uint8_t *const *p,
                                    size_t count, uint8_t *any) {
    tk_gradient32_forward(1, row, above, carry, p[0], p[1], p[2], p[3], count, any);
}

AVX2 TK_INLINE __m256i add32(int bytes, __m256i a, __m256i b) {
    return bytes ? _mm256_add_epi8(a, b) : _mm256_add_epi32(a, b);
}

AVX2 TK_INLINE void gradient32_inverse(int bytes, uint8_t *row, const uint8_t *above, uint32_t carry,
                                       const uint8_t *const *p, size_t count) {
    __m256i before = _mm256_set1_epi32((int32_t)carry);
    size_t x = 0;
    for (; x + 32 <= count; x += 32) {
        __m256i v[4] = {LOAD(p[0] + x), LOAD(p[1] + x), LOAD(p[2] + x), LOAD(p[3] + x)};
        interleave_bytes(v);
        for (int k = 0; k < 4; k++) {
            __m256i s = v[k];
            if (!bytes) {
                __m256i sign = _mm256_sub_epi32(_mm256_setzero_si256(), _mm256_and_si256(s, _mm256_set1_epi32(1)));
                s = _mm256_xor_si256(_mm256_srli_epi32(s, 1), sign);
            }
            s = add32(bytes, s, _mm256_slli_si256(s, 4));
            s = add32(bytes, s, _mm256_slli_si256(s, 8));
            __m256i totals = _mm256_shuffle_epi32(s, 0xff);
            s = add32(bytes, s, _mm256_permute2x128_si256(totals, totals, 0x08));
            __m256i sum = add32(bytes, s, before);
            __m256i all = add32(bytes, totals, _mm256_permute2x128_si256(totals, totals, 0x01));
            before = add32(bytes, before, all);
            STORE(row + 4 * x + 32 * k, add32(bytes, sum, LOAD(above + 4 * x + 32 * k)));
        }
    }
    uint32_t rest = (uint32_t)_mm256_extract_epi32(before, 0);
    tk_gradient32_inverse(bytes, row + 4 * x, above + 4 * x, rest, p[0] + x, p[1] + x, p[2] + x, p[3] + x, count - x);
}

AVX2 static void gradient32_i(uint8_t *row, const uint8_t *above, uint32_t carry, const uint8_t *const *p,
                              size_t count) {
    gradient32_inverse(0, row, above, carry, p, count);
}

AVX2 static void gradient_bytes32_i(uint8_t *row, const uint8_t *above, uint32_t carry, const uint8_t *const *p,
                                    size_t count) {
    gradient32_inverse(1, row, above, carry, p, count);
}

const tk_row_kernels tk_avx2_rows[7] = {
    {0, 0},
    {green_up8_f, green_up8_i},
    {green_up16_f, green_up16_i},
    {up8_f, up8_i},
    {gradient16_f, gradient16_i},
    {gradient32_f, gradient32_i},
    {gradient_bytes32_f, gradient_bytes32_i},
};
#else
// An empty file is not valid C.
typedef int tk_no_avx2;
#endif

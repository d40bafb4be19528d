// A look at a few rows: cheap enough to run on every tile before it is compressed.
#include "CTileKernels.h"
#include "rows.h"

TK_INLINE void sample8(const uint8_t *row, size_t count, tk_sample *s) {
    uint32_t equal = 0, any = row[0];
    for (size_t x = 1; x < count; x++) {
        equal += row[x] == row[x - 1];
        any |= row[x];
    }
    s->equal += equal;
    s->any |= any;
}

TK_INLINE void sample16(const uint8_t *row, size_t count, tk_sample *s) {
    uint32_t equal = 0, close = 0, any = tk_load16(row);
    for (size_t x = 1; x < count; x++) {
        uint16_t here = tk_load16(row + 2 * x), left = tk_load16(row + 2 * x - 2);
        equal += here == left;
        close += (uint16_t)(here - left + 255) < 511;
        any |= here;
    }
    s->equal += equal;
    s->close += close;
    s->any |= any;
}

TK_INLINE void sample32(const uint8_t *row, size_t count, tk_sample *s) {
    uint32_t equal = 0, any = tk_load32(row);
    for (size_t x = 1; x < count; x++) {
        uint32_t here = tk_load32(row + 4 * x);
        equal += here == tk_load32(row + 4 * x - 4);
        any |= here;
    }
    s->equal += equal;
    s->any |= any;
}

TK_INLINE void sample64(const uint8_t *row, size_t count, tk_sample *s) {
    uint32_t equal = 0, any = tk_load32(row);
    for (size_t x = 1; x < count; x++) {
        equal += memcmp(row + 8 * x, row + 8 * x - 8, 8) == 0;
        any |= tk_load32(row + 8 * x);
    }
    s->equal += equal;
    s->any |= any;
}

tk_sample tk_sample_rows(const uint8_t *pixels, ptrdiff_t stride, size_t width, size_t height, size_t bytes_per_pixel,
                         size_t step) {
    tk_sample s = {0, 0, 0, 0};
    if (width == 0 || height == 0 || step == 0) return s;
    for (size_t y = step / 2 < height ? step / 2 : height / 2; y < height; y += step) {
        const uint8_t *row = pixels + (ptrdiff_t)y * stride;
        s.compared += width - 1;
        switch (bytes_per_pixel) {
        case 1: sample8(row, width, &s); break;
        case 2: sample16(row, width, &s); break;
        case 4: sample32(row, width, &s); break;
        case 8: sample64(row, width, &s); break;
        default: return s;
        }
    }
    return s;
}

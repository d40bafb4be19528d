// Drives the rows of means over an image: odd edges, and which path runs.
#include "dispatch.h"
#include "means.h"

void tk_gamma_make(tk_gamma *gamma, const uint32_t *linear, const uint32_t *threshold) {
    memcpy(gamma->linear, linear, sizeof gamma->linear);
    memcpy(gamma->threshold, threshold, sizeof gamma->threshold);
    uint32_t value = 0;
    for (uint32_t i = 0; i <= 4096; i++) {
        while (value < 255 && threshold[value + 1] <= i << 18) value++;
        gamma->guess[i] = (uint8_t)value;
    }
}

static const uint8_t bytes_per_pixel[12] = {4, 4, 1, 2, 2, 8, 8, 4, 4, 4, 4, 1};

static tk_mean_row row_of(tk_mean mean, tk_path path) {
#if defined(__x86_64__)
    if (tk_use_avx2(path) && tk_avx2_means[mean]) return tk_avx2_means[mean];
#endif
    (void)path;
    return tk_portable_means[mean];
}

void tk_halve(tk_mean mean, tk_path path, const tk_gamma *gamma, const uint8_t *pixels, ptrdiff_t stride, size_t width,
              size_t height, uint8_t *target, ptrdiff_t target_stride) {
    if ((unsigned)mean > 11 || (mean >= tk_mean_8x4_gamma && !gamma)) return;
    tk_mean_row row = row_of(mean, path);
    size_t bytes = bytes_per_pixel[mean];
    for (size_t y = 0; y < height; y += 2) {
        const uint8_t *a = pixels + (ptrdiff_t)y * stride;
        const uint8_t *b = y + 1 < height ? a + stride : a;
        uint8_t *out = target + (ptrdiff_t)(y / 2) * target_stride;
        uint8_t last[8];
        if (width & 1) {
            // The last column twice; taken out first, because the row may become its own mean.
            const size_t at = (width - 1) * bytes;
            uint8_t doubled[2][16];
            memcpy(doubled[0], a + at, bytes);
            memcpy(doubled[0] + bytes, a + at, bytes);
            memcpy(doubled[1], b + at, bytes);
            memcpy(doubled[1] + bytes, b + at, bytes);
            row(doubled[0], doubled[1], last, 1, gamma);
        }
        row(a, b, out, width / 2, gamma);
        if (width & 1) memcpy(out + width / 2 * bytes, last, bytes);
    }
}

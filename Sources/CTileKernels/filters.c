// Drives the row kernels over a tile: the row above the first one, planes that are not there, carries of gradients.
#include "CTileKernels.h"
#include "dispatch.h"
#include "rows.h"

// Columns are worked off in strips, so that the stand-ins for a row above and for a plane of zeros have a fixed size
// whatever the tile's width is. 1024 pixels of the widest format fill 8 KiB of stack.
enum { strip = 1024, maximum_planes = 8 };

static const uint8_t zeros[strip];

typedef struct {
    size_t bytes_per_pixel;
    size_t planes;
    int gradient;  // 0, or the bits of the numbers that are subtracted: 8, 16, 32
} layout;

static const layout layouts[7] = {{0, 0, 0}, {4, 4, 0}, {8, 8, 0}, {1, 1, 0}, {2, 2, 16}, {4, 4, 32}, {4, 4, 8}};

static const tk_row_kernels *kernels(tk_filter filter, tk_path path) {
    if ((unsigned)filter < 1 || (unsigned)filter > 6) return 0;
#if defined(__x86_64__)
    if (tk_use_avx2(path)) return &tk_avx2_rows[filter];
#endif
    (void)path;
    return &tk_portable_rows[filter];
}

static void fill(uint8_t *row, const uint8_t *pixel, size_t bytes_per_pixel, size_t count) {
    for (size_t x = 0; x < count; x++) memcpy(row + x * bytes_per_pixel, pixel, bytes_per_pixel);
}

// The difference to the row above of the pixel left of a strip; 0 at the tile's edge.
static uint32_t carry_before(const layout *l, size_t column, const uint8_t *row, const uint8_t *above) {
    if (!l->gradient || column == 0) return 0;
    if (l->gradient == 16) return (uint16_t)(tk_load16(row - 2) - tk_load16(above - 2));
    if (l->gradient == 32) return tk_load32(row - 4) - tk_load32(above - 4);
    return tk_subtract_bytes(tk_load32(row - 4), tk_load32(above - 4));
}

uint32_t tk_filter_forward(tk_filter filter, tk_path path, const uint8_t *pixels, ptrdiff_t stride, size_t width,
                           size_t height, uint8_t *planes) {
    const tk_row_kernels *rows = kernels(filter, path);
    if (!rows || width == 0 || height == 0) return 0;
    const layout *l = &layouts[filter];
    // One pixel more on the left, for the carry into the second and later strips.
    uint8_t seeds[(strip + 1) * 8];
    fill(seeds, pixels, l->bytes_per_pixel, (width < strip ? width : strip) + 1);
    uint8_t any[maximum_planes] = {0};
    for (size_t column = 0; column < width; column += strip) {
        size_t count = width - column < strip ? width - column : strip;
        for (size_t y = 0; y < height; y++) {
            const uint8_t *row = pixels + (ptrdiff_t)y * stride + column * l->bytes_per_pixel;
            const uint8_t *above = y ? row - stride : seeds + l->bytes_per_pixel;
            uint8_t *p[maximum_planes];
            for (size_t k = 0; k < l->planes; k++) p[k] = planes + (k * height + y) * width + column;
            rows->forward(row, above, carry_before(l, column, row, above), p, count, any);
        }
    }
    uint32_t mask = 0;
    for (size_t k = 0; k < l->planes; k++) mask |= (uint32_t)(any[k] != 0) << k;
    return mask;
}

void tk_filter_inverse(tk_filter filter, tk_path path, const uint8_t *planes, uint32_t mask, uint64_t seed,
                       uint8_t *pixels, ptrdiff_t stride, size_t width, size_t height) {
    const tk_row_kernels *rows = kernels(filter, path);
    if (!rows || width == 0 || height == 0) return;
    const layout *l = &layouts[filter];
    uint8_t first[8];
    for (int k = 0; k < 8; k++) first[k] = (uint8_t)(seed >> (8 * k));
    uint8_t seeds[(strip + 1) * 8];
    fill(seeds, first, l->bytes_per_pixel, (width < strip ? width : strip) + 1);
    for (size_t column = 0; column < width; column += strip) {
        size_t count = width - column < strip ? width - column : strip;
        for (size_t y = 0; y < height; y++) {
            uint8_t *row = pixels + (ptrdiff_t)y * stride + column * l->bytes_per_pixel;
            const uint8_t *above = y ? row - stride : seeds + l->bytes_per_pixel;
            const uint8_t *p[maximum_planes];
            size_t present = 0;
            for (size_t k = 0; k < l->planes; k++) {
                p[k] = mask >> k & 1 ? planes + (present++ * height + y) * width + column : zeros;
            }
            rows->inverse(row, above, carry_before(l, column, row, above), p, count);
        }
    }
}

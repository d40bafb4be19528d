// The portable path: the plain loops of rows.h, one function a filter.
#include "rows.h"

static void green_up8_f(const uint8_t *row, const uint8_t *above, uint32_t carry, uint8_t *const *p, size_t count,
                        uint8_t *any) {
    (void)carry;
    tk_green_up8_forward(row, above, p[0], p[1], p[2], p[3], count, any);
}

static void green_up8_i(uint8_t *row, const uint8_t *above, uint32_t carry, const uint8_t *const *p, size_t count) {
    (void)carry;
    tk_green_up8_inverse(row, above, p[0], p[1], p[2], p[3], count);
}

static void green_up16_f(const uint8_t *row, const uint8_t *above, uint32_t carry, uint8_t *const *p, size_t count,
                         uint8_t *any) {
    (void)carry;
    tk_green_up16_forward(row, above, p, 0, count, any);
}

static void green_up16_i(uint8_t *row, const uint8_t *above, uint32_t carry, const uint8_t *const *p, size_t count) {
    (void)carry;
    tk_green_up16_inverse(row, above, p, 0, count);
}

static void up8_f(const uint8_t *row, const uint8_t *above, uint32_t carry, uint8_t *const *p, size_t count,
                  uint8_t *any) {
    (void)carry;
    tk_up8_forward(row, above, p[0], count, any);
}

static void up8_i(uint8_t *row, const uint8_t *above, uint32_t carry, const uint8_t *const *p, size_t count) {
    (void)carry;
    tk_up8_inverse(row, above, p[0], count);
}

static void gradient16_f(const uint8_t *row, const uint8_t *above, uint32_t carry, uint8_t *const *p, size_t count,
                         uint8_t *any) {
    tk_gradient16_forward(row, above, carry, p[0], p[1], count, any);
}

static void gradient16_i(uint8_t *row, const uint8_t *above, uint32_t carry, const uint8_t *const *p, size_t count) {
    tk_gradient16_inverse(row, above, carry, p[0], p[1], count);
}

static void gradient32_f(const uint8_t *row, const uint8_t *above, uint32_t carry, uint8_t *const *p, size_t count,
                         uint8_t *any) {
    tk_gradient32_forward(0, row, above, carry, p[0], p[1], p[2], p[3], count, any);
}

static void gradient32_i(uint8_t *row, const uint8_t *above, uint32_t carry, const uint8_t *const *p, size_t count) {
    tk_gradient32_inverse(0, row, above, carry, p[0], p[1], p[2], p[3], count);
}

static void gradient_bytes32_f(const uint8_t *row, const uint8_t *above, uint32_t carry, uint8_t *const *p,
                               size_t count, uint8_t *any) {
    tk_gradient32_forward(1, row, above, carry, p[0], p[1], p[2], p[3], count, any);
}

static void gradient_bytes32_i(uint8_t *row, const uint8_t *above, uint32_t carry, const uint8_t *const *p,
                               size_t count) {
    tk_gradient32_inverse(1, row, above, carry, p[0], p[1], p[2], p[3], count);
}

const tk_row_kernels tk_portable_rows[7] = {
    {0, 0},
    {green_up8_f, green_up8_i},
    {green_up16_f, green_up16_i},
    {up8_f, up8_i},
    {gradient16_f, gradient16_i},
    {gradient32_f, gradient32_i},
    {gradient_bytes32_f, gradient_bytes32_i},
};

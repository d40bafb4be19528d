#include "reader.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

ti_status ti_fail(ti_error *error, ti_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    error->status = status;
    return status;
}

void *ti_take_pages(size_t count) {
    void *pages = mmap(NULL, count ? count : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (pages == MAP_FAILED) return NULL;
#ifdef MADV_NOHUGEPAGE
    madvise(pages, count, MADV_NOHUGEPAGE);
#endif
    return pages;
}

void ti_give_pages(void *pages, size_t count) {
    if (pages) munmap(pages, count ? count : 1);
}

// Detects the format from the first bytes; 12 are enough.
static ti_format format_of(const uint8_t *bytes, size_t count) {
    static const uint8_t png[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    if (count >= 8 && !memcmp(bytes, png, 8)) return ti_png;
    if (count >= 3 && bytes[0] == 0xff && bytes[1] == 0xd8 && bytes[2] == 0xff) return ti_jpeg;
    if (count >= 12 && !memcmp(bytes, "RIFF", 4) && !memcmp(bytes + 8, "WEBP", 4)) return ti_webp;
    return ti_unknown;
}

size_t ti_take(ti_reader *reader, uint8_t *target, size_t count) {
    if (count > reader->allowance) {
        count = (size_t)reader->allowance;
        reader->is_exhausted = 1;
    }
    reader->allowance -= count;
    if (reader->file) return fread(target, 1, count, reader->file);
    size_t left = reader->count - reader->position;
    if (count > left) count = left;
    if (count) memcpy(target, reader->bytes + reader->position, count);
    reader->position += count;
    return count;
}

static ti_reader *open_reader(ti_reader *reader, ti_info *info, ti_error *error) {
    uint8_t magic[12];
    reader->allowance = UINT64_MAX;
    size_t count = ti_take(reader, magic, sizeof magic);
    reader->position = 0;
    error->status = ti_ok;
    error->message[0] = 0;
    reader->info.orientation = reader->file && count ? ti_file_orientation(reader->file, format_of(magic, count)) : 1;
    if (reader->file && (ferror(reader->file) || fseek(reader->file, 0, SEEK_SET))) {
        ti_fail(error, ti_unreadable, "it cannot be read");
    } else if (!count) {
        ti_fail(error, ti_truncated, "it is empty");
    } else {
        switch (format_of(magic, count)) {
        case ti_png: ti_open_png(reader, error); break;
        case ti_jpeg: ti_open_jpeg(reader, error); break;
        case ti_webp: ti_open_webp(reader, error); break;
        case ti_unknown: ti_fail(error, ti_damaged, "it is neither PNG nor JPEG nor WebP"); break;
        }
    }
    if (error->status == ti_ok && (!reader->info.width || !reader->info.height))
        ti_fail(error, ti_damaged, "it has no pixels");
    *info = reader->info;
    if (error->status == ti_ok) return reader;
    ti_close(reader);
    return NULL;
}

ti_reader *ti_open_memory(const uint8_t *bytes, size_t count, ti_info *info, ti_error *error) {
    ti_reader *reader = calloc(1, sizeof *reader);
    if (!reader) {
        ti_fail(error, ti_no_memory, "there is no memory");
        return NULL;
    }
    reader->bytes = bytes;
    reader->count = count;
    return open_reader(reader, info, error);
}

ti_reader *ti_open_file(FILE *file, ti_info *info, ti_error *error) {
    ti_reader *reader = calloc(1, sizeof *reader);
    if (!reader) {
        fclose(file);
        ti_fail(error, ti_no_memory, "there is no memory");
        return NULL;
    }
    reader->file = file;
    return open_reader(reader, info, error);
}

ti_status ti_start(ti_reader *reader, uint64_t limit, ti_error *error) {
    if (reader->info.whole_bytes > limit)
        return ti_fail(error, ti_too_large,
                       "%u x %u pixels that can only be decoded as a whole need %llu bytes, and %llu are allowed",
                       reader->info.width, reader->info.height, (unsigned long long)reader->info.whole_bytes,
                       (unsigned long long)limit);
    return reader->start(reader, limit, error);
}

void ti_aim(ti_reader *reader, ti_layout layout, uint8_t *target, size_t stride) {
    reader->order = layout;
    reader->target = target;
    reader->stride = stride;
}

ti_status ti_row(ti_reader *reader, uint8_t *row, ti_error *error) { return reader->row(reader, row, error); }

ti_status ti_rows(ti_reader *reader, ti_error *error) {
    if (reader->rows) return reader->rows(reader, error);
    ti_status status = ti_ok;
    for (uint32_t row = 0; row < reader->info.height && status == ti_ok; row++)
        status = reader->row(reader, reader->target + row * reader->stride, error);
    return status;
}

ti_status ti_end(ti_reader *reader, ti_error *error) { return reader->end(reader, error); }

void ti_close(ti_reader *reader) {
    if (!reader) return;
    if (reader->close) reader->close(reader);
    if (reader->file) fclose(reader->file);
    free(reader);
}

// The nearest to c * a / 255, exactly.
static inline uint8_t scaled(unsigned c, unsigned a) {
    unsigned product = c * a + 128;
    return (uint8_t)((product + (product >> 8)) >> 8);
}

// Whether all pixels are opaque. Whole pixels at once, which compilers turn into vector instructions.
static int is_opaque(const uint8_t *rgba, size_t count) {
    uint32_t all = UINT32_MAX;
    for (size_t i = 0; i < count; i++) {
        uint32_t pixel;
        memcpy(&pixel, rgba + 4 * i, 4);
        all &= pixel;
    }
    uint8_t bytes[4];
    memcpy(bytes, &all, 4);
    return bytes[3] == 255;
}

void ti_convert(const uint8_t *rgba, size_t count, ti_layout layout, int premultiplies, uint8_t *target) {
    if (layout == ti_gray) {
        for (size_t i = 0; i < count; i++) {
            unsigned r = rgba[4 * i], g = rgba[4 * i + 1], b = rgba[4 * i + 2];
            target[i] = (uint8_t)((77 * r + 150 * g + 29 * b + 128) >> 8);
        }
        return;
    }
    unsigned red = layout == ti_bgra ? 2 : 0, blue = 2 - red;
    if (!premultiplies || is_opaque(rgba, count)) {
        // Most rows by far; compilers make vector instructions of the loop.
        if (red == 0) {
            memcpy(target, rgba, 4 * count);
            return;
        }
        for (size_t i = 0; i < count; i++) {
            target[4 * i] = rgba[4 * i + 2];
            target[4 * i + 1] = rgba[4 * i + 1];
            target[4 * i + 2] = rgba[4 * i];
            target[4 * i + 3] = rgba[4 * i + 3];
        }
        return;
    }
    for (size_t i = 0; i < count; i++, rgba += 4, target += 4) {
        unsigned alpha = rgba[3];
        target[red] = scaled(rgba[0], alpha);
        target[1] = scaled(rgba[1], alpha);
        target[blue] = scaled(rgba[2], alpha);
        target[3] = (uint8_t)alpha;
    }
}

void ti_premultiply(uint8_t *pixels, size_t count) {
    if (is_opaque(pixels, count)) return;
    for (size_t i = 0; i < count; i++, pixels += 4)
        for (int channel = 0; channel < 3; channel++) pixels[channel] = scaled(pixels[channel], pixels[3]);
}

void ti_take_bytes(const uint8_t *samples, size_t step, size_t count, int channels, uint8_t *rgba) {
    // The usual ones apart, as a loop of fixed length.
    if (channels == 3) {
        for (size_t i = 0; i < count; i++, samples += step, rgba += 4) {
            rgba[0] = samples[0];
            rgba[1] = samples[1];
            rgba[2] = samples[2];
        }
        return;
    }
    for (size_t i = 0; i < count; i++)
        for (int channel = 0; channel < channels; channel++) rgba[4 * i + channel] = samples[i * step + channel];
}

// The code of up to 32 bits that begins at a bit, the highest one first.
static inline uint32_t code_at(const uint8_t *row, size_t bit, int bits) {
    size_t last = (bit + (size_t)bits - 1) / 8;
    uint64_t code = 0;
    for (size_t i = bit / 8; i <= last; i++) code = code << 8 | row[i];
    return (uint32_t)(code >> (8 * (last + 1) - bit - (size_t)bits) & ((1ull << bits) - 1));
}

// Codes of 1, 2 or 4 bits that follow each other: all of a byte at a time.
static inline void take_small_codes(const uint8_t *row, int bits, size_t count, const uint8_t *table, uint8_t *channel) {
    const unsigned mask = (1u << bits) - 1;
    const size_t each = 8 / (size_t)bits;
    for (; count >= each; count -= each, row++) {
        unsigned codes = *row;
        for (int shift = 8 - bits; shift >= 0; shift -= bits, channel += 4) *channel = table[codes >> shift & mask];
    }
    for (size_t i = 0; i < count; i++, channel += 4) *channel = table[*row >> (8 - bits - (int)i * bits) & mask];
}

void ti_take_codes(const uint8_t *row, int bits, size_t step, size_t first, size_t count, const uint8_t *table,
                   uint8_t *channel) {
    if (step == 1 && first == 0 && (bits == 1 || bits == 2 || bits == 4)) {
        // The compiler unrolls what it knows the size of.
        if (bits == 1) take_small_codes(row, 1, count, table, channel);
        else if (bits == 2) take_small_codes(row, 2, count, table, channel);
        else take_small_codes(row, 4, count, table, channel);
        return;
    }
    switch (bits) {
    case 8:
        for (size_t i = 0; i < count; i++) channel[4 * i] = table[row[i * step + first]];
        break;
    case 16:
        for (size_t i = 0; i < count; i++) {
            uint16_t code;
            memcpy(&code, row + 2 * (i * step + first), 2);
            channel[4 * i] = table[code];
        }
        break;
    default:
        for (size_t i = 0; i < count; i++)
            channel[4 * i] = table[code_at(row, (i * step + first) * (size_t)bits, bits)];
    }
}

static inline double from_half(uint16_t code) {
    int exponent = code >> 10 & 31;
    double part = code & 1023;
    double value = exponent == 31 ? (part > 0 ? NAN : INFINITY)
                   : exponent > 0 ? ldexp(part + 1024, exponent - 25)
                                  : ldexp(part, -24);
    return code >> 15 ? -value : value;
}

static inline double number_at(const uint8_t *row, int bits, int format, size_t index) {
    uint64_t code = 0;
    uint32_t four;
    uint16_t two;
    switch (bits) {
    case 8: code = row[index]; break;
    case 16:
        memcpy(&two, row + 2 * index, 2);
        code = two;
        break;
    case 24:
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        code = code_at(row, 24 * index, 24);
#else
        code = row[3 * index] | (uint32_t)row[3 * index + 1] << 8 | (uint32_t)row[3 * index + 2] << 16;
#endif
        break;
    case 32:
        memcpy(&four, row + 4 * index, 4);
        code = four;
        break;
    case 64: memcpy(&code, row + 8 * index, 8); break;
    default: code = code_at(row, index * (size_t)bits, bits);
    }
    if (format == 3) {
        float small;
        double large;
        if (bits == 16) return from_half((uint16_t)code);
        if (bits == 32) return four = (uint32_t)code, memcpy(&small, &four, 4), small;
        return memcpy(&large, &code, 8), large;
    }
    if (format != 2) return (double)code;
    uint64_t sign = 1ull << (bits - 1);
    return code & sign ? -(double)(sign - (code & (sign - 1))) : (double)code;
}

void ti_numbers(const uint8_t *row, int bits, int format, size_t step, size_t first, size_t count, double *numbers) {
    for (size_t i = 0; i < count; i++) numbers[i] = number_at(row, bits, format, i * step + first);
}

static inline uint8_t shade(double number, double black, double scale) {
    double value = (number - black) * scale;
    // What is no number is black.
    return !(value > 0) ? 0 : (uint8_t)((value < 1 ? value : 1) * 255 + 0.5);
}

void ti_take_numbers(const uint8_t *row, int bits, int format, size_t step, size_t first, size_t count, double black,
                     double white, uint8_t *channel) {
    double scale = 1 / (white - black);
    for (size_t i = 0; i < count; i++)
        channel[4 * i] = shade(number_at(row, bits, format, i * step + first), black, scale);
}

void ti_mark_data(const uint8_t *row, int bits, int format, size_t step, size_t first, size_t count, double no_data,
                  int is_first, uint8_t *rgba) {
    for (size_t i = 0; i < count; i++) {
        double number = number_at(row, bits, format, i * step + first);
        int is_none = number == no_data || (number != number && no_data != no_data);
        if (!is_none) rgba[4 * i + 3] = 255;
        else if (is_first) rgba[4 * i + 3] = 0;
    }
}

int ti_apply_mask(uint8_t *pixels, size_t count, int bytes, int premultiplies, const uint8_t *mask) {
    int is_changed = 0;
    const uint8_t shown[32] = {255, 0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0,
                               255, 0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0};
    for (size_t i = 0; i < count; i++, pixels += bytes, mask += 4) {
        // Most parts are shown: eight pixels at a time.
        while (count - i > 8 && memcmp(mask, shown, sizeof shown) == 0) {
            i += 8;
            pixels += 8 * bytes;
            mask += 32;
        }
        if (*mask == 255) continue;
        is_changed = 1;
        for (int channel = 0; premultiplies && channel < bytes; channel++) pixels[channel] = scaled(pixels[channel], *mask);
        if (!premultiplies && bytes == 4) pixels[3] = *mask;
    }
    return is_changed;
}

void ti_spread_grey(uint8_t *rgba, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint32_t pixel;
        memcpy(&pixel, rgba + 4 * i, 4);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        pixel = (pixel & 0xFF) | (pixel >> 24) * 0x01010100;
#else
        pixel = (pixel & 0xFF000000) | (pixel & 0xFF) * 0x010101;
#endif
        memcpy(rgba + 4 * i, &pixel, 4);
    }
}

void ti_from_inks(uint8_t *rgba, size_t count) {
    for (size_t i = 0; i < count; i++, rgba += 4) {
        unsigned light = 255u - rgba[3];
        for (int channel = 0; channel < 3; channel++) rgba[channel] = scaled(255 - rgba[channel], light);
        rgba[3] = 255;
    }
}

void ti_divide_by_alpha(uint8_t *rgba, size_t count) {
    for (size_t i = 0; i < count; i++, rgba += 4) {
        unsigned alpha = rgba[3];
        for (int channel = 0; alpha && channel < 3; channel++) {
            unsigned straight = (rgba[channel] * 255u + alpha / 2) / alpha;
            rgba[channel] = (uint8_t)(straight < 255 ? straight : 255);
        }
    }
}

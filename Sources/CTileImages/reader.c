#include "reader.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

ti_status ti_fail(ti_error *error, ti_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    error->status = status;
    return status;
}

ti_format ti_format_of(const uint8_t *bytes, size_t count) {
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
    if (reader->file && (ferror(reader->file) || fseek(reader->file, 0, SEEK_SET))) {
        ti_fail(error, ti_unreadable, "it cannot be read");
    } else if (!count) {
        ti_fail(error, ti_truncated, "it is empty");
    } else {
        switch (ti_format_of(magic, count)) {
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

ti_status ti_row(ti_reader *reader, uint8_t *row, ti_error *error) { return reader->row(reader, row, error); }

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

void ti_convert(const uint8_t *rgba, size_t count, ti_layout layout, int premultiplies, uint8_t *target) {
    if (layout == ti_gray) {
        for (size_t i = 0; i < count; i++) {
            unsigned r = rgba[4 * i], g = rgba[4 * i + 1], b = rgba[4 * i + 2];
            target[i] = (uint8_t)((77 * r + 150 * g + 29 * b + 128) >> 8);
        }
        return;
    }
    unsigned red = layout == ti_bgra ? 2 : 0, blue = 2 - red;
    for (size_t i = 0; i < count; i++, rgba += 4, target += 4) {
        unsigned alpha = rgba[3];
        if (premultiplies && alpha != 255) {
            target[red] = scaled(rgba[0], alpha);
            target[1] = scaled(rgba[1], alpha);
            target[blue] = scaled(rgba[2], alpha);
        } else {
            target[red] = rgba[0];
            target[1] = rgba[1];
            target[blue] = rgba[2];
        }
        target[3] = (uint8_t)alpha;
    }
}

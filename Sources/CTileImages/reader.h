// What the readers of the three formats share.
#ifndef TILECACHE_CTILEIMAGES_READER_H
#define TILECACHE_CTILEIMAGES_READER_H

#include "CTileImages.h"

struct ti_reader {
    ti_info info;
    // Either of them.
    FILE *file;
    const uint8_t *bytes;
    size_t count, position;
    // Bytes that may still be read; whether more were asked for.
    uint64_t allowance;
    int is_exhausted;
    // Order of a row's channels. Where all rows are wanted, or NULL.
    ti_layout order;
    uint8_t *target;
    size_t stride;
    ti_status (*start)(ti_reader *reader, uint64_t limit, ti_error *error);
    ti_status (*row)(ti_reader *reader, uint8_t *row, ti_error *error);
    // All rows at their places; NULL for one after the other.
    ti_status (*rows)(ti_reader *reader, ti_error *error);
    ti_status (*end)(ti_reader *reader, ti_error *error);
    // Frees `state`.
    void (*close)(ti_reader *reader);
    void *state;
};

// The most that is read after the last row, to see that an image ends as it should: comments may stand there.
enum { ti_trailer_bytes = 1 << 20 };

// Writes the message and returns the status.
ti_status ti_fail(ti_error *error, ti_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

// Reads up to `count` bytes; fewer only at the end, or of the allowance.
size_t ti_take(ti_reader *reader, uint8_t *target, size_t count);

// Memory of whole pages for a whole image, zeros; NULL if there is none. The allocator would keep it when it is freed, and
// from then on give others of its size no pages of their own.
void *ti_take_pages(size_t count);
void ti_give_pages(void *pages, size_t count);

// Reads the header; the status of a failure is in `error`.
ti_status ti_open_png(ti_reader *reader, ti_error *error);
ti_status ti_open_jpeg(ti_reader *reader, ti_error *error);
ti_status ti_open_webp(ti_reader *reader, ti_error *error);

#endif

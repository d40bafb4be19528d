#include "reader.h"

#include <stdlib.h>
#include <string.h>

// The most of a file's EXIF that is read, as a JPEG's marker has; and the parts of a file that are passed over.
enum { largest_exif = 1 << 16, most_parts = 100000 };
// Bytes of a JPEG between two markers with data: fill bytes and markers without.
enum { most_fill = 1024 };

static uint32_t number(const uint8_t *bytes, size_t count, int is_little) {
    uint32_t value = 0;
    for (size_t i = 0; i < count; i++) value = value << 8 | bytes[is_little ? count - 1 - i : i];
    return value;
}

uint8_t ti_exif_orientation(const uint8_t *bytes, size_t count) {
    if (count >= 6 && !memcmp(bytes, "Exif\0\0", 6)) {
        bytes += 6;
        count -= 6;
    }
    if (count < 8) return 1;
    int is_little = !memcmp(bytes, "II", 2);
    if (!is_little && memcmp(bytes, "MM", 2)) return 1;
    size_t place = number(bytes + 4, 4, is_little);
    if (place + 2 > count) return 1;
    size_t entries = number(bytes + place, 2, is_little);
    for (size_t i = 0; i < entries && place + 2 + 12 * (i + 1) <= count; i++) {
        const uint8_t *entry = bytes + place + 2 + 12 * i;
        // Orientation: one short number.
        if (number(entry, 2, is_little) != 0x112) continue;
        uint32_t value = number(entry + 8, 2, is_little);
        return number(entry + 2, 2, is_little) == 3 && value >= 1 && value <= 8 ? (uint8_t)value : 1;
    }
    return 1;
}

// The next part of a JPEG, PNG or WebP file: its length, and where its data begin. 0 after the last one of interest.
static int next_part(FILE *file, ti_format format, uint8_t name[4], uint32_t *length) {
    uint8_t head[8];
    if (format == ti_jpeg) {
        int left = most_fill;
        do {
            if (fread(head, 1, 1, file) != 1 || head[0] != 0xff) return 0;
            do {
                if (left-- == 0 || fread(name, 1, 1, file) != 1) return 0;
            } while (name[0] == 0xff);
            // Markers without data.
        } while (name[0] == 0xd8 || name[0] == 0x01 || (name[0] >= 0xd0 && name[0] < 0xd8));
        // The scan: EXIF stands before it.
        if (name[0] == 0xda || name[0] == 0xd9 || fread(head, 1, 2, file) != 2) return 0;
        uint32_t count = number(head, 2, 0);
        if (count < 2) return 0;
        *length = count - 2;
        return 1;
    }
    if (fread(head, 1, 8, file) != 8) return 0;
    *length = format == ti_png ? number(head, 4, 0) : number(head + 4, 4, 1);
    memcpy(name, format == ti_png ? head + 4 : head, 4);
    return memcmp(name, "IEND", 4) != 0;
}

uint8_t ti_file_orientation(FILE *file, ti_format format) {
    if (format == ti_unknown) return 1;
    uint8_t orientation = 1, name[4] = {0};
    uint32_t length;
    uint8_t *exif = malloc(largest_exif);
    // Before the first part: PNG has a signature, WebP the head of its container, JPEG a marker.
    if (!exif || fseek(file, format == ti_png ? 8 : format == ti_webp ? 12 : 0, SEEK_SET)) length = 0;
    for (int part = 0; exif && part < most_parts && next_part(file, format, name, &length); part++) {
        int is_exif = format == ti_jpeg ? name[0] == 0xe1 : !memcmp(name, format == ti_png ? "eXIf" : "EXIF", 4);
        uint32_t taken = 0;
        if (is_exif) {
            taken = (uint32_t)fread(exif, 1, length < largest_exif ? length : largest_exif, file);
            // Other markers of this number have XMP.
            if (format != ti_jpeg || (taken >= 6 && !memcmp(exif, "Exif\0\0", 6))) {
                orientation = ti_exif_orientation(exif, taken);
                break;
            }
        }
        // A PNG's checksum; WebP fills up to an even number.
        long rest = (long)(length - taken) + (format == ti_png ? 4 : format == ti_webp ? length & 1 : 0);
        if (fseek(file, rest, SEEK_CUR)) break;
    }
    free(exif);
    return orientation;
}

// Reads all tiles of the first directory of a TIFF with libtiff alone, to 4 bytes a pixel, for kinds.py.
//
// direct FILE THREADS [LOW HIGH] prints the milliseconds, the tiles, and the milliseconds of processor time. Each thread has
// a handle of its own and every so many tiles. Numbers are drawn from LOW to HIGH; inks and palettes by TIFFReadRGBATile().
// A mask, the first directory after it of that kind, becomes alpha.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>
#include <time.h>

static const char *path;
static int threads;
static double low, high;
static long tiles;

static void fail(const char *text) {
    fprintf(stderr, "direct: %s: %s\n", path, text);
    exit(1);
}

static TIFF *open_mask(void) {
    TIFF *mask = TIFFOpen(path, "r");
    while (mask && TIFFReadDirectory(mask)) {
        uint32_t kind = 0;
        if (TIFFGetField(mask, TIFFTAG_SUBFILETYPE, &kind) && kind == FILETYPE_MASK) return mask;
    }
    if (mask) TIFFClose(mask);
    return NULL;
}

static void *read_tiles(void *argument) {
    long first = (long)(intptr_t)argument;
    TIFF *tiff = TIFFOpen(path, "r");
    if (!tiff) fail("cannot be opened");
    uint32_t width = 0, tile_width = 0, tile_height = 0;
    uint16_t bits = 1, samples = 1, photometric = 0, format = 1, planar = 1, compression = 1;
    TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width);
    TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &tile_width);
    TIFFGetField(tiff, TIFFTAG_TILELENGTH, &tile_height);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &bits);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &samples);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &format);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &planar);
    TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &photometric);
    TIFFGetField(tiff, TIFFTAG_COMPRESSION, &compression);
    if (compression == COMPRESSION_JPEG) TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
    int is_converted = bits < 8 || photometric == PHOTOMETRIC_SEPARATED || photometric == PHOTOMETRIC_PALETTE;
    uint32_t columns = (width - 1) / tile_width + 1;
    size_t pixels = (size_t)tile_width * tile_height;
    tmsize_t size = TIFFTileSize(tiff);
    uint8_t *target = malloc(4 * pixels), *tile = malloc((size_t)size * samples), *table = malloc(1 << 16), *mask_tile = NULL;
    if (!target || !tile || !table) fail("no memory");
    for (int i = 0; i < 1 << 16; i++) {
        double shade = high > low ? ((format == 2 ? (int16_t)i : i) - low) / (high - low) : i / 65535.0;
        table[i] = (uint8_t)((shade < 0 ? 0 : shade > 1 ? 1 : shade) * 255 + 0.5);
    }
    TIFF *mask = open_mask();
    if (mask) mask_tile = malloc((size_t)TIFFTileSize(mask));
    for (long n = first; n < tiles; n += threads) {
        if (is_converted) {
            if (!TIFFReadRGBATile(tiff, (uint32_t)(n % columns) * tile_width, (uint32_t)(n / columns) * tile_height,
                                  (uint32_t *)(void *)target))
                fail("a tile cannot be read");
            continue;
        }
        uint16_t drawn = samples >= 3 ? 3 : 1;
        for (uint16_t plane = 0; plane < (planar == 2 ? drawn : 1); plane++)
            if (TIFFReadEncodedTile(tiff, (uint32_t)(plane * tiles + n), tile + plane * size, size) < 0) fail("a tile cannot be read");
        for (int channel = 0; channel < 3; channel++) {
            int sample = drawn == 3 ? channel : 0;
            const uint8_t *from = planar == 2 ? tile + sample * size : tile;
            size_t step = planar == 2 ? 1 : samples, place = planar == 2 ? 0 : (size_t)sample;
            for (size_t i = 0; i < pixels; i++) {
                size_t at = i * step + place;
                uint8_t *to = target + 4 * i + channel;
                if (bits == 8) {
                    *to = from[at];
                } else if (bits == 16) {
                    uint16_t code;
                    memcpy(&code, from + 2 * at, 2);
                    *to = table[code];
                } else {
                    float number;
                    memcpy(&number, from + 4 * at, 4);
                    float shade = (number - (float)low) / (float)(high > low ? high - low : 1);
                    *to = (uint8_t)((shade > 0 ? shade > 1 ? 1 : shade : 0) * 255 + 0.5f);
                }
            }
        }
        if (mask && TIFFReadEncodedTile(mask, (uint32_t)n, mask_tile, -1) < 0) fail("a tile of the mask cannot be read");
        for (size_t i = 0; i < pixels; i++) {
            uint8_t alpha = !mask || mask_tile[i >> 3] >> (7 - (i & 7)) & 1 ? 255 : 0;
            if (!alpha) memset(target + 4 * i, 0, 4);
            target[4 * i + 3] = alpha;
        }
    }
    if (mask) TIFFClose(mask);
    TIFFClose(tiff);
    free(target), free(tile), free(table), free(mask_tile);
    return NULL;
}

static double now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

int main(int count, char **words) {
    if (count != 3 && count != 5) {
        fprintf(stderr, "usage: direct FILE THREADS [LOW HIGH]\n");
        return 2;
    }
    path = words[1];
    threads = atoi(words[2]);
    if (count == 5) low = atof(words[3]), high = atof(words[4]);
    if (threads < 1 || threads > 64) fail("1 to 64 threads were expected");
    TIFFSetWarningHandler(NULL);
    TIFF *tiff = TIFFOpen(path, "r");
    if (!tiff) fail("cannot be opened");
    uint16_t planar = 1, samples = 1;
    TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &planar);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &samples);
    tiles = (long)TIFFNumberOfTiles(tiff) / (planar == 2 ? samples : 1);
    TIFFClose(tiff);
    double start = now(CLOCK_MONOTONIC), processor = now(CLOCK_PROCESS_CPUTIME_ID);
    pthread_t own[64];
    for (int i = 0; i < threads; i++) pthread_create(&own[i], NULL, read_tiles, (void *)(intptr_t)i);
    for (int i = 0; i < threads; i++) pthread_join(own[i], NULL);
    printf("%.1f %ld %.1f\n", now(CLOCK_MONOTONIC) - start, tiles, now(CLOCK_PROCESS_CPUTIME_ID) - processor);
    return 0;
}

/* Paints the demonstration world: 256-pixel tiles, RGBA, in place of data of your own. */
#ifndef PAINTER_H
#define PAINTER_H

#include <stdint.h>

enum { TILE_SIZE = 256, MAX_ZOOM = 16 };

void paint_tile (int zoom, int64_t x, int64_t y, uint8_t *rgba);

#endif

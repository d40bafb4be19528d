#include <math.h>

#include "painter.h"

static double
noise (int64_t x, int64_t y)
{
  uint64_t h = (uint64_t) x * 0x9E3779B97F4A7C15u ^ (uint64_t) y * 0xC2B2AE3D27D4EB4Fu;
  h = (h ^ h >> 33) * 0xFF51AFD7ED558CCDu;
  return (double) (h >> 40) / (1 << 24);
}

/* Value noise: smooth between the corners of a grid. */
static double
height (double x, double y)
{
  int64_t i = (int64_t) floor (x), j = (int64_t) floor (y);
  double u = x - i, v = y - j;
  u *= u * (3 - 2 * u);
  v *= v * (3 - 2 * v);
  return (noise (i, j) * (1 - u) + noise (i + 1, j) * u) * (1 - v)
         + (noise (i, j + 1) * (1 - u) + noise (i + 1, j + 1) * u) * v;
}

/* Sea, land and hills, with a grid of the zoom level's tiles on it. */
void
paint_tile (int zoom, int64_t x, int64_t y, uint8_t *rgba)
{
  const double size = ldexp (1, MAX_ZOOM - zoom); /* of a tile, in tiles of the finest level */
  for (int row = 0; row < TILE_SIZE; row++)
    for (int column = 0; column < TILE_SIZE; column++, rgba += 4)
      {
        double u = (x + (column + 0.5) / TILE_SIZE) * size, v = (y + (row + 0.5) / TILE_SIZE) * size;
        double h = 0, weight = 0.5;
        for (double step = 4096; step > size / 64 && step > 0.1; step /= 4, weight /= 2)
          h += weight * height (u / step, v / step);
        int is_line = row == 0 || column == 0;
        int is_sea = h < 0.42;
        double light = is_line ? 0.7 : 0.6 + 0.6 * fabs (h - 0.42) + 0.25 * (fmod (h * 40, 1) < 0.15);
        rgba[0] = (uint8_t) fmin (255, light * (is_sea ? 120 : 215 - 60 * h));
        rgba[1] = (uint8_t) fmin (255, light * (is_sea ? 180 : 225));
        rgba[2] = (uint8_t) fmin (255, light * (is_sea ? 235 : 150));
        rgba[3] = 255;
      }
}

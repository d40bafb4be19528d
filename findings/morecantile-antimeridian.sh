#!/bin/bash
# morecantile 7.1.0 beside mercantile 1.2.1: tile() goes around the world, tiles() and mercantile end at its edge
#
# morecantile is mercantile for any grid, with the same names of functions and arguments.
#
# Expected: the same tile for the same place, and tiles() of a box to contain the tiles of its corners.
#
# What happens: for a longitude beyond 180, also by a rounding error, morecantile's tile() is in the column on the other
# side of the world; mercantile's is in the last one. morecantile's own tiles() of a box from 170 to 190 ends at the edge,
# so that it does not contain the tile of its corner. At the poles mercantile raises, and morecantile gives the first and
# the last row, with a warning. The children of a tile come row by row, not around it.
#
# Output seen:
#   180 east: mercantile column 7, morecantile column 7
#   180.0000001 east: mercantile column 7, morecantile column 0
#   190 east: mercantile column 7, morecantile column 0
#   -180.1 east: mercantile column 0, morecantile column 7
#   columns of 170 to 190: mercantile [7], morecantile [7]
#   90 north: mercantile InvalidLatitudeError, morecantile row 0
#   children: mercantile 0/0 1/0 1/1 0/1, morecantile 0/0 1/0 0/1 1/1
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install morecantile==7.1.0 mercantile==1.2.1
"$folder/venv/bin/python" -W ignore - <<'PYTHON' | tee "$folder/seen"
import mercantile
import morecantile

grid = morecantile.tms.get("WebMercatorQuad")
for place in (180, 180.0000001, 190, -180.1):
    columns = mercantile.tile(place, 0, 3).x, grid.tile(place, 0, 3).x
    print(f"{place} east: mercantile column {columns[0]}, morecantile column {columns[1]}")
columns = [sorted({tile.x for tile in module.tiles(170, -10, 190, 10, 3)}) for module in (mercantile, grid)]
print(f"columns of 170 to 190: mercantile {columns[0]}, morecantile {columns[1]}")
try:
    pole = f"row {mercantile.tile(0, 90, 3).y}"
except mercantile.InvalidLatitudeError:
    pole = "InvalidLatitudeError"
print(f"90 north: mercantile {pole}, morecantile row {grid.tile(0, 90, 3).y}")
children = mercantile.children(0, 0, 0), grid.children(morecantile.Tile(0, 0, 0))
words = [" ".join(f"{tile.x}/{tile.y}" for tile in tiles) for tiles in children]
print(f"children: mercantile {words[0]}, morecantile {words[1]}")
PYTHON
diff "$folder/seen" <(sed -n 's/^#   //p' "$0")

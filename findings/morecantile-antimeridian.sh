#!/bin/bash
# morecantile: tile() goes around the world, tiles() and mercantile end at its edge.
#
# Version: morecantile 7.1.0 beside mercantile 1.2.1, of which it has the names of functions and arguments.
#
# Expected: the same tile for the same place, and tiles() of a box to contain the tiles of its corners.
#
# Found: for a longitude beyond 180, also by a rounding error, morecantile's tile() is in the column on the other
# side of the world; mercantile's is in the last one. morecantile's own tiles() of a box from 170 to 190 ends at the edge,
# so that it does not contain the tile of its corner.
#
# Output seen:
#   180 east: mercantile column 7, morecantile column 7
#   180.0000001 east: mercantile column 7, morecantile column 0
#   190 east: mercantile column 7, morecantile column 0
#   -180.1 east: mercantile column 0, morecantile column 7
#   columns of 170 to 190: mercantile [7], morecantile [7]
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
PYTHON
diff "$folder/seen" <(sed -n 's/^#   //p' "$0")

#!/bin/bash
# GDAL: gdaladdo on an MBTiles file states a minzoom below that of the coarsest tiles.
#
# Version: gdal-bin 3.6.2+dfsg-1+b2 (Debian 12). (GDAL 3.10.3 states the zoom that is there.)
#
# Expected: minzoom of the table metadata is the least zoom_level of the table tiles after `gdaladdo FILE 2 4 8`, as the
# format says: "the lowest zoom level for which the tileset provides data".
#
# Found: it is one less than the coarsest zoom with tiles. A reader that trusts the metadata has a level without a tile,
# and shows nothing when it is zoomed out.
#
# Output seen:
#   after gdal_translate: metadata 10 to 10, tiles 10 to 10
#   after gdaladdo 2 4 8: metadata 6 to 10, tiles 7 to 10
#   as found
set -euo pipefail
for program in gdal_translate gdaladdo python3; do
    command -v "$program" > /dev/null || { echo "needs gdal-bin and python3: apt-get install gdal-bin"; exit 77; }
done
dpkg-query -W gdal-bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/zooms.py" << 'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
stated = dict(db.execute("SELECT name, value FROM metadata WHERE name IN ('minzoom', 'maxzoom')"))
least, most = db.execute("SELECT min(zoom_level), max(zoom_level) FROM tiles").fetchone()
print(f"metadata {stated['minzoom']} to {stated['maxzoom']}, tiles {least} to {most}")
PY
python3 - "$work/made.pgm" << 'PY'
import sys
w, h = 3001, 2003
with open(sys.argv[1], "wb") as f:
    f.write(b"P5 %d %d 255\n" % (w, h))
    for y in range(h): f.write(bytes((x + y) % 251 for x in range(w)))
PY
gdal_translate -q -a_srs EPSG:3857 -a_ullr 200000 700000 650150 399550 "$work/made.pgm" "$work/geo.tif"
gdal_translate -q -of MBTILES "$work/geo.tif" "$work/map.mbtiles"
seen="after gdal_translate: $(python3 "$work/zooms.py" "$work/map.mbtiles")"
gdaladdo -q -r average "$work/map.mbtiles" 2 4 8
seen+=$'\n'"after gdaladdo 2 4 8: $(python3 "$work/zooms.py" "$work/map.mbtiles")"
echo "$seen"
expected='after gdal_translate: metadata 10 to 10, tiles 10 to 10
after gdaladdo 2 4 8: metadata 6 to 10, tiles 7 to 10'
[ "$seen" = "$expected" ] && echo "as found" || { echo "changed"; exit 1; }

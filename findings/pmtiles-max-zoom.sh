#!/bin/bash
# pmtiles: the header's max_zoom leaves out the tiles of the last run.
#
# Version: pmtiles 3.8.1 (Python).
#
# Expected: max_zoom of an archive with all 85 tiles of the zooms 0 to 3 is 3, as the specification has it: the greatest zoom of
# the tiles in the archive.
#
# Found: the writer takes max_zoom from the first tile of the last entry. Equal tiles in a row are one entry, a run, which may
# begin at a coarser zoom: where the finest zooms are of one tile (blank, sea), all of them are left out. Tiles are there,
# and the reader of the same package returns them, but viewers stop at max_zoom. A value given by the caller is overwritten.
#
# Output seen:
#   all tiles differ: entries 85, max_zoom 3, tile 3/7/7 there
#   zoom 3 is one tile, another than zoom 2's last: entries 22, max_zoom 3, tile 3/7/7 there
#   zoom 3 is one tile, that of zoom 2's last: entries 21, max_zoom 2, tile 3/7/7 there
#   all tiles alike: entries 1, max_zoom 0, tile 3/7/7 there
#   all tiles alike, max_zoom 3 given: entries 1, max_zoom 0, tile 3/7/7 there
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 77
"$work/venv/bin/pip" -q install --disable-pip-version-check pmtiles==3.8.1 || { echo "needs a package index"; exit 77; }
"$work/venv/bin/python" - << 'PY' | tee "$work/seen"
import io
from pmtiles.reader import MemorySource, Reader
from pmtiles.tile import Compression, TileType
from pmtiles.writer import Writer

def trial(name, tile, **more):
    file = io.BytesIO()
    writer = Writer(file)
    for number in range(85): writer.write_tile(number, tile(number))
    writer.finalize({"tile_type": TileType.PNG, "tile_compression": Compression.NONE, "center_zoom": 0} | more, {})
    reader = Reader(MemorySource(file.getvalue()))
    header = reader.header()
    there = "there" if reader.get(3, 7, 7) else "absent"
    print(f"{name}: entries {header['tile_entries_count']}, max_zoom {header['max_zoom']}, tile 3/7/7 {there}")

trial("all tiles differ", lambda number: b"tile %d" % number)
trial("zoom 3 is one tile, another than zoom 2's last", lambda number: b"tile %d" % number if number < 21 else b"sea")
trial("zoom 3 is one tile, that of zoom 2's last", lambda number: b"tile %d" % number if number < 20 else b"sea")
trial("all tiles alike", lambda number: b"sea")
trial("all tiles alike, max_zoom 3 given", lambda number: b"sea", max_zoom=3)
PY
diff "$work/seen" <(sed -n 's/^#   //p' "$0") && echo "as found"

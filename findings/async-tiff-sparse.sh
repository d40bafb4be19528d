#!/bin/bash
# async-tiff: a tile that a sparse file leaves out is an error, and another one by each way.
#
# Version: async-tiff 0.7.2, rasterio 1.4.4 (GDAL 3.10.3 inside), numpy 2.3.5.
#
# Expected: GDAL leaves out tiles without data (SPARSE_OK), with offset and byte count 0; its reader, and tifffile, give nodata
# there. A reader of COGs returns None or a tile of nodata, which ImageFileDirectory.gdal_nodata has.
#
# Found: fetch_tile asks the store for the range 0 to 0, and the store's refusal is raised as TypeError, which looks like a broken
# file or store. fetch_tiles returns a tile for the same place, whose decode raises ValueError with "Internal error". The caller
# has to look at tile_byte_counts first. COGs of a coast or of an area that is no rectangle have such tiles.
#
# Output seen:
#   byte counts: 65536 0 0 0; gdal_nodata 7; GDAL reads 50 and 7
#   fetch_tile 0, 0: 50
#   fetch_tile 1, 0: TypeError
#   fetch_tiles 0, 0: 50
#   fetch_tiles 1, 0: ValueError
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 77
"$work/venv/bin/pip" -q install --disable-pip-version-check async-tiff==0.7.2 rasterio==1.4.4 numpy==2.3.5 ||
    { echo "needs a package index"; exit 77; }
"$work/venv/bin/python" - "$work" << 'PY' | tee "$work/seen"
import asyncio, sys, warnings
import numpy as np, rasterio
from async_tiff import TIFF
from async_tiff.store import LocalStore
warnings.simplefilter("ignore")
path = f"{sys.argv[1]}/made.tif"
with rasterio.open(path, "w", driver="GTiff", width=512, height=512, count=1, dtype="uint8", nodata=7, tiled=True,
                   blockxsize=256, blockysize=256, sparse_ok=True) as file:
    file.write(np.full((256, 256), 50, np.uint8), 1, window=((0, 256), (0, 256)))
with rasterio.open(path) as file: gdal = file.read(1)

async def shown(name, fetch):
    try: seen = np.asarray(await (await fetch).decode()).flat[0]
    except Exception as error: seen = type(error).__name__
    print(f"{name}: {seen}")

async def first(tiles): return (await tiles)[0]

async def main():
    tiff = await TIFF.open("made.tif", store=LocalStore(sys.argv[1]))
    directory = tiff.ifds[0]
    print(f"byte counts: {' '.join(map(str, directory.tile_byte_counts))}; gdal_nodata {directory.gdal_nodata}; "
          f"GDAL reads {gdal[0, 0]} and {gdal[0, 300]}")
    for x in (0, 1): await shown(f"fetch_tile {x}, 0", tiff.fetch_tile(x, 0, 0))
    for x in (0, 1): await shown(f"fetch_tiles {x}, 0", first(tiff.fetch_tiles([(x, 0)], 0)))

asyncio.run(main())
PY
diff "$work/seen" <(sed -n 's/^#   //p' "$0") && echo "as found"

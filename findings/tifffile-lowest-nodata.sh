#!/bin/bash
# tifffile: the lowest float32, GDAL's usual nodata of elevations, is taken for 0.
#
# Version: tifffile 2026.3.3, numpy 2.3.5, rasterio 1.4.4 (GDAL 3.10.3 inside).
#
# Expected: TiffPage.nodata of a float32 file whose GDAL_NODATA is "-3.4028234663852886e+38" is that number, the least float32.
# It is what GDAL and ArcGIS write into most elevation models, and its text is exact.
#
# Found: a line in the log says that the text is "not castable to float32", and nodata is 0, as if the file had none. Tiles
# that a sparse file leaves out are filled with it: they are at 0 m, sea level, instead of nowhere. -9999 is well.
#
# Output seen:
#   -9999 written by GDAL: page.nodata -9999.0; a tile left out is -9999.0 by rasterio, -9999.0 by tifffile
#   -3.4028234663852886e+38 written by GDAL: page.nodata 0; a tile left out is -3.4028234663852886e+38 by rasterio, 0.0 by tifffile
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 77
"$work/venv/bin/pip" -q install --disable-pip-version-check tifffile==2026.3.3 numpy==2.3.5 rasterio==1.4.4 ||
    { echo "needs a package index"; exit 77; }
"$work/venv/bin/python" - "$work" << 'PY' | tee "$work/seen"
import logging, sys, warnings
import numpy as np, rasterio, tifffile
warnings.simplefilter("ignore")
logging.disable()
for index, nodata in enumerate((-9999.0, float(np.finfo(np.float32).min))):
    path = f"{sys.argv[1]}/made{index}.tif"
    with rasterio.open(path, "w", driver="GTiff", width=512, height=512, count=1, dtype="float32", nodata=nodata,
                       tiled=True, blockxsize=256, blockysize=256, sparse_ok=True) as file:
        file.write(np.full((256, 256), 12.5, np.float32), 1, window=((0, 256), (0, 256)))
    with rasterio.open(path) as file: gdal = file.read(1)
    with tifffile.TiffFile(path) as file:
        page = file.pages[0]
        text, number, picture = page.tags["GDAL_NODATA"].value, page.nodata, page.asarray()
    assert gdal[0, 0] == picture[0, 0] == 12.5
    print(f"{text} written by GDAL: page.nodata {number}; "
          f"a tile left out is {gdal[300, 300]} by rasterio, {picture[300, 300]} by tifffile")
PY
diff "$work/seen" <(sed -n 's/^#   //p' "$0") && echo "as found"

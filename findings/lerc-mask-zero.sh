#!/bin/bash
# tifffile: NaN of a LERC file that GDAL wrote is read as 0.
#
# Version: tifffile 2026.3.3 with imagecodecs 2026.3.6 (lerc 4.0.0), numpy 2.3.5, rasterio 1.4.4 (GDAL 3.10.3 inside).
#
# Expected: LERC without loss (MAX_Z_ERROR=0) returns what was written, NaN included, as Deflate does.
#
# Found: LERC keeps which pixels are valid in a mask of its own, and GDAL puts NaN there. GDAL's reader makes NaN of the mask
# again. tifffile asks for the values alone, and there is 0 where the mask is. Nothing is raised or logged: holes of an
# elevation model are at sea level. lerc_decode(masks=True) of imagecodecs returns the mask as well.
#
# Output seen:
#   DEFLATE: hole nan by rasterio, nan by tifffile; the others equal
#   LERC: hole nan by rasterio, 0.0 by tifffile; the others equal
#   LERC_ZSTD: hole nan by rasterio, 0.0 by tifffile; the others equal
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 77
"$work/venv/bin/pip" -q install --disable-pip-version-check tifffile==2026.3.3 imagecodecs==2026.3.6 numpy==2.3.5 \
    rasterio==1.4.4 || { echo "needs a package index"; exit 77; }
"$work/venv/bin/python" - "$work" << 'PY' | tee "$work/seen"
import sys, warnings
import numpy as np, rasterio, tifffile
warnings.simplefilter("ignore")
heights = np.random.default_rng(1).random((512, 512), np.float32) * 1000 + 1
heights[:100] = np.nan
for compression in ("DEFLATE", "LERC", "LERC_ZSTD"):
    path, more = f"{sys.argv[1]}/{compression}.tif", {"max_z_error": 0} if "LERC" in compression else {}
    with rasterio.open(path, "w", driver="GTiff", width=512, height=512, count=1, dtype="float32", tiled=True,
                       blockxsize=256, blockysize=256, compress=compression, **more) as file: file.write(heights, 1)
    with rasterio.open(path) as file: gdal = file.read(1)
    other = tifffile.imread(path)
    assert len(np.unique(other[:100])) == 1 and np.array_equal(gdal, heights, equal_nan=True)
    rest = "equal" if np.array_equal(other[100:], heights[100:]) else "different"
    print(f"{compression}: hole {gdal[5, 5]} by rasterio, {other[5, 5]} by tifffile; the others {rest}")
PY
diff "$work/seen" <(sed -n 's/^#   //p' "$0") && echo "as found"

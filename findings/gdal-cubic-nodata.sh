#!/bin/bash
# GDAL: overviews of a COG with scattered nodata are nearly all nodata.
#
# Version: rasterio 1.4.4 (GDAL 3.10.3 inside), numpy 2.3.5.
#
# Expected: an overview of a picture of which two rows in three are valid, and the third nodata, is valid: each of its pixels
# stands for at least two valid ones. That is so by average and by bilinear, and nodata is left out of the mean.
#
# Found: cubic, which the driver COG takes by default, and lanczos give nodata unless enough valid pixels are next to each other
# in the kernel, also where most of them are valid. Of the first overview of the default COG 0.2 % are valid, and none of the
# next ones: the layer vanishes when it is zoomed out. With a fifth of the pixels missing at random, two fifths of the
# first overview are. cubic_spline, with a kernel of the same size, does not do so.
#
# Output seen:
#   every third row nodata, 66.8 % valid; first overview: nearest 66.8 %, average 100.0 %, bilinear 100.0 %, cubic_spline 100.0 %, cubic 0.8 %, lanczos 0.0 %
#   a fifth nodata at random, 80.0 % valid; first overview: nearest 80.3 %, average 99.8 %, bilinear 100.0 %, cubic_spline 100.0 %, cubic 61.5 %, lanczos 14.6 %
#   COG by default, every third row nodata: 66.7 % of the picture valid, of its overviews 0.2 % 0.0 % 0.0 %
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 77
"$work/venv/bin/pip" -q install --disable-pip-version-check rasterio==1.4.4 numpy==2.3.5 ||
    { echo "needs a package index"; exit 77; }
"$work/venv/bin/python" - "$work" << 'PY' | tee "$work/seen"
import sys, warnings
import numpy as np, rasterio
from rasterio.enums import Resampling
from rasterio.shutil import copy
warnings.simplefilter("ignore")
made, cog = f"{sys.argv[1]}/made.tif", f"{sys.argv[1]}/cog.tif"

def write(picture):
    with rasterio.open(made, "w", driver="GTiff", width=picture.shape[1], height=picture.shape[0], count=1, dtype="uint8",
                       nodata=0, tiled=True, blockxsize=256, blockysize=256) as file: file.write(picture, 1)

def valid(picture): return f"{(picture != 0).mean():.1%}".replace("%", " %")

def overviews(path):
    with rasterio.open(path) as file: count = len(file.overviews(1))
    for level in range(count):
        with rasterio.open(path, overview_level=level) as file: yield valid(file.read(1))

def trial(name, picture):
    seen = []
    for method in ("nearest", "average", "bilinear", "cubic_spline", "cubic", "lanczos"):
        write(picture)
        with rasterio.open(made, "r+") as file: file.build_overviews([2], Resampling[method])
        seen.append(f"{method} {next(overviews(made))}")
    print(f"{name}, {valid(picture)} valid; first overview: {', '.join(seen)}")

rows = np.full((2048, 2048), 100, np.uint8)
rows[2::3] = 0
trial("every third row nodata", rows[:512, :512])
trial("a fifth nodata at random", np.where(np.random.default_rng(3).random((512, 512)) < 0.2, 0, 100).astype(np.uint8))
write(rows)
copy(made, cog, driver="COG", blocksize=256)
print(f"COG by default, every third row nodata: {valid(rows)} of the picture valid, of its overviews {' '.join(overviews(cog))}")
PY
diff "$work/seen" <(sed -n 's/^#   //p' "$0") && echo "as found"

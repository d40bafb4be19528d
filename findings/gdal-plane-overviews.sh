#!/bin/bash
# GDAL: overviews that are built for the second plane of a stack are shown as those of the first.
#
# Version: rasterio 1.4.4 (GDAL 3.10.3 inside), tifffile 2026.3.3, numpy 2.4.6.
#
# Expected: a plane of a stack of pictures is opened as GTIFF_DIR:2:FILE. Overviews built through it belong to that plane: it
# lists them, and the first plane has none, until its own are built.
#
# Found: they are appended to the file, after the last plane, marked as reduced pictures of nothing in particular. FILE
# takes every reduced directory of fitting size for its own: the first plane, zoomed out, shows the second. GTIFF_DIR:2
# lists none, right after they were built, and reads all pixels for a small view. Built for all planes, FILE has the factor 2 three
# times, and its own by luck, as it came first. Only SubIFDs could keep them apart, which GDAL does not write here.
#
# Output seen:
#   before: file [] 50 50, plane 2 [] 100 100
#   built for plane 2: file [2, 4] 50 100, plane 2 [] 100 100
#   built for planes 2, 1, 3: file [2, 2, 2] 50 100, plane 2 [] 100 100
#   built for planes 1, 2, 3: file [2, 2, 2] 50 50, plane 2 [] 100 100
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 77
"$work/venv/bin/pip" -q install --disable-pip-version-check rasterio==1.4.4 tifffile==2026.3.3 numpy==2.4.6 ||
    { echo "needs a package index"; exit 77; }
"$work/venv/bin/python" - "$work/stack.tif" << 'PY' | tee "$work/seen"
import sys, warnings
import numpy as np, rasterio, tifffile
from rasterio.enums import Resampling

warnings.simplefilter("ignore")
stack = np.stack([np.full((1024, 1024), value, np.uint8) for value in (50, 100, 200)])

def show(name, planes, factors):
    """For the file and its second plane: the overviews, and a pixel of the whole picture and of one at half its size."""
    tifffile.imwrite(sys.argv[1], stack, tile=(256, 256), photometric="minisblack", metadata=None)
    for plane in planes:
        with rasterio.open(f"GTIFF_DIR:{plane}:{sys.argv[1]}", "r+") as file: file.build_overviews(factors, Resampling.average)
    texts = []
    for text, address in (("file", sys.argv[1]), ("plane 2", f"GTIFF_DIR:2:{sys.argv[1]}")):
        with rasterio.open(address) as file:
            texts.append(f"{text} {file.overviews(1)} {file.read(1)[0, 0]} {file.read(1, out_shape=(512, 512))[0, 0]}")
    print(f"{name}: {', '.join(texts)}")

show("before", [], [])
show("built for plane 2", [2], [2, 4])
show("built for planes 2, 1, 3", [2, 1, 3], [2])
show("built for planes 1, 2, 3", [1, 2, 3], [2])
PY
diff "$work/seen" <(sed -n 's/^#   //p' "$0") && echo "as found"

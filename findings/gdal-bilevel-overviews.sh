#!/bin/bash
# GDAL: overviews of a bilevel scan have other colours in the file than the scan.
#
# Version: rasterio 1.4.4 (GDAL 3.10.3 inside), tifffile 2026.3.3, numpy 2.4.6.
#
# Expected: an overview is the picture at half its size, and its directory says how to show it as the picture's does. A reader
# that takes further directories for levels if they have the same kind of samples finds them.
#
# Found: for a scan of 1 bit in which 0 is white, the overview is a palette of two colours, with the photometric interpretation
# 3 in place of 0, though both have 1 bit, the same compression, and equal codes. In which 0 is black, it is 1 as the scan's. So
# a reader that wants one interpretation in all levels shows such a scan without its overviews.
#
# Output seen:
#   0 is white: scan WHITE, overview PALETTE [(65535, 65535, 65535), (0, 0, 0)]
#   0 is black: scan BLACK, overview BLACK None
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 77
"$work/venv/bin/pip" -q install --disable-pip-version-check rasterio==1.4.4 tifffile==2026.3.3 numpy==2.4.6 ||
    { echo "needs a package index"; exit 77; }
"$work/venv/bin/python" - "$work/scan.tif" << 'PY' | tee "$work/seen"
import sys, warnings
import numpy as np, rasterio, tifffile

warnings.simplefilter("ignore")
scan = np.add.outer(np.arange(512) // 16, np.arange(512) // 16).astype(np.uint8) % 2
for zero in ("white", "black"):
    profile = dict(driver="GTiff", width=512, height=512, count=1, dtype="uint8", nbits=1, compress="CCITTFAX4")
    with rasterio.open(sys.argv[1], "w", photometric=f"MINIS{zero}".upper(), **profile) as file: file.write(scan, 1)
    with rasterio.open(sys.argv[1], "r+") as file: file.build_overviews([2])
    with tifffile.TiffFile(sys.argv[1]) as file:
        names, colours = [page.photometric.name.removeprefix("MINIS") for page in file.pages], file.pages[1].colormap
    colours = colours if colours is None else [tuple(int(part) for part in colour) for colour in np.transpose(colours)]
    print(f"0 is {zero}: scan {names[0]}, overview {names[1]} {colours}")
PY
diff "$work/seen" <(sed -n 's/^#   //p' "$0") && echo "as found"

#!/bin/bash
# Pillow: signed heights of a JPEG 2000 are read 32768 too high.
#
# Version: Pillow 13.0.0, beside rasterio 1.4.4 (GDAL 3.10.3 inside), glymur 0.14.8 and imagecodecs 2026.3.6; numpy 2.4.6. The file is
# written by imagecodecs with OpenJPEG.
#
# Expected: a JPEG 2000 without loss of signed samples of 16 bits (elevations, CT) gives the numbers that were written, or is refused, as
# Pillow has no mode for signed 16 bits.
#
# Found: the mode is I;16, which is unsigned, and 32768 is added to each number: -1000 m is 31768, sea level is 32768. Nothing is
# raised, and no attribute of the picture tells it from an unsigned one: a viewer that stretches the least to the greatest value
# looks right, and one that reads heights or Hounsfield units is wrong. Unsigned samples, of 12 and of 16 bits, are as written.
#
# Output seen:
#   written int16 -1000 to 999: rasterio int16 -1000 to 999, glymur int16 -1000 to 999, imagecodecs int16 -1000 to 999
#   Pillow: mode I;16, 31768 to 33767
#   written uint16 0 to 4095: rasterio uint16 0 to 4095, glymur uint16 0 to 4095, imagecodecs uint16 0 to 4095
#   Pillow: mode I;16, 0 to 4095
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 77
"$work/venv/bin/pip" -q install --disable-pip-version-check Pillow==13.0.0 rasterio==1.4.4 glymur==0.14.8 imagecodecs==2026.3.6 \
    packaging==26.4 numpy==2.4.6 || { echo "needs a package index"; exit 77; }
"$work/venv/bin/python" - "$work/made.jp2" << 'PY' | tee "$work/seen"
import sys, warnings
import glymur, imagecodecs, numpy as np, rasterio
from PIL import Image

warnings.simplefilter("ignore")
def text(values): return f"{values.dtype} {values.min()} to {values.max()}"
heights = (np.arange(256 * 256).reshape(256, 256) % 2000 - 1000).astype(np.int16)
counts = (np.arange(256 * 256).reshape(256, 256) % 4096).astype(np.uint16)
for written in (heights, counts):
    code = imagecodecs.jpeg2k_encode(written, level=0, codecformat="jp2")
    with open(sys.argv[1], "wb") as file: file.write(code)
    with rasterio.open(sys.argv[1]) as file: first = file.read(1)
    print(f"written {text(written)}: rasterio {text(first)}, glymur {text(glymur.Jp2k(sys.argv[1])[:])}, "
          f"imagecodecs {text(imagecodecs.jpeg2k_decode(code))}")
    with Image.open(sys.argv[1]) as picture:
        least, greatest = picture.getextrema()
        print(f"Pillow: mode {picture.mode}, {least} to {greatest}")
PY
diff "$work/seen" <(sed -n 's/^#   //p' "$0") && echo "as found"

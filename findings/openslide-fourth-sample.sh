#!/bin/bash
# OpenSlide: a fourth sample without a meaning makes a picture transparent, and other colours of it.
#
# Version: openslide-python 1.4.7 with openslide-bin 4.0.1.2 (OpenSlide 4.0.1), tifffile 2026.3.3, rasterio 1.4.4 (GDAL 3.10.3
# inside), Pillow 12.0.0, numpy 2.3.5.
#
# Expected: ExtraSamples 0 is "unspecified data" (TIFF 6.0), such as infrared beside red, green and blue. Pillow leaves it out and
# GDAL has it as a fourth band without a colour: for both the picture is opaque.
#
# Found: OpenSlide opens it as a slide (generic-tiff) and takes the sample for alpha by which the colours are multiplied, as
# ExtraSamples 1 says and as libtiff's function for RGBA does. read_region divides the colours by it: where the fourth sample is
# small the slide is white and hardly to be seen. Nothing tells that from a file with alpha.
#
# Output seen:
#   ExtraSamples 0: Pillow (200, 150, 100, 255), GDAL's mask 255, OpenSlide's alpha 50, its colours as without alpha: no
#   ExtraSamples 1: Pillow (255, 255, 255, 50), GDAL's mask 50, OpenSlide's alpha 50, its colours as without alpha: no
#   ExtraSamples 2: Pillow (200, 150, 100, 50), GDAL's mask 50, OpenSlide's alpha 50, its colours as without alpha: yes
#   OpenSlide's ExtraSamples 0 and 1 are equal
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 77
"$work/venv/bin/pip" -q install --disable-pip-version-check openslide-python==1.4.7 openslide-bin==4.0.1.2 rasterio==1.4.4 \
    tifffile==2026.3.3 pillow==12.0.0 numpy==2.3.5 || { echo "needs a package index"; exit 77; }
"$work/venv/bin/python" - "$work" << 'PY' | tee "$work/seen"
import sys, warnings
import numpy as np, openslide, rasterio, tifffile
from PIL import Image
warnings.simplefilter("ignore")
picture = np.full((512, 512, 4), (200, 150, 100, 50), np.uint8)
seen = []
for kind in (0, 1, 2):
    path = f"{sys.argv[1]}/made{kind}.tif"
    tifffile.imwrite(path, picture, tile=(256, 256), photometric="rgb", extrasamples=[kind])
    with rasterio.open(path) as file: mask = file.dataset_mask()[0, 0]
    with Image.open(path) as image: pillow = image.convert("RGBA").getpixel((0, 0))
    slide = openslide.OpenSlide(path).read_region((0, 0), 0, (4, 4)).getpixel((0, 0))
    seen.append(slide)
    same = "yes" if all(abs(a - b) <= 3 for a, b in zip(slide, (200, 150, 100))) else "no"
    print(f"ExtraSamples {kind}: Pillow {pillow}, GDAL's mask {mask}, OpenSlide's alpha {slide[3]}, "
          f"its colours as without alpha: {same}")
print(f"OpenSlide's ExtraSamples 0 and 1 are {'equal' if seen[0] == seen[1] else 'different'}")
PY
diff "$work/seen" <(sed -n 's/^#   //p' "$0") && echo "as found"

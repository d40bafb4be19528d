#!/bin/bash
# OpenSlide: the mask directories of a COG are levels, and the ones that are chosen.
#
# Version: openslide-python 1.4.7, openslide-bin 4.0.1.2 (OpenSlide 4.0.1), rasterio 1.4.4 (GDAL 3.10.3 inside), numpy 2.3.5,
# tifffile 2026.3.3.
#
# Expected: a COG with a mask inside, as GDAL's driver COG makes it of JPEG with transparency, has the levels 1, 2, 4 and 8.
# Directories whose NewSubfileType has the bit of value 4 are masks (TIFF 6.0), not pictures; GDAL and tifffile keep them apart.
#
# Found: OpenSlide counts each mask of an overview (NewSubfileType 5) as a level beside the picture of its size, as it looks at
# the bit of reduced pictures alone. get_best_level_for_downsample returns the mask, since it is the later of two alike.
# Reading a mask raises an error, after which each later call on the object raises it too. So the full picture works, and
# every view and thumbnail that is zoomed out fails.
#
# Output seen:
#   NewSubfileType of the directories: 0 4 1 1 1 5 5 5
#   without a mask: downsamples 1 2 4 8, best for 2 is level 1: read
#   with a mask: downsamples 1 2 2 4 4 8 8, best for 2 is level 2: Failure in TIFFRGBAImageOK
#   with a mask: level 1: read
#   with a mask: thumbnail: Failure in TIFFRGBAImageOK
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 77
"$work/venv/bin/pip" -q install --disable-pip-version-check openslide-python==1.4.7 openslide-bin==4.0.1.2 rasterio==1.4.4 \
    numpy==2.3.5 tifffile==2026.3.3 || { echo "needs a package index"; exit 77; }
"$work/venv/bin/python" - "$work" << 'PY' | tee "$work/seen"
import sys, warnings
import numpy as np, openslide, rasterio, tifffile
from rasterio.shutil import copy
warnings.simplefilter("ignore")
made = f"{sys.argv[1]}/made.tif"
paths = {name: f"{sys.argv[1]}/{name}.tif" for name in ("without a mask", "with a mask")}
for name, path in paths.items():
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True):
        with rasterio.open(made, "w", driver="GTiff", width=2000, height=2000, count=3, dtype="uint8", tiled=True) as file:
            file.write(np.full((3, 2000, 2000), 100, np.uint8))
            if name == "with a mask":
                valid = np.full((2000, 2000), 255, np.uint8)
                valid[:, :700] = 0
                file.write_mask(valid)
        copy(made, path, driver="COG", blocksize=256, compress="JPEG")
with tifffile.TiffFile(paths["with a mask"]) as file:
    print("NewSubfileType of the directories:", *(int(page.subfiletype) for page in file.pages))

def tried(call):
    try:
        call()
        return "read"
    except openslide.OpenSlideError as error:
        return str(error).partition(":")[0]

for name, path in paths.items():
    slide = openslide.OpenSlide(path)
    downsamples = " ".join(f"{number:g}" for number in slide.level_downsamples)
    level = slide.get_best_level_for_downsample(2)
    read = tried(lambda: slide.read_region((1000, 0), level, (100, 100)))
    print(f"{name}: downsamples {downsamples}, best for 2 is level {level}: {read}")
slide = openslide.OpenSlide(path)
print(f"{name}: level 1: {tried(lambda: slide.read_region((1000, 0), 1, (100, 100)))}")
print(f"{name}: thumbnail: {tried(lambda: slide.get_thumbnail((100, 100)))}")
PY
diff "$work/seen" <(sed -n 's/^#   //p' "$0") && echo "as found"

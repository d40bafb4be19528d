#!/bin/bash
# rio-cogeo: the profile jpeg turns an alpha channel into a mask of 1 bit.
#
# Version: rio-cogeo 7.0.4, rasterio 1.4.4 (GDAL 3.10.3 inside), numpy 2.3.5, tifffile 2026.3.3.
#
# Expected: `cog_translate` of a picture with red, green, blue and alpha keeps four bands, or refuses them, since a JPEG in
# a TIFF has no alpha. The option for a mask, add_mask, is off by default.
#
# Found: the file has three bands and a second kind of directory, NewSubfileType 4 and 5: masks of 1 bit by Deflate, one for
# each level. The only warning says that the band becomes a mask, not that alpha between 0 and 255 is lost: 128 is drawn as
# opaque. A reader that leaves out masks draws what should not be seen.
#
# Output seen:
#   warned: Nodata/Alpha band will be translated to an internal mask band.
#   bands 3, alpha before 0 128 255, afterwards 0 255 255
#   NewSubfileType of the directories: 0 4 1 1 5 5
#   as found
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" -q install --disable-pip-version-check rio-cogeo==7.0.4 rasterio==1.4.4 numpy==2.3.5 tifffile==2026.3.3
"$work/venv/bin/python" - "$work" << 'PY'
import sys, warnings, numpy as np, rasterio, tifffile
from rasterio.enums import ColorInterp
from rio_cogeo.cogeo import cog_translate
from rio_cogeo.profiles import cog_profiles
made, cog = f"{sys.argv[1]}/made.tif", f"{sys.argv[1]}/cog.tif"
alpha = np.full((1500, 1500), 255, np.uint8)
alpha[:, :500], alpha[:, 500:1000] = 0, 128
with rasterio.open(made, "w", driver="GTiff", width=1500, height=1500, count=4, dtype="uint8", crs="EPSG:3857",
                   transform=rasterio.transform.from_origin(0, 15000, 10, 10), photometric="RGB", alpha="YES") as file:
    file.write(np.stack([np.full_like(alpha, v) for v in (200, 100, 50)] + [alpha]))
with warnings.catch_warnings(record=True) as raised:
    warnings.simplefilter("always")
    cog_translate(made, cog, cog_profiles.get("jpeg"), quiet=True)
warned = [str(warning.message) for warning in raised if warning.category is UserWarning]
print(f"warned: {' '.join(warned)}")
with rasterio.open(cog) as file:
    mask = file.dataset_mask()
    bands, seen = file.count, [int(mask[700, x]) for x in (250, 750, 1250)]
with tifffile.TiffFile(cog) as file:
    kinds = [int(page.tags[254].value) if 254 in page.tags else 0 for page in file.pages]
print(f"bands {bands}, alpha before 0 128 255, afterwards {' '.join(map(str, seen))}")
print(f"NewSubfileType of the directories: {' '.join(map(str, kinds))}")
if warned != ["Nodata/Alpha band will be translated to an internal mask band."]: sys.exit("other warnings")
if bands != 3 or seen != [0, 255, 255] or kinds != [0, 4, 1, 1, 5, 5]: sys.exit("another result")
print("as found")
PY

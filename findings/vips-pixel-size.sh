#!/bin/bash
# libvips, OpenSlide: a pyramid of a picture without a resolution has pixels of a millimetre.
#
# Version: pyvips 3.2.0 with pyvips-binary 8.18.7 (libvips 8.18), openslide-python 1.4.7 with openslide-bin 4.0.1.2
# (OpenSlide 4.0.1), tifffile 2026.3.3, numpy 2.3.5.
#
# Expected: a TIFF of a picture whose resolution is unknown says so (ResolutionUnit 1, "none", as tifffile writes it), and
# OpenSlide states no openslide.mpp-x for it, so that a viewer has no scale bar.
#
# Found: libvips has no unknown resolution: a picture without one has 1 pixel a millimetre, and tiffsave writes 25.4 pixels an
# inch, unit inch. OpenSlide makes micrometres of it, also for a plain tiled TIFF: 1000 um a pixel. A viewer draws a scale bar of
# metres under the microscope, and one that chooses its level by the magnification chooses a wrong one.
#
# Output seen:
#   tifffile: resolution 1/1, unit 1; OpenSlide: mpp-x None
#   libvips: resolution 25.4, unit 2; OpenSlide: mpp-x 1000
#   libvips with xres=2000: resolution 50800, unit 2; OpenSlide: mpp-x 0.5
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 77
"$work/venv/bin/pip" -q install --disable-pip-version-check pyvips==3.2.0 pyvips-binary==8.18.7 openslide-python==1.4.7 \
    openslide-bin==4.0.1.2 tifffile==2026.3.3 numpy==2.3.5 || { echo "needs a package index"; exit 77; }
"$work/venv/bin/python" - "$work" << 'PY' | tee "$work/seen"
import sys
import numpy as np, openslide, pyvips, tifffile
picture = np.full((1024, 1024, 3), 100, np.uint8)
image = pyvips.Image.new_from_array(picture)

def show(name, path):
    with tifffile.TiffFile(path) as file: tags = file.pages[0].tags
    above, below = tags["XResolution"].value
    value = f"{above}/{below}" if below == above else f"{above / below:.6g}"
    size = openslide.OpenSlide(path).properties.get("openslide.mpp-x")
    print(f"{name}: resolution {value}, unit {int(tags['ResolutionUnit'].value)}; "
          f"OpenSlide: mpp-x {size and f'{float(size):.6g}'}")

path = f"{sys.argv[1]}/tifffile.tif"
tifffile.imwrite(path, picture, tile=(256, 256), photometric="rgb")
show("tifffile", path)
for name, more in (("libvips", {}), ("libvips with xres=2000", {"xres": 2000, "yres": 2000})):
    path = f"{sys.argv[1]}/{name}.tif"
    image.tiffsave(path, tile=True, pyramid=True, **more)
    show(name, path)
PY
diff "$work/seen" <(sed -n 's/^#   //p' "$0") && echo "as found"

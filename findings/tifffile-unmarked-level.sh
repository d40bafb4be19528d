#!/bin/bash
# tifffile: a second picture of half the size becomes a level of the first, though nothing marks it as one.
#
# Version: tifffile 2026.3.3, numpy 2.3.5.
#
# Expected: two calls of TiffWriter.write without subifds or subfiletype=1 are two series, since the documentation says that
# levels are written as SubIFDs or with the reduced bit. A page without NewSubfileType 1 is a picture of its own (TIFF 6.0).
#
# Found: if the second picture has a half or a third of the sides, the same samples and no metadata, TiffFile.series has one
# series of two levels; with another ratio of sides, other samples or the default metadata it has two series. So a slide
# viewer that draws series[0].levels draws the second scan of a file when it is zoomed out.
#
# Output seen:
#   half the sides: 1 series, levels 2
#   a third of the sides: 1 series, levels 2
#   another ratio: 2 series, levels 1
#   other samples: 2 series, levels 1
#   half the sides, with metadata: 2 series, levels 1
#   as found
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" -q install --disable-pip-version-check tifffile==2026.3.3 numpy==2.3.5
"$work/venv/bin/python" - "$work" << 'PY'
import sys, numpy as np, tifffile
def series(name, second, **options):
    path = f"{sys.argv[1]}/made.tif"
    with tifffile.TiffWriter(path) as file:
        file.write(np.zeros((1536, 2048, 3), np.uint8), photometric="rgb", tile=(256, 256), **options)
        file.write(np.full(second, 200, np.uint8), photometric="rgb" if len(second) == 3 else "minisblack", tile=(256, 256), **options)
    with tifffile.TiffFile(path) as file:
        found = (len(file.series), len(file.series[0].levels))
    print(f"{name}: {found[0]} series, levels {found[1]}")
    return found
found = [
    series("half the sides", (768, 1024, 3), metadata=None),
    series("a third of the sides", (512, 683, 3), metadata=None),
    series("another ratio", (1000, 1024, 3), metadata=None),
    series("other samples", (768, 1024), metadata=None),
    series("half the sides, with metadata", (768, 1024, 3)),
]
if found != [(1, 2), (1, 2), (2, 1), (2, 1), (2, 1)]: sys.exit("other series")
print("as found")
PY

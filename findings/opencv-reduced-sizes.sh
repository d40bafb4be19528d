#!/bin/bash
# OpenCV: a picture that is read at half its size is rounded by its format.
#
# Version: opencv-python-headless 5.0.0.93.
#
# Expected: IMREAD_REDUCED_COLOR_2 and _8 give pictures of one size whatever the format: 1001 pixels are 500 or 501.
#
# Found: a JPEG is scaled by libjpeg, which rounds up. Every other format is read whole and scaled by resize,
# which rounds down. Levels of a pyramid that are made so do not match if its tiles mix JPEG and PNG (opaque and
# transparent ones), and the last column and row are lost in one of them.
#
# Output seen:
#   .jpg 501 x 500, 126 x 125
#   .png 500 x 499, 125 x 124
#   .webp 500 x 499, 125 x 124
#   .tif 500 x 499, 125 x 124
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install opencv-python-headless==5.0.0.93 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON' | tee "$folder/seen"
import cv2
import numpy

picture = numpy.zeros((999, 1001, 3), numpy.uint8)
for kind in (".jpg", ".png", ".webp", ".tif"):
    data = cv2.imencode(kind, picture)[1]
    shapes = [cv2.imdecode(data, flag).shape for flag in (cv2.IMREAD_REDUCED_COLOR_2, cv2.IMREAD_REDUCED_COLOR_8)]
    print(kind, ", ".join(f"{width} x {height}" for height, width, _ in shapes))
PYTHON
diff "$folder/seen" <(sed -n 's/^#   //p' "$0")

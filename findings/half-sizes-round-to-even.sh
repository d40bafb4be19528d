#!/bin/bash
# scikit-image, SciPy, OpenCV: half of an odd size is rounded to the even number.
#
# Version: scikit-image 0.26.0, scipy 1.17.1, opencv-python-headless 5.0.0.93.
#
# Expected: a picture of odd size at half its size is rounded down or up, always alike: 1001 to 500 or 501, 1003 to 501
# or 502.
#
# Found: rescale, ndimage.zoom and cv2.resize with a factor of .5 round .5 to the even number, so that 1001 gives
# 500 and 1003 gives 502, down and up by turns. pyramid_gaussian and downscale_local_mean of the same scikit-image, and
# pyrDown of the same OpenCV, round up. Levels made with one call do not fit those made with the other in half of all
# odd sizes, and neither floor nor ceil explains a whole pyramid made by rescale.
#
# Output seen (999, 1001, 1003, 1005, 1007):
#   skimage rescale: 500 500 502 502 504
#   scipy zoom: 500 500 502 502 504
#   cv2 resize: 500 500 502 502 504
#   skimage pyramid_gaussian: 500 501 502 503 504
#   skimage downscale_local_mean: 500 501 502 503 504
#   cv2 pyrDown: 500 501 502 503 504
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install \
    scikit-image==0.26.0 scipy==1.17.1 opencv-python-headless==5.0.0.93 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON' | tee "$folder/seen"
import cv2
import numpy
from scipy.ndimage import zoom
from skimage.transform import downscale_local_mean, pyramid_gaussian, rescale


def show(name, half):
    heights = [half(numpy.zeros((size, 8), numpy.float32)).shape[0] for size in (999, 1001, 1003, 1005, 1007)]
    print(f"{name}:", *heights)


show("skimage rescale", lambda picture: rescale(picture, 0.5))
show("scipy zoom", lambda picture: zoom(picture, 0.5, order=1))
show("cv2 resize", lambda picture: cv2.resize(picture, None, fx=0.5, fy=0.5))
show("skimage pyramid_gaussian", lambda picture: list(pyramid_gaussian(picture, max_layer=1))[1])
show("skimage downscale_local_mean", lambda picture: downscale_local_mean(picture, (2, 2)))
show("cv2 pyrDown", cv2.pyrDown)
PYTHON
diff "$folder/seen" <(sed -n 's/^#   //p' "$0")

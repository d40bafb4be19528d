#!/bin/bash
# libvips: a TIFF with a codec that its package leaves out opens, and is black.
#
# Version: pyvips 3.2.0 with pyvips-binary 8.18.7 (libvips 8.18), tifffile 2026.3.3 with imagecodecs 2026.3.6, numpy 2.4.6.
#
# Expected: opening the file, or the first pixel of it, is an error that names the codec, as with GDAL and Pillow.
#
# Found: the header is read, and each tile that cannot be decoded is 0, with a warning in the log that Python does not show. So
# it is for ZSTD, LERC and LZMA, which libtiff knows and this package's was built without, and for codecs that libtiff never
# had. fail_on="error" lets it pass, too; only fail_on="warning" raises, at the first pixel. A pyramid made of such
# a file is black at all levels, and nothing failed.
#
# Output seen:
#   DEFLATE: mean 120, with fail_on error 120, with fail_on warning 120
#   JPEG: mean 120, with fail_on error 120, with fail_on warning 120
#   WEBP: mean 120, with fail_on error 120, with fail_on warning 120
#   ZSTD: mean 0, with fail_on error 0, with fail_on warning Error
#   LERC: mean 0, with fail_on error 0, with fail_on warning Error
#   LZMA: mean 0, with fail_on error 0, with fail_on warning Error
#   JPEGXL: mean 0, with fail_on error 0, with fail_on warning Error
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 77
"$work/venv/bin/pip" -q install --disable-pip-version-check pyvips==3.2.0 pyvips-binary==8.18.7 tifffile==2026.3.3 \
    imagecodecs==2026.3.6 numpy==2.4.6 || { echo "needs a package index"; exit 77; }
"$work/venv/bin/python" - "$work" << 'PY' | tee "$work/seen"
import sys
import numpy as np, pyvips, tifffile

picture = np.full((512, 512, 3), 120, np.uint8)
for codec in ("DEFLATE", "JPEG", "WEBP", "ZSTD", "LERC", "LZMA", "JPEGXL"):
    path = f"{sys.argv[1]}/{codec}.tif"
    tifffile.imwrite(path, picture, compression=codec, photometric="rgb", tile=(256, 256))
    if not np.array_equal(tifffile.imread(path), picture) and codec not in ("JPEG",): sys.exit(f"{codec}: not as written")
    def mean(**options):
        try: return f"{pyvips.Image.new_from_file(path, **options).avg():.0f}"
        except pyvips.Error as error: return type(error).__name__
    print(f"{codec}: mean {mean()}, with fail_on error {mean(fail_on='error')}, with fail_on warning {mean(fail_on='warning')}")
PY
diff "$work/seen" <(sed -n 's/^#   //p' "$0") && echo "as found"

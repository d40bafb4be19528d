#!/bin/bash
# tifffile: JPEG 2000 that it writes as Aperio's YCbCr holds red, green and blue, and OpenSlide shows other colours.
#
# Version: tifffile 2026.3.3 with imagecodecs 2026.3.6; OpenSlide 3.4.1 (Debian 12) with openslide-python.
#
# Expected: compression 33003 (aperio_jp2000_ycbc) is that of slides whose tiles are YCbCr, 33005 that of red, green and blue.
# A writer of 33003 converts, or the two readers agree on what is in the file.
#
# Found: tifffile writes the same codestream for both, of red, green and blue, and reads both as they are. OpenSlide takes 33003
# for YCbCr, as the scanners' files are, and converts: a reddish picture is green. A reader of slides has to follow OpenSlide,
# and then shows tifffile's own files so.
#
# Output seen:
#   33005, red green blue: tifffile 200 80 40, OpenSlide 200 80 40
#   33003, YCbCr: tifffile 200 80 40, OpenSlide 77 255 115
#   the tiles are the same: True
set -euo pipefail
/usr/bin/python3 -c 'import openslide, numpy' 2> /dev/null || { echo "needs OpenSlide: apt-get install python3-openslide"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 77
"$work/venv/bin/pip" -q install --disable-pip-version-check tifffile==2026.3.3 imagecodecs==2026.3.6 \
    || { echo "needs a package index"; exit 77; }
cat > "$work/write.py" << 'PY'
import sys
import numpy, tifffile

picture = numpy.full((256, 256, 3), (200, 80, 40), numpy.uint8)
about = "Aperio Image Library v11.2.1\n256x256 (256x256) J2K|AppMag = 20|MPP = 0.499"
for name in ("rgb", "ycbc"):
    tifffile.imwrite(f"{sys.argv[1]}/{name}.svs", picture, tile=(256, 256), photometric="rgb", description=about,
                     compression="aperio_jp2000_" + name, metadata=None)
    with tifffile.TiffFile(f"{sys.argv[1]}/{name}.svs") as file:
        page = file.pages[0]
        file.filehandle.seek(page.dataoffsets[0])
        open(f"{sys.argv[1]}/{name}.tile", "wb").write(file.filehandle.read(page.databytecounts[0]))
        print(*page.asarray()[9, 9])
PY
cat > "$work/read.py" << 'PY'
import sys
import numpy, openslide

for name in ("rgb", "ycbc"):
    print(*numpy.asarray(openslide.OpenSlide(f"{sys.argv[1]}/{name}.svs").read_region((0, 0), 0, (16, 16)))[9, 9, :3])
PY
mapfile -t own < <("$work/venv/bin/python" "$work/write.py" "$work")
mapfile -t other < <(/usr/bin/python3 "$work/read.py" "$work")
{
    echo "33005, red green blue: tifffile ${own[0]}, OpenSlide ${other[0]}"
    echo "33003, YCbCr: tifffile ${own[1]}, OpenSlide ${other[1]}"
    echo "the tiles are the same: $(cmp -s "$work/rgb.tile" "$work/ycbc.tile" && echo True || echo False)"
} | tee "$work/seen"
diff "$work/seen" <(sed -n 's/^#   //p' "$0") && echo "as found"

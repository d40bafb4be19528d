#!/bin/bash
# ImageMagick: the levels of a pyramid TIFF are pages of a document, all with the number 0.
#
# Version: imagemagick-6.q16 8:6.9.11.60+dfsg-1.6+deb12u15 (Debian 12), convert-im6.q16 and the coder PTIF.
#
# Expected: levels have NewSubfileType 1 ("a reduced-resolution version of another image in this TIFF file"), as libtiff's
# documents and GDAL and libvips have it, and the picture has 0 or no such field.
#
# Found: all directories, the picture included, have NewSubfileType 2 ("a single page of a multi-page image") and the same
# PageNumber, 0 of as many as there are. A reader that takes the reduced bit for the mark of a level finds one level; one
# that leaves out pages finds no level and, taken strictly, no picture.
#
# Output seen:
#   sizes: 3001 x 2003, 1500 x 1001, 750 x 500, 375 x 250, 187 x 125, 93 x 62
#   NewSubfileType: 2 2 2 2 2 2
#   PageNumber: 0 0 0 0 0 0
#   as found
set -euo pipefail
convert=$(command -v convert-im6.q16 || true)
[ -n "$convert" ] || { echo "needs ImageMagick 6: apt-get install imagemagick"; exit 77; }
command -v tiffinfo > /dev/null || { echo "needs tiffinfo: apt-get install libtiff-tools"; exit 77; }
dpkg-query -W imagemagick-6.q16 libtiff-tools
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$convert" -size 3001x2003 gradient:red-blue -define tiff:tile-geometry=256x256 "ptif:$work/pyramid.tif" 2> /dev/null
tiffinfo "$work/pyramid.tif" 2> /dev/null > "$work/info"
sizes=$(sed -n 's/.*Image Width: \([0-9]*\) Image Length: \([0-9]*\).*/\1 x \2/p' "$work/info" | paste -sd, | sed 's/,/, /g')
kinds=$(sed -n 's/.*Subfile Type: .*(\([0-9]*\) = .*/\1/p' "$work/info" | paste -sd' ')
pages=$(sed -n 's/.*Page Number: \([0-9]*\)-.*/\1/p' "$work/info" | paste -sd' ')
echo "sizes: $sizes"
echo "NewSubfileType: $kinds"
echo "PageNumber: $pages"
[ "$sizes" = "3001 x 2003, 1500 x 1001, 750 x 500, 375 x 250, 187 x 125, 93 x 62" ] || { echo "other sizes"; exit 1; }
[ "$kinds" = "2 2 2 2 2 2" ] && [ "$pages" = "0 0 0 0 0 0" ] || { echo "other marks"; exit 1; }
echo "as found"

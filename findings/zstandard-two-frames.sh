#!/bin/bash
# zstandard: of two frames in one piece, decompress() returns the first and is silent about the second.
#
# Version: zstandard 0.25.0.
#
# Frames that follow each other are valid zstd (RFC 8878, section 3.1: the content is that of all frames); writers that
# work in blocks or on several threads make them.
#
# Expected: both contents, as the zstd program and the other bindings give them, or an error.
#
# Found: zstandard.decompress and decompressobj return the content of the first frame. stream_reader of the same
# library, pyzstd, imagecodecs, numcodecs and cramjam return both. A TIFF or Zarr chunk of two frames is whole with one
# reader and short with the other.
#
# Output seen:
#   zstandard 0.25.0 decompress: 4 bytes
#   zstandard 0.25.0 decompressobj: 4 bytes
#   zstandard 0.25.0 stream_reader: 10 bytes
#   pyzstd 0.20.0: 10 bytes
#   imagecodecs 2026.3.6: 10 bytes
#   numcodecs 0.16.6: 10 bytes
#   cramjam 2.14.0: 10 bytes
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install \
    zstandard==0.25.0 pyzstd==0.20.0 imagecodecs==2026.3.6 numcodecs==0.16.6 cramjam==2.14.0
"$folder/venv/bin/python" - <<'PYTHON' | tee "$folder/seen"
import cramjam
import imagecodecs
import numcodecs
import pyzstd
import zstandard

frames = zstandard.compress(b"tile") + zstandard.compress(b"second")
decompressor = zstandard.ZstdDecompressor
readers = {
    "zstandard 0.25.0 decompress": lambda: zstandard.decompress(frames),
    "zstandard 0.25.0 decompressobj": lambda: decompressor().decompressobj().decompress(frames),
    "zstandard 0.25.0 stream_reader": lambda: decompressor().stream_reader(frames).read(),
    "pyzstd 0.20.0": lambda: pyzstd.decompress(frames),
    "imagecodecs 2026.3.6": lambda: imagecodecs.zstd_decode(frames),
    "numcodecs 0.16.6": lambda: numcodecs.Zstd().decode(frames),
    "cramjam 2.14.0": lambda: cramjam.zstd.decompress(frames).read(),
}
for name, read in readers.items():
    print(f"{name}: {len(bytes(read()))} bytes")
PYTHON
diff "$folder/seen" <(sed -n 's/^#   //p' "$0")

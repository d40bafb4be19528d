#!/bin/bash
# MapProxy: its ArcGIS cache counts rows from the bottom unless the grid says otherwise.
#
# Version: MapProxy 7.0.0, Pillow 12.0.0.
#
# Expected: `directory_layout: arcgis` writes an exploded cache as ArcGIS does, L01/R00000000/C00000000.png, in which row 0 is
# the northernmost. A reader of such caches needs to be told nothing.
#
# Found: the numbers are those of the grid. Without `origin`, that begins in the south-west, and R00000000 is the southernmost
# row. Only with `origin: nw` it is the northernmost. Nothing in the cache says which: a reader that trusts the layout shows
# north and south exchanged.
#
# Output seen:
#   without an origin: R00000000 is the south
#   origin nw: R00000000 is the north
set -euo pipefail
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 77
"$work/venv/bin/pip" -q install --disable-pip-version-check MapProxy==7.0.0 Pillow==12.0.0 ||
    { echo "needs a package index"; exit 77; }
# Tiles of which the northern half of the map is black, and the southern one white.
cat > "$work/server.py" << 'PY'
import http.server, io, sys
from PIL import Image

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        row = int(self.path.rsplit("/", 1)[1].split(".")[0])
        out = io.BytesIO()
        Image.new("L", (256, 256), 255 * row).convert("RGB").save(out, "PNG")
        self.send_response(200)
        self.send_header("Content-Type", "image/png")
        self.end_headers()
        self.wfile.write(out.getvalue())
    def log_message(self, *_): pass

server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
open(sys.argv[1], "w").write(str(server.server_port))
server.serve_forever()
PY
"$work/venv/bin/python" "$work/server.py" "$work/port" &
server=$!
for _ in $(seq 100); do [ -s "$work/port" ] && break; sleep .1; done
look() {
    cat > "$work/map.yaml" << YAML
globals: {cache: {base_dir: $work/base, lock_dir: $work/locks}}
grids:
  given: {base: GLOBAL_WEBMERCATOR}
  own: {srs: 'EPSG:3857', bbox: [-20037508.342789244, -20037508.342789244, 20037508.342789244, 20037508.342789244]$2}
sources: {given: {type: tile, grid: given, url: "http://127.0.0.1:$(cat "$work/port")/%(z)s/%(x)s/%(y)s.png"}}
caches:
  kept: {grids: [own], sources: [given], format: image/png, meta_size: [1, 1],
         cache: {type: file, directory: $work/$3, directory_layout: arcgis}}
layers: [{name: a, title: a, sources: [kept]}]
services: {tms: }
YAML
    echo "seeds: {all: {caches: [kept], levels: [1]}}" > "$work/seed.yaml"
    "$work/venv/bin/mapproxy-seed" -f "$work/map.yaml" -s "$work/seed.yaml" -c 1 > "$work/log" 2>&1 || cat "$work/log" >&2
    "$work/venv/bin/python" - "$work/$3/L01/R00000000/C00000000.png" "$1" << 'PY'
import sys
from PIL import Image
grey = Image.open(sys.argv[1]).convert("L").getpixel((100, 100))
print(f"{sys.argv[2]}: R00000000 is the {'north' if grey < 128 else 'south'}")
PY
}
{ look "without an origin" "" plain && look "origin nw" ", origin: nw" turned; } | tee "$work/seen"
diff "$work/seen" <(sed -n 's/^#   //p' "$0") && echo "as found"

#!/bin/bash
# async-tiff: two tiles in opposite corners of a COG fetch everything between them, in one request.
#
# Version: async-tiff 0.7.2 with obstore 0.12.1 (HTTPStore), rasterio 1.4.4 (GDAL 3.10.3 inside), numpy 2.3.5.
#
# Expected: fetch_tiles fetches the tiles that it is given; neighbours in the file share a request. A surplus stays below the size of
# what is wanted.
#
# Found: ranges of a request are joined over gaps of up to 1 MiB, a number of the store below that async-tiff has no
# parameter for. Tiles of 1.7 kB are so small against it that a COG of 1.7 MB has no two tiles which are not joined: a column of six
# costs 13 times its bytes and two corners over 100 times. For few tiles on a slow link fetch_tile for each is quicker;
# a row of tiles, which has no gaps, is as it should be.
#
# Output seen:
#   a row of 6: 1 request, 1 times the bytes of the tiles
#   a column of 6: 1 request, 10 to 20 times the bytes of the tiles
#   4 x 4: 1 request, 2 to 5 times the bytes of the tiles
#   two corners: 1 request, more than 100 times the bytes of the tiles
#   two corners, fetch_tile for each: 2 requests, 1 times the bytes of the tiles
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 77
"$work/venv/bin/pip" -q install --disable-pip-version-check async-tiff==0.7.2 obstore==0.12.1 rasterio==1.4.4 numpy==2.3.5 ||
    { echo "needs a package index"; exit 77; }
"$work/venv/bin/python" - "$work/made.tif" << 'PY' | tee "$work/seen"
import asyncio, http.server, re, sys, threading
import numpy as np, rasterio
from async_tiff import TIFF
from obstore.store import HTTPStore

random = np.random.default_rng(1)
picture = np.kron(random.integers(60, 200, (512, 512), np.uint8), np.ones((8, 8), np.uint8)) + random.integers(0, 6, (4096, 4096), np.uint8)
with rasterio.open(sys.argv[1], "w", driver="COG", width=4096, height=4096, count=1, dtype="uint8", compress="JPEG", blocksize=256,
                   crs="EPSG:3857", transform=rasterio.transform.from_origin(0, 4096, 1, 1)) as file:
    file.write(picture, 1)
with open(sys.argv[1], "rb") as file: content = file.read()
asked = []

class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *_): pass
    def do_GET(self):
        first, last = map(int, re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers["Range"]).groups())
        body = content[first:last + 1]
        asked.append(len(body))
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {first}-{first + len(body) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Last-Modified", "Sat, 28 Nov 2026 10:00:00 GMT")
        self.end_headers()
        self.wfile.write(body)

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()

async def run():
    store = HTTPStore.from_url(f"http://127.0.0.1:{server.server_address[1]}", client_options={"allow_http": True})
    directory = (await TIFF.open("made.tif", store=store)).ifds[0]

    async def show(name, tiles, each=False):
        asked.clear()
        if each:
            for x, y in tiles: await directory.fetch_tile(x, y)
        else: await directory.fetch_tiles(tiles)
        times = sum(asked) / sum(directory.tile_byte_counts[y * 16 + x] for x, y in tiles)
        about = next((text for least, most, text in ((10, 20, "10 to 20"), (2, 5, "2 to 5"), (100, 1000, "more than 100"))
                      if least <= times <= most), f"{times:.0f}")
        print(f"{name}: {len(asked)} request{'s' if len(asked) > 1 else ''}, {about} times the bytes of the tiles")

    await show("a row of 6", [(x, 3) for x in range(6)])
    await show("a column of 6", [(3, y) for y in range(6)])
    await show("4 x 4", [(x, y) for y in range(4) for x in range(4)])
    await show("two corners", [(0, 0), (15, 15)])
    await show("two corners, fetch_tile for each", [(0, 0), (15, 15)], each=True)

asyncio.run(run())
PY
diff "$work/seen" <(sed -n 's/^#   //p' "$0") && echo "as found"

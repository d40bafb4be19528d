#!/bin/bash
# pmtiles, async-pmtiles: each tile costs three or four requests, one after the other, whatever was read before.
#
# Version: pmtiles 3.8.1 (Python), async-pmtiles 0.1.0 with obstore 0.12.1.
#
# Expected: header and directories are read once for a reader, the way the JavaScript client does it, and a tile is one request once
# its directory is known: the format is made so that a map needs few requests.
#
# Found: Reader.get of pmtiles asks for the header, the root directory, the leaf directory and the tile, for each tile anew. The
# PMTilesReader of async-pmtiles keeps the header, and asks for both directories again with every tile. Each one waits for the one
# before it, so a tile of a server 50 ms away takes 200 ms. The caller has to keep what its own function for bytes returns.
#
# Output seen:
#   pmtiles, one directory: requests 3 3 3
#   pmtiles, with leaves: requests 4 4 4
#   async-pmtiles, one directory: opening 1, requests 2 2 2
#   async-pmtiles, with leaves: opening 1, requests 3 3 3
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 77
"$work/venv/bin/pip" -q install --disable-pip-version-check pmtiles==3.8.1 async-pmtiles==0.1.0 obstore==0.12.1 ||
    { echo "needs a package index"; exit 77; }
"$work/venv/bin/python" - "$work" << 'PY' | tee "$work/seen"
import asyncio, http.server, random, re, sys, threading, urllib.request
from async_pmtiles import PMTilesReader
from obstore.store import HTTPStore
from pmtiles.reader import Reader
from pmtiles.tile import Compression, TileType, zxy_to_tileid
from pmtiles.writer import Writer

random.seed(1)
files = {}
for name, deepest in (("one", 5), ("leaves", 8)):
    with open(f"{sys.argv[1]}/{name}", "wb") as file:
        writer = Writer(file)
        for number in range(zxy_to_tileid(deepest + 1, 0, 0)): writer.write_tile(number, random.randbytes(random.randrange(50, 300)))
        writer.finalize({"tile_type": TileType.PNG, "tile_compression": Compression.NONE, "center_zoom": 0, "center_lon_e7": 0,
                         "center_lat_e7": 0, "min_lon_e7": -1800000000, "max_lon_e7": 1800000000, "min_lat_e7": -850000000,
                         "max_lat_e7": 850000000}, {})
    with open(f"{sys.argv[1]}/{name}", "rb") as file: files[f"/{name}"] = file.read()
asked = []

class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *_): pass
    def do_GET(self):
        content = files[self.path]
        first, last = map(int, re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers["Range"]).groups())
        body = content[first:last + 1]
        asked.append(first)
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {first}-{first + len(body) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Last-Modified", "Sat, 28 Nov 2026 10:00:00 GMT")
        self.end_headers()
        self.wfile.write(body)

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
address = f"http://127.0.0.1:{server.server_address[1]}"

def requests():
    number = len(asked)
    asked.clear()
    return number

names = (("one", "one directory", 5), ("leaves", "with leaves", 8))
for name, text, zoom in names:
    def fetch(offset, length):
        head = {"Range": f"bytes={offset}-{offset + length - 1}"}
        with urllib.request.urlopen(urllib.request.Request(f"{address}/{name}", headers=head)) as answer: return answer.read()
    reader, counts = Reader(fetch), []
    for x in range(10, 13):
        if not reader.get(zoom, x, 10): sys.exit("no tile")
        counts.append(requests())
    print(f"pmtiles, {text}: requests", *counts)

async def run():
    store = HTTPStore.from_url(address, client_options={"allow_http": True})
    for name, text, zoom in names:
        reader = await PMTilesReader.open(name, store=store)
        opening, counts = requests(), []
        for x in range(10, 13):
            if not await reader.get_tile(x=x, y=10, z=zoom): sys.exit("no tile")
            counts.append(requests())
        print(f"async-pmtiles, {text}: opening {opening}, requests", *counts)

asyncio.run(run())
PY
diff "$work/seen" <(sed -n 's/^#   //p' "$0") && echo "as found"

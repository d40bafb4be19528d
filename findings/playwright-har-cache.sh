#!/bin/bash
# Playwright: in its HAR, a load from the browser's cache has a negative size and no other mark, and cancelled ones have no times.
#
# Version: playwright 1.65.2 (Python) with chromium 156.0.8078.108-1~deb12u1 (Debian 12).
#
# Expected: `cache` of an entry tells what the cache did (HAR 1.2: beforeRequest, afterRequest), and bodySize of an answer from the cache
# is 0: "Set to zero in case of responses coming from the cache (304)". -1 stands for what is not known.
#
# Found: `cache` is empty, the status is 200 as for a load from the server, and bodySize is below -1: the size of the transfer, 0, less that
# of the header, which did not come either. A sum over bodySize, or a check for -1, goes wrong without a word. The only
# other mark is _transferSize 0. A load that the page cancels has the status -1 and -1 for all timings; its `time` alone is right.
#
# Output seen:
#   from the server: status 200, bodySize 1000, _transferSize more than 1000, cache {}
#   from the cache: status 200, bodySize less than -100, _transferSize 0, cache {}
#   cancelled: status -1, timings -1, time about 300 ms, net::ERR_ABORTED
set -euo pipefail
command -v chromium > /dev/null || { echo "needs chromium and python3: apt-get install chromium python3-venv"; exit 77; }
dpkg-query -W chromium
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 77
"$work/venv/bin/pip" -q install --disable-pip-version-check playwright==1.65.2 || { echo "needs a package index"; exit 77; }
"$work/venv/bin/python" - "$work" << 'PY' | tee "$work/seen"
import datetime, http.server, json, sys, threading, time
from playwright.sync_api import sync_playwright

asked = {}

class Server(http.server.BaseHTTPRequestHandler):
    """Tiles of 1000 bytes after 0.4 s, which may be kept."""
    protocol_version = "HTTP/1.1"
    def log_message(self, *_): pass
    def do_GET(self):
        asked[self.path] = time.time()
        is_tile = self.path.startswith("/tile")
        body = bytes(1000) if is_tile else b"<html><body></body></html>"
        if is_tile: time.sleep(0.4)
        try:
            self.send_response(200)
            self.send_header("Content-Type", "image/png" if is_tile else "text/html")
            self.send_header("Content-Length", str(len(body)))
            if is_tile: self.send_header("Cache-Control", "max-age=600")
            self.end_headers()
            self.wfile.write(body)
        except OSError: pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"])
    context = browser.new_context(record_har_path=f"{sys.argv[1]}/recorded.har")
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{server.server_address[1]}/")
    page.evaluate("""async () => {
        const load = number => fetch(`/tile${number}`).then(answer => answer.blob());
        await load(1);
        await load(1);
        const stop = new AbortController();
        setTimeout(() => stop.abort(), 300);
        await fetch('/tile2', {signal: stop.signal}).catch(() => 0);
    }""")
    context.close()
    browser.close()
with open(f"{sys.argv[1]}/recorded.har") as file: entries = json.load(file)["log"]["entries"]
entries = [entry for entry in entries if "/tile" in entry["request"]["url"]]
if len(entries) != 3: sys.exit(f"{len(entries)} entries")
for name, entry in zip(("from the server", "from the cache"), entries):
    answer = entry["response"]
    size, moved = answer["bodySize"], answer["_transferSize"]
    print(f"{name}: status {answer['status']}, bodySize {'less than -100' if size < -100 else size}, "
          f"_transferSize {'more than 1000' if moved > 1000 else moved}, cache {entry['cache']}")
entry = entries[2]
length = "about 300 ms" if 250 < entry["time"] < 390 else f"{entry['time']} ms"
print(f"cancelled: status {entry['response']['status']}, timings {' '.join(map(str, set(entry['timings'].values())))}, "
      f"time {length}, {entry['response']['_failureText']}")
PY
diff "$work/seen" <(sed -n 's/^#   //p' "$0") && echo "as found"

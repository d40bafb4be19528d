#!/bin/bash
# Playwright: in its HAR, loads that waited for a connection end before the server has even been asked.
#
# Version: playwright 1.65.2 (Python) with chromium 156.0.8078.108-1~deb12u1 (Debian 12).
#
# Expected: startedDateTime is the beginning of a load and `time` its whole length, "the sum of all timings" with `blocked` for the time in
# the queue (HAR 1.2). Beginning and time give the end, by which a replay knows how many loads were under way.
#
# Found: startedDateTime is when the page asked. The wait for one of the six connections of HTTP/1.1 is in no timing, `blocked` is not
# there, and `time` leaves it out. Of 18 tiles at once, of 0.4 s each, the last six begin with the others and end by the HAR 0.4 s or
# more before they did, sooner than their request reached the server. A map's queue looks like a server that answers
# 18 loads at once.
#
# Output seen:
#   all 18 begin within 0.2 s: yes; timings with blocked: 0
#   the first six: by the HAR over 0.35 s or more after the server was asked: yes
#   the last six: by the HAR over before the server was asked: yes
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
        await Promise.all([...Array(18).keys()].map(load));
    }""")
    context.close()
    browser.close()
with open(f"{sys.argv[1]}/recorded.har") as file: entries = json.load(file)["log"]["entries"]
entries = [entry for entry in entries if "/tile" in entry["request"]["url"]]
begin = [datetime.datetime.fromisoformat(entry["startedDateTime"].replace("Z", "+00:00")).timestamp() for entry in entries]
blocked = sum(entry["timings"].get("blocked", -1) >= 0 for entry in entries)
print(f"all {len(entries)} begin within 0.2 s: {'yes' if max(begin) - min(begin) < 0.2 else 'no'}; timings with blocked: {blocked}")
ends = sorted((asked["/" + entry["request"]["url"].rsplit("/", 1)[1]], first + entry["time"] / 1000) for first, entry in zip(begin, entries))
print("the first six: by the HAR over 0.35 s or more after the server was asked:",
      "yes" if all(end > when + 0.35 for when, end in ends[:6]) else "no")
print("the last six: by the HAR over before the server was asked:", "yes" if all(end < when for when, end in ends[-6:]) else "no")
PY
diff "$work/seen" <(sed -n 's/^#   //p' "$0") && echo "as found"

#!/bin/bash
# requests-cache: the key of a stored answer leaves Range out.
#
# Version: requests-cache 1.3.3, requests 2.34.2.
#
# Expected: ranges pass by the cache, or are cut out of a stored whole answer, or are stored each for itself. CacheControl
# 0.14.4, beside it, lets them pass.
#
# Found: once the whole file is stored, a range is answered with 200 and all of it. With 206 among
# allowable_codes, which looks like the way to store ranges, the first range of a file answers every later one, and the
# whole file too: other bytes than were asked for, with status 206. The setting that helps is match_headers=["Range"].
#
# Output seen:
#   usual: 206 of 10 bytes from 10, 206 of 10 bytes from 20, 200 of 1000 bytes from 0, 200 of 1000 bytes from 0
#   allowable_codes=[200, 206]: 206 of 10 bytes from 10, 206 of 10 bytes from 10, 206 of 10 bytes from 10, 206 of 10 bytes from 10
#   and match_headers=["Range"]: 206 of 10 bytes from 10, 206 of 10 bytes from 20, 200 of 1000 bytes from 0, 206 of 10 bytes from 30
#   CacheControl: 206 of 10 bytes from 10, 206 of 10 bytes from 20, 200 of 1000 bytes from 0, 206 of 10 bytes from 30
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install \
    requests-cache==1.3.3 requests==2.34.2 CacheControl==0.14.4
"$folder/venv/bin/python" - <<'PYTHON' | tee "$folder/seen"
import http.server
import threading

import cachecontrol
import requests
import requests_cache

data = bytes(index % 251 for index in range(1000))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        asked = self.headers.get("Range")
        first, last = map(int, asked[6:].split("-")) if asked else (0, len(data) - 1)
        self.send_response(206 if asked else 200)
        self.send_header("Content-Length", str(last - first + 1))
        self.send_header("Cache-Control", "max-age=600")
        self.send_header("ETag", '"a"')
        if asked:
            self.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
        self.end_headers()
        self.wfile.write(data[first : last + 1])


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
address = f"http://127.0.0.1:{server.server_port}/a.bin"


def show(name, session):
    answers = []
    for asked in ("bytes=10-19", "bytes=20-29", None, "bytes=30-39"):
        answer = session.get(address, headers={"Range": asked} if asked else {})
        body = answer.content
        answers.append(f"{answer.status_code} of {len(body)} bytes from {body[0]}")
    print(f"{name}: {', '.join(answers)}")


def cached(**settings):
    return requests_cache.CachedSession(backend="memory", **settings)


show("usual", cached())
show("allowable_codes=[200, 206]", cached(allowable_codes=[200, 206]))
show('and match_headers=["Range"]', cached(allowable_codes=[200, 206], match_headers=["Range"]))
show("CacheControl", cachecontrol.CacheControl(requests.Session()))
server.shutdown()
PYTHON
diff "$folder/seen" <(sed -n 's/^#   //p' "$0")

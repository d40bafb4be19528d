#!/bin/bash
# Sanic: the Content-Range of a range that ends beyond the file names bytes that there are not.
#
# Version: sanic 25.12.1, `app.static(..., use_content_range=True)`, Python 3.
#
# Expected: a range that ends beyond the file is clamped, in the bytes and in Content-Range: bytes 0-999/1000 of a file of 1000
# (RFC 9110, 14.1.2 and 14.4: a last position at or beyond the complete length is invalid).
#
# Found: the bytes and Content-Length are clamped, and Content-Range repeats the range of the request. A client that checks it
# refuses the answer. Clients that read a file's first 16 KiB without knowing its size meet it with each smaller file.
#
# Output seen:
#   0-99: 206, bytes 0-99/1000, 100 bytes stated, 100 came, curl ends with 0
#   0-1999: 206, bytes 0-1999/1000, 1000 bytes stated, 1000 came, curl ends with 0
#   900-1999: 206, bytes 900-1999/1000, 100 bytes stated, 100 came, curl ends with 0
#   as found
set -euo pipefail
for program in curl python3; do
    command -v "$program" > /dev/null || { echo "needs curl and python3"; exit 77; }
done
work=$(mktemp -d)
server=""
trap '[ -z "$server" ] || { kill "$server"; wait "$server" || true; } 2> /dev/null; rm -rf "$work"' EXIT
chmod 755 "$work"
mkdir "$work/www"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
python3 -m venv "$work/v"
"$work/v/bin/pip" -q --disable-pip-version-check install --only-binary=:all: sanic==25.12.1
python3 -c 'import sys; open(sys.argv[1], "wb").write(bytes(i * 7 % 251 for i in range(1000)))' "$work/www/file.bin"
cat > "$work/app.py" << 'PYTHON'
import sys
from sanic import Sanic
app = Sanic("finding")
app.static("/", sys.argv[1], use_content_range=True)
if __name__ == "__main__":
    app.run("127.0.0.1", int(sys.argv[2]), single_process=True, access_log=False)
PYTHON
"$work/v/bin/python" "$work/app.py" "$work/www" "$port" > /dev/null 2>&1 &
server=$!
for _ in $(seq 100); do (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null && break; sleep 0.1; done
# One line for a range: status, Content-Range, the bytes that are stated and those that come, and how curl ends.
ask() {
    local code
    code=$(curl -s -m 5 -o "$work/body" -D "$work/head" -w '%{http_code} %{exitcode}' -H "Range: bytes=$1" "http://127.0.0.1:$port/file.bin" || true)
    echo "$1: ${code% *}, $(grep -i '^content-range:' "$work/head" | tr -d '\r' | cut -d' ' -f2- || echo 'no Content-Range'), \
$(grep -i '^content-length:' "$work/head" | tr -d '\r' | cut -d' ' -f2 || echo no) bytes stated, $(stat -c %s "$work/body") came, curl ends with ${code#* }"
}
expected='0-99: 206, bytes 0-99/1000, 100 bytes stated, 100 came, curl ends with 0
0-1999: 206, bytes 0-1999/1000, 1000 bytes stated, 1000 came, curl ends with 0
900-1999: 206, bytes 900-1999/1000, 100 bytes stated, 100 came, curl ends with 0'
seen=$(for range in 0-99 0-1999 900-1999; do ask $range; done)
echo "$seen"
[ "$seen" = "$expected" ] && echo "as found" || { echo "changed"; exit 1; }

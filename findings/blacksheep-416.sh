#!/bin/bash
# BlackSheep: a range that begins within a file and ends beyond it is refused with 416.
#
# Version: blacksheep 2.6.4, `serve_files`, uvicorn 0.54.0, Python 3.
#
# Expected: 416 is for ranges of which no byte exists; a range that ends beyond the file is clamped and answered with 206
# (RFC 9110, 14.1.2). A 416 has the size of the file in Content-Range, so that the client can ask again (15.5.17).
#
# Found: one byte beyond the end is enough for 416, without a Content-Range. Clients that take 416 for "the file is empty" or
# "the download is complete" are wrong here.
#
# Output seen:
#   0-99: 206, bytes 0-99/1000, no bytes stated, 100 came, curl ends with 0
#   0-999: 206, bytes 0-999/1000, no bytes stated, 1000 came, curl ends with 0
#   0-1000: 416, no Content-Range, 31 bytes stated, 31 came, curl ends with 0
#   900-1000: 416, no Content-Range, 31 bytes stated, 31 came, curl ends with 0
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
"$work/v/bin/pip" -q --disable-pip-version-check install --only-binary=:all: blacksheep==2.6.4 uvicorn==0.54.0
python3 -c 'import sys; open(sys.argv[1], "wb").write(bytes(i * 7 % 251 for i in range(1000)))' "$work/www/file.bin"
cat > "$work/app.py" << 'PYTHON'
import sys
import uvicorn
from blacksheep import Application
app = Application()
app.serve_files(sys.argv[1], extensions={".bin"})
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[2]))
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
expected='0-99: 206, bytes 0-99/1000, no bytes stated, 100 came, curl ends with 0
0-999: 206, bytes 0-999/1000, no bytes stated, 1000 came, curl ends with 0
0-1000: 416, no Content-Range, 31 bytes stated, 31 came, curl ends with 0
900-1000: 416, no Content-Range, 31 bytes stated, 31 came, curl ends with 0'
seen=$(for range in 0-99 0-999 0-1000 900-1000; do ask $range; done)
echo "$seen"
[ "$seen" = "$expected" ] && echo "as found" || { echo "changed"; exit 1; }

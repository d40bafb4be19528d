#!/bin/bash
# webfs: a range that ends beyond the file is a bad request.
#
# Version: webfs 1.21+ds1-12+b1 (Debian 12).
#
# Expected: a range that ends beyond the file is clamped (206), and one that begins beyond it is not satisfiable (416). Or
# Range is ignored (200), which any server may do (RFC 9110, 14.2).
#
# Found: both are 400 Bad Request, a status that clients take for an error of their own and do not retry in another form.
# The open range 900- works.
#
# Output seen:
#   0-999: 206, bytes 0-999/1000, 1000 bytes stated, 1000 came, curl ends with 0
#   0-1000: 400, no Content-Range, 8 bytes stated, 8 came, curl ends with 0
#   900-1999: 400, no Content-Range, 8 bytes stated, 8 came, curl ends with 0
#   2000-2999: 400, no Content-Range, 8 bytes stated, 8 came, curl ends with 0
#   900-: 206, bytes 900-999/1000, 100 bytes stated, 100 came, curl ends with 0
#   as found
set -euo pipefail
export PATH=$PATH:/usr/sbin
for program in webfsd curl python3; do
    command -v "$program" > /dev/null || { echo "needs webfsd, curl and python3: apt-get install webfs curl python3"; exit 77; }
done
dpkg-query -W webfs
work=$(mktemp -d)
server=""
trap '[ -z "$server" ] || { kill "$server"; wait "$server" || true; } 2> /dev/null; rm -rf "$work"' EXIT
chmod 755 "$work"
mkdir "$work/www"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
python3 -c 'import sys; open(sys.argv[1], "wb").write(bytes(i * 7 % 251 for i in range(1000)))' "$work/www/file.bin"
webfsd -F -p "$port" -i 127.0.0.1 -r "$work/www" > /dev/null 2>&1 &
server=$!
for _ in $(seq 100); do (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null && break; sleep 0.1; done
# One line for a range: status, Content-Range, the bytes that are stated and those that come, and how curl ends.
ask() {
    local code
    code=$(curl -s -m 5 -o "$work/body" -D "$work/head" -w '%{http_code} %{exitcode}' -H "Range: bytes=$1" "http://127.0.0.1:$port/file.bin" || true)
    echo "$1: ${code% *}, $(grep -i '^content-range:' "$work/head" | tr -d '\r' | cut -d' ' -f2- || echo 'no Content-Range'), \
$(grep -i '^content-length:' "$work/head" | tr -d '\r' | cut -d' ' -f2 || echo no) bytes stated, $(stat -c %s "$work/body") came, curl ends with ${code#* }"
}
expected='0-999: 206, bytes 0-999/1000, 1000 bytes stated, 1000 came, curl ends with 0
0-1000: 400, no Content-Range, 8 bytes stated, 8 came, curl ends with 0
900-1999: 400, no Content-Range, 8 bytes stated, 8 came, curl ends with 0
2000-2999: 400, no Content-Range, 8 bytes stated, 8 came, curl ends with 0
900-: 206, bytes 900-999/1000, 100 bytes stated, 100 came, curl ends with 0'
seen=$(for range in 0-999 0-1000 900-1999 2000-2999 900-; do ask $range; done)
echo "$seen"
[ "$seen" = "$expected" ] && echo "as found" || { echo "changed"; exit 1; }

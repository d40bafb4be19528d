#!/bin/bash
# CivetWeb: a range that ends beyond the file is announced with a byte too many, which never comes.
#
# Version: civetweb 1.15+dfsg-4 (Debian 12).
#
# Expected: a range that ends beyond the file is clamped to its last byte: bytes 0-999/1000 of a file of 1000, and a
# Content-Length of 1000.
#
# Found: it is clamped to the byte after the last one. Content-Range says bytes 0-1000/1000, Content-Length says 1001, and the
# connection ends after 1000 bytes. All bytes of the file are there, but clients end with an error of a partial transfer
# (18 of curl), as if the network had failed.
#
# Output seen:
#   0-99: 206, bytes 0-99/1000, 100 bytes stated, 100 came, curl ends with 0
#   0-999: 206, bytes 0-999/1000, 1000 bytes stated, 1000 came, curl ends with 0
#   0-1000: 206, bytes 0-1000/1000, 1001 bytes stated, 1000 came, curl ends with 18
#   0-1999: 206, bytes 0-1000/1000, 1001 bytes stated, 1000 came, curl ends with 18
#   as found
set -euo pipefail
export PATH=$PATH:/usr/sbin
for program in civetweb curl python3; do
    command -v "$program" > /dev/null || { echo "needs civetweb, curl and python3: apt-get install civetweb curl python3"; exit 77; }
done
dpkg-query -W civetweb
work=$(mktemp -d)
server=""
trap '[ -z "$server" ] || { kill "$server"; wait "$server" || true; } 2> /dev/null; rm -rf "$work"' EXIT
chmod 755 "$work"
mkdir "$work/www"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
python3 -c 'import sys; open(sys.argv[1], "wb").write(bytes(i * 7 % 251 for i in range(1000)))' "$work/www/file.bin"
civetweb -document_root "$work/www" -listening_ports "127.0.0.1:$port" > /dev/null 2>&1 &
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
0-999: 206, bytes 0-999/1000, 1000 bytes stated, 1000 came, curl ends with 0
0-1000: 206, bytes 0-1000/1000, 1001 bytes stated, 1000 came, curl ends with 18
0-1999: 206, bytes 0-1000/1000, 1001 bytes stated, 1000 came, curl ends with 18'
seen=$(for range in 0-99 0-999 0-1000 0-1999; do ask $range; done)
echo "$seen"
[ "$seen" = "$expected" ] && echo "as found" || { echo "changed"; exit 1; }

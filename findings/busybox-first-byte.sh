#!/bin/bash
# BusyBox httpd: the range of the first byte alone is all of the file.
#
# Version: busybox 1:1.35.0-4+deb12u1+b1 (Debian 12).
#
# Expected: `Range: bytes=0-0` is one byte, 206 with bytes 0-0/1000 of a file of 1000, as 1-1 and 999-999 are. Clients ask for it
# to learn the size of a file and whether the server has ranges.
#
# Found: the last position 0 counts as none. The answer is 206 with all of the file: a client that only wants to know the size
# of a large file fetches it, and one that checks the length of the body takes the server for a wrong one.
#
# Output seen:
#   0-0: 206, bytes 0-999/1000, 1000 bytes stated, 1000 came, curl ends with 0
#   0-1: 206, bytes 0-1/1000, 2 bytes stated, 2 came, curl ends with 0
#   1-1: 206, bytes 1-1/1000, 1 bytes stated, 1 came, curl ends with 0
#   999-999: 206, bytes 999-999/1000, 1 bytes stated, 1 came, curl ends with 0
#   as found
set -euo pipefail
export PATH=$PATH:/usr/sbin
for program in busybox curl python3; do
    command -v "$program" > /dev/null || { echo "needs busybox, curl and python3: apt-get install busybox curl python3"; exit 77; }
done
dpkg-query -W busybox
work=$(mktemp -d)
server=""
trap '[ -z "$server" ] || { kill "$server"; wait "$server" || true; } 2> /dev/null; rm -rf "$work"' EXIT
chmod 755 "$work"
mkdir "$work/www"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
python3 -c 'import sys; open(sys.argv[1], "wb").write(bytes(i * 7 % 251 for i in range(1000)))' "$work/www/file.bin"
busybox httpd -f -p "127.0.0.1:$port" -h "$work/www" > /dev/null 2>&1 &
server=$!
for _ in $(seq 100); do (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null && break; sleep 0.1; done
# One line for a range: status, Content-Range, the bytes that are stated and those that come, and how curl ends.
ask() {
    local code
    code=$(curl -s -m 5 -o "$work/body" -D "$work/head" -w '%{http_code} %{exitcode}' -H "Range: bytes=$1" "http://127.0.0.1:$port/file.bin" || true)
    echo "$1: ${code% *}, $(grep -i '^content-range:' "$work/head" | tr -d '\r' | cut -d' ' -f2- || echo 'no Content-Range'), \
$(grep -i '^content-length:' "$work/head" | tr -d '\r' | cut -d' ' -f2 || echo no) bytes stated, $(stat -c %s "$work/body") came, curl ends with ${code#* }"
}
expected='0-0: 206, bytes 0-999/1000, 1000 bytes stated, 1000 came, curl ends with 0
0-1: 206, bytes 0-1/1000, 2 bytes stated, 2 came, curl ends with 0
1-1: 206, bytes 1-1/1000, 1 bytes stated, 1 came, curl ends with 0
999-999: 206, bytes 999-999/1000, 1 bytes stated, 1 came, curl ends with 0'
seen=$(for range in 0-0 0-1 1-1 999-999; do ask $range; done)
echo "$seen"
[ "$seen" = "$expected" ] && echo "as found" || { echo "changed"; exit 1; }

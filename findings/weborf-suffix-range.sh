#!/bin/bash
# Weborf: a suffix range gets other bytes than the last ones.
#
# Version: weborf 0.19-2.1+deb12u1 (Debian 12).
#
# Expected: `Range: bytes=-100` is the last 100 bytes (RFC 9110, 14.1.2), 206 with bytes 900-999/1000 of a file of 1000. Or the
# header is ignored.
#
# Found: the missing first number counts as 0. The answer is 206 with the first 101 bytes, as Content-Range says. A client that
# looks for an index at the end of a file, as readers of zip do, gets its beginning unless it checks Content-Range.
#
# Output seen:
#   900-999: 206, bytes 900-999/1000, 100 bytes stated, 100 came, curl ends with 0
#   -100: 206, bytes 0-100/1000, 101 bytes stated, 101 came, curl ends with 0
#   -100 brings other bytes
#   as found
set -euo pipefail
export PATH=$PATH:/usr/sbin
for program in weborf curl python3; do
    command -v "$program" > /dev/null || { echo "needs weborf, curl and python3: apt-get install weborf curl python3"; exit 77; }
done
dpkg-query -W weborf
work=$(mktemp -d)
server=""
trap '[ -z "$server" ] || { kill "$server"; wait "$server" || true; } 2> /dev/null; rm -rf "$work"' EXIT
chmod 755 "$work"
mkdir "$work/www"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
python3 -c 'import sys; open(sys.argv[1], "wb").write(bytes(i * 7 % 251 for i in range(1000)))' "$work/www/file.bin"
weborf -i 127.0.0.1 -p "$port" -b "$work/www" > /dev/null 2>&1 &
server=$!
for _ in $(seq 100); do (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null && break; sleep 0.1; done
# One line for a range: status, Content-Range, the bytes that are stated and those that come, and how curl ends.
ask() {
    local code
    code=$(curl -s -m 5 -o "$work/body" -D "$work/head" -w '%{http_code} %{exitcode}' -H "Range: bytes=$1" "http://127.0.0.1:$port/file.bin" || true)
    echo "$1: ${code% *}, $(grep -i '^content-range:' "$work/head" | tr -d '\r' | cut -d' ' -f2- || echo 'no Content-Range'), \
$(grep -i '^content-length:' "$work/head" | tr -d '\r' | cut -d' ' -f2 || echo no) bytes stated, $(stat -c %s "$work/body") came, curl ends with ${code#* }"
}
same() { tail -c 100 "$work/www/file.bin" | cmp -s - "$work/body" && echo "the last 100 bytes" || echo "other bytes"; }
run() {
    for range in 900-999 -100; do ask "$range"; done
    ask -100 > /dev/null
    echo "-100 brings $(same)"
}
expected='900-999: 206, bytes 900-999/1000, 100 bytes stated, 100 came, curl ends with 0
-100: 206, bytes 0-100/1000, 101 bytes stated, 101 came, curl ends with 0
-100 brings other bytes'
seen=$(run)
echo "$seen"
[ "$seen" = "$expected" ] && echo "as found" || { echo "changed"; exit 1; }

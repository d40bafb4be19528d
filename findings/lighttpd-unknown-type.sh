#!/bin/bash
# lighttpd: a file whose type it does not know has neither ETag nor Last-Modified.
#
# Version: lighttpd 1.4.69-1 (Debian 12).
#
# Expected: validators say whether a file has changed, whatever its type: etag.use-mtime and its like are on by default.
#
# Found: without an entry of mimetype.assign for the extension, Content-Type is left out (or application/octet-stream), and
# with it both validators, while ranges are still answered with 206. Extensions that are newer than the list of types, such
# as .pmtiles, get no validators: a client that reads the file by ranges cannot see that it is replaced, and no cache can ask
# whether it has. mimetype.assign = ("" => "application/octet-stream") brings both.
#
# Output seen:
#   without a type: 206, ETag 0, Last-Modified 0
#   with one for all: 206, ETag 1, Last-Modified 1
#   as found
set -euo pipefail
export PATH=$PATH:/usr/sbin
for program in lighttpd curl python3; do
    command -v "$program" > /dev/null || { echo "needs lighttpd, curl and python3: apt-get install lighttpd curl python3"; exit 77; }
done
dpkg-query -W lighttpd
work=$(mktemp -d)
server=""
trap '[ -z "$server" ] || { kill "$server"; wait "$server" || true; } 2> /dev/null; rm -rf "$work"' EXIT
chmod 755 "$work"
mkdir "$work/www"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
python3 -c 'import sys; open(sys.argv[1], "wb").write(bytes(i * 7 % 251 for i in range(1000)))' "$work/www/file.bin"
run() {
    for types in '' 'mimetype.assign = ("" => "application/octet-stream")'; do
        printf 'server.document-root = "%s"\nserver.port = %s\nserver.bind = "127.0.0.1"\n%s\n' "$work/www" "$port" "$types" > "$work/l.conf"
        lighttpd -D -f "$work/l.conf" > /dev/null 2>&1 &
        own=$!
        for _ in $(seq 100); do (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null && break; sleep 0.1; done
        status=$(curl -s -o /dev/null -D "$work/head" -w '%{http_code}' -r 0-9 "http://127.0.0.1:$port/file.bin")
        [ -z "$types" ] && name="without a type" || name="with one for all"
        echo "$name: $status, ETag $(grep -ci '^etag:' "$work/head" || true), Last-Modified $(grep -ci '^last-modified:' "$work/head" || true)"
        kill $own
        wait $own || true
    done 2> /dev/null
}
expected='without a type: 206, ETag 0, Last-Modified 0
with one for all: 206, ETag 1, Last-Modified 1'
seen=$(run)
echo "$seen"
[ "$seen" = "$expected" ] && echo "as found" || { echo "changed"; exit 1; }

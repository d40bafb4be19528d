#!/bin/bash
# nginx: after a file is replaced, a cache of slices answers with parts of both files, for as long as it keeps the old ones.
#
# Version: nginx 1.22.1-9+deb12u11 (Debian 12) with its slice module, as cache and as origin.
#
# Expected: the module compares the ETag of each slice with that of the first one, so that a client gets one file. After a
# replacement the answer is either the old file or the new one.
#
# Found: it compares within one request only. Ranges that lie in slices which were cached before are 206 with the old bytes
# and the old ETag, others are 206 with the new ones. So opening the file again does not help: its beginning is old, the rest
# new. Only a request that spans both, as one for the whole file, is aborted, after its status and its first slices.
#
# Output seen:
#   before: first slice old
#   after: first slice old, second slice new
#   asked again: first slice old, second slice new
#   both at once: curl ends with an error
#   as found
set -euo pipefail
export PATH=$PATH:/usr/sbin
for program in nginx curl python3; do
    command -v "$program" > /dev/null || { echo "needs nginx, curl and python3: apt-get install nginx curl python3"; exit 77; }
done
dpkg-query -W nginx
work=$(mktemp -d)
server=""
trap '[ -z "$server" ] || { kill "$server"; wait "$server" || true; } 2> /dev/null; rm -rf "$work"' EXIT
chmod 755 "$work"
mkdir "$work/www"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
python3 - "$work" << 'PYTHON'
import sys
for name, byte in (("www/file.bin", b"o"), ("next.bin", b"n")):
    with open(sys.argv[1] + "/" + name, "wb") as file: file.write(byte * (2 << 20))
PYTHON
touch -d '1 hour ago' "$work/www/file.bin"
origin=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat > "$work/n.conf" << CONF
daemon off; master_process off; pid $work/n.pid; error_log $work/n.err;
events {}
http {
  access_log off;
  client_body_temp_path $work/t1; proxy_temp_path $work/t2; fastcgi_temp_path $work/t3; uwsgi_temp_path $work/t4; scgi_temp_path $work/t5;
  proxy_cache_path $work/cache keys_zone=c:1m;
  server { listen 127.0.0.1:$origin; root $work/www; }
  server {
    listen 127.0.0.1:$port;
    location / {
      slice 1m; proxy_cache c; proxy_cache_key \$uri\$slice_range; proxy_set_header Range \$slice_range;
      proxy_cache_valid 200 206 1h; proxy_pass http://127.0.0.1:$origin;
    }
  }
}
CONF
nginx -e "$work/n.err" -c "$work/n.conf" > /dev/null 2>&1 &
server=$!
for _ in $(seq 100); do (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null && break; sleep 0.1; done
slice() {
    case $(curl -s -r "$1-$(($1 + 9))" "http://127.0.0.1:$port/file.bin") in oooooooooo) echo old;; nnnnnnnnnn) echo new;; *) echo "?";; esac
}
both() { curl -s -o /dev/null "http://127.0.0.1:$port/file.bin" && echo "curl ends well" || echo "curl ends with an error"; }
run() {
    echo "before: first slice $(slice 0)"
    mv "$work/next.bin" "$work/www/file.bin"
    echo "after: first slice $(slice 0), second slice $(slice 1500000)"
    echo "asked again: first slice $(slice 0), second slice $(slice 1500000)"
    echo "both at once: $(both)"
}
expected='before: first slice old
after: first slice old, second slice new
asked again: first slice old, second slice new
both at once: curl ends with an error'
seen=$(run)
echo "$seen"
[ "$seen" = "$expected" ] && echo "as found" || { echo "changed"; exit 1; }

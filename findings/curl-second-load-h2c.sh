#!/bin/bash
# curl of Debian 12: of several loads over HTTP/2 without TLS, the first alone works.
#
# Version: curl 7.88.1-10+deb12u15 (Debian 12; libcurl 7.88.1, nghttp2 1.52.0), nginx 1.22.1-9+deb12u11 for the server; beside it
# pycurl 7.49.0 (libcurl 8.23.0).
#
# Expected: --http2-prior-knowledge speaks HTTP/2 at once, and all loads to one host share the connection, one after the other or
# at the same time, as they do over TLS.
#
# Found: the first load of a connection is answered. Each further one ends at once with 16, "Error in the HTTP2 framing layer" (an
# empty text by the library), before anything is sent, also when the first has long ended. Over TLS all work, and so does
# libcurl 8.23.0. A test bench of an HTTP/2 client that leaves TLS out so shows failures that no user has, and a tile server
# behind a proxy that speaks h2c is out of reach.
#
# Output seen:
#   Debian, TLS, one after the other: 200 200 200 200
#   Debian, TLS, at once: 200 200 200 200
#   Debian, h2c, one after the other: 200 16 16 16
#   Debian, h2c, at once: 16 16 16 200
#   8.23.0, h2c, one after the other: 200 200 200 200
set -euo pipefail
export PATH=/usr/bin:$PATH:/usr/sbin
for program in nginx curl openssl python3; do
    command -v "$program" > /dev/null || { echo "needs nginx, curl, openssl and python3"; exit 77; }
done
dpkg-query -W curl libcurl4 nginx-core nginx 2> /dev/null || true
case $(curl --version) in *libcurl/7.88.1*) ;; *) echo "needs curl 7.88.1 of Debian 12"; exit 77 ;; esac
work=$(mktemp -d)
server=""
trap '[ -z "$server" ] || { kill "$server"; wait "$server" || true; } 2> /dev/null; rm -rf "$work"' EXIT
chmod 755 "$work"
python3 -m venv "$work/venv" || exit 77
"$work/venv/bin/pip" -q install --disable-pip-version-check --only-binary :all: pycurl==7.49.0 ||
    { echo "needs a package index with a wheel of pycurl"; exit 77; }
free() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
plain=$(free) tls=$(free)
openssl req -x509 -newkey rsa:2048 -nodes -keyout "$work/key" -out "$work/certificate" -days 2 -subj /CN=localhost 2> /dev/null
mkdir "$work/www"
echo tile > "$work/www/tile"
cat > "$work/n.conf" << CONF
daemon off;
pid $work/pid;
error_log $work/errors;
events {}
http {
    access_log off;
    client_body_temp_path $work/1; proxy_temp_path $work/2; fastcgi_temp_path $work/3; uwsgi_temp_path $work/4; scgi_temp_path $work/5;
    root $work/www;
    server { listen 127.0.0.1:$plain http2; }
    server { listen 127.0.0.1:$tls ssl http2; ssl_certificate $work/certificate; ssl_certificate_key $work/key; }
}
CONF
nginx -c "$work/n.conf" -p "$work" 2> /dev/null &
server=$!
for _ in $(seq 100); do (exec 3<> "/dev/tcp/127.0.0.1/$plain") 2> /dev/null && break; sleep 0.1; done
# The status of each of four loads, or curl's code if there is none.
loads() {
    local urls=()
    for _ in 1 2 3 4; do urls+=("$1/tile" -o /dev/null); done
    curl -s -k "${@:2}" -w '%{http_code} %{exitcode}\n' "${urls[@]}" 2> /dev/null | awk '/^[0-9]+ [0-9]+/ { print $1 == "000" ? $2 : $1 }' || true
}
line() { echo "$1: $(tr '\n' ' ' | sed 's/ $//')"; }
{
    loads "https://127.0.0.1:$tls" --http2 | line "Debian, TLS, one after the other"
    loads "https://127.0.0.1:$tls" --http2 -Z | sort | line "Debian, TLS, at once"
    loads "http://127.0.0.1:$plain" --http2-prior-knowledge | line "Debian, h2c, one after the other"
    loads "http://127.0.0.1:$plain" --http2-prior-knowledge -Z | sort | line "Debian, h2c, at once"
    "$work/venv/bin/python" - "$plain" << 'PY' | line "8.23.0, h2c, one after the other"
import pycurl, sys
easy = pycurl.Curl()
easy.setopt(pycurl.URL, f"http://127.0.0.1:{sys.argv[1]}/tile")
easy.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE)
easy.setopt(pycurl.WRITEFUNCTION, lambda piece: None)
for _ in range(4):
    easy.perform()
    print(easy.getinfo(pycurl.RESPONSE_CODE))
PY
} | tee "$work/seen"
diff "$work/seen" <(sed -n 's/^#   //p' "$0") && echo "as found"

#!/bin/bash
# curl of Debian 12: each HTTP/2 load beyond the server's limit gets a connection of its own.
#
# Version: curl 7.88.1-10+deb12u15 (Debian 12; libcurl 7.88.1), nginx 1.22.1-9+deb12u11 with http2_max_concurrent_streams 8 (128 by
# default).
#
# Expected: --parallel prefers to wait for a stream to more connections (CURLOPT_PIPEWAIT, which the program sets unless
# --parallel-immediate is given). If it does make a second connection, that one takes eight loads, too.
#
# Found: the first connection takes its eight, as the limit says. Each further load opens a connection and stays alone on it: the new
# connections are not shared while they are made, nor afterwards. 24 tiles at once so are 17 handshakes, more than HTTP/1.1 with its six
# connections would need; below the limit there is one. libcurl 8 puts too many loads on one connection instead.
#
# Output seen:
#   8 loads: 8 times 200, connections 1, loads on them 8
#   24 loads: 24 times 200, connections 17, loads on them 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 8
set -euo pipefail
export PATH=/usr/bin:$PATH:/usr/sbin
for program in nginx curl openssl; do
    command -v "$program" > /dev/null || { echo "needs nginx, curl and openssl"; exit 77; }
done
dpkg-query -W curl libcurl4 nginx
case $(curl --version) in *libcurl/7.88.1*) ;; *) echo "needs curl 7.88.1 of Debian 12"; exit 77 ;; esac
work=$(mktemp -d)
server=""
trap '[ -z "$server" ] || { kill "$server"; wait "$server" || true; } 2> /dev/null; rm -rf "$work"' EXIT
chmod 755 "$work"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
openssl req -x509 -newkey rsa:2048 -nodes -keyout "$work/key" -out "$work/certificate" -days 2 -subj /CN=localhost 2> /dev/null
mkdir "$work/www"
head -c 100000 /dev/zero > "$work/www/tile"
cat > "$work/n.conf" << CONF
daemon off;
pid $work/pid;
error_log $work/errors;
events {}
http {
    log_format connections '\$connection \$status';
    access_log $work/log connections;
    client_body_temp_path $work/1; proxy_temp_path $work/2; fastcgi_temp_path $work/3; uwsgi_temp_path $work/4; scgi_temp_path $work/5;
    root $work/www;
    limit_rate 100k;
    http2_max_concurrent_streams 8;
    server { listen 127.0.0.1:$port ssl http2; ssl_certificate $work/certificate; ssl_certificate_key $work/key; }
}
CONF
nginx -c "$work/n.conf" -p "$work" 2> /dev/null &
server=$!
for _ in $(seq 100); do (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null && break; sleep 0.1; done
for count in 8 24; do
    : > "$work/log"
    urls=()
    for _ in $(seq $count); do urls+=("https://127.0.0.1:$port/tile" -o /dev/null); done
    good=$(curl -s -k --http2 -Z --parallel-max 50 -w '%{http_code}\n' "${urls[@]}" 2> /dev/null | grep -c '^200' || true)
    sleep 0.5
    loads=$(cut -d' ' -f1 "$work/log" | sort | uniq -c | awk '{ print $1 }' | sort -n | tr '\n' ' ')
    echo "$count loads: $good times 200, connections $(echo "$loads" | wc -w), loads on them ${loads% }"
done | tee "$work/seen"
diff "$work/seen" <(sed -n 's/^#   //p' "$0") && echo "as found"

#!/bin/bash
# nginx 1.22.1 (Debian's nginx-light), module ngx_http_limit_req.
# Expected: a request beyond the limit gets 429 Too Many Requests, with a Retry-After (RFC 6585, 4).
# Behaviour: it gets 503 Service Unavailable. With "limit_req_status 429" it gets 429. Neither answer has a Retry-After, so
# that a client cannot learn from it when to return. Each refused request counts nothing: after a pause of 1 / rate one
# more is served.
# Output seen:
#   nginx version: nginx/1.22.1
#   default: 200 503 503 503, Retry-After: none, after 1.2 s: 200
#   limit_req_status 429: 200 429 429 429, Retry-After: none, after 1.2 s: 200
# Exits with 1 if that changes.
set -euo pipefail
PATH=$PATH:/usr/sbin
command -v nginx >/dev/null || { echo "nginx is missing: apt-get install nginx-light" >&2; exit 2; }
nginx -v 2>&1
folder=$(mktemp -d)
process=
finish() { [ -z "$process" ] || kill "$process" 2>/dev/null || true; rm -rf "$folder"; }
trap finish EXIT
mkdir "$folder/root" "$folder/temporary"
echo tile > "$folder/root/tile"
port=$((20000 + RANDOM % 20000))
cat > "$folder/nginx.conf" <<EOF
daemon off; master_process off; pid $folder/pid; error_log $folder/error.log;
events {}
http {
    access_log off; client_body_temp_path $folder/temporary; proxy_temp_path $folder/temporary;
    fastcgi_temp_path $folder/temporary; scgi_temp_path $folder/temporary; uwsgi_temp_path $folder/temporary;
    limit_req_zone \$server_port zone=first:1m rate=1r/s;
    limit_req_zone \$server_port zone=second:1m rate=1r/s;
    server { listen 127.0.0.1:$port; root $folder/root; limit_req zone=first; }
    server { listen 127.0.0.1:$((port + 1)); root $folder/root; limit_req zone=second; limit_req_status 429; }
}
EOF
nginx -p "$folder" -c "$folder/nginx.conf" 2>/dev/null &
process=$!
for _ in $(seq 50); do (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep .1; done

failed=0
check() { # name, port, expected status of refusals
    local statuses="" retry=none status headers
    # Four requests on one connection, within the same second.
    headers=$(curl -s -o /dev/null -D - "http://127.0.0.1:$2/tile" -o /dev/null "http://127.0.0.1:$2/tile" \
        -o /dev/null "http://127.0.0.1:$2/tile" -o /dev/null "http://127.0.0.1:$2/tile")
    statuses=$(sed -n 's/^HTTP\/1.1 \([0-9]*\).*/\1/p' <<< "$headers" | tr '\n' ' ')
    if grep -qi '^retry-after' <<< "$headers"; then retry=$(grep -i '^retry-after' <<< "$headers" | head -1); fi
    sleep 1.2
    status=$(curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:$2/tile")
    echo "$1: ${statuses% }, Retry-After: $retry, after 1.2 s: $status"
    [ "$statuses" = "200 $3 $3 $3 " ] && [ "$retry" = none ] && [ "$status" = 200 ] || failed=1
}
check default "$port" 503
check "limit_req_status 429" $((port + 1)) 429
exit $failed

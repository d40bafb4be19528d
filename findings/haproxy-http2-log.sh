#!/bin/bash
# HAProxy: its log has the path for HTTP/1.1, and a whole address for the same request over HTTP/2.
#
# Version: haproxy 2.6.12-1+deb12u4 (Debian 12), `option httplog clf`; h2 4.4.1 for the client of HTTP/2, curl for HTTP/1.1.
#
# Expected: one client loads one tile by the one and the other version, and the request in the log is "GET /12/34/56.png HTTP/...",
# as with nginx, Apache and the common log format.
#
# Found: over HTTP/2 it is "GET http://tiles.test/12/34/56.png HTTP/2.0": the address that HAProxy makes of :scheme, :authority and
# :path, whose :path is the same as the path of HTTP/1.1. A reader that takes what follows the method for a path finds no
# z/x/y at its beginning, and half of a map's tiles are missing, according to what each browser spoke. The status of a load that is
# cancelled before its answer is -1, which a pattern of three digits drops.
#
# Output seen:
#   HTTP/1.1: "GET /12/34/56.png HTTP/1.1" 200
#   HTTP/2: "GET http://tiles.test/12/34/56.png HTTP/2.0" 200
#   HTTP/2, cancelled before its answer: "GET http://tiles.test/12/34/56.png HTTP/2.0" -1
set -euo pipefail
export PATH=$PATH:/usr/sbin
for program in haproxy curl python3; do
    command -v "$program" > /dev/null || { echo "needs haproxy, curl and python3: apt-get install haproxy curl python3-venv"; exit 77; }
done
dpkg-query -W haproxy
work=$(mktemp -d)
server=""
trap '[ -z "$server" ] || { kill "$server"; wait "$server" || true; } 2> /dev/null; rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 77
"$work/venv/bin/pip" -q install --disable-pip-version-check h2==4.4.1 || { echo "needs a package index"; exit 77; }
free() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
port=$(free) origin=$(free)
cat > "$work/ha.conf" << CONF
global
    log stdout format raw local0
defaults
    mode http
    log global
    option httplog clf
    timeout client 20s
    timeout server 20s
    timeout connect 5s
frontend tiles
    bind 127.0.0.1:$port
    default_backend origin
backend origin
    server origin 127.0.0.1:$origin
CONF
haproxy -db -f "$work/ha.conf" > "$work/log" 2> "$work/said" &
server=$!
for _ in $(seq 200); do (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null && break; sleep 0.1; done
"$work/venv/bin/python" - "$port" "$origin" "$work/log" << 'PY' | tee "$work/seen"
import subprocess
import http.server, os, socket, sys, threading, time
import h2.connection, h2.errors, h2.events

class Origin(http.server.BaseHTTPRequestHandler):
    """Answers after a second; /big with 5 MB, others with 1000 bytes."""
    def log_message(self, *_): pass
    def do_GET(self):
        time.sleep(1)
        size = 5_000_000 if self.path.endswith("/big") else 1000
        try:
            self.send_response(200)
            self.send_header("Content-Length", str(size))
            self.end_headers()
            self.wfile.write(bytes(size))
        except OSError: pass

def load(port, path, limit=None, seconds=20):
    """Loads with HTTP/2, and cancels after so many bytes or seconds. Returns how many bytes came."""
    stream, connection = socket.create_connection(("127.0.0.1", port)), h2.connection.H2Connection()
    stream.settimeout(0.02)
    connection.initiate_connection()
    connection.send_headers(1, [(":method", "GET"), (":path", path), (":scheme", "http"), (":authority", "tiles.test")], end_stream=True)
    came, ended, end = 0, False, time.monotonic() + seconds
    while not ended and (limit is None or came <= limit) and time.monotonic() < end:
        stream.sendall(connection.data_to_send())
        try: data = stream.recv(4096)
        except TimeoutError: continue
        for event in connection.receive_data(data):
            if isinstance(event, h2.events.StreamEnded): ended = True
            elif isinstance(event, h2.events.DataReceived):
                came += len(event.data)
                connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
    if not ended: connection.reset_stream(1, h2.errors.ErrorCodes.CANCEL)
    stream.sendall(connection.data_to_send())
    time.sleep(0.3)
    stream.close()
    return came

port, origin = map(int, sys.argv[1:3])
threading.Thread(target=http.server.ThreadingHTTPServer(("127.0.0.1", origin), Origin).serve_forever, daemon=True).start()

def show(name, load):
    load()
    time.sleep(1)
    with open(sys.argv[3]) as file: line = [line for line in file if "GET" in line][-1]
    request, rest = line.split('] "')[1].split('" ', 1)
    print(f'{name}: "{request}" {rest.split()[0]}', flush=True)

tile = "/12/34/56.png"
curl = ["curl", "-s", "-o", "/dev/null", "--http1.1", "-H", "Host: tiles.test", f"http://127.0.0.1:{port}{tile}"]
show("HTTP/1.1", lambda: subprocess.run(curl, check=True))
show("HTTP/2", lambda: load(port, tile))
show("HTTP/2, cancelled before its answer", lambda: load(port, tile, seconds=0.4))
PY
diff "$work/seen" <(sed -n 's/^#   //p' "$0") && echo "as found"

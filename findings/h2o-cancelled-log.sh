#!/bin/bash
# H2O: a load that is cancelled before its answer is logged with the status 0.
#
# Version: h2o 2.2.5+dfsg2-7 (Debian 12), its usual format of the log; h2 4.4.1 for the client.
#
# Expected: a status of three digits, as readers of the common and the combined format want it. nginx and Caddy have 499 for what the
# client has cancelled, Apache has 200.
#
# Found: the status is the one digit 0. A reader with a pattern of three digits drops the line as broken, so that the loads which a map
# gave up are missing, and one that takes the text as a number sorts it below 100. A load that is cancelled amid its answer is 200 with
# the bytes that were sent.
#
# Output seen:
#   read: "GET /late/1 HTTP/2" 200 1000
#   cancelled before its answer: "GET /late/2 HTTP/2" 0 0
#   cancelled amid its answer: "GET /late/big HTTP/2" 200, a part of the bytes
set -euo pipefail
export PATH=$PATH:/usr/sbin
for program in h2o python3; do
    command -v "$program" > /dev/null || { echo "needs h2o and python3: apt-get install h2o python3-venv"; exit 77; }
done
dpkg-query -W h2o
work=$(mktemp -d)
server=""
trap '[ -z "$server" ] || { kill "$server"; wait "$server" || true; } 2> /dev/null; rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 77
"$work/venv/bin/pip" -q install --disable-pip-version-check h2==4.4.1 || { echo "needs a package index"; exit 77; }
free() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
port=$(free) origin=$(free)
cat > "$work/h.conf" << CONF
access-log: $work/log
num-threads: 1
user: $(id -un)
listen: {host: 127.0.0.1, port: $port}
hosts:
  default:
    paths:
      "/late": {proxy.reverse.url: "http://127.0.0.1:$origin/"}
CONF
h2o -c "$work/h.conf" > "$work/said" 2>&1 &
server=$!
for _ in $(seq 200); do (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null && break; sleep 0.1; done
"$work/venv/bin/python" - "$port" "$origin" "$work/log" << 'PY' | tee "$work/seen"
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

def show(name, path, **how):
    load(port, path, **how)
    time.sleep(1.5)
    with open(sys.argv[3]) as file: request, rest = file.read().splitlines()[-1].split('] "')[1].split('" ', 1)
    status, size = rest.split()[:2]
    part = how.get("limit") and 100_000 < int(size) < 4_000_000
    print(f'{name}: "{request}" {status}' + (", a part of the bytes" if part else f" {size}"), flush=True)

show("read", "/late/1")
show("cancelled before its answer", "/late/2", seconds=0.4)
show("cancelled amid its answer", "/late/big", limit=100_000)
PY
diff "$work/seen" <(sed -n 's/^#   //p' "$0") && echo "as found"

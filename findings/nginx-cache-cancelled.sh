#!/bin/bash
# nginx: with a cache, loads that the client cancels go on at the origin.
#
# Version: nginx 1.22.1-9+deb12u11 (Debian 12); h2 4.4.1 for the client.
#
# Expected: proxy_ignore_client_abort is off by default, which its documentation puts so: the connection to the proxied server is
# closed when the client closes its own without waiting for an answer. A stream that is reset is the same for HTTP/2.
#
# Found: so it is without proxy_cache: status 499, and the origin sees the end at once. With it, a load that is cancelled while
# the origin works is waited for, and logged as 200 with 0 bytes; one that is cancelled amid its answer is fetched to the end. A
# renderer of tiles behind a cache so makes all the tiles of a pan that nobody waits for any more, and cancelling does not
# bring the wanted ones any sooner. What was fetched to the end is in the cache.
#
# Output seen:
#   plain, cancelled before the answer: origin ended within 0.5 s, logged 499
#   plain, cancelled amid the answer: origin sent a part, logged 200
#   cache, cancelled before the answer: origin worked to the end, logged 200
#   cache, cancelled amid the answer: origin sent all, logged 200
set -euo pipefail
export PATH=$PATH:/usr/sbin
for program in nginx python3; do
    command -v "$program" > /dev/null || { echo "needs nginx and python3: apt-get install nginx python3-venv"; exit 77; }
done
dpkg-query -W nginx
work=$(mktemp -d)
server=""
trap '[ -z "$server" ] || { kill "$server"; wait "$server" || true; } 2> /dev/null; rm -rf "$work"' EXIT
chmod 755 "$work"
python3 -m venv "$work/venv" || exit 77
"$work/venv/bin/pip" -q install --disable-pip-version-check h2==4.4.1 || { echo "needs a package index"; exit 77; }
free() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
port=$(free) origin=$(free)
cat > "$work/n.conf" << CONF
daemon off; master_process off; pid $work/n.pid; error_log $work/n.err;
events {}
http {
  log_format seen '\$uri \$status';
  access_log $work/log seen;
  client_body_temp_path $work/t1; proxy_temp_path $work/t2; fastcgi_temp_path $work/t3; uwsgi_temp_path $work/t4;
  scgi_temp_path $work/t5; proxy_cache_path $work/cache keys_zone=c:1m;
  server {
    listen 127.0.0.1:$port http2;
    location /plain/ { proxy_pass http://127.0.0.1:$origin; }
    location /cache/ { proxy_pass http://127.0.0.1:$origin; proxy_cache c; proxy_cache_valid 200 1h; }
  }
}
CONF
nginx -e "$work/n.err" -c "$work/n.conf" > /dev/null 2>&1 &
server=$!
for _ in $(seq 100); do (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null && break; sleep 0.1; done
"$work/venv/bin/python" - "$port" "$origin" "$work/log" << 'PY' | tee "$work/seen"
import queue, select, socket, socketserver, sys, threading, time
import h2.connection, h2.errors, h2.events

port, origin, log = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
ends = queue.Queue()

class Origin(socketserver.BaseRequestHandler):
    """Begins to answer after 2 seconds, unless the connection ends; or at once, and goes on for 2 seconds."""
    def handle(self):
        path = self.request.recv(65536).split()[1]
        if b"late" in path:
            begin = time.monotonic()
            if select.select([self.request], [], [], 2)[0]:
                waited = time.monotonic() - begin
                return ends.put(f"ended within {1 if waited > 0.9 else 0.5} s")
            ends.put("worked to the end")
        end = "sent all"
        try:
            self.request.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 20000000\r\nConnection: close\r\n\r\n")
            for _ in range(200):
                self.request.sendall(bytes(100_000))
                time.sleep(0.01)
        except OSError: end = "sent a part"
        if b"amid" in path: ends.put(end)

class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True

threading.Thread(target=Server(("127.0.0.1", origin), Origin).serve_forever, daemon=True).start()
stream = socket.create_connection(("127.0.0.1", port))
stream.settimeout(0.02)
connection = h2.connection.H2Connection()
connection.initiate_connection()
came = {}

def run(seconds, until=lambda: False):
    end = time.monotonic() + seconds
    while not until() and time.monotonic() < end:
        stream.sendall(connection.data_to_send())
        try: data = stream.recv(65536)
        except TimeoutError: continue
        for event in connection.receive_data(data):
            if isinstance(event, h2.events.DataReceived):
                came[event.stream_id] = came.get(event.stream_id, 0) + len(event.data)
                connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
    stream.sendall(connection.data_to_send())

def logged(path):
    with open(log) as file: return [line.split()[1] for line in file if line.split()[0] == path]

for kind in ("plain", "cache"):
    for when, name in (("late", "before"), ("amid", "amid")):
        path, number = f"/{kind}/{when}", connection.get_next_available_stream_id()
        connection.send_headers(number, [(":method", "GET"), (":path", path), (":scheme", "http"), (":authority", "localhost")],
                                end_stream=True)
        run(0.3) if when == "late" else run(20, lambda: came.get(number, 0) > 500_000)
        connection.reset_stream(number, h2.errors.ErrorCodes.CANCEL)
        run(20, lambda: not ends.empty() and logged(path))
        print(f"{kind}, cancelled {name} the answer: origin {ends.get(timeout=20)}, logged {logged(path)[0]}", flush=True)
PY
diff "$work/seen" <(sed -n 's/^#   //p' "$0") && echo "as found"

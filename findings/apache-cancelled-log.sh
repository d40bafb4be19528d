#!/bin/bash
# Apache: a file whose load is cancelled over HTTP/2 is logged with all of its bytes.
#
# Version: apache2 2.4.71-1~deb12u1 (Debian 12), mpm_event, mod_http2 2.0.42 and mod_proxy_http; h2 4.4.1 for the client.
#
# Expected: %b of the common log format is the size of the answer without its header, as far as it was sent.
#
# Found: with mod_http2 %b is what the handler gave to the connection, not what was sent. A file of which 3 % went out is logged
# with 200 and its whole size, and so is mostly a load that is cancelled before its answer has begun, as soon as the origin has
# answered. In the common and the combined format such loads look like complete ones: a replay of the log loads
# what nobody saw. %O (mod_logio) is what was sent. %X is X for them, but at times for loads that were read, too.
#
# Output seen:
#   late, read: 200 1000, sent 1000 or more
#   late, cancelled before its answer: 200 with 1000 bytes or none, sent 0
#   file, cancelled after 100000 bytes: 200 5000000, sent less than 1000000
set -euo pipefail
export PATH=$PATH:/usr/sbin
for program in apache2 python3; do
    command -v "$program" > /dev/null || { echo "needs apache2 and python3: apt-get install apache2-bin python3-venv"; exit 77; }
done
dpkg-query -W apache2-bin
work=$(mktemp -d)
server=""
trap '[ -z "$server" ] || { kill "$server"; wait "$server" || true; } 2> /dev/null; rm -rf "$work"' EXIT
chmod 755 "$work"
mkdir "$work/www"
python3 -m venv "$work/venv" || exit 77
"$work/venv/bin/pip" -q install --disable-pip-version-check h2==4.4.1 || { echo "needs a package index"; exit 77; }
free() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
port=$(free) origin=$(free) modules=/usr/lib/apache2/modules
python3 -c 'import sys; open(sys.argv[1], "wb").write(bytes(5000000))' "$work/www/file"
cat > "$work/a.conf" << CONF
ServerName localhost
ServerRoot $work
PidFile $work/pid
ErrorLog $work/errors
Listen 127.0.0.1:$port
LoadModule mpm_event_module $modules/mod_mpm_event.so
LoadModule authz_core_module $modules/mod_authz_core.so
LoadModule http2_module $modules/mod_http2.so
LoadModule proxy_module $modules/mod_proxy.so
LoadModule proxy_http_module $modules/mod_proxy_http.so
Protocols h2c http/1.1
StartServers 1
ServerLimit 1
ThreadsPerChild 50
MaxRequestWorkers 50
DocumentRoot $work/www
ProxyPass /late http://127.0.0.1:$origin/
LogFormat "%U %>s %b %O" seen
CustomLog $work/log seen
CONF
apache2 -f "$work/a.conf" -DFOREGROUND > /dev/null 2>&1 &
server=$!
for _ in $(seq 100); do (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null && break; sleep 0.1; done
"$work/venv/bin/python" - "$port" "$origin" "$work/log" << 'PY' | tee "$work/seen"
import http.server, os, socket, sys, threading, time
import h2.connection, h2.errors, h2.events

port, origin, log = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]

class Origin(http.server.BaseHTTPRequestHandler):
    """Answers 1000 bytes after a second."""
    def log_message(self, *_): pass
    def do_GET(self):
        time.sleep(1)
        try:
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(bytes(1000))
        except OSError: pass

threading.Thread(target=http.server.ThreadingHTTPServer(("127.0.0.1", origin), Origin).serve_forever, daemon=True).start()
came, ended = {}, set()

def run(stream, connection, seconds, until=lambda: False):
    end = time.monotonic() + seconds
    while not until() and time.monotonic() < end:
        stream.sendall(connection.data_to_send())
        try: data = stream.recv(4096)
        except TimeoutError: continue
        for event in connection.receive_data(data):
            if isinstance(event, h2.events.StreamEnded): ended.add(event.stream_id)
            elif isinstance(event, h2.events.DataReceived):
                came[event.stream_id] = came.get(event.stream_id, 0) + len(event.data)
                connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
    stream.sendall(connection.data_to_send())

def lines():
    with open(log) as file: return file.read().splitlines()

def load(name, path, until, seconds=20):
    before = len(lines())
    came.clear()
    ended.clear()
    stream, connection = socket.create_connection(("127.0.0.1", port)), h2.connection.H2Connection()
    stream.settimeout(0.02)
    connection.initiate_connection()
    connection.send_headers(1, [(":method", "GET"), (":path", path), (":scheme", "http"), (":authority", "localhost")],
                            end_stream=True)
    run(stream, connection, seconds, until)
    if not ended: connection.reset_stream(1, h2.errors.ErrorCodes.CANCEL)
    run(stream, connection, 20, lambda: len(lines()) > before)
    _, status, size, sent = lines()[-1].split()
    sent = next(text for least, text in ((1_000_000, sent), (100_000, "less than 1000000"), (1000, "1000 or more"), (0, sent))
                if int(sent) >= least)
    if "before" in name and size in ("1000", "-"): size = "with 1000 bytes or none"
    print(f"{name}: {status} {size}, sent {sent}", flush=True)

load("late, read", "/late", lambda: ended)
load("late, cancelled before its answer", "/late", lambda: False, 0.4)
load("file, cancelled after 100000 bytes", "/file", lambda: came.get(1, 0) > 100_000)
PY
diff "$work/seen" <(sed -n 's/^#   //p' "$0") && echo "as found"

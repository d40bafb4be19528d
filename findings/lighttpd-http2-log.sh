#!/bin/bash
# lighttpd: over HTTP/2 its log has a line for each connection, with the bytes of all its loads again, and none for cancelled loads.
#
# Version: lighttpd 1.4.69-1 (Debian 12), mod_accesslog and mod_proxy; h2 4.4.1 for the client.
#
# Expected: one line for each request, as over HTTP/1.1: one that is cancelled before its answer with a status such as 499 of nginx
# or with no bytes.
#
# Found: a load that is cancelled before its answer leaves no line. But each connection leaves one when it ends: "PRI * HTTP/2.0",
# the first words of HTTP/2, with status 100 and all bytes of the connection, those of its loads included, and its whole length as the
# time. Sums over the log count each byte twice, the mean time is that of connections, and the loads that a map gave up are missing.
#
# Output seen:
#   read: "GET /late/1 HTTP/2.0" 200, 1000 bytes; "PRI * HTTP/2.0" 100, more than 1000 bytes
#   cancelled before its answer: "PRI * HTTP/2.0" 100, less than 200 bytes
#   two read on one connection: "GET /late/3 HTTP/2.0" 200, 1000 bytes; "GET /late/4 HTTP/2.0" 200, 1000 bytes; "PRI * HTTP/2.0" 100, more than 2000 bytes
set -euo pipefail
export PATH=$PATH:/usr/sbin
for program in lighttpd python3; do
    command -v "$program" > /dev/null || { echo "needs lighttpd and python3: apt-get install lighttpd python3-venv"; exit 77; }
done
dpkg-query -W lighttpd
work=$(mktemp -d)
server=""
trap '[ -z "$server" ] || { kill "$server"; wait "$server" || true; } 2> /dev/null; rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 77
"$work/venv/bin/pip" -q install --disable-pip-version-check h2==4.4.1 || { echo "needs a package index"; exit 77; }
free() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
port=$(free) origin=$(free)
cat > "$work/l.conf" << CONF
server.document-root = "$work"
server.port = $port
server.bind = "127.0.0.1"
server.modules = ("mod_accesslog", "mod_proxy")
server.feature-flags = ("server.h2proto" => "enable", "server.h2c" => "enable")
server.max-keep-alive-idle = 1
accesslog.filename = "$work/log"
accesslog.format = "\"%r\" %s %b"
proxy.server = ("/late" => (("host" => "127.0.0.1", "port" => $origin)))
CONF
lighttpd -D -f "$work/l.conf" > "$work/said" 2>&1 &
server=$!
for _ in $(seq 200); do (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null && break; sleep 0.1; done
"$work/venv/bin/python" - "$port" "$origin" "$work/log" << 'PY' | tee "$work/seen"
import http.server, os, socket, sys, threading, time
import h2.connection, h2.errors, h2.events

class Origin(http.server.BaseHTTPRequestHandler):
    """Answers with 1000 bytes after a second."""
    def log_message(self, *_): pass
    def do_GET(self):
        time.sleep(1)
        try:
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(bytes(1000))
        except OSError: pass

def load(port, paths, seconds=20):
    """Loads one after the other on a connection of HTTP/2; cancels after so many seconds."""
    stream, connection = socket.create_connection(("127.0.0.1", port)), h2.connection.H2Connection()
    stream.settimeout(0.02)
    connection.initiate_connection()
    for path in paths:
        number, ended, end = connection.get_next_available_stream_id(), False, time.monotonic() + seconds
        connection.send_headers(number, [(":method", "GET"), (":path", path), (":scheme", "http"), (":authority", "tiles.test")],
                                end_stream=True)
        while not ended and time.monotonic() < end:
            stream.sendall(connection.data_to_send())
            try: data = stream.recv(4096)
            except TimeoutError: continue
            ended = any(isinstance(event, h2.events.StreamEnded) for event in connection.receive_data(data))
        if not ended: connection.reset_stream(number, h2.errors.ErrorCodes.CANCEL)
        stream.sendall(connection.data_to_send())
    time.sleep(0.3)
    stream.close()

port, origin = map(int, sys.argv[1:3])
threading.Thread(target=http.server.ThreadingHTTPServer(("127.0.0.1", origin), Origin).serve_forever, daemon=True).start()

def show(name, *paths, **how):
    with open(sys.argv[3]) as file: before = len(file.read().splitlines())
    load(port, paths, **how)
    lines, end = [], time.monotonic() + 15
    while not any("PRI" in line for line in lines) and time.monotonic() < end:
        time.sleep(0.5)
        with open(sys.argv[3]) as file: lines = file.read().splitlines()[before:]
    texts = []
    for line in lines:
        request, status, size = line.rsplit(" ", 2)
        about = "less than 200" if "PRI" in line and int(size) < 200 else size if "GET" in line else f"more than {int(size) // 1000 * 1000}"
        texts.append(f"{request} {status}, {about} bytes")
    print(f"{name}: {'; '.join(texts)}", flush=True)

show("read", "/late/1")
show("cancelled before its answer", "/late/2", seconds=0.4)
show("two read on one connection", "/late/3", "/late/4")
PY
diff "$work/seen" <(sed -n 's/^#   //p' "$0") && echo "as found"

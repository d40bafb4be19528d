#!/bin/bash
# Apache: loads that a client cancels over HTTP/2 make the next ones wait.
#
# Version: apache2 2.4.71-1~deb12u1 (Debian 12), mpm_event, mod_http2 2.0.42 and mod_proxy_http; h2 4.4.1 for the client.
#
# Expected: a connection may have 100 requests at once (H2MaxSessionStreams), and works on as many of them as there are workers.
# Cancelling is the usual way of HTTP/2 to say that a tile has left the view; the next tiles are not the worse for it.
#
# Found: mod_http2 has a limit of its own for each connection, which no directive sets. It begins with 6, grows while answers
# are read to their end, and is lowered by loads that are cancelled before their answer has begun: after one screen of 24
# cancelled tiles 2 of the next 24 are worked on at first, and the other 22 wait, though the workers are idle. So the
# tiles of the place where a map stops are slower for those that were cancelled on the way. It grows again with what is read.
#
# Output seen:
#   a new connection: 6 of 24 loads begin at once
#   after loads that were read: 24 of 24 loads begin at once
#   after 24 more that were read: 24 of 24 loads begin at once
#   after 24 that were cancelled: 2 of 24 loads begin at once
#   after loads that were read: 24 of 24 loads begin at once
set -euo pipefail
export PATH=$PATH:/usr/sbin
for program in apache2 python3; do
    command -v "$program" > /dev/null || { echo "needs apache2 and python3: apt-get install apache2-bin python3-venv"; exit 77; }
done
dpkg-query -W apache2-bin
work=$(mktemp -d)
server=""
trap '[ -z "$server" ] || { kill "$server"; wait "$server" || true; } 2> /dev/null; rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 77
"$work/venv/bin/pip" -q install --disable-pip-version-check h2==4.4.1 || { echo "needs a package index"; exit 77; }
free() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
port=$(free) origin=$(free) modules=/usr/lib/apache2/modules
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
ProxyPass / http://127.0.0.1:$origin/
CONF
apache2 -f "$work/a.conf" -DFOREGROUND > /dev/null 2>&1 &
server=$!
for _ in $(seq 100); do (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null && break; sleep 0.1; done
"$work/venv/bin/python" - "$port" "$origin" << 'PY' | tee "$work/seen"
import http.server, socket, sys, threading, time
import h2.connection, h2.errors, h2.events

port, origin = map(int, sys.argv[1:])
begun = set()

class Origin(http.server.BaseHTTPRequestHandler):
    """Answers after a second."""
    def log_message(self, *_): pass
    def do_GET(self):
        begun.add(self.path)
        time.sleep(1)
        try:
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(bytes(1000))
        except OSError: pass

class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 100

threading.Thread(target=Server(("127.0.0.1", origin), Origin).serve_forever, daemon=True).start()
stream = socket.create_connection(("127.0.0.1", port))
stream.settimeout(0.02)
connection = h2.connection.H2Connection()
connection.initiate_connection()
ended = set()

def run(seconds, until=lambda: False):
    end = time.monotonic() + seconds
    while not until() and time.monotonic() < end:
        stream.sendall(connection.data_to_send())
        try: data = stream.recv(65536)
        except TimeoutError: continue
        if not data: sys.exit("the connection ended")
        for event in connection.receive_data(data):
            if isinstance(event, h2.events.StreamEnded): ended.add(event.stream_id)
            elif isinstance(event, h2.events.DataReceived):
                connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
    stream.sendall(connection.data_to_send())

def start(count):
    numbers = []
    for _ in range(count):
        numbers.append(connection.get_next_available_stream_id())
        connection.send_headers(numbers[-1], [(":method", "GET"), (":path", f"/{numbers[-1]}"), (":scheme", "http"),
                                              (":authority", "localhost")], end_stream=True)
    return numbers

def read(name=None):
    numbers = start(24)
    run(0.6)
    at_once = len(begun & {f"/{number}" for number in numbers})
    run(60, lambda: ended.issuperset(numbers))
    run(0.3)
    if name: print(f"{name}: {at_once} of 24 loads begin at once", flush=True)

run(0.3)
read("a new connection")
for _ in range(3): read()
read("after loads that were read")
read("after 24 more that were read")
numbers = start(24)
run(0.6)
for number in numbers: connection.reset_stream(number, h2.errors.ErrorCodes.CANCEL)
run(2)
read("after 24 that were cancelled")
for _ in range(3): read()
read("after loads that were read")
PY
diff "$work/seen" <(sed -n 's/^#   //p' "$0") && echo "as found"

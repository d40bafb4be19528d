#!/bin/bash
# Hypercorn: after its last request it says that it has taken loads which it never answers.
#
# Version: hypercorn 0.18.0 with h2 4.4.1, keep_alive_max_requests 100 (1000 by default); h2 4.4.1 for the client, too.
#
# Expected: GOAWAY names the last stream that was or will be worked on. Loads up to it are answered, those above may be repeated
# without danger (RFC 9113, 6.8), so that no load is lost when a server ends a connection in an orderly way.
#
# Found: GOAWAY with NO_ERROR names the newest stream that has come, and the loads that came with the one that was too many are
# dropped all the same: of 20 loads at once, when 100 were answered, none is answered, though their numbers are not above the
# one named. They get no reset either; the connection stays open for seconds, and ends. A client that goes by GOAWAY waits
# until then, and reports errors for loads that it could have repeated at once.
#
# Output seen:
#   100 loads, 20 at once: all answered
#   20 more at once: GOAWAY with NO_ERROR, the last stream is the newest, 0 answered, 0 reset, 20 neither
set -euo pipefail
work=$(mktemp -d)
server=""
trap '[ -z "$server" ] || { kill "$server"; wait "$server" || true; } 2> /dev/null; rm -rf "$work"' EXIT
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
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
printf 'bind = "127.0.0.1:%s"\nkeep_alive_max_requests = 100\n' "$port" > "$work/config.toml"
(cd "$work" && exec venv/bin/hypercorn --config config.toml tiles:app) > "$work/log" 2>&1 &
server=$!
for _ in $(seq 100); do (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null && break; sleep 0.1; done
"$work/venv/bin/python" - "$port" << 'PY' | tee "$work/seen"
import socket, sys, time
import h2.connection, h2.events

stream, connection = socket.create_connection(("127.0.0.1", int(sys.argv[1]))), h2.connection.H2Connection()
stream.settimeout(0.02)
connection.initiate_connection()
ended, reset, away = set(), set(), []

def frames(data):
    """Frames of type and stream after GOAWAY, which h2 refuses to read."""
    while len(data) >= 9:
        yield data[3], data[4], int.from_bytes(data[5:9], "big")
        data = data[9 + int.from_bytes(data[:3], "big"):]

def load():
    numbers = []
    for _ in range(20):
        numbers.append(connection.get_next_available_stream_id())
        connection.send_headers(numbers[-1], [(":method", "GET"), (":path", "/"), (":scheme", "http"), (":authority", "localhost")],
                                end_stream=True)
    stream.sendall(connection.data_to_send())
    end = time.monotonic() + 20
    while not ended.issuperset(numbers) and time.monotonic() < end:
        try: data = stream.recv(65536)
        except TimeoutError: continue
        if not data: break
        if not away:
            for event in connection.receive_data(data):
                if isinstance(event, h2.events.StreamEnded): ended.add(event.stream_id)
                elif isinstance(event, h2.events.ConnectionTerminated): away.append(event)
            if not away: stream.sendall(connection.data_to_send())
        else:
            for kind, flags, number in frames(data):
                if kind == 0 and flags & 1: ended.add(number)
                elif kind == 3: reset.add(number)
    return numbers

for _ in range(5): numbers = load()
print("100 loads, 20 at once:", "all answered" if len(ended) == 100 and not away else f"{len(ended)} answered")
numbers = load()
answered, refused = len(ended.intersection(numbers)), len(reset.intersection(numbers))
what = f"GOAWAY with {away[0].error_code.name}, the last stream is {'the newest' if away[0].last_stream_id == numbers[-1] else 'another'}" if away \
    else "no GOAWAY"
print(f"20 more at once: {what}, {answered} answered, {refused} reset, {20 - answered - refused} neither")
PY
diff "$work/seen" <(sed -n 's/^#   //p' "$0") && echo "as found"

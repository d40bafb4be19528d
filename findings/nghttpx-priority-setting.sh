#!/bin/bash
# nghttpx: the header Priority counts only from clients that state a setting, which RFC 9218 leaves to them.
#
# Version: nghttp2-proxy 1.52.0-1+deb12u3 (Debian 12; nghttpx 1.52.0), busybox httpd 1:1.35.0-4+deb12u1+b1 behind it; h2 4.4.1
# for the client.
#
# Expected: nghttpx states SETTINGS_NO_RFC7540_PRIORITIES, so it follows the header Priority of RFC 9218. Clients need not state
# the setting: it says that they will send no old priorities (2.1).
#
# Found: from a client that does not state it in its first SETTINGS the header is left unread. All loads have the same weight, as
# in the tree of the older RFC, and a tile of urgency 0 ends after eight of urgency 6 that were asked for before it. With the
# setting it comes at once. A client that takes the server's statement for a promise has no priorities here.
#
# Output seen:
#   setting of the server: stated
#   client states nothing: of the others' bytes come before the end of the ninth load: urgency 6 all, urgency 0 all
#   client states it, too: of the others' bytes come before the end of the ninth load: urgency 6 all, urgency 0 few
set -euo pipefail
for program in nghttpx busybox python3; do
    command -v "$program" > /dev/null || { echo "needs nghttpx, busybox and python3: apt-get install nghttp2-proxy busybox python3-venv"; exit 77; }
done
dpkg-query -W nghttp2-proxy busybox
work=$(mktemp -d)
servers=()
trap 'for server in "${servers[@]}"; do kill "$server"; wait "$server" || true; done 2> /dev/null; rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 77
"$work/venv/bin/pip" -q install --disable-pip-version-check h2==4.4.1 || { echo "needs a package index"; exit 77; }
free() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
port=$(free) origin=$(free)
mkdir "$work/www"
python3 -c 'import sys; open(sys.argv[1], "wb").write(bytes(400000))' "$work/www/tile"
busybox httpd -f -p "127.0.0.1:$origin" -h "$work/www" &
servers+=($!)
nghttpx --conf=/dev/null "-f127.0.0.1,$port;no-tls" "-b127.0.0.1,$origin" --workers=1 --single-process --errorlog-file="$work/errors" > /dev/null 2>&1 &
servers+=($!)
for number in $origin $port; do
    for _ in $(seq 100); do (exec 3<> "/dev/tcp/127.0.0.1/$number") 2> /dev/null && break; sleep 0.1; done
done
"$work/venv/bin/python" - "$port" << 'PY' | tee "$work/seen"
import socket, sys, time
import h2.connection, h2.events, h2.settings

class Client:
    """Windows of streams are wide, that of the connection is 65535: the server has to choose."""
    def __init__(self, port, states):
        self.stream, self.connection = socket.create_connection(("127.0.0.1", port)), h2.connection.H2Connection()
        self.stream.settimeout(0.02)
        code = h2.settings.SettingCodes.INITIAL_WINDOW_SIZE
        self.connection.local_settings = h2.settings.Settings(client=True, initial_values={code: 1 << 24} | ({9: 1} if states else {}))
        self.connection.initiate_connection()
        self.settings, self.pieces = {}, []
        self.run(lambda: self.settings)

    def run(self, until, seconds=10):
        end = time.monotonic() + seconds
        while not until() and time.monotonic() < end:
            self.stream.sendall(self.connection.data_to_send())
            time.sleep(0.004)  # a slow link: servers have the next pieces of all loads ready
            try: data = self.stream.recv(16384)
            except TimeoutError: continue
            for event in self.connection.receive_data(data):
                if isinstance(event, h2.events.RemoteSettingsChanged):
                    self.settings = {int(key): value.new_value for key, value in event.changed_settings.items()} or {0: 0}
                elif isinstance(event, h2.events.DataReceived):
                    self.pieces.append((event.stream_id, len(event.data)))
                    self.connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)

    def get(self, priority):
        number = self.connection.get_next_available_stream_id()
        headers = [(":method", "GET"), (":path", "/tile"), (":scheme", "http"), (":authority", "localhost")]
        self.connection.send_headers(number, headers + ([("priority", priority)] if priority else []), end_stream=True)
        return number

def ninth(port, states, others, last):
    """The share of the others' rest that comes before the last byte of the ninth load; whether the server states RFC 9218."""
    client = Client(port, states)
    for _ in range(8): client.get(others)
    client.run(lambda: sum(size for _, size in client.pieces) > 600_000)
    before, number = sum(size for _, size in client.pieces), client.get(last)
    def own(): return sum(size for stream, size in client.pieces if stream == number)
    client.run(lambda: own() == 400_000)
    rest = sum(size for stream, size in client.pieces if stream != number) - before
    client.stream.close()
    return rest / (3_200_000 - before), client.settings.get(9) == 1

def share(part): return "few" if part < 0.2 else "all" if part > 0.8 else "some"

port = int(sys.argv[1])
for name, states in (("client states nothing", False), ("client states it, too", True)):
    same, urgent = ninth(port, states, "u=6", "u=6"), ninth(port, states, "u=6", "u=0")
    if not states: print("setting of the server:", "stated" if same[1] else "not stated")
    print(f"{name}: of the others' bytes come before the end of the ninth load: urgency 6 {share(same[0])}, urgency 0 {share(urgent[0])}",
          flush=True)
PY
diff "$work/seen" <(sed -n 's/^#   //p' "$0") && echo "as found"

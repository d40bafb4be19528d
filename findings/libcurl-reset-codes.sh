#!/bin/bash
# libcurl: an HTTP/2 load that is cancelled is reset with STREAM_CLOSED, or with a number that is no code of HTTP/2.
#
# Version: pycurl 7.49.0 (libcurl 8.23.0 with nghttp2 1.70.0 inside), h2 4.4.1 for the server.
#
# Expected: RST_STREAM with CANCEL (8), "no longer needed", as browsers send it when a tile leaves the view (RFC 9113, 7).
#
# Found: a transfer that is removed, runs out of its time or is ended by its progress callback sends STREAM_CLOSED (5), which
# stands for a frame that came after the end of its stream. One that is ended by its write or header callback, or by MAXFILESIZE,
# sends 4294966394: -902, nghttp2's NGHTTP2_ERR_CALLBACK_FAILURE, as an unsigned number. So a server that tells cancelled
# loads from errors by the code counts libcurl's as errors. The connection stays, and so do the other loads on it.
#
# Output seen:
#   removed before the answer: RST_STREAM 5
#   removed amid the answer: RST_STREAM 5
#   out of time: RST_STREAM 5
#   progress callback: RST_STREAM 5
#   write callback: RST_STREAM 4294966394
#   header callback: RST_STREAM 4294966394
#   MAXFILESIZE: RST_STREAM 4294966394
#   connections: 1
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 77
"$work/venv/bin/pip" -q install --disable-pip-version-check --only-binary :all: pycurl==7.49.0 h2==4.4.1 ||
    { echo "needs a package index with a wheel of pycurl"; exit 77; }
"$work/venv/bin/python" - << 'PY' | tee "$work/seen"
import queue, socket, threading, time
import h2.config, h2.connection, h2.events
import pycurl

connections, resets = [], queue.Queue()

def serve(stream):
    """Answers /amid with a beginning, and other paths never."""
    connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
    connection.initiate_connection()
    stream.sendall(connection.data_to_send())
    while data := stream.recv(65536):
        for event in connection.receive_data(data):
            if isinstance(event, h2.events.RequestReceived):
                if dict(event.headers)[b":path"] == b"/amid":
                    connection.send_headers(event.stream_id, [(":status", "200"), ("content-length", "100000")])
                    connection.send_data(event.stream_id, bytes(10_000))
            elif isinstance(event, h2.events.StreamReset): resets.put(int(event.error_code))
        stream.sendall(connection.data_to_send())

def accept():
    while True:
        connections.append(listener.accept()[0])
        threading.Thread(target=serve, args=(connections[-1],), daemon=True).start()

listener = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=accept, daemon=True).start()
multi = pycurl.CurlMulti()
multi.setopt(pycurl.M_PIPELINING, pycurl.PIPE_MULTIPLEX)

def start(path, **options):
    easy = pycurl.Curl()
    easy.got = 0
    def take(piece): easy.got += len(piece)
    easy.setopt(pycurl.URL, f"http://127.0.0.1:{listener.getsockname()[1]}/{path}")
    easy.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE)
    easy.setopt(pycurl.WRITEFUNCTION, take)
    for name, value in options.items(): easy.setopt(getattr(pycurl, name), value)
    multi.add_handle(easy)
    return easy

def run(until, seconds=10):
    end = time.monotonic() + seconds
    while not until() and time.monotonic() < end:
        multi.perform()
        multi.select(0.02)

def show(name, easy=None, after=lambda: False):
    """Resets by themselves, or by removal once `after` holds or half a second has gone."""
    if easy:
        run(after, 0.5)
        multi.remove_handle(easy)
    run(lambda: not resets.empty())
    print(f"{name}: RST_STREAM {resets.get(timeout=10)}", flush=True)

def ended(name, path, **options):
    easy = start(path, **options)
    show(name)
    multi.remove_handle(easy)

other = start("other")
run(lambda: False, 0.5)
show("removed before the answer", start("late"))
easy = start("amid")
show("removed amid the answer", easy, lambda: easy.got > 0)
ended("out of time", "late", TIMEOUT_MS=300)
ended("progress callback", "amid", NOPROGRESS=0, XFERINFOFUNCTION=lambda total, now, *_: 1 if now else 0)
ended("write callback", "amid", WRITEFUNCTION=lambda piece: 0)
ended("header callback", "amid", HEADERFUNCTION=lambda line: 0 if line.startswith(b"content-length") else None)
ended("MAXFILESIZE", "amid", MAXFILESIZE=1000)
print(f"connections: {len(connections)}")
PY
diff "$work/seen" <(sed -n 's/^#   //p' "$0") && echo "as found"

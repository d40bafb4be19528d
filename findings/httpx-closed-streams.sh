#!/bin/bash
# httpx: what an HTTP/2 load that is closed early has received is never given back to the connection's window.
#
# Version: httpx 0.28.1 (httpcore 1.0.9), httpx2 2.16.2 (httpcore2 2.16.2), h2 4.4.1.
#
# Expected: a streamed answer that is closed before its end has its stream reset (RST_STREAM with CANCEL), so that the server
# stops sending. What has come by then counts as read: the window of the connection, which all of its streams share, is
# enlarged again (RFC 9113, 6.9.1).
#
# Found: no RST_STREAM is sent, so the server sends all of the answer. None of it is added to the connection's window again.
# Each closed load takes its bytes from the window for good: after 16 MiB of closed loads every load waits until its time is
# over, though the server and the connection are well. Loads that are read to their end go on for ever. A client of tiles that
# closes what is no longer needed comes to a stop so; niquests 3.21.2, which sends no RST_STREAM either, does not.
#
# Output seen:
#   httpx, loads of 1000000 bytes read: all 40 came, 0 resets, the connection's window has bytes
#   httpx, loads of 1000000 bytes closed after a piece: number 18 raises ReadTimeout, 0 resets, the connection's window is empty
#   httpx2, loads of 1000000 bytes read: all 40 came, 0 resets, the connection's window has bytes
#   httpx2, loads of 1000000 bytes closed after a piece: number 18 raises ReadTimeout, 0 resets, the connection's window is empty
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 77
"$work/venv/bin/pip" -q install --disable-pip-version-check httpx==0.28.1 httpcore==1.0.9 httpx2==2.16.2 httpcore2==2.16.2 \
    h2==4.4.1 || { echo "needs a package index"; exit 77; }
"$work/venv/bin/python" - << 'PY' | tee "$work/seen"
import socket, threading, time
import h2.config, h2.connection, h2.events
import httpx, httpx2

class Server:
    """Answers each request with `size` bytes as far as the windows allow, and keeps what the windows are."""

    def __init__(self, size):
        self.size, self.resets, self.sent, self.waits, self.window = size, 0, 0, 0, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self.listener.getsockname()[1]}/"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            threading.Thread(target=self.serve, args=(self.listener.accept()[0],), daemon=True).start()

    def receive(self, stream):
        try: return stream.recv(65536)
        except OSError: return b""

    def serve(self, stream):
        connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
        connection.initiate_connection()
        stream.sendall(connection.data_to_send())
        left = {}
        while data := self.receive(stream):
            for event in connection.receive_data(data):
                if isinstance(event, h2.events.RequestReceived):
                    connection.send_headers(event.stream_id, [(":status", "200"), ("content-length", str(self.size))])
                    left[event.stream_id] = self.size
                elif isinstance(event, h2.events.StreamReset):
                    self.resets += 1
                    left.pop(event.stream_id, None)
            for number in list(left):
                while left.get(number):
                    count = min(connection.local_flow_control_window(number), connection.max_outbound_frame_size, left[number])
                    if count <= 0: break
                    left[number] -= count
                    connection.send_data(number, bytes(count), end_stream=left[number] == 0)
                if not left[number]:
                    del left[number]
                    self.sent += 1
            self.waits = len(left)
            stream.sendall(connection.data_to_send())
            self.window = connection.outbound_flow_control_window

def trial(name, how, timeout, load):
    server = Server(1_000_000)
    result = f"all {LOADS} came"
    for number in range(1, LOADS + 1):
        try:
            load(server.address)
        except timeout as error:
            result = f"number {number} raises {type(error).__name__}"
            break
        while server.sent + server.waits < number: time.sleep(0.01)
    print(f"{name}, loads of {server.size} bytes {how}: {result}, {server.resets} resets, "
          f"the connection's window {'has bytes' if server.window else 'is empty'}", flush=True)

LOADS = 40
for name, library in (("httpx", httpx), ("httpx2", httpx2)):
    client = library.Client(http1=False, http2=True, timeout=1)
    def closed(address):
        with client.stream("GET", address) as answer: next(answer.iter_raw())
    trial(name, "read", library.ReadTimeout, client.get)
    trial(name, "closed after a piece", library.ReadTimeout, closed)
PY
diff "$work/seen" <(sed -n 's/^#   //p' "$0") && echo "as found"

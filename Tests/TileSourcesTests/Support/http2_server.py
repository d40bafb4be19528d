"""A server of HTTP/2 on this machine that behaves as it is told, for the tests of the HTTP source.

usage: http2_server.py FOLDER MODE   -- serves FOLDER/z/x/y.png with FOLDER/certificate.pem and FOLDER/key.pem

Its port is in FOLDER/port once it listens. Lines of FOLDER/events tell what happens: "connection" or "old connection",
"request PATH", "open N" if more streams are open on a connection than before, and "cancelled".

Modes, joined by commas:
  gather=N   after the first answer, none before N streams are open on the connection; then the newest come first
  streams=N  it announces that N streams may be open
  goaway=N   each connection ends after N answers: GOAWAY names the last stream that was answered, and others are lost
  reset=N    one stream in N is reset in the middle of its answer, and one in N is refused
  stall=N    the first two connections read and answer nothing after N answers
  old=N      after N answers, all connections end, and later ones speak HTTP/1.1
  wait=MS    so many milliseconds before each answer
  any        every address has FOLDER/any.png
  held       no answer before FOLDER/go exists
"""
import os
import socket
import ssl
import sys
import threading
import time

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
import h2.settings

folder = sys.argv[1]
modes = dict((mode.partition("=")[0], int(mode.partition("=")[2] or 1)) for mode in sys.argv[2].split(","))
lock = threading.Lock()
counts = {"connections": 0, "requests": 0, "answers": 0}


def note(line):
    with lock, open(folder + "/events", "a") as file:
        file.write(line + "\n")


def count(what):
    with lock:
        counts[what] += 1
        return counts[what]


def is_old():
    return counts["answers"] >= modes.get("old", 1 << 60)


def content(path):
    try:
        with open(folder + ("/any.png" if "any" in modes else path), "rb") as file:
            return file.read()
    except OSError:
        return None


class Ended(Exception):
    pass


class Connection:
    def __init__(self, stream):
        self.stream = stream
        self.number = count("connections")
        self.waiting = {}
        self.due = {}
        self.most = 0
        self.answered = 0
        self.protocol = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
        if "streams" in modes:
            code = h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS
            self.protocol.local_settings = h2.settings.Settings(client=False, initial_values={code: modes["streams"]})

    def flush(self):
        self.stream.sendall(self.protocol.data_to_send())

    def serve(self):
        note("connection")
        self.protocol.initiate_connection()
        self.flush()
        self.stream.settimeout(0.005)
        try:
            while True:
                try:
                    data = self.stream.recv(65536)
                    if not data:
                        return
                    for event in self.protocol.receive_data(data):
                        self.take(event)
                except TimeoutError:
                    if is_old():
                        return
                self.answer()
                self.flush()
        except (OSError, Ended, h2.exceptions.ProtocolError):
            pass
        finally:
            self.stream.close()

    def take(self, event):
        if isinstance(event, h2.events.RequestReceived):
            path = dict(event.headers)[b":path"].decode()
            self.waiting[event.stream_id] = (path, count("requests"))
            self.due[event.stream_id] = time.monotonic() + modes.get("wait", 0) / 1000
            note("request " + path)
            if len(self.waiting) > self.most:
                self.most = len(self.waiting)
                note("open %d" % self.most)
        elif isinstance(event, h2.events.StreamReset):
            self.waiting.pop(event.stream_id, None)
            note("cancelled")

    def answer(self):
        if "held" in modes and not os.path.exists(folder + "/go"):
            return
        now = time.monotonic()
        identities = [identity for identity in sorted(self.waiting, reverse="gather" in modes) if self.due[identity] <= now]
        if "gather" in modes and self.answered == 0:
            identities = identities[-1:]
        elif "gather" in modes and self.answered == 1 and len(identities) < modes["gather"]:
            return
        for identity in identities:
            path, number = self.waiting.pop(identity)
            self.send(identity, path, number)
            self.answered += 1
            count("answers")
            if self.answered == modes.get("goaway"):
                self.protocol.close_connection(last_stream_id=identity)
                self.flush()
                raise Ended
            if self.answered == modes.get("stall") and self.number <= 2:
                self.flush()
                time.sleep(3600)
            if is_old():
                self.flush()
                raise Ended

    def send(self, identity, path, number):
        turn = number % modes["reset"] if "reset" in modes else 0
        if turn == 1:
            return self.protocol.reset_stream(identity, h2.errors.ErrorCodes.REFUSED_STREAM)
        body = content(path)
        if body is None:
            return self.protocol.send_headers(identity, [(":status", "404")], end_stream=True)
        self.protocol.send_headers(identity, [(":status", "200"), ("content-length", str(len(body)))])
        if turn == 2:
            self.protocol.send_data(identity, body[: len(body) // 2])
            return self.protocol.reset_stream(identity, h2.errors.ErrorCodes.INTERNAL_ERROR)
        for start in range(0, len(body), 16384):
            self.protocol.send_data(identity, body[start : start + 16384], end_stream=start + 16384 >= len(body))


def serve_old(stream):
    """HTTP/1.1, one request after the other."""
    note("old connection")
    text = b""
    while True:
        while b"\r\n\r\n" not in text:
            data = stream.recv(65536)
            if not data:
                return
            text += data
        request, _, text = text.partition(b"\r\n\r\n")
        body = content(request.split()[1].decode())
        status = b"404 Not" if body is None else b"200 OK"
        stream.sendall(b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s" % (status, len(body or b""), body or b""))


def serve(stream):
    try:
        stream = (old if is_old() else modern).wrap_socket(stream, server_side=True)
        if stream.selected_alpn_protocol() == "h2":
            Connection(stream).serve()
        else:
            serve_old(stream)
    except OSError:
        pass


def context(protocols):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(folder + "/certificate.pem", folder + "/key.pem")
    made.set_alpn_protocols(protocols)
    return made


modern, old = context(["h2", "http/1.1"]), context(["http/1.1"])
listener = socket.create_server(("127.0.0.1", 0))
# Whole or not at all: half of a number is one, too.
with open(folder + "/port.new", "w") as file:
    file.write(str(listener.getsockname()[1]))
os.replace(folder + "/port.new", folder + "/port")
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

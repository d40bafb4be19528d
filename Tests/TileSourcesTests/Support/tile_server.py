"""A tile server on this machine that behaves as it is told, for the tests of the HTTP source.

usage: tile_server.py FOLDER MODE   -- serves FOLDER/z/x/y.png; its port is in FOLDER/port once it listens

Modes, joined by commas:
  wait=MS     so many milliseconds before each answer
  setup=MS    so many milliseconds before the first request of a connection is read, as handshakes over a distance
  any         every address has FOLDER/any.png
  slow        30 ms before each answer, and the body in two parts
  fail        one request in five has the status 500
  truncate    one in seven says a length and ends in the middle
  chunk       one in eleven is sent in chunks, and the last one never comes
  garbage     one in thirteen has bytes that are no image
  hang        one in seventeen is never answered
  silent      none is ever answered
  held        none is answered before FOLDER/go exists
  die         one in nineteen is cut off before the status line is whole
  etag        answers are named, and conditions are honoured
  date        the same with dates
  busy        requests in the first second have the status 429 with Retry-After
  huge        every answer is 3 MB
  babble      bytes that belong to no answer follow each one
  gzip        every tile is compressed by gzip, though it is not asked for
  redirect    every address leads to another one first
  tls         it speaks TLS, with FOLDER/certificate.pem and FOLDER/key.pem
  opened      each connection is a line in FOLDER/opened
  log         each answer is a line "STATUS PATH" in FOLDER/answers
  NAME:VALUE  a header of every tile, and of every answer that it is unchanged or absent
"""
import gzip
import http.server
import os
import ssl
import sys
import threading
import time

folder, modes = sys.argv[1], set(sys.argv[2].split(","))
lock = threading.Lock()
count = 0
seen = {}
open_now = 0
most_open = 0
first_request = None


def seconds(name):
    return sum(float(mode.partition("=")[2]) / 1000 for mode in modes if mode.startswith(name + "="))


wait, setup = seconds("wait"), seconds("setup")
own_headers = [tuple(mode.split(":", 1)) for mode in modes if ":" in mode]
LAST_MODIFIED = "Tue, 15 Nov 1994 12:45:26 GMT"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def setup(self):
        super().setup()
        global open_now, most_open
        with lock:
            if "opened" in modes:
                with open(folder + "/opened", "a") as file:
                    file.write("connection\n")
            open_now += 1
            if open_now > most_open:
                most_open = open_now
                with open(folder + "/most_open", "w") as file:
                    file.write(str(most_open))
        time.sleep(setup)

    def finish(self):
        global open_now
        with lock:
            open_now -= 1
        try:
            super().finish()
        except OSError:
            pass

    def cut(self):
        self.close_connection = True
        self.wfile.flush()
        self.connection.close()

    def answer(self, status, body=b"", headers=()):
        if "log" in modes:
            with lock, open(folder + "/answers", "a") as file:
                file.write("%d %s\n" % (status, self.path))
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        global count
        try:
            self.serve()
        except (BrokenPipeError, ConnectionResetError, ValueError):
            self.close_connection = True

    def serve(self):
        global count, first_request
        with lock:
            count += 1
            number = count
            first_request = first_request or time.monotonic()
            times = seen.get(self.path, 0)
            seen[self.path] = times + 1
        if "redirect" in modes and not self.path.startswith("/there"):
            return self.answer(302, b"there", [("Location", "/there" + self.path)])
        path = folder + self.path.removeprefix("/there")
        if "any" in modes:
            path = folder + "/any.png"
        if "slow" in modes:
            time.sleep(0.03)
        time.sleep(wait)
        while "held" in modes and not os.path.exists(folder + "/go"):
            time.sleep(0.005)
        if "silent" in modes or ("hang" in modes and number % 17 == 0):
            time.sleep(60)
            return self.cut()
        if "die" in modes and number % 19 == 0:
            self.wfile.write(b"HTTP/1.1 2")
            return self.cut()
        if "busy" in modes and time.monotonic() < first_request + 1:
            return self.answer(429, b"later", [("Retry-After", "1")])
        if "fail" in modes and number % 5 == 0:
            return self.answer(500, b"not now")
        if "forbidden" in modes:
            return self.answer(403, b"no")
        if not os.path.isfile(path):
            return self.answer(404, b"no such tile", own_headers)
        with open(path, "rb") as file:
            body = file.read()
        headers = list(own_headers)
        if "gzip" in modes:
            body = gzip.compress(body, mtime=0)
            headers.append(("Content-Encoding", "gzip"))
        if "etag" in modes:
            tag = '"%x"' % hash(body)
            headers.append(("ETag", tag))
            if self.headers.get("If-None-Match") == tag:
                return self.answer(304, b"", headers)
        if "date" in modes:
            headers.append(("Last-Modified", LAST_MODIFIED))
            if self.headers.get("If-Modified-Since") == LAST_MODIFIED:
                return self.answer(304, b"", headers)
        if "garbage" in modes and number % 13 == 0:
            return self.answer(200, b"<html>Good evening</html>")
        if "huge" in modes:
            return self.answer(200, body + b"\0" * 3_000_000)
        if "chunk" in modes and number % 11 == 0:
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            half = body[: len(body) // 2]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(half), half))
            return self.cut()
        if "truncate" in modes and number % 7 == 0:
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: len(body) // 2])
            return self.cut()
        if "slow" in modes:
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[:100])
            self.wfile.flush()
            time.sleep(0.01)
            self.wfile.write(body[100:])
            return
        self.answer(200, body, headers)
        if "babble" in modes:
            time.sleep(0.005)
            self.wfile.write(b"no such tile")


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
if "tls" in modes:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder + "/certificate.pem", folder + "/key.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    server.handle_error = lambda *arguments: None
# Whole or not at all: half of a number is one, too.
with open(folder + "/port.new", "w") as file:
    file.write(str(server.server_address[1]))
os.replace(folder + "/port.new", folder + "/port")
server.serve_forever()

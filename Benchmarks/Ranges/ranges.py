#!/usr/bin/env python3
"""Requests and bytes of sources that read byte ranges, and their speed beside other readers.

usage: ranges.py make FOLDER                      -- writes cog.tif (30,000 x 20,000, JPEG) and map.pmtiles (JPEG)
       ranges.py sessions FOLDER CACHEBENCH TRACE... -- requests and bytes of replays on these traces
       ranges.py speed FOLDER TILEREADER [FILE]   -- 2,000 tiles by TileCache, rasterio, tifffile and PyPI's pmtiles

Needs gdal_translate, nginx, and a Python with numpy, Pillow, rasterio, tifffile, imagecodecs, pmtiles and requests.
Servers are nginx on loopback, and one in this process that waits 50 ms before each answer.
"""
import concurrent.futures
import http.server
import io
import json
import os
import socket
import subprocess
import sys
import threading
import time

DELAY = 0.05
# Of each session.
DURATION = "30s"
KINDS = (("tiff", "cog.tif"), ("pmtiles", "map.pmtiles"))


# MARK: - Files


def make(folder):
    import numpy
    import rasterio
    from PIL import Image
    from pmtiles.tile import Compression, TileType, zxy_to_tileid
    from pmtiles.writer import Writer

    dice = numpy.random.RandomState(7)
    y, x = numpy.mgrid[0:2000, 0:3000]
    bands = [numpy.sin(x / 90) + numpy.cos(y / 70), numpy.sin((x + y) / 130), numpy.cos(x / 60) * numpy.sin(y / 110)]
    bands = [numpy.clip(band * 50 + 120 + dice.randint(-30, 30, band.shape), 0, 255) for band in bands]
    small = numpy.stack(bands).astype("u1")
    if not os.path.exists(folder + "/cog.tif"):
        with rasterio.open(
            folder + "/small.tif", "w", driver="GTiff", width=3000, height=2000, count=3, dtype="uint8"
        ) as file:
            file.write(small)
        subprocess.run(
            ["gdal_translate", "-q", "-of", "COG", "-co", "COMPRESS=JPEG", "-co", "QUALITY=85", "-co", "BLOCKSIZE=256",
             "-outsize", "30000", "20000", "-r", "bilinear", folder + "/small.tif", folder + "/cog.tif"],
            check=True,
        )  # fmt: skip
    whole = numpy.moveaxis(small, 0, 2)
    with open(folder + "/map.pmtiles", "wb") as target:
        writer = Writer(target)
        for zoom in range(7):
            for column in range(1 << zoom):
                for row in range(1 << zoom):
                    # Another part of the picture for each tile, so that none are the same.
                    left, top = (column * 41 + zoom * 7) % 2744, (row * 27 + zoom * 5) % 1744
                    data = io.BytesIO()
                    Image.fromarray(whole[top : top + 256, left : left + 256]).save(data, "JPEG", quality=85)
                    writer.write_tile(zxy_to_tileid(zoom, column, row), data.getvalue())
        writer.finalize(
            {"tile_type": TileType.JPEG, "tile_compression": Compression.NONE, "min_lon_e7": -1800000000,
             "max_lon_e7": 1800000000, "min_lat_e7": -850000000, "max_lat_e7": 850000000, "center_zoom": 0,
             "center_lon_e7": 0, "center_lat_e7": 0},
            {},
        )  # fmt: skip


def tiles_of(path):
    """Where the tiles of a file are: offsets and lengths."""
    if path.endswith(".tif"):
        import tifffile

        with tifffile.TiffFile(path) as file:
            pairs = [pair for page in file.pages for pair in zip(page.dataoffsets, page.databytecounts)]
        return sorted((start, count) for start, count in pairs if count > 0)
    from pmtiles.reader import MmapSource
    from pmtiles.tile import deserialize_directory, deserialize_header

    with open(path, "rb") as file:
        source = MmapSource(file)
        header = deserialize_header(source(0, 127))
        found = set()

        def visit(offset, length):
            for entry in deserialize_directory(source(offset, length)):
                if entry.run_length == 0:
                    visit(header["leaf_directory_offset"] + entry.offset, entry.length)
                else:
                    found.add((header["tile_data_offset"] + entry.offset, entry.length))

        visit(header["root_offset"], header["root_length"])
    return sorted(found)


# MARK: - Servers


class Nginx:
    """nginx on loopback; its log has the range and the bytes of each answer."""

    name = "nginx on loopback"

    def __init__(self, folder):
        self.folder = folder
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.root = "http://127.0.0.1:%d" % port
        temporary = "".join("%s_temp_path %s/tmp;" % (kind, folder) for kind in
                            ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))  # fmt: skip
        with open(folder + "/nginx.conf", "w") as file:
            file.write(
                "daemon off; master_process off; pid %s/pid; events {} http { %s"
                "log_format ranges '$status $body_bytes_sent $http_range'; access_log %s/ranges.log ranges;"
                "keepalive_requests 100000; server { listen 127.0.0.1:%d; root %s; } }"
                % (folder, temporary, folder, port, folder)
            )
        program = next(path for path in ("/usr/sbin/nginx", "/usr/bin/nginx") if os.path.exists(path))
        self.process = subprocess.Popen(
            [program, "-p", folder, "-c", folder + "/nginx.conf", "-e", folder + "/error.log"],
            stderr=subprocess.DEVNULL,
        )
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                time.sleep(0.01)
        self.begin()

    def begin(self):
        with open(self.folder + "/ranges.log") as file:
            self.start = len(file.read().splitlines())

    def answers(self):
        """Status, bytes and range of each answer since `begin`."""
        time.sleep(0.2)
        with open(self.folder + "/ranges.log") as file:
            lines = file.read().splitlines()[self.start :]
        return [(int(a), int(b), c) for a, b, c in (line.split(" ", 2) for line in lines)]

    def stop(self):
        self.process.kill()
        self.process.wait()


class Late:
    """A server that answers after a delay."""

    name = "a server with 50 ms of delay"

    def __init__(self, folder):
        log, lock = [], threading.Lock()
        self.log, self.lock = log, lock

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *arguments):
                pass

            def do_HEAD(self):
                self.answer(False)

            def do_GET(self):
                self.answer(True)

            def answer(self, has_body):
                time.sleep(DELAY)
                path = folder + self.path
                if not os.path.isfile(path):
                    self.send_response(404)
                    self.send_header("Content-Length", "0")
                    return self.end_headers()
                size, wanted = os.path.getsize(path), self.headers.get("Range")
                first, last = 0, size - 1
                if wanted:
                    ends = wanted.removeprefix("bytes=").split("-")
                    first, last = int(ends[0]), min(int(ends[1] or size - 1), size - 1)
                self.send_response(206 if wanted else 200)
                self.send_header("Content-Length", str(last + 1 - first))
                self.send_header("Accept-Ranges", "bytes")
                self.send_header("ETag", '"%d"' % size)
                if wanted:
                    self.send_header("Content-Range", "bytes %d-%d/%d" % (first, last, size))
                self.end_headers()
                if not has_body:
                    return
                with open(path, "rb") as file:
                    file.seek(first)
                    data = file.read(last + 1 - first)
                with lock:
                    log.append((206, len(data), wanted or ""))
                try:
                    self.wfile.write(data)
                except OSError:
                    self.close_connection = True

        class Server(http.server.ThreadingHTTPServer):
            request_queue_size = 128
            daemon_threads = True

            def handle_error(self, *arguments):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.root = "http://127.0.0.1:%d" % self.server.server_address[1]

    def begin(self):
        with self.lock:
            self.log.clear()

    def answers(self):
        with self.lock:
            return list(self.log)

    def stop(self):
        self.server.shutdown()


# MARK: - Recorded sessions


def sessions(folder, cachebench, *traces):
    print("| file | server | session | to open | tiles read | requests a tile | bytes to the tiles' own | loads | cancelled |")
    print("| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for kind, name in KINDS:
        places = tiles_of(folder + "/" + name)
        first_tile = min(start for start, _ in places)
        for make_server in (Nginx, Late):
            server = make_server(folder)
            for trace in traces:
                server.begin()
                command = [cachebench, "replay", "--source", "%s:%s/%s" % (kind, server.root, name), "--fit", trace]
                command += ["--memory-limit", "64MiB", "--workers", "8", "--format", "json", "--duration", DURATION]
                done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
                report = json.loads(done.stdout)
                counts = find(report, "attempts")
                opening, reading, read = [], [], set()
                for status, count, wanted in server.answers():
                    ends = [int(end) for end in wanted.removeprefix("bytes=").split("-")]
                    inside = [tile for tile in places if ends[0] <= tile[0] and sum(tile) <= ends[1] + 1]
                    # Before the first tile that is read, requests are for the header, directories and one tile's size.
                    if ends[0] < first_tile or not reading and not inside:
                        opening.append(count)
                        continue
                    reading.append(count)
                    read.update(inside)
                own = sum(count for _, count in read)
                label = os.path.basename(os.path.dirname(trace)) + "/" + os.path.basename(trace)
                print(
                    "| `%s` | %s | %s | %d | %s | %.2f | %.2f | %d | %d |"
                    % (name, server.name, label, len(opening), "{:,}".format(len(read)), len(reading) / len(read),
                       sum(reading) / own, counts["loads"], counts["cancelled"]),
                    flush=True,
                )  # fmt: skip
            server.stop()


def find(report, name):
    """The innermost object of a report that has a field."""
    if isinstance(report, dict):
        for value in report.values():
            found = find(value, name)
            if found is not None:
                return found
        return report if name in report else None
    if isinstance(report, list):
        for value in report:
            found = find(value, name)
            if found is not None:
                return found
    return None


# MARK: - Speed

# 50 x 40 tiles of the finest level.
PLACE = (10, 15, 50, 40)


# PyPI's pmtiles parses its directories again for each tile: it reads only the first of them.
FEW = 200


def places():
    column, row, columns, rows = PLACE
    return [(column + x, row + y) for y in range(rows) for x in range(columns)]


def timed(read, threads, count):
    """Calls a function that opens and returns a reader of tiles; milliseconds to the first tile and to the last, and of
    this process."""
    start, processor, first = time.perf_counter(), time.process_time(), []
    local = threading.local()

    def one(place):
        if not hasattr(local, "read"):
            local.read = read()
        pixels = local.read(*place)
        if not first:
            first.append(time.perf_counter())
        assert pixels.shape[:2] == (256, 256)

    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        list(pool.map(one, places()[:count]))
    end = time.perf_counter()
    return (first[0] - start) * 1000, (end - start) * 1000, (time.process_time() - processor) * 1000


def rasterio_reader(address):
    def open_file():
        import numpy
        import rasterio
        from rasterio.windows import Window

        file = rasterio.open(address)
        return lambda x, y: numpy.moveaxis(file.read(window=Window(x * 256, y * 256, 256, 256)), 0, 2)

    return open_file


def tifffile_reader(path):
    def open_file():
        import tifffile

        file = tifffile.TiffFile(path)
        page = file.pages[0]
        across = (page.imagewidth - 1) // 256 + 1

        def read(x, y):
            index = y * across + x
            file.filehandle.seek(page.dataoffsets[index])
            data = file.filehandle.read(page.databytecounts[index])
            return page.decode(data, index, jpegtables=page.jpegtables)[0][0]

        return read

    return open_file


def pmtiles_reader(address):
    def open_file():
        import numpy
        import requests
        from PIL import Image
        from pmtiles.reader import MmapSource, Reader

        if address.startswith("http"):
            session = requests.Session()

            def get(offset, length):
                wanted = "bytes=%d-%d" % (offset, offset + length - 1)
                return session.get(address, headers={"Range": wanted}).content

            reader = Reader(get)
        else:
            reader = Reader(MmapSource(open(address, "rb")))
        return lambda x, y: numpy.asarray(Image.open(io.BytesIO(reader.get(6, x, y))))

    return open_file


def speed(folder, tilereader, *names):
    os.environ |= {"GDAL_DISABLE_READDIR_ON_OPEN": "EMPTY_DIR", "CPL_VSIL_CURL_ALLOWED_EXTENSIONS": ".tif"}
    print("| file | where | reader | tiles a second | first tile, ms | processor time a tile, ms | MB read | requests |")
    print("| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |")
    # Both files are in the system's memory.
    for name in ("cog.tif", "map.pmtiles"):
        with open(folder + "/" + name, "rb") as file:
            while file.read(1 << 24):
                pass

    def row(name, where, reader, count, first, last, processor, server):
        answers = server.answers() if server else []
        read = "%.1f" % (sum(count for _, count, _ in answers) / 1e6) if server else ""
        print(
            "| `%s` | %s | %s | %s | %.0f | %s | %s | %s |"
            % (name, where, reader, "{:,.0f}".format(count / last * 1000), first,
               # One of the servers is a part of this process.
               "" if server else "%.3f" % (processor / count), read, len(answers) or ""),
            flush=True,
        )

    for make_server in (None, Nginx, Late):
        server = make_server(folder) if make_server else None
        root = server.root if server else folder
        where = server.name if server else "a file"
        for kind, name in KINDS:
            if names and name not in names:
                continue
            address = root + "/" + name

            def begin():
                if server:
                    server.begin()

            # With 0 workers a default cache. From a file all is read again, into the same memory.
            for workers in ("0", "64") if server else ("1", "6"):
                begin()
                words = [str(number) for number in PLACE] + [workers, "1" if server else "3"]
                command = [tilereader, "%s:%s" % (kind, address)] + words
                lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
                label = "TileCache, %s" % ("default" if workers == "0" else "%s workers" % workers)
                for line in lines[:1] + lines[2:]:
                    numbers = line.split()
                    assert numbers[3] == "2000" and numbers[5] == "0", numbers
                    times = [float(numbers[index]) for index in (1, 2, 6)]
                    row(name, where, label + (", again" if line is not lines[0] else ""), 2000, *times, server)
            for threads in (6,) if make_server is Late else (1, 6):
                suffix = "1 thread" if threads == 1 else "%d threads" % threads
                readers = [("pmtiles", pmtiles_reader(address))]
                if kind == "tiff":
                    readers = [("rasterio", rasterio_reader(address))]
                    if not server:
                        readers.append(("tifffile", tifffile_reader(address)))
                for label, reader in readers:
                    begin()
                    count = FEW if label == "pmtiles" else 2000
                    times = timed(reader, threads, count)
                    label += ", %s%s" % (suffix, "" if count == 2000 else ", the first %d" % count)
                    row(name, where, label, count, *times, server)
        if server:
            server.stop()


if __name__ == "__main__":
    commands = {"make": make, "sessions": sessions, "speed": speed}
    if len(sys.argv) < 3 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](*sys.argv[2:])

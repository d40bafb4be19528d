#!/bin/bash
# fsspec: a range of a server that ignores Range is the whole file.
#
# Version: fsspec 2026.9.0, aiohttp 3.14.5.
#
# Expected: cat_file(url, start=10, end=20) gives ten bytes, or an error, as fsspec's own file objects give one ("The HTTP
# server doesn't appear to support range requests").
#
# Found: cat_file and cat_ranges take the body of whatever status comes. Of a server that answers 200 with the
# whole file (Python's http.server does) all 102,400 bytes are returned as the ten, without a warning. Readers of chunks
# and tiles over fsspec then decode the beginning of the file.
#
# Output seen:
#   cat_file 10 to 20: 102400 bytes that begin with 0 1 2
#   cat_ranges 10 to 20: 102400 bytes that begin with 0 1 2
#   open, seek, read: ValueError
set -euo pipefail
folder=$(mktemp -d)
trap '[ -z "${server:-}" ] || kill "$server"; rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install fsspec==2026.9.0 aiohttp==3.14.5
mkdir "$folder/files"
python3 -c "import sys; sys.stdout.buffer.write(bytes(range(256)) * 400)" >"$folder/files/a.bin"
python3 -u -m http.server 0 --bind 127.0.0.1 --directory "$folder/files" >"$folder/log" 2>/dev/null &
server=$!
until grep -q "port [0-9]" "$folder/log"; do kill -0 "$server"; sleep 0.1; done
port=$(sed -E 's/.* port ([0-9]+) .*/\1/' "$folder/log" | head -1)
"$folder/venv/bin/python" - "http://127.0.0.1:$port/a.bin" <<'PYTHON' | tee "$folder/seen"
import sys
import fsspec

url = sys.argv[1]
files = fsspec.filesystem("http")


def show(name, read):
    try:
        data = read()
        print(f"{name}: {len(data)} bytes that begin with {data[0]} {data[1]} {data[2]}")
    except ValueError:
        print(f"{name}: ValueError")


def opened():
    with files.open(url) as file:
        file.seek(10)
        return file.read(10)


show("cat_file 10 to 20", lambda: files.cat_file(url, start=10, end=20))
show("cat_ranges 10 to 20", lambda: files.cat_ranges([url], [10], [20])[0])
show("open, seek, read", opened)
PYTHON
diff "$folder/seen" <(sed -n 's/^#   //p' "$0")

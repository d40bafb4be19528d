#!/bin/bash
# Chromium: over HTTP/2 a tile of low priority asks as any other, and all tiles ask to be dealt out evenly.
#
# Version: chromium 156.0.8078.108-1~deb12u1 (Debian 12), driven by playwright 1.65.2; h2 4.4.1 for the server.
#
# Expected: fetchPriority of an image and `priority` of fetch have three values, high, auto and low, which become three urgencies of the
# header Priority (RFC 9218), so that a map can ask for the tiles around its view behind those in it.
#
# Found: there are two. An image is urgency 3 (no u in the header) by auto and by low, also outside of the window or of the page; fetch,
# XMLHttpRequest and a worker's fetch are 1 by auto and by high, and 3 by low. Tiles by fetch thus go before those by images.
# All have i, incremental: a server that obeys sends the pieces of all tiles by turns, so that they are complete
# together and late, where one after the other would show half of them in half of the time. JavaScript cannot take i away.
#
# Output seen:
#   img: high "u=1, i", auto "i", low "i"
#   img far below the window: "i"; not in the page: "i"
#   CSS background: "i"
#   fetch: high "u=1, i", auto "u=1, i", low "i"
#   XMLHttpRequest: "u=1, i"; fetch of a worker: "u=1, i"
set -euo pipefail
for program in chromium openssl; do
    command -v "$program" > /dev/null || { echo "needs chromium, openssl and python3: apt-get install chromium openssl python3-venv"; exit 77; }
done
dpkg-query -W chromium
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 77
"$work/venv/bin/pip" -q install --disable-pip-version-check playwright==1.65.2 h2==4.4.1 || { echo "needs a package index"; exit 77; }
openssl req -x509 -newkey rsa:2048 -nodes -keyout "$work/key" -out "$work/certificate" -days 2 -subj /CN=localhost 2> /dev/null
"$work/venv/bin/python" - "$work" << 'PY' | tee "$work/seen"
import socket, ssl, sys, threading
import h2.config, h2.connection, h2.events
from playwright.sync_api import sync_playwright

asked = {}
bodies = {"/": ("text/html", b"<html><body></body></html>"),
          "/worker.js": ("text/javascript", b"fetch('/worker').then(answer => answer.text()).then(() => postMessage(1))")}
tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
tls.load_cert_chain(f"{sys.argv[1]}/certificate", f"{sys.argv[1]}/key")
tls.set_alpn_protocols(["h2"])
listener = socket.create_server(("127.0.0.1", 0))

def serve(stream):
    connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
    connection.initiate_connection()
    try:
        stream = tls.wrap_socket(stream, server_side=True)
        stream.sendall(connection.data_to_send())
        while data := stream.recv(65536):
            for event in connection.receive_data(data):
                if not isinstance(event, h2.events.RequestReceived): continue
                headers = dict(event.headers)
                asked[headers[":path"]] = headers.get("priority")
                kind, body = bodies.get(headers[":path"], ("text/plain", b"tile"))
                connection.send_headers(event.stream_id, [(":status", "200"), ("content-type", kind), ("content-length", str(len(body)))])
                connection.send_data(event.stream_id, body, end_stream=True)
            stream.sendall(connection.data_to_send())
    except OSError: pass

def accept():
    while True: threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

threading.Thread(target=accept, daemon=True).start()
with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path="/usr/bin/chromium",
                                         args=["--no-sandbox", "--disable-gpu", "--ignore-certificate-errors"])
    page = browser.new_context(ignore_https_errors=True).new_page()
    page.goto(f"https://localhost:{listener.getsockname()[1]}/")
    page.evaluate("""async () => {
        const image = (address, change, isIn = true) => new Promise(resolve => {
            const image = new Image();
            image.onload = image.onerror = resolve;
            change(image);
            image.src = address;
            if (isIn) document.body.append(image);
        });
        for (const priority of ['high', 'auto', 'low']) {
            await image('/img-' + priority, image => image.fetchPriority = priority);
            await fetch('/fetch-' + priority, {priority}).then(answer => answer.text());
        }
        await image('/far', image => image.style = 'position: absolute; top: 20000px');
        await image('/alone', () => 0, false);
        await new Promise(resolve => {
            const request = new XMLHttpRequest();
            request.onloadend = resolve;
            request.open('GET', '/xhr');
            request.send();
        });
        const worker = new Worker('/worker.js');
        await new Promise(resolve => worker.onmessage = resolve);
        const box = document.createElement('div');
        box.style = 'width: 9px; height: 9px; background: url(/background)';
        document.body.append(box);
    }""")
    for _ in range(50):
        if "/background" in asked: break
        page.wait_for_timeout(100)
    browser.close()

def three(name): return ", ".join(f'{priority} "{asked[f"/{name}-{priority}"]}"' for priority in ("high", "auto", "low"))
print(f"img: {three('img')}")
print(f'img far below the window: "{asked["/far"]}"; not in the page: "{asked["/alone"]}"')
print(f'CSS background: "{asked["/background"]}"')
print(f"fetch: {three('fetch')}")
print(f'XMLHttpRequest: "{asked["/xhr"]}"; fetch of a worker: "{asked["/worker"]}"')
PY
diff "$work/seen" <(sed -n 's/^#   //p' "$0") && echo "as found"

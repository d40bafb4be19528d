#!/bin/bash
# libcurl of Debian 12: an HTTP/2 load that is removed is reset only with the next request.
#
# Version: libcurl 7.88.1-10+deb12u15 with nghttp2 1.52.0-1+deb12u3 (Debian 12), python3-h2 4.1.0 for the server.
#
# Expected: curl_multi_remove_handle() sends RST_STREAM at once, or the next curl_multi_perform() does. libcurl 8.23 sends it so
# (`libcurl-reset-codes.sh`).
#
# Found: nothing is sent, however long curl_multi_perform() is called, whether the load was the only one of its connection or not:
# a server that has not answered yet still works on an answer that nobody reads. The reset comes just before the next request on the
# connection. A client that moves on to other tiles never notices; one that has come to rest leaves its last load open.
#
# Output seen:
#   the only load: request a
#   beside another, a second later: request a, request b
#   with the next request: request a, request b, reset a, request c
set -euo pipefail
export PATH=/usr/bin:$PATH
for program in gcc openssl curl-config; do
    command -v "$program" > /dev/null || { echo "needs gcc, openssl, libcurl4-openssl-dev and python3-h2"; exit 77; }
done
python3 -c 'import h2' 2> /dev/null || { echo "needs python3-h2"; exit 77; }
case $(curl-config --version) in *7.88.1*) ;; *) echo "needs libcurl 7.88.1 of Debian 12"; exit 77 ;; esac
dpkg-query -W libcurl4 libnghttp2-14 python3-h2
work=$(mktemp -d)
server=""
trap '[ -z "$server" ] || { kill "$server"; wait "$server" || true; } 2> /dev/null; rm -rf "$work"' EXIT
openssl req -x509 -newkey rsa:2048 -nodes -keyout "$work/key" -out "$work/certificate" -days 2 -subj /CN=localhost 2> /dev/null
cat > "$work/server.py" << 'PY'
import socket, ssl, sys, threading
import h2.config, h2.connection, h2.events

context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1] + "/certificate", sys.argv[1] + "/key")
context.set_alpn_protocols(["h2"])

def serve(stream):
    """Answers no request."""
    stream = context.wrap_socket(stream, server_side=True)
    connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
    connection.initiate_connection()
    stream.sendall(connection.data_to_send())
    paths = {}
    while data := stream.recv(65536):
        for event in connection.receive_data(data):
            if isinstance(event, h2.events.RequestReceived):
                paths[event.stream_id] = dict(event.headers)[":path"][1:]
                print("request", paths[event.stream_id], flush=True)
            elif isinstance(event, h2.events.StreamReset):
                print("reset", paths[event.stream_id], flush=True)
        stream.sendall(connection.data_to_send())

listener = socket.create_server(("127.0.0.1", 0))
with open(sys.argv[1] + "/port", "w") as file: print(listener.getsockname()[1], file=file)
while True: threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
PY
cat > "$work/client.c" << 'C'
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static CURLM *multi;
static const char *port;

static CURL *start(const char *path) {
    char url[100];
    snprintf(url, sizeof url, "https://127.0.0.1:%s/%s", port, path);
    CURL *easy = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
    curl_multi_add_handle(multi, easy);
    return easy;
}

static void run(double seconds) {
    struct timespec begin, now;
    int running;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        curl_multi_perform(multi, &running);
        curl_multi_poll(multi, NULL, 0, 20, NULL);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((double)(now.tv_sec - begin.tv_sec) + (double)(now.tv_nsec - begin.tv_nsec) / 1e9 < seconds);
}

int main(int count, char **words) {
    if (count < 3) return 2;
    port = words[1];
    int others = atoi(words[2]);
    multi = curl_multi_init();
    CURL *first = start("a");
    run(1);
    if (others > 0) start("b");
    run(1);
    curl_multi_remove_handle(multi, first);
    run(1);
    if (others > 1) start("c");
    run(1);
    _Exit(0);
}
C
gcc "$work/client.c" -o "$work/client" -lcurl
show() {
    rm -f "$work/port"
    python3 "$work/server.py" "$work" > "$work/log" &
    server=$!
    until [ -s "$work/port" ]; do sleep 0.1; done
    "$work/client" "$(cat "$work/port")" "$2"
    kill "$server"; wait "$server" 2> /dev/null || true
    server=""
    echo "$1: $(paste -sd, "$work/log" | sed 's/,/, /g')"
}
{
    show "the only load" 0
    show "beside another, a second later" 1
    show "with the next request" 2
} | tee "$work/seen"
diff "$work/seen" <(sed -n 's/^#   //p' "$0") && echo "as found"

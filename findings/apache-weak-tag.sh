#!/bin/bash
# Apache: a file's ETag is weak in its first second, and strong afterwards.
#
# Version: apache2 2.4.71-1~deb12u1 (Debian 12), mpm_event, no other modules than authz_core.
#
# Expected: a file that does not change has one ETag. The documentation of FileETag names inode, time and size, and nothing of
# the time of the request.
#
# Found: while the file is younger than a second the tag is W/"x", and "x" later. A client that compares tags as texts takes
# one file for two. If-Range and If-Match with the tag from the first second fail for good: they need a strong comparison.
#
# Output seen:
#   at once weak, 2 s later strong, the same text after W/: yes
#   If-Range with the first tag: 200, with the later one: 206
#   as found
set -euo pipefail
export PATH=$PATH:/usr/sbin
for program in apache2 curl python3; do
    command -v "$program" > /dev/null || { echo "needs apache2, curl and python3: apt-get install apache2-bin curl python3"; exit 77; }
done
dpkg-query -W apache2-bin
work=$(mktemp -d)
server=""
trap '[ -z "$server" ] || { kill "$server"; wait "$server" || true; } 2> /dev/null; rm -rf "$work"' EXIT
chmod 755 "$work"
mkdir "$work/www"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
python3 -c 'import sys; open(sys.argv[1], "wb").write(bytes(i * 7 % 251 for i in range(1000)))' "$work/www/file.bin"
cat > "$work/a.conf" << CONF
ServerRoot /usr/lib/apache2
PidFile $work/a.pid
ServerName localhost
DefaultRuntimeDir $work
Mutex file:$work default
LoadModule mpm_event_module modules/mod_mpm_event.so
LoadModule authz_core_module modules/mod_authz_core.so
ErrorLog $work/err.log
Listen 127.0.0.1:$port
User www-data
Group www-data
DocumentRoot $work/www
<Directory $work/www>
 Require all granted
</Directory>
CONF
apache2 -DFOREGROUND -f "$work/a.conf" > /dev/null 2>&1 &
server=$!
for _ in $(seq 100); do (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null && break; sleep 0.1; done
tag() { curl -sI "http://127.0.0.1:$port/new.bin" | grep -i '^etag:' | cut -d' ' -f2- | tr -d '\r'; }
cp "$work/www/file.bin" "$work/www/new.bin"
first=$(tag)
sleep 2
later=$(tag)
status() { curl -s -o /dev/null -w '%{http_code}' -r 0-9 -H "If-Range: $1" "http://127.0.0.1:$port/new.bin"; }
kind() { case $1 in W/*) echo weak;; *) echo strong;; esac; }
same=no
[ "${first#W/}" = "${later#W/}" ] && same=yes
expected='at once weak, 2 s later strong, the same text after W/: yes
If-Range with the first tag: 200, with the later one: 206'
seen=$(echo "at once $(kind "$first"), 2 s later $(kind "$later"), the same text after W/: $same"
echo "If-Range with the first tag: $(status "$first"), with the later one: $(status "$later")")
echo "$seen"
[ "$seen" = "$expected" ] && echo "as found" || { echo "changed"; exit 1; }

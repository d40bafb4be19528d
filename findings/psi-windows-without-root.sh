#!/bin/bash
# Pressure stall information: who may have the kernel tell of stalls, and in which windows.
#
# Versions: Linux 6.18.44 on 2026-11-28 (the same on Debian's 6.1.192); Python 3.11 for the calls. No package is installed.
# Needs: /proc/pressure/memory that anyone may write, which older kernels (mode 0640) do not have. Where it is missing, the
# script says so and ends with 0.
#
# Expected: the kernel's documentation (accounting/psi.rst) states windows of 500 ms to 10 s; a program registers "some
# 50000 500000" and is told within half a second that memory is short.
#
# Found: a process without CAP_SYS_RESOURCE may register, but only windows that are whole multiples of 2 s: 500 ms, 1 s
# and 3 s are EINVAL, 2, 4 and 10 s are accepted. Root in a container often lacks the capability, and is treated in the
# same way. A cache that wants to know sooner has to read the figures itself.
#
# Output seen:
#   some 50000 500000: EINVAL
#   some 50000 1000000: EINVAL
#   some 50000 2000000: accepted
#   some 50000 3000000: EINVAL
#   some 50000 4000000: accepted
#   some 50000 10000000: accepted
#   some 50000 12000000: EINVAL
#   full 50000 2000000: accepted
#   as found
set -euo pipefail

skip() { echo "skipped: $1"; exit 0; }
uname -sr
command -v python3 > /dev/null || skip "python3 makes the calls"
[ -e /proc/pressure/memory ] || skip "the kernel has no pressure stall information"

python3 - << 'PYTHON'
import errno, os, sys
if os.getuid() == 0:
    # Without the rights of root.
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)

def answer(text):
    file = os.open("/proc/pressure/memory", os.O_RDWR | os.O_NONBLOCK)
    try:
        os.write(file, (text + "\0").encode())
        return "accepted"
    except OSError as error:
        return errno.errorcode[error.errno]
    finally:
        os.close(file)

expected = {
    "some 50000 500000": "EINVAL", "some 50000 1000000": "EINVAL", "some 50000 2000000": "accepted",
    "some 50000 3000000": "EINVAL", "some 50000 4000000": "accepted", "some 50000 10000000": "accepted",
    "some 50000 12000000": "EINVAL", "full 50000 2000000": "accepted",
}
try:
    found = {text: answer(text) for text in expected}
except PermissionError:
    print("skipped: the kernel lets none but root write to /proc/pressure/memory")
    sys.exit(0)
for text, result in found.items(): print("%s: %s" % (text, result))
print("as found" if found == expected else "changed")
sys.exit(0 if found == expected else 1)
PYTHON

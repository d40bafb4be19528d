#!/bin/bash
# Transparent huge pages: what MADV_DONTNEED returns to the process stays charged to its control group.
#
# Version: Linux 6.18.44; Python 3.11 for the calls. No package is installed. Seen with control groups version 1 only.
# Needs: root, a memory control group that may be made (version 1 or 2), and transparent huge pages that are not "never".
# It makes a control group, and removes it.
#
# Expected: MADV_DONTNEED of whole pages gives them back. A process that keeps 16 KiB of each 256 KiB of 64 MiB has 4 MiB,
# and its group is charged with as much.
#
# Found: with pages of 4 KiB it is so. With huge pages the process's resident memory falls to 4 MiB, and so does "rss"
# ("anon") in the group's memory.stat. The group's usage, which its limit bounds, stays at 64 MiB: a huge page that is
# partly unmapped is split, and its rest freed, only once the group runs short. A cache that decommits parts of 2 MiB
# lowers every figure but the one that kills it. MADV_NOHUGEPAGE before the first touch prevents that.
#
# Output seen:
#   huge pages: touched 64 MiB: resident +64.1, memory.stat +64.0, usage +64.2 MiB
#   huge pages: 4 MiB are left: resident +4.1, memory.stat +4.1, usage +64.2 MiB
#   small pages: touched 64 MiB: resident +64.0, memory.stat +64.0, usage +64.0 MiB
#   small pages: 4 MiB are left: resident +4.0, memory.stat +4.0, usage +4.0 MiB
#   as found
set -euo pipefail

skip() { echo "skipped: $1"; exit 77; }
uname -sr
[ "$(id -u)" = 0 ] || skip "a control group needs root"
command -v python3 > /dev/null || skip "python3 makes the calls"
pages=/sys/kernel/mm/transparent_hugepage/enabled
[ -r $pages ] || skip "the kernel has no transparent huge pages"
! grep -q '\[never\]' $pages || skip "transparent huge pages are off"
version=2
base=$(awk '$0 ~ / - cgroup2 / { print $5; exit }' /proc/self/mountinfo)
one=$(awk '{ for (i = 7; i < NF; i++) if ($i == "-" && $(i + 1) == "cgroup" && $NF ~ /(^|,)memory(,|$)/) print $5 }' \
    /proc/self/mountinfo | head -1)
[ -z "$one" ] || { version=1; base=$one; }
[ -n "$base" ] || skip "no hierarchy of control groups is mounted"
group="$base/huge-pages-$$"
mkdir "$group" 2> /dev/null || skip "no control group can be made in $base"
trap 'rmdir "$group" 2> /dev/null || true' EXIT
[ -e "$group/memory.stat" ] || skip "memory is not controlled in $base"

python3 - "$group" $version << 'PYTHON'
import ctypes, mmap, os, sys, time
group, version = sys.argv[1], sys.argv[2]
libc = ctypes.CDLL(None)
libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
HUGE, SMALL, DONTNEED, MIB = 14, 15, 4, 1 << 20
pid = os.fork()
if pid:
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    sys.exit(code)
with open(group + "/cgroup.procs", "w") as file: file.write(str(os.getpid()))

def field(path, name, scale=1):
    with open(path) as file:
        for line in file:
            words = line.split()
            if words and words[0] == name: return int(words[1]) * scale / MIB

def figures():
    usage = group + ("/memory.usage_in_bytes" if version == "1" else "/memory.current")
    with open(usage) as file: used = int(file.read()) / MIB
    return (field("/proc/self/smaps_rollup", "Rss:", 1024),
            field(group + "/memory.stat", "rss" if version == "1" else "anon"), used)

def run(name, advice):
    size = 64 * MIB
    area = mmap.mmap(-1, size + 2 * MIB, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    start = (ctypes.addressof(ctypes.c_char.from_buffer(area)) + 2 * MIB - 1) & ~(2 * MIB - 1)
    libc.madvise(start, size, advice)
    before = figures()
    def tell(what):
        # The kernel sums memory.stat every two seconds.
        time.sleep(3)
        grown = [now - then for now, then in zip(figures(), before)]
        print("%s: %s: resident +%.1f, memory.stat +%.1f, usage +%.1f MiB" % (name, what, *grown), flush=True)
        return grown
    ctypes.memset(start, 1, size)
    huge = field("/proc/self/smaps_rollup", "AnonHugePages:", 1024)
    tell("touched 64 MiB")
    for offset in range(0, size, 256 << 10):
        libc.madvise(start + offset + (16 << 10), (256 - 16) << 10, DONTNEED)
    left = tell("4 MiB are left")
    # The rest goes before the next run.
    libc.madvise(start, size, DONTNEED)
    return huge, left

huge, left = run("huge pages", HUGE)
if huge < 60:
    print("skipped: the kernel gave %d MiB of huge pages only" % huge)
    sys.exit(77)
_, small = run("small pages", SMALL)
is_so = left[0] < 8 and left[1] < 8 and left[2] > 48 and all(figure < 8 for figure in small)
print("as found" if is_so else "changed")
sys.exit(0 if is_so else 1)
PYTHON

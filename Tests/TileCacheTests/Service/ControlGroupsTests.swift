import Testing

@testable import TileCache

/// Where a process's memory control group is, from the files of the kernel as systems and containers have them.
@Suite struct ControlGroupsTests {
    /// A system: its two files, the folders of the group that controls memory, and the folder of the unified group.
    struct System: Sendable, CustomTestStringConvertible {
        var name: String
        var groups: String
        var mounts: String?
        var version: ControlGroups.Version?
        var folders: [String]
        var unified: String?

        var testDescription: String { name }
    }

    private static let one = "cgroup cgroup rw,memory"
    private static let two = "cgroup2 cgroup2 rw,nsdelegate"
    private static func mount(_ root: String, _ point: String, _ kind: String, shared: String = "shared:4 ") -> String {
        "30 23 0:26 \(root) \(point) rw,nosuid,nodev,noexec,relatime \(shared)- \(kind)\n"
    }
    private static let others =
        "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
        + "31 23 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:10 - cgroup cgroup rw,cpu,cpuacct\n"
        + "32 23 0:30 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd\n"

    static let systems = [
        System(
            name: "systemd, unified, a service in slices",
            groups: "0::/user.slice/user-1000.slice/app.scope\n",
            mounts: others + mount("/", "/sys/fs/cgroup", two),
            version: .two,
            folders: [
                "/sys/fs/cgroup/user.slice/user-1000.slice/app.scope", "/sys/fs/cgroup/user.slice/user-1000.slice",
                "/sys/fs/cgroup/user.slice", "/sys/fs/cgroup",
            ],
            unified: "/sys/fs/cgroup/user.slice/user-1000.slice/app.scope"
        ),
        System(
            name: "systemd, hybrid: version 1 controls memory, the unified hierarchy has stalls",
            groups: "12:memory:/system.slice/map.service\n3:cpu,cpuacct:/\n1:name=systemd:/system.slice/map.service\n"
                + "0::/system.slice/map.service\n",
            mounts: others + mount("/", "/sys/fs/cgroup/unified", two) + mount("/", "/sys/fs/cgroup/memory", one),
            version: .one,
            folders: [
                "/sys/fs/cgroup/memory/system.slice/map.service", "/sys/fs/cgroup/memory/system.slice",
                "/sys/fs/cgroup/memory",
            ],
            unified: "/sys/fs/cgroup/unified/system.slice/map.service"
        ),
        System(
            name: "docker, version 1: the mount shows the container's group, the path is the host's",
            groups: "9:memory:/docker/0f3a\n4:cpuset:/docker/0f3a\n",
            mounts: others + mount("/docker/0f3a", "/sys/fs/cgroup/memory", one, shared: "master:12 "),
            version: .one,
            folders: ["/sys/fs/cgroup/memory"],
            unified: nil
        ),
        System(
            name: "docker, version 2, a namespace: its root is shown as /",
            groups: "0::/\n",
            mounts: mount("/", "/sys/fs/cgroup", two, shared: ""),
            version: .two,
            folders: ["/sys/fs/cgroup"],
            unified: "/sys/fs/cgroup"
        ),
        System(
            name: "docker, version 2, without a namespace: the group within what is mounted",
            groups: "0::/docker/0f3a/worker\n",
            mounts: mount("/docker/0f3a", "/sys/fs/cgroup", two),
            version: .two,
            folders: ["/sys/fs/cgroup/worker", "/sys/fs/cgroup"],
            unified: "/sys/fs/cgroup/worker"
        ),
        System(
            name: "LXC, version 1: a path below the container's, mounted elsewhere, with other controllers",
            groups: "8:memory,hugetlb:/lxc/c1/user/7\n",
            mounts: mount("/lxc/c1", "/cgroup/mem", "cgroup none rw,seclabel,memory,hugetlb"),
            version: .one,
            folders: ["/cgroup/mem/user/7", "/cgroup/mem/user", "/cgroup/mem"],
            unified: nil
        ),
        System(
            name: "a group outside of the namespace",
            groups: "0::/../../other\n",
            mounts: mount("/../..", "/sys/fs/cgroup", two),
            version: .two,
            folders: ["/sys/fs/cgroup"],
            unified: "/sys/fs/cgroup"
        ),
        System(
            name: "a mount of another part of the hierarchy",
            groups: "5:memory:/docker/abc\n",
            mounts: mount("/docker/abcdef", "/sys/fs/cgroup/memory", one),
            version: .one,
            folders: ["/sys/fs/cgroup/memory"],
            unified: nil
        ),
        System(
            name: "the host's hierarchy beside the container's: more ancestors are visible",
            groups: "5:memory:/docker/abc\n",
            mounts: mount("/docker/abc", "/sys/fs/cgroup/memory", one) + mount("/", "/host/memory", one),
            version: .one,
            folders: ["/sys/fs/cgroup/memory", "/host/memory/docker/abc", "/host/memory/docker", "/host/memory"],
            unified: nil
        ),
        System(
            name: "names with spaces and backslashes",
            groups: "0::/a b/c\\d\n",
            mounts: mount("/a\\040b", "/mnt/c\\040g\\134", two),
            version: .two,
            folders: ["/mnt/c g\\/c\\d", "/mnt/c g\\"],
            unified: "/mnt/c g\\/c\\d"
        ),
        System(
            name: "mounted at the root",
            groups: "0::/a\n",
            mounts: mount("/", "/", two),
            version: .two,
            folders: ["/a", ""],
            unified: "/a"
        ),
        System(
            name: "no table of mounts",
            groups: "3:memory:/x\n0::/y\n",
            mounts: nil,
            version: .one,
            folders: ["/sys/fs/cgroup/memory/x", "/sys/fs/cgroup/memory"],
            unified: "/sys/fs/cgroup/y"
        ),
        System(name: "nothing mounted", groups: "0::/x\n", mounts: others, version: nil, folders: [], unified: nil),
        System(
            name: "no groups",
            groups: "1:name=systemd:/x\n",
            mounts: mount("/", "/sys/fs/cgroup", two),
            version: nil,
            folders: [],
            unified: nil
        ),
        System(
            name: "no words",
            groups: "::\n0::x\n:memory\n\0\n",
            mounts: "- - -\na b c d e f -\n\n",
            version: nil,
            folders: [],
            unified: nil
        ),
    ]

    @Test(arguments: systems) func foldersAreFound(system: System) {
        let groups = ControlGroups(groups: system.groups, mounts: system.mounts)
        #expect(groups.memory.map(\.path) == system.folders)
        #expect(groups.memory.allSatisfy { $0.version == system.version })
        #expect(groups.unified == system.unified)
    }
}

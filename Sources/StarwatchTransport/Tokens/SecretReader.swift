import Glibc
import StarwatchCore

/// The process that reads secrets: its user, its groups, and what it sees alone.
package struct SecretReader: Sendable {
    package var user: UInt32
    package var groups: Set<UInt32>
    /// Whether only the processes of this container see a file, by its path and the device of its file system.
    package var seesAlone: @Sendable (_ path: String, _ device: String) -> Bool

    /// By default those of this process.
    package init(
        user: UInt32 = geteuid(),
        groups: Set<UInt32> = SecretReader.ownGroups,
        seesAlone: @escaping @Sendable (String, String) -> Bool = { SecretReader.isPrivate($0, on: $1) }
    ) {
        (self.user, self.groups, self.seesAlone) = (user, groups, seesAlone)
    }

    package static var ownGroups: Set<UInt32> {
        var groups = [gid_t](repeating: 0, count: Int(max(0, getgroups(0, nil))))
        let count = getgroups(Int32(groups.count), &groups)
        return Set(groups.prefix(Int(max(0, count)))).union([getegid()])
    }

    /// The inode of the machine's own namespace of processes, which the kernel has fixed (`PROC_PID_INIT_INO`).
    private static let machineProcesses: UInt64 = 0xefff_fffc

    package static func isPrivate(_ path: String, on device: String) -> Bool {
        guard let real = realpath(path, nil) else { return false }
        defer { free(real) }
        // The path can lead to another file than the open one; its device is then another one, or the file is there too.
        guard let mount = Mount.holding(String(cString: real), among: mounts(of: "self")), mount.device == device else {
            return false
        }
        var status = stat()
        let isFile = stat(mount.path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        let isContainer = stat("/proc/self/ns/pid", &status) == 0 && UInt64(status.st_ino) != machineProcesses
        return mount.isPrivate(isFile: isFile, first: mounts(of: "1"), isContainer: isContainer)
    }

    private static func mounts(of process: String) -> [Mount] {
        let table = FileBytes.read("/proc/\(process)/mountinfo", limit: 1 << 22) ?? []
        return Mount.all(in: String(decoding: table, as: UTF8.self))
    }
}

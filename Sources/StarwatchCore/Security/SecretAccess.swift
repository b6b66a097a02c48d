/// The access to a file with a secret, and whether its reader can use it.
package struct SecretAccess: Sendable, Hashable {
    package var file: FileAccess
    package var group: UInt32
    /// Whether it is in `$CREDENTIALS_DIRECTORY`. systemd grants the unit's user access by an ACL, whose mask shows up as the
    /// group's permission.
    package var isCredential: Bool

    package init(file: FileAccess, group: UInt32, isCredential: Bool = false) {
        (self.file, self.group, self.isCredential) = (file, group, isCredential)
    }

    /// Returns why a user cannot use the file as a secret; `nil` if nobody else of the machine can read it, or only users
    /// whom root lets read it.
    ///
    /// - Parameters:
    ///   - groups: The groups of the user's process.
    ///   - isPrivate: Whether nobody outside of the reader's container sees the file. Asked only if it decides.
    package func problem(for user: UInt32, in groups: Set<UInt32>, isPrivate: () -> Bool) -> FileAccess.Fault? {
        guard isCredential || file.holdsSecret(of: user) else { return .owner }
        let open = file.mode & 0o077
        if open == 0 || isCredential && open & 0o007 == 0 { return nil }
        if file.owner == 0, open & 0o022 == 0 {
            // Kubernetes gives secrets to a group. Root, which checks the files of a service, is in none of its groups.
            if open == 0o040, user == 0 ? group != 0 : groups.contains(group) { return nil }
            // Docker makes secrets that everybody in the container can read.
            if isPrivate() { return nil }
        }
        return user == 0 || user == file.owner ? .mode : .foreignMode
    }
}

/// A file system in a process's tree of folders, as `/proc/PID/mountinfo` lists it.
package struct Mount: Sendable, Hashable {
    /// Differs in each namespace of mounts, also for copies.
    package var id: Int
    /// `MAJOR:MINOR` of the file system.
    package var device: String
    /// With octal escapes for spaces.
    package var path: String
    package var isReadOnly: Bool
    package var kind: String

    private static let inMemory: Set = ["tmpfs", "ramfs"]
    /// Folders in memory that every machine has, in which everybody can have files.
    private static let shared: Set = ["/run", "/run/lock", "/tmp", "/var/tmp", "/dev", "/dev/shm"]

    /// `nil` for a line of another form.
    package init?(_ line: String) {
        let fields = line.split(separator: " ").map { String($0) }
        guard let end = fields.firstIndex(of: "-"), end >= 6, fields.count > end + 1, let id = Int(fields[0]) else {
            return nil
        }
        (self.id, device, path, kind) = (id, fields[2], fields[4], fields[end + 1])
        isReadOnly = fields[5].split(separator: ",").contains("ro")
    }

    /// The mounts in a process's table.
    package static func all(in table: String) -> [Mount] {
        table.split(separator: "\n").compactMap { Mount(String($0)) }
    }

    /// The mount that has a file: of those above it the one with the longest path, and of several on one folder the last.
    package static func holding(_ path: String, among mounts: [Mount]) -> Mount? {
        func isAbove(_ mount: Mount) -> Bool {
            mount.path == "/" || mount.path == path || path.hasPrefix(mount.path + "/")
        }
        return mounts.reduce(nil) { best, mount in
            isAbove(mount) && mount.path.utf8.count >= (best?.path.utf8.count ?? 0) ? mount : best
        }
    }

    /// Whether only the processes of a container, or of a service with mounts of its own, see the files of this mount, so that a
    /// mode for everybody lets in nobody else of the machine.
    ///
    /// - Parameters:
    ///   - isFile: Whether a single file is mounted, as runtimes mount a secret.
    ///   - first: The table of process 1; empty if it is hidden.
    ///   - isContainer: Whether the process is in another namespace of processes than the machine, so process 1 is the container's.
    package func isPrivate(isFile: Bool, first: [Mount], isContainer: Bool) -> Bool {
        let isInMemory = Self.inMemory.contains(kind)
        guard path != "/", let root = first.last(where: { $0.path == "/" }) else { return false }
        guard first.contains(where: { $0.id == id }) else {
            // Process 1 has other mounts. A file system that is among them is one of the machine, seen from another place.
            return (isInMemory || isReadOnly) && !first.contains { $0.device == device }
        }
        // A folder or file of the machine's disk is also there for the machine's users, whatever the container sees.
        guard isContainer, device != root.device, isInMemory else { return false }
        return isFile || !Self.shared.contains(path) && !path.hasPrefix("/run/user/")
    }
}

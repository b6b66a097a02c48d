/// The owner and the mode of a file or folder, and which of other users can change it.
package struct FileAccess: Sendable, Hashable {
    package var owner: UInt32
    /// The permissions and the sticky bit.
    package var mode: UInt32

    package init(owner: UInt32, mode: UInt32) { (self.owner, self.mode) = (owner, mode) }

    /// A reason not to trust a file, or to refuse a secret.
    package enum Fault: Sendable, Hashable {
        /// It belongs to another user than root and the running one.
        case owner
        /// Others can write to it, or read a secret, and its reader can change that.
        case mode
        /// Others can read a secret, and only its owner, which is root, can change that.
        case foreignMode
    }

    /// Returns why `user` cannot trust the content of this file; `nil` if only root and `user` can change it.
    package func fileProblem(for user: UInt32) -> Fault? {
        if !belongs(to: user) { return .owner }
        return mode & Self.othersWrite == 0 ? nil : .mode
    }

    /// Returns why `user` cannot trust the names in this folder; `nil` if only root and `user` can replace a file of
    /// theirs. In a sticky folder such as `/tmp`, others can only add files.
    package func folderProblem(for user: UInt32) -> Fault? {
        if !belongs(to: user) { return .owner }
        return mode & Self.othersWrite == 0 || mode & Self.sticky != 0 ? nil : .mode
    }

    /// Whether the file belongs to root or to `user`.
    package func belongs(to user: UInt32) -> Bool { owner == 0 || owner == user }

    /// Whether `user` can use this file as a secret. Root checks the files of other users too.
    package func holdsSecret(of user: UInt32) -> Bool { user == 0 || belongs(to: user) }

    private static let othersWrite: UInt32 = 0o022
    private static let sticky: UInt32 = 0o1000
}

extension FileAccess {
    /// Whether a program on the control socket can be the agent: one of root or the caller, and for root also of the owner of
    /// the socket's folder, which is the service's user.
    package static func accepts(_ peer: UInt32?, caller: UInt32, folder: FileAccess?) -> Bool {
        guard let peer else { return false }
        return peer == 0 || peer == caller || caller == 0 && peer == folder?.owner
    }
}

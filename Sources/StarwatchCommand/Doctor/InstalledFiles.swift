import Foundation
import Starwatch

/// The modes and owners of an installation's files.
struct InstalledFiles {
    struct File: Sendable, Hashable {
        var path: String
        /// The permissions, such as 0o600.
        var mode: Int
        var owner: Int
    }

    var folder: File?
    var database: File?
    var socket: File?
    /// The files as the agent's user sees them.
    var view: AgentView?
    /// Says whose view it is, if it is not the agent's.
    var note: String?
    /// The number of secrets that are not there, or that this user cannot read.
    var absentSecrets = 0

    /// Reads them. A file that is missing, or that this user cannot see, is `nil`.
    init(configuration: String, options: AgentOptions) {
        let database = options.storage.path
        self.database = Self.file(database)
        folder = Self.file(URL(fileURLWithPath: database).deletingLastPathComponent().path)
        socket = Self.file(options.control.socket)
        view = AgentView(options, in: configuration)
        note = AgentView.note(on: configuration)
        absentSecrets = options.secretFiles.count { !FileManager.default.isReadableFile(atPath: $0) }
        let key = options.security.masterKeyFile.map(SealedCredential.init(of:))
        if let key, !key.exists, !FileManager.default.isReadableFile(atPath: key.file) { absentSecrets += 1 }
    }

    init() {}

    private static func file(_ path: String) -> File? {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            let mode = attributes[.posixPermissions] as? NSNumber,
            let owner = attributes[.ownerAccountID] as? NSNumber
        else { return nil }
        return File(path: path, mode: mode.intValue, owner: owner.intValue)
    }

    var findings: [Finding] {
        let problems =
            [
                folder.flatMap { open($0, to: 0o022, "can be changed by other users; run chmod go-w on it.") },
                database.flatMap { open($0, to: 0o077, "can be read by other users; run chmod 600 on it.") },
                socket.flatMap { open($0, to: 0o077, "can be used by other users; restart the agent.") },
                strangeOwner,
            ].compactMap { $0 } + unreadable
        if !problems.isEmpty { return problems }
        guard folder != nil else {
            return [Finding("files", .problem, "There is no folder for storage.path; create it for the agent's user.")]
        }
        let text = database == nil ? "There is no database yet." : "Only the agent's user can change the files."
        return [Finding("files", .ok, [text, note].compactMap(\.self).joined(separator: " "))]
    }

    private func open(_ file: File, to bits: Int, _ problem: String) -> Finding? {
        file.mode & bits == 0 ? nil : Finding("files", .problem, "\(file.path) \(problem)")
    }

    /// The agent makes the socket, so its owner is the agent's user.
    private var strangeOwner: Finding? {
        if socket == nil, let database, let folder, folder.owner != 0, database.owner != folder.owner {
            let text = "\(database.path) belongs to user \(database.owner), and its folder to user \(folder.owner)"
            return Finding("files", .problem, "\(text), the agent; run 'chown \(folder.owner)' on it.")
        }
        guard let database, let socket, database.owner != socket.owner else { return nil }
        return Finding(
            "files",
            .problem,
            "\(database.path) belongs to user \(database.owner), and the agent is user \(socket.owner); run chown on it."
        )
    }

    private var unreadable: [Finding] {
        (view?.problems ?? []).map { Finding("files", .problem, ($0.path.isEmpty ? "" : $0.path + " ") + $0.message) }
    }
}

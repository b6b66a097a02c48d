import Glibc
import Starwatch
import StarwatchHTTP

/// The agent that an account is moved from, by its database.
struct AccountSource {
    private let database: SourceDatabase
    /// The agent that has the database open; `nil` if none is known to.
    private let agent: ControlClient?

    /// - Parameters:
    ///   - path: The absolute path of the database.
    ///   - keyFile: The file of its master key, for a database that no agent has open.
    init(path: String, keyFile: String?) throws(CommandError) {
        guard access(path, R_OK) == 0 else {
            throw .failed("\(path) cannot be read (\(ErrnoText.of(errno))); name the database with --from.")
        }
        database = SourceDatabase(path: path, keyFile: keyFile)
        let note = SocketNotes().note(ofDatabase: path).flatMap { ControlSocket.hasListener(at: $0.socket) ? $0 : nil }
        agent = note.map { ControlClient(socketPath: $0.socket) }
        let places = AgentUser.Places(database: FileAccess(path: path), folder: FileAccess(folderOf: path))
        // The files that root would leave there could not be opened by the agent.
        if agent == nil, AgentUser.change(caller: geteuid(), places) != .stay {
            throw .failed("\(path) is another user's; run accounts export as that user, and import the file.")
        }
    }

    /// Hands out the active identity, with the agent that works for it if there is one.
    func export(isTrial: Bool) async throws -> String {
        let request = AccountExport(trial: isTrial ? true : nil)
        if let agent { return try await agent.perform(ControlAPI.exportAccount, request).bundle }
        return try await database.export(request).bundle
    }
}

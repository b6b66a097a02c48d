import GRDB
import StarwatchCore

/// The file that a store has open, which its path can cease to name.
struct OpenFile: Sendable {
    let path: String
    private let identity: DatabaseFile.Identity?
    /// Whether it is of an agent. Another owner looks after its file itself, and a reader has nothing to lose.
    private let isOwned: Bool

    init(path: String, isOwned: Bool) {
        (self.path, self.isOwned) = (path, isOwned)
        identity = DatabaseFile.Identity(path: path)
    }

    /// Whether the path does not name the file any more.
    var isLost: Bool { isOwned && DatabaseFile.Identity(path: path) != identity }

    /// Copies the database if its file is lost.
    ///
    /// - Returns: The copy's file name; `nil` if the file is not lost.
    func rescue(_ database: DatabaseQueue, now: Timestamp) throws -> String? {
        guard isLost else { return nil }
        let target = path + ".rescued"
        try DatabaseFile.copy(database, at: path, to: target, now: now)
        return String(target.split(separator: "/").last ?? "")
    }
}

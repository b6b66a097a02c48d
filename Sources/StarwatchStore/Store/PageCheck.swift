import GRDB
import StarwatchCore
import Synchronization

/// The check of all pages while the store works. It reads on a connection and a thread of its own, and delays no transaction.
final class PageCheck: Sendable {
    /// Pauses are the number of works that want the database without readers.
    private typealias State = (phase: PageCheckPhase, reader: DatabaseQueue?, isStopped: Bool, pauses: Int)

    private let path: String
    /// The lock, whose note says what is known of the pages; `nil` if the database is only read.
    private let lock: FileLock?
    private let state: Mutex<State>

    init(path: String, _ phase: PageCheckPhase, lock: FileLock? = nil) {
        (self.path, self.lock) = (path, lock)
        state = Mutex((phase, nil, false, 0))
    }

    var phase: PageCheckPhase {
        get { state.withLock { $0.phase } }
        set { state.withLock { $0.phase = newValue } }
    }

    /// Reads every page. Begins again after a ``pause(during:)``; cancelling the task ends it.
    ///
    /// - Throws: ``StoreError/corrupt(detail:)`` for damage, any other error if the check was not possible.
    func run() async throws {
        while true {
            do {
                return try await pass()
            } catch DatabaseError.SQLITE_INTERRUPT where !isStopped && !Task.isCancelled {
                while state.withLock({ $0.pauses > 0 }) { try await Task.sleep(for: .milliseconds(20)) }
            }
        }
    }

    private var isStopped: Bool { state.withLock { $0.isStopped } }

    private func pass() async throws {
        var configuration = Configuration()
        configuration.label = "starwatch.check"
        configuration.readonly = true
        // A restart of the write-ahead log can get in the way of the first read.
        configuration.busyMode = .timeout(5)
        let reader = try DatabaseQueue(path: path, configuration: configuration)
        let isUnwanted = state.withLock { state in
            state.reader = reader
            return state.isStopped || state.pauses > 0
        }
        defer {
            state.withLock { $0.reader = nil }
            try? reader.close()
        }
        if isUnwanted { throw DatabaseError(resultCode: .SQLITE_INTERRUPT) }
        try await reader.read { db in try db.checkPages() }
    }

    /// Runs `work` while the check does not read, so that the log can be emptied.
    func pause<Result>(during work: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        let reader = state.withLock { state in
            state.pauses += 1
            return state.reader
        }
        defer { state.withLock { $0.pauses -= 1 } }
        reader?.interrupt()
        return try work()
    }

    /// Ends the check, and returns when its connection is closed.
    func stop() {
        let reader = state.withLock { state in
            state.isStopped = true
            return state.reader
        }
        reader?.interrupt()
        try? reader?.close()
    }
}

/// The phase of the check of the database's pages. The raw value is that of the metric.
package enum PageCheckPhase: Int, Sendable, CaseIterable {
    /// Every page was sound when the database was closed, or when it was opened.
    case unneeded
    case running
    case passed
    case damaged
    /// The check was not possible, or the agent ended it.
    case ended

    /// The word in answers.
    package var name: String { "\(self)" }
}

extension PageCheck {
    /// Notes for the next start that pages are damaged.
    func noteDamage() { try? lock?.write(note: FileLock.noteOfDamage) }

    /// Notes what is known of the pages of the closed database, and releases it. Without the note the next start checks all
    /// pages.
    func release(_ options: StoreOptions, _ failure: StoreErrorKind?) {
        try? lock?.write(note: endMark(of: options, failure))
        lock?.release()
    }

    private func endMark(of options: StoreOptions, _ failure: StoreErrorKind?) -> String {
        if failure == .corrupt { return FileLock.noteOfDamage }
        guard options.owner == .agent, [.unneeded, .passed].contains(phase) else { return "" }
        return FileLock.noteOfSoundness(path: options.path) ?? ""
    }
}

import GRDB
package import StarwatchCore

/// The journal and the log of a database that no store has open. It reads beside a running agent, and writes nothing.
extension StoreError {
    /// The description for a command that only reads: a missing database is not its to create.
    package var forReaders: String {
        self == .absent
            ? "there is no database; check its path, or whether an agent has run with it" : description
    }
}

package struct StoredRecord: Sendable {
    /// The entries of the journal since a time, in the order in which they were made.
    package var journal: [JournalEntry] = []
    /// The lines of the log since that time, in the same way.
    package var lines: [LogEntry] = []

    package init() {}

    /// The most entries of a kind that are read.
    static let limit = 20_000

    /// Reads a database.
    ///
    /// - Throws: ``StoreError`` if there is none, if it is damaged, locked or of another version.
    package static func read(path: String, since: Timestamp) throws(StoreError) -> StoredRecord {
        try DatabaseFile.mustExist(path: path)
        do {
            var options = StoreOptions(path: path)
            (options.reads, options.busyTimeout) = (true, .seconds(2))
            let database = try DatabaseQueue(path: path, configuration: options.configuration)
            defer { try? database.close() }
            return try database.unsafeRead { db in
                _ = try Schema.supportedVersion(of: db)
                let session = Session(database: db, context: SessionContext(options))
                var (record, filter) = (StoredRecord(), LogFilter())
                (filter.since, filter.limit) = (since, limit)
                record.journal = try StoreJournal.list(in: session, since: since, limit: limit).map(\.entry)
                record.lines = try StoreLogs.list(in: session, filter).map(\.entry)
                return record
            }
        } catch {
            throw StoreError(error)
        }
    }
}

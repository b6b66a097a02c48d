package import StarwatchCore

/// A selection of the journal.
package struct JournalQuery: Sendable, Hashable {
    /// The maximum number of entries.
    package static let listLimit = 5000

    /// Only entries since this time, in RFC 3339.
    package var since: String?
    /// The maximum number of entries, from 1 to ``listLimit``.
    package var limit = 100

    package init() {}
}

/// An entry of the journal.
package struct JournalRecord: Sendable, Codable, Hashable {
    /// The position, which rises with every entry.
    package var id: Int64?
    package var at: String
    package var kind: JournalKind
    /// The actor: `socket:anna`, `port:token`, `command:root`, `signal`, `program`; `agent` for the end of a run and
    /// for an upgrade of the database.
    package var actor: String
    /// The action, as its path in the control API: `outbox.discard`.
    package var verb: String?
    /// The object, without personal data. Of a reload, the hash of the configuration; of the end of a run, its
    /// start.
    package var target: String?
    /// `ok`, the kind of the error, `refused`, or the cause of a run's end.
    package var result: String
    /// The changed settings, or a sentence.
    package var detail: String?
}

package struct JournalListing: Sendable, Codable {
    package var entries: [JournalRecord]
}
